/* Atomic memory instructions of the executor against plain definitions of their own. */
#include "exec_memory_cases.h"

struct atomic_case {
	const char *ds, *global; /* middle of the mnemonic with return, NULL: none */
	uint32_t (*fn)(uint32_t old, uint32_t a);
	unsigned targets;
};

static uint32_t a_add(uint32_t o, uint32_t a) { return o + a; }
static uint32_t a_sub(uint32_t o, uint32_t a) { return o - a; }
static uint32_t a_umin(uint32_t o, uint32_t a) { return o < a ? o : a; }
static uint32_t a_umax(uint32_t o, uint32_t a) { return o > a ? o : a; }
static uint32_t a_smin(uint32_t o, uint32_t a) { return (int32_t)o < (int32_t)a ? o : a; }
static uint32_t a_smax(uint32_t o, uint32_t a) { return (int32_t)o > (int32_t)a ? o : a; }
static uint32_t a_and(uint32_t o, uint32_t a) { return o & a; }
static uint32_t a_or(uint32_t o, uint32_t a) { return o | a; }
static uint32_t a_xor(uint32_t o, uint32_t a) { return o ^ a; }
static uint32_t a_swap(uint32_t o, uint32_t a) { (void)o; return a; }
static uint32_t a_inc(uint32_t o, uint32_t a) { return o >= a ? 0 : o + 1; }
static uint32_t a_dec(uint32_t o, uint32_t a) { return o == 0 || o > a ? a : o - 1; }

static const struct atomic_case atomics[] = {
	{ "ds_add_rtn_u32", "add", a_add, ALL }, { "ds_sub_rtn_u32", "sub", a_sub, ALL }, { "ds_min_rtn_u32", "umin", a_umin, ALL },
	{ "ds_max_rtn_u32", "umax", a_umax, ALL }, { "ds_min_rtn_i32", "smin", a_smin, ALL }, { "ds_max_rtn_i32", "smax", a_smax, ALL },
	{ "ds_and_rtn_b32", "and", a_and, ALL }, { "ds_or_rtn_b32", "or", a_or, ALL }, { "ds_xor_rtn_b32", "xor", a_xor, ALL },
	{ "ds_wrxchg_rtn_b32", "swap", a_swap, ALL }, { "ds_inc_rtn_u32", "inc", a_inc, ALL }, { "ds_dec_rtn_u32", "dec", a_dec, ALL },
};
static uint32_t (*atomic_fn)(uint32_t, uint32_t);

/* v3 = 4 * lane; operand is v4 = in_data dword; LDS and rw memory begin with their dwords. */
static void want_atomic_global(bool gfx9, unsigned lane, uint32_t w[4])
{
	uint32_t old = before32(4 * lane), a = in32(4 * lane);

	(void)gfx9;
	w[0] = old;
	w[1] = atomic_fn(old, a);
	if (rw32(4 * lane) != w[1])
		fail_msg("atomic: memory of lane %u holds 0x%08x, expected 0x%08x", lane, rw32(4 * lane), w[1]);
}

static void want_atomic_lds(bool gfx9, unsigned lane, uint32_t w[4])
{
	uint32_t old = in32(4 * lane + 512), a = in32(4 * lane);

	(void)gfx9;
	w[0] = old;
	w[1] = atomic_fn(old, a);
}

static void test_atomics(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(atomics); i++) {
		char body[2048];

		atomic_fn = atomics[i].fn;
		for (unsigned t = 0; t < 2; t++) { /* the way to ask for the old value differs */
			snprintf(body, sizeof(body), "v_lshlrev_b32_e32 v3, 2, v0\nglobal_load_dword v4, v3, s[4:5]\n@"
				 "global_atomic_%s v20, v3, v4, s[8:9] %s\n@global_load_dword v21, v3, s[8:9]\n@", atomics[i].global,
				 t ? "th:TH_ATOMIC_RETURN" : "sc0");
			check_case(&(struct snippet){ .name = atomics[i].global, .targets = t ? G1250 : G9, .body = body }, want_atomic_global);
		}
		snprintf(body, sizeof(body), FILL_LDS "v_lshlrev_b32_e32 v3, 2, v0\nglobal_load_dword v4, v3, s[4:5]\n@"
			 "%s v20, v3, v4 offset:512\n@ds_read_b32 v21, v3 offset:512\n@", atomics[i].ds);
		check_case(&(struct snippet){ .name = atomics[i].ds, .targets = ALL, .body = body, .lds = 4096 }, want_atomic_lds);
	}
}

static uint32_t float_bits(float f) { uint32_t u; memcpy(&u, &f, 4); return u; }

