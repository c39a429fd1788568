; target: gfx942
s_nop 0
/* no end
s_endpgm
