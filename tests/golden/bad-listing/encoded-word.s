; target: gfx942
s_nop 0
.long 0xbf800000, elsewhere
