; The data of a store with an SGPR as offset are overwritten at once.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	buffer_store_dwordx4 v[0:3], v8, s[4:7], s8 offen
	v_mov_b32_e32 v0, 0
	s_endpgm
