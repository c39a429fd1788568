/* Memory of the executor: buffers at made-up addresses, the LDS and the scratch memory of a workgroup. */
#include "exec_mem.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lds.h"

#define FIRST_ADDRESS \
	0x0000200000000000ull /* behind the code, below the apertures, inside the 48 bits of a buffer resource */
#define REGION_ALIGN (1ull << 21)
#define REGION_GAP (1ull << 34) /* no 32-bit offset leads from one region into another */

/* ---- regions ---- */

struct xmemory *x_memory_new(const struct program *p, bool analysis)
{
	struct xmemory *m = xcalloc(1, sizeof(*m));

	m->p = p;
	m->analysis = analysis;
	m->next = FIRST_ADDRESS;
	for (size_t i = 0; i < X_ATOMIC_LOCKS; i++)
		pthread_mutex_init(&m->lock[i], NULL);
	pthread_mutex_init(&m->race_lock, NULL);
	return m;
}

void x_memory_free(struct xmemory *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n; i++) {
		free(m->region[i].written);
		free(m->region[i].unknown);
	}
	for (size_t i = 0; i < X_ATOMIC_LOCKS; i++)
		pthread_mutex_destroy(&m->lock[i]);
	pthread_mutex_destroy(&m->race_lock);
	free(m->region);
	free(m->race);
	free(m);
}

uint64_t x_memory_map(struct xmemory *m, const char *name, void *data, uint64_t bytes, bool writable,
		      bool initialised)
{
	struct xregion *r;

	m->region = xgrow(m->region, m->n, &m->cap, sizeof(*m->region));
	r = &m->region[m->n++];
	*r = (struct xregion){.name = name, .base = m->next, .bytes = bytes, .data = data, .writable = writable};
	if (!initialised && data)
		r->written = xcalloc((size_t)(bytes / 64 + 1), sizeof(uint64_t));
	m->next = (m->next + bytes + REGION_GAP + REGION_ALIGN - 1) & ~(REGION_ALIGN - 1);
	return r->base;
}

void x_memory_unknown(struct xmemory *m, uint64_t address, uint64_t bytes)
{
	for (size_t i = 0; i < m->n; i++) {
		struct xregion *r = &m->region[i];

		if (address < r->base || address - r->base >= r->bytes)
			continue;
		if (!r->unknown)
			r->unknown = xcalloc((size_t)(r->bytes / 64 + 1), sizeof(uint64_t));
		for (uint64_t b = address - r->base; b < r->bytes && bytes; b++, bytes--)
			r->unknown[b / 64] |= 1ull << b % 64;
	}
}

static const struct xregion *find_region(struct xlocal *l, uint64_t addr)
{
	const struct xmemory *m = l->m;
	size_t lo = 0, hi = m->n;

	if (l->hint < m->n && addr - m->region[l->hint].base < m->region[l->hint].bytes)
		return &m->region[l->hint];
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (addr < m->region[mid].base)
			hi = mid;
		else
			lo = mid + 1;
	}
	if (!lo || addr - m->region[lo - 1].base >= m->region[lo - 1].bytes)
		return NULL;
	l->hint = lo - 1;
	return &m->region[lo - 1];
}

static int out_of_bounds(struct xwave *w, const struct xinsn *in, int lane, uint64_t addr, unsigned bytes,
			 const char *verb)
{
	const struct xmemory *m = w->local->m;
	const struct xregion *near = NULL;
	uint64_t distance = UINT64_MAX;
	bool behind = false;

	for (size_t i = 0; i < m->n; i++) {
		const struct xregion *r = &m->region[i];
		uint64_t d = addr < r->base		 ? r->base - addr
			     : addr - r->base < r->bytes ? r->bytes - (addr - r->base)
							 : addr - r->base - r->bytes;

		if (d < distance) {
			distance = d;
			near = r;
			behind = addr >= r->base;
		}
	}
	if (!near)
		return x_fault(w, in, DIAG_BOUNDS, lane,
			       "%s %u bytes at address 0x%" PRIx64 ", but the kernel has no memory", verb, bytes,
			       addr);
	if (addr - near->base < near->bytes)
		return x_fault(w, in, DIAG_BOUNDS, lane,
			       "%s %u bytes at byte %" PRIu64 " of %s, which has %" PRIu64 " bytes", verb, bytes,
			       addr - near->base, near->name, near->bytes);
	if (distance >= REGION_GAP)
		return x_fault(w, in, DIAG_BOUNDS, lane,
			       "%s %u bytes at address 0x%" PRIx64 ", far from all memory of the kernel", verb,
			       bytes, addr);
	return x_fault(w, in, DIAG_BOUNDS, lane,
		       "%s %u bytes at %" PRIu64 " byte%s %s of %s, which has %" PRIu64 " bytes", verb, bytes,
		       distance, distance == 1 ? "" : "s", behind ? "behind the end" : "in front of the beginning",
		       near->name, near->bytes);
}

