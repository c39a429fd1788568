; The result of a matrix op of 16 passes is read by a vector op after 19 wait states.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	v_mfma_f32_32x32x4_2b_f16 v[0:31], v[64:65], v[80:81], v[0:31]
	s_nop 15
	s_nop 2
	v_add_f32_e32 v100, v0, v101
	s_endpgm
