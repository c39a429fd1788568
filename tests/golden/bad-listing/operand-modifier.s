; target: gfx942
v_add_f32_e64 v0, v1, v2 clmp
