/* The schedule reader: what a schedule's words become, orders written out, and every limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "schedule.h"

#define HEAD                                                                                               \
	"<gemm m='512' n='300' k='512' a='f16' b='bf16' acc='f32' out='f16'><tile m='128' n='64' k='32'/>" \
	"<waves groups='2' rows='2' cols='2'/><matrix op='v_mma'/></gemm>"
#define DECL                                                                                        \
	"<lds name='A' operand='A' half='bottom' slots='3'><pad every='512' by='16'/></lds>"        \
	"<lds name='B' operand='B' part='1/4'><swizzle vec='8' per-phase='2' max-phase='4'/></lds>" \
	"<lds name='M' bytes='4096' base='1024'/><lds name='N' bytes='4096' alias='M'/>"            \
	"<global name='g' bytes='100' output='true'/>"                                              \
	"<fragment name='a' from='A' k='1/2' op='ds_x'/><fragment name='b' from='B' shares='r'/>"   \
	"<staging name='s' for='A'/><registers name='r' vgpr='12'/>"                                \
	"<accumulator name='c' a='a' b='b' file='agpr'/>"
#define KERNEL                                                                                    \
	"<kernel workgroups='6' flops='1e9' bytes='2e6' reuse='3'><waves groups='4' count='16'/>" \
	"<cluster rows='3' cols='2'/></kernel>"                                                   \
	"<lds name='M' bytes='4096'/><registers name='r' vgpr='4'/><accumulator name='c' vgpr='4'/>"

static struct schedule *parse(struct diag *d, const char *attrs, const char *body)
{
	char *text = xasprintf("<schedule name='t' target='gfx950' %s>%s</schedule>", attrs, body);
	struct src *s = src_from_text("t.xml", text, strlen(text));

	free(text);
	diag_init(d);
	return schedule_parse(s, d);
}

static struct schedule *good(const char *attrs, const char *body)
{
	struct diag d;
	struct schedule *s = parse(&d, attrs, body);

	if (!s)
		diag_print(&d, stderr, false);
	assert_non_null(s);
	assert_int_equal(d.n, 0);
	diag_free(&d);
	return s;
}

/* A schedule with this many errors of this kind, the first one at the given source text. */
static void wrong(const char *body, size_t errors, enum diag_code code, const char *at)
{
	struct diag d;
	struct schedule *s = parse(&d, "", body);
	struct loc l;

	if (s || d.errors != errors)
		diag_print(&d, stderr, false);
	assert_null(s);
	assert_int_equal(d.errors, errors);
	assert_int_equal(d.list[0].code, code);
	l = d.list[0].loc;
	assert_non_null(l.src);
	assert_true(l.end <= l.src->len && l.begin <= l.end);
	assert_int_equal(l.end - l.begin, strlen(at));
	assert_memory_equal(l.src->text + l.begin, at, strlen(at));
	diag_free(&d);
}

static const struct sched_op *op_at(const struct schedule *s, unsigned section, unsigned stage,
				    unsigned op)
{
	const struct sched_section *sec = s->sections;
	const struct sched_stage *st;
	const struct sched_op *o;

	while (section--)
		sec = sec->next;
	for (st = sec->stages; stage--;)
		st = st->next;
	for (o = st->ops; op--;)
		o = o->next;
	return o;
}

static void test_head(void **state)
{
	struct schedule *s = good("variant='v' clock='1234.5' waits='written'",
				  "<title>\n A  b </title>" HEAD "<reserve vgpr='3' sgpr='4'/>" DECL
				  "<loop><fence/></loop>");

	(void)state;
	assert_string_equal(s->name, "t");
	assert_string_equal(s->target_name, "gfx950");
	assert_string_equal(s->variant, "v");
	assert_string_equal(s->title, "A  b");
	assert_null(s->clock);
	assert_true(s->clock_mhz == 1234.5);
	assert_false(s->auto_waits);
	assert_true(s->gemm && !s->scaled);
	assert_true(s->m == 512 && s->n == 300 && s->k == 512);
	assert_true(s->type_a == DT_F16 && s->type_b == DT_BF16 && s->type_acc == DT_F32 &&
		    s->type_out == DT_F16);
	assert_true(s->tile_m == 128 && s->tile_n == 64 && s->tile_k == 32);
	assert_true(s->groups == 2 && s->rows == 2 && s->cols == 2 && s->waves == 4);
	assert_true(s->gap == 1 && !s->gap_written);
	assert_true(s->cluster_rows == 1 && s->cluster_cols == 1);
	assert_true(s->workgroups == 4 * 5);
	assert_true(s->flops == 2.0 * 512 * 300 * 512);
	assert_true(s->reserve_vgpr == 3 && s->reserve_sgpr == 4);
	schedule_free(s);

	s = good("clock='gemm'", KERNEL "<epilogue><fence/></epilogue>");
	assert_string_equal(s->clock, "gemm");
	assert_true(s->auto_waits && !s->gemm && s->gap == 0 && s->waves == 16 && s->groups == 4);
	assert_true(s->workgroups == 6 && s->flops == 1e9 && s->bytes == 2e6 && s->reuse == 3);
	assert_true(s->cluster_rows == 3 && s->cluster_cols == 2);
	assert_string_equal(s->title, "");
	schedule_free(s);
}

