#include "minitarget.h"

#include <stdlib.h>
#include <string.h>

const char *const minitarget_names[MINITARGET_COUNT] = {"gfx942", "gfx950", "gfx1250"};

static void *copy_rows(const void *rows, size_t n, size_t size)
{
	void *p = xcalloc(n ? n : 1, size);
	if (n)
		memcpy(p, rows, n * size);
	return p;
}

struct minitarget *minitarget_copy(const struct minitarget *m)
{
	struct minitarget *c = xcalloc(1, sizeof(*c));
	c->t = m->t;
	c->t.src = NULL;
	c->t.arena = NULL;
	c->t.matrix = copy_rows(m->t.matrix, m->t.nmatrix, sizeof(*m->t.matrix));
	c->t.lds = copy_rows(m->t.lds, m->t.nlds, sizeof(*m->t.lds));
	c->t.vmem = copy_rows(m->t.vmem, m->t.nvmem, sizeof(*m->t.vmem));
	return c;
}

struct minitarget *minitarget_load(const char *name)
{
	struct diag d;
	struct minitarget whole = {0}, *m = NULL;
	diag_init(&d);
	struct target *t = target_load(name, NULL, (struct loc){0}, &d);
	if (t) {
		whole.t = *t;
		m = minitarget_copy(&whole);
		m->real = t;
	}
	diag_free(&d);
	return m;
}

void minitarget_free(struct minitarget *m)
{
	if (!m)
		return;
	if (m->real)
		target_free(m->real);
	free(m->t.matrix);
	free(m->t.lds);
	free(m->t.vmem);
	free(m);
}

bool minitarget_is_permute(const struct lds_row *row)
{
	return strstr(row->op, "permute") || strstr(row->op, "swizzle");
}

/* Rows of the two families */

static const struct matrix_row gfx9_matrix[] = {
	{.op = "v_mfma_f32_16x16x16_f16",
	 .kind = MK_MFMA,
	 .types = "f16",
	 .m = 16,
	 .n = 16,
	 .k = 16,
	 .blocks = 1,
	 .passes = 4,
	 .occupancy_clk = 16,
	 .ready_clk = 28,
	 .chain_clk = 16,
	 .valu_block_clk = 4,
	 .a_regs = 2,
	 .b_regs = 2,
	 .c_regs = 4},
	{.op = "v_mfma_f32_32x32x8_f16",
	 .kind = MK_MFMA,
	 .types = "f16",
	 .m = 32,
	 .n = 32,
	 .k = 8,
	 .blocks = 1,
	 .passes = 8,
	 .occupancy_clk = 32,
	 .ready_clk = 44,
	 .chain_clk = 32,
	 .valu_block_clk = 4,
	 .a_regs = 2,
	 .b_regs = 2,
	 .c_regs = 16},
	{.op = "v_mfma_scale_f32_16x16x128_f8f6f4",
	 .kind = MK_MFMA_SCALE,
	 .types = "f8f6f4",
	 .m = 16,
	 .n = 16,
	 .k = 128,
	 .blocks = 1,
	 .passes = 4,
	 .occupancy_clk = 16,
	 .ready_clk = 30,
	 .chain_clk = 18,
	 .prefix_clk = 4,
	 .valu_block_clk = 8,
	 .a_regs = 4,
	 .b_regs = 4,
	 .c_regs = 4},
};

static const struct matrix_row gfx12_matrix[] = {
	{.op = "v_wmma_f32_16x16x32_f16",
	 .kind = MK_WMMA,
	 .types = "f16",
	 .m = 16,
	 .n = 16,
	 .k = 32,
	 .blocks = 1,
	 .occupancy_clk = 8,
	 .ready_clk = 13,
	 .chain_clk = 8,
	 .valu_block_clk = 1,
	 .a_regs = 8,
	 .b_regs = 8,
	 .c_regs = 8},
	{.op = "v_wmma_scale_f32_16x16x128_f8f6f4",
	 .kind = MK_WMMA_SCALE,
	 .types = "f8f6f4",
	 .m = 16,
	 .n = 16,
	 .k = 128,
	 .blocks = 1,
	 .occupancy_clk = 8,
	 .ready_clk = 15,
	 .chain_clk = 9,
	 .prefix_clk = 1,
	 .valu_block_clk = 2,
	 .a_regs = 16,
	 .b_regs = 16,
	 .c_regs = 8},
};

