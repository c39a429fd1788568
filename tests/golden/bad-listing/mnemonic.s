; target: gfx942
v_ad_f32 v0, v1, v2