static void test_declarations(void **state)
{
	struct schedule *s = good("", HEAD DECL "<loop><fence/></loop>");
	const struct sched_lds *l = schedule_lds(s, "A");
	const struct sched_reg *r = schedule_reg(s, "a");

	(void)state;
	assert_int_equal(s->nlds, 4);
	assert_true(l->operand == OPERAND_A && l->part.i == 1 && l->part.n == 2 && l->slots == 3 &&
		    l->base == -1);
	assert_true(l->pad_every == 512 && l->pad_by == 16 && l->bytes == 0 && !l->alias);
	l = schedule_lds(s, "B");
	assert_true(l->operand == OPERAND_B && l->part.i == 1 && l->part.n == 4 && l->slots == 1);
	assert_true(l->swz_vec == 8 && l->swz_per_phase == 2 && l->swz_max_phase == 4);
	l = schedule_lds(s, "M");
	assert_true(l->operand == OPERAND_NONE && l->bytes == 4096 && l->base == 1024 &&
		    l->part.n == 1);
	assert_string_equal(schedule_lds(s, "N")->alias, "M");
	assert_null(schedule_lds(s, "a"));
	assert_true(schedule_global(s, "g")->bytes == 100 && schedule_global(s, "g")->output);
	assert_true(r->kind == SREG_FRAGMENT && r->kpart.i == 1 && r->kpart.n == 2 &&
		    r->part.n == 1 && r->count == 0);
	assert_string_equal(r->from, "A");
	assert_string_equal(r->read_op, "ds_x");
	assert_string_equal(schedule_reg(s, "b")->shares, "r");
	assert_true(schedule_reg(s, "s")->kind == SREG_STAGING &&
		    schedule_reg(s, "r")->count == 12);
	r = schedule_reg(s, "c");
	assert_true(r->kind == SREG_ACCUMULATOR && r->file == FILE_AGPR);
	assert_string_equal(r->a, "a");
	assert_string_equal(r->b, "b");
	schedule_free(s);
}

static void test_sections(void **state)
{
	struct schedule *s = good(
		"", HEAD DECL
		"<prologue groups='B'><fence/></prologue>"
		"<loop unroll='2' peel='2' boundary='drain'><wait vm='1'/><stage name='x' priority='2'/>"
		"<fence/><commit/><stage name='y' boundary='none'><fence/><edge><commit/></edge></stage>"
		"<nop states='2'/></loop><epilogue><stage name='x'/></epilogue>");
	const struct sched_section *sec = s->sections;
	const struct sched_stage *st;

	(void)state;
	assert_true(sec->kind == SECTION_PROLOGUE && sec->groups == 2);
	sec = sec->next;
	assert_true(sec->kind == SECTION_LOOP && sec->groups == UINT8_MAX);
	assert_true(sec->unroll == 2 && sec->peel == 2 && sec->trips == -1);
	st = sec->stages; /* the wait */
	assert_true(!st->name && st->boundary == BOUNDARY_NONE && st->priority == -1 &&
		    st->ops->kind == OP_WAIT);
	st = st->next;
	assert_string_equal(st->name, "x");
	assert_true(st->boundary == BOUNDARY_DRAIN && st->priority == 2 && !st->ops &&
		    !st->edge_ops);
	st = st->next;
	assert_true(!st->name && st->ops->kind == OP_FENCE && st->ops->next->kind == OP_COMMIT &&
		    !st->ops->next->next);
	st = st->next;
	assert_true(st->boundary == BOUNDARY_NONE && st->ops->kind == OP_FENCE &&
		    st->edge_ops->kind == OP_COMMIT);
	st = st->next;
	assert_true(!st->name && st->ops->kind == OP_NOP && st->ops->imm == 2 && !st->next);
	sec = sec->next;
	assert_true(sec->kind == SECTION_EPILOGUE && sec->stages->boundary == BOUNDARY_NONE &&
		    !sec->next);
	schedule_free(s);
}

