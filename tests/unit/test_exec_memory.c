/*
 * Memory instructions of the executor. Each case is a few lines of assembler text that leave four dwords a
 * lane in v[20:23]; what they must be is written down here by the manual's definition, sharing no code with
 * the executor.
 */
#include "exec_memory_cases.h"

/* ---- global memory ---- */

static void want_small(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	w[0] = in8(3 * lane + 1);
	w[1] = s8(in8(3 * lane + 2));
	w[2] = in16(2 * lane + 6);
	w[3] = s16(in16(2 * lane + 8));
}

static void want_halves(bool gfx9, unsigned lane, uint32_t w[4])
{
	w[0] = (gfx9 ? 0 : PRESET(0) & 0xffff0000) | in16(2 * lane);
	w[1] = (gfx9 ? 0 : PRESET(1) & 0xffff) | in16(2 * lane + 2) << 16;
	w[2] = (gfx9 ? 0 : PRESET(2) & 0xffff0000) | (s8(in8(lane)) & 0xffff);
	w[3] = (gfx9 ? 0 : PRESET(3) & 0xffff) | in8(lane) << 16;
}

static void want_wide(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	for (unsigned i = 0; i < 4; i++)
		w[i] = in32(20 * lane + 5 + 4 * i);
}

static void want_minus(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	w[0] = in32(4 * lane + 256 - 256);
	w[2] = in32(4 * lane + 300);
	w[3] = in32(4 * lane + 304);
}

static void want_scaled(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	w[0] = in32(8 * (size_t)lane + 64);
	w[1] = in32(8 * (size_t)lane + 68);
	w[2] = in32(1024 - 4 * (size_t)lane);
}

static void test_global_loads(void **state)
{
	(void)state;
	check_case(&(struct snippet){ .name = "small", .targets = ALL, .body = "v_mul_u32_u24_e32 v2, 3, v0\nv_lshlrev_b32_e32 v3, 1, v0\n"
		"global_load_ubyte v20, v2, s[4:5] offset:1\nglobal_load_sbyte v21, v2, s[4:5] offset:2\n"
		"global_load_ushort v22, v3, s[4:5] offset:6\nglobal_load_sshort v23, v3, s[4:5] offset:8\n@" }, want_small);
	check_case(&(struct snippet){ .name = "halves", .targets = ALL, .body = "v_lshlrev_b32_e32 v3, 1, v0\n"
		"global_load_short_d16 v20, v3, s[4:5]\nglobal_load_short_d16_hi v21, v3, s[4:5] offset:2\n"
		"global_load_sbyte_d16 v22, v0, s[4:5]\nglobal_load_ubyte_d16_hi v23, v0, s[4:5]\n@" }, want_halves);
	check_case(&(struct snippet){ .name = "wide", .targets = ALL, .body = "v_mul_u32_u24_e32 v2, 20, v0\nglobal_load_dwordx4 v[20:23], v2, s[4:5] offset:5\n@" },
		   want_wide);
	check_case(&(struct snippet){ .name = "minus", .targets = ALL, .body = "v_lshlrev_b32_e32 v2, 2, v0\nv_add_u32_e32 v2, 0x100, v2\nv_mov_b32_e32 v3, 0\n"
		"v_lshl_add_u64 v[4:5], s[4:5], 0, v[2:3]\n"
		"global_load_dword v20, v[4:5], off offset:-256\nglobal_load_dwordx2 v[22:23], v[4:5], off offset:44\n@" }, want_minus);
	check_case(&(struct snippet){ .name = "scaled", .targets = G1250, .body = "v_sub_nc_u32_e32 v2, 0x100, v0\nglobal_load_b64 v[20:21], v0, s[4:5] offset:64 scale_offset\n"
		"global_load_b32 v22, v2, s[4:5] scale_offset\n@" }, want_scaled);
}

static void want_stores(bool gfx9, unsigned lane, uint32_t w[4])
{
	uint32_t old = before32(4 * lane), v = PRESET(0) + lane;

	(void)gfx9;
	w[0] = (old & 0xffffff00) | (v & 0xff);
	w[1] = (before32(512 + 4 * lane) & 0xffff) | v << 16;
	w[2] = (before32(1024 + 4 * lane) & 0xff00ffff) | (v & 0xff0000);
	w[3] = (before32(1536 + 4 * lane) & 0xffff) | (v & 0xffff0000);
	for (unsigned i = 0; i < 4; i++)
		if (rw32(512 * i + 4 * lane) != w[i])
			fail_msg("stores: lane %u, %u: memory holds 0x%08x, expected 0x%08x", lane, i, rw32(512 * i + 4 * lane), w[i]);
}

static void test_global_stores(void **state)
{
	(void)state;
	check_case(&(struct snippet){ .name = "stores", .targets = ALL, .body = "v_lshlrev_b32_e32 v2, 2, v0\nv_add_u32_e32 v3, v20, v0\n"
		"global_store_byte v2, v3, s[8:9]\nglobal_store_short v2, v3, s[8:9] offset:514\n"
		"global_store_byte_d16_hi v2, v3, s[8:9] offset:1026\nglobal_store_short_d16_hi v2, v3, s[8:9] offset:1538\n@"
		"global_load_dword v20, v2, s[8:9]\nglobal_load_dword v21, v2, s[8:9] offset:512\n"
		"global_load_dword v22, v2, s[8:9] offset:1024\nglobal_load_dword v23, v2, s[8:9] offset:1536\n@" }, want_stores);
}

/* ---- buffers ---- */

/* Resource at s[12:15]: 1000 bytes; gfx1250 has the number of records in other bits. */
#define RESOURCE_9(records, stride) \
	"s_mov_b32 s12, s4\ns_or_b32 s13, s5, " #stride "\ns_mov_b32 s14, " #records "\ns_mov_b32 s15, 0x27000\n"
#define RESOURCE_12(records7, records, stride) \
	"s_mov_b32 s12, s4\ns_or_b32 s13, s5, " #records7 "\ns_mov_b32 s14, " #records "\ns_mov_b32 s15, " #stride "\n"

