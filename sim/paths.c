/* Following a listing wave by wave, and putting waves that go the same way into groups. */
#include "paths.h"

#include <stdlib.h>
#include <string.h>

#include "exec.h"

#define MAX_STEPS (4u << 20)      /* of all waves together */
#define MAX_POOL (64u << 20)      /* addresses kept, in words */
#define UNKNOWN_TRIPS 4

struct wave_path {
	struct check_step *step; /* access: number of the address set, -1 */
	size_t n, cap;
};

struct address_set { /* of one wave's LDS instruction */
	size_t at;       /* in the pool */
	uint16_t lanes, width_bytes;
	bool write;
	uint64_t hash;
};

struct follower {
	const struct program *p;
	struct paths *out;
	struct wave_path wave[PROG_MAX_WAVES];
	unsigned waves;
	size_t steps;
	bool too_long;
	uint32_t *pool;
	size_t npool, cappool;
	struct address_set *set;
	size_t nset, capset;
	uint32_t *bucket; /* 1 + set */
	size_t nbuckets;
};

static uint64_t hash_words(const uint32_t *w, size_t n, uint64_t h)
{
	for (size_t i = 0; i < n; i++)
		h = (h ^ w[i]) * 1099511628211ull;
	return h ^ h >> 29;
}

static void rehash(struct follower *f)
{
	size_t n = f->nbuckets ? f->nbuckets * 4 : 1024;

	free(f->bucket);
	f->bucket = xcalloc(n, sizeof(*f->bucket));
	f->nbuckets = n;
	for (size_t i = 0; i < f->nset; i++) {
		size_t b = f->set[i].hash % n;

		while (f->bucket[b])
			b = (b + 1) % n;
		f->bucket[b] = (uint32_t)i + 1;
	}
}

static int32_t intern(struct follower *f, const struct exec_lds *l)
{
	uint64_t h = hash_words(l->addr, l->lanes, 1469598103934665603ull ^ l->width_bytes * 2ull ^ l->write);
	size_t b;

	if (f->nset * 2 >= f->nbuckets)
		rehash(f);
	for (b = h % f->nbuckets; f->bucket[b]; b = (b + 1) % f->nbuckets) {
		const struct address_set *s = &f->set[f->bucket[b] - 1];

		if (s->hash == h && s->lanes == l->lanes && s->width_bytes == l->width_bytes && s->write == l->write &&
		    !memcmp(f->pool + s->at, l->addr, l->lanes * sizeof(*l->addr)))
			return (int32_t)f->bucket[b] - 1;
	}
	if (f->npool + l->lanes > MAX_POOL) {
		f->too_long = true;
		return -1;
	}
	while (f->npool + l->lanes > f->cappool) {
		f->cappool = f->cappool ? f->cappool * 2 : 4096;
		f->pool = xreallocarray(f->pool, f->cappool, sizeof(*f->pool));
	}
	memcpy(f->pool + f->npool, l->addr, l->lanes * sizeof(*l->addr));
	f->set = xgrow(f->set, f->nset, &f->capset, sizeof(*f->set));
	f->set[f->nset] = (struct address_set){ f->npool, (uint16_t)l->lanes, (uint16_t)l->width_bytes, l->write, h };
	f->npool += l->lanes;
	f->bucket[b] = (uint32_t)f->nset + 1;
	return (int32_t)f->nset++;
}

static void on_insn(void *ctx, uint64_t workgroup, unsigned wave, uint32_t insn, const struct exec_lds *lds)
{
	struct follower *f = ctx;
	struct wave_path *w;

	if (workgroup || wave >= f->waves || f->too_long)
		return;
	w = &f->wave[wave];
	if (++f->steps > MAX_STEPS) {
		f->too_long = true;
		exec_interrupt();
		return;
	}
	w->step = xgrow(w->step, w->n, &w->cap, sizeof(*w->step));
	w->step[w->n++] = (struct check_step){ insn, lds && !lds->unknown ? intern(f, lds) : -1 };
	f->out->check.unknown += lds && lds->unknown;
}

