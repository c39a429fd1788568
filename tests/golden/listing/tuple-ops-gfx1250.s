; target: gfx1250
	v_dual_fmac_f32 v0, v1, v2 :: v_dual_mov_b32 v3, v4
	v_dual_cndmask_b32 v0, v1, v2 :: v_dual_add_nc_u32 v5, 1, v4
	v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v2, v4
	tensor_load_to_lds s[0:3], s[4:11]
	tensor_store_from_lds s[0:3], s[4:11], s[12:15], s[16:19]
	global_load_async_to_lds_b128 v0, v[2:3], off
	global_store_async_from_lds_b64 v[2:3], v0, off offset:8
	cluster_load_b128 v[0:3], v[4:5], off
	cluster_load_async_to_lds_b32 v0, v1, s[2:3]
	ds_load_tr16_b128 v[0:3], v4
	global_load_tr6_b96 v[33:35], v[2:3], off
	flat_load_b32 v0, v1, s[2:3] scope:SCOPE_SYS
	flat_atomic_add_u32 v0, v[2:3], v4 th:TH_ATOMIC_RETURN
	flat_atomic_add_u32 v[2:3], v4
	s_load_b64 s[4:5], s[0:1], s6 offset:0x10
	v_swmmac_f32_16x16x64_f16 v[0:7], v[8:15], v[16:31], v32
	v_wmma_scale_f32_16x16x128_f8f6f4 v[0:7], v[8:23], v[24:31], v[0:7], v40, v42 matrix_b_fmt:MATRIX_FMT_FP4
	v_cvt_f32_f16_e32 v0, v1.h
	v_s_exp_f32 s0, s1
	s_set_vgpr_msb 0x41
	v_mov_b32_e32 v0 /*v256*/, v1 /*v257*/
	v_cmpx_eq_f32_e64 v0, v1
	s_endpgm