static void want_raw9(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	for (unsigned i = 0; i < 4; i++) /* the scalar offset takes no part in the check; each dword has its own */
		w[i] = 16 * lane + 4 + 4 * i >= 500 ? 0 : in32(16 * lane + 4 + 100 + 4 * i);
}

static void want_raw12(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	for (unsigned i = 0; i < 4; i++)
		w[i] = 16 * lane + 4 + 100 + 4 * i + 4 > 384 ? 0 : in32(16 * lane + 4 + 100 + 4 * i);
}

static void want_struct9(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	w[0] = lane >= 50 ? 0 : in32(24 * lane + 8);
	w[1] = lane >= 50 ? 0 : in32(24 * lane + 4 * lane);
	w[2] = lane >= 50 ? 0 : in16(24 * lane + 2);
}

static void want_buffer_store(bool gfx9, unsigned lane, uint32_t w[4])
{
	size_t o = 8 * (size_t)lane;

	(void)gfx9;
	w[0] = o < 300 ? PRESET(2) : before32(o);
	w[1] = o + 4 < 300 ? PRESET(3) : before32(o + 4);
	w[2] = PRESET(2);
	w[3] = PRESET(3);
}

static void want_swizzled(bool gfx9, unsigned lane, uint32_t w[4])
{
	/* stride 16, elements of 4 bytes, 8 indices beside each other */
	size_t index = lane, offset = 8 + 4;

	(void)gfx9;
	w[0] = in32((index / 8 * 16 + offset / 4 * 4) * 8 + index % 8 * 4 + offset % 4);
}

static void test_buffers(void **state)
{
	(void)state;
	check_case(&(struct snippet){ .name = "raw", .targets = G9, .body = RESOURCE_9(500, 0) "v_lshlrev_b32_e32 v2, 4, v0\ns_movk_i32 s16, 100\n"
		"buffer_load_dwordx4 v[20:23], v2, s[12:15], s16 offen offset:4\n@" }, want_raw9);
	check_case(&(struct snippet){ .name = "raw", .targets = G1250, .body = /* 384 = 3 << 7 */
		RESOURCE_12(0, 3, 0) "v_lshlrev_b32_e32 v2, 4, v0\ns_movk_i32 s16, 100\n"
		"buffer_load_b128 v[20:23], v2, s[12:15], s16 offen offset:4\n@" }, want_raw12);
	check_case(&(struct snippet){ .name = "structured", .targets = G9, .body = RESOURCE_9(50, 0x180000) "v_mov_b32_e32 v2, v0\nv_lshlrev_b32_e32 v3, 2, v0\n"
		"buffer_load_dword v20, v2, s[12:15], 0 idxen offset:8\n"
		"buffer_load_dword v21, v[2:3], s[12:15], 0 idxen offen\n"
		"buffer_load_ushort v22, v2, s[12:15], 2 idxen\n@" }, want_struct9);
	check_case(&(struct snippet){ .name = "buffer store", .targets = G9, .body = "s_mov_b32 s12, s8\ns_mov_b32 s13, s9\ns_movk_i32 s14, 300\ns_mov_b32 s15, 0x27000\nv_lshlrev_b32_e32 v2, 3, v0\n"
		"buffer_store_dwordx2 v[22:23], v2, s[12:15], 0 offen\n@global_load_dwordx2 v[20:21], v2, s[8:9]\n@" }, want_buffer_store);
	check_case(&(struct snippet){ .name = "swizzled", .targets = G9, .body = "s_mov_b32 s12, s4\ns_or_b32 s13, s5, 0x80100000\ns_mov_b32 s14, 64\ns_mov_b32 s15, 0x00080000\n"
		"v_mov_b32_e32 v2, v0\nv_mov_b32_e32 v3, 8\nbuffer_load_dword v20, v[2:3], s[12:15], 0 idxen offen offset:4\n@" },
		   want_swizzled);
}

/* ---- LDS: plain ---- */

static void want_lds_small(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	w[0] = in8(3 * lane + 1);
	w[1] = s16(in16(3 * lane + 2));
	w[2] = (PRESET(2) & 0xffff) | (s8(in8(3 * lane + 5)) & 0xffff) << 16;
	w[3] = (PRESET(3) & 0xffff0000) | in16(3 * lane + 7);
}

static void want_lds_two(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	w[0] = in32(4 * lane + 3 * 4);
	w[1] = in32(4 * lane + 7 * 4);
	w[2] = in32(4 * lane + 1 * 256);
	w[3] = in32(4 * lane + 5 * 256);
}

static void want_lds_two64(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	w[0] = in32(8 * lane + 2 * 8);
	w[1] = in32(8 * lane + 2 * 8 + 4);
	w[2] = in32(8 * lane + 2 * 512);
	w[3] = in32(8 * lane + 2 * 512 + 4);
}

static void want_lds_write2(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	w[0] = PRESET(2);
	w[1] = PRESET(3);
	w[2] = PRESET(2);
	w[3] = lane;
}

static void want_unaligned(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	for (unsigned i = 0; i < 4; i++)
		w[i] = in32(20 * lane + 2 + 4 * i);
}

static void want_addtid(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	w[0] = in32(64 + 16 + 4 * lane);
}

