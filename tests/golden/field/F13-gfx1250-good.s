; Scalar loads complete in any order: s_wait_kmcnt 0 proves both.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1250"
	s_load_b32 s8, s[0:1], 0x0
	s_load_b32 s9, s[0:1], 0x4
	s_wait_kmcnt 0
	s_add_co_u32 s10, s8, 1
	s_endpgm
