; target: gfx942

	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.amdhsa_code_object_version 6
	.text
	.protected	gemm                    ; -- Begin function gemm
	.globl	gemm
	.p2align	8
	.type	gemm,@function
gemm:                                   ; @gemm
; %bb.0:
	s_load_dwordx4 s[4:7], s[0:1], 0x0
	s_load_dwordx2 s[8:9], s[0:1], 0x10
	s_lshl_b32 s2, s2, 12
	v_mov_b32_e32 v21, 0
	v_or_b32_e32 v18, s2, v0
	v_mov_b32_e32 v19, v21
	v_lshlrev_b64 v[2:3], 4, v[18:19]
	s_waitcnt lgkmcnt(0)
	v_lshl_add_u64 v[4:5], s[4:5], 0, v[2:3]
	v_lshl_add_u64 v[2:3], s[6:7], 0, v[2:3]
	global_load_dwordx4 v[4:7], v[4:5], off
	s_load_dword s0, s[0:1], 0x18
	global_load_dwordx4 v[8:11], v[2:3], off
	v_lshlrev_b32_e32 v1, 4, v0
	s_waitcnt vmcnt(1)
	ds_write_b128 v1, v[4:7]
	s_waitcnt vmcnt(0)
	ds_write_b128 v1, v[8:11] offset:4096
	s_waitcnt lgkmcnt(0)
	s_cmp_lt_i32 s0, 2
	s_barrier
	s_cbranch_scc1 .LBB0_3
; %bb.1:
	v_add_u32_e32 v2, 32, v0
	v_and_b32_e32 v23, 0xff, v2
	v_add_u32_e32 v2, 48, v0
	v_add_u32_e32 v1, 16, v0
	v_and_b32_e32 v25, 0xff, v2
	v_add_u32_e32 v2, s2, v0
	v_and_b32_e32 v1, 0xff, v1
	v_xor_b32_e32 v22, 1, v0
	v_xor_b32_e32 v24, 2, v0
	v_xor_b32_e32 v26, 3, v0
	v_add_u32_e32 v20, 0x100, v2
	s_add_i32 s0, s0, -1
	s_movk_i32 s1, 0x4000
	s_mov_b32 s2, 0
	v_mov_b32_e32 v15, 0
	v_mov_b32_e32 v16, 0
	v_mov_b32_e32 v17, 0
	v_mov_b32_e32 v10, 0
	v_mov_b32_e32 v11, 0
	v_mov_b32_e32 v12, 0
	v_mov_b32_e32 v13, 0
	v_mov_b32_e32 v6, 0
	v_mov_b32_e32 v7, 0
	v_mov_b32_e32 v8, 0
	v_mov_b32_e32 v9, 0
	v_mov_b32_e32 v2, 0
	v_mov_b32_e32 v3, 0
	v_mov_b32_e32 v4, 0
	v_mov_b32_e32 v5, 0
	v_mov_b32_e32 v14, v21