/* ---- groups ---- */

static bool same_way(const struct wave_path *a, const struct wave_path *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->step[i].insn != b->step[i].insn || (a->step[i].access < 0) != (b->step[i].access < 0))
			return false;
	return true;
}

/* The fewest equal blocks of neighbouring waves that each go one way; 0: none. */
static unsigned find_groups(const struct follower *f)
{
	for (unsigned g = 1; g <= PROG_MAX_GROUPS; g *= 2) {
		unsigned per = f->waves / g;
		bool ok = f->waves % g == 0;

		for (unsigned w = 0; ok && w < f->waves; w++)
			ok = same_way(&f->wave[w / per * per], &f->wave[w]);
		if (ok)
			return g;
	}
	return 0;
}

static bool is_atomic(const struct insn *in)
{
	return in->op && !strncmp(in->op, "ds_", 3) && !strstr(in->op, "read") && !strstr(in->op, "write") &&
	       !strstr(in->op, "load") && !strstr(in->op, "store");
}

/* One access of a group from those of its waves; equal ones are kept once. */
static int32_t group_access(struct follower *f, unsigned first, unsigned per, size_t i, int32_t *seen, size_t nseen)
{
	struct paths *out = f->out;
	const struct address_set *s = &f->set[f->wave[first].step[i].access];
	const struct insn *in = &f->p->insns[f->wave[first].step[i].insn];
	unsigned lanes = s->lanes;
	uint32_t *addr;
	int32_t *memo = &seen[(size_t)f->wave[first].step[i].access % nseen];
	struct check_access *a;

	addr = xcalloc((size_t)per * lanes + 1, sizeof(*addr));
	for (unsigned w = 0; w < per; w++) {
		const struct address_set *x = &f->set[f->wave[first + w].step[i].access];

		for (unsigned l = 0; l < lanes; l++)
			addr[w * lanes + l] = l < x->lanes ? f->pool[x->at + l] : UINT32_MAX;
	}
	if (*memo >= 0) {
		a = &out->check.access[*memo];
		if (a->lanes == lanes && a->width_bytes == s->width_bytes && a->write == s->write && a->copy == (in->cls == OPC_VMEM_LDS || in->cls == OPC_TDM_LOAD) &&
		    a->atomic == is_atomic(in) && !memcmp(a->addr, addr, (size_t)per * lanes * sizeof(*addr))) {
			free(addr);
			return *memo;
		}
	}
	a = &out->check.access[out->check.naccess];
	*a = (struct check_access){
		.addr = arena_alloc(out->arena, (size_t)per * lanes + 1, sizeof(*addr)), .lanes = (uint16_t)lanes,
		.width_bytes = s->width_bytes, .write = s->write, .atomic = is_atomic(in),
		.copy = in->cls == OPC_VMEM_LDS || in->cls == OPC_TDM_LOAD || in->cls == OPC_TDM_STORE,
	};
	memcpy((uint32_t *)(uintptr_t)a->addr, addr, (size_t)per * lanes * sizeof(*addr));
	free(addr);
	*memo = (int32_t)out->check.naccess++;
	return *memo;
}

static void fill_groups(struct follower *f, unsigned groups)
{
	struct paths *out = f->out;
	unsigned per = f->waves / groups;
	size_t most = 0, nseen = 4096;
	int32_t *seen = xcalloc(nseen, sizeof(*seen));

	out->check.groups = groups;
	for (unsigned g = 0; g < groups; g++)
		for (size_t i = 0; i < f->wave[g * per].n; i++)
			most += f->wave[g * per].step[i].access >= 0;
	out->check.access = arena_alloc(out->arena, most + 1, sizeof(*out->check.access));
	for (unsigned g = 0; g < groups; g++) {
		const struct wave_path *w = &f->wave[g * per];

		memset(seen, 0xff, nseen * sizeof(*seen));
		out->check.step[g] = arena_alloc(out->arena, w->n + 1, sizeof(*out->check.step[g]));
		out->check.n[g] = w->n;
		for (size_t i = 0; i < w->n; i++)
			out->check.step[g][i] = (struct check_step){
				w->step[i].insn, w->step[i].access >= 0 ? group_access(f, g * per, per, i, seen, nseen) : -1,
			};
	}
	free(seen);
}

