; target: gfx942
v_add_f32_e32 v0, , v2
