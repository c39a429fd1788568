; The result of a matrix op of 16 passes is read after 11 wait states.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[64:71], v[80:87], v[0:15]
	s_nop 10
	v_add_f32_e32 v100, v0, v101
	s_endpgm
