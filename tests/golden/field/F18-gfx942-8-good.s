; The result of a matrix op of 8 passes is read by a vector op after 11 wait states.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	v_mfma_f32_32x32x8_f16 v[0:15], v[64:65], v[80:81], v[0:15]
	s_nop 10
	v_add_f32_e32 v100, v0, v101
	s_endpgm