static void test_lds(void **state)
{
	(void)state;
	check_case(&(struct snippet){ .name = "LDS small", .targets = ALL, .body = FILL_LDS
		"v_mul_u32_u24_e32 v3, 3, v0\nds_read_u8 v20, v3 offset:1\nds_read_i16 v21, v3 offset:2\n"
		"ds_read_i8_d16_hi v22, v3 offset:5\nds_read_u16_d16 v23, v3 offset:7\n@", .lds = 4096 }, want_lds_small);
	check_case(&(struct snippet){ .name = "LDS read2", .targets = ALL, .body = FILL_LDS
		"v_lshlrev_b32_e32 v3, 2, v0\nds_read2_b32 v[20:21], v3 offset0:3 offset1:7\n"
		"ds_read2st64_b32 v[22:23], v3 offset0:1 offset1:5\n@", .lds = 4096 }, want_lds_two);
	check_case(&(struct snippet){ .name = "LDS read2 64", .targets = ALL, .body = FILL_LDS
		"v_lshlrev_b32_e32 v3, 3, v0\nds_read_b64 v[20:21], v3 offset:16\n"
		"ds_read2st64_b64 v[4:7], v3 offset1:2\n@v_mov_b32_e32 v22, v6\nv_mov_b32_e32 v23, v7\n", .lds = 4096 }, want_lds_two64);
	check_case(&(struct snippet){ .name = "LDS write2", .targets = ALL, .body = "v_lshlrev_b32_e32 v3, 3, v0\nds_write2st64_b64 v3, v[22:23], v[22:23] offset1:1\n@"
		"ds_write2_b32 v3, v22, v0 offset0:128 offset1:129\n@"
		"ds_read_b64 v[20:21], v3\nds_read_b64 v[22:23], v3 offset:512\n@", .lds = 2048 }, want_lds_write2);
	check_case(&(struct snippet){ .name = "LDS unaligned", .targets = ALL, .body = FILL_LDS
		"v_mul_u32_u24_e32 v3, 20, v0\nds_read_b128 v[20:23], v3 offset:2\n@", .lds = 4096 }, want_unaligned);
	check_case(&(struct snippet){ .name = "LDS addtid", .targets = ALL, .body = FILL_LDS
		"s_movk_i32 m0, 0x40\ns_nop 0\nds_read_addtid_b32 v20 offset:16\n@", .lds = 4096 }, want_addtid);
}

/* ---- LDS: transposing reads ---- */

/* Element e of size bits of what lane l of a plain read would have got at byte width * l. */
static uint32_t element(unsigned bits, unsigned stride, unsigned lane, unsigned e)
{
	uint32_t v = 0;

	for (unsigned b = 0; b < bits; b++) {
		unsigned bit = e * bits + b;

		v |= (uint32_t)(in_data[stride * lane + bit / 8] >> bit % 8 & 1) << b;
	}
	return v;
}

static void pack(unsigned bits, unsigned j, uint32_t v, uint32_t w[4])
{
	for (unsigned b = 0; b < bits; b++)
		w[(j * bits + b) / 32] |= (v >> b & 1) << (j * bits + b) % 32;
}

/*
 * gfx950, 16 lanes: block of rows of 16 elements, row r of it is the r-th run of 16 elements of the lanes in a
 * row; lane l gets column l. Rows: 4 of 16 bits, 8 of 8 bits, 16 of 4 and 6 bits.
 */
static void transposed950(unsigned bits, unsigned words, unsigned stride, unsigned lane, uint32_t w[4])
{
	unsigned n = 32 * words / bits, group = lane / 16 * 16, column = lane % 16;

	memset(w, 0, 4 * words);
	for (unsigned row = 0; row < n; row++) {
		unsigned linear = row * 16 + column;

		pack(bits, row, element(bits, stride, group + linear / n, linear % n), w);
	}
}

static void want_tr16(bool gfx9, unsigned lane, uint32_t w[4]) { (void)gfx9; transposed950(16, 2, 8, lane, w); }
static void want_tr8(bool gfx9, unsigned lane, uint32_t w[4]) { (void)gfx9; transposed950(8, 2, 8, lane, w); }
static void want_tr4(bool gfx9, unsigned lane, uint32_t w[4]) { (void)gfx9; transposed950(4, 2, 8, lane, w); }
static void want_tr6(bool gfx9, unsigned lane, uint32_t w[4]) { (void)gfx9; transposed950(6, 3, 16, lane, w); }

/* gfx1250, as the manual's figure shows it: lane that brings column k of the K dimension, upper or lower M half. */
static unsigned bringer16(unsigned k, unsigned m)
{
	return (k < 8 ? k : 16 + k - 8) + (m < 8 ? 0 : 8);
}

static unsigned bringer8(unsigned k, unsigned m)
{
	static const unsigned first[4] = { 0, 8, 16, 24 };

	return first[k / 4] + k % 4 + (m < 8 ? 0 : 4);
}

/* Lane l holds row m = l % 16; lanes 0 to 15 K = 0 to 7, the others K = 8 to 15. */
static void want_tr16_1250(bool gfx9, unsigned lane, uint32_t w[4])
{
	unsigned m = lane % 16;

	(void)gfx9;
	memset(w, 0, 16);
	for (unsigned j = 0; j < 8; j++)
		pack(16, j, element(16, 16, bringer16(lane / 16 * 8 + j, m), m % 8), w);
}

static void want_tr8_1250(bool gfx9, unsigned lane, uint32_t w[4])
{
	unsigned m = lane % 16;

	(void)gfx9;
	memset(w, 0, 8);
	for (unsigned j = 0; j < 8; j++)
		pack(8, j, element(8, 8, bringer8(lane / 16 * 8 + j, m), m % 8), w);
}

/* Each lane brings 16 values of M for one K; a half of the wave keeps to itself. */
static void want_tr4_1250(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	memset(w, 0, 8);
	for (unsigned j = 0; j < 16; j++)
		pack(4, j, element(4, 8, lane / 16 * 16 + j, lane % 16), w);
}

static void want_tr6_1250(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	memset(w, 0, 12);
	for (unsigned j = 0; j < 16; j++)
		pack(6, j, element(6, 16, lane / 16 * 16 + j, lane % 16), w);
}