static const struct xregion *check_global(struct xwave *w, const struct xinsn *in, int lane, uint64_t addr,
					  unsigned bytes, const char *verb)
{
	const struct xregion *r = find_region(w->local, addr);

	if (r && bytes <= r->bytes - (addr - r->base))
		return r;
	out_of_bounds(w, in, lane, addr, bytes, verb);
	return NULL;
}

/* Dwords one by one, so that a workgroup that waits for a value of another one sees it whole. */
static void copy_from(void *to, const uint8_t *from, unsigned bytes)
{
	if (((uintptr_t)from | bytes) & 3) {
		memcpy(to, from, bytes);
		return;
	}
	for (unsigned i = 0; i < bytes; i += 4) {
		uint32_t v = __atomic_load_n((const uint32_t *)(const void *)(from + i), __ATOMIC_RELAXED);

		memcpy((uint8_t *)to + i, &v, 4);
	}
}

static void copy_to(uint8_t *to, const void *from, unsigned bytes)
{
	if (((uintptr_t)to | bytes) & 3) {
		memcpy(to, from, bytes);
		return;
	}
	for (unsigned i = 0; i < bytes; i += 4) {
		uint32_t v;

		memcpy(&v, (const uint8_t *)from + i, 4);
		__atomic_store_n((uint32_t *)(void *)(to + i), v, __ATOMIC_RELAXED);
	}
}

static void mark_written(const struct xregion *r, uint64_t at, unsigned bytes)
{
	while (bytes) {
		unsigned bit = at % 64, n = bytes < 64 - bit ? bytes : 64 - bit;
		uint64_t mask = (n == 64 ? ~0ull : (1ull << n) - 1) << bit, *word = &r->written[at / 64];

		if ((__atomic_load_n(word, __ATOMIC_RELAXED) & mask) != mask)
			__atomic_fetch_or(word, mask, __ATOMIC_RELAXED);
		at += n;
		bytes -= n;
	}
}

/* Bits of a bitmap from bit at on, n of them, 64 at most. */
static uint64_t bits_at(const uint64_t *map, uint64_t at, unsigned n)
{
	unsigned bit = at % 64;
	uint64_t v = __atomic_load_n(&map[at / 64], __ATOMIC_RELAXED) >> bit;

	if (bit + n > 64)
		v |= __atomic_load_n(&map[at / 64 + 1], __ATOMIC_RELAXED) << (64 - bit);
	return n == 64 ? v : v & ((1ull << n) - 1);
}

/* Only what the launch itself puts there: sizes, not the arguments and not what buffers hold. */
bool global_known(const struct xwave *w, uint64_t addr, unsigned bytes)
{
	const struct xregion *r = find_region(w->local, addr);

	return r && r->data && !r->writable && bytes <= r->bytes - (addr - r->base) &&
	       !(r->unknown && bits_at(r->unknown, addr - r->base, bytes));
}

static uint64_t never_written(const struct xregion *r, uint64_t at, unsigned bytes)
{
	uint64_t all = bytes == 64 ? ~0ull : (1ull << bytes) - 1;

	return r->written ? all & ~bits_at(r->written, at, bytes) : 0;
}

int global_get(struct xwave *w, const struct xinsn *in, int lane, uint64_t addr, void *to, unsigned bytes,
	       uint64_t *undef)
{
	const struct xregion *r = check_global(w, in, lane, addr, bytes, "reads");

	if (!r)
		return -1;
	if (r->writable)
		race_global(w, addr, bytes, XA_READ, false);
	*undef = never_written(r, addr - r->base, bytes);
	if (r->data)
		copy_from(to, r->data + (addr - r->base), bytes);
	else
		memset(to, 0, bytes);
	return 0;
}

