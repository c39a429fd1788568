/* Registers chosen at run time: v_movrel* and the index mode of gfx9. The instruction is executed with shifted registers. */
#include "exec_core.h"

#include <stdlib.h>

enum { ON_SRC0 = 1, ON_SRC1 = 2, ON_SRC2 = 4, ON_DST = 8 };

static bool shift_operand(struct xinsn *to, unsigned i, int by, unsigned limit)
{
	struct xopnd *o = &to->o[i];
	int reg = o->reg + by, old = o->reg;

	if (o->kind != OPERAND_REG || !o->vector)
		return true;
	if (reg < 0 || (unsigned)reg + o->n > (o->reg < REG_AGPR ? limit : REG_SGPR))
		return false;
	o->reg = (uint16_t)reg;
	for (unsigned k = 0; i && k < to->nread; k++)
		if (to->read[k].first == old)
			to->read[k].first = (uint16_t)reg;
	for (unsigned k = 0; !i && k < to->nwrite; k++)
		if (to->write[k].first == old)
			to->write[k].first = (uint16_t)reg;
	return true;
}

/* Which operands of in are shifted now; 0: none. */
unsigned index_mask(const struct xwave *w, const struct xinsn *in)
{
	if (in->flags & XF_INDEXED)
		return (unsigned)in->arg;
	return w->core->index_on && (in->flags & XF_VECTOR) ? x_sget(w, REG_M0) >> 12 & 15 : 0;
}

bool index_apply(struct xwave *w, const struct xinsn *in, unsigned mask, struct xinsn *to)
{
	const struct xprog *x = w->wg->run->prog;
	unsigned limit = x->vgprs;
	int by = in->flags & XF_INDEXED ? (int)x_sget(w, REG_M0) : (int)(x_sget(w, REG_M0) & 255);

	*to = *in;
	for (unsigned i = 0; i < in->n; i++) {
		unsigned bit = i == 0 ? ON_DST : i >= in->src0 && i - in->src0 < 3 ? 1u << (i - in->src0) : 0;

		if ((mask & bit) && !shift_operand(to, i, by, limit)) {
			x_fault(w, in, DIAG_BOUNDS, -1, "the index %d in M0 leads out of the kernel's registers", by);
			return false;
		}
	}
	return true;
}

static int op_move(struct xwave *w, const struct xinsn *in)
{
	uint32_t buf[64];

	x_lanes_put(w, in, 0, 0, x_lanes(w, in, 1, 0, buf));
	return 0;
}

static int op_index_on(struct xwave *w, const struct xinsn *in)
{
	uint32_t m0 = x_sget(w, REG_M0) & ~0xf0ffu;

	x_sput(w, REG_M0, m0 | (x_scalar32(w, in, 0) & 255) | ((uint32_t)in->o[1].bits & 15) << 12);
	w->core->index_on = true;
	return 0;
}

static int op_index_off(struct xwave *w, const struct xinsn *in)
{
	(void)in;
	w->core->index_on = false;
	return 0;
}

static int op_index_idx(struct xwave *w, const struct xinsn *in)
{
	x_sput(w, REG_M0, (x_sget(w, REG_M0) & ~255u) | (x_scalar32(w, in, 0) & 255));
	return 0;
}

static int op_index_mode(struct xwave *w, const struct xinsn *in)
{
	x_sput(w, REG_M0, (x_sget(w, REG_M0) & ~0xf000u) | ((uint32_t)in->o[0].bits & 15) << 12);
	return 0;
}

/* "gpr_idx(SRC0,DST)" */
bool index_words(const char *s, size_t n, uint64_t *bits)
{
	static const char *const words[] = { "SRC0", "SRC1", "SRC2", "DST" };

	if (n < 9 || memcmp(s, "gpr_idx(", 8) != 0)
		return false;
	*bits = 0;
	for (size_t i = 8; i + 3 <= n; i++)
		for (size_t k = 0; k < ARRAY_LEN(words); k++)
			if (n - i >= strlen(words[k]) && !memcmp(s + i, words[k], strlen(words[k])))
				*bits |= 1u << k;
	return true;
}

const struct xop xops_index[] = {
	{ "v_movrels_b32", "b32 b32", op_move, ON_SRC0 },
	{ "v_movreld_b32", "b32 b32", op_move, ON_DST },
	{ "v_movrelsd_b32", "b32 b32", op_move, ON_SRC0 | ON_DST },
	{ "s_set_gpr_idx_on", "u32 none", op_index_on, 0 },
	{ "s_set_gpr_idx_off", "", op_index_off, 0 },
	{ "s_set_gpr_idx_idx", "u32", op_index_idx, 0 },
	{ "s_set_gpr_idx_mode", "none", op_index_mode, 0 },
};
const size_t nxops_index = ARRAY_LEN(xops_index);
