; target: gfx950
v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[8:15], v[0:3] cbsz:0