.LBB0_2:                                ; =>This Inner Loop Header: Depth=1
	v_lshlrev_b64 v[28:29], 4, v[20:21]
	v_lshl_add_u64 v[30:31], s[4:5], 0, v[28:29]
	v_lshl_add_u64 v[28:29], s[6:7], 0, v[28:29]
	global_load_dwordx4 v[34:37], v[30:31], off
	global_load_dwordx4 v[38:41], v[28:29], off
	s_mov_b32 s3, s2
	s_setprio 1
	v_lshl_add_u32 v32, v25, 4, s3
	ds_read_b128 v[62:65], v32
	v_lshl_add_u32 v27, v0, 4, s3
	v_lshl_add_u32 v28, v1, 4, s3
	v_lshl_add_u32 v29, v22, 4, s3
	v_lshl_add_u32 v30, v23, 4, s3
	v_lshl_add_u32 v31, v24, 4, s3
	v_lshl_add_u32 v33, v26, 4, s3
	ds_read_b128 v[42:45], v27
	ds_read_b128 v[46:49], v27 offset:4096
	ds_read_b128 v[50:53], v28
	ds_read_b128 v[54:57], v29 offset:4096
	ds_read_b128 v[58:61], v30
	ds_read_b128 v[28:31], v31 offset:4096
	ds_read_b128 v[66:69], v33 offset:4096
	s_waitcnt lgkmcnt(5)
	v_mfma_f32_16x16x16_f16 v[14:17], v[42:43], v[46:47], v[14:17]
	s_waitcnt lgkmcnt(3)
	v_mfma_f32_16x16x16_f16 v[10:13], v[50:51], v[54:55], v[10:13]
	s_waitcnt lgkmcnt(1)
	v_mfma_f32_16x16x16_f16 v[6:9], v[58:59], v[28:29], v[6:9]
	s_waitcnt lgkmcnt(0)
	v_mfma_f32_16x16x16_f16 v[2:5], v[62:63], v[66:67], v[2:5]
	v_mfma_f32_16x16x16_f16 v[14:17], v[44:45], v[48:49], v[14:17]
	v_mfma_f32_16x16x16_f16 v[10:13], v[52:53], v[56:57], v[10:13]
	v_mfma_f32_16x16x16_f16 v[6:9], v[60:61], v[30:31], v[6:9]
	v_mfma_f32_16x16x16_f16 v[2:5], v[64:65], v[68:69], v[2:5]
	s_setprio 0
	s_add_i32 s0, s0, -1
	v_lshl_add_u32 v27, v0, 4, s1
	v_add_u32_e32 v20, 0x100, v20
	s_mov_b32 s2, s1
	s_mov_b32 s1, s3
	s_cmp_eq_u32 s0, 0
	s_waitcnt vmcnt(1)
	ds_write_b128 v27, v[34:37]
	s_waitcnt vmcnt(0)
	ds_write_b128 v27, v[38:41] offset:4096
	s_waitcnt lgkmcnt(0)
	s_barrier
	s_cbranch_scc0 .LBB0_2
	s_branch .LBB0_4
.LBB0_3:
	v_mov_b64_e32 v[2:3], 0
	v_mov_b64_e32 v[4:5], 0
	v_mov_b64_e32 v[6:7], 0
	v_mov_b64_e32 v[8:9], 0
	v_mov_b64_e32 v[10:11], 0
	v_mov_b64_e32 v[12:13], 0
	v_mov_b64_e32 v[14:15], 0
	v_mov_b64_e32 v[16:17], 0
