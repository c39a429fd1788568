/* Tensor copies of gfx1250: tiles between global memory and LDS as a descriptor in scalar registers says. */
#include "exec_mem.h"

#define MAX_DIMS 5
#define CHUNK 64

struct tile {
	uint64_t global;
	uint32_t lds;
	unsigned element; /* bytes */
	unsigned dims;
	uint64_t size[MAX_DIMS], limit[MAX_DIMS], stride[MAX_DIMS]; /* in elements; stride[0] is 1; limit: of the tensor from the tile on */
	bool pad;
	unsigned pad_every, pad_by; /* bytes */
	bool gather;
	uint32_t row[16];
	unsigned iterations;
	uint64_t global_step, lds_step; /* bytes */
	uint32_t mask;
	bool arrive;
	uint32_t arrive_at;
	bool nothing;
};

static void read_group(const struct xwave *w, const struct xinsn *in, unsigned i, unsigned n, uint32_t *d)
{
	memset(d, 0, n * sizeof(*d));
	if (has_s(in, i, n))
		for (unsigned k = 0; k < n; k++)
			d[k] = x_sget(w, in->o[i].reg + k);
}

/* Bits of a descriptor group, from bit at on; 48 at most. */
static uint64_t field(const uint32_t *d, unsigned at, unsigned n)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v |= (uint64_t)(d[(at + i) / 32] >> (at + i) % 32 & 1) << i;
	return v;
}

static void read_rows(struct tile *t, const uint32_t *g2, const uint32_t *g3, bool wide)
{
	for (unsigned i = 0; i < 16; i++) {
		const uint32_t *g = i < (wide ? 4u : 8u) ? g2 : g3;

		t->row[i] = wide ? (i < 8 ? g[i % 4] : 0) : (uint32_t)field(g, i % 8 * 16, 16);
	}
}

static struct tile read_descriptor(const struct xwave *w, const struct xinsn *in)
{
	uint32_t g0[4], g1[8], g2[4], g3[4];
	struct tile t = { .dims = MAX_DIMS, .iterations = 1 };

	read_group(w, in, 0, 4, g0);
	read_group(w, in, 1, 8, g1);
	read_group(w, in, 2, 4, g2);
	read_group(w, in, 3, 4, g3);
	t.nothing = !(g0[0] & 3);
	t.gather = g0[0] >> 31;
	t.lds = g0[1];
	t.global = g0[2] | (uint64_t)(g0[3] & 0x1ffffff) << 32;
	t.mask = g1[0] & 0xffff;
	t.element = 1u << (g1[0] >> 16 & 3);
	t.arrive = g1[0] >> 18 & 1;
	t.arrive_at = (g1[1] & 0xffff) << 3;
	t.pad = g1[0] >> 20 & 1;
	t.pad_every = 8u << (g1[0] >> 22 & 7);
	t.pad_by = 4 * ((g1[0] >> 25) + 1);
	t.limit[0] = field(g1, 48, 32);
	t.limit[1] = field(g1, 80, 32);
	t.size[0] = field(g1, 112, 16);
	t.size[1] = field(g1, 128, 16);
	t.size[2] = field(g1, 144, 16);
	t.stride[0] = 1;
	t.stride[1] = field(g1, 160, 48);
	t.stride[2] = field(g1, 208, 48);
	if (t.gather) {
		read_rows(&t, g2, g3, g0[0] >> 30 & 1);
		t.dims = 2;
		return t;
	}
	t.limit[2] = g2[0];
	if (g1[0] >> 19 & 1) {
		t.dims = 3;
		t.lds_step = (uint64_t)g2[1] * t.element;
		t.global_step = field(g2, 64, 48) * t.element;
		t.iterations = (unsigned)field(g2, 112, 16) + 1;
		return t;
	}
	t.limit[3] = g2[1];
	t.stride[3] = field(g2, 64, 48);
	t.size[3] = field(g2, 112, 16);
	t.stride[4] = field(g3, 0, 48);
	t.limit[4] = field(g3, 48, 32);
	t.size[4] = field(g3, 80, 16);
	return t;
}

/* One row of a tile: n elements, of which inside lie in the tensor. *filled: bytes since the last padding. */
struct row {
	uint64_t global;
	uint64_t *lds;
	uint64_t bytes, inside;
	uint64_t *filled;
};

static int load_row(struct xwave *w, const struct xinsn *in, const struct tile *t, const struct row *r)
{
	for (uint64_t at = 0; at < r->bytes;) {
		unsigned n = r->bytes - at < CHUNK ? (unsigned)(r->bytes - at) : CHUNK;
		uint8_t b[CHUNK] = { 0 };
		uint64_t undef = 0;

		if (t->pad && n > t->pad_every - *r->filled)
			n = t->pad_every - (unsigned)*r->filled;
		if (at < r->inside && n > r->inside - at)
			n = (unsigned)(r->inside - at);
		if (at < r->inside && global_get(w, in, -1, r->global + at, b, n, &undef) < 0)
			return -1;
		if (lds_put(w, in, -1, *r->lds, b, n, XLDS_TENSOR, undef) < 0)
			return -1;
		at += n;
		*r->lds += n;
		*r->filled += n;
		if (t->pad && *r->filled == t->pad_every) {
			*r->filled = 0;
			*r->lds += t->pad_by;
		}
	}
	return 0;
}

