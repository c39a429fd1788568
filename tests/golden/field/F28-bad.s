; The first wait also holds the run for the last read, which has a wait of its own.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	.text
	.globl	f28
	.p2align	8
	.type	f28,@function
f28:
	v_lshlrev_b32_e32 v1, 4, v0
	s_mov_b32 s6, 16
	v_mov_b32_e32 v2, 0
	v_mov_b32_e32 v3, 0
	v_mov_b32_e32 v4, 0
	v_mov_b32_e32 v5, 0
	ds_write_b128 v1, v[2:5]
	s_waitcnt lgkmcnt(0)
	s_barrier
.LBB0_1:
	ds_read_b128 v[8:11], v1
	ds_read_b128 v[12:15], v1
	ds_read_b128 v[16:19], v1
	ds_read_b128 v[20:23], v1
	s_waitcnt lgkmcnt(0)
	v_mfma_f32_16x16x32_f16 v[2:5], v[8:11], v[8:11], v[2:5]
	v_mfma_f32_16x16x32_f16 v[2:5], v[12:15], v[12:15], v[2:5]
	v_mfma_f32_16x16x32_f16 v[2:5], v[16:19], v[16:19], v[2:5]
	s_waitcnt lgkmcnt(0)
	v_mfma_f32_16x16x32_f16 v[2:5], v[20:23], v[20:23], v[2:5]
	s_sub_u32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .LBB0_1
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	s_waitcnt lgkmcnt(0)
	s_nop 4
	global_store_dwordx4 v1, v[2:5], s[4:5]
	s_endpgm
.Lfunc_end0:
	.size	f28, .Lfunc_end0-f28
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel f28
		.amdhsa_group_segment_fixed_size 4096
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
  - .name: f28
    .symbol: f28.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 4096
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 32
    .max_flat_workgroup_size: 256
    .args:
      - { .address_space: global, .offset: 0, .size: 8, .value_kind: global_buffer }
      - { .offset: 8, .size: 4, .value_kind: by_value }
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.version:
  - 1
  - 2
...
	.end_amdgpu_metadata
