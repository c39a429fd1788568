; The data of a store without such an offset are overwritten after 1 wait states.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	buffer_store_dwordx4 v[0:3], v8, s[4:7], 0 offen
	s_nop 0
	v_mov_b32_e32 v0, 0
	s_endpgm
