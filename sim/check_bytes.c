/*
 * LDS data of followed paths: byte by byte, who touched it last. The paths are taken in one order that the
 * barriers allow; of two accesses in conflict the one met first must then be complete before the other in
 * every order, or there is a race.
 */
#include "check_internal.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LDS_BYTES (1u << 20)

struct touch { /* last access of a kind to one granule, by one wave */
	uint32_t pos; /* 1 + position in the wave's group; 0: none */
};

struct bytes {
	unsigned granule;  /* bytes told apart: 4, or 1 when some access is not made of whole dwords */
	size_t ngranules;
	uint32_t *write;   /* [granule] 1 + position of the last write */
	uint8_t *writer;   /* [granule] its wave */
	struct touch *read;/* [granule * waves + wave] since the last write */
	/* orders demanded for the access at hand: stamp of the last one by each instance, and of which kinds */
	uint64_t *stamp[PROG_MAX_GROUPS];
	uint64_t serial;
	uint64_t last; /* the demand made last: neighbouring bytes mostly ask for the same */
};

static unsigned per_group(const struct checker *c)
{
	return c->p->waves / c->p->groups;
}

static unsigned find_granule(const struct checker *c)
{
	for (size_t i = 0; i < c->paths->naccess; i++) {
		const struct check_access *a = &c->paths->access[i];

		if (a->width_bytes % 4)
			return 1;
		for (size_t k = 0; k < (size_t)a->lanes * per_group(c); k++)
			if (a->addr[k] != UINT32_MAX && a->addr[k] % 4)
				return 1;
	}
	return 4;
}

void check_bytes_begin(struct checker *c)
{
	struct bytes *b = arena_alloc(c->arena, 1, sizeof(*b));
	uint32_t top = 4;

	for (size_t i = 0; i < c->paths->naccess; i++) {
		const struct check_access *a = &c->paths->access[i];

		for (size_t k = 0; k < (size_t)a->lanes * per_group(c); k++)
			if (a->addr[k] < MAX_LDS_BYTES && a->addr[k] + a->width_bytes > top)
				top = a->addr[k] + a->width_bytes;
	}
	b->granule = find_granule(c);
	b->ngranules = (top + b->granule - 1) / b->granule;
	b->write = xcalloc(b->ngranules, sizeof(*b->write));
	b->writer = xcalloc(b->ngranules, sizeof(*b->writer));
	b->read = xcalloc(b->ngranules * c->p->waves, sizeof(*b->read));
	for (unsigned g = 0; g < c->ngroups; g++)
		b->stamp[g] = xcalloc(c->track[g].n + 1, sizeof(*b->stamp[g]));
	c->bytes = b;
}

static const struct check_access *access_of(const struct checker *c, unsigned g, uint32_t pos)
{
	int32_t a = c->track[g].inst[pos].access;

	return a >= 0 ? &c->paths->access[a] : NULL;
}

/* Is an order wanted at all between these two accesses? */
static bool wanted(const struct checker *c, unsigned wx, uint32_t x, unsigned wy, uint32_t y, enum order_kind kind)
{
	unsigned gx = wx / per_group(c), gy = wy / per_group(c);
	const struct check_access *ax = access_of(c, gx, x), *ay = access_of(c, gy, y);

	if (wx == wy) /* one wave's LDS operations are in order, and so are its copies */
		return ax->copy != ay->copy;
	if (ax->atomic && ay->atomic)
		return false;
	/* one instruction of several waves at one place: they write the same */
	return kind != ORDER_WRITE_AFTER_WRITE || c->track[gx].inst[x].insn != c->track[gy].inst[y].insn;
}

static uint64_t key_of(unsigned wx, uint32_t x, unsigned wy, enum order_kind kind)
{
	return (uint64_t)x << 16 | wx << 10 | wy << 4 | (uint64_t)kind;
}

