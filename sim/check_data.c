/*
 * LDS data: for each read, who wrote the tile that it names, is that writing complete and visible, and
 * does the next refill of the slot wait for the read? Accesses are taken per tile-level op: all
 * instructions of one op in one trip are an episode.
 */
#include "check_internal.h"

#include <stdlib.h>
#include <string.h>

/* A static tile-level access: the instructions that share a place, a buffer and a tile expression. */
struct op {
	uint32_t insn; /* first instruction */
	int32_t buffer;
	const struct access *access;
	bool write, copy; /* copy: the data come from a memory operation, not in LDS order */
	uint32_t lo, hi;  /* byte extent inside the slot */
	uint64_t *wave_bits;  /* [waves][words] dwords touched */
	uint64_t *group_bits; /* [groups][words] */
	uint32_t wave_lo[PROG_MAX_WAVES], wave_hi[PROG_MAX_WAVES]; /* words in use of each wave */
};

struct episode {
	uint32_t op;
	uint8_t group;
	uint32_t first, last, done, trip;
	int32_t slot;
	int64_t tile;
};

struct data {
	struct checker *c;
	int32_t *op_of_insn;
	struct op *ops;
	size_t nops;
	size_t words; /* bitmap length, for the largest slot */
	struct episode *ep;
	size_t nep, capep;
	struct episode **writes; /* by buffer, slot, tile */
	size_t nwrites;
	uint64_t *meets; /* [nops][nops]: cache of meets(), 0: not computed */
	uint64_t *seen; /* [nops * groups]: see writers_key, 0: nothing so far */
	uint64_t **insn_bits; /* [ninsns]: dwords of each wave, NULL: not needed so far */
};

/* Two bits a pair of groups: the same wave, or two different waves, touch the same bytes. */
enum { MEETS_SAME = 1, MEETS_CROSS = 2 };
#define MEETS_GROUPS 4 /* of a schedule */
#define MEETS_KNOWN (1ull << 63)

static bool same_op(const struct program *p, uint32_t i, uint32_t j)
{
	const struct insn *a = &p->insns[i], *b = &p->insns[j];
	const struct access *x = &p->access[a->access], *y = &p->access[b->access];

	return a->loc.begin == b->loc.begin && a->cls == b->cls && a->groups == b->groups && a->waves == b->waves && x->buffer == y->buffer &&
	       x->tile == y->tile && x->absolute == y->absolute && x->from_end == y->from_end &&
	       x->slot == y->slot && x->write == y->write && a->stage == b->stage;
}

static void set_range(uint64_t *bits, size_t words, uint32_t lo, uint32_t n_bytes)
{
	uint32_t end = lo + n_bytes;

	for (uint32_t dw = lo / 4; dw < (end + 3) / 4; dw++)
		if (dw / 64 < words)
			bits[dw / 64] |= 1ull << (dw % 64);
}

static void wave_bytes(const struct data *s, const struct insn *in, uint64_t *bits)
{
	const struct program *p = s->c->p;
	const struct access *a = &p->access[in->access];
	uint32_t waves = check_waves_of(p, in);

	for (unsigned w = 0; w < p->waves; w++)
		for (uint32_t l = 0; (waves >> w & 1) && l < a->nlanes; l++)
			set_range(&bits[w * s->words], s->words, a->wave_base[w] + a->lane[l], a->width);
}

static void add_bytes(struct data *s, struct op *o, const struct insn *in)
{
	const struct program *p = s->c->p;
	const struct access *a = &p->access[in->access];
	uint32_t waves = check_waves_of(p, in);

	wave_bytes(s, in, o->wave_bits);
	for (unsigned w = 0; w < p->waves; w++)
		for (uint32_t l = 0; (waves >> w & 1) && l < a->nlanes; l++) {
			uint32_t at = a->wave_base[w] + a->lane[l];

			if (at < o->lo)
				o->lo = at;
			if (at + a->width > o->hi)
				o->hi = at + a->width;
		}
}