static void test_transposing(void **state)
{
	static const struct { const char *op; unsigned shift, targets; want_fn *want; } list[] = {
		{ "ds_read_b64_tr_b16 v[20:21], v3", 3, G950, want_tr16 }, { "ds_read_b64_tr_b8 v[20:21], v3", 3, G950, want_tr8 },
		{ "ds_read_b64_tr_b4 v[20:21], v3", 3, G950, want_tr4 }, { "ds_read_b96_tr_b6 v[20:22], v3", 4, G950, want_tr6 },
		{ "ds_load_tr16_b128 v[20:23], v3", 4, G1250, want_tr16_1250 }, { "ds_load_tr8_b64 v[20:21], v3", 3, G1250, want_tr8_1250 },
		{ "ds_load_tr4_b64 v[20:21], v3", 3, G1250, want_tr4_1250 }, { "ds_load_tr6_b96 v[20:22], v3", 4, G1250, want_tr6_1250 },
		{ "global_load_tr16_b128 v[20:23], v3, s[4:5]", 4, G1250, want_tr16_1250 },
		{ "global_load_tr8_b64 v[20:21], v3, s[4:5]", 3, G1250, want_tr8_1250 },
		{ "global_load_tr4_b64 v[20:21], v3, s[4:5]", 3, G1250, want_tr4_1250 },
		{ "global_load_tr6_b96 v[20:22], v3, s[4:5]", 4, G1250, want_tr6_1250 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		char body[1200];

		snprintf(body, sizeof(body), "%sv_lshlrev_b32_e32 v3, %u, v0\n%s\n@", FILL_LDS, list[i].shift, list[i].op);
		check_case(&(struct snippet){ .name = list[i].op, .targets = list[i].targets, .body = body, .lds = 4096 }, list[i].want);
	}
}

/* ---- permutations ---- */

static void want_permutes(bool gfx9, unsigned lane, uint32_t w[4])
{
	unsigned n = gfx9 ? 64 : 32;

	/* index of lane i is i * 5 + 3; data are 1000 + lane */
	w[0] = 1000 + (lane * 5 + 3) % n;
	for (unsigned i = 0; i < n; i++)
		if ((i * 5 + 3) % n == lane)
			w[1] = 1000 + i;
	w[2] = 1000 + ((lane & 32) | ((lane & 31) ^ 0x10));  /* SWAPX16 */
	w[3] = 1000 + (lane / 4 * 4 + (unsigned[]){ 3, 0, 0, 1 }[lane % 4]);
}

static unsigned bit_reverse5(unsigned v)
{
	return (v & 1) << 4 | (v & 2) << 2 | (v & 4) | (v & 8) >> 2 | (v & 16) >> 4;
}

static void want_swizzles(bool gfx9, unsigned lane, uint32_t w[4])
{
	unsigned low = lane & 31, high = lane & 32;

	(void)gfx9;
	w[0] = 1000 + (high | bit_reverse5(low));                           /* FFT, mask 0 */
	w[1] = 1000 + (high | ((low + 1) & 31));                            /* left by 1 */
	w[2] = 1000 + (high | (low & 1) | (((low - 1) & 31) & 30));         /* right by 1, mask 1 */
	w[3] = 1000 + (high | (low & 0x18));                                /* each 8: their first */
}

static void want_masked(bool gfx9, unsigned lane, uint32_t w[4])
{
	unsigned n = gfx9 ? 64 : 32;

	/* only even lanes are active; all ask the next lane: odd ones give 0 */
	if (lane % 2)
		return;
	w[0] = 0;
	w[1] = gfx9 ? PRESET(1) : 1000 + (lane + 1) % n;
}

static void test_permutes(void **state)
{
	(void)state;
	check_case(&(struct snippet){ .name = "permute", .targets = ALL, .body = "v_mul_u32_u24_e32 v3, 20, v0\nv_add_u32_e32 v4, 0x3e8, v0\n"
		"ds_bpermute_b32 v20, v3, v4 offset:12\nds_permute_b32 v21, v3, v4 offset:12\n"
		"ds_swizzle_b32 v22, v4 offset:0x401f\nds_swizzle_b32 v23, v4 offset:0x8043\n@" }, want_permutes);
	check_case(&(struct snippet){ .name = "swizzle", .targets = ALL, .body = "v_add_u32_e32 v4, 0x3e8, v0\nds_swizzle_b32 v20, v4 offset:0xe000\nds_swizzle_b32 v21, v4 offset:0xc020\n"
		"ds_swizzle_b32 v22, v4 offset:0xc421\nds_swizzle_b32 v23, v4 offset:0x18\n@" }, want_swizzles);
	check_case(&(struct snippet){ .name = "permute masked", .targets = G9, .body = "v_add_u32_e32 v4, 0x3e8, v0\nv_lshlrev_b32_e32 v3, 2, v0\ns_mov_b32 s16, 0x55555555\ns_mov_b32 s17, s16\n"
		"s_mov_b64 s[18:19], exec\ns_mov_b64 exec, s[16:17]\nds_bpermute_b32 v20, v3, v4 offset:4\n@s_mov_b64 exec, s[18:19]\n" },
		   want_masked);
	check_case(&(struct snippet){ .name = "permute masked", .targets = G1250, .body = "v_add_nc_u32_e32 v4, 0x3e8, v0\nv_lshlrev_b32_e32 v3, 2, v0\ns_mov_b32 s18, exec_lo\ns_mov_b32 exec_lo, 0x55555555\n"
		"ds_bpermute_b32 v20, v3, v4 offset:4\nds_bpermute_fi_b32 v21, v3, v4 offset:4\n@s_mov_b32 exec_lo, s18\n" }, want_masked);
}

/* ---- copies to LDS ---- */

static void want_dma4(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	/* lane l's dword comes from in + 12 l + 8 and lies at 64 + 8 + 4 l */
	w[0] = in32(12 * lane + 8);
	w[1] = s8(in8(12 * lane + 8));
	w[2] = in32(12 * lane);
}

static void want_dma16(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	for (unsigned i = 0; i < 4; i++)
		w[i] = in32(20 * lane + 4 * i);
}

static void want_dma12(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	for (unsigned i = 0; i < 3; i++)
		w[i] = in32(20 * lane + 4 * i);
	w[3] = 0; /* skipped */
}

static void want_async(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	for (unsigned i = 0; i < 4; i++)
		w[i] = in32(20 * lane + 8 + 4 * i);
	for (unsigned i = 0; i < 2; i++)
		if (rw32(8 * lane + 16 + 4 * i) != w[i])
			fail_msg("async store: lane %u holds 0x%08x, expected 0x%08x", lane, rw32(8 * lane + 16 + 4 * i), w[i]);
}

static void test_copies(void **state)
{
	(void)state;
	check_case(&(struct snippet){ .name = "copy of dwords", .targets = G9, .body = RESOURCE_9(16384, 0) "v_mul_u32_u24_e32 v2, 12, v0\ns_movk_i32 m0, 0x40\ns_nop 0\n"
		"buffer_load_dword v2, s[12:15], 0 offen offset:8 lds\n"
		"s_movk_i32 m0, 0x200\ns_nop 0\nbuffer_load_sbyte v2, s[12:15], 8 offen lds\n"
		"s_movk_i32 m0, 0x400\ns_nop 0\nglobal_load_lds_dword v2, s[4:5]\n@"
		"v_lshlrev_b32_e32 v3, 2, v0\nds_read_b32 v20, v3 offset:72\nds_read_b32 v21, v3 offset:512\nds_read_b32 v22, v3 offset:1024\n@",
		.lds = 2048 }, want_dma4);
	check_case(&(struct snippet){ .name = "copy of 16 bytes", .targets = G950, .body = RESOURCE_9(16384, 0) "v_mul_u32_u24_e32 v2, 20, v0\ns_movk_i32 m0, 0x40\ns_nop 0\n"
		"buffer_load_dwordx4 v2, s[12:15], 0 offen lds\n@v_lshlrev_b32_e32 v3, 4, v0\nds_read_b128 v[20:23], v3 offset:64\n@",
		.lds = 2048 }, want_dma16);
	check_case(&(struct snippet){ .name = "copy of 12 bytes", .targets = G950, .body = "v_mul_u32_u24_e32 v2, 20, v0\nv_lshlrev_b32_e32 v3, 4, v0\nv_mov_b32_e32 v4, 0\nv_mov_b32_e32 v5, 0\nv_mov_b32_e32 v6, 0\n"
		"v_mov_b32_e32 v7, 0\nds_write_b128 v3, v[4:7] offset:64\n@s_movk_i32 m0, 0x40\ns_nop 0\n"
		"global_load_lds_dwordx3 v2, s[4:5]\n@ds_read_b128 v[20:23], v3 offset:64\n@", .lds = 2048 }, want_dma12);
	check_case(&(struct snippet){ .name = "async", .targets = G1250, .body = "v_mul_u32_u24_e32 v2, 20, v0\nv_lshlrev_b32_e32 v3, 4, v0\nv_lshlrev_b32_e32 v4, 3, v0\n"
		"global_load_async_to_lds_b128 v3, v2, s[4:5] offset:8\n@"
		"ds_load_b128 v[20:23], v3 offset:8\nv_add_nc_u32_e32 v5, -8, v3\n@"
		"global_store_async_from_lds_b64 v4, v5, s[8:9] offset:16\n@", .lds = 2048 }, want_async);
}

/* ---- scratch and flat ---- */

static void want_scratch(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	w[0] = lane + 5;
	w[1] = PRESET(3);
	w[2] = lane + 5;
	w[3] = (lane + 5) & 0xff;
}

static void want_flat(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	w[0] = in32(4 * lane);       /* global */
	w[1] = 7 * lane;             /* LDS */
	w[2] = 9 * lane;             /* stored through the LDS aperture */
}

static void test_scratch_flat(void **state)
{
	(void)state;
	check_case(&(struct snippet){ .name = "scratch", .targets = ALL, .body = "v_add_u32_e32 v4, 5, v0\nv_mov_b32_e32 v5, v23\nscratch_store_dwordx2 off, v[4:5], off offset:8\n"
		"s_movk_i32 s16, 12\n@scratch_load_dwordx2 v[20:21], off, s16 offset:-4\nv_mov_b32_e32 v6, 4\n"
		"scratch_load_dword v22, v6, off offset:4\nscratch_load_ubyte v23, off, off offset:8\n@", .scratch = 64 }, want_scratch);
	check_case(&(struct snippet){ .name = "flat", .targets = G9, .body = "v_lshlrev_b32_e32 v2, 2, v0\nv_mul_u32_u24_e32 v3, 7, v0\nds_write_b32 v2, v3 offset:64\n@"
		"s_mov_b64 s[16:17], src_shared_base\nv_mov_b32_e32 v5, s17\nv_add_u32_e32 v4, 64, v2\nflat_load_dword v21, v[4:5]\n"
		"v_mul_u32_u24_e32 v6, 9, v0\nflat_store_dword v[4:5], v6 offset:256\n"
		"v_mov_b32_e32 v8, s5\nv_add_co_u32_e32 v7, vcc, s4, v2\nv_addc_co_u32_e32 v8, vcc, 0, v8, vcc\n"
		"v_mov_b32_e32 v10, v7\nv_mov_b32_e32 v11, v8\nflat_load_dword v20, v[10:11]\n@ds_read_b32 v22, v2 offset:320\n@",
		.lds = 1024 }, want_flat);
}

static void want_flat_1250(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	w[0] = in32(4 * lane + 8);
	w[1] = 7 * lane;
	w[2] = in32(4 * lane + 12);
	w[3] = in32(4 * lane + 20);
}

static void want_scratch_block(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	(void)lane;
	w[0] = PRESET(0);
	w[2] = PRESET(2);
}

static void test_flat_1250(void **state)
{
	(void)state;
	check_case(&(struct snippet){ .name = "flat with a scalar base", .targets = G1250, .body =
		"v_lshlrev_b32_e32 v2, 2, v0\nv_mul_u32_u24_e32 v3, 7, v0\nds_store_b32 v2, v3 offset:64\n@"
		"flat_load_b32 v20, v2, s[4:5] offset:8\ns_mov_b64 s[16:17], src_shared_base\nflat_load_b32 v21, v2, s[16:17] offset:64\n"
		"global_load_addtid_b32 v22, s[4:5] offset:12\nflat_load_b32 v23, v0, s[4:5] offset:20 scale_offset\n@", .lds = 1024 },
		   want_flat_1250);
	/* v20 and v22 go there and back, v21 and v23 keep what they had */
	check_case(&(struct snippet){ .name = "blocks", .targets = G1250, .body =
		"s_mov_b32 m0, 5\ns_nop 0\ns_mov_b32 s16, 0\nscratch_store_block off, v[20:51], s16\n@v_mov_b32_e32 v20, 0\nv_mov_b32_e32 v22, 0\n"
		"scratch_load_block v[20:51], off, s16\n@", .scratch = 128 }, want_scratch_block);
}

/* ---- scalar loads ---- */

static void want_scalar(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	(void)lane;
	w[0] = in32(64);
	w[1] = in32(64 + 60);
	w[2] = in32(12);
	w[3] = 0; /* beyond the buffer */
}

static void want_scalar_small(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	(void)lane;
	w[0] = in8(13);
	w[1] = s16(in16(14));
	w[2] = in32(3 * 4 + 16);
}

static void test_scalar(void **state)
{
	(void)state;
	check_case(&(struct snippet){ .name = "scalar", .targets = G9, .body = RESOURCE_9(16, 0) "s_load_dwordx16 s[16:31], s[4:5], 0x40\ns_buffer_load_dwordx2 s[32:33], s[12:15], 0xc\n@"
		"v_mov_b32_e32 v20, s16\nv_mov_b32_e32 v21, s31\nv_mov_b32_e32 v22, s32\nv_mov_b32_e32 v23, s33\n" }, want_scalar);
	check_case(&(struct snippet){ .name = "scalar small", .targets = G1250, .body = "s_mov_b32 s20, 3\ns_load_u8 s16, s[4:5], 0xd\ns_load_i16 s17, s[4:5], 0xe\n"
		"s_load_b32 s18, s[4:5], s20 offset:0x10 scale_offset\n@"
		"v_mov_b32_e32 v20, s16\nv_mov_b32_e32 v21, s17\nv_mov_b32_e32 v22, s18\n" }, want_scalar_small);
}

/* ---- tensor copies ---- */

/* Descriptor of 2 dimensions in s[12:15], s[16:23]; numbers are those of the text below. */
#define TENSOR_2D(group1_0, dim0, dim1, tile0, tile1, stride) \
	"s_mov_b32 s12, 1\ns_movk_i32 s13, 0x40\ns_mov_b32 s14, s4\ns_or_b32 s15, s5, 0x80000000\n" \
	"s_mov_b32 s16, " #group1_0 "\ns_mov_b32 s17, " #dim0 " << 16\ns_mov_b32 s18, " #dim1 " << 16\ns_mov_b32 s19, " #tile0 " << 16\n" \
	"s_mov_b32 s20, " #tile1 "\ns_mov_b32 s21, " #stride "\ns_mov_b32 s22, 0\ns_mov_b32 s23, 0\n"

/* 4-byte elements, tile 8 x 5 of a tensor that ends after 6 x 4; a row of the tensor is 20 elements. */
static uint32_t tensor_word(unsigned x, unsigned y)
{
	return x < 6 && y < 4 ? in32(4 * (x + 20 * (size_t)y)) : 0;
}

static void want_tensor(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	w[0] = lane < 32 ? tensor_word(lane % 8, lane / 8) : 0;
	w[1] = tensor_word(lane % 8, 4);
}

/* 16 bytes of padding behind every 32 bytes: lane l of row l / 8. */
static void want_padded(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	w[0] = tensor_word(lane % 8, lane / 8);
}

static void want_gather(bool gfx9, unsigned lane, uint32_t w[4])
{
	static const unsigned rows[4] = { 3, 1, 9, 2 };
	unsigned y = rows[lane / 8];

	(void)gfx9;
	w[0] = y < 8 ? in32(4 * (lane % 8 + 20 * (size_t)y)) : 0;
}

static void want_iterated(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	/* 3 tiles of one row of 8; in memory 40 elements apart, in LDS 10 */
	w[0] = lane < 24 ? in32(4 * (lane % 8 + 40 * (size_t)(lane / 8))) : PRESET(0);
}

static void want_stored(bool gfx9, unsigned lane, uint32_t w[4])
{
	size_t o = 4 * (lane % 8 + 20 * (size_t)(lane / 8));

	(void)gfx9;
	w[0] = lane % 8 < 6 ? in32(4 * lane) : before32(o);
	if (rw32(o) != w[0])
		fail_msg("tensor store: lane %u holds 0x%08x, expected 0x%08x", lane, rw32(o), w[0]);
}

static void want_3d(bool gfx9, unsigned lane, uint32_t w[4])
{
	unsigned x = lane % 4, y = lane / 4 % 2, z = lane / 8;

	(void)gfx9;
	w[0] = z < 3 ? in16(2 * (x + 10 * (size_t)y + 100 * (size_t)z)) : 0;
}

static void test_tensor(void **state)
{
	(void)state;
	check_case(&(struct snippet){ .name = "tensor", .targets = G1250, .body = TENSOR_2D(0x20000, 6, 4, 8, 5, 20) "tensor_load_to_lds s[12:15], s[16:23]\n@v_lshlrev_b32_e32 v3, 2, v0\n"
		"ds_load_b32 v20, v3 offset:64\nv_and_b32_e32 v4, 7, v0\nv_lshlrev_b32_e32 v4, 2, v4\nds_load_b32 v21, v4 offset:192\n@",
		.lds = 1024 }, want_tensor);
	check_case(&(struct snippet){ .name = "tensor padded", .targets = G1250, .body = /* interval 8 << 2 bytes, amount 4 dwords */
		TENSOR_2D(0x06920000, 6, 4, 8, 5, 20) "tensor_load_to_lds s[12:15], s[16:23]\n@v_lshlrev_b32_e32 v3, 2, v0\n"
		"v_lshrrev_b32_e32 v4, 3, v0\nv_lshl_add_u32 v3, v4, 4, v3\nds_load_b32 v20, v3 offset:64\n@", .lds = 1024 }, want_padded);
	check_case(&(struct snippet){ .name = "tensor gather", .targets = G1250, .body = TENSOR_2D(0x20000, 8, 8, 8, 4, 20) "s_mov_b32 s12, 0x80000001\ns_mov_b32 s24, 0x10003\ns_mov_b32 s25, 0x20009\n"
		"s_mov_b32 s26, 0\ns_mov_b32 s27, 0\ns_mov_b32 s28, 0\ns_mov_b32 s29, 0\ns_mov_b32 s30, 0\ns_mov_b32 s31, 0\n"
		"tensor_load_to_lds s[12:15], s[16:23], s[24:27], s[28:31]\n@v_lshlrev_b32_e32 v3, 2, v0\nds_load_b32 v20, v3 offset:64\n@",
		.lds = 1024 }, want_gather);
	check_case(&(struct snippet){ .name = "tensor iterated", .targets = G1250, .body = TENSOR_2D(0xa0000, 100, 1, 8, 1, 20) "s_mov_b32 s24, 0\ns_mov_b32 s25, 10\ns_mov_b32 s26, 40\ns_mov_b32 s27, 2 << 16\n"
		"s_mov_b32 s28, 0\ns_mov_b32 s29, 0\ns_mov_b32 s30, 0\ns_mov_b32 s31, 0\n"
		"tensor_load_to_lds s[12:15], s[16:23], s[24:27], s[28:31]\n@v_lshrrev_b32_e32 v4, 3, v0\nv_lshlrev_b32_e32 v3, 2, v0\n"
		"v_lshl_add_u32 v3, v4, 3, v3\ns_mov_b32 s34, exec_lo\ns_mov_b32 exec_lo, 0xffffff\nds_load_b32 v20, v3 offset:64\n@"
		"s_mov_b32 exec_lo, s34\n", .lds = 1024 }, want_iterated);
	check_case(&(struct snippet){ .name = "tensor store", .targets = G1250, .body = FILL_LDS TENSOR_2D(0x20000, 6, 4, 8, 4, 20) "s_mov_b32 s13, 0\ns_mov_b32 s14, s8\ns_or_b32 s15, s9, 0x80000000\n"
		"tensor_store_from_lds s[12:15], s[16:23]\n@v_lshrrev_b32_e32 v4, 3, v0\nv_and_b32_e32 v5, 7, v0\n"
		"v_mul_u32_u24_e32 v4, 20, v4\nv_add_nc_u32_e32 v4, v4, v5\nv_lshlrev_b32_e32 v4, 2, v4\nglobal_load_b32 v20, v4, s[8:9]\n@",
		.lds = 4096 }, want_stored);
	check_case(&(struct snippet){ .name = "tensor of 3 dimensions", .targets = G1250, .body = TENSOR_2D(0x10000, 10, 10, 4, 2, 10) "s_mov_b32 s20, 2 | 4 << 16\ns_mov_b32 s22, 100 << 16\ns_mov_b32 s24, 3\ns_mov_b32 s25, 0\n"
		"s_mov_b32 s26, 0\ns_mov_b32 s27, 0\ns_mov_b32 s28, 0\ns_mov_b32 s29, 0\ns_mov_b32 s30, 0\ns_mov_b32 s31, 0\n"
		"tensor_load_to_lds s[12:15], s[16:23], s[24:27], s[28:31]\n@v_lshlrev_b32_e32 v3, 1, v0\nds_load_u16 v20, v3 offset:64\n@",
		.lds = 1024 }, want_3d);
}

/* ---- what LDS accesses cost ---- */

/* Reads of 4 bytes on gfx950: two groups of 32 lanes, 64 banks. */
static void test_banks(void **state)
{
	static const struct { unsigned shift, clk; } list[] = { { 2, 2 }, { 3, 2 }, { 4, 4 }, { 8, 64 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		char body[300];
		struct diag d;

		/* lane l reads byte l << shift: 2^(shift - 3) lanes of a group share a bank, each its own dword */
		snprintf(body, sizeof(body), "v_lshlrev_b32_e32 v2, %u, v0\nds_write_b32 v2, v0\n@ds_read_b32 v20, v2\nds_read_b32 v21, v2\n@",
			 list[i].shift);
		diag_init(&d);
		assert_int_equal(run_text(&(struct snippet){ .name = "banks", .targets = G950, .body = body, .lds = 32768 }, 1, &d), 0);
		assert_int_equal(site_of("ds_read_b32")->lds_clk, list[i].clk);
		assert_int_equal(site_of("ds_read_b32")->lds_clk_free, 2);
		assert_int_equal(site_of("ds_read_b32")->worst_lds_clk, list[i].clk);
		assert_int_equal(site_of("ds_read_b32")->executed, 1);
		assert_int_equal(site_of("global_store_dwordx4")->worst_lds_clk, 0);
		diag_free(&d);
	}
}

static unsigned told;
static uint32_t told_addr[64];

static void on_insn(void *ctx, uint64_t workgroup, unsigned wave, uint32_t insn, const struct exec_lds *lds)
{
	(void)ctx;
	(void)workgroup;
	(void)wave;
	(void)insn;
	if (!lds)
		return;
	told++;
	if (!lds->unknown)
		memcpy(told_addr, lds->addr, lds->lanes * sizeof(*told_addr));
}

/* Nothing is known of arguments and memory: places in LDS are still known where they follow from the lane. */
static void test_analysis(void **state)
{
	struct diag d;
	int rc;

	(void)state;
	options.analysis = true;
	options.on_insn = on_insn;
	told = 0;
	diag_init(&d);
	rc = run_text(&(struct snippet){ .name = "analysis", .targets = G950, .body =
		"v_mul_u32_u24_e32 v2, 12, v0\nglobal_load_dword v3, v1, s[4:5]\n@ds_write_b32 v2, v3 offset:8\n@ds_read_b32 v4, v2 offset:4\n@"
		"ds_read_b32 v5, v4\n@", .lds = 1024 }, 1, &d);
	options.analysis = false;
	options.on_insn = NULL;
	diag_print(&d, stderr, false);
	diag_free(&d);
	assert_int_equal(rc, 0);
	assert_int_equal(told, 3);
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(told_addr[i], 12 * i + 4);
	assert_int_equal(site_of("global_load_dword")->unknown_addresses, 1);
	assert_int_equal(site_of("global_store_dwordx4")->unknown_addresses, 1);
	assert_int_equal(site_of("ds_write_b32")->unknown_addresses, 0);
}

/* ---- multicast: each workgroup of the mask asks for itself ---- */

static void want_cluster(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	w[0] = in32(4 * lane);
	w[1] = in32(4 * lane);
}

static void test_multicast(void **state)
{
	(void)state; /* outside of a cluster the mask does not count */
	check_case(&(struct snippet){ .name = "multicast", .targets = G1250, .body =
		"s_mov_b32 m0, 2\nv_lshlrev_b32_e32 v2, 2, v0\ncluster_load_async_to_lds_b32 v2, v2, s[4:5]\n"
		"cluster_load_b32 v21, v2, s[4:5]\n@ds_load_b32 v20, v2\n@", .lds = 1024 }, want_cluster);
}

/* ---- what is wrong ---- */

static void test_findings(void **state)
{
	(void)state;
	check_bad(&(struct snippet){ .name = "far", .targets = ALL, .body = "v_lshlrev_b32_e32 v2, 10, v0\nglobal_load_dword v20, v2, s[4:5] offset:256\n@" },
		  DIAG_BOUNDS, ", which has 16384 bytes");
	check_bad(&(struct snippet){ .name = "read-only", .targets = ALL, .body = "global_store_dword v1, v20, s[4:5]\n@" }, DIAG_BOUNDS, "may only be read");
	check_bad(&(struct snippet){ .name = "LDS end", .targets = ALL, .body = "v_lshlrev_b32_e32 v2, 4, v0\nds_write_b128 v2, v[20:23]\n@", .lds = 256 },
		  DIAG_BOUNDS, "the workgroup has 256 bytes");
	check_bad(&(struct snippet){ .name = "no LDS", .targets = ALL, .body = "ds_write_b32 v1, v20\n@" }, DIAG_BOUNDS, "has no LDS");
	check_bad(&(struct snippet){ .name = "atomic", .targets = ALL, .body = "global_atomic_add v0, v20, s[8:9]\n@" }, DIAG_ALIGN, "an atomic of 4 bytes");
	check_bad(&(struct snippet){ .name = "LDS atomic", .targets = ALL, .body = "ds_write_b64 v1, v[20:21]\n@ds_add_u32 v1, v20 offset:2\n@", .lds = 2048 },
		  DIAG_ALIGN, "no multiple of 4");
	check_bad(&(struct snippet){ .name = "transposing", .targets = G950, .body = FILL_LDS "v_lshlrev_b32_e32 v3, 2, v0\nds_read_b64_tr_b16 v[20:21], v3\n@",
				     .lds = 4096 }, DIAG_ALIGN, "multiple of 8");
	check_bad(&(struct snippet){ .name = "never written", .targets = ALL, .body = "v_lshlrev_b32_e32 v3, 2, v0\nds_read_b32 v20, v3\n@", .lds = 256 },
		  DIAG_UNINIT, "");
	check_bad(&(struct snippet){ .name = "scratch", .targets = ALL, .body = "scratch_store_dword off, v20, off offset:64\n@", .scratch = 64 }, DIAG_BOUNDS,
		  "scratch memory at 64, but a lane has 64");
	check_bad(&(struct snippet){ .name = "unwritten buffer", .targets = ALL, .body = "global_load_dword v20, v1, s[6:7]\n@" }, DIAG_UNINIT, "");
}

/* What the reader lets pass and no instruction has: a finding, never a crash. */
static void test_forms(void **state)
{
	static const struct { const char *text; unsigned targets; } list[] = {
		{ "global_load_dword v20, v2, off", ALL }, { "global_load_dword v20, s[4:5], off", ALL },
		{ "global_load_dword v20, v[2:3], v4", ALL }, { "global_load_dword v20, v2, s4", ALL },
		{ "global_store_dword 5, v20, s[4:5]", ALL }, { "buffer_load_dword v20, v2, 0, 0 offen", ALL },
		{ "buffer_load_dword v20, off, s[4:7], 0 offen", ALL }, { "buffer_load_dword v20, s2, s[4:7], 0 idxen", ALL },
		{ "buffer_load_dwordx4 a255, off, s[4:7], 0 tfe", G9 }, { "ds_read_b128 a255, v2 tfe", G9 },
		{ "ds_write_b128 v2, a255 tfe", G9 }, { "s_load_dword s10, 0, 0x0", ALL }, { "s_load_dword s10, s[4:5], v2", ALL },
		{ "s_buffer_load_dword s10, off, 0x0", ALL }, { "tensor_load_to_lds 0, s[8:15]", G1250 },
		{ "buffer_atomic_cmpswap v20, off, s[4:7], 0", ALL }, { "global_load_lds_dword s[2:3], off", G9 },
		{ "ds_read_b32 v20, off", ALL }, { "scratch_load_dword v20, s2, off", ALL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		for (unsigned t = 0; t < 3; t++) {
			struct snippet c = { .name = list[i].text, .targets = ALL, .body = list[i].text, .lds = 4096, .scratch = 64 };
			struct diag d;

			if (!(list[i].targets >> t & 1))
				continue;
			diag_init(&d);
			if (run_text(&c, t, &d) != -1 || !d.n)
				fail_msg("%s on %s: accepted", c.name, names[t]);
			diag_free(&d);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_global_loads), cmocka_unit_test(test_global_stores), cmocka_unit_test(test_buffers),
		cmocka_unit_test(test_lds), cmocka_unit_test(test_transposing), cmocka_unit_test(test_permutes),
		cmocka_unit_test(test_flat_1250),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_scratch_flat), cmocka_unit_test(test_scalar), cmocka_unit_test(test_tensor),
		cmocka_unit_test(test_banks), cmocka_unit_test(test_analysis),
		cmocka_unit_test(test_multicast), cmocka_unit_test(test_findings), cmocka_unit_test(test_forms),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