static const struct lds_row gfx9_lds[] = {
	{.op = "ds_read_b32", .width_bytes = 4, .port_clk = 4, .banks = 32, .ngroups = 2},
	{.op = "ds_read_b128", .width_bytes = 16, .port_clk = 16, .banks = 32, .ngroups = 8},
	{.op = "ds_write_b64",
	 .write = true,
	 .width_bytes = 8,
	 .port_clk = 12,
	 .banks = 32,
	 .ngroups = 4},
	{.op = "ds_permute_b32", .width_bytes = 4, .port_clk = 8, .banks = 32, .ngroups = 1},
};

static const struct lds_row gfx12_lds[] = {
	{.op = "ds_load_b32", .width_bytes = 4, .port_clk = 1, .banks = 64, .ngroups = 1},
	{.op = "ds_load_b128", .width_bytes = 16, .port_clk = 2, .banks = 64, .ngroups = 2},
	{.op = "ds_store_b128",
	 .write = true,
	 .width_bytes = 16,
	 .port_clk = 4,
	 .banks = 64,
	 .ngroups = 2},
	{.op = "ds_permute_b32", .width_bytes = 4, .port_clk = 2, .banks = 64, .ngroups = 1},
};

static const struct vmem_row gfx9_vmem[] = {
	{.op = "buffer_load_dwordx4",
	 .kind = VM_LOAD,
	 .width_bytes = 16,
	 .addr_clk = 16,
	 .data_clk = 16},
	{.op = "buffer_store_dwordx4",
	 .kind = VM_STORE,
	 .width_bytes = 16,
	 .addr_clk = 16,
	 .data_clk = 16},
	{.op = "buffer_load_dword_lds",
	 .kind = VM_LDS,
	 .width_bytes = 4,
	 .addr_clk = 4,
	 .data_clk = 11},
};

static const struct vmem_row gfx12_vmem[] = {
	{.op = "global_load_b128",
	 .kind = VM_LOAD,
	 .width_bytes = 16,
	 .addr_clk = 4,
	 .data_clk = 4},
	{.op = "global_store_b128",
	 .kind = VM_STORE,
	 .width_bytes = 16,
	 .addr_clk = 4,
	 .data_clk = 4},
	{.op = "global_load_async_to_lds_b128",
	 .kind = VM_LDS,
	 .width_bytes = 16,
	 .addr_clk = 4,
	 .data_clk = 4},
};

static const struct target_values gfx9_values = {
	.cus = 256,
	.xcds = 8,
	.simds = 4,
	.wave_size = 64,
	.waves_per_simd = 8,
	.workgroup_waves = 16,
	.issue_period = 4,
	.issue_stagger = 1,
	.matrix_ahead = 1,
	.packed_before = 4,
	.packed_after = 4,
	.nop_unit = 4,
	.sleep_unit = 64,
	.straddle = 4,
	.icache_line = 64,
	.icache_bytes = 65536,
	.icache_miss_ns = 100,
	.icache_ahead = 2,
	.lds_bytes = 65536,
	.lds_granule = 512,
	.lds_queue = 4,
	.lds_latency = 48,
	.lds_conflict_latency = 70,
	.lds_unaligned = 1,
	.lds_partitions = 1,
	.lds_dma_write = 64,
	.vmem_queue = 8,
	.vmem_inflight = 16384,
	.vmem_l2_ns = 120,
	.vmem_hbm_ns = 380,
	.vmem_store_ns = 100,
	.vmem_cold_ns = 50,
	.vmem_cold_window_ns = 200,
	.smem_ns = 60,
	.l2_bytes_clk = 16384,
	.mall_gbs = 17000,
	.hbm_gbs = 5300,
	.barrier_release = 22,
	.vgpr_pool = 512,
	.vgpr_max = 256,
	.agpr_max = 256,
	.vgpr_granule = 8,
	.sgpr_max = 102,
	.launch_ns = 1000,
	.launch_kernel_ns = 4000,
};

