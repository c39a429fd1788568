; 40 loads in flight, the counter holds 63: the first one's register is used without a wait.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	global_load_dword v0, v[128:129], off
	global_load_dword v1, v[128:129], off
	global_load_dword v2, v[128:129], off
	global_load_dword v3, v[128:129], off
	global_load_dword v4, v[128:129], off
	global_load_dword v5, v[128:129], off
	global_load_dword v6, v[128:129], off
	global_load_dword v7, v[128:129], off
	global_load_dword v8, v[128:129], off
	global_load_dword v9, v[128:129], off
	global_load_dword v10, v[128:129], off
	global_load_dword v11, v[128:129], off
	global_load_dword v12, v[128:129], off
	global_load_dword v13, v[128:129], off
	global_load_dword v14, v[128:129], off
	global_load_dword v15, v[128:129], off
	global_load_dword v16, v[128:129], off
	global_load_dword v17, v[128:129], off
	global_load_dword v18, v[128:129], off
	global_load_dword v19, v[128:129], off
	global_load_dword v20, v[128:129], off
	global_load_dword v21, v[128:129], off
	global_load_dword v22, v[128:129], off
	global_load_dword v23, v[128:129], off
	global_load_dword v24, v[128:129], off
	global_load_dword v25, v[128:129], off
	global_load_dword v26, v[128:129], off
	global_load_dword v27, v[128:129], off
	global_load_dword v28, v[128:129], off
	global_load_dword v29, v[128:129], off
	global_load_dword v30, v[128:129], off
	global_load_dword v31, v[128:129], off
	global_load_dword v32, v[128:129], off
	global_load_dword v33, v[128:129], off
	global_load_dword v34, v[128:129], off
	global_load_dword v35, v[128:129], off
	global_load_dword v36, v[128:129], off
	global_load_dword v37, v[128:129], off
	global_load_dword v38, v[128:129], off
	global_load_dword v39, v[128:129], off
	v_mov_b32_e32 v120, v0
	s_endpgm