static void test_tiles(void **state)
{
	static const struct {
		const char *text;
		enum tile_base base;
		int offset;
	} rows[] = {
		{"0", TILE_ABSOLUTE, 0}, {"15", TILE_ABSOLUTE, 15},   {"k", TILE_LOOP, 0},
		{"k+2", TILE_LOOP, 2},	 {"k-1", TILE_LOOP, -1},      {"k+4096", TILE_LOOP, 4096},
		{"last", TILE_LAST, 0},	 {"last-15", TILE_LAST, -15}, {"k-0", TILE_LOOP, 0},
	};
	static const char *const refused[] = {"",
					      "-1",
					      "16",
					      "k+4097",
					      "k +1",
					      "k++1",
					      "last+1",
					      "last-16",
					      "K",
					      "k+1x",
					      "0x1",
					      "99999999999999999999",
					      "k+99999999999999999999"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *body = xasprintf(HEAD DECL "<loop><read into='a' tile='%s'/></loop>",
				       rows[i].text);
		struct schedule *s = good("", body);

		assert_true(op_at(s, 0, 0, 0)->tile.base == rows[i].base);
		assert_int_equal(op_at(s, 0, 0, 0)->tile.offset, rows[i].offset);
		schedule_free(s);
		free(body);
	}
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		char *body =
			xasprintf(HEAD DECL "<loop><read into='a' tile='%s'/></loop>", refused[i]);

		wrong(body, 1, DIAG_VALUE, refused[i]);
		free(body);
	}
	wrong(HEAD DECL "<prologue><copy to='A' tile='k+1'/></prologue>", 1, DIAG_VALUE, "k+1");
}

static void test_memory_ops(void **state)
{
	struct schedule *s = good(
		"", HEAD DECL
		"<loop><load into='s' tile='k+1' cold='true' count='3' edge='0'/><write from='s' tile='k+1'/>"
		"<copy to='M' part='2/3' commit='false' waves='1-2' offset='64'/>"
		"<read into='r' from='M' count='2' stride='8' offset='4092' op='ds_y'/>"
		"<read into='r' from='M' count='2' share='own'/><read into='a' tile='k' k='1/2'/>"
		"<store from='r' to='g' bytes='77' publishes='g' waves='3'/>"
		"<load into='r' operand='B' tile='last' bytes='8'/></loop>");
	const struct sched_op *o = op_at(s, 0, 0, 0);

	(void)state;
	assert_true(o->kind == OP_LOAD && o->cold && o->count == 3 && o->edge_count == 0 &&
		    o->operand == OPERAND_A);
	assert_true(o->groups == UINT8_MAX && o->wave_lo == -1 && o->multicast == 1 &&
		    o->wait_groups == -1);
	o = o->next;
	assert_true(o->kind == OP_WRITE && o->count == 0 && o->edge_count == -1 &&
		    o->share == SHARE_OPERAND);
	assert_string_equal(o->to, "A"); /* the staging block's buffer */
	o = o->next;
	assert_true(o->kind == OP_COPY && o->part.i == 2 && o->part.n == 3 && o->no_commit &&
		    o->offset == 64);
	assert_true(o->wave_lo == 1 && o->wave_hi == 2 && o->share == SHARE_OWN);
	o = o->next;
	assert_true(o->kind == OP_READ && o->stride == 8 && o->offset == 4092 &&
		    o->share == SHARE_ALL);
	assert_string_equal(o->op, "ds_y");
	o = o->next;
	assert_true(o->share == SHARE_OWN && !o->op);
	o = o->next;
	assert_string_equal(o->from, "A");
	assert_string_equal(o->op, "ds_x"); /* the fragment's */
	assert_true(o->kpart.i == 1 && o->kpart.n == 2);
	o = o->next;
	assert_true(o->kind == OP_STORE && o->bytes == 77 && o->wave_lo == 3 && o->wave_hi == 3);
	assert_string_equal(o->publishes, "g");
	assert_true(o->next->operand == OPERAND_B && o->next->bytes == 8);
	schedule_free(s);
}

