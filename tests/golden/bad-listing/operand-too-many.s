; target: gfx942
v_mov_b32_e32 v0, v1, v2, v3
