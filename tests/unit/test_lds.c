/* LDS bank arithmetic against published measurements (ids of the measured rows in the comments). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lds.h"

static struct target *load(const char *name)
{
	struct diag d;
	struct target *t;

	diag_init(&d);
	t = target_load(name, NULL, (struct loc){ 0 }, &d);
	diag_print(&d, stderr, false);
	assert_int_equal(d.errors, 0);
	assert_non_null(t);
	diag_free(&d);
	return t;
}

static unsigned cost(const struct target *t, const char *op, const uint32_t addr[64])
{
	const struct lds_row *row = target_lds(t, op);

	assert_non_null(row);
	return lds_array_clk(row, (unsigned)t->v.wave_size, addr, (uint32_t)t->v.lds_bytes, (unsigned)t->v.lds_unaligned);
}

/* Lane l reads chunk l / m of row l mod m, chunks XORed with a phase of the row. */
static void tile(uint32_t addr[64], unsigned m, unsigned row_bytes, unsigned chunk0, unsigned per_phase, unsigned max_phase)
{
	for (unsigned l = 0; l < 64; l++) {
		unsigned row = l % m, chunk = l / m + chunk0;

		addr[l] = row * row_bytes + (chunk ^ row / per_phase % max_phase) * 16;
	}
}

/* A9: rows of 64 f16 elements, 16 rows, 8-element vectors. */
static void swizzles_of_gfx942(void **state)
{
	struct target *t = load("gfx942");
	uint32_t addr[64];

	(void)state;
	for (unsigned chunk = 0; chunk < 8; chunk += 4) {
		tile(addr, 16, 128, chunk, 2, 8);
		assert_int_equal(cost(t, "ds_read_b128", addr), 16);
		tile(addr, 16, 128, chunk, 1, 8);
		assert_int_equal(cost(t, "ds_read_b128", addr), 8);
		tile(addr, 16, 128, chunk, 1, 1);
		assert_int_equal(cost(t, "ds_read_b128", addr), 32);
	}
	for (unsigned per_phase = 1; per_phase <= 2; per_phase++) { /* writes: eight lanes a row */
		for (unsigned l = 0; l < 64; l++)
			addr[l] = l / 8 * 128 + (l % 8 ^ l / 8 / per_phase % 8) * 16;
		assert_int_equal(cost(t, "ds_write_b128", addr), 8);
	}
	target_free(t);
}

/* M1: 16 rows of 256 bytes and a pad. */
static void pads_of_gfx950(void **state)
{
	static const struct { unsigned pad, at_least, at_most; } rows[] = {
		{ 16, 4, 8 }, { 32, 4, 8 }, { 64, 4, 8 }, { 128, 16, 16 }, { 0, 32, 32 }, { 256, 32, 32 }, { 4, 64, 64 },
	};
	struct target *t = load("gfx950");
	uint32_t addr[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		tile(addr, 16, 256 + rows[i].pad, 0, 1, 1);
		assert_in_range(cost(t, "ds_read_b128", addr), rows[i].at_least, rows[i].at_most);
	}
	for (unsigned l = 0; l < 64; l++)
		addr[l] = l * 16;
	assert_int_equal(cost(t, "ds_read_b128", addr), 4);
	target_free(t);
}

/* M3: rows of 128 bytes, plain against swizzled and padded. */
static void rows_of_gfx950(void **state)
{
	struct target *t = load("gfx950");
	uint32_t addr[64];

	(void)state;
	tile(addr, 16, 128, 0, 1, 1);
	assert_int_equal(cost(t, "ds_read_b128", addr), 16);
	tile(addr, 16, 128, 0, 1, 8);
	assert_int_equal(cost(t, "ds_read_b128", addr), 4);
	tile(addr, 16, 160, 0, 1, 1);
	assert_int_equal(cost(t, "ds_read_b128", addr), 4);
	target_free(t);
}

/* M5: one dword a lane at a growing stride; lanes past the end of LDS make no access. */
static void strides_of_gfx942(void **state)
{
	static const struct { unsigned stride, clk; } rows[] = {
		{ 1, 2 }, { 2, 4 }, { 4, 8 }, { 8, 16 }, { 16, 32 }, { 32, 64 }, { 64, 64 }, { 256, 64 }, { 512, 32 },
		{ 1024, 16 }, { 3, 2 }, { 5, 2 }, { 17, 2 }, { 31, 2 }, { 33, 2 },
	};
	struct target *t = load("gfx942");
	uint32_t addr[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		for (unsigned l = 0; l < 64; l++)
			addr[l] = l * rows[i].stride * 4;
		assert_int_equal(cost(t, "ds_read_b32", addr), rows[i].clk);
	}
	for (unsigned l = 0; l < 64; l++)
		addr[l] = 64; /* one dword for all: a broadcast */
	assert_int_equal(cost(t, "ds_read_b32", addr), 2);
	target_free(t);
}

/* Without conflicts the cost is what lds_array_clk_free says. */
static void free_cost(void **state)
{
	static const struct { const char *target, *op; } rows[] = {
		{ "gfx942", "ds_read_b128" }, { "gfx942", "ds_read_b64" }, { "gfx942", "ds_read_b32" },
		{ "gfx950", "ds_read_b128" }, { "gfx950", "ds_read_b64" }, { "gfx1250", "ds_load_b128" },
		{ "gfx1250", "ds_load_b32" },
	};
	uint32_t addr[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct target *t = load(rows[i].target);
		const struct lds_row *row = target_lds(t, rows[i].op);

		assert_non_null(row);
		for (unsigned l = 0; l < 64; l++)
			addr[l] = l * row->width_bytes;
		assert_int_equal(cost(t, rows[i].op, addr), lds_array_clk_free(row));
		target_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(swizzles_of_gfx942), cmocka_unit_test(pads_of_gfx950), cmocka_unit_test(rows_of_gfx950),
		cmocka_unit_test(strides_of_gfx942),  cmocka_unit_test(free_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