static void test_other_ops(void **state)
{
	struct schedule *s = good(
		"", HEAD DECL
		"<loop><mma acc='c'/><mma acc='c' a='r' k='3/4' part='1/2' count='5' op='v_z'/>"
		"<valu/><trans count='9' writes='r  c' reads='a'/><wait vm='3' ds='0' groups='2' group='B'/>"
		"<barrier/><barrier kind='drain' part='signal' group='A'/><barrier id='16' members='8' part='wait'/>"
		"<priority level='3'/><sleep units='127'/><mode bits='255'/><nop states='255'/></loop>");
	const struct sched_op *o = op_at(s, 0, 0, 0);

	(void)state;
	assert_string_equal(o->a, "a"); /* the accumulator's */
	assert_string_equal(o->b, "b");
	o = o->next;
	assert_string_equal(o->a, "r");
	assert_string_equal(o->op, "v_z");
	assert_true(o->kpart.i == 3 && o->kpart.n == 4 && o->part.i == 1 && o->part.n == 2 &&
		    o->count == 5);
	o = o->next;
	assert_true(o->kind == OP_VALU && o->count == 1 && !o->writes);
	o = o->next;
	assert_true(o->kind == OP_TRANS && o->count == 9);
	assert_string_equal(o->writes, "r  c");
	o = o->next;
	for (int c = 0; c < CTR_COUNT; c++)
		assert_int_equal(o->wait[c], c == CTR_VM ? 3 : c == CTR_DS ? 0 : -1);
	assert_true(o->wait_groups == 2 && o->groups == 2);
	o = o->next;
	assert_true(!o->drain && o->bpart == BARRIER_BOTH && o->scope == SCOPE_WORKGROUP &&
		    o->members == 0);
	o = o->next;
	assert_true(o->drain && o->bpart == BARRIER_SIGNAL && o->groups == 1);
	o = o->next;
	assert_true(o->scope == SCOPE_NAMED && o->barrier_id == 16 && o->members == 8 &&
		    o->bpart == BARRIER_WAIT);
	o = o->next;
	assert_int_equal(o->imm, 3);
	assert_int_equal(o->next->imm, 127);
	assert_int_equal(o->next->next->imm, 255);
	assert_int_equal(o->next->next->next->imm, 255);
	schedule_free(s);
}

/* The order as a string of the ids' first letters; NULL after a finding of the given code. */
static char *weave(const char *order, enum diag_code code)
{
	struct sched_op kids[] = {{.id = "m"}, {.id = "read"}, {.id = "m"}, {.id = "x.1"}};
	struct sched_op weave = {.kind = OP_INTERLEAVE, .children = kids, .order = order};
	const struct sched_op **seq = NULL;
	struct arena *a = arena_new();
	char *text = NULL;
	struct diag d;
	size_t n;

	for (size_t i = 0; i + 1 < ARRAY_LEN(kids); i++)
		kids[i].next = &kids[i + 1];
	diag_init(&d);
	n = schedule_weave(&weave, a, &seq, &d);
	assert_int_equal(n == 0, d.errors != 0);
	if (n) {
		text = xcalloc(n + 1, 1);
		for (size_t i = 0; i < n; i++) {
			assert_true(seq[i] == &kids[0] || seq[i] == &kids[1] || seq[i] == &kids[3]);
			text[i] = seq[i]->id[0];
		}
	} else {
		assert_int_equal(d.errors, 1);
		assert_int_equal(d.list[0].code, code);
	}
	diag_free(&d);
	arena_free(a);
	return text;
}

