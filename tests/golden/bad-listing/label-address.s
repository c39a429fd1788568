; target: gfx942
s_mov_b32 s0, 0x12345
s_branch 65534