int global_put(struct xwave *w, const struct xinsn *in, int lane, uint64_t addr, const void *from, unsigned bytes)
{
	const struct xregion *r = check_global(w, in, lane, addr, bytes, "writes");
	uint8_t now[64];
	bool same = false;

	if (!r)
		return -1;
	if (!r->writable)
		return x_fault(w, in, DIAG_BOUNDS, lane,
			       "writes %u bytes at byte %" PRIu64 " of %s, which may only be read", bytes,
			       addr - r->base, r->name);
	if (r->data && w->local->nclocks > 1) {
		copy_from(now, r->data + (addr - r->base), bytes);
		same = !memcmp(now, from, bytes);
	}
	race_global(w, addr, bytes, XA_WRITE, same);
	if (r->data)
		copy_to(r->data + (addr - r->base), from, bytes);
	if (r->written)
		mark_written(r, addr - r->base, bytes);
	return 0;
}

int global_atomic(struct xwave *w, const struct xinsn *in, unsigned lane, uint64_t addr, enum xatomic op,
		  unsigned bytes, uint64_t a, uint64_t b, uint64_t *old, bool *undef)
{
	const struct xregion *r = check_global(w, in, (int)lane, addr, bytes, "updates");
	pthread_mutex_t *lock;
	uint64_t v;
	unsigned flush = x_gfx9(w) && bytes == 4 ? FLUSH_IN | FLUSH_OUT : 0; /* L2 of gfx9 flushes 32-bit floats */

	if (!r)
		return -1;
	if (!r->writable)
		return x_fault(w, in, DIAG_BOUNDS, (int)lane, "updates %u bytes of %s, which may only be read",
			       bytes, r->name);
	if (addr % bytes)
		return x_fault(w, in, DIAG_ALIGN, (int)lane,
			       "an atomic of %u bytes at byte %" PRIu64 " of %s: not a multiple of %u", bytes,
			       addr - r->base, r->name, bytes);
	race_global(w, addr, bytes, XA_ATOMIC, false);
	*old = 0;
	*undef = never_written(r, addr - r->base, bytes) != 0;
	if (!r->data)
		return 0;
	lock = &w->local->m->lock[addr / 8 % X_ATOMIC_LOCKS];
	pthread_mutex_lock(lock);
	copy_from(old, r->data + (addr - r->base), bytes);
	v = atomic_apply(op, bytes, *old, a, b, flush);
	copy_to(r->data + (addr - r->base), &v, bytes);
	pthread_mutex_unlock(lock);
	if (r->written)
		mark_written(r, addr - r->base, bytes);
	return 0;
}

int x_global_read(struct xwave *w, const struct xinsn *in, unsigned lane, uint64_t addr, void *to, unsigned bytes,
		  bool *defined)
{
	*defined = true;
	for (unsigned at = 0; at < bytes; at += 64) {
		uint64_t undef;

		if (global_get(w, in, (int)lane, addr + at, (uint8_t *)to + at, bytes - at < 64 ? bytes - at : 64,
			       &undef) < 0)
			return -1;
		*defined = *defined && !undef;
	}
	return 0;
}

int x_global_write(struct xwave *w, const struct xinsn *in, unsigned lane, uint64_t addr, const void *from,
		   unsigned bytes)
{
	return global_put(w, in, (int)lane, addr, from, bytes);
}

int bad_operand(struct xwave *w, const struct xinsn *in, unsigned i)
{
	return x_fault(w, in, DIAG_UNSUPPORTED, -1, "operand %u has a form that this memory instruction can't have",
		       i + 1);
}

/* ---- workgroups ---- */

struct xlocal *x_local_new(struct xmemory *m, uint64_t workgroup, unsigned waves, unsigned lanes,
			   uint32_t lds_bytes, uint32_t scratch_bytes, struct exec_site *site)
{
	struct xlocal *l = xcalloc(1, sizeof(*l));

	l->m = m;
	l->workgroup = workgroup;
	l->waves = waves;
	l->lanes = lanes;
	l->site = site;
	l->lds_bytes = lds_bytes;
	l->scratch_bytes = scratch_bytes;
	l->lds = xcalloc((size_t)lds_bytes + 1, 1);
	l->lds_defined = xcalloc((size_t)lds_bytes + 1, 1);
	l->access.addr = l->access_addr;
	race_init(l);
	return l;
}

void x_local_free(struct xlocal *l)
{
	if (!l)
		return;
	race_free(l);
	free(l->lds);
	free(l->lds_defined);
	free(l->scratch);
	free(l->scratch_defined);
	free(l->memo);
	free(l);
}

uint32_t x_lds_bytes(const struct xwave *w)
{
	return w->local->lds_bytes;
}