static void want_float_atomics(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	/* LDS holds 1.5f * 2^0 + lane; lane adds 0.25 twice; halves 1.0 and -2.0 plus 0.5 and 0.5 */
	w[0] = float_bits((float)lane + 0.25f + 0.25f);
	w[1] = float_bits((float)lane + 0.25f);
	w[2] = 0xbe003e00; /* -1.5, 1.5 */
	w[3] = lane == 7 ? 77 : lane;
}

static void want_same_counter(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)lane;
	w[0] = gfx9 ? 64 * 63 / 2 : 32 * 31 / 2; /* all lanes add their number to one dword */
}

/* LDS dword of lane l is l; operands are 5 and 9. */
static void want_edges(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	w[0] = lane >= 5 ? 0 : lane + 1;                       /* inc */
	w[1] = lane == 0 || lane > 5 ? 5 : lane - 1;           /* dec */
	w[2] = (lane & ~5u) | 9;                               /* mskor */
	w[3] = 5 - lane;                                       /* rsub */
}

static void want_compared(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	w[0] = lane;                  /* old */
	w[1] = lane == 5 ? 9 : lane;
	w[2] = lane;
	w[3] = lane == 5 ? 9 : 0;     /* 64 bits: low word lane, high word 0 against 5; new value 9 * 2^32 + 9 */
}

static void want_1250(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	w[0] = lane < 5 ? 0 : lane - 5;      /* sub_clamp */
	w[1] = lane >= 5 ? lane - 5 : lane;  /* cond_sub */
	w[2] = lane == 5 ? 9 : lane;         /* cmpstore */
	w[3] = lane;                         /* its old value */
}

static void want_exchanged(bool gfx9, unsigned lane, uint32_t w[4])
{
	(void)gfx9;
	w[0] = lane;            /* old values of both places */
	w[1] = PRESET(2);
	w[2] = lane + 100;      /* new ones */
	w[3] = lane + 200;
}

static void want_wide_atomics(bool gfx9, unsigned lane, uint32_t w[4])
{
	uint64_t old = before32(8 * lane) | (uint64_t)before32(8 * lane + 4) << 32;
	uint64_t sum = old + 0xffffffff00000001u;

	(void)gfx9;
	w[0] = (uint32_t)old;
	w[1] = (uint32_t)(old >> 32);
	w[2] = (uint32_t)sum;
	w[3] = (uint32_t)(sum >> 32);
}

static void want_global_floats(bool gfx9, unsigned lane, uint32_t w[4])
{
	double d = (double)lane + 0.5;
	uint64_t bits;

	(void)gfx9;
	memcpy(&bits, &d, 8);
	w[0] = float_bits((float)lane + 1.5f);
	w[1] = 0x40203f80;  /* bf16: 1.0, 2.0 plus 0.0, 0.5 */
	w[2] = (uint32_t)bits;
	w[3] = (uint32_t)(bits >> 32);
}

