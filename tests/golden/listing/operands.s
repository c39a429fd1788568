; target: gfx942
	.set vgprAcc, 16
	.set sgprLoop, vgprAcc * 2 + (8 >> 1)
vgprTop = 20
	v_add_f32_e64 v0, -v1, |v2| clamp mul:2
	v_add_f32_e64 v0, abs(v1), neg(abs(v2))
	v_sub_f16_sdwa v0, sext(v1), v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:WORD_0
	v_mov_b32 v0, v1 quad_perm:[1, 0, 3, 2] row_mask:0xf bank_mask:0xf
	v_mfma_f32_16x16x4_f32 a[vgprAcc:vgprAcc+3], v[vgprTop], v[vgprTop + 1], 0 cbsz:1 abid:2 blgp:3
	s_sub_u32 s[sgprLoop], s[sgprLoop], 1
	s_mov_b64 s[4:5], exec
	s_and_saveexec_b64 s[4:5], vcc
	s_load_dwordx4 [s8,s9,s10,s11], s[0:1], 0x10
	v_cmp_lt_u32_e32 vcc, v0, v1
	v_cmpx_lt_u32_e64 s[6:7], v0, v1
	v_cndmask_b32_e64 v0, v1, v2, s[6:7]
	v_addc_co_u32_e32 v0, vcc, v1, v2, vcc
	v_mad_u64_u32 v[0:1], s[6:7], v2, v3, v[4:5]
	v_fma_f32 v0, v1, 0.5, 0x40490fdb
	v_fmac_f32_e32 v0, 1.0, v1
	v_swap_b32 v0, v1
	buffer_load_dwordx4 v[0:3], v4, s[8:11], 0 offen offset:16
	buffer_load_dwordx4 v[0:3], off, s[8:11], s3
	buffer_load_dword v4, s[8:11], 0 offen lds
	buffer_atomic_add v0, v1, s[8:11], 0 offen sc0
	buffer_atomic_add v0, v1, s[8:11], 0 offen
	global_atomic_cmpswap_x2 v[0:1], v[2:3], v[4:7], off sc0
	global_atomic_add v[2:3], v0, off
	global_load_lds_dword v1, s[2:3] offset:4
	flat_store_dwordx4 v[0:1], v[4:7]
	scratch_load_dword v0, off, s3 offset:8
	scratch_store_dwordx2 v0, v[2:3], off
	ds_read2st64_b64 v[0:3], v4 offset1:1
	ds_add_rtn_u32 v0, v1, v2
	ds_write_b8_d16_hi v0, v1 offset:3
	ds_bpermute_b32 v0, v1, v2
	s_mov_b32 m0, 0x100
	s_getpc_b64 s[4:5]
	s_add_u32 s4, s4, table@rel32@lo+4
	v_readlane_b32 s20, v20, m0
	v_readfirstlane_b32 ttmp3, v1
	s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s3
	s_getreg_b32 s3, hwreg(HW_REG_STATUS)
	v_nop
	s_nop 3