/* ---- LDS ---- */

static int lds_bounds(struct xwave *w, const struct xinsn *in, int lane, uint64_t addr, unsigned bytes,
		      const char *verb)
{
	uint32_t size = w->local->lds_bytes;

	if (addr < size && bytes <= size - addr)
		return 0;
	if (!size)
		return x_fault(w, in, DIAG_BOUNDS, lane,
			       "%s %u bytes of LDS at %" PRIu64 ", but the workgroup has no LDS", verb, bytes,
			       addr);
	return x_fault(w, in, DIAG_BOUNDS, lane,
		       "%s %u bytes of LDS at %" PRIu64 ", but the workgroup has %" PRIu32 " bytes", verb, bytes,
		       addr, size);
}

int lds_get(struct xwave *w, const struct xinsn *in, int lane, uint64_t addr, void *to, unsigned bytes,
	    enum xlds_kind kind, uint64_t *undef)
{
	struct xlocal *l = w->local;

	if (lds_bounds(w, in, lane, addr, bytes, "reads") < 0)
		return -1;
	race_lds(w, (uint32_t)addr, bytes, XA_READ, kind, false);
	memcpy(to, l->lds + addr, bytes);
	*undef = 0;
	for (unsigned i = 0; i < bytes && !l->m->analysis; i++) /* there, writes may have been passed over */
		*undef |= (uint64_t)!l->lds_defined[addr + i] << i;
	return 0;
}

int lds_put(struct xwave *w, const struct xinsn *in, int lane, uint64_t addr, const void *from, unsigned bytes,
	    enum xlds_kind kind, uint64_t undef)
{
	struct xlocal *l = w->local;
	bool same;

	if (lds_bounds(w, in, lane, addr, bytes, "writes") < 0)
		return -1;
	same = !memcmp(l->lds + addr, from, bytes);
	race_lds(w, (uint32_t)addr, bytes, XA_WRITE, kind, same);
	if (!same)
		memcpy(l->lds + addr, from, bytes);
	if (!undef)
		memset(l->lds_defined + addr, 1, bytes);
	else
		for (unsigned i = 0; i < bytes; i++)
			l->lds_defined[addr + i] = !(undef >> i & 1);
	return 0;
}

int lds_atomic(struct xwave *w, const struct xinsn *in, int lane, uint64_t addr, enum xatomic op, unsigned bytes,
	       uint64_t a, uint64_t b, unsigned flush, enum xlds_kind kind, uint64_t *old, bool *undef)
{
	struct xlocal *l = w->local;
	uint64_t v;

	if (lds_bounds(w, in, lane, addr, bytes, "updates") < 0)
		return -1;
	if (addr % bytes)
		return x_fault(w, in, DIAG_ALIGN, lane,
			       "an atomic of %u bytes at LDS address %" PRIu64 ", which is no multiple of %u",
			       bytes, addr, bytes);
	race_lds(w, (uint32_t)addr, bytes, op == AT_ARRIVE ? XA_ARRIVE : XA_ATOMIC, kind, false);
	*old = 0;
	*undef = !l->m->analysis && memchr(l->lds_defined + addr, 0, bytes);
	memcpy(old, l->lds + addr, bytes);
	v = atomic_apply(op, bytes, *old, a, b, flush);
	memcpy(l->lds + addr, &v, bytes);
	if (!*undef || op == AT_SWAP)
		memset(l->lds_defined + addr, 1, bytes);
	return 0;
}

int x_lds_read(struct xwave *w, const struct xinsn *in, unsigned lane, uint32_t addr, void *to, unsigned bytes,
	       bool *defined)
{
	uint64_t undef;

	if (lds_get(w, in, (int)lane, addr, to, bytes, XLDS_DS, &undef) < 0)
		return -1;
	*defined = !undef;
	return 0;
}

int x_lds_write(struct xwave *w, const struct xinsn *in, unsigned lane, uint32_t addr, const void *from,
		unsigned bytes, enum xlds_kind kind)
{
	return lds_put(w, in, (int)lane, addr, from, bytes, kind, 0);
}

/* ---- what one LDS access costs ---- */