/* Once per pair of instances and kind: x of wave wx must be complete before y of wave wy. */
static void demand(struct checker *c, unsigned wx, uint32_t x, unsigned wy, uint32_t y, enum order_kind kind)
{
	uint64_t *stamp, bit, key = key_of(wx, x, wy, kind);
	unsigned gx, gy;

	if (key == c->bytes->last)
		return;
	c->bytes->last = key;
	gx = wx / per_group(c);
	gy = wy / per_group(c);
	stamp = &c->bytes->stamp[gx][x];
	if (wx == wy)
		kind = ORDER_SAME_WAVE;
	bit = 1ull << kind;
	if (*stamp >> 8 != c->bytes->serial)
		*stamp = c->bytes->serial << 8;
	if (*stamp & bit)
		return;
	*stamp |= bit;
	if (!wanted(c, wx, x, wy, y, kind))
		return;
	c->out->pairs++;
	check_require(c, (struct order){ (uint8_t)gx, (uint8_t)kind, (uint8_t)gy, x,
					 wx == wy ? y : check_deadline(c, gx, x, gy, y), y });
}

static void touch_read(struct checker *c, unsigned w, uint32_t pos, size_t at)
{
	struct bytes *b = c->bytes;

	if (b->write[at])
		demand(c, b->writer[at], b->write[at] - 1, w, pos, ORDER_READ_AFTER_WRITE);
	b->read[at * c->p->waves + w].pos = pos + 1;
}

static void touch_write(struct checker *c, unsigned w, uint32_t pos, size_t at)
{
	struct bytes *b = c->bytes;
	bool read = false;

	for (unsigned v = 0; v < c->p->waves; v++) {
		struct touch *t = &b->read[at * c->p->waves + v];

		if (t->pos && (v != w || t->pos != pos + 1)) {
			demand(c, v, t->pos - 1, w, pos, ORDER_WRITE_AFTER_READ);
			read = true;
		}
		t->pos = 0;
	}
	if (b->write[at] && !read) /* with a read between, the orders of both hold this one */
		demand(c, b->writer[at], b->write[at] - 1, w, pos, ORDER_WRITE_AFTER_WRITE);
	b->write[at] = pos + 1;
	b->writer[at] = (uint8_t)w;
}

static void touch_access(struct checker *c, unsigned g, uint32_t pos, const struct check_access *a)
{
	struct bytes *b = c->bytes;

	for (unsigned i = 0; i < per_group(c); i++) {
		unsigned w = g * per_group(c) + i;

		for (unsigned l = 0; l < a->lanes; l++) {
			uint32_t at = a->addr[(size_t)i * a->lanes + l];

			if (at >= MAX_LDS_BYTES)
				continue;
			for (size_t k = at / b->granule; k < ((size_t)at + a->width_bytes + b->granule - 1) / b->granule; k++) {
				if (!a->write || a->atomic)
					touch_read(c, w, pos, k);
				if (a->write)
					touch_write(c, w, pos, k);
			}
		}
	}
}

void check_bytes_visit(struct checker *c, unsigned group, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		const struct check_access *a = access_of(c, group, (uint32_t)i);

		if (!a)
			continue;
		c->bytes->serial++;
		c->bytes->last = UINT64_MAX;
		c->out->accesses++;
		touch_access(c, group, (uint32_t)i, a);
	}
}

/*
 * What the addresses do not show: stores to global memory that a wait completes may be meant for others, and so
 * may LDS accesses at unknown addresses in front of a barrier. Such a wait is taken as needed as it stands.
 */
static void trust_waits(struct checker *c, unsigned g)
{
	const struct track *t = &c->track[g];

	for (uint32_t i = 0; i < t->n; i++) {
		const struct insn *in = &c->p->insns[t->inst[i].insn];
		bool lds = in->cls == OPC_LDS_READ || in->cls == OPC_LDS_WRITE || in->cls == OPC_VMEM_LDS || in->cls == OPC_TDM_LOAD;
		bool hidden = in->cls == OPC_VMEM_STORE || in->cls == OPC_TDM_STORE || (lds && t->inst[i].access < 0);

		if (hidden && t->inst[i].done != NO_POS)
			check_require(c, (struct order){ (uint8_t)g, ORDER_SAME_WAVE, (uint8_t)g, i, t->inst[i].done + 1, t->inst[i].done + 1 });
	}
}

void check_bytes_end(struct checker *c)
{
	struct bytes *b = c->bytes;

	for (unsigned g = 0; g < c->ngroups; g++) {
		trust_waits(c, g);
		free(b->stamp[g]);
	}
	free(b->write);
	free(b->writer);
	free(b->read);
	c->bytes = NULL;
}
