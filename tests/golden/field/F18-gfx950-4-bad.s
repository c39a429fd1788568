; The result of a matrix op of 4 passes is read by a vector op after 7 wait states.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	v_mfma_f32_16x16x16_f16 v[0:3], v[64:65], v[80:81], v[0:3]
	s_nop 6
	v_add_f32_e32 v100, v0, v101
	s_endpgm
