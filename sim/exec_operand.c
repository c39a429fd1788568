/* Operands: scalars, lane masks, the lanes of vector registers, DPP and SDWA selection. */
#include "exec_core.h"

/* ---- scalar registers ---- */

void x_sput(struct xwave *w, unsigned reg, uint32_t value)
{
	w->s[reg - REG_SGPR] = value;
	if (reg == REG_EXEC || reg == REG_EXEC + 1) {
		w->exec = w->s[REG_EXEC - REG_SGPR] & w->all;
		if (w->lanes > 32)
			w->exec |= (uint64_t)w->s[REG_EXEC + 1 - REG_SGPR] << 32 & w->all;
	}
}

void x_set_exec(struct xwave *w, uint64_t mask)
{
	w->s[REG_EXEC - REG_SGPR] = (uint32_t)mask;
	if (w->lanes > 32)
		w->s[REG_EXEC + 1 - REG_SGPR] = (uint32_t)(mask >> 32);
	w->exec = mask & w->all;
}

static uint64_t pair(const struct xwave *w, unsigned reg)
{
	return w->s[reg - REG_SGPR] | (uint64_t)w->s[reg + 1 - REG_SGPR] << 32;
}

static uint64_t special(const struct xwave *w, const char *name)
{
	if (strstr(name, "vccz"))
		return x_vcc(w) == 0;
	if (strstr(name, "execz"))
		return w->exec == 0;
	if (!strcmp(name, "src_shared_base"))
		return X_SHARED_BASE;
	if (!strcmp(name, "src_private_base"))
		return X_PRIVATE_BASE;
	if (!strcmp(name, "src_shared_limit"))
		return X_SHARED_BASE + X_APERTURE_BYTES - 1;
	if (!strcmp(name, "src_private_limit"))
		return X_PRIVATE_BASE + X_APERTURE_BYTES - 1;
	if (!strcmp(name, "src_flat_scratch_base_lo")) /* a 64-bit source reads both halves */
		return X_PRIVATE_BASE;
	if (!strcmp(name, "src_flat_scratch_base_hi"))
		return X_PRIVATE_BASE >> 32;
	return 0;
}

static uint64_t scalar(const struct xwave *w, const struct xopnd *o, bool wide)
{
	switch (o->kind) {
	case OPERAND_REG:
		if (o->vector)
			return x_vreg(w, o->reg)[0];
		return wide && o->n > 1 ? pair(w, o->reg) : w->s[o->reg - REG_SGPR];
	case OPERAND_VALUE: return o->bits;
	case OPERAND_SYMBOL: return special(w, o->special);
	case OPERAND_OFF: case OPERAND_ABSENT: case OPERAND_CALL: break;
	}
	return 0;
}

uint32_t x_scalar32(const struct xwave *w, const struct xinsn *in, unsigned i)
{
	return (uint32_t)scalar(w, &in->o[i], false);
}

uint64_t x_scalar64(const struct xwave *w, const struct xinsn *in, unsigned i)
{
	return scalar(w, &in->o[i], true);
}

void x_scalar_put32(struct xwave *w, const struct xinsn *in, unsigned i, uint32_t v)
{
	if (in->o[i].kind == OPERAND_REG && !in->o[i].vector)
		x_sput(w, in->o[i].reg, v);
}

void x_scalar_put64(struct xwave *w, const struct xinsn *in, unsigned i, uint64_t v)
{
	const struct xopnd *o = &in->o[i];

	if (o->kind != OPERAND_REG || o->vector)
		return;
	x_sput(w, o->reg, (uint32_t)v);
	if (o->n > 1)
		x_sput(w, o->reg + 1u, (uint32_t)(v >> 32));
}

void x_set_scc(struct xwave *w, bool v)
{
	w->s[REG_SCC - REG_SGPR] = v;
}

bool x_scc(const struct xwave *w)
{
	return w->s[REG_SCC - REG_SGPR] != 0;
}

/* ---- lane masks ---- */

uint64_t x_vcc(const struct xwave *w)
{
	return (w->lanes > 32 ? pair(w, REG_VCC) : w->s[REG_VCC - REG_SGPR]) & w->all;
}

void x_vcc_put(struct xwave *w, uint64_t mask)
{
	w->s[REG_VCC - REG_SGPR] = (uint32_t)mask;
	if (w->lanes > 32)
		w->s[REG_VCC + 1 - REG_SGPR] = (uint32_t)(mask >> 32);
}

uint64_t x_mask_get(const struct xwave *w, const struct xinsn *in, unsigned i)
{
	if (i >= in->n) /* not written: VCC */
		return x_vcc(w);
	return scalar(w, &in->o[i], w->lanes > 32) & w->all;
}

void x_mask_put(struct xwave *w, const struct xinsn *in, unsigned i, uint64_t mask)
{
	mask &= w->exec;
	if (i >= in->n) {
		x_vcc_put(w, mask);
		return;
	}
	if (w->lanes > 32)
		x_scalar_put64(w, in, i, mask);
	else
		x_scalar_put32(w, in, i, (uint32_t)mask);
}

/* ---- sources lane by lane ---- */

static uint32_t select_part(uint32_t v, uint8_t sel, bool sext)
{
	unsigned shift, bits;

	switch (sel) {
	case XSEL_BYTE_0: case XSEL_BYTE_1: case XSEL_BYTE_2: case XSEL_BYTE_3:
		shift = 8u * (sel - XSEL_BYTE_0);
		bits = 8;
		break;
	case XSEL_WORD_0: case XSEL_WORD_1:
		shift = 16u * (sel - XSEL_WORD_0);
		bits = 16;
		break;
	default:
		return v;
	}
	v = v >> shift & ((1u << bits) - 1);
	return sext && v >> (bits - 1) ? v | ~0u << bits : v;
}

