; Registers are spilled in the hot loop.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	.text
	.globl	f34
	.p2align	8
	.type	f34,@function
f34:
	v_lshlrev_b32_e32 v1, 4, v0
	s_mov_b32 s6, 16
	v_mov_b32_e32 v2, 0
	v_mov_b32_e32 v3, 0
	v_mov_b32_e32 v4, 0
	v_mov_b32_e32 v5, 0
	v_mov_b32_e32 v20, 0
	v_mov_b32_e32 v21, 0
	v_mov_b32_e32 v22, 0
	v_mov_b32_e32 v23, 0
	v_mov_b32_e32 v24, 0
	v_mov_b32_e32 v25, 0
	v_mov_b32_e32 v26, 0
	v_mov_b32_e32 v27, 0
	s_nop 1
.LBB0_1:
	scratch_store_dwordx4 off, v[20:23], off
	scratch_load_dwordx4 v[28:31], off, off
	s_waitcnt vmcnt(0)
	v_mfma_f32_16x16x32_f16 v[2:5], v[28:31], v[24:27], v[2:5]
	v_mfma_f32_16x16x32_f16 v[2:5], v[20:23], v[24:27], v[2:5]
	s_sub_u32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .LBB0_1
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	s_waitcnt lgkmcnt(0)
	s_nop 2
	global_store_dwordx4 v1, v[2:5], s[4:5]
	s_endpgm
.Lfunc_end0:
	.size	f34, .Lfunc_end0-f34
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel f34
		.amdhsa_group_segment_fixed_size 4096
		.amdhsa_private_segment_fixed_size 64
		.amdhsa_kernarg_size 16
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 64
		.amdhsa_next_free_sgpr 32
		.amdhsa_accum_offset 64
	.end_amdhsa_kernel
	.text
	.amdgpu_metadata
---
amdhsa.kernels:
  - .name: f34
    .symbol: f34.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 4096
    .private_segment_fixed_size: 64
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 64
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
