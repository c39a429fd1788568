/* A program as one straight line a wave, and LDS cut into pieces that the same accesses touch. */
#include "explorer_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LDS_BYTES (1u << 20)

/* The innermost loop that holds insn i, -1. */
static int loop_around(const struct program *p, uint32_t i)
{
	int best = -1;

	for (size_t l = 0; l < p->nloops; l++)
		if (i >= p->loops[l].begin && i < p->loops[l].end &&
		    (best < 0 || p->loops[l].end - p->loops[l].begin < p->loops[best].end - p->loops[best].begin))
			best = (int)l;
	return best;
}

static enum x_act insn_act(enum opclass c)
{
	switch ((int)c) {
	case OPC_LDS_READ:
	case OPC_TDM_STORE:
		return X_SAMPLE;
	case OPC_LDS_WRITE:
	case OPC_VMEM_LDS:
	case OPC_TDM_LOAD:
		return X_STORE;
	default:
		return X_NONE;
	}
}

static bool is_lds(enum opclass c)
{
	return c == OPC_LDS_READ || c == OPC_LDS_WRITE || c == OPC_LDS_PERMUTE;
}

static int64_t access_tile(const struct x_prog *x, const struct access *ac, int loop, int64_t trip)
{
	if (ac->from_end)
		return (int64_t)x->p->ksteps - 1 - ac->tile;
	if (ac->absolute || loop < 0)
		return ac->tile;
	return trip * (int64_t)x->p->loops[loop].steps + ac->tile;
}

static unsigned access_slot(const struct program *p, const struct access *ac, int64_t tile)
{
	int64_t n = p->buffers[ac->buffer].slots ? p->buffers[ac->buffer].slots : 1;

	if (ac->slot >= 0)
		return (unsigned)ac->slot;
	return (unsigned)((tile % n + n) % n);
}

static size_t find_key(struct x_prog *x, int32_t access, unsigned wave, unsigned slot)
{
	for (size_t i = 0; i < x->nkeys; i++)
		if (x->keys[i].access == access && x->keys[i].wave == wave && x->keys[i].slot == slot)
			return i;
	x->keys = xgrow(x->keys, x->nkeys, &x->capkeys, sizeof(*x->keys));
	x->keys[x->nkeys] = (struct x_key){ .access = access, .wave = wave, .slot = slot };
	return x->nkeys++;
}

/* Until the pieces are known, npieces holds the index of the op's key. */
static void add_op(struct x_prog *x, unsigned w, uint32_t insn, int loop, int64_t trip)
{
	const struct insn *in = &x->p->insns[insn];
	const struct access *ac = in->access >= 0 ? &x->p->access[in->access] : NULL;
	struct x_op *o;

	x->ops = xgrow(x->ops, x->nops, &x->capops, sizeof(*x->ops));
	o = &x->ops[x->nops++];
	*o = (struct x_op){ .insn = insn, .wave = w, .counter = in->counter, .done = X_NEVER };
	o->step = (uint32_t)x->line[w].n;
	o->gone = x->edge && (in->flags & INSN_EDGE_ABSENT);
	if (o->gone) {
		o->counter = -1;
		o->done = o->step;
	}
	o->stream = is_lds(in->cls);
	o->unordered = in->cls == OPC_SMEM || (in->counter >= 0 && !x->p->target->counters[in->counter].in_order);
	if (!ac)
		return;
	o->tile = access_tile(x, ac, loop, trip);
	if (ac->buffer < 0 || insn_act(in->cls) == X_NONE)
		return;
	if (o->tile <= -X_TAG_TILE_BIAS || o->tile >= X_TAG_TILE_BIAS || ac->buffer >= 2048) {
		x_too_large(x, "tile or buffer number");
		return;
	}
	o->act = insn_act(in->cls);
	o->tag = ((uint32_t)ac->buffer << X_TAG_TILE_BITS) + (uint32_t)(o->tile + X_TAG_TILE_BIAS);
	o->npieces = find_key(x, in->access, w, access_slot(x->p, ac, o->tile));
}

static bool counts_memory(const struct insn *in)
{
	return in->counter >= 0 || insn_act(in->cls) != X_NONE || in->cls == OPC_VMEM_LOAD || in->cls == OPC_SMEM;
}

static void add_step(struct x_prog *x, unsigned w, uint32_t insn, int loop, int64_t trip)
{
	const struct insn *in = &x->p->insns[insn];
	struct x_line *l = &x->line[w];
	unsigned times = in->cls == OPC_WAIT || in->repeat < 1 ? 1 : in->repeat;

	for (unsigned k = 0; k < times && !x->stop; k++) {
		struct x_step s = { .insn = insn, .op = -1, .trip = loop < 0 ? -1 : trip };

		if (l->n >= X_MAX_STEPS) {
			x_too_large(x, "steps of one wave");
			return;
		}
		if (counts_memory(in)) {
			s.op = (int32_t)x->nops;
			add_op(x, w, insn, loop, trip);
		}
		l->step = xgrow(l->step, l->n, &l->cap, sizeof(*l->step));
		l->step[l->n++] = s;
	}
}