/* A finished op: where each wave's bytes lie, and those of its group together. */
static void gather(const struct data *s, struct op *o, unsigned w)
{
	const uint64_t *from = &o->wave_bits[w * s->words];
	uint64_t *to = &o->group_bits[w / (s->c->p->waves / s->c->p->groups) * s->words];
	size_t end = o->hi / 256 + 1 < s->words ? o->hi / 256 + 1 : s->words;

	o->wave_lo[w] = UINT32_MAX;
	for (size_t k = o->lo / 256; k < end; k++)
		if (from[k]) {
			to[k] |= from[k];
			o->wave_lo[w] = o->wave_lo[w] < k ? o->wave_lo[w] : (uint32_t)k;
			o->wave_hi[w] = (uint32_t)k + 1;
		}
}

/* Static ops: consecutive equal instructions, or equal ones woven with others in the same stage. */
static bool find_ops(struct data *s)
{
	const struct program *p = s->c->p;
	size_t cap = 0;

	s->words = 1;
	for (size_t b = 0; b < p->nbuffers; b++)
		if ((p->buffers[b].slot_bytes + 255) / 256 > s->words)
			s->words = (p->buffers[b].slot_bytes + 255) / 256;
	s->op_of_insn = arena_alloc(s->c->arena, p->ninsns + 1, sizeof(*s->op_of_insn));
	for (uint32_t i = 0; i < p->ninsns; i++) {
		const struct insn *in = &p->insns[i];
		size_t o, from;

		s->op_of_insn[i] = -1;
		if (in->access < 0 || p->access[in->access].buffer < 0 || check_skips(s->c, in))
			continue;
		from = s->nops > 64 ? s->nops - 64 : 0; /* an op's instructions stay within one stage */
		for (o = s->nops; o-- > from;)
			if (same_op(p, s->ops[o].insn, i))
				break;
		if (o + 1 == from || o == SIZE_MAX) {
			if (s->nops >= CHECK_MAX_OPS) {
				diag_add(s->c->d, in->loc, DIAG_LIMIT, "more than %u tile accesses are too many to check",
					 CHECK_MAX_OPS);
				return false;
			}
			s->ops = xgrow(s->ops, s->nops, &cap, sizeof(*s->ops));
			o = s->nops++;
			s->ops[o] = (struct op){
				.insn = i, .buffer = p->access[in->access].buffer, .access = &p->access[in->access],
				.write = p->access[in->access].write, .lo = UINT32_MAX,
				.copy = in->cls == OPC_VMEM_LDS || in->cls == OPC_TDM_LOAD,
				.wave_bits = arena_alloc(s->c->arena, s->words * p->waves, 8),
				.group_bits = arena_alloc(s->c->arena, s->words * p->groups, 8),
			};
		}
		s->op_of_insn[i] = (int32_t)o;
		add_bytes(s, &s->ops[o], in);
	}
	for (size_t o = 0; o < s->nops; o++)
		for (unsigned w = 0; w < p->waves; w++)
			gather(s, &s->ops[o], w);
	return true;
}

static int64_t tile_of(const struct checker *c, const struct access *a, int32_t step)
{
	return a->absolute ? check_tile(c, a->tile) : a->from_end ? c->ksteps - 1 - a->tile : (int64_t)step + a->tile;
}

static void find_episodes(struct data *s)
{
	const struct program *p = s->c->p;
	size_t *open = xcalloc(s->nops + 1, sizeof(*open)); /* 1 + episode that the op is in */

	for (unsigned g = 0; g < s->c->ngroups; g++) {
		const struct track *t = &s->c->track[g];

		memset(open, 0, (s->nops + 1) * sizeof(*open));
		for (uint32_t i = 0; i < t->n; i++) {
			const struct instance *in = &t->inst[i];
			int32_t o = s->op_of_insn[in->insn];
			struct episode *e;

			if (o < 0)
				continue;
			if (!open[o] || s->ep[open[o] - 1].trip != in->trip) {
				const struct access *a = s->ops[o].access;
				int64_t tile = tile_of(s->c, a, in->step);
				int64_t slots = p->buffers[a->buffer].slots ? p->buffers[a->buffer].slots : 1;
				int64_t slot = a->slot >= 0 ? a->slot : ((tile % slots) + slots) % slots;

				s->ep = xgrow(s->ep, s->nep, &s->capep, sizeof(*s->ep));
				s->ep[s->nep++] = (struct episode){ (uint32_t)o, (uint8_t)g, i, i, 0, in->trip, (int32_t)slot, tile };
				open[o] = s->nep;
			}
			e = &s->ep[open[o] - 1];
			e->last = i;
			if (in->done > e->done)
				e->done = in->done;
		}
	}
	free(open);
}

