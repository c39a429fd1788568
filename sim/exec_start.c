/* Launches: checks, buffers, kernel arguments, and the registers that a wave starts with. */
#include "exec_core.h"

#include <stdlib.h>

#define MAX_THREADS 1024
#define MAX_WORKGROUPS (UINT64_C(1) << 40)
#define MAX_SCRATCH_BYTES (2u << 20) /* of a lane */
#define MAX_KERNARG_BYTES (1u << 20)

/* ---- checks ---- */

static int refuse(const struct xrun *r, struct diag *d, const char *fmt, ...) PRINTF_LIKE(3, 4);
static int refuse(const struct xrun *r, struct diag *d, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	diag_add(d, r->prog->p->insns[0].loc, DIAG_LAUNCH, "%s", text);
	return -1;
}

static int check_sizes(struct xrun *r, struct diag *d)
{
	const struct exec_launch *l = r->l;
	const struct listing_info *info = r->prog->info;
	uint64_t threads = (uint64_t)l->block[0] * l->block[1];
	uint64_t groups = (uint64_t)l->grid[0] * l->grid[1];

	if (!l->block[0] || !l->block[1] || !l->block[2] || threads > MAX_THREADS || threads * l->block[2] > MAX_THREADS)
		return refuse(r, d, "a workgroup of %u x %u x %u threads can't be launched: 1 to %u are allowed", l->block[0], l->block[1],
			      l->block[2], MAX_THREADS);
	threads *= l->block[2];
	if (!l->grid[0] || !l->grid[1] || !l->grid[2] || groups > MAX_WORKGROUPS || groups * l->grid[2] > MAX_WORKGROUPS)
		return refuse(r, d, "a grid of %u x %u x %u workgroups can't be launched", l->grid[0], l->grid[1], l->grid[2]);
	if (info->workgroup_threads && threads > info->workgroup_threads)
		return refuse(r, d, "the workgroup has %llu threads, and the kernel is built for %u at most", (unsigned long long)threads,
			      info->workgroup_threads);
	for (unsigned i = 0; i < 3; i++)
		if (info->launch.reqd_size[i] && info->launch.reqd_size[i] != l->block[i])
			return refuse(r, d, "the kernel asks for a workgroup of %u x %u x %u threads, not %u x %u x %u",
				      info->launch.reqd_size[0], info->launch.reqd_size[1], info->launch.reqd_size[2], l->block[0],
				      l->block[1], l->block[2]);
	if (info->scratch_bytes > MAX_SCRATCH_BYTES)
		return refuse(r, d, "the kernel wants %u bytes of private memory for each lane, and %u are the most", info->scratch_bytes,
			      MAX_SCRATCH_BYTES);
	r->lds_bytes = info->lds_bytes + l->dynamic_lds_bytes;
	if (r->lds_bytes < info->lds_bytes || r->lds_bytes > (uint32_t)r->prog->p->target->v.lds_bytes)
		return refuse(r, d, "the workgroup needs %llu bytes of LDS, and %s has %u",
			      (unsigned long long)info->lds_bytes + l->dynamic_lds_bytes, r->prog->p->target->name, (unsigned)r->prog->p->target->v.lds_bytes);
	return 0;
}

static int check_cluster(struct xrun *r, struct diag *d)
{
	const struct exec_launch *l = r->l;
	unsigned n = 1;

	r->nclusters = 1;
	for (unsigned i = 0; i < 3; i++) {
		r->cluster[i] = l->cluster[i] ? l->cluster[i] : 1;
		if (r->cluster[i] > X_MAX_CLUSTER || l->grid[i] % r->cluster[i])
			return refuse(r, d, "clusters of %u x %u x %u workgroups do not fit the grid", l->cluster[0], l->cluster[1],
				      l->cluster[2]);
		n *= r->cluster[i];
		r->clusters[i] = l->grid[i] / r->cluster[i];
		r->nclusters *= r->clusters[i];
	}
	if (n > X_MAX_CLUSTER)
		return refuse(r, d, "a cluster has %u workgroups at most", X_MAX_CLUSTER);
	return 0;
}

/* ---- kernel arguments ---- */

static void put(uint8_t *to, size_t room, unsigned offset, unsigned size, uint64_t v)
{
	for (unsigned i = 0; i < size && i < 8 && (size_t)offset + i < room; i++)
		to[offset + i] = (uint8_t)(v >> (8 * i));
}