static void test_weave(void **state)
{
	static const struct {
		const char *order, *want;
	} rows[] = {
		{"m read x.1", "mrx"},
		{"  2m\tread\n3x.1 ", "mmrxxx"},
		{"4m 2(read m) x.1", "mmmmrmrmx"},
		{"2(m 2(read x.1))", "mrxrxmrxrx"},
		{"(((((((m read x.1)))))))", "mrx"},
		{"2( ( m ) read)x.1", "mrmrx"},
		{"m(read)2(x.1)m", "mrxxm"},
	};
	static const struct {
		const char *order;
		enum diag_code code;
	} refused[] = {
		{"", DIAG_INTERLEAVE},
		{" \n", DIAG_INTERLEAVE},
		{"m read", DIAG_INTERLEAVE},
		{"m read y", DIAG_NAME},
		{"m read x", DIAG_NAME},
		{"mm read x.1", DIAG_NAME},
		{"0m read x.1", DIAG_INTERLEAVE},
		{"2 m read x.1", DIAG_INTERLEAVE},
		{"m read x.1 2", DIAG_INTERLEAVE},
		{"(m read x.1", DIAG_INTERLEAVE},
		{"m read x.1)", DIAG_INTERLEAVE},
		{"() m read x.1", DIAG_INTERLEAVE},
		{"2() m read x.1", DIAG_INTERLEAVE},
		{"m, read x.1", DIAG_INTERLEAVE},
		{"-1m read x.1", DIAG_INTERLEAVE},
		{"((((((((( m read x.1 )))))))))", DIAG_INTERLEAVE},
		{"99999m read x.1", DIAG_LIMIT},
		{"100001m read x.1", DIAG_INTERLEAVE},
		{"99999999999999999999999m", DIAG_INTERLEAVE},
		{"1000(1000(m read x.1))", DIAG_LIMIT},
		{"50000(m read x.1)", DIAG_LIMIT},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *text = weave(rows[i].order, DIAG_INTERLEAVE);

		assert_non_null(text);
		assert_string_equal(text, rows[i].want);
		free(text);
	}
	for (size_t i = 0; i < ARRAY_LEN(refused); i++)
		assert_null(weave(refused[i].order, refused[i].code));
	char *text = weave("99998m read x.1", DIAG_INTERLEAVE);

	assert_int_equal(strlen(text), WEAVE_MAX);
	free(text);
}

static void test_interleave(void **state)
{
	struct schedule *s =
		good("", HEAD DECL
		     "<loop><interleave order='2(m v) v' group='B'><mma id='m' acc='c' count='2'/>"
		     "<valu id='v' count='1'/><valu id='v' count='2'/></interleave></loop>");
	const struct sched_op *o = op_at(s, 0, 0, 0);

	(void)state;
	assert_true(o->kind == OP_INTERLEAVE && o->groups == 2 && !o->next);
	assert_string_equal(o->order, "2(m v) v");
	assert_string_equal(o->children->id, "m");
	assert_true(o->children->groups == 2 && o->children->next->next->kind == OP_VALU);
	schedule_free(s);
	/* Places inside the value. */
	wrong(HEAD DECL
	      "<loop><interleave order='2(m v) t'><mma id='m' acc='c' count='2'/><valu id='v' count='2'/>"
	      "</interleave></loop>",
	      1, DIAG_NAME, "t");
	wrong(HEAD DECL
	      "<loop><interleave order='2(m v) ) v'><mma id='m' acc='c'/><valu id='v' count='2'/>"
	      "</interleave></loop>",
	      1, DIAG_INTERLEAVE, ")");
	/* With a character reference inside, the whole value is the place. */
	wrong(HEAD DECL
	      "<loop><interleave order='2(m&#32;v) t'><mma id='m' acc='c'/><valu id='v' count='2'/>"
	      "</interleave></loop>",
	      1, DIAG_NAME, "2(m&#32;v) t");
	/* Derived counts are not compared here. */
	s = good("",
		 HEAD DECL "<loop><interleave order='m'><mma id='m' acc='c'/></interleave></loop>");
	schedule_free(s);
}

/* body with part written count times between before and after. */
static char *repeated(const char *before, const char *part, size_t count, const char *after)
{
	struct strbuf b = {0};

	strbuf_add(&b, "%s", before);
	for (size_t i = 0; i < count; i++)
		strbuf_addn(&b, part, strlen(part));
	strbuf_add(&b, "%s", after);
	return b.s;
}

/* The most that is accepted, and one more, reported once at the first one too many. */
static void limit(const char *before, const char *part, size_t most, const char *after,
		  const char *at)
{
	char *body = repeated(before, part, most, after);
	struct schedule *s = good("", body);

	schedule_free(s);
	free(body);
	body = repeated(before, part, most + 1, after);
	wrong(body, 1, DIAG_LIMIT, at);
	free(body);
}

