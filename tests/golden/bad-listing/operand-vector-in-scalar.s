; target: gfx942
s_add_u32 s0, v1, s2
