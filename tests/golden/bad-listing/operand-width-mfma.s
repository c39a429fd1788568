; target: gfx942
v_mfma_f32_32x32x8_f16 v[0:3], v[4:5], v[6:7], v[0:3]
