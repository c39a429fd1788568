/* The target files of the tree, what a derived target replaces, the variants, and refused files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "target.h"
#include "target_impl.h"

static const char *const parts[] = {"gfx942", "gfx950", "gfx1250", "sm_90"};
static const struct loc nowhere;

static struct target *load(const char *name, const char *variant)
{
	struct diag d;
	struct target *t;

	diag_init(&d);
	t = target_load(name, variant, nowhere, &d);
	diag_print(&d, stderr, false);
	assert_int_equal(d.n, 0);
	assert_non_null(t);
	diag_free(&d);
	return t;
}

static struct target *parse(const char *text, struct diag *d)
{
	diag_init(d);
	return target_parse(src_from_text("mine.xml", text, strlen(text)), NULL, nowhere, d);
}

/* A derived target with these rows that must be accepted. */
static struct target *derive(const char *base, const char *rows)
{
	struct diag d;
	char *text = xasprintf(
		"<target name=\"mine\" base=\"%s\">\n<source id=\"me\" title=\"t\"/>\n%s</target>\n",
		base, rows);
	struct target *t = parse(text, &d);

	diag_print(&d, stderr, false);
	assert_non_null(t);
	assert_int_equal(d.n, 0);
	diag_free(&d);
	free(text);
	return t;
}

/* The same with one mistake: its code and place. */
static void refuse(const char *rows, enum diag_code code, unsigned line, unsigned col)
{
	struct diag d;
	char *text = xasprintf(
		"<target name=\"mine\" base=\"gfx942\">\n<source id=\"me\" title=\"t\"/>\n%s</target>\n",
		rows);
	struct target *t = parse(text, &d);
	unsigned l, c;

	assert_null(t);
	assert_true(d.n >= 1);
	assert_int_equal(d.list[0].code, code);
	assert_non_null(d.list[0].loc.src);
	src_line_col(d.list[0].loc.src, d.list[0].loc.begin, &l, &c);
	assert_int_equal(l, line);
	assert_int_equal(c, col);
	diag_free(&d);
	free(text);
}

#define Q "quality=\"estimate\" source=\"me guess\""

static void check_part(const struct target *t)
{
	for (size_t i = 0; i < TV_COUNT; i++) {
		double x =
			*(const double *)(const void *)((const char *)&t->v + value_info[i].offset);

		assert_true(x >= value_info[i].lo && x <= value_info[i].hi);
		assert_true(t->v_from[i].source[0] != '\0');
	}
	for (size_t i = 0; i < t->nmatrix; i++) {
		assert_true(t->matrix[i].valu_block_clk <= t->matrix[i].occupancy_clk);
		assert_true(t->matrix[i].ready_clk > t->matrix[i].occupancy_clk);
	}
	for (size_t i = 0; i < t->nlds; i++)
		assert_ptr_equal(target_lds(t, t->lds[i].op), &t->lds[i]);
	for (size_t i = 0; i < t->nvmem; i++)
		assert_ptr_equal(target_vmem(t, t->vmem[i].op), &t->vmem[i]);
	for (size_t i = 0; i < t->nclocks; i++)
		assert_ptr_equal(target_clock(t, t->clocks[i].name), &t->clocks[i]);
	assert_string_equal(t->clocks[0].name, "nominal");
}

static void parts_load(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		struct target *t = load(parts[i], NULL);

		assert_string_equal(t->name, parts[i]);
		check_part(t);
		target_free(t);
	}
	target_free(NULL);
}

/* Registers of an operand: elements times bits over what one register of a wave holds. */
static unsigned regs(const struct target *t, unsigned elements, unsigned bits)
{
	unsigned hold = 32 * (unsigned)t->v.wave_size;

	return (elements * bits + hold - 1) / hold;
}

static unsigned bits_of(const char *word, enum matrix_operands o)
{
	if (!strncmp(word, "f8f6f4", 6)) /* the widest type the row holds for */
		return o == MO_BOTH_F4 ? 4 : o == MO_NO_F8 ? 6 : 8;
	for (size_t i = 0; i < DT_COUNT; i++)
		if (!strncmp(word, dtype_words[i], strlen(dtype_words[i])))
			return dtype_bits((enum dtype)i);
	return 0;
}

