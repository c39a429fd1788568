/* A target as a readable sheet, at most 120 columns wide. */
#include <string.h>

#include "target.h"
#include "target_impl.h"

#define COLUMNS 120

static const char quality_letters[Q_COUNT] = {'M', 'D', 'C', 'X', 'E'};

struct sheet {
	FILE *out;
	unsigned rows[Q_COUNT];
};

static void rule(struct sheet *s, const char *title)
{
	fprintf(s->out, "\n%s\n", title);
}

static char quality(struct sheet *s, const struct origin *o)
{
	s->rows[o->quality]++;
	return quality_letters[o->quality];
}

/* "source: note" behind column `used`, cut to the width of the sheet. */
static void print_origin(struct sheet *s, const struct origin *o, int used)
{
	char text[256];
	int room = COLUMNS - used;
	bool note = o->note[0] != '\0';

	snprintf(text, sizeof(text), "%.100s%s%.140s", o->source, note ? ": " : "",
		 note ? o->note : "");
	if ((int)strlen(text) > room) {
		size_t cut = room > 3 ? (size_t)room - 3 : 0;

		while (cut > 0 && ((unsigned char)text[cut] & 0xc0) == 0x80)
			cut--;
		memcpy(text + cut, "...", 4);
	}
	fprintf(s->out, "%s\n", text);
}

/* Keys up to the dot make a group; those without one describe the GPU. */
static size_t group_len(const char *key)
{
	const char *dot = strchr(key, '.');

	return dot ? (size_t)(dot - key) : 0;
}

static bool same_group(const char *a, const char *b)
{
	size_t len = group_len(a);

	return len == group_len(b) && !strncmp(a, b, len);
}

static void print_values(struct sheet *s, const struct target *t)
{
	bool paragraph = false; /* the row before belongs to a group of several */

	rule(s, "Values");
	for (size_t i = 0; i < TV_COUNT; i++) {
		const struct value_info *v = &value_info[i];
		double x = *(const double *)(const void *)((const char *)&t->v + v->offset);
		bool more = i + 1 < TV_COUNT && same_group(v->key, value_info[i + 1].key);

		if (v->optional && !strcmp(t->v_from[i].source, "default"))
			continue;
		if (i > 0 && !same_group(value_info[i - 1].key, v->key) && (paragraph || more))
			fputc('\n', s->out);
		paragraph = more || (i > 0 && same_group(value_info[i - 1].key, v->key));
		fprintf(s->out, "  %-22s%10.10g %-10s %c  ", v->key, x, v->unit,
			quality(s, &t->v_from[i]));
		print_origin(s, &t->v_from[i], 49);
	}
	fprintf(s->out, "  %-22s", "pair of each SIMD");
	for (unsigned i = 0; i < (unsigned)t->v.simds && i < ARRAY_LEN(t->pair_of_simd); i++)
		fprintf(s->out, " %u", t->pair_of_simd[i]);
	fputc('\n', s->out);
}

static void print_counters(struct sheet *s, const struct target *t)
{
	rule(s, "Wait counters");
	for (size_t i = 0; i < CTR_COUNT; i++) {
		const struct counter_row *c = &t->counters[i];

		if (!c->present)
			continue;
		fprintf(s->out, "  %-8s max %3u  %-12s  %c  ", counter_words[i], c->max,
			c->in_order ? "in order" : "out of order", quality(s, &c->from));
		print_origin(s, &c->from, 37);
	}
}

static void print_classes(struct sheet *s, const struct target *t)
{
	rule(s, "Instruction classes (clk)      slot      busy  latency  hold  counter");
	for (size_t i = 0; i < OPC_COUNT; i++) {
		const struct class_row *c = &t->classes[i];

		if (!c->from.loc.src)
			continue;
		fprintf(s->out, "  %-29s%-9s%5u%9u%6u  %-7s  %c  ", opclass_words[i],
			slot_name(opclass_slot((enum opclass)i)), c->busy_clk, c->latency_clk, c->hold_clk,
			c->counter < 0 ? "-" : counter_words[c->counter], quality(s, &c->from));
		print_origin(s, &c->from, 74);
	}
}