static int by_slot_and_tile(const void *a, const void *b, void *ctx)
{
	const struct data *s = ctx;
	const struct episode *x = *(struct episode *const *)a, *y = *(struct episode *const *)b;
	int bx = s->ops[x->op].buffer, by = s->ops[y->op].buffer;

	if (bx != by)
		return bx < by ? -1 : 1;
	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	if (x->tile != y->tile)
		return x->tile < y->tile ? -1 : 1;
	return x < y ? -1 : x > y;
}

static bool any_common(const uint64_t *p, const uint64_t *q, size_t words)
{
	for (size_t k = 0; k < words; k++)
		if (p[k] & q[k])
			return true;
	return false;
}

/* MEETS_ flags of op a in group ga and op b in group gb. */
static unsigned meets(struct data *s, uint32_t a, unsigned ga, uint32_t b, unsigned gb)
{
	uint64_t *m = &s->meets[(size_t)a * s->nops + b];
	const struct op *x = &s->ops[a], *y = &s->ops[b];
	unsigned waves = s->c->p->waves, per_group = waves / s->c->p->groups;

	if (!*m) {
		*m = MEETS_KNOWN;
		for (unsigned i = 0; i < waves && x->lo < y->hi && y->lo < x->hi; i++)
			for (unsigned j = 0; j < waves; j++) {
				uint64_t bit = (i == j ? MEETS_SAME : MEETS_CROSS) * (1ull << 2 * (i / per_group * MEETS_GROUPS + j / per_group));

				uint32_t lo = x->wave_lo[i] > y->wave_lo[j] ? x->wave_lo[i] : y->wave_lo[j];
				uint32_t hi = x->wave_hi[i] < y->wave_hi[j] ? x->wave_hi[i] : y->wave_hi[j];

				if (!(*m & bit) && lo < hi &&
				    any_common(&x->wave_bits[i * s->words + lo], &y->wave_bits[j * s->words + lo], hi - lo))
					*m |= bit;
			}
	}
	return *m >> 2 * (ga * MEETS_GROUPS + gb) & 3;
}

/* Do waves of the two episodes' groups touch the same bytes? */
static bool groups_meet(struct data *s, const struct episode *x, const struct episode *y)
{
	return meets(s, x->op, x->group, y->op, y->group) != 0;
}

static const char *tile_text(const struct access *a, char *buf, size_t size)
{
	if (a->absolute)
		snprintf(buf, size, "%d", a->tile);
	else if (a->from_end)
		snprintf(buf, size, a->tile ? "last-%d" : "last", a->tile);
	else
		snprintf(buf, size, a->tile ? "k%+d" : "k", a->tile);
	return buf;
}

/* x must come first, and the same wave issues y first. */
static void report_wrong_way(struct data *s, const struct episode *x, const struct episode *y, enum order_kind kind)
{
	struct checker *c = s->c;
	const struct op *xo = &s->ops[x->op], *yo = &s->ops[y->op], *reader = kind == ORDER_READ_AFTER_WRITE ? yo : xo;
	const struct buffer *b = &c->p->buffers[reader->buffer];
	char t[32], when[96];
	struct finding *f;

	c->faults++;
	if (c->quiet || !check_once(c, DIAG_TILE, xo->insn, yo->insn))
		return;
	check_when(c, y->group, y->first, when, sizeof(when));
	if (kind == ORDER_READ_AFTER_WRITE)
		f = diag_add(c->d, c->p->insns[yo->insn].loc, DIAG_TILE, "group %c reads tile %s of %s before it writes it (%s)",
			     check_group_letter(y->group), tile_text(yo->access, t, sizeof(t)), b->name, when);
	else if (kind == ORDER_WRITE_AFTER_READ)
		f = diag_add(c->d, c->p->insns[xo->insn].loc, DIAG_TILE,
			     "group %c reads tile %s of %s after it has refilled slot %d (%s)", check_group_letter(x->group),
			     tile_text(xo->access, t, sizeof(t)), b->name, x->slot, when);
	else
		f = diag_add(c->d, c->p->insns[xo->insn].loc, DIAG_TILE,
			     "group %c writes tile %s to slot %d of %s after a later tile (%s)", check_group_letter(x->group),
			     tile_text(xo->access, t, sizeof(t)), x->slot, b->name, when);
	diag_note(f, c->p->insns[kind == ORDER_READ_AFTER_WRITE ? xo->insn : yo->insn].loc, "the write");
}