static uint32_t scalar_word(const struct xwave *w, const struct xopnd *o, unsigned word)
{
	if (o->kind == OPERAND_REG)
		return word < o->n ? w->s[o->reg + word - REG_SGPR] : 0;
	if (o->kind == OPERAND_VALUE)
		return word < 2 ? (uint32_t)(o->bits >> (32 * word)) : 0;
	return word < 2 ? (uint32_t)(scalar(w, o, true) >> (32 * word)) : 0;
}

static void gather(const struct xwave *w, const uint32_t *from, uint32_t buf[64])
{
	const int16_t *at = w->core->lane_from;

	for (unsigned l = 0; l < w->lanes; l++)
		buf[l] = at[l] >= 0 ? from[at[l]] : 0;
}

const uint32_t *x_lanes(struct xwave *w, const struct xinsn *in, unsigned i, unsigned word, uint32_t buf[64])
{
	const struct xopnd *o = &in->o[i];
	const uint32_t *from = buf;

	if (o->kind == OPERAND_REG && o->vector) {
		from = x_vreg(w, o->reg + word);
		if (in->dpp.on && i == in->src0) {
			gather(w, from, buf);
			from = buf;
		}
	} else {
		uint32_t v = scalar_word(w, o, word);

		for (unsigned l = 0; l < w->lanes; l++)
			buf[l] = v;
	}
	if (o->sel == XSEL_DWORD)
		return from;
	for (unsigned l = 0; l < w->lanes; l++)
		buf[l] = select_part(from[l], o->sel, o->sext);
	return buf;
}

/* ---- results lane by lane ---- */

static uint32_t merge_part(uint32_t old, uint32_t v, uint8_t sel, uint8_t unused)
{
	unsigned shift = sel >= XSEL_WORD_0 ? 16u * (sel - XSEL_WORD_0) : 8u * (sel - XSEL_BYTE_0);
	unsigned bits = sel >= XSEL_WORD_0 ? 16 : 8;
	uint32_t mask = ((1u << bits) - 1) << shift, part = v << shift & mask;

	if (unused == 2)
		return (old & ~mask) | part;
	if (unused == 1 && v >> (bits - 1) & 1 && shift + bits < 32)
		part |= ~0u << (shift + bits);
	return part;
}

void x_lanes_put(struct xwave *w, const struct xinsn *in, unsigned i, unsigned word, const uint32_t value[64])
{
	const struct xopnd *o = &in->o[i];
	uint64_t mask = w->write_mask;
	uint32_t *to;

	if (o->kind != OPERAND_REG || !o->vector)
		return;
	to = x_vreg(w, o->reg + word);
	if (in->dst_sel != XSEL_DWORD && i == 0) {
		for (unsigned l = 0; l < w->lanes; l++)
			if (mask >> l & 1)
				to[l] = merge_part(to[l], value[l], in->dst_sel, in->dst_unused);
		return;
	}
	if (mask == w->all) {
		memmove(to, value, w->lanes * sizeof(*to));
		return;
	}
	for (unsigned l = 0; l < w->lanes; l++)
		to[l] = mask >> l & 1 ? value[l] : to[l];
}

/* ---- DPP: which lane each lane reads ---- */

static int dpp_source(const struct xdpp *d, int l, int lanes)
{
	int row = l & ~15, r = l & 15, n = d->arg;

	switch ((enum xdpp_kind)d->kind) {
	case XDPP_QUAD: return (l & ~3) + d->quad[l & 3];
	case XDPP_ROW_SHL: return r + n < 16 ? l + n : -1;
	case XDPP_ROW_SHR: return r - n >= 0 ? l - n : -1;
	case XDPP_ROW_ROR: return row + ((r - n) & 15);
	case XDPP_WAVE_SHL: return l + 1 < lanes ? l + 1 : -1;
	case XDPP_WAVE_SHR: return l - 1;
	case XDPP_WAVE_ROL: return (l + 1) % lanes;
	case XDPP_WAVE_ROR: return (l + lanes - 1) % lanes;
	case XDPP_MIRROR: return row + 15 - r;
	case XDPP_HALF_MIRROR: return (l & ~7) + 7 - (l & 7);
	case XDPP_BCAST15: return row ? row - 1 : -1;
	case XDPP_BCAST31: return l >= 32 ? 31 : -1;
	case XDPP_NEWBCAST: case XDPP_SHARE: return row + n;
	case XDPP_XMASK: return row + (r ^ n);
	case XDPP_DPP8: return (l & ~7) + d->lane8[l & 7];
	}
	return l;
}

/* Lanes without a source read 0 or, when the bounds are not controlled, keep their result. */
void dpp_prepare(struct xwave *w, const struct xinsn *in)
{
	const struct xdpp *d = &in->dpp;
	int16_t *from = w->core->lane_from;
	bool zero = d->bound_ctrl || d->kind == XDPP_DPP8;

	for (unsigned l = 0; l < w->lanes; l++) {
		int s = dpp_source(d, (int)l, (int)w->lanes);

		if (s >= 0 && !d->fi && !(w->exec >> s & 1))
			s = -1;
		from[l] = (int16_t)s;
		if ((s < 0 && !zero) || !(d->row_mask >> (l / 16) & 1) || !(d->bank_mask >> (l % 16 / 4) & 1))
			w->write_mask &= ~(UINT64_C(1) << l);
	}
}
