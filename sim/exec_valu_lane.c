/* Vector operations that move data between lanes, registers and the scalar file. */
#include "exec_alu_loops.h"

int xv_nop(struct xwave *w, const struct xinsn *in)
{
	(void)w;
	(void)in;
	return 0;
}

int xv_mov_b64(struct xwave *w, const struct xinsn *in)
{
	uint64_t r[64];

	alu_u64(w, in, 1, r);
	alu_put_u64(w, in, r);
	return 0;
}

int xv_swap_b32(struct xwave *w, const struct xinsn *in)
{
	uint32_t b0[64], b1[64], a[64], b[64];
	const uint32_t *p0 = x_lanes(w, in, 0, 0, b0), *p1 = x_lanes(w, in, 1, 0, b1);

	LANES(w) {
		a[l] = p0[l];
		b[l] = p1[l];
	}
	x_lanes_put(w, in, 0, 0, b);
	x_lanes_put(w, in, 1, 0, a);
	return 0;
}

int xv_readfirstlane(struct xwave *w, const struct xinsn *in)
{
	uint32_t buf[64];
	const uint32_t *p = x_lanes(w, in, 1, 0, buf);

	x_scalar_put32(w, in, 0, p[w->exec ? __builtin_ctzll(w->exec) : 0]);
	return 0;
}

int xv_readlane(struct xwave *w, const struct xinsn *in)
{
	uint32_t buf[64];
	const uint32_t *p = x_lanes(w, in, 1, 0, buf);

	x_scalar_put32(w, in, 0, p[x_scalar32(w, in, 2) & (w->lanes - 1)]);
	return 0;
}

int xv_writelane(struct xwave *w, const struct xinsn *in) /* EXEC does not matter */
{
	uint32_t value = x_scalar32(w, in, 1), lane = x_scalar32(w, in, 2) & (w->lanes - 1);

	x_vreg(w, in->o[0].reg)[lane] = value;
	return 0;
}

/*
 * Every odd block of arg lanes of the first register changes places with the even block before it of the second.
 */
int xv_permlane_swap(struct xwave *w, const struct xinsn *in)
{
	unsigned block = (unsigned)in->arg;
	uint32_t b0[64], b1[64], a[64], b[64];
	const uint32_t *p0 = x_lanes(w, in, 0, 0, b0), *p1 = x_lanes(w, in, 1, 0, b1);

	LANES(w) {
		a[l] = l & block ? p1[l - block] : p0[l];
		b[l] = l & block ? p1[l] : p0[l + block];
	}
	x_lanes_put(w, in, 0, 0, a);
	x_lanes_put(w, in, 1, 0, b);
	return 0;
}

/*
 * arg: 16 the other row of 16 lanes, + 1: a selector for each lane in a vector register. op_sel of the first source
 * stands for FI, reading inactive lanes, that of the second one for BOUND_CTRL, 0 from those that are not read.
 */
int xv_permlane16(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], bs[64], r[64];
	const uint32_t *pa = x_lanes(w, in, 1, 0, ba), *ps = in->arg & 1 ? x_lanes(w, in, 2, 0, bs) : NULL;
	uint64_t select = ps ? 0 : (uint64_t)x_scalar32(w, in, 3) << 32 | x_scalar32(w, in, 2);
	uint64_t readable = in->o[1].op_sel ? w->all : w->exec;
	const uint32_t *old = alu_old(w, in, 0);

	LANES(w) {
		unsigned from = ps ? ps[l] & 15 : (unsigned)(select >> (l & 15) * 4 & 15);

		from += (l & ~15u) ^ (in->arg & 16);
		r[l] = readable >> from & 1 ? pa[from] : in->o[2].op_sel ? 0 : old[l];
	}
	x_lanes_put(w, in, 0, 0, r);
	return 0;
}

/* Groups of width lanes. arg: 0 broadcast of one lane, 1 up, 2 down, 3 exclusive or. */
int xv_permlane_group(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], r[64], k = x_scalar32(w, in, 2), width = x_scalar32(w, in, 3);
	const uint32_t *pa = x_lanes(w, in, 1, 0, ba);

	if (!width || width > w->lanes || (width & (width - 1)))
		width = w->lanes; /* other widths are undefined */
	LANES(w) {
		uint32_t base = l & ~(width - 1), j = l & (width - 1), from = l;

		switch (in->arg) {
		case 0:
			from = base + (k & 63 & (width - 1));
			break;
		case 1:
			from = k <= j ? l - k : l;
			break;
		case 2:
			from = k < width - j ? l + k : l;
			break;
		default:
			from = k < w->lanes && (l ^ k) < base + width ? l ^ k : l;
		}
		r[l] = pa[from];
	}
	x_lanes_put(w, in, 0, 0, r);
	return 0;
}

int xv_permlane_idx_gen(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], r[64], mask = x_scalar32(w, in, 2) - 1;
	const uint32_t *pa = x_lanes(w, in, 1, 0, ba);

	LANES(w)
		r[l] = ((pa[l] & 63 & mask) + (l & ~mask)) << 2;
	x_lanes_put(w, in, 0, 0, r);
	return 0;
}