static const struct target_values gfx12_values = {
	.cus = 256,
	.xcds = 8,
	.simds = 4,
	.wave_size = 32,
	.waves_per_simd = 16,
	.workgroup_waves = 32,
	.issue_period = 1,
	.issue_stagger = 0,
	.matrix_ahead = 0,
	.packed_before = 1,
	.packed_after = 2,
	.nop_unit = 1,
	.sleep_unit = 64,
	.straddle = 1,
	.icache_line = 128,
	.icache_bytes = 65536,
	.icache_miss_ns = 80,
	.icache_ahead = 2,
	.lds_bytes = 327680,
	.lds_granule = 2048,
	.lds_queue = 8,
	.lds_latency = 40,
	.lds_conflict_latency = 0,
	.lds_unaligned = 1,
	.lds_partitions = 5,
	.lds_dma_write = 128,
	.vmem_queue = 16,
	.vmem_inflight = 32768,
	.vmem_l2_ns = 150,
	.vmem_hbm_ns = 400,
	.vmem_store_ns = 100,
	.vmem_cold_ns = 0,
	.vmem_cold_window_ns = 0,
	.smem_ns = 60,
	.l2_bytes_clk = 16384,
	.mall_gbs = 0,
	.hbm_gbs = 20000,
	.tdm_engines = 2,
	.tdm_queue_wave = 2,
	.tdm_queue = 3,
	.tdm_start_ns = 200,
	.tdm_bytes_clk = 64,
	.barrier_release = 12,
	.barrier_cluster = 90,
	.barrier_named = 16,
	.barrier_split = 1,
	.wmma_hold = 1,
	.vgpr_pool = 1024,
	.vgpr_max = 1024,
	.agpr_max = 0,
	.vgpr_granule = 16,
	.sgpr_max = 106,
	.launch_ns = 1000,
	.launch_kernel_ns = 4000,
};

static void set_class(struct target *t, enum opclass c, unsigned busy, unsigned latency,
		      unsigned hold, int counter)
{
	t->classes[c] = (struct class_row){
		.busy_clk = busy, .latency_clk = latency, .hold_clk = hold, .counter = counter};
}

static void set_counter(struct target *t, enum counter c, unsigned max, bool in_order)
{
	t->counters[c] = (struct counter_row){.present = true, .max = max, .in_order = in_order};
}

static void build_gfx9(struct target *t)
{
	t->v = gfx9_values;
	for (unsigned c = 0; c < OPC_COUNT; c++)
		set_class(t, c, 4, 0, 4, -1);
	set_class(t, OPC_VALU, 4, 8, 4, -1);
	set_class(t, OPC_TRANS, 16, 20, 4, -1);
	set_class(t, OPC_PACKED, 8, 12, 4, -1);
	set_class(t, OPC_MATRIX, 4, 0, 4, -1);
	set_class(t, OPC_SALU, 4, 4, 4, -1);
	set_class(t, OPC_SMEM, 4, 0, 4, CTR_LGKM);
	set_class(t, OPC_LDS_READ, 4, 0, 4, CTR_LGKM);
	set_class(t, OPC_LDS_WRITE, 4, 0, 4, CTR_LGKM);
	set_class(t, OPC_LDS_PERMUTE, 4, 0, 4, CTR_LGKM);
	set_class(t, OPC_VMEM_LOAD, 4, 0, 4, CTR_VM);
	set_class(t, OPC_VMEM_STORE, 4, 0, 8, CTR_VM);
	set_class(t, OPC_VMEM_LDS, 4, 0, 4, CTR_VM);
	set_class(t, OPC_BRANCH, 4, 0, 16, -1);
	set_counter(t, CTR_VM, 63, true);
	set_counter(t, CTR_LGKM, 15, true);
	set_counter(t, CTR_EXP, 7, true);
	t->matrix = copy_rows(gfx9_matrix, ARRAY_LEN(gfx9_matrix), sizeof(*gfx9_matrix));
	t->nmatrix = ARRAY_LEN(gfx9_matrix);
	t->lds = copy_rows(gfx9_lds, ARRAY_LEN(gfx9_lds), sizeof(*gfx9_lds));
	t->nlds = ARRAY_LEN(gfx9_lds);
	t->vmem = copy_rows(gfx9_vmem, ARRAY_LEN(gfx9_vmem), sizeof(*gfx9_vmem));
	t->nvmem = ARRAY_LEN(gfx9_vmem);
	for (unsigned s = 0; s < 4; s++)
		t->pair_of_simd[s] = s / 2;
}

