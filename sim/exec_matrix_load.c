/* Operands A and B: from the registers of a wave to matrices. The layouts are in docs/matrix.md. */
#include "exec_matrix.h"

#include <math.h>

static bool sparse(const struct mx_row *row)
{
	return row->kind == MX_SMFMAC || row->kind == MX_SWMMAC;
}

static bool wave32(const struct mx_row *row)
{
	return row->kind == MX_WMMA || row->kind == MX_SWMMAC;
}

struct placing { /* how an operand is spread over lanes and registers; sparse A: as if its zeros were there */
	unsigned rows;   /* of A, columns of B */
	unsigned strip;  /* neighbouring lanes that hold neighbouring rows */
	unsigned groups; /* of strips (all blocks): each holds other values of K */
	unsigned items;  /* of one lane */
	unsigned run;    /* neighbouring items that are neighbours in K */
};

static struct placing place(const struct mx_row *row, unsigned op, enum numfmt f, unsigned lanes)
{
	struct placing p = { .rows = op ? row->n : row->m };
	unsigned bits = numfmt_bits(f), strips;

	p.strip = wave32(row) ? 16 : p.rows;
	strips = p.rows / p.strip; /* of a taller matrix, one after the other in the registers */
	p.groups = lanes / (p.strip * row->blocks);
	p.items = row->k / p.groups * strips;
	switch (row->kind) {
	case MX_MFMA:
		p.run = row->a == MXF_ANY && bits == 8 ? 16 : p.items;
		break;
	case MX_SMFMAC:
		p.run = op == 0 ? p.items : 128 / bits;
		break;
	case MX_WMMA:
		if (bits == 32)
			p.run = 2;
		else if (bits < 8)
			p.run = 32;
		else
			p.run = row->a == MXF_ANY ? 16 : 8;
		break;
	case MX_SWMMAC:
		p.run = 16;
		break;
	}
	return p;
}

unsigned mx_input_regs(const struct mx_row *row, unsigned op, enum numfmt f, unsigned lanes)
{
	unsigned items = place(row, op, f, lanes).items;

	return (sparse(row) && op == 0 ? items / 2 : items) * numfmt_bits(f) / 32;
}

/* Items [0, n) of all lanes to v[item * lanes + lane]. */
static void unpack(const struct mx_job *j, unsigned op, unsigned n, double *v)
{
	enum numfmt f = j->fmt[op];
	unsigned bits = numfmt_bits(f), lanes = j->lanes;
	const uint32_t *reg = j->in[op];

	for (unsigned t = 0; t < n; t++, v += lanes) {
		const uint32_t *lo = reg + (size_t)(t * bits / 32) * lanes;
		unsigned shift = t * bits % 32;
		uint32_t code[64];

		if (bits == 64) {
			for (unsigned l = 0; l < lanes; l++)
				v[l] = numfmt_get(f, (uint64_t)lo[lanes + l] << 32 | lo[l]);
		} else if (shift + bits > 32) {
			for (unsigned l = 0; l < lanes; l++)
				code[l] = (uint32_t)(((uint64_t)lo[lanes + l] << 32 | lo[l]) >> shift);
			numfmt_decode(f, code, lanes, v);
		} else if (shift) {
			for (unsigned l = 0; l < lanes; l += 16)
				for (unsigned n16 = 0; n16 < 16; n16++)
					code[l + n16] = lo[l + n16] >> shift;
			numfmt_decode(f, code, lanes, v);
		} else {
			numfmt_decode(f, lo, lanes, v);
		}
		if (j->neg[op][t & 1])
			for (unsigned l = 0; l < lanes; l++)
				v[l] = -v[l];
	}
}

/*
 * The two bits of index that belong to item t of lane l, of n packed items. gfx9 has them in the same lane and
 * order. gfx1250 has those of the first half of A's registers in lanes 0 to 15 and of the second half in lanes 16
 * to 31, and in each of these the items of both lanes of the row one after the other.
 */
static unsigned index_of(const struct mx_job *j, unsigned t, unsigned l, unsigned n)
{
	unsigned bit = j->index_bit + 2 * t;

	if (wave32(j->row)) {
		bit = 2 * (l / 16 * (n / 2) + t % (n / 2));
		l = l % 16 + 16 * (t / (n / 2));
	}
	return j->index[(size_t)(bit / 32) * j->lanes + l] >> bit % 32 & 3;
}

/*
 * Spread the n packed items of each lane over 2 n places: the indices say which two of four places each pair
 * takes. A pair that is out of order loses what the manual's definition loses.
 */