static void registers_follow_from_shapes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		struct target *t = load(parts[i], NULL);

		for (size_t j = 0; j < t->nmatrix; j++) {
			const struct matrix_row *m = &t->matrix[j];
			bool sparse = m->kind == MK_SMFMAC || m->kind == MK_SWMMAC;
			const char *b = strchr(m->types, ' ');
			unsigned abits = bits_of(m->types, m->operands);
			unsigned bbits = b ? bits_of(b + 1, m->operands) : abits;
			unsigned cbits = m->unit == MU_DGEMM ? 64
					 : strstr(m->op, "mma_f16_") ||
							 strstr(m->op, "mma_bf16_") ||
							 strstr(m->op, "mmac_f16_") ||
							 strstr(m->op, "mmac_bf16_") ||
							 strstr(m->op, "k16.f16.")
						 ? 16
						 : 32;

			assert_true(abits && bbits);
			assert_int_equal(
				m->a_regs,
				regs(t, m->m * m->k * m->blocks / (sparse ? 2 : 1), abits));
			assert_int_equal(m->b_regs, regs(t, m->n * m->k * m->blocks, bbits));
			assert_int_equal(m->c_regs, regs(t, m->m * m->n * m->blocks, cbits));
		}
		target_free(t);
	}
}

/* Best dense flop per clk and CU of one operand type. */
static double peak(const struct target *t, enum dtype a)
{
	double best = 0;

	for (size_t i = 0; i < t->nmatrix; i++) {
		const struct matrix_row *m = &t->matrix[i];
		bool f8f6f4 = !strcmp(m->types, "f8f6f4") && a >= DT_FP8 && a <= DT_FP4;
		double flop = 2.0 * m->m * m->n * m->k * m->blocks * t->v.simds / m->occupancy_clk;

		if (m->kind == MK_SMFMAC || m->kind == MK_SWMMAC || m->prefix_clk)
			continue;
		if ((f8f6f4 || !strcmp(m->types, dtype_name(a))) &&
		    target_matrix(t, m->op, a, a) == m && flop > best)
			best = flop;
	}
	return best;
}

static void peaks_are_the_published_ones(void **state)
{
	static const struct {
		const char *part;
		enum dtype type;
		double flop;
	} published[] = {
		{"gfx942", DT_F16, 2048},   {"gfx942", DT_BF16, 2048},	{"gfx942", DT_FP8, 4096},
		{"gfx942", DT_I8, 4096},    {"gfx942", DT_XF32, 1024},	{"gfx942", DT_F32, 256},
		{"gfx942", DT_F64, 256},    {"gfx950", DT_F16, 4096},	{"gfx950", DT_FP8, 8192},
		{"gfx950", DT_FP6, 16384},  {"gfx950", DT_FP4, 16384},	{"gfx950", DT_I8, 8192},
		{"gfx950", DT_F64, 128},    {"gfx950", DT_XF32, 0},	{"gfx1250", DT_BF16, 8192},
		{"gfx1250", DT_FP8, 32768}, {"gfx1250", DT_FP6, 32768}, {"gfx1250", DT_FP4, 65536},
		{"gfx1250", DT_I8, 8192},   {"gfx1250", DT_F32, 512},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(published); i++) {
		struct target *t = load(published[i].part, NULL);

		assert_true(peak(t, published[i].type) == published[i].flop);
		target_free(t);
	}
}

/* States of the software row for a first matrix op, second "vector", result read. */
static unsigned states_before_reader(const struct target *t, const struct matrix_row *m)
{
	const char *word = m->unit == MU_XDL	 ? "xdl"
			   : m->unit == MU_SGEMM ? "sgemm"
			   : m->m == 4		 ? "dgemm-4x4"
						 : "dgemm-16x16";

	for (size_t i = 0; i < t->nspacing; i++) {
		const struct spacing_row *r = &t->spacing[i];

		if (!strcmp(r->first, word) && !strcmp(r->second, "vector") &&
		    r->relation == SR_RAW && (r->passes == 0 || r->passes == m->passes))
			return r->states;
	}
	return 0;
}