static void build_gfx12(struct target *t)
{
	t->v = gfx12_values;
	for (unsigned c = 0; c < OPC_COUNT; c++)
		set_class(t, c, 1, 0, 1, -1);
	set_class(t, OPC_VALU, 1, 5, 1, -1);
	set_class(t, OPC_TRANS, 2, 9, 1, -1);
	set_class(t, OPC_PACKED, 2, 6, 1, -1);
	set_class(t, OPC_SALU, 1, 3, 1, -1);
	set_class(t, OPC_SMEM, 1, 0, 1, CTR_KM);
	set_class(t, OPC_LDS_READ, 1, 0, 1, CTR_DS);
	set_class(t, OPC_LDS_WRITE, 1, 0, 1, CTR_DS);
	set_class(t, OPC_LDS_PERMUTE, 1, 0, 1, CTR_DS);
	set_class(t, OPC_VMEM_LOAD, 1, 0, 1, CTR_LOAD);
	set_class(t, OPC_VMEM_STORE, 1, 0, 2, CTR_STORE);
	set_class(t, OPC_VMEM_LDS, 1, 0, 1, CTR_ASYNC);
	set_class(t, OPC_TDM_LOAD, 1, 0, 1, CTR_TENSOR);
	set_class(t, OPC_TDM_STORE, 1, 0, 1, CTR_TENSOR);
	set_class(t, OPC_BRANCH, 1, 0, 10, -1);
	set_counter(t, CTR_LOAD, 63, true);
	set_counter(t, CTR_STORE, 63, true);
	set_counter(t, CTR_DS, 63, true);
	set_counter(t, CTR_KM, 31, false);
	set_counter(t, CTR_ASYNC, 63, true);
	set_counter(t, CTR_TENSOR, 63, true);
	t->matrix = copy_rows(gfx12_matrix, ARRAY_LEN(gfx12_matrix), sizeof(*gfx12_matrix));
	t->nmatrix = ARRAY_LEN(gfx12_matrix);
	t->lds = copy_rows(gfx12_lds, ARRAY_LEN(gfx12_lds), sizeof(*gfx12_lds));
	t->nlds = ARRAY_LEN(gfx12_lds);
	t->vmem = copy_rows(gfx12_vmem, ARRAY_LEN(gfx12_vmem), sizeof(*gfx12_vmem));
	t->nvmem = ARRAY_LEN(gfx12_vmem);
	for (unsigned s = 0; s < 4; s++)
		t->pair_of_simd[s] = s % 2;
}

struct minitarget *minitarget_build(const char *name)
{
	static const struct clock_row clock = {.name = "nominal", .mhz = 2000};
	struct minitarget *m = xcalloc(1, sizeof(*m));
	struct target *t = &m->t;
	if (!strcmp(name, "gfx1250"))
		build_gfx12(t);
	else
		build_gfx9(t);
	if (!strcmp(name, "gfx950")) {
		t->v.lds_bytes = 163840;
		t->v.lds_granule = 1280;
		t->v.matrix_ahead = 0;
	}
	t->name = name;
	t->product = "test";
	t->path = "minitarget.c";
	t->clocks = (struct clock_row *)&clock;
	t->nclocks = 1;
	return m;
}