static const uint64_t *insn_bytes(struct data *s, uint32_t insn)
{
	if (!s->insn_bits[insn]) {
		s->insn_bits[insn] = arena_alloc(s->c->arena, s->words * s->c->p->waves, sizeof(uint64_t));
		wave_bytes(s, &s->c->p->insns[insn], s->insn_bits[insn]);
	}
	return s->insn_bits[insn];
}

/* MEETS_ flags of two instructions, for waves of these groups. */
static unsigned insns_meet(struct data *s, uint32_t a, unsigned ga, uint32_t b, unsigned gb)
{
	const uint64_t *x = insn_bytes(s, a), *y = insn_bytes(s, b);
	unsigned per_group = s->c->p->waves / s->c->p->groups, m = 0;

	for (unsigned i = ga * per_group; i < (ga + 1) * per_group; i++)
		for (unsigned j = gb * per_group; j < (gb + 1) * per_group; j++)
			if (any_common(&x[i * s->words], &y[j * s->words], s->words))
				m |= i == j ? MEETS_SAME : MEETS_CROSS;
	return m;
}

/* One instruction of x against one of y. */
static bool pair_ordered(struct data *s, const struct episode *x, uint32_t xpos, const struct episode *y, uint32_t ypos,
			 enum order_kind kind, bool note, bool *wrong_way)
{
	struct checker *c = s->c;
	const struct instance *xi = &c->track[x->group].inst[xpos], *yi = &c->track[y->group].inst[ypos];
	const struct op *xo = &s->ops[x->op], *yo = &s->ops[y->op];
	unsigned m = insns_meet(s, xi->insn, x->group, yi->insn, y->group);
	bool lds_order = !xo->copy && !yo->copy, copies = xo->copy && yo->copy;
	bool ok = true;

	if (x->group == y->group && (m & MEETS_SAME)) {
		if (xpos > ypos) {
			*wrong_way = true;
			return false;
		}
		if (!lds_order && !copies) {
			if (note && !(m & MEETS_CROSS)) /* an order between waves holds for each wave as well */
				check_require(c, (struct order){ x->group, ORDER_SAME_WAVE, y->group, xpos, ypos, ypos });
			ok = xi->done != NO_POS && xi->done < ypos;
		}
	}
	if (x->group != y->group || (m & MEETS_CROSS)) {
		if (!(m & (MEETS_SAME | MEETS_CROSS)))
			return ok;
		if (note)
			check_require(c, (struct order){ x->group, (uint8_t)kind, y->group, xpos,
							 check_deadline(c, x->group, xpos, y->group, ypos), ypos });
		ok = ok && check_before(c, x->group, xpos, xi->done, y->group, ypos);
	}
	return ok;
}

/* Instruction by instruction: different instructions of an op touch different bytes. */
static bool ordered_closely(struct data *s, const struct episode *x, const struct episode *y, enum order_kind kind, bool note)
{
	const struct track *tx = &s->c->track[x->group], *ty = &s->c->track[y->group];
	bool ok = true, wrong_way = false;

	for (uint32_t i = x->first; i <= x->last; i++) {
		if (s->op_of_insn[tx->inst[i].insn] != (int32_t)x->op)
			continue;
		for (uint32_t k = y->first; k <= y->last; k++)
			if (s->op_of_insn[ty->inst[k].insn] == (int32_t)y->op)
				ok &= pair_ordered(s, x, i, y, k, kind, note, &wrong_way);
	}
	if (wrong_way && note)
		report_wrong_way(s, x, y, kind);
	return ok;
}

/*
 * Is episode x complete (all its data written, or all its data read) before the first instruction of
 * y, for every pair of their waves that touch the same bytes? Notes the orders that this rests on.
 */