/* Only differences of addresses and the bank of the first one matter; one pattern is remembered an instruction. */
static uint64_t pattern_key(const uint32_t *addr, unsigned lanes, unsigned row_bytes)
{
	uint64_t key = 0x9e3779b97f4a7c15ull;
	uint32_t first = UINT32_MAX;

	for (unsigned i = 0; i < lanes; i++) {
		uint64_t v = UINT32_MAX;

		if (addr[i] != UINT32_MAX) {
			if (first == UINT32_MAX)
				first = addr[i] - addr[i] % row_bytes;
			v = addr[i] - first;
		}
		key = (key ^ v) * 0xff51afd7ed558ccdull;
		key ^= key >> 29;
	}
	return key ? key : 1;
}

static void add_cost(struct xwave *w, const struct xinsn *in, const uint32_t *addr)
{
	struct xlocal *l = w->local;
	const struct lds_row *row = in->base->lds;
	struct exec_site *site = &l->site[in->index];
	struct site_memo *memo;
	uint64_t key;

	if (!row)
		return;
	if (!l->memo)
		l->memo = xcalloc(l->m->p->ninsns, sizeof(*l->memo));
	memo = &l->memo[in->index];
	key = pattern_key(addr, w->lanes, 4 * (row->banks ? row->banks : 64));
	if (memo->key != key) {
		memo->key = key;
		memo->clk = lds_array_clk(row, w->lanes, addr, UINT32_MAX, (unsigned)x_target(w)->v.lds_unaligned);
		memo->free_clk = lds_array_clk_free(row);
	}
	site->lds_clk += memo->clk;
	site->lds_clk_free += memo->free_clk;
	if (memo->clk > site->worst_lds_clk)
		site->worst_lds_clk = memo->clk;
}

void x_lds_begin(struct xwave *w, const struct xinsn *in, const uint32_t addr[64], unsigned width_bytes, bool write,
		 bool unknown)
{
	struct xlocal *l = w->local;

	memcpy(l->access_addr, addr, w->lanes * sizeof(*addr));
	l->access.lanes = w->lanes;
	l->access.width_bytes = width_bytes;
	l->access.write = write;
	l->access.unknown = unknown;
	l->accessed = true;
	if (!unknown && l->site)
		add_cost(w, in, addr);
}

void x_lds_pieces(struct xwave *w, const uint32_t *addr, unsigned n, unsigned width_bytes, bool write)
{
	struct xlocal *l = w->local;

	memcpy(l->access_addr, addr, n * sizeof(*addr));
	l->access.lanes = n;
	l->access.width_bytes = width_bytes;
	l->access.write = write;
	l->access.unknown = false;
	l->accessed = true;
}

const struct exec_lds *x_local_access(const struct xwave *w)
{
	return w->local->accessed ? &w->local->access : NULL;
}

/* ---- scratch ---- */

static int64_t scratch_at(struct xwave *w, const struct xinsn *in, unsigned lane, int64_t addr, unsigned bytes,
			  const char *verb)
{
	struct xlocal *l = w->local;
	size_t all = (size_t)l->waves * l->lanes * l->scratch_bytes;

	if (addr < 0 || addr >= l->scratch_bytes || bytes > l->scratch_bytes - addr)
		return x_fault(w, in, DIAG_BOUNDS, (int)lane,
			       "%s %u bytes of scratch memory at %" PRId64 ", but a lane has %" PRIu32 " bytes",
			       verb, bytes, addr, l->scratch_bytes);
	if (!l->scratch) {
		l->scratch = xcalloc(all, 1);
		l->scratch_defined = xcalloc(all, 1);
	}
	return (int64_t)(((size_t)w->id * l->lanes + lane) * l->scratch_bytes) + addr;
}

int scratch_get(struct xwave *w, const struct xinsn *in, unsigned lane, int64_t addr, void *to, unsigned bytes,
		uint64_t *undef)
{
	int64_t at = scratch_at(w, in, lane, addr, bytes, "reads");

	if (at < 0)
		return -1;
	memcpy(to, w->local->scratch + at, bytes);
	*undef = 0;
	for (unsigned i = 0; i < bytes && !w->local->m->analysis; i++)
		*undef |= (uint64_t)!w->local->scratch_defined[at + i] << i;
	return 0;
}

int scratch_put(struct xwave *w, const struct xinsn *in, unsigned lane, int64_t addr, const void *from,
		unsigned bytes, uint64_t undef)
{
	int64_t at = scratch_at(w, in, lane, addr, bytes, "writes");

	if (at < 0)
		return -1;
	memcpy(w->local->scratch + at, from, bytes);
	for (unsigned i = 0; i < bytes; i++)
		w->local->scratch_defined[at + i] = !(undef >> i & 1);
	return 0;
}
