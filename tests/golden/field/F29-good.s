; One wait, in front of the barrier.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.globl	f29
	.p2align	8
	.type	f29,@function
f29:
	v_lshlrev_b32_e32 v1, 2, v0
	v_xor_b32_e32 v2, 0x100, v1
	v_mov_b32_e32 v3, 1.0
	v_mov_b32_e32 v5, 0
	s_mov_b32 s3, 16
.LBB0_1:
	ds_write_b32 v1, v3
	s_waitcnt lgkmcnt(0)
	s_barrier
	ds_read_b32 v4, v2
	s_waitcnt lgkmcnt(0)
	s_barrier
	v_add_f32_e32 v5, v5, v4
	s_sub_u32 s3, s3, 1
	s_cmp_lg_u32 s3, 0
	s_cbranch_scc1 .LBB0_1
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	s_waitcnt lgkmcnt(0)
	global_store_dword v1, v5, s[4:5]
	s_endpgm
.Lfunc_end0:
	.size	f29, .Lfunc_end0-f29
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel f29
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
  - .name: f29
    .symbol: f29.kd
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
amdhsa.target: amdgcn-amd-amdhsa--gfx942
amdhsa.version:
  - 1
  - 2
...
	.end_amdgpu_metadata