static void spread(const struct mx_job *j, unsigned n, const double *packed, double *v)
{
	unsigned lanes = j->lanes;

	memset(v, 0, sizeof(*v) * 2 * n * lanes);
	for (unsigned t = 0; t < n; t += 2) {
		const double *p = packed + (size_t)t * lanes;
		double *to = v + (size_t)2 * t * lanes;

		for (unsigned l = 0; l < lanes; l++) {
			unsigned first = index_of(j, t, l, n), second = index_of(j, t + 1, l, n);

			if (second > 0)
				to[second * lanes + l] = p[lanes + l];
			if (first < 3)
				to[first * lanes + l] = p[l];
		}
	}
}

/* Lane that supplies what belongs to lane l, a multiple of the smaller of 16 and the lanes of a block. */
static unsigned source_lane(const struct mx_job *j, unsigned op, unsigned l)
{
	const struct mx_row *row = j->row;

	if (op == 0 && j->cbsz) {
		unsigned block = l / row->m % row->blocks, from = (block & ~((1u << j->cbsz) - 1)) + j->abid;

		return l - block * row->m + from % row->blocks * row->m;
	}
	if (op == 1) {
		switch (j->blgp) {
		case 1:
		case 2:
			return l % 32 + 32 * (j->blgp - 1);
		case 3:
			return (l + 16) % 64;
		case 4:
		case 5:
		case 6:
		case 7:
			return l % 16 + 16 * (j->blgp - 4);
		default:
			break;
		}
	}
	return l;
}

static double scale_value(unsigned format, unsigned byte)
{
	if (format == 1) { /* no sign, 5 bits of exponent, 3 of mantissa */
		unsigned e = byte >> 3, man = byte & 7;

		if (byte == 0xff)
			return NAN;
		return e ? ldexp(8 + man, (int)e - 18) : ldexp(man, -17);
	}
	return format == 2 ? numfmt_table(NF_FP8)[byte & 0x7f] : numfmt_table(NF_E8M0)[byte];
}

/* Byte that scales values of K from block q * row->scale on, of row i. */
static unsigned scale_byte(const struct mx_job *j, unsigned op, unsigned i, unsigned q, unsigned rows)
{
	const struct mx_scale *s = &j->scale[op];
	unsigned lane;

	if (!s->reg)
		return (unsigned)(s->bits & 0xff);
	if (j->row->kind == MX_MFMA)
		return s->reg[i + rows * q] >> 8 * s->select & 0xff;
	lane = rows == 32 ? i : i + 16 * s->select;
	return s->reg[q / 4 * j->lanes + lane] >> 8 * (q % 4) & 0xff;
}

static void apply_scales(const struct mx_job *j, unsigned op, unsigned rows, double *x)
{
	unsigned per = j->row->scale;

	for (unsigned q = 0; q < j->row->k / per; q++) {
		double s[32];

		for (unsigned i = 0; i < rows; i++)
			s[i] = scale_value(j->scale[op].format, scale_byte(j, op, i, q, rows));
		for (unsigned k = q * per; k < (q + 1) * per; k++)
			for (unsigned i = 0; i < rows; i += 16)
				for (unsigned n = 0; n < 16; n++)
					x[k * rows + i + n] *= s[i + n];
	}
}

void mx_load(const struct mx_job *j, unsigned op, double *x)
{
	const struct mx_row *row = j->row;
	struct placing p = place(row, op, j->fmt[op], j->lanes);
	double v[MX_MAX_INPUT], packed[MX_MAX_INPUT / 2];
	unsigned width = p.strip < 16 ? p.strip : 16, part = p.items / (p.rows / p.strip);

	if (sparse(row) && op == 0) {
		unpack(j, op, p.items / 2, packed);
		spread(j, p.items / 2, packed, v);
	} else {
		unpack(j, op, p.items, v);
	}
	for (unsigned l = 0; l < j->lanes; l += width) {
		unsigned from = source_lane(j, op, l), block = l / p.strip % row->blocks, group = l / (p.strip * row->blocks);

		for (unsigned t = 0; t < p.items; t++) {
			unsigned u = t % part, k = u / p.run * p.run * p.groups + group * p.run + u % p.run;
			double *to = x + ((size_t)block * row->k + k) * p.rows + t / part * p.strip + l % p.strip;

			mx_copy(to, v + (size_t)t * j->lanes + from, width);
		}
	}
	if (row->scale)
		apply_scales(j, op, p.rows, x);
}