static void test_atomics_more(void **state)
{
	(void)state;
#define LANES_IN_LDS "v_lshlrev_b32_e32 v3, 2, v0\nv_mov_b32_e32 v4, 5\nv_mov_b32_e32 v5, 9\nds_write_b32 v3, v0\n" \
	"ds_write_b32 v3, v0 offset:256\nds_write_b32 v3, v0 offset:512\nds_write_b32 v3, v0 offset:768\n@"
#define READ_FOUR "ds_read_b32 v20, v3\nds_read_b32 v21, v3 offset:256\nds_read_b32 v22, v3 offset:512\nds_read_b32 v23, v3 offset:768\n@"
	check_case(&(struct snippet){ .name = "edges of inc and dec", .targets = ALL, .body = LANES_IN_LDS
		"ds_inc_u32 v3, v4\nds_dec_u32 v3, v4 offset:256\nds_mskor_b32 v3, v4, v5 offset:512\nds_rsub_u32 v3, v4 offset:768\n@" READ_FOUR,
		.lds = 1024 }, want_edges);
	check_case(&(struct snippet){ .name = "compare and swap", .targets = G9, .body = LANES_IN_LDS
		"ds_cmpst_rtn_b32 v20, v3, v4, v5\n@ds_read_b32 v21, v3\n@"
		"v_lshlrev_b32_e32 v6, 3, v0\nv_mov_b32_e32 v7, 0\nv_mov_b32_e32 v10, v0\nv_mov_b32_e32 v11, v7\nds_write_b64 v6, v[10:11]\n@"
		"v_mov_b32_e32 v12, 5\nv_mov_b32_e32 v13, 0\nv_mov_b32_e32 v14, 9\nv_mov_b32_e32 v15, 9\n"
		"ds_cmpst_rtn_b64 v[22:23], v6, v[12:13], v[14:15]\n@ds_read_b32 v23, v6 offset:4\n@", .lds = 1024 }, want_compared);
	check_case(&(struct snippet){ .name = "atomics of gfx1250", .targets = G1250, .body = LANES_IN_LDS
		"ds_sub_clamp_u32 v3, v4\nds_cond_sub_u32 v3, v4 offset:256\nds_cmpstore_rtn_b32 v8, v3, v5, v4 offset:512\n@" READ_FOUR
		"v_mov_b32_e32 v23, v8\n", .lds = 1024 }, want_1250);
	check_case(&(struct snippet){ .name = "two exchanges", .targets = ALL, .body =
		"v_lshlrev_b32_e32 v3, 2, v0\nds_write_b32 v3, v0\nds_write_b32 v3, v22 offset:512\n@"
		"v_add_u32_e32 v4, 0x64, v0\nv_add_u32_e32 v5, 0xc8, v0\nds_wrxchg2_rtn_b32 v[20:21], v3, v4, v5 offset1:128\n@"
		"ds_read_b32 v22, v3\nds_read_b32 v23, v3 offset:512\n@", .lds = 1024 }, want_exchanged);
	check_case(&(struct snippet){ .name = "64 bits", .targets = G9, .body =
		"v_lshlrev_b32_e32 v3, 3, v0\nv_mov_b32_e32 v4, 1\nv_mov_b32_e32 v5, -1\n"
		"global_atomic_add_x2 v[20:21], v3, v[4:5], s[8:9] sc0\n@global_load_dwordx2 v[22:23], v3, s[8:9]\n@" }, want_wide_atomics);
	check_case(&(struct snippet){ .name = "global floats", .targets = ALL, .body =
		"v_lshlrev_b32_e32 v3, 4, v0\nv_cvt_f32_u32_e32 v4, v0\nv_mov_b32_e32 v5, 0x40003f80\nv_cvt_f64_u32_e32 v[6:7], v0\n"
		"global_store_dwordx4 v3, v[4:7], s[8:9]\n@v_mov_b32_e32 v8, 0x3fc00000\nv_mov_b32_e32 v9, 0x3f000000\n"
		"v_mov_b32_e32 v10, 0\nv_mov_b32_e32 v11, 0x3fe00000\nglobal_atomic_add_f32 v3, v8, s[8:9]\n"
		"global_atomic_pk_add_bf16 v3, v9, s[8:9] offset:4\nglobal_atomic_add_f64 v3, v[10:11], s[8:9] offset:8\n@"
		"global_load_dwordx4 v[20:23], v3, s[8:9]\n@" }, want_global_floats);
}

static void test_atomics_float(void **state)
{
	(void)state;
	check_case(&(struct snippet){ .name = "float atomics", .targets = ALL, .body = "v_lshlrev_b32_e32 v3, 3, v0\nv_cvt_f32_u32_e32 v4, v0\nv_mov_b32_e32 v5, 0.25\nds_write_b32 v3, v4\n"
		"v_mov_b32_e32 v6, 0xc0003c00\nds_write_b32 v3, v6 offset:4\nv_mov_b32_e32 v7, 0x38003800\n"
		"ds_add_f32 v3, v5\nds_add_rtn_f32 v21, v3, v5\nds_pk_add_f16 v3, v7 offset:4\n@"
		"ds_read2_b32 v[10:11], v3 offset1:1\n@v_mov_b32_e32 v20, v10\nv_mov_b32_e32 v22, v11\n"
		/* compare and swap: only the lane whose value is 7 writes 77 */
		"ds_write_b32 v3, v0\nv_mov_b32_e32 v8, 7\nv_mov_b32_e32 v9, 0x4d\nds_add_u32 v3, v8\nds_sub_u32 v3, v8\n@"
		"v_mov_b32_e32 v12, v0\nv_lshlrev_b32_e32 v13, 2, v0\nglobal_store_dword v13, v12, s[8:9]\n@"
		"v_mov_b32_e32 v14, v9\nv_mov_b32_e32 v15, v8\nglobal_atomic_cmpswap v13, v[14:15], s[8:9]\n@"
		"global_load_dword v23, v13, s[8:9]\n@", .lds = 1024 }, want_float_atomics);
	check_case(&(struct snippet){ .name = "one counter", .targets = ALL, .body = "v_mov_b32_e32 v3, 0\nds_write_b32 v3, v3\n@ds_add_u32 v3, v0\n@ds_read_b32 v20, v3\n@", .lds = 64 }, want_same_counter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_atomics), cmocka_unit_test(test_atomics_float), cmocka_unit_test(test_atomics_more),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
