; Scalar loads complete in any order: lgkmcnt(1) proves nothing.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	s_load_dword s8, s[0:1], 0x0
	s_load_dword s9, s[0:1], 0x4
	s_waitcnt lgkmcnt(1)
	s_add_u32 s10, s8, 1
	s_endpgm
