; target: gfx942
v_mov_b32_e32 v256, v1
