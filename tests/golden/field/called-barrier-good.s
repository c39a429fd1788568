; Both groups meet in a helper that they call from different stages.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	.text
	.globl	worm
	.p2align	8
	.type	worm,@function
worm:
	v_lshlrev_b32_e32 v1, 4, v0
	v_xor_b32_e32 v12, 0x1000, v1
	v_readfirstlane_b32 s7, v0
	s_mov_b32 s6, 16
	v_mov_b32_e32 v2, 0
	v_mov_b32_e32 v3, 0
	v_mov_b32_e32 v4, 0
	v_mov_b32_e32 v5, 0
	s_getpc_b64 s[20:21]
.Lhere:
	s_add_u32 s20, s20, .Lmeet-.Lhere
	s_addc_u32 s21, s21, 0
	s_cmpk_lt_u32 s7, 0x100
	s_cbranch_scc1 .LBB0_1
	s_swappc_b64 s[22:23], s[20:21]
.LBB0_1:
	ds_write_b128 v1, v[2:5]
	s_swappc_b64 s[22:23], s[20:21]
	s_swappc_b64 s[22:23], s[20:21]
	ds_read_b128 v[8:11], v12
	s_waitcnt lgkmcnt(0)
	s_swappc_b64 s[22:23], s[20:21]
	v_mfma_f32_16x16x32_f16 v[2:5], v[8:11], v[8:11], v[2:5]
	s_nop 7
	s_swappc_b64 s[22:23], s[20:21]
	s_sub_u32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .LBB0_1
	s_cmpk_ge_u32 s7, 0x100
	s_cbranch_scc1 .LBB0_3
	s_swappc_b64 s[22:23], s[20:21]
.LBB0_3:
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	s_waitcnt lgkmcnt(0)
	global_store_dwordx4 v1, v[2:5], s[4:5]
	s_endpgm
.Lmeet:
	s_waitcnt lgkmcnt(0)
	s_barrier
	s_setpc_b64 s[22:23]
.Lfunc_end0:
	.size	worm, .Lfunc_end0-worm
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel worm
		.amdhsa_group_segment_fixed_size 8192
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 16
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 32
		.amdhsa_accum_offset 32
	.end_amdhsa_kernel
	.text
	.amdgpu_metadata
---
amdhsa.kernels:
  - .name: worm
    .symbol: worm.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 8192
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 32
    .max_flat_workgroup_size: 512
    .args:
      - { .address_space: global, .offset: 0, .size: 8, .value_kind: global_buffer }
      - { .offset: 8, .size: 4, .value_kind: by_value }
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.version:
  - 1
  - 2
...
	.end_amdgpu_metadata
