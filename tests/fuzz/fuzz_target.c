/*
 * Any bytes give a target whose every row is in its range and findable, or at least one finding.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target.h"
#include "target_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(what)                                                                           \
	do {                                                                                 \
		if (!(what)) {                                                               \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #what); \
			abort();                                                             \
		}                                                                            \
	} while (0)

static void check_origin(const struct origin *o)
{
	MUST(o->quality < Q_COUNT && o->source && o->source[0] && o->note);
	MUST(o->loc.src && o->loc.begin <= o->loc.end && o->loc.end <= o->loc.src->len);
}

static void check_matrix(const struct target *t)
{
	for (size_t i = 0; i < t->nmatrix; i++) {
		const struct matrix_row *m = &t->matrix[i];

		check_origin(&m->from);
		MUST(m->op[0] && m->m && m->n && m->k && m->blocks && m->a_regs && m->b_regs &&
		     m->c_regs);
		MUST(m->occupancy_clk && m->chain_clk >= m->occupancy_clk);
		MUST(m->valu_block_clk <= m->occupancy_clk);
		MUST(!m->when || (t->choice.option && !strcmp(m->when, t->choice.option)));
		/* Every pair of types finds one row. */
		for (int a = 0; a < DT_COUNT; a++)
			for (int b = 0; b < DT_COUNT; b++)
				MUST(target_matrix(t, m->op, (enum dtype)a, (enum dtype)b));
	}
}

static void check_lds(const struct target *t)
{
	for (size_t i = 0; i < t->nlds; i++) {
		const struct lds_row *r = &t->lds[i];
		uint64_t seen = 0;

		check_origin(&r->from);
		MUST(target_lds(t, r->op) == r);
		MUST(r->ngroups > 0 && r->ngroups <= ARRAY_LEN(r->group));
		MUST(r->banks && !(r->banks & (r->banks - 1)) && r->port_clk && r->width_bytes);
		for (unsigned g = 0; g < r->ngroups; g++) {
			MUST(r->group[g] && !(seen & r->group[g]));
			seen |= r->group[g];
		}
		MUST(seen == (t->v.wave_size == 64 ? UINT64_MAX : UINT32_MAX));
	}
	MUST(target_lds_widest(t, false) && target_lds_widest(t, true));
}

static void check_rows(const struct target *t)
{
	for (size_t i = 0; i < TV_COUNT; i++) {
		double x =
			*(const double *)(const void *)((const char *)&t->v + value_info[i].offset);

		check_origin(&t->v_from[i]);
		MUST(x >= value_info[i].lo && x <= value_info[i].hi);
	}
	for (unsigned i = 0; i < (unsigned)t->v.simds; i++)
		MUST(t->pair_of_simd[i] < (unsigned)t->v.simds);
	for (size_t i = 0; i < OPC_COUNT; i++)
		MUST(t->classes[i].counter < 0 || t->counters[t->classes[i].counter].present);
	for (size_t i = 0; i < t->nvmem; i++)
		MUST(target_vmem(t, t->vmem[i].op) == &t->vmem[i]);
	for (size_t i = 0; i < t->nspacing; i++)
		check_origin(&t->spacing[i].from);
	MUST(t->nclocks > 0);
	for (size_t i = 0; i < t->nclocks; i++)
		MUST(t->clocks[i].mhz > 0 && target_clock(t, t->clocks[i].name) == &t->clocks[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct src *s = src_from_text("fuzz.xml", (const char *)data, size);
	FILE *null = fopen("/dev/null", "w");
	struct diag d;
	struct target *t;

	MUST(null);
	diag_init(&d);
	t = target_parse(s, NULL, (struct loc){0}, &d);
	MUST((t == NULL) == (d.errors > 0));
	diag_print(&d, null, false);
	if (t) {
		check_rows(t);
		check_matrix(t);
		check_lds(t);
		target_print(t, null);
	}
	target_free(t);
	diag_free(&d);
	fclose(null);
	return 0;
}