static void ready_agrees_with_spacing(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct target *t = load(parts[i], NULL);

		for (size_t j = 0; j < t->nmatrix; j++)
			assert_int_equal(t->matrix[j].ready_clk,
					 4 * (states_before_reader(t, &t->matrix[j]) + 1));
		target_free(t);
	}
}

static void lds_latency_is_the_measured_one(void **state)
{
	struct target *t = load("gfx942", NULL);
	const struct lds_row *b128 = target_lds(t, "ds_read_b128"),
			     *b32 = target_lds(t, "ds_read_b32");

	(void)state;
	assert_int_equal(t->v.issue_period + b128->port_clk + t->v.lds_latency, 64);
	assert_int_equal(t->v.issue_period + b32->port_clk + t->v.lds_latency, 52);
	target_free(t);
}

static void lane_groups(void **state)
{
	struct target *t = load("gfx942", NULL);
	const struct lds_row *r = target_lds(t, "ds_read_b128");

	(void)state;
	assert_int_equal(r->ngroups, 8);
	assert_true(r->group[0] == 0x00f0000f);
	assert_true(r->group[7] == UINT64_C(0x0f00f000) << 32);
	assert_ptr_equal(target_lds_widest(t, false), r);
	assert_string_equal(target_lds_widest(t, true)->op, "ds_write_b128");
	assert_string_equal(target_vmem_widest(t, VM_LDS)->op, "buffer_load_dword lds");
	assert_null(target_lds(t, "ds_load_b128"));
	target_free(t);

	t = load("gfx950", NULL);
	r = target_lds(t, "ds_read_b128");
	assert_int_equal(r->ngroups, 4);
	assert_true(r->group[0] == 0x0ff0f00f);
	assert_true(target_lds(t, "ds_read_b64_tr_b16")->transpose);
	assert_string_equal(target_vmem_widest(t, VM_LDS)->op, "buffer_load_dwordx4 lds");
	target_free(t);
}

static void time_by_operand_type(void **state)
{
	static const char op[] = "v_mfma_scale_f32_16x16x128_f8f6f4";
	struct target *t = load("gfx950", NULL);

	(void)state;
	assert_int_equal(target_matrix(t, op, DT_FP8, DT_FP8)->occupancy_clk, 32);
	assert_int_equal(target_matrix(t, op, DT_FP4, DT_BF8)->occupancy_clk, 32);
	assert_int_equal(target_matrix(t, op, DT_FP6, DT_FP4)->occupancy_clk, 16);
	assert_int_equal(target_matrix(t, op, DT_FP4, DT_FP4)->prefix_clk, 4);
	assert_null(target_matrix(t, "v_mfma_f32_16x16x8_xf32", DT_XF32, DT_XF32));
	target_free(t);
}

static void variants(void **state)
{
	static const char k64[] = "v_wmma_f32_16x16x64_fp8_fp8",
			  scaled[] = "v_wmma_scale_f32_16x16x128_f8f6f4";
	struct target *t = load("gfx1250", NULL);
	struct diag d;

	(void)state;
	assert_string_equal(t->choice.option, "newer");
	assert_int_equal(target_matrix(t, k64, DT_FP8, DT_FP8)->occupancy_clk, 4);
	assert_int_equal(target_matrix(t, scaled, DT_FP8, DT_FP4)->occupancy_clk, 8);
	assert_int_equal(target_matrix(t, scaled, DT_FP4, DT_FP4)->occupancy_clk, 4);
	target_free(t);
	t = load("gfx1250", "llvm22");
	assert_string_equal(t->choice.option, "llvm22");
	assert_int_equal(target_matrix(t, k64, DT_FP8, DT_FP8)->occupancy_clk, 8);
	assert_int_equal(target_matrix(t, scaled, DT_FP8, DT_FP4)->occupancy_clk, 16);
	assert_int_equal(target_matrix(t, scaled, DT_FP4, DT_FP4)->occupancy_clk, 8);
	target_free(t);

	diag_init(&d);
	assert_null(target_load("gfx1250", "llvm23", nowhere, &d));
	assert_int_equal(d.n, 1);
	assert_int_equal(d.list[0].code, DIAG_TARGET);
	assert_non_null(strstr(d.list[0].fix, "llvm22"));
	diag_free(&d);
	diag_init(&d);
	assert_null(target_load("gfx942", "newer", nowhere, &d));
	assert_int_equal(d.list[0].code, DIAG_TARGET);
	diag_free(&d);
}

