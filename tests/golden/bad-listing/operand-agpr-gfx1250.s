; target: gfx1250
v_mov_b32_e32 v0, a1