static uint64_t hidden_value(const struct xrun *r, const char *name)
{
	const struct exec_launch *l = r->l;
	size_t n = strlen(name);
	unsigned dim = n && name[n - 1] >= 'x' && name[n - 1] <= 'z' ? (unsigned)(name[n - 1] - 'x') : 0;

	if (!strncmp(name, "hidden_block_count_", 19))
		return l->grid[dim];
	if (!strncmp(name, "hidden_group_size_", 18))
		return l->block[dim];
	if (!strcmp(name, "hidden_grid_dims"))
		return l->grid[2] * l->block[2] > 1 ? 3 : l->grid[1] * l->block[1] > 1 ? 2 : 1;
	if (!strcmp(name, "hidden_dynamic_lds_size"))
		return l->dynamic_lds_bytes;
	if (!strcmp(name, "hidden_private_base"))
		return X_PRIVATE_BASE >> 32;
	if (!strcmp(name, "hidden_shared_base"))
		return X_SHARED_BASE >> 32;
	return 0; /* offsets and remainders; services of a host that is not there */
}

#define STAND_IN 1024

/* Analysis: numbers of unknown arguments are unknown, but branches that depend on them must go somewhere. */
static void stand_in(const struct listing_launch *k, uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < k->nargs && i < LISTING_MAX_ARGS; i++)
		if (k->arg[i].kind == LARG_VALUE && (k->arg[i].size == 4 || k->arg[i].size == 8))
			put(bytes, n, k->arg[i].offset, k->arg[i].size, STAND_IN);
	for (unsigned at = 0; !k->nargs && at + 4 <= n; at += 4)
		put(bytes, n, at, 4, STAND_IN);
}

static int make_kernarg(struct xrun *r, uint8_t **out, size_t *size, struct diag *d)
{
	const struct exec_launch *l = r->l;
	const struct listing_launch *k = &r->prog->info->launch;
	size_t n = l->kernarg_bytes > k->kernarg_bytes ? l->kernarg_bytes : k->kernarg_bytes;
	uint8_t *bytes;

	if (n > MAX_KERNARG_BYTES)
		return refuse(r, d, "the kernel's arguments have %zu bytes, and %u are the most", n, MAX_KERNARG_BYTES);
	for (size_t i = 0; i < k->nargs && i < LISTING_MAX_ARGS; i++)
		if (k->arg[i].kind != LARG_HIDDEN && !r->o->analysis && k->arg[i].offset + k->arg[i].size > l->kernarg_bytes)
			return refuse(r, d, "argument %zu%s%s of the kernel is missing: %zu bytes of arguments are given, it ends at byte %u", i + 1,
				      k->arg[i].name[0] ? ", " : "", k->arg[i].name, l->kernarg_bytes, k->arg[i].offset + k->arg[i].size);
	n = (n / 64 + 1) * 64; /* the segment has room behind the last one: wide loads may read it */
	bytes = xcalloc(n, 1);
	if (l->kernarg && l->kernarg_bytes)
		memcpy(bytes, l->kernarg, l->kernarg_bytes);
	for (size_t i = 0; i < l->npatches; i++) {
		uint64_t v = 0;

		if (l->patch[i].buffer >= l->nbuffers || (uint64_t)l->patch[i].offset + 8 > n) {
			free(bytes);
			return refuse(r, d, "an address of buffer %u does not fit the kernel's arguments", l->patch[i].buffer);
		}
		memcpy(&v, bytes + l->patch[i].offset, 8);
		v += l->buffers[l->patch[i].buffer].address;
		memcpy(bytes + l->patch[i].offset, &v, 8);
	}
	for (size_t i = 0; i < k->nargs && i < LISTING_MAX_ARGS; i++)
		if (k->arg[i].kind == LARG_HIDDEN)
			put(bytes, n, k->arg[i].offset, k->arg[i].size, hidden_value(r, k->arg[i].name));
	if (r->o->analysis && !l->kernarg)
		stand_in(k, bytes, n);
	*out = bytes;
	*size = n;
	return 0;
}