static void derived_rows_replace(void **state)
{
	struct target *b = load("gfx942", NULL);
	struct target *t = derive(
		"gfx942",
		"<value key=\"lds.latency\" value=\"60\" unit=\"clk\" " Q "/>\n"
		"<class name=\"trans\" busy=\"8\" latency=\"12\" hold=\"4\" " Q "/>\n"
		"<counter name=\"vm\" max=\"31\" order=\"out\" " Q "/>\n"
		"<pairs of-simd=\"0 1 0 1\" " Q "/>\n"
		"<matrix op=\"v_mfma_f32_16x16x16_f16\" kind=\"mfma\" unit=\"xdl\" types=\"f16\" m=\"16\" n=\"16\""
		" k=\"16\" passes=\"4\" occupancy=\"20\" ready=\"32\" chain=\"20\" valu-block=\"4\" a-regs=\"2\""
		" b-regs=\"2\" c-regs=\"4\" " Q "/>\n"
		"<lds op=\"ds_read_b64\" dir=\"read\" width=\"8\" port=\"9\" banks=\"64\" groups=\"0-31 32-63\" " Q
		"/>\n"
		"<vmem op=\"buffer_load_dword\" kind=\"load\" width=\"4\" addr=\"5\" data=\"9\" " Q
		"/>\n"
		"<spacing first=\"xdl\" second=\"vector\" relation=\"raw\" passes=\"4\" states=\"9\" by=\"software\" " Q
		"/>\n"
		"<clock name=\"nominal\" mhz=\"1234.5\" " Q "/>\n"
		"<clock name=\"lab\" mhz=\"900\" " Q "/>\n");

	(void)state;
	assert_string_equal(t->name, "mine");
	assert_string_equal(t->product, b->product);
	assert_true(t->v.lds_latency == 60);
	assert_true(t->v_from[TV_lds_latency].quality == Q_ESTIMATE);
	assert_string_equal(t->v_from[TV_lds_latency].source, "me guess");
	assert_true(t->v.lds_bytes == b->v.lds_bytes);
	assert_int_equal(t->classes[OPC_TRANS].busy_clk, 8);
	assert_int_equal(t->counters[CTR_VM].max, 31);
	assert_false(t->counters[CTR_VM].in_order);
	assert_int_equal(t->counters[CTR_LGKM].max, b->counters[CTR_LGKM].max);
	assert_int_equal(t->pair_of_simd[1], 1);
	assert_int_equal(target_matrix(t, "v_mfma_f32_16x16x16_f16", DT_F16, DT_F16)->occupancy_clk,
			 20);
	assert_int_equal(target_lds(t, "ds_read_b64")->ngroups, 2);
	assert_int_equal(target_vmem(t, "buffer_load_dword")->addr_clk, 5);
	assert_int_equal(states_before_reader(
				 t, target_matrix(t, "v_mfma_f32_16x16x16_f16", DT_F16, DT_F16)),
			 9);
	assert_true(t->clocks[0].mhz == 1234.5);
	assert_true(target_clock(t, "lab")->mhz == 900);
	/* Replaced, not added. */
	assert_int_equal(t->nmatrix, b->nmatrix);
	assert_int_equal(t->nlds, b->nlds);
	assert_int_equal(t->nvmem, b->nvmem);
	assert_int_equal(t->nspacing, b->nspacing);
	assert_int_equal(t->nclocks, b->nclocks + 1);
	target_free(t);
	target_free(b);
}