static void fill_program(struct follower *f)
{
	struct paths *out = f->out;
	struct program *p = &out->program;

	*p = *f->p;
	p->waves = f->waves;
	p->groups = out->check.groups;
	p->insns = arena_alloc(out->arena, p->ninsns + 1, sizeof(*p->insns));
	memcpy(p->insns, f->p->insns, p->ninsns * sizeof(*p->insns));
	for (size_t i = 0; i < p->ninsns; i++)
		p->insns[i].groups = 0;
	for (unsigned g = 0; g < p->groups; g++) {
		p->main_loop[g] = -1;
		for (size_t i = 0; i < out->check.n[g]; i++)
			p->insns[out->check.step[g][i].insn].groups |= (uint8_t)(1u << g);
	}
	p->nloops = 0;
	p->nbuffers = 0;
	p->ksteps = 0;
}

/* ---- the offset between two groups ---- */

static bool arrives(const struct insn *in)
{
	return in->barrier == BAR_WORKGROUP && (in->cls == OPC_BARRIER || in->cls == OPC_SIGNAL);
}

/* Arrivals of the group before its first execution of insn; UINT32_MAX when it never comes there. */
static uint32_t arrivals_before(const struct paths *out, unsigned g, uint32_t insn)
{
	uint32_t n = 0;

	for (size_t i = 0; i < out->check.n[g]; i++) {
		if (out->check.step[g][i].insn == insn)
			return n;
		n += arrives(&out->program.insns[out->check.step[g][i].insn]);
	}
	return UINT32_MAX;
}

/* What group A does most often, of matrix ops the first: where both groups are compared. A barrier when there is none. */
static uint32_t find_landmark(const struct paths *out)
{
	uint32_t *count = xcalloc(out->program.ninsns + 1, sizeof(*count)), best = UINT32_MAX, most = 1;

	for (size_t i = 0; i < out->check.n[0]; i++) {
		uint32_t x = out->check.step[0][i].insn;

		if (arrives(&out->program.insns[x]) || out->program.insns[x].cls == OPC_MATRIX)
			count[x]++;
	}
	for (unsigned pass = 0; pass < 2 && best == UINT32_MAX; pass++)
		for (uint32_t x = 0; x < out->program.ninsns; x++)
			if (count[x] > most && (pass || out->program.insns[x].cls == OPC_MATRIX)) {
				most = count[x];
				best = x;
			}
	free(count);
	return best;
}

static void find_offset(struct paths *out)
{
	uint32_t a, b;

	out->landmark = find_landmark(out);
	if (out->check.groups < 2 || out->landmark == UINT32_MAX)
		return;
	a = arrivals_before(out, 0, out->landmark);
	b = arrivals_before(out, out->check.groups / 2, out->landmark);
	if (b == UINT32_MAX)
		out->two_bodies = true;
	else
		out->offset = b > a ? b - a : a - b;
}

/* ---- following ---- */

static unsigned lanes_of(const struct program *p)
{
	return (unsigned)p->target->v.wave_size;
}

static unsigned waves_of(const struct program *p, const struct listing_info *info)
{
	unsigned lanes = lanes_of(p), threads = info->workgroup_threads;
	const unsigned *r = info->launch.reqd_size;

	if (r[0])
		threads = r[0] * (r[1] ? r[1] : 1) * (r[2] ? r[2] : 1);
	return threads ? (threads + lanes - 1) / lanes : 1;
}