static int store_row(struct xwave *w, const struct xinsn *in, const struct row *r)
{
	for (uint64_t at = 0; at < r->bytes;) {
		unsigned n = r->bytes - at < CHUNK ? (unsigned)(r->bytes - at) : CHUNK;
		uint8_t b[CHUNK];
		uint64_t undef;

		if (at < r->inside && n > r->inside - at)
			n = (unsigned)(r->inside - at);
		if (lds_get(w, in, -1, *r->lds, b, n, XLDS_TENSOR, &undef) < 0)
			return -1;
		if (undef && at < r->inside && !x_analysis(w))
			return x_fault(w, in, DIAG_UNINIT, -1, "copies bytes of LDS that nothing has written");
		if (at < r->inside && global_put(w, in, -1, r->global + at, b, n) < 0)
			return -1;
		at += n;
		*r->lds += n;
	}
	return 0;
}

/* One tile from lds and global on. A dimension of size 0 is not used; the tensor's end counts from the tile. */
static int move_tile(struct xwave *w, const struct xinsn *in, const struct tile *t, uint64_t global, uint64_t lds, bool store)
{
	uint64_t n[MAX_DIMS] = { 1, 1, 1, 1, 1 }, i[MAX_DIMS] = { 0 }, filled = 0;
	unsigned d;

	for (d = 0; d < t->dims; d++)
		n[d] = d && !t->size[d] ? 1 : t->size[d];
	if (!n[0])
		return 0;
	do {
		struct row r = { .global = global, .lds = &lds, .bytes = n[0] * t->element, .filled = &filled };
		bool outside = false;

		for (d = 1; d < t->dims; d++) {
			uint64_t at = t->gather ? t->row[i[1] & 15] : i[d];

			outside = outside || (t->size[d] && at >= t->limit[d]);
			r.global += at * t->stride[d] * t->element;
		}
		r.inside = outside ? 0 : (n[0] < t->limit[0] ? n[0] : t->limit[0]) * t->element;
		if ((store ? store_row(w, in, &r) : load_row(w, in, t, &r)) < 0)
			return -1;
		for (d = 1; d < t->dims && ++i[d] == n[d]; d++)
			i[d] = 0;
	} while (d < t->dims);
	return 0;
}

#define PLAIN_PIECE 4096

/* The LDS bytes of all iterations, in equal pieces; when they can't be told so the access is at unknown addresses. */
static void note_places(struct xwave *w, const struct xinsn *in, const struct tile *t, bool store)
{
	uint64_t total = t->element, every = t->pad && !store ? t->pad_every : PLAIN_PIECE, n;
	uint32_t addr[X_MAX_PIECES];
	size_t count = 0;

	for (unsigned d = 0; d < t->dims; d++)
		total *= d && !t->size[d] ? 1 : t->size[d];
	every = every > total ? total : every;
	n = every ? total / every : 0;
	if (!n || total % every || n * t->iterations > X_MAX_PIECES) {
		for (unsigned i = 0; i < 64; i++)
			addr[i] = UINT32_MAX;
		x_lds_begin(w, in, addr, t->element, !store, true);
		return;
	}
	for (unsigned k = 0; k < t->iterations; k++)
		for (uint64_t i = 0; i < n; i++)
			addr[count++] = (uint32_t)(t->lds + k * t->lds_step + i * (every + (t->pad && !store ? t->pad_by : 0)));
	x_lds_pieces(w, addr, (unsigned)count, (unsigned)every, !store);
}

static int move(struct xwave *w, const struct xinsn *in, bool store)
{
	struct tile t;

	for (unsigned i = 0; i < 4; i++)
		if (!has_s(in, i, i == 1 ? 8 : 4) && (i < 2 || !has_none(in, i)))
			return bad_operand(w, in, i);
	t = read_descriptor(w, in);
	if (t.nothing)
		return 0;
	if (t.iterations > 256) /* larger counts are not documented */
		return x_fault(w, in, DIAG_BOUNDS, -1, "the tensor descriptor repeats its tile %u times, 256 at most", t.iterations);
	if (t.gather && t.size[1] > 16)
		return x_fault(w, in, DIAG_BOUNDS, -1, "the tensor descriptor gathers %u rows, 16 at most", (unsigned)t.size[1]);
	note_places(w, in, &t, store);
	if (w->places_only)
		return 0;
	/* Each workgroup of a multicast makes the request itself; a mask without this one gives it nothing. */
	if (!store && t.mask && w->local->nmembers > 1 && !(t.mask >> w->local->rank & 1))
		return 0;
	for (unsigned k = 0; k < t.iterations; k++)
		if (move_tile(w, in, &t, t.global + k * t.global_step, t.lds + k * t.lds_step, store) < 0)
			return -1;
	return t.arrive ? lds_barrier_arrive(w, in, t.arrive_at) : 0;
}

int op_tensor_load(struct xwave *w, const struct xinsn *in)
{
	return move(w, in, false);
}

int op_tensor_store(struct xwave *w, const struct xinsn *in)
{
	return move(w, in, true);
}
