/*
 * Any bytes give a schedule whose every name is declared and every number in its range, or at least
 * one finding.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule.h"
#include "schedule_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(what)                                                                           \
	do {                                                                                 \
		if (!(what)) {                                                               \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #what); \
			abort();                                                             \
		}                                                                            \
	} while (0)

static void check_loc(const struct schedule *s, struct loc l)
{
	MUST(l.src == s->src && l.begin <= l.end && l.end <= l.src->len);
}

static void check_part(struct part p)
{
	MUST(p.n >= 1 && p.n <= MAX_PART && p.i < p.n);
}

static void check_head(const struct schedule *s)
{
	MUST(s->name && s->target_name && s->title);
	MUST(s->groups >= 1 && s->groups <= MAX_GROUPS && s->waves >= s->groups &&
	     s->waves <= MAX_WAVES);
	MUST(s->waves % s->groups == 0 && s->rows * s->cols == s->waves);
	MUST(s->gap <= 2 && (!s->gap || s->groups == 2) && !(s->gap && s->gap_written));
	MUST(s->workgroups >= 1 && s->reuse >= 1 && s->flops >= 0 && s->bytes >= 0);
	MUST(s->cluster_rows >= 1 && s->cluster_cols >= 1);
	if (s->gemm) {
		MUST(s->m > 0 && s->n > 0 && s->k > 0 && s->tile_m && s->tile_n && s->tile_k &&
		     s->matrix_op);
		MUST(s->tile_m % s->rows == 0 && s->tile_n % s->cols == 0);
	}
}

static void check_declarations(const struct schedule *s)
{
	for (size_t i = 0; i < s->nlds; i++) {
		const struct sched_lds *b = &s->lds[i];

		MUST(schedule_lds(s, b->name) == b && !schedule_reg(s, b->name) &&
		     !schedule_global(s, b->name));
		MUST((b->operand != OPERAND_NONE) == (b->bytes == 0) && b->slots >= 1 &&
		     b->slots <= MAX_SLOTS);
		MUST(!b->alias || (schedule_lds(s, b->alias) && !schedule_lds(s, b->alias)->alias &&
				   b->base < 0));
		MUST(!b->pad_every == !b->pad_by && (!b->pad_every || !b->swz_vec));
		check_part(b->part);
		check_loc(s, b->name_loc);
	}
	for (size_t i = 0; i < s->nregs; i++) {
		const struct sched_reg *r = &s->regs[i];

		MUST(schedule_reg(s, r->name) == r);
		MUST(!r->shares ||
		     (schedule_reg(s, r->shares) && !schedule_reg(s, r->shares)->shares));
		MUST(!r->from || schedule_lds(s, r->from));
		MUST(r->count || r->from || (r->a && r->b));
		check_part(r->part);
		check_part(r->kpart);
	}
}

static void check_names(const struct schedule *s, const char *list)
{
	char *copy = xstrdup(list), *save = NULL;

	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		MUST(schedule_reg(s, w));
	free(copy);
}

static void check_operands(const struct schedule *s, const struct sched_op *o)
{
	const char *regs[] = {o->into, o->acc, o->a, o->b, o->sa, o->sb, o->index};
	bool from_lds = o->kind == OP_READ || o->kind == OP_TDM_STORE;
	bool from_reg = o->kind == OP_WRITE || o->kind == OP_STORE;

	for (size_t i = 0; i < ARRAY_LEN(regs); i++)
		MUST(!regs[i] || schedule_reg(s, regs[i]));
	MUST(!from_lds || schedule_lds(s, o->from));
	MUST(!from_reg || schedule_reg(s, o->from));
	MUST(!o->from || from_lds || from_reg || schedule_global(s, o->from));
	MUST(!o->to ||
	     (o->kind == OP_STORE || o->kind == OP_TDM_STORE ? (void *)schedule_global(s, o->to)
							     : (void *)schedule_lds(s, o->to)));
	MUST(o->kind != OP_MMA || (o->acc && o->a && o->b && (o->op || s->matrix_op)));
	MUST((o->kind != OP_LOAD && o->kind != OP_READ) || o->into);
	MUST((o->kind != OP_WRITE && o->kind != OP_COPY && o->kind != OP_TDM) || o->to);
	if (o->writes)
		check_names(s, o->writes);
	if (o->reads)
		check_names(s, o->reads);
}

static void check_wait(const struct sched_op *o)
{
	int named = o->wait_groups >= 0;

	for (int c = 0; c < CTR_COUNT; c++) {
		MUST(o->wait[c] >= -1 && o->wait[c] <= 255);
		named += o->wait[c] >= 0;
	}
	MUST((o->kind == OP_WAIT) == (named > 0));
}

static void check_op(const struct schedule *s, const struct sched_op *o, bool woven)
{
	check_loc(s, o->loc);
	check_part(o->part);
	check_part(o->kpart);
	MUST((o->groups & ((1u << s->groups) - 1)) && o->count <= MAX_COUNT &&
	     o->edge_count <= MAX_COUNT);
	MUST(o->wave_hi < (int)s->waves && o->wave_lo <= o->wave_hi);
	MUST(!woven || (o->id && o->kind != OP_INTERLEAVE));
	MUST(o->multicast >= 1 && o->imm <= 255);
	MUST((o->scope == SCOPE_NAMED) == (o->barrier_id != 0));
	check_operands(s, o);
	check_wait(o);
	if (o->kind == OP_INTERLEAVE) {
		struct arena *a = arena_new();
		const struct sched_op **seq;
		struct diag d;

		diag_init(&d);
		MUST(o->children && schedule_weave(o, a, &seq, &d) > 0 && d.errors == 0);
		diag_free(&d);
		arena_free(a);
	}
}

static void check_ops(const struct schedule *s, const struct sched_op *ops)
{
	for (const struct sched_op *o = ops; o; o = o->next) {
		check_op(s, o, false);
		for (const struct sched_op *c = o->children; c; c = c->next)
			check_op(s, c, true);
	}
}

static void check_sections(const struct schedule *s)
{
	enum section_kind last = SECTION_PROLOGUE;

	MUST(s->sections);
	for (const struct sched_section *sec = s->sections; sec; sec = sec->next) {
		MUST(sec->kind >= last && sec->groups && sec->unroll >= 1 &&
		     (sec->trips == -1 || sec->trips >= 1));
		MUST(sec->kind != SECTION_LOOP || s->gemm || sec->trips >= 1);
		last = sec->kind;
		for (const struct sched_stage *st = sec->stages; st; st = st->next) {
			MUST(st->name ||
			     (st->boundary == BOUNDARY_NONE && st->priority == -1 && st->ops));
			MUST(st->priority >= -1 && st->priority <= 3);
			check_ops(s, st->ops);
			check_ops(s, st->edge_ops);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct src *src = src_from_text("fuzz.xml", (const char *)data, size);
	FILE *null = fopen("/dev/null", "w");
	struct schedule *s;
	struct diag d;

	MUST(null);
	diag_init(&d);
	s = schedule_parse(src, &d);
	MUST((s == NULL) == (d.errors > 0));
	diag_print(&d, null, false);
	if (s) {
		check_head(s);
		check_declarations(s);
		check_sections(s);
	}
	schedule_free(s);
	diag_free(&d);
	fclose(null);
	return 0;
}
