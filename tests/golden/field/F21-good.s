; A wave's own LDS write and read are in order; the register that is read needs a wait.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	ds_write_b32 v8, v9
	ds_read_b32 v0, v8
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v1, v0
	s_endpgm