.LBB0_4:
	v_lshl_add_u64 v[0:1], v[18:19], 2, s[8:9]
	global_store_dword v[0:1], v14, off
	global_store_dword v[0:1], v15, off offset:1024
	global_store_dword v[0:1], v16, off offset:2048
	global_store_dword v[0:1], v17, off offset:3072
	v_or_b32_e32 v0, 0x400, v18
	v_mov_b32_e32 v1, 0
	v_lshl_add_u64 v[14:15], v[0:1], 2, s[8:9]
	v_add_u32_e32 v0, 0x500, v18
	global_store_dword v[14:15], v10, off
	v_lshl_add_u64 v[14:15], v[0:1], 2, s[8:9]
	v_add_u32_e32 v0, 0x600, v18
	global_store_dword v[14:15], v11, off
	v_lshl_add_u64 v[10:11], v[0:1], 2, s[8:9]
	v_add_u32_e32 v0, 0x700, v18
	global_store_dword v[10:11], v12, off
	v_lshl_add_u64 v[10:11], v[0:1], 2, s[8:9]
	v_or_b32_e32 v0, 0x800, v18
	global_store_dword v[10:11], v13, off
	v_lshl_add_u64 v[10:11], v[0:1], 2, s[8:9]
	v_add_u32_e32 v0, 0x900, v18
	global_store_dword v[10:11], v6, off
	v_lshl_add_u64 v[10:11], v[0:1], 2, s[8:9]
	v_add_u32_e32 v0, 0xa00, v18
	global_store_dword v[10:11], v7, off
	v_lshl_add_u64 v[6:7], v[0:1], 2, s[8:9]
	v_add_u32_e32 v0, 0xb00, v18
	global_store_dword v[6:7], v8, off
	v_lshl_add_u64 v[6:7], v[0:1], 2, s[8:9]
	v_or_b32_e32 v0, 0xc00, v18
	global_store_dword v[6:7], v9, off
	v_lshl_add_u64 v[6:7], v[0:1], 2, s[8:9]
	v_add_u32_e32 v0, 0xd00, v18
	global_store_dword v[6:7], v2, off
	v_lshl_add_u64 v[6:7], v[0:1], 2, s[8:9]
	v_add_u32_e32 v0, 0xe00, v18
	global_store_dword v[6:7], v3, off
	v_lshl_add_u64 v[2:3], v[0:1], 2, s[8:9]
	v_add_u32_e32 v0, 0xf00, v18
	v_lshl_add_u64 v[0:1], v[0:1], 2, s[8:9]
	global_store_dword v[2:3], v4, off
	global_store_dword v[0:1], v5, off
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel gemm
		.amdhsa_group_segment_fixed_size 32768
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 28
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_kernarg_preload_length 0
		.amdhsa_user_sgpr_kernarg_preload_offset 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_enable_private_segment 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 169
		.amdhsa_next_free_sgpr 96
		.amdhsa_accum_offset 72
		.amdhsa_reserve_vcc 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_tg_split 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end0:
	.size	gemm, .Lfunc_end0-gemm
                                        ; -- End function
	.set gemm.num_vgpr, 70
	.set gemm.num_agpr, 0
	.set gemm.numbered_sgpr, 10
	.set gemm.num_named_barrier, 0
	.set gemm.private_seg_size, 0
	.set gemm.uses_vcc, 0
	.set gemm.uses_flat_scratch, 0
	.set gemm.has_dyn_sized_stack, 0
	.set gemm.has_recursion, 0
	.set gemm.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 956
; TotalNumSgprs: 16
; NumVgprs: 70
; NumAgprs: 0
; TotalNumVgprs: 70
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 32768 bytes/workgroup (compile time only)
; SGPRBlocks: 12
; VGPRBlocks: 21
; NumSGPRsForWavesPerEU: 102
; NumVGPRsForWavesPerEU: 169
; AccumOffset: 72
; Occupancy: 2
; WaveLimiterHint : 1
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 0
; COMPUTE_PGM_RSRC2:USER_SGPR: 2
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 0
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 0
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 0
; COMPUTE_PGM_RSRC3_GFX90A:ACCUM_OFFSET: 17
; COMPUTE_PGM_RSRC3_GFX90A:TG_SPLIT: 0
	.text
	.p2alignl 6, 3212836864
	.fill 256, 4, 3212836864
	.section	.AMDGPU.gpr_maximums,"",@progbits
	.set amdgpu.max_num_vgpr, 0
	.set amdgpu.max_num_agpr, 0
	.set amdgpu.max_num_sgpr, 0
	.set amdgpu.max_num_named_barrier, 0
	.text
	
	.section	".note.GNU-stack","",@progbits
	.addrsig
	.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     0
    .args:
      - .address_space:  global
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
      - .address_space:  global
        .offset:         8
        .size:           8
        .value_kind:     global_buffer
      - .address_space:  global
        .offset:         16
        .size:           8
        .value_kind:     global_buffer
      - .offset:         24
        .size:           4
        .value_kind:     by_value
    .group_segment_fixed_size: 32768
    .kernarg_segment_align: 8
    .kernarg_segment_size: 28
    .max_flat_workgroup_size: 256
    .name:           gemm
    .private_segment_fixed_size: 0
    .sgpr_count:     16
    .sgpr_spill_count: 0
    .symbol:         gemm.kd
    .uses_dynamic_stack: false
    .vgpr_count:     70
    .vgpr_spill_count: 0
    .wavefront_size: 64
amdhsa.target:   amdgcn-amd-amdhsa--gfx942
amdhsa.version:
  - 1
  - 2
...

	.end_amdgpu_metadata
