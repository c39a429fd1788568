; The old way to wait means "idle" here: it also waits for the load in flight, which only the next sum needs.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1250"
	.text
	.globl	f27
	.p2align	8
	.type	f27,@function
f27:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	s_mov_b32 s6, 16
	v_mov_b32_e32 v5, 0
	ds_store_b32 v1, v5
	s_wait_kmcnt 0x0
	global_load_b32 v2, v1, s[4:5]
.LBB0_1:
	ds_load_b32 v3, v1
	global_load_b32 v6, v1, s[4:5] offset:1024
	s_wait_idle
	v_add_f32_e32 v5, v5, v3
	s_wait_loadcnt 0x0
	v_add_f32_e32 v5, v5, v6
	s_sub_co_i32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .LBB0_1
	v_add_f32_e32 v5, v5, v2
	global_store_b32 v1, v5, s[4:5]
	s_endpgm
.Lfunc_end0:
	.size	f27, .Lfunc_end0-f27
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel f27
		.amdhsa_group_segment_fixed_size 4096
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 16
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 32
	.end_amdhsa_kernel
	.text
	.amdgpu_metadata
---
amdhsa.kernels:
  - .name: f27
    .symbol: f27.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 4096
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 32
    .vgpr_count: 32
    .max_flat_workgroup_size: 256
    .args:
      - { .address_space: global, .offset: 0, .size: 8, .value_kind: global_buffer }
      - { .offset: 8, .size: 4, .value_kind: by_value }
amdhsa.target: amdgcn-amd-amdhsa--gfx1250
amdhsa.version:
  - 1
  - 2
...
	.end_amdgpu_metadata
