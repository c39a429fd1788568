#include "exec_alu.h"

const uint32_t *alu_f32(struct xwave *w, const struct xinsn *in, unsigned i, uint32_t buf[64])
{
	const uint32_t *p = x_lanes(w, in, i, 0, buf);
	uint32_t keep = in->o[i].abs ? 0x7fffffff : UINT32_MAX, flip = in->o[i].neg ? 0x80000000 : 0;

	if (!in->o[i].abs && !in->o[i].neg)
		return p;
	LANES(w)
		buf[l] = (p[l] & keep) ^ flip;
	return buf;
}

const uint32_t *alu_h16(struct xwave *w, const struct xinsn *in, unsigned i, uint32_t buf[64])
{
	const struct xopnd *o = &in->o[i];
	const uint32_t *p = x_lanes(w, in, i, 0, buf);
	bool is_float = o->type == XT_F16 || o->type == XT_BF16;
	uint32_t keep = is_float && o->abs ? 0x7fff : 0xffff, flip = is_float && o->neg ? 0x8000 : 0;
	unsigned shift = o->kind == OPERAND_REG && alu_high(o) ? 16 : 0;

	LANES(w)
		buf[l] = (p[l] >> shift & keep) ^ flip;
	return buf;
}

void alu_u64(struct xwave *w, const struct xinsn *in, unsigned i, uint64_t out[64])
{
	uint32_t blo[64], bhi[64];
	const uint32_t *lo = x_lanes(w, in, i, 0, blo), *hi = x_lanes(w, in, i, 1, bhi);

	LANES(w)
		out[l] = (uint64_t)hi[l] << 32 | lo[l];
}

void alu_f64(struct xwave *w, const struct xinsn *in, unsigned i, uint64_t out[64])
{
	uint64_t keep = in->o[i].abs ? (uint64_t)INT64_MAX : UINT64_MAX, flip = in->o[i].neg ? (uint64_t)1 << 63 : 0;

	alu_u64(w, in, i, out);
	LANES(w)
		out[l] = (out[l] & keep) ^ flip;
}

void alu_pk16(struct xwave *w, const struct xinsn *in, unsigned i, uint32_t lo[64], uint32_t hi[64])
{
	const struct xopnd *o = &in->o[i];
	uint32_t buf[64];
	const uint32_t *p = x_lanes(w, in, i, 0, buf);
	bool is_float = o->type == XT_PKF16 || o->type == XT_PKBF16;
	uint32_t flip_lo = is_float && o->neg_lo != o->neg ? 0x8000 : 0;
	uint32_t flip_hi = is_float && o->neg_hi != o->neg ? 0x8000 : 0;
	uint32_t keep = is_float && o->abs ? 0x7fff : 0xffff;
	unsigned shift_lo = o->op_sel ? 16 : 0, shift_hi = o->op_sel_hi ? 16 : 0;

	LANES(w) {
		lo[l] = (p[l] >> shift_lo & keep) ^ flip_lo;
		hi[l] = (p[l] >> shift_hi & keep) ^ flip_hi;
	}
}

/* A NaN clamps to 0: MODE.DX10_CLAMP is set for compute kernels, and gfx1250 has no other way. */
float alu_clamp_f32(float f)
{
	return f > 0 ? (f < 1 ? f : 1.0f) : 0.0f;
}

uint32_t alu_clamp_f16(uint32_t h)
{
	return h & 0x8000 || h > 0x7c00 ? 0 : h > 0x3c00 ? 0x3c00 : h;
}

uint32_t alu_clamp_bf16(uint32_t h)
{
	return h & 0x8000 || h > 0x7f80 ? 0 : h > 0x3f80 ? 0x3f80 : h;
}

static const float omod_factor[4] = { 1.0f, 2.0f, 4.0f, 0.5f };

void alu_put_f32(struct xwave *w, const struct xinsn *in, uint32_t r[64])
{
	if (in->omod)
		LANES(w)
			r[l] = xf_bits32(xf_f32(r[l]) * omod_factor[in->omod & 3]);
	if (in->clamp)
		LANES(w)
			r[l] = xf_bits32(alu_clamp_f32(xf_f32(r[l])));
	x_lanes_put(w, in, 0, 0, r);
}

void alu_put_u64(struct xwave *w, const struct xinsn *in, const uint64_t r[64])
{
	uint32_t lo[64], hi[64];

	LANES(w) {
		lo[l] = (uint32_t)r[l];
		hi[l] = (uint32_t)(r[l] >> 32);
	}
	x_lanes_put(w, in, 0, 0, lo);
	x_lanes_put(w, in, 0, 1, hi);
}

void alu_put_f64(struct xwave *w, const struct xinsn *in, uint64_t r[64])
{
	if (in->omod)
		LANES(w)
			r[l] = xf_bits64(xf_f64(r[l]) * (double)omod_factor[in->omod & 3]);
	if (in->clamp)
		LANES(w) {
			double d = xf_f64(r[l]);

			r[l] = xf_bits64(d > 0 ? (d < 1 ? d : 1.0) : 0.0);
		}
	alu_put_u64(w, in, r);
}

void alu_put_16(struct xwave *w, const struct xinsn *in, uint32_t r[64], bool keep)
{
	const uint32_t *old = alu_old(w, in, 0);

	if (alu_high(&in->o[0]))
		LANES(w)
			r[l] = r[l] << 16 | (old[l] & 0xffff);
	else if (in->dst_sel == XSEL_DWORD && (keep || !x_gfx9(w)))
		LANES(w)
			r[l] |= old[l] & 0xffff0000;
	x_lanes_put(w, in, 0, 0, r);
}

void alu_put_f16(struct xwave *w, const struct xinsn *in, uint32_t r[64], bool keep)
{
	if (in->omod)
		LANES(w)
			r[l] = xf_to_f16(xf_from_f16(r[l]) * omod_factor[in->omod & 3]);
	if (in->clamp)
		LANES(w)
			r[l] = alu_clamp_f16(r[l]);
	alu_put_16(w, in, r, keep);
}

int64_t alu_modifier(const struct xinsn *in, const char *name, int64_t none)
{
	const char *mods = in->base->mods, *word;
	size_t word_len;
	int64_t v;

	return mods && mods_value(mods, strlen(mods), name, &v, &word, &word_len) ? v : none;
}

unsigned alu_op_sel(const struct xinsn *in)
{
	const char *at = in->base->mods ? strstr(in->base->mods, "op_sel:[") : NULL;
	unsigned bits = 0, i = 0;

	if (!at)
		return 0;
	for (at += strlen("op_sel:["); *at && *at != ']' && i < 4; at++)
		if (*at == '0' || *at == '1')
			bits |= (unsigned)(*at - '0') << i++;
	return bits;
}
