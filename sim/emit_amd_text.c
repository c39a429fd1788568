/* Text of instructions, registers and findings of the emitter for AMD targets. */
#include "emit_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void put_insn(struct emit *e, const char *fmt, ...)
{
	va_list ap;

	strbuf_add(e->out, "\t");
	va_start(ap, fmt);
	strbuf_addv(e->out, fmt, ap);
	va_end(ap);
	strbuf_add(e->out, "\n");
}

const char *reg_name(char buf[24], unsigned reg, unsigned n)
{
	char file = reg >= REG_SGPR ? 's' : reg >= REG_AGPR ? 'a' : 'v';
	unsigned first = reg >= REG_SGPR ? reg - REG_SGPR : reg >= REG_AGPR ? reg - REG_AGPR : reg % 256;

	if (n == 1)
		snprintf(buf, 24, "%c%u", file, first);
	else
		snprintf(buf, 24, "%c[%u:%u]", file, first, first + n - 1);
	return buf;
}

/* gfx1250: the upper two bits of each operand's register number are a mode of the wave. */
static void set_msb(struct emit *e, const struct opnd *o, size_t n)
{
	unsigned want = e->msb;

	if (e->gfx9)
		return;
	for (size_t i = 0; i < n && i < 4; i++) {
		unsigned field = i == 0 ? 3 : (unsigned)i - 1;

		if (o[i].n && o[i].reg < REG_AGPR)
			want = (want & ~(3u << 2 * field)) | (o[i].reg / 256u) << 2 * field;
	}
	if (want != e->msb && e->exact)
		emit_fail(e, DIAG_TARGET, e->where, "an instruction needs other upper register bits (%#x) than are in force (%#x)",
			  want, e->msb);
	else if (want != e->msb)
		put_insn(e, "s_set_vgpr_msb 0x%x", want);
	e->msb = want;
}

void put_op(struct emit *e, const char *op, const struct opnd *o, size_t n, const char *tail)
{
	bool first = true;

	set_msb(e, o, n);
	strbuf_add(e->out, "\t%s", op);
	for (size_t i = 0; i < n; i++) {
		char buf[24];

		if (!o[i].n && !o[i].text)
			continue;
		strbuf_add(e->out, "%s%s", first ? " " : ", ", o[i].n ? reg_name(buf, o[i].reg, o[i].n) : o[i].text);
		first = false;
	}
	strbuf_add(e->out, "%s%s\n", tail && *tail ? " " : "", tail ? tail : "");
}

void emit_fail(struct emit *e, enum diag_code code, struct loc loc, const char *fmt, ...)
{
	struct strbuf b = { 0 };
	va_list ap;

	if (!e->failed) {
		va_start(ap, fmt);
		strbuf_addv(&b, fmt, ap);
		va_end(ap);
		diag_add(e->d, loc, code, "%s", b.s);
		strbuf_free(&b);
	}
	e->failed = true;
}

unsigned emit_label(struct emit *e)
{
	return e->nlabels++;
}

unsigned sgpr_take(struct emit *e, unsigned n, unsigned align)
{
	for (unsigned at = 0; at + n <= e->sgpr_end; at += align) {
		unsigned k = 0;

		while (k < n && !e->sgpr_used[at + k])
			k++;
		if (k < n)
			continue;
		memset(&e->sgpr_used[at], 1, n);
		if (at + n > e->most_sgpr)
			e->most_sgpr = at + n;
		return at;
	}
	emit_fail(e, DIAG_REG_CAP, e->where,
		  "the addresses of the copies need more than the %u scalar registers of %s", e->sgpr_end, e->p->target->name);
	return 0;
}

unsigned scalar_get(struct emit *e, enum scalar_kind kind, int which, uint32_t value, unsigned n)
{
	struct scalar *s;

	for (size_t i = 0; i < e->nscalars; i++) {
		s = &e->scalar[i];
		if (kind != SC_OWN && s->kind == kind && s->which == which && s->value == value && s->n == n)
			return s->reg;
	}
	if (e->nscalars == EMIT_MAX_SCALARS) {
		emit_fail(e, DIAG_REG_CAP, e->where, "the kernel needs more than %d scalar values", EMIT_MAX_SCALARS);
		return 0;
	}
	s = &e->scalar[e->nscalars++];
	*s = (struct scalar){ kind, which, value, sgpr_take(e, n, n >= 4 ? 4 : n), n };
	return s->reg;
}
