; target: gfx942
.macro twice
 s_nop 0
.endm
s_endpgm