/* One row for an op takes the place of both rows of the base that depend on operand types. */
static void derived_matrix_row_replaces_all_of_its_op(void **state)
{
	static const char op[] = "v_mfma_f32_16x16x128_f8f6f4";
	struct target *t = derive(
		"gfx950",
		"<matrix op=\"v_mfma_f32_16x16x128_f8f6f4\" kind=\"mfma\" unit=\"xdl\" types=\"f8f6f4\" m=\"16\" n=\"16\""
		" k=\"128\" passes=\"8\" occupancy=\"32\" ready=\"52\" chain=\"32\" valu-block=\"4\" a-regs=\"8\""
		" b-regs=\"8\" c-regs=\"4\" " Q "/>\n");

	(void)state;
	assert_int_equal(target_matrix(t, op, DT_FP4, DT_FP4)->occupancy_clk, 32);
	assert_ptr_equal(target_matrix(t, op, DT_FP4, DT_FP4),
			 target_matrix(t, op, DT_FP8, DT_FP8));
	target_free(t);
}

static void derived_twice(void **state)
{
	char path[] = "/tmp/wpsim-target-XXXXXX";
	char *first, *text;
	struct diag d;
	struct target *t;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(path));
	first = xasprintf("%s/first.xml", path);
	f = fopen(first, "w");
	assert_non_null(f);
	fputs("<target name=\"first\" base=\"gfx950\"><source id=\"me\" title=\"t\"/>"
	      "<value key=\"lds.latency\" value=\"60\" unit=\"clk\" " Q "/>"
	      "<value key=\"lds.queue\" value=\"4\" unit=\"entries\" " Q "/></target>\n",
	      f);
	fclose(f);
	/* "first.xml" is looked for beside the file that names it. */
	text = xasprintf("<target name=\"second\" base=\"first.xml\">"
			 "<value key=\"lds.latency\" value=\"61\" unit=\"clk\" " Q "/></target>\n");
	char *second = xasprintf("%s/second.xml", path);

	diag_init(&d);
	t = target_parse(src_from_text(second, text, strlen(text)), NULL, nowhere, &d);
	assert_non_null(t);
	assert_true(t->v.lds_latency == 61 && t->v.lds_queue == 4);
	assert_int_equal(t->v.lds_bytes, 163840);
	target_free(t);
	diag_free(&d);
	remove(first);
	rmdir(path);
	free(first);
	free(second);
	free(text);
}

static void faults_have_places(void **state)
{
	(void)state;
	refuse("<value key=\"cuss\" value=\"1\" unit=\"count\" " Q "/>\n", DIAG_VALUE, 3, 13);
	refuse("<value key=\"cus\" value=\"0\" unit=\"count\" " Q "/>\n", DIAG_VALUE, 3, 25);
	refuse("<value key=\"cus\" value=\"1\" unit=\"clk\" " Q "/>\n", DIAG_VALUE, 3, 34);
	refuse("<value key=\"cus\" value=\"10\" unit=\"count\" " Q " when=\"x\"/>\n", DIAG_ATTR, 3,
	       79);
	refuse("<clock name=\"a\" mhz=\"1\" quality=\"estimate\" source=\"you\"/>\n", DIAG_NAME, 3,
	       52);
	refuse("<clock name=\"a\" mhz=\"1\" " Q "/>\n<clock name=\"a\" mhz=\"2\" " Q "/>\n",
	       DIAG_NAME, 4, 2);
	refuse("<sources/>\n", DIAG_ELEMENT, 3, 2);
}

static void missing_rows_are_named(void **state)
{
	struct diag d;
	struct target *t;
	bool value = false, class = false;

	(void)state;
	diag_init(&d);
	d.max_errors = 1000;
	t = target_parse(src_from_text("t.xml", "<target name=\"x\" product=\"y\"/>", 30), NULL,
			 nowhere, &d);
	assert_null(t);
	assert_true(d.n > TV_COUNT);
	for (size_t i = 0; i < d.n; i++) {
		assert_int_equal(d.list[i].code, DIAG_ELEMENT);
		value |= strstr(d.list[i].message, "\"smem.latency\"") != NULL;
		class |= strstr(d.list[i].message, "\"lds-permute\"") != NULL;
	}
	assert_true(value && class);
	diag_free(&d);
}