void x_write_out(struct x_prog *x, unsigned w)
{
	const struct program *p = x->p;
	unsigned g = x_group(p, w);
	uint64_t *trip = xcalloc(p->nloops + 1, sizeof(*trip));

	for (uint32_t i = p->entry[g]; i < p->ninsns && !x->stop;) {
		const struct insn *in = &p->insns[i];
		int loop = loop_around(p, i);

		if (!(in->groups >> g & 1) || (in->waves && !(in->waves >> w & 1)) || (!x->edge && (in->flags & INSN_EDGE_ONLY)) ||
		    (x->edge && (in->flags & INSN_EDGE_ABSENT) && !counts_memory(in))) {
			i++;
			continue;
		}
		if (in->cls == OPC_BRANCH && in->loop >= 0) {
			if (++trip[in->loop] < p->loops[in->loop].trips) {
				i = p->loops[in->loop].begin;
				continue;
			}
			trip[in->loop] = 0;
			i++;
			continue;
		}
		add_step(x, w, i, loop, loop < 0 ? 0 : (int64_t)trip[loop]);
		if (in->cls == OPC_END)
			break;
		i++;
	}
	free(trip);
	if (!x->stop && (x->line[w].n == 0 ||
			 p->insns[x->line[w].step[x->line[w].n - 1].insn].cls != OPC_END))
		x_too_large(x, "a wave never ends");
}

/* ---- bytes to pieces: bytes that the same accesses touch behave alike ---- */

struct byte_sig {
	uint64_t sig;
	uint32_t at;
};

static int by_sig(const void *a, const void *b)
{
	const struct byte_sig *x = a, *y = b;

	return x->sig < y->sig ? -1 : x->sig > y->sig ? 1 : x->at < y->at ? -1 : x->at > y->at;
}

static uint64_t key_range(const struct program *p, const struct x_key *k, unsigned lane, uint64_t *len)
{
	const struct access *ac = &p->access[k->access];
	const struct buffer *b = &p->buffers[ac->buffer];
	uint64_t at = b->base + (uint64_t)k->slot * b->slot_bytes;

	if (!ac->lane) {
		*len = b->slot_bytes;
		return at;
	}
	*len = ac->width;
	return at + (ac->wave_base ? ac->wave_base[k->wave] : 0) + ac->lane[lane];
}

static unsigned key_lanes(const struct program *p, const struct x_key *k)
{
	const struct access *ac = &p->access[k->access];

	return ac->lane ? ac->nlanes : 1;
}

static uint64_t mix(uint64_t h)
{
	h ^= h >> 30;
	h *= 0xbf58476d1ce4e5b9u;
	h ^= h >> 27;
	h *= 0x94d049bb133111ebu;
	return h ^ h >> 31;
}

/* piece_of[byte] = piece + 1, 0 where nothing is touched. */
static uint32_t *cut_pieces(struct x_prog *x, uint64_t bytes)
{
	struct byte_sig *s = xcalloc(bytes + 1, sizeof(*s));
	uint32_t *of = xcalloc(bytes + 1, sizeof(*of));
	uint64_t *last = xcalloc(bytes + 1, sizeof(*last)), len;

	for (uint64_t i = 0; i < bytes; i++)
		s[i].at = (uint32_t)i;
	for (size_t k = 0; k < x->nkeys; k++)
		for (unsigned l = 0; l < key_lanes(x->p, &x->keys[k]); l++) {
			uint64_t at = key_range(x->p, &x->keys[k], l, &len);

			for (uint64_t i = at; i < at + len; i++)
				if (last[i] != k + 1) { /* lanes of one access may share a byte */
					last[i] = k + 1;
					s[i].sig += mix(k + 1);
				}
		}
	qsort(s, bytes, sizeof(*s), by_sig);
	for (uint64_t i = 0; i < bytes; i++) {
		if (s[i].sig == 0)
			continue;
		if (i == 0 || s[i].sig != s[i - 1].sig)
			x->npieces++;
		of[s[i].at] = (uint32_t)x->npieces;
	}
	free(s);
	free(last);
	return of;
}

static void key_pieces(struct x_prog *x, struct x_key *k, const uint32_t *of, unsigned char *seen)
{
	uint64_t len;

	memset(seen, 0, x->npieces + 1);
	k->piece = xcalloc(x->npieces + 1, sizeof(*k->piece));
	for (unsigned l = 0; l < key_lanes(x->p, k); l++) {
		uint64_t at = key_range(x->p, k, l, &len);

		for (uint64_t i = at; i < at + len; i++)
			if (!seen[of[i]]) {
				seen[of[i]] = 1;
				k->piece[k->npieces++] = of[i] - 1;
			}
	}
}

void x_find_pieces(struct x_prog *x)
{
	uint64_t bytes = 0, len;
	uint32_t *of;
	unsigned char *seen;

	for (size_t k = 0; k < x->nkeys; k++)
		for (unsigned l = 0; l < key_lanes(x->p, &x->keys[k]); l++) {
			uint64_t at = key_range(x->p, &x->keys[k], l, &len);

			if (at + len > bytes)
				bytes = at + len;
		}
	if (bytes > MAX_LDS_BYTES) {
		x_too_large(x, "LDS");
		return;
	}
	of = cut_pieces(x, bytes);
	seen = xcalloc(x->npieces + 1, 1);
	for (size_t k = 0; k < x->nkeys; k++)
		key_pieces(x, &x->keys[k], of, seen);
	for (size_t i = 0; i < x->nops; i++) {
		struct x_op *o = &x->ops[i];

		if (o->act == X_NONE)
			continue;
		o->piece = x->keys[o->npieces].piece;
		o->npieces = x->keys[o->npieces].npieces;
	}
	free(seen);
	free(of);
}