static void print_matrix(struct sheet *s, const struct target *t)
{
	rule(s, "Matrix instructions (clk; registers of A/B/C)");
	fprintf(s->out, "  %-37s %-11s %-8s %-9s %3s %4s %4s %5s %5s %3s %5s  %-7s\n", "op",
		"operands", "types", "shape", "blk", "pass", "occ", "ready", "chain", "pre",
		"block", "A/B/C");
	for (size_t i = 0; i < t->nmatrix; i++) {
		const struct matrix_row *m = &t->matrix[i];
		char shape[40], regs[40];

		snprintf(shape, sizeof(shape), "%ux%ux%u", m->m, m->n, m->k);
		snprintf(regs, sizeof(regs), "%u/%u/%u", m->a_regs, m->b_regs, m->c_regs);
		fprintf(s->out, "  %-37s %-11s %-8s %-9s %3u %4u %4u %5u %5u %3u %5u  %-8s %c\n",
			m->op, m->operands == MO_ANY ? "" : matrix_operands_words[m->operands],
			m->types, shape, m->blocks, m->passes, m->occupancy_clk, m->ready_clk,
			m->chain_clk, m->prefix_clk, m->valu_block_clk, regs, quality(s, &m->from));
	}
}

static void print_lds(struct sheet *s, const struct target *t)
{
	rule(s, "LDS instructions              dir    bytes/lane  port clk  banks  lane groups");
	for (size_t i = 0; i < t->nlds; i++) {
		const struct lds_row *l = &t->lds[i];

		fprintf(s->out, "  %-28s%-5s%12u%10u%7u%13u  %c  ", l->op,
			l->write ? "write" : "read", l->width_bytes, l->port_clk, l->banks,
			l->ngroups, quality(s, &l->from));
		print_origin(s, &l->from, 82);
	}
}

static void print_vmem(struct sheet *s, const struct target *t)
{
	rule(s, "Vector memory instructions            kind   bytes/lane  addr clk  data clk");
	for (size_t i = 0; i < t->nvmem; i++) {
		const struct vmem_row *v = &t->vmem[i];

		fprintf(s->out, "  %-36s%-5s%12u%10u%10u  %c  ", v->op, vmem_kind_words[v->kind],
			v->width_bytes, v->addr_clk, v->data_clk, quality(s, &v->from));
		print_origin(s, &v->from, 80);
	}
}

static void print_spacing(struct sheet *s, const struct target *t)
{
	rule(s, "Spacing: wait states between two instructions of a wave");
	fprintf(s->out, "  %-18s %-12s %-10s %6s %6s  %s\n", "first", "second", "relation",
		"passes", "states", "kept by");
	for (size_t i = 0; i < t->nspacing; i++) {
		const struct spacing_row *r = &t->spacing[i];
		char passes[16] = "any";

		if (r->passes)
			snprintf(passes, sizeof(passes), "%u", r->passes);
		fprintf(s->out, "  %-18s %-12s %-10s %6s %6u  %-9s  %c  ", r->first, r->second,
			relation_words[r->relation], passes, r->states,
			r->software ? "software" : "interlock", quality(s, &r->from));
		print_origin(s, &r->from, 74);
	}
}

static void print_clocks(struct sheet *s, const struct target *t)
{
	rule(s, "Clocks (the first is the default)");
	for (size_t i = 0; i < t->nclocks; i++) {
		const struct clock_row *c = &t->clocks[i];

		fprintf(s->out, "  %-22s%10.10g %-10s %c  ", c->name, c->mhz, "MHz",
			quality(s, &c->from));
		print_origin(s, &c->from, 49);
	}
}

static void print_choice(struct sheet *s, const struct target *t)
{
	const struct choice_row *c = &t->choice;

	if (!c->name)
		return;
	fprintf(s->out, "\nVariants: %s =", c->name);
	for (size_t i = 0; i < c->noptions; i++)
		fprintf(s->out, " %s%s", c->options[i],
			!strcmp(c->options[i], c->option) ? " (in force)" : "");
	fprintf(s->out, "%s%s\n", c->note[0] ? ": " : "", c->note);
}

void target_print(const struct target *t, FILE *out)
{
	struct sheet s = {.out = out};
	unsigned all = 0;

	fprintf(out, "%s: %s\n%s\n", t->name, t->product, t->path);
	fputs("Quality: M measured, D documented, C compiler, X derived, E estimate\n", out);
	print_choice(&s, t);
	print_clocks(&s, t);
	print_values(&s, t);
	print_counters(&s, t);
	print_classes(&s, t);
	print_matrix(&s, t);
	print_lds(&s, t);
	print_vmem(&s, t);
	print_spacing(&s, t);
	for (size_t i = 0; i < Q_COUNT; i++)
		all += s.rows[i];
	fprintf(out, "\nRows: %u;", all);
	for (size_t i = 0; i < Q_COUNT; i++)
		fprintf(out, "%s %u %s", i ? "," : "", s.rows[i], quality_words[i]);
	fputc('\n', out);
}
