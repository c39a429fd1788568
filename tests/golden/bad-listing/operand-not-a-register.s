; target: gfx942
v_mov_b32_e32 5, v1