/* Far more rows than any machine has end quickly with one finding. */
static void too_many_rows(void **state)
{
	struct strbuf b = {0};
	struct diag d;

	(void)state;
	strbuf_add(&b, "<target name=\"x\" base=\"gfx942\"><source id=\"me\" title=\"t\"/>");
	for (int i = 0; i < 100000; i++)
		strbuf_add(&b, "<clock name=\"c%d\" mhz=\"1\" " Q "/>", i);
	strbuf_add(&b, "</target>");
	assert_null(parse(b.s, &d));
	assert_int_equal(d.errors, 1);
	assert_int_equal(d.list[0].code, DIAG_LIMIT);
	diag_free(&d);
	strbuf_free(&b);
}

static void files_are_found(void **state)
{
	struct arena *a = arena_new();
	const char **names;
	size_t n = target_names(a, &names);
	char *path = target_find_file("gfx942.xml");
	struct diag d;

	(void)state;
	assert_true(n >= 3);
	for (size_t i = 1; i < n; i++)
		assert_true(strcmp(names[i - 1], names[i]) < 0);
	assert_non_null(path);
	free(path);
	assert_null(target_find_file("nothing.xml"));
	diag_init(&d);
	assert_null(target_load("gfx951", NULL, nowhere, &d));
	assert_int_equal(d.list[0].code, DIAG_TARGET);
	assert_non_null(d.list[0].fix);
	assert_null(target_load("/nothing/at/all.xml", NULL, nowhere, &d));
	assert_int_equal(d.list[1].code, DIAG_IO);
	diag_free(&d);
	arena_free(a);
}

static void the_sheet_fits(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		struct target *t = load(parts[i], NULL);
		char *text = NULL;
		size_t len = 0;
		FILE *f = open_memstream(&text, &len);

		target_print(t, f);
		fclose(f);
		for (char *s = text; *s; s += strcspn(s, "\n") + 1)
			assert_true(strcspn(s, "\n") <= 120);
		for (size_t j = 0; j < t->nmatrix; j++)
			assert_non_null(strstr(text, t->matrix[j].op));
		for (size_t j = 0; j < TV_COUNT; j++)
			if (!value_info[j].optional || strcmp(t->v_from[j].source, "default"))
				assert_non_null(strstr(text, value_info[j].key));
		free(text);
		target_free(t);
	}
}

/* The schema and the manual must name every word that the reader knows. */
static void every_word_is_written_down(void **state)
{
	char *path = target_find_file("target.rnc"), *manual;
	struct diag d;
	struct src *s, *m;
	char word[64];

	(void)state;
	assert_non_null(path);
	diag_init(&d);
	s = src_load(path, &d);
	assert_non_null(s);
	for (size_t i = 0; i < TV_COUNT + OPC_COUNT + nspacing_words; i++) {
		snprintf(word, sizeof(word), "\"%s\"",
			 i < TV_COUNT		    ? value_info[i].key
			 : i < TV_COUNT + OPC_COUNT ? opclass_words[i - TV_COUNT]
						    : spacing_words[i - TV_COUNT - OPC_COUNT]);
		assert_non_null(strstr(s->text, word));
	}
	*strrchr(path, '/') = '\0';
	manual = xasprintf("%s/../docs/targets.md", path);
	m = src_load(manual, &d);
	assert_non_null(m);
	for (size_t i = 0; i < nspacing_words; i++) {
		snprintf(word, sizeof(word), "`%s`", spacing_words[i]);
		assert_non_null(strstr(m->text, word));
	}
	src_free(m);
	src_free(s);
	diag_free(&d);
	free(manual);
	free(path);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_load),
		cmocka_unit_test(registers_follow_from_shapes),
		cmocka_unit_test(peaks_are_the_published_ones),
		cmocka_unit_test(ready_agrees_with_spacing),
		cmocka_unit_test(lds_latency_is_the_measured_one),
		cmocka_unit_test(lane_groups),
		cmocka_unit_test(time_by_operand_type),
		cmocka_unit_test(variants),
		cmocka_unit_test(derived_rows_replace),
		cmocka_unit_test(derived_matrix_row_replaces_all_of_its_op),
		cmocka_unit_test(derived_twice),
		cmocka_unit_test(faults_have_places),
		cmocka_unit_test(missing_rows_are_named),
		cmocka_unit_test(too_many_rows),
		cmocka_unit_test(files_are_found),
		cmocka_unit_test(the_sheet_fits),
		cmocka_unit_test(every_word_is_written_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
