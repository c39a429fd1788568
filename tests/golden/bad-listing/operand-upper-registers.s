; target: gfx1250
s_set_vgpr_msb 0xc0
v_wmma_f32_16x16x32_f16 v[254:261], v[8:15], v[16:23], v[254:261]