static bool ordered(struct data *s, const struct episode *x, const struct episode *y, enum order_kind kind, bool note)
{
	unsigned m = meets(s, x->op, x->group, y->op, y->group);
	bool cross = x->group != y->group || (m & MEETS_CROSS);
	bool same = x->group == y->group && (m & MEETS_SAME), ok = true;
	const struct op *xo = &s->ops[x->op], *yo = &s->ops[y->op];
	bool ask_wait = same && !cross && xo->copy != yo->copy;

	if (same)
		ok = x->last < y->first;
	if (ask_wait) /* LDS ops of one wave execute in order, its copies land in order; the two kinds mixed do not */
		ok = ok && x->done != NO_POS && x->done < y->first;
	if (cross) /* an order between waves holds for each wave as well */
		ok = ok && check_before(s->c, x->group, x->last, x->done, y->group, y->first);
	if (!ok)
		return ordered_closely(s, x, y, kind, note);
	if (note && ask_wait)
		check_require(s->c, (struct order){ x->group, ORDER_SAME_WAVE, y->group, x->last, y->first, y->first });
	if (note && cross)
		check_require(s->c, (struct order){ x->group, (uint8_t)kind, y->group, x->last,
						    check_deadline(s->c, x->group, x->last, y->group, y->first), y->first });
	return true;
}

static void report_missing_tile(struct data *s, const struct episode *y, bool some)
{
	struct checker *c = s->c;
	const struct op *o = &s->ops[y->op];
	const struct buffer *b = &c->p->buffers[o->buffer];
	char t[32], when[96];
	struct finding *f;

	if (c->edge)
		return; /* an edge tile is filled in part only, by intent */
	c->faults++;
	if (c->quiet || !check_once(c, DIAG_TILE, o->insn, (uint32_t)(some ? 1 : 2)))
		return;
	f = diag_add(c->d, c->p->insns[o->insn].loc, DIAG_TILE,
		     some ? "group %c reads tile %s of %s, of which only a part is ever written to slot %d (%s)"
			  : "group %c reads tile %s of %s, which nothing writes to slot %d (%s)",
		     check_group_letter(y->group), tile_text(o->access, t, sizeof(t)), b->name, y->slot,
		     check_when(c, y->group, y->first, when, sizeof(when)));
	for (size_t i = 0; i < s->nwrites; i++)
		if (s->ops[s->writes[i]->op].buffer == o->buffer && s->writes[i]->slot == y->slot) {
			const struct op *w = &s->ops[s->writes[i]->op];

			diag_note(f, c->p->insns[w->insn].loc, "this writes tile %s of %s",
				  tile_text(w->access, t, sizeof(t)), b->name);
			break;
		}
}

/* What a read found last time: the same writers, ordered alike, cover the same bytes. */
static uint64_t writers_key(struct data *s, const struct episode *y, struct episode **same, size_t n, bool *all)
{
	uint64_t key = 1469598103934665603ull;

	*all = n > 0;
	for (size_t i = 0; i < n; i++) {
		bool ok;

		if (!groups_meet(s, same[i], y))
			continue;
		s->c->out->pairs++;
		ok = ordered(s, same[i], y, ORDER_READ_AFTER_WRITE, false);
		*all &= ok;
		key = (key ^ (same[i]->op * 8ull + same[i]->group)) * 1099511628211ull;
	}
	return key;
}

/* Every byte of y that no ordered writer brought, and orders demanded of the writers that should have. */
static bool check_bytes(struct data *s, const struct episode *y, struct episode **same, size_t nsame, bool *some)
{
	uint64_t *have = xcalloc(s->words, sizeof(*have));
	const uint64_t *need = &s->ops[y->op].group_bits[y->group * s->words];
	size_t lo = s->ops[y->op].lo / 256, hi = s->ops[y->op].hi / 256 + 1 < s->words ? s->ops[y->op].hi / 256 + 1 : s->words;
	bool missing = false;

	for (size_t i = 0; i < nsame; i++) {
		if (!groups_meet(s, same[i], y))
			continue;
		*some = true;
		if (ordered(s, same[i], y, ORDER_READ_AFTER_WRITE, false))
			for (size_t k = lo; k < hi; k++)
				have[k] |= s->ops[same[i]->op].group_bits[same[i]->group * s->words + k];
	}
	for (size_t i = 0; i < nsame; i++) {
		const uint64_t *bits = &s->ops[same[i]->op].group_bits[same[i]->group * s->words];
		bool ok, lacking = false;

		if (!groups_meet(s, same[i], y))
			continue;
		ok = ordered(s, same[i], y, ORDER_READ_AFTER_WRITE, false);
		for (size_t k = lo; !lacking && k < hi; k++)
			lacking = (bits[k] & need[k] & ~have[k]) != 0;
		if (ok || lacking)
			ordered(s, same[i], y, ORDER_READ_AFTER_WRITE, true);
		if (lacking)
			for (size_t k = lo; k < hi; k++)
				have[k] |= bits[k]; /* said once */
	}
	for (size_t k = lo; k < hi; k++)
		missing |= (need[k] & ~have[k]) != 0;
	free(have);
	return missing;
}

