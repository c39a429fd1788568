; target: gfx1250
v_dual_mov_b32 v0, v1 :: v_add_f32 v2, v3, v4
