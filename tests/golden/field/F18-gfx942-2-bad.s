; The result of a matrix op of 2 passes is read by a vector op after 4 wait states.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	v_mfma_f32_4x4x4_16b_f16 v[0:3], v[64:65], v[80:81], v[0:3]
	s_nop 3
	v_add_f32_e32 v100, v0, v101
	s_endpgm
