; The data of a store with an SGPR as offset are overwritten after 1 wait state.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	buffer_store_dwordx4 v[0:3], v8, s[4:7], s8 offen
	s_nop 0
	v_mov_b32_e32 v0, 0
	s_endpgm