static void test_limits(void **state)
{
	(void)state;
	limit(KERNEL "<epilogue>", "<fence/>", 100000, "</epilogue>", "fence");
	limit(KERNEL, "<prologue><fence/></prologue>", 64, "", "prologue");
	/* Interleaves: all of a file together. */
	limit(KERNEL "<epilogue>",
	      "<interleave order='1000v'><valu id='v' count='1000'/></interleave>", 100,
	      "</epilogue>", "1000v");
}

static void test_stage_limit(void **state)
{
	struct strbuf b = {0};
	struct schedule *s;

	(void)state;
	strbuf_add(&b, KERNEL "<epilogue>");
	for (int i = 0; i < 4096; i++)
		strbuf_add(&b, "<stage name='s%d'/>", i);
	strbuf_add(&b, "</epilogue>");
	s = good("", b.s);
	schedule_free(s);
	b.len -= strlen("</epilogue>");
	strbuf_add(&b, "<stage name='s'/></epilogue>");
	wrong(b.s, 1, DIAG_LIMIT, "stage");
	strbuf_free(&b);
}

/* Every number at its edge: the last good value and the first bad one on each side. */
static void test_ranges(void **state)
{
	static const struct {
		const char *frame; /* %s: the value */
		const char *lo, *hi, *below, *above;
	} rows[] = {
		{KERNEL "<loop trips='%s'><fence/></loop>", "1", "1099511627776", "0",
		 "1099511627777"},
		{KERNEL "<loop trips='1' unroll='%s'><fence/></loop>", "1", "64", "0", "65"},
		{KERNEL "<loop trips='1' peel='%s'><fence/></loop>", "0", "4096", "-1", "4097"},
		{KERNEL "<loop trips='1'><valu count='%s'/></loop>", "1", "4096", "0", "4097"},
		{KERNEL "<loop trips='1'><valu edge='%s'/></loop>", "0", "4096", "-1", "4097"},
		{KERNEL "<loop trips='1'><wait async='%s'/></loop>", "0", "255", "-1", "256"},
		{KERNEL "<loop trips='1'><wait groups='%s'/></loop>", "0", "255", "-1", "256"},
		{KERNEL "<loop trips='1'><priority level='%s'/></loop>", "0", "3", "-1", "4"},
		{KERNEL "<loop trips='1'><nop states='%s'/></loop>", "1", "255", "0", "256"},
		{KERNEL "<loop trips='1'><sleep units='%s'/></loop>", "0", "127", "-1", "128"},
		{KERNEL "<loop trips='1'><mode bits='%s'/></loop>", "0", "255", "-1", "256"},
		{KERNEL "<loop trips='1'><copy to='M' multicast='%s'/></loop>", "1", "6", "0", "7"},
		{KERNEL "<loop trips='1'><copy to='M' offset='%s'/></loop>", "0", "4095", "-1",
		 "4096"},
		{KERNEL "<loop trips='1'><tdm to='M' bytes='%s'/></loop>", "1", "1073741824", "0",
		 "1073741825"},
		{KERNEL "<loop trips='1'><barrier id='%s' members='2'/></loop>", "1", "16", "0",
		 "17"},
		{KERNEL "<loop trips='1'><barrier id='1' members='%s'/></loop>", "1", "32", "0",
		 "33"},
		{KERNEL "<loop trips='1'><copy to='M' waves='%s'/></loop>", "0", "15", "-1", "16"},
		{KERNEL "<loop trips='1'><copy to='M' part='%s/64'/></loop>", "0", "63", "-1",
		 "64"},
		{KERNEL "<lds name='x' bytes='%s'/><loop trips='1'><fence/></loop>", "4", "4194304",
		 "0", "4194305"},
		{KERNEL "<lds name='x' bytes='4' slots='%s'/><loop trips='1'><fence/></loop>", "1",
		 "64", "0", "65"},
		{KERNEL "<lds name='x' bytes='4' base='%s'/><loop trips='1'><fence/></loop>", "0",
		 "4194300", "-4", "4194304"},
		{KERNEL "<registers name='x' vgpr='%s'/><loop trips='1'><fence/></loop>", "1",
		 "1024", "0", "1025"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *values[] = {rows[i].lo, rows[i].hi, rows[i].below, rows[i].above};

		for (size_t v = 0; v < ARRAY_LEN(values); v++) {
			const char *cut = strstr(rows[i].frame, "%s");
			char *body = xasprintf("%.*s%s%s", (int)(cut - rows[i].frame),
					       rows[i].frame, values[v], cut + 2);
			struct diag d;
			struct schedule *s = parse(&d, "", body);

			if ((s != NULL) != (v < 2))
				fprintf(stderr, "%s: %s\n", values[v], body);
			assert_int_equal(s != NULL, v < 2);
			if (!s)
				assert_int_equal(d.list[0].code, DIAG_VALUE);
			schedule_free(s);
			diag_free(&d);
			free(body);
		}
	}
}

/* Sizes whose products do not fit 64 bits are still right. */
static void test_large(void **state)
{
	struct schedule *s = good(
		"",
		"<gemm m='2147483648' n='2147483648' k='2147483648' a='i8' b='i8' acc='i32' out='i32'>"
		"<tile m='1' n='1' k='1'/><waves groups='1' rows='1' cols='1'/><matrix op='x'/></gemm>"
		"<loop><fence/></loop>");

	(void)state;
	assert_true(s->workgroups == UINT64_C(1) << 62);
	assert_true(s->flops == 0x1p94);
	schedule_free(s);
}

/* All errors are reported in one run, each once, and in the order of the text. */
static void test_many_errors(void **state)
{
	(void)state;
	wrong(KERNEL
	      "<loop trips='x' peel='y'><wiat vm='z'/><valu coutn='0' op='*'/><mma acc='q'/></loop>",
	      9, DIAG_ELEMENT, "wiat");
	/* A misspelt word counts once: what was meant is read. */
	wrong(KERNEL "<loop trips='1'><wiat vm='1'/></loop>", 1, DIAG_ELEMENT, "wiat");
	wrong(KERNEL "<loop tripz='1'><fence/></loop>", 1, DIAG_ATTR, "tripz");
	wrong("<kernel workgroups='1'><waves groups='1' count='1'/></kernel><regsters name='r' vgpr='1'/>"
	      "<epilogue><valu writes='r'/></epilogue>",
	      1, DIAG_ELEMENT, "regsters");
}

/* One byte less anywhere: never a crash, and a schedule exactly when nothing was reported. */
static void test_damage(void **state)
{
	static const char body[] = HEAD DECL
		"<prologue><copy to='A' tile='0'/></prologue><loop peel='1'><stage name='x'><read into='a' tile='k'/>"
		"<interleave order='m 2v'><mma id='m' acc='c' count='1'/><valu id='v' count='2'/></interleave></stage></loop>";
	size_t refused = 0;

	(void)state;
	for (size_t i = 0; i < strlen(body); i++) {
		char *text = xstrdup(body);
		struct diag d;
		struct schedule *s;

		memmove(text + i, text + i + 1, strlen(text + i));
		s = parse(&d, "", text);
		assert_int_equal(s == NULL, d.errors > 0);
		refused += s == NULL;
		schedule_free(s);
		diag_free(&d);
		free(text);
	}
	assert_true(refused > strlen(body) / 2);
}

static void test_names(void **state)
{
	(void)state;
	for (int k = 0; k < OP_KIND_COUNT; k++)
		assert_non_null(op_kind_name((enum op_kind)k));
	assert_string_equal(op_kind_name(OP_LOAD), "load");
	assert_string_equal(op_kind_name(OP_TDM_STORE), "tdm-store");
	assert_string_equal(op_kind_name(OP_WAIT), "wait");
	assert_string_equal(op_kind_name(OP_INTERLEAVE), "interleave");
	schedule_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_head),	    cmocka_unit_test(test_declarations),
		cmocka_unit_test(test_sections),    cmocka_unit_test(test_tiles),
		cmocka_unit_test(test_memory_ops),  cmocka_unit_test(test_other_ops),
		cmocka_unit_test(test_weave),	    cmocka_unit_test(test_interleave),
		cmocka_unit_test(test_limits),	    cmocka_unit_test(test_stage_limit),
		cmocka_unit_test(test_ranges),	    cmocka_unit_test(test_large),
		cmocka_unit_test(test_many_errors), cmocka_unit_test(test_damage),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