/* Is every byte that y reads written by an episode of its tile that is ordered before it? */
static void check_read(struct data *s, const struct episode *y, struct episode **same, size_t nsame)
{
	uint64_t *seen = &s->seen[y->op * s->c->p->groups + y->group];
	bool all, some = false;
	uint64_t key = writers_key(s, y, same, nsame, &all);

	if (all && *seen == key) {
		for (size_t i = 0; i < nsame; i++)
			if (groups_meet(s, same[i], y))
				ordered(s, same[i], y, ORDER_READ_AFTER_WRITE, true);
		return;
	}
	if (check_bytes(s, y, same, nsame, &some))
		report_missing_tile(s, y, some);
	else if (all)
		*seen = key;
}

/* Too many pairs to look at: said once; the caller stops. */
static bool too_many(struct data *s)
{
	struct checker *c = s->c;

	if (c->out->pairs <= CHECK_MAX_PAIRS)
		return false;
	if (!c->quiet && check_once(c, DIAG_LIMIT, 0, 0))
		diag_add(c->d, c->p->insns[s->ops[0].insn].loc, DIAG_LIMIT,
			 "too many accesses of the same slots to check: more than %u pairs", CHECK_MAX_PAIRS);
	c->faults++;
	return true;
}

static void check_refill(struct data *s, struct episode *x, struct episode **next, size_t n, enum order_kind kind)
{
	for (size_t z = 0; z < n && !too_many(s); z++)
		if (groups_meet(s, x, next[z])) {
			s->c->out->pairs++;
			ordered(s, x, next[z], kind, true);
		}
}

/*
 * Writers and readers of one buffer and slot, both by tile: equal tiles are one version of the slot's
 * content, and the next version must wait for the one before.
 */
static void check_slot(struct data *s, struct episode **w, size_t n, struct episode **reads, size_t nreads)
{
	size_t end, r = 0;

	for (size_t i = 0; i < n && !too_many(s); i = end) {
		size_t next;

		for (end = i; end < n && w[end]->tile == w[i]->tile; end++)
			;
		for (next = end; next < n && w[next]->tile == w[end]->tile; next++)
			;
		for (; r < nreads && reads[r]->tile < w[i]->tile; r++)
			report_missing_tile(s, reads[r], false);
		for (; r < nreads && reads[r]->tile == w[i]->tile && !too_many(s); r++) {
			check_read(s, reads[r], w + i, end - i);
			check_refill(s, reads[r], w + end, next - end, ORDER_WRITE_AFTER_READ);
		}
		for (size_t x = i; x < end; x++)
			check_refill(s, w[x], w + end, next - end, ORDER_WRITE_AFTER_WRITE);
	}
	for (; r < nreads && !too_many(s); r++)
		report_missing_tile(s, reads[r], false);
}

/* Buffers that share memory: every access of one against every write of the other. */
static void check_alias(struct data *s, const struct episode *x, const struct episode *z)
{
	const struct program *p = s->c->p;
	const struct op *a = &s->ops[x->op], *b = &s->ops[z->op];
	const struct buffer *ba = &p->buffers[a->buffer], *bb = &p->buffers[b->buffer];
	uint64_t alo = ba->base + (uint64_t)x->slot * ba->slot_bytes + a->lo, blo = bb->base + (uint64_t)z->slot * bb->slot_bytes + b->lo;
	const struct episode *first, *second;
	uint32_t at;

	if (alo + (a->hi - a->lo) <= blo || blo + (b->hi - b->lo) <= alo)
		return;
	s->c->out->pairs++;
	if (check_before(s->c, x->group, x->last, x->done, z->group, z->first) ||
	    check_before(s->c, z->group, z->last, z->done, x->group, x->first))
		return;
	first = x->group == z->group && z->first < x->first ? z : x;
	second = first == x ? z : x;
	at = check_deadline(s->c, first->group, first->last, second->group, second->first);
	check_require(s->c, (struct order){ first->group, first == x && !a->write ? ORDER_WRITE_AFTER_READ : ORDER_WRITE_AFTER_WRITE,
					    second->group, first->last, at, second->first });
}