static void mark_unknown(struct xrun *r)
{
	const struct listing_launch *k = &r->prog->info->launch;

	bool sized = k->nargs > 0;

	for (size_t i = 0; i < k->nargs && i < LISTING_MAX_ARGS; i++)
		sized = sized && k->arg[i].size;
	if (!sized)
		x_memory_unknown(r->mem, r->kernarg_address, r->kernarg_bytes);
	for (size_t i = 0; i < k->nargs && i < LISTING_MAX_ARGS; i++)
		if (k->arg[i].kind != LARG_HIDDEN && k->arg[i].offset + k->arg[i].size <= r->kernarg_bytes)
			x_memory_unknown(r->mem, r->kernarg_address + k->arg[i].offset, k->arg[i].size);
}

/* The packet that a queue would hold: sizes are read from it. */
static void make_packet(struct xrun *r, uint8_t packet[64])
{
	const struct exec_launch *l = r->l;

	memset(packet, 0, 64);
	for (unsigned i = 0; i < 3; i++) {
		put(packet, 64, 4 + 2 * i, 2, l->block[i]);
		put(packet, 64, 12 + 4 * i, 4, (uint64_t)l->grid[i] * l->block[i]);
	}
	put(packet, 64, 2, 2, 3);
	put(packet, 64, 24, 4, r->prog->info->scratch_bytes);
	put(packet, 64, 28, 4, r->lds_bytes);
	put(packet, 64, 40, 8, r->kernarg_address);
}

/* What findings call a buffer: the argument that points to it. */
static const char *buffer_name(const struct xrun *r, size_t buffer)
{
	const struct listing_launch *k = &r->prog->info->launch;
	const struct exec_launch *l = r->l;
	size_t number = 0;

	for (size_t p = 0; p < l->npatches; p++) {
		if (l->patch[p].buffer != buffer)
			continue;
		for (size_t i = 0; i < k->nargs && i < LISTING_MAX_ARGS; i++) {
			number += k->arg[i].kind != LARG_HIDDEN;
			if (k->arg[i].offset == l->patch[p].offset && k->arg[i].kind != LARG_HIDDEN)
				return arena_printf(r->prog->arena, "argument %zu%s%s", number, k->arg[i].name[0] ? ", " : "",
						    k->arg[i].name);
		}
	}
	return "a buffer";
}

int launch_prepare(struct xrun *r, struct diag *d)
{
	struct exec_launch *l = r->l;
	uint8_t *kernarg = NULL;

	if (check_sizes(r, d) < 0 || check_cluster(r, d) < 0)
		return -1;
	r->mem = x_memory_new(r->prog->p, r->o->analysis);
	for (size_t i = 0; i < l->nbuffers; i++) {
		struct exec_buffer *b = &l->buffers[i];

		b->address = x_memory_map(r->mem, buffer_name(r, i), b->data, b->bytes, b->writable, b->initialised);
	}
	if (make_kernarg(r, &kernarg, &r->kernarg_bytes, d) < 0)
		return -1;
	r->kernarg = kernarg;
	r->kernarg_address = x_memory_map(r->mem, "the kernel arguments", kernarg, r->kernarg_bytes, false, true);
	make_packet(r, r->packet);
	r->packet_address = x_memory_map(r->mem, "the dispatch packet", r->packet, sizeof(r->packet), false, true);
	if (r->o->analysis)
		mark_unknown(r);
	return 0;
}

void launch_finish(struct xrun *r)
{
	if (r->mem)
		x_memory_free(r->mem);
	free((void *)r->kernarg);
}

/* ---- registers ---- */

static void give(struct xwave *w, unsigned *at, uint64_t v, unsigned n, unsigned taint)
{
	for (unsigned i = 0; i < n && *at < 104; i++, (*at)++) {
		w->s[*at] = i < 2 ? (uint32_t)(v >> (32 * i)) : 0;
		w->s_taint[*at] = (uint8_t)taint;
		w->s_unknown[*at] = taint & XS_UNKNOWN ? UINT32_MAX : 0;
	}
}

static void give_preload(struct xwave *w, const struct xgroup *g, unsigned *at)
{
	const struct xrun *r = g->run;
	const struct listing_launch *k = &r->prog->info->launch;

	for (unsigned i = 0; i < k->preload_length && i < 64; i++) {
		size_t byte = ((size_t)k->preload_offset + i) * 4;
		uint32_t v = 0;

		for (unsigned b = 0; b < 4 && byte + b < r->kernarg_bytes; b++)
			v |= (uint32_t)r->kernarg[byte + b] << (8 * b);
		give(w, at, v, 1, r->o->analysis ? XS_UNKNOWN : 0);
	}
}