static void give_up(struct paths *out, const struct program *p, const char *why, const struct diag *d)
{
	out->gave_up = why;
	out->gave_up_at = UINT32_MAX;
	for (uint32_t i = 0; d && d->n && i < p->ninsns && out->gave_up_at == UINT32_MAX; i++)
		if (p->insns[i].loc.begin == d->list[0].loc.begin)
			out->gave_up_at = i;
}

/* Races are the checker's to judge; what ends a wave early leaves a way that is not the whole one. */
static bool usable(const struct diag *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->list[i].severity == SEV_ERROR && d->list[i].code != DIAG_RACE)
			return false;
	return true;
}

/* Threads of a workgroup in each dimension; false when the text leaves the shape open. */
static bool find_block(const struct program *p, const struct listing_info *info, const unsigned given[3], unsigned waves, unsigned block[3])
{
	unsigned lanes = lanes_of(p);
	const unsigned *from = given[0] ? given : !waves ? info->launch.reqd_size : given;

	for (unsigned i = 0; i < 3; i++)
		block[i] = from[i] ? from[i] : 1;
	if (from[0])
		return true;
	block[0] = (waves ? waves : waves_of(p, info)) * lanes;
	return !info->launch.described || !info->launch.workitem_dims; /* a snippet has threads in a row */
}

void paths_follow(const struct program *p, const struct listing_info *info, const unsigned block[3], unsigned waves,
		  struct exec_launch *launch, struct diag *found, struct paths *out)
{
	struct follower f = { .p = p, .out = out };
	struct exec_result result = { 0 };
	struct exec_launch l = { .grid = { 1, 1, 1 } };
	struct exec_options o = {
		.threads = 1, .analysis = true, .unknown_trips = UNKNOWN_TRIPS, .max_insns = MAX_STEPS, .on_insn = on_insn, .ctx = &f,
	};
	struct diag d;
	unsigned groups, lanes = lanes_of(p);
	bool shaped = launch || find_block(p, info, block, waves, l.block);

	if (launch) {
		l = *launch;
		o.analysis = false;
		o.only = true;
	}
	memset(out, 0, sizeof(*out));
	out->arena = arena_new();
	out->landmark = UINT32_MAX;
	f.waves = (l.block[0] * l.block[1] * l.block[2] + lanes - 1) / lanes;
	out->waves = f.waves;
	if (!shaped || f.waves > PROG_MAX_WAVES) {
		give_up(out, p, shaped ? "the workgroup has more waves than can be followed" :
			"threads have more than one dimension and the text does not say how many (--block X,Y,Z says it)", NULL);
		return;
	}
	/* what is asked for at launch is not known: all that there is */
	if (!launch && p->target->v.lds_bytes > info->lds_bytes)
		l.dynamic_lds_bytes = (unsigned)p->target->v.lds_bytes - info->lds_bytes;
	diag_init(&d);
	out->exact = launch != NULL;
	exec_run(p, info, &l, &o, &result, launch ? found : &d);
	groups = usable(launch ? found : &d) && !f.too_long ? find_groups(&f) : 0;
	if (launch && !usable(found))
		give_up(out, p, "the execution found faults", NULL);
	else if (!usable(&d))
		give_up(out, p, d.list[0].message ? arena_strdup(out->arena, d.list[0].message) : "it can't be followed", &d);
	else if (f.too_long)
		give_up(out, p, "it is too long to be followed", NULL);
	else if (!groups)
		give_up(out, p, "its waves go more than eight ways", NULL);
	if (groups) {
		fill_groups(&f, groups);
		fill_program(&f);
		find_offset(out);
	}
	exec_result_free(&result);
	diag_free(&d);
	for (unsigned w = 0; w < PROG_MAX_WAVES; w++)
		free(f.wave[w].step);
	free(f.pool);
	free(f.set);
	free(f.bucket);
}

void paths_free(struct paths *paths)
{
	arena_free(paths->arena);
	memset(paths, 0, sizeof(*paths));
}
