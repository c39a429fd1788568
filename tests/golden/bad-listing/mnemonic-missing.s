; target: gfx942
s_nop 0
, v1