static bool share_memory(const struct program *p, int32_t a, int32_t b)
{
	const struct buffer *x = &p->buffers[a], *y = &p->buffers[b];

	return a != b && x->base < y->base + (uint64_t)y->slot_bytes * y->slots &&
	       y->base < x->base + (uint64_t)x->slot_bytes * x->slots;
}

static void check_aliases(struct data *s)
{
	const struct program *p = s->c->p;
	size_t *from = xcalloc(p->nbuffers + 2, sizeof(*from)); /* writes are sorted by buffer */

	for (size_t k = 0; k < s->nwrites; k++)
		from[s->ops[s->writes[k]->op].buffer + 1] = k + 1;
	for (size_t b = 1; b <= p->nbuffers; b++)
		from[b] = from[b] ? from[b] : from[b - 1];
	for (size_t a = 0; a < p->nbuffers; a++)
		for (size_t b = 0; b < p->nbuffers; b++) {
			if (!share_memory(p, (int32_t)a, (int32_t)b))
				continue;
			for (size_t i = 0; i < s->nep; i++)
				for (size_t k = from[b]; s->ops[s->ep[i].op].buffer == (int32_t)a && k < from[b + 1] && !too_many(s); k++)
					if (!s->ops[s->ep[i].op].write || a < b)
						check_alias(s, &s->ep[i], s->writes[k]);
		}
	free(from);
}

static bool same_slot(const struct data *s, const struct episode *x, const struct episode *y)
{
	return s->ops[x->op].buffer == s->ops[y->op].buffer && x->slot == y->slot;
}

int check_data(struct checker *c)
{
	struct data s = { .c = c };
	struct episode **reads;
	size_t nreads = 0, wi = 0, ri = 0;

	s.insn_bits = arena_alloc(c->arena, c->p->ninsns + 1, sizeof(*s.insn_bits));
	if (!find_ops(&s)) {
		free(s.ops);
		return -1;
	}
	find_episodes(&s);
	c->out->accesses = s.nep;
	s.meets = xcalloc(s.nops * s.nops + 1, sizeof(*s.meets));
	s.seen = arena_alloc(c->arena, s.nops * c->p->groups + 1, sizeof(*s.seen));
	s.writes = xcalloc(s.nep + 1, sizeof(*s.writes));
	reads = xcalloc(s.nep + 1, sizeof(*reads));
	for (size_t i = 0; i < s.nep; i++) {
		if (s.ops[s.ep[i].op].write)
			s.writes[s.nwrites++] = &s.ep[i];
		else
			reads[nreads++] = &s.ep[i];
	}
	qsort_r(s.writes, s.nwrites, sizeof(*s.writes), by_slot_and_tile, &s);
	qsort_r(reads, nreads, sizeof(*reads), by_slot_and_tile, &s);
	while (ri < nreads || wi < s.nwrites) {
		size_t we = wi, re = ri;
		bool reads_first = wi == s.nwrites || (ri < nreads && !same_slot(&s, reads[ri], s.writes[wi]) &&
						       by_slot_and_tile(&reads[ri], &s.writes[wi], &s) < 0);
		const struct episode *key = reads_first ? reads[ri] : s.writes[wi];

		while (we < s.nwrites && same_slot(&s, s.writes[we], key))
			we++;
		while (re < nreads && same_slot(&s, reads[re], key))
			re++;
		check_slot(&s, s.writes + wi, we - wi, reads + ri, re - ri);
		wi = we;
		ri = re;
	}
	check_aliases(&s);
	free(reads);
	free(s.writes);
	free(s.meets);
	free(s.ep);
	free(s.ops);
	return 0;
}