static void give_ids(struct xwave *w, const struct xgroup *g, unsigned at)
{
	const struct listing_launch *k = &g->run->prog->info->launch;
	const struct xrun *r = g->run;
	uint32_t *ttmp = &w->s[108];
	unsigned in[3], id[3];

	for (unsigned i = 0; i < 3; i++) {
		in[i] = g->id[i] % r->cluster[i];
		id[i] = g->id[i] / r->cluster[i]; /* the workgroup's own where there are no clusters */
		if (r->prog->gfx9 && k->workgroup_id[i])
			give(w, &at, g->id[i], 1, 0);
	}
	if (r->prog->gfx9) {
		if (k->workgroup_info)
			give(w, &at, 0, 1, 0);
		if (k->private_wave_offset)
			give(w, &at, 0, 1, 0);
		return;
	}
	ttmp[9] = id[0];
	ttmp[7] = id[1] | id[2] << 16;
	ttmp[8] = w->id << 25;
	ttmp[6] = in[0] | in[1] << 4 | in[2] << 8 | (r->cluster[0] - 1) << 12 | (r->cluster[1] - 1) << 16 | (r->cluster[2] - 1) << 20 |
		  (g->cluster->n - 1) << 24;
	for (unsigned i = 6; i <= 9; i++)
		w->s_taint[108 + i] = 0;
}

static void give_work_items(struct xwave *w, const struct xgroup *g)
{
	const unsigned *block = g->run->l->block;
	unsigned dims = g->run->prog->info->launch.workitem_dims;
	uint32_t *v0 = x_vreg(w, 0);
	uint64_t mask = 0;

	for (unsigned l = 0; l < w->lanes; l++) {
		unsigned t = w->id * w->lanes + l;
		unsigned x = t % block[0], y = t / block[0] % block[1], z = t / block[0] / block[1];

		v0[l] = x | (dims >= 1 ? y << 10 : 0) | (dims >= 2 ? z << 20 : 0);
		if (t < g->threads)
			mask |= UINT64_C(1) << l;
	}
	w->v_taint[0] = (struct xlanes){ 0 };
	x_set_exec(w, mask);
}

/* Registers of a new wave; those that the hardware does not set are undefined. */
void wave_start(struct xwave *w, const struct xgroup *g)
{
	const struct listing_launch *k = &g->run->prog->info->launch;
	const struct xrun *r = g->run;
	unsigned at = 0;

	memset(w->s, 0, sizeof(w->s));
	memset(w->s_pending, 0, sizeof(w->s_pending));
	memset(w->s_taint, XS_UNDEF, sizeof(w->s_taint));
	memset(w->s_undef, 0xff, sizeof(w->s_undef));
	memset(w->s_unknown, 0, sizeof(w->s_unknown));
	if (k->private_buffer)
		give(w, &at, X_PRIVATE_BASE, 4, 0);
	if (k->dispatch_ptr)
		give(w, &at, r->packet_address, 2, 0);
	if (k->queue_ptr)
		give(w, &at, 0, 2, 0);
	if (k->kernarg_ptr)
		give(w, &at, r->kernarg_address, 2, 0);
	if (k->dispatch_id)
		give(w, &at, 0, 2, 0);
	if (k->flat_scratch_init)
		give(w, &at, 0, 2, 0);
	if (k->private_size)
		give(w, &at, r->prog->info->scratch_bytes, 1, 0);
	give_preload(w, g, &at);
	if (k->user_sgprs > at)
		at = k->user_sgprs;
	give_ids(w, g, at);
	at = 102; /* FLAT_SCRATCH */
	if (r->prog->gfx9)
		give(w, &at, X_PRIVATE_BASE, 2, 0);
	w->s_taint[REG_EXEC - REG_SGPR] = w->s_taint[REG_EXEC + 1 - REG_SGPR] = 0;
	w->mode = k->float_mode;
	give_work_items(w, g);
	w->pc = r->prog->p->entry[0];
	w->nflight = 0;
}
