/* Table of the memory instructions that are not LDS instructions. */
#include "exec_mem.h"

#define MEM(op, names, arg) \
	{ "buffer_" #op "_" names, "wide wide wide b32", op_buffer_##op, arg }, \
	{ "global_" #op "_" names, "wide wide wide", op_global_##op, arg }, \
	{ "flat_" #op "_" names, "wide wide wide", op_flat_##op, arg }, \
	{ "scratch_" #op "_" names, "wide wide wide", op_scratch_##op, arg }
#define ATOMIC(names, op, bytes) \
	{ "buffer_atomic_" names, "wide wide wide b32", op_buffer_atomic, M_ATOMIC(op, bytes) }, \
	{ "global_atomic_" names, "wide wide wide wide", op_global_atomic, M_ATOMIC(op, bytes) }, \
	{ "flat_atomic_" names, "wide wide wide wide", op_flat_atomic, M_ATOMIC(op, bytes) }
#define SMEM(names, arg) \
	{ "s_load_" names, "wide wide wide", op_smem_load, arg }, \
	{ "s_buffer_load_" names, "wide wide wide", op_smem_load, (arg) | M_BUFFER }
#define SSTORE(names, arg) \
	{ "s_store_" names, "wide wide wide", op_smem_store, arg }, \
	{ "s_buffer_store_" names, "wide wide wide", op_smem_store, (arg) | M_BUFFER }
#define TO_LDS(names, arg) \
	{ "global_load_lds_" names, "wide wide", op_global_lds, arg }, \
	{ "scratch_load_lds_" names, "wide wide", op_scratch_lds, arg }
#define ASYNC(names, arg) \
	{ "global_load_async_to_lds_" names, "wide wide wide", op_async_load, arg }, \
	{ "cluster_load_async_to_lds_" names, "wide wide wide", op_async_load, (arg) | 1 << 16 }, \
	{ "global_store_async_from_lds_" names, "wide wide wide", op_async_store, arg }

const struct xop xops_memory[] = {
	MEM(load, "{dword,b32}", 4), MEM(load, "{dwordx2,b64}", 8), MEM(load, "{dwordx3,b96}", 12), MEM(load, "{dwordx4,b128}", 16),
	MEM(load, "{ubyte,u8}", 1), MEM(load, "{sbyte,i8}", 1 | M_SIGNED), MEM(load, "{ushort,u16}", 2), MEM(load, "{sshort,i16}", 2 | M_SIGNED),
	MEM(load, "{ubyte_d16,d16_u8}", 1 | M_D16), MEM(load, "{ubyte_d16_hi,d16_hi_u8}", 1 | M_D16 | M_HI),
	MEM(load, "{sbyte_d16,d16_i8}", 1 | M_SIGNED | M_D16), MEM(load, "{sbyte_d16_hi,d16_hi_i8}", 1 | M_SIGNED | M_D16 | M_HI),
	MEM(load, "{short_d16,d16_b16}", 2 | M_D16), MEM(load, "{short_d16_hi,d16_hi_b16}", 2 | M_D16 | M_HI),
	MEM(store, "{dword,b32}", 4), MEM(store, "{dwordx2,b64}", 8), MEM(store, "{dwordx3,b96}", 12), MEM(store, "{dwordx4,b128}", 16),
	MEM(store, "{byte,b8}", 1), MEM(store, "{short,b16}", 2),
	MEM(store, "{byte_d16_hi,d16_hi_b8}", 1 | M_HI), MEM(store, "{short_d16_hi,d16_hi_b16}", 2 | M_HI),
	ATOMIC("{swap,swap_b32}", AT_SWAP, 4), ATOMIC("{swap_x2,swap_b64}", AT_SWAP, 8),
	ATOMIC("{cmpswap,cmpswap_b32}", AT_CMPSWAP, 4), ATOMIC("{cmpswap_x2,cmpswap_b64}", AT_CMPSWAP, 8),
	ATOMIC("{add,add_u32}", AT_ADD, 4), ATOMIC("{add_x2,add_u64}", AT_ADD, 8),
	ATOMIC("{sub,sub_u32}", AT_SUB, 4), ATOMIC("{sub_x2,sub_u64}", AT_SUB, 8),
	ATOMIC("{smin,min_i32}", AT_SMIN, 4), ATOMIC("{smin_x2,min_i64}", AT_SMIN, 8),
	ATOMIC("{smax,max_i32}", AT_SMAX, 4), ATOMIC("{smax_x2,max_i64}", AT_SMAX, 8),
	ATOMIC("{umin,min_u32}", AT_UMIN, 4), ATOMIC("{umin_x2,min_u64}", AT_UMIN, 8),
	ATOMIC("{umax,max_u32}", AT_UMAX, 4), ATOMIC("{umax_x2,max_u64}", AT_UMAX, 8),
	ATOMIC("{and,and_b32}", AT_AND, 4), ATOMIC("{and_x2,and_b64}", AT_AND, 8),
	ATOMIC("{or,or_b32}", AT_OR, 4), ATOMIC("{or_x2,or_b64}", AT_OR, 8),
	ATOMIC("{xor,xor_b32}", AT_XOR, 4), ATOMIC("{xor_x2,xor_b64}", AT_XOR, 8),
	ATOMIC("{inc,inc_u32}", AT_INC, 4), ATOMIC("{inc_x2,inc_u64}", AT_INC, 8),
	ATOMIC("{dec,dec_u32}", AT_DEC, 4), ATOMIC("{dec_x2,dec_u64}", AT_DEC, 8),
	ATOMIC("add_f32", AT_FADD, 4), ATOMIC("add_f64", AT_FADD, 8), ATOMIC("min_f64", AT_FMIN, 8), ATOMIC("max_f64", AT_FMAX, 8),
	ATOMIC("{fmin,min_f32,min_num_f32}", AT_FMIN_NUM, 4), ATOMIC("{fmax,max_f32,max_num_f32}", AT_FMAX_NUM, 4),
	ATOMIC("min_num_f64", AT_FMIN_NUM, 8), ATOMIC("max_num_f64", AT_FMAX_NUM, 8),
	ATOMIC("pk_add_f16", AT_PK_F16, 4), ATOMIC("pk_add_bf16", AT_PK_BF16, 4),
	ATOMIC("{csub,csub_u32,sub_clamp_u32}", AT_SUB_CLAMP, 4), ATOMIC("cond_sub_u32", AT_COND_SUB, 4),
	SMEM("{dword,b32}", 4), SMEM("{dwordx2,b64}", 8), SMEM("b96", 12), SMEM("{dwordx4,b128}", 16), SMEM("{dwordx8,b256}", 32),
	SMEM("{dwordx16,b512}", 64), SMEM("u8", 1), SMEM("i8", 1 | M_SIGNED), SMEM("u16", 2), SMEM("i16", 2 | M_SIGNED),
	SSTORE("dword", 4), SSTORE("dwordx2", 8), SSTORE("dwordx4", 16),
	TO_LDS("dword", 4), TO_LDS("dwordx3", 12), TO_LDS("dwordx4", 16), TO_LDS("ubyte", 1), TO_LDS("sbyte", 1 | M_SIGNED),
	TO_LDS("ushort", 2), TO_LDS("sshort", 2 | M_SIGNED),
	ASYNC("b8", 1), ASYNC("b32", 4), ASYNC("b64", 8), ASYNC("b128", 16),
	{ "cluster_load_b32",                  "wide wide wide", op_global_load, 4 },
	{ "cluster_load_b64",                  "wide wide wide", op_global_load, 8 },
	{ "cluster_load_b128",                 "wide wide wide", op_global_load, 16 },
	{ "{global,flat}_load_monitor_b32",    "wide wide wide", op_flat_load, 4 },
	{ "{global,flat}_load_monitor_b64",    "wide wide wide", op_flat_load, 8 },
	{ "{global,flat}_load_monitor_b128",   "wide wide wide", op_flat_load, 16 },
	{ "global_load_{addtid_b32,dword_addtid}",  "wide wide", op_global_addtid, 0 },
	{ "global_store_{addtid_b32,dword_addtid}", "wide wide", op_global_addtid, 1 },
	{ "global_load_{tr16_b128,tr_b128}",   "wide wide wide", op_global_tr, 16 | 16 << 8 },
	{ "global_load_{tr8_b64,tr_b64}",      "wide wide wide", op_global_tr, 8 | 8 << 8 },
	{ "global_load_tr6_b96",               "wide wide wide", op_global_tr, 12 | 6 << 8 },
	{ "global_load_tr4_b64",               "wide wide wide", op_global_tr, 8 | 4 << 8 },
	{ "global_load_block",                 "wide wide wide", op_block, 0 },
	{ "global_store_block",                "wide wide wide", op_block, 1 },
	{ "scratch_load_block",                "wide wide wide", op_block, 2 },
	{ "scratch_store_block",               "wide wide wide", op_block, 3 },
	{ "tensor_load_to_lds",                "wide wide wide wide", op_tensor_load, 0 },
	{ "tensor_store_from_lds",             "wide wide wide wide", op_tensor_store, 0 },
	{ "buffer_{wbl2,inv}",                 "", op_nothing, 0 },
	{ "global_{wb,inv,wbinv,prefetch_b8}", "wide wide", op_nothing, 0 },
	{ "flat_prefetch_b8",                  "wide wide", op_nothing, 0 },
	{ "s_dcache_{inv,inv_vol,wb,wb_vol,discard,discard_x2}", "wide wide", op_nothing, 0 },
	{ "s_icache_inv",                      "", op_nothing, 0 },
	{ "s_prefetch_{data,inst,data_pc_rel,inst_pc_rel}", "wide wide wide wide", op_nothing, 0 },
	{ "s_buffer_prefetch_data",            "wide wide wide wide", op_nothing, 0 },
};
const size_t nxops_memory = ARRAY_LEN(xops_memory);
