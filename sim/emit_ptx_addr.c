/* Addresses of an emitted PTX kernel: tables of lanes and warps, slots, pointers to global memory. */
#include "emit_ptx.h"

#include <inttypes.h>
#include <string.h>

uint32_t ptx_waves(const struct ptx *x, const struct insn *in)
{
	unsigned per = x->p->waves / x->p->groups;
	uint32_t mask = 0;

	for (unsigned w = 0; w < x->p->waves; w++)
		if (in->groups >> (w / per) & 1)
			mask |= UINT32_C(1) << w;
	return in->waves ? mask & in->waves : mask;
}

static unsigned first_wave(uint32_t waves)
{
	return waves ? (unsigned)__builtin_ctz(waves) : 0;
}

/* Number of the table with these words, a new one when there is none; -1 when all are 0, -2 after a finding. */
int ptx_table_of(struct ptx *x, const uint32_t *word, unsigned n, struct loc loc)
{
	struct ptx_table *t;
	bool zero = true;

	for (unsigned i = 0; i < n; i++)
		zero &= word[i] == 0;
	if (zero)
		return -1;
	for (size_t i = 0; i < x->ntables; i++)
		if (x->table[i].n == n && !memcmp(x->table[i].word, word, n * sizeof(*word)))
			return (int)i;
	if (x->ntables == PTX_MAX_TABLES) {
		ptx_fail(x, loc, DIAG_LIMIT, "more than %d different patterns of addresses", PTX_MAX_TABLES);
		return -2;
	}
	t = &x->table[x->ntables++];
	t->word = arena_alloc(x->p->arena, n, sizeof(*word));
	memcpy(t->word, word, n * sizeof(*word));
	t->n = n;
	return (int)x->ntables - 1;
}

static int address_of(struct ptx *x, int lane, int warp, struct loc loc)
{
	for (size_t i = 0; i < x->naddresses; i++)
		if (x->address[i].lane == lane && x->address[i].warp == warp)
			return (int)i;
	if (x->naddresses == PTX_MAX_POINTERS) {
		ptx_fail(x, loc, DIAG_LIMIT, "more than %d different patterns of addresses", PTX_MAX_POINTERS);
		return -1;
	}
	x->address[x->naddresses] = (struct ptx_address){ lane, warp };
	return (int)x->naddresses++;
}

static int slot_of(struct ptx *x, unsigned slots, unsigned bytes, int32_t tile, struct loc loc)
{
	unsigned t = (unsigned)(((tile % (int)slots) + (int)slots) % (int)slots);

	for (size_t i = 0; i < x->nslots; i++)
		if (x->slot[i].slots == slots && x->slot[i].bytes == bytes && x->slot[i].tile == t)
			return (int)i;
	if (x->nslots == PTX_MAX_SLOTS) {
		ptx_fail(x, loc, DIAG_LIMIT, "more than %d slots that turn with the loop", PTX_MAX_SLOTS);
		return -1;
	}
	x->slot[x->nslots] = (struct ptx_slot){ slots, bytes, t };
	if (++x->nslots > x->max_slots)
		x->max_slots = x->nslots;
	return (int)x->nslots - 1;
}

/* Where the lanes of an access lie against lane 0 of the first warp; lanes that name no address repeat the others. */
static int lanes_table(struct ptx *x, const struct insn *in, const struct access *a)
{
	uint32_t word[32];

	for (unsigned l = 0; l < 32; l++)
		word[l] = a->lane[l % a->nlanes] - a->lane[0];
	return ptx_table_of(x, word, 32, in->loc);
}

static int warps_table(struct ptx *x, const uint32_t *base, uint32_t waves, struct loc loc)
{
	uint32_t word[PROG_MAX_WAVES] = { 0 };

	for (unsigned w = 0; w < x->p->waves; w++)
		if (waves >> w & 1)
			word[w] = base[w] - base[first_wave(waves)];
	return ptx_table_of(x, word, x->p->waves, loc);
}

static bool inside(const struct ptx *x, const struct insn *in, const struct access *a, const struct buffer *b, uint32_t waves)
{
	for (unsigned w = 0; w < x->p->waves; w++)
		for (unsigned l = 0; (waves >> w & 1) && l < a->nlanes; l++)
			if ((uint64_t)b->base + a->lane[l] + a->wave_base[w] + a->width > x->p->lds_bytes ||
			    (b->base + a->lane[l] + a->wave_base[w]) % a->width)
				return false;
	(void)in;
	return true;
}

bool ptx_shared(struct ptx *x, const struct insn *in, char *text, size_t size)
{
	const struct access *a = in->access >= 0 ? &x->p->access[in->access] : NULL;
	uint32_t waves = ptx_waves(x, in), at;
	const struct buffer *b;
	int lane, warp, reg, slot = -1;

	if (!a || a->buffer < 0 || !a->lane) {
		ptx_fail(x, in->loc, DIAG_SHAPE, "'%s' names no place in shared memory", in->op);
		return false;
	}
	b = &x->p->buffers[a->buffer];
	if (!inside(x, in, a, b, waves)) {
		ptx_fail(x, in->loc, DIAG_SHAPE, "lanes of '%s' reach beyond the end of shared memory, or no multiple of their %u bytes",
			 in->op, a->width);
		return false;
	}
	lane = lanes_table(x, in, a);
	warp = warps_table(x, a->wave_base, waves, in->loc);
	if (lane < -1 || warp < -1 || (reg = address_of(x, lane, warp, in->loc)) < 0)
		return false;
	at = b->base + a->lane[0] + a->wave_base[first_wave(waves)];
	if (a->slot >= 0)
		at += (uint32_t)a->slot * b->slot_bytes;
	else if ((slot = slot_of(x, b->slots, b->slot_bytes, a->tile, in->loc)) < 0)
		return false;
	if (slot >= 0) {
		strbuf_add(&x->body, "\tadd.u32 %%at, %%sa%d, %%sl%d;\n", reg, slot);
		snprintf(text, size, "[%%at+%" PRIu32 "]", at);
	} else if (x->chain >= 0) {
		strbuf_add(&x->body, "\tmad.lo.u32 %%at, %%v%d, %%opaque, %%sa%d;\n", x->chain, reg);
		snprintf(text, size, "[%%at+%" PRIu32 "]", at);
	} else {
		snprintf(text, size, "[%%sa%d+%" PRIu32 "]", reg, at);
	}
	return true;
}

/* ---- slots that turn with the loop ---- */

void ptx_slots_begin(struct ptx *x, const struct loop *l)
{
	x->nslots = 0;
	for (uint32_t i = l->begin; i < l->end; i++) {
		const struct insn *in = &x->p->insns[i];
		const struct access *a = in->access >= 0 ? &x->p->access[in->access] : NULL;

		if (a && a->buffer >= 0 && a->slot < 0 && !(in->flags & INSN_EDGE_ONLY))
			slot_of(x, x->p->buffers[a->buffer].slots, x->p->buffers[a->buffer].slot_bytes, a->tile, in->loc);
	}
	for (size_t i = 0; i < x->nslots; i++)
		strbuf_add(&x->body, "\tmov.u32 %%sl%zu, %u;\n", i, x->slot[i].tile * x->slot[i].bytes);
}

void ptx_slots_turn(struct ptx *x, const struct loop *l)
{
	for (size_t i = 0; i < x->nslots; i++) {
		const struct ptx_slot *s = &x->slot[i];
		unsigned all = s->slots * s->bytes;

		strbuf_add(&x->body, "\tadd.u32 %%sl%zu, %%sl%zu, %u;\n\tsetp.ge.u32 %%ps, %%sl%zu, %u;\n\t@%%ps sub.u32 %%sl%zu, %%sl%zu, %u;\n",
			   i, i, l->steps % s->slots * s->bytes, i, all, i, i, all);
	}
}

/* ---- global memory ---- */

static int pointer_of(struct ptx *x, int global, int lane, int warp, struct loc loc)
{
	for (size_t i = 0; i < x->npointers; i++)
		if (x->pointer[i].global == global && x->pointer[i].lane == lane && x->pointer[i].warp == warp)
			return (int)i;
	if (x->npointers == PTX_MAX_POINTERS) {
		ptx_fail(x, loc, DIAG_LIMIT, "more than %d different patterns of addresses", PTX_MAX_POINTERS);
		return -1;
	}
	x->pointer[x->npointers] = (struct ptx_pointer){ global, lane, warp };
	return (int)x->npointers++;
}

static size_t row_pitch(const struct ptx *x, int global)
{
	return global == 0 ? x->out->layout.lda_bytes : x->out->layout.ldb_bytes;
}

/* Byte in the operand's rows, from the one that begins the workgroup's tile, of what lane l of warp w covers. */
static uint64_t operand_byte(const struct ptx *x, const struct access *a, unsigned w, unsigned l)
{
	uint32_t at = a->src_lane[l] + a->src_wave[w];

	return (uint64_t)(at / a->src_row_bytes) * row_pitch(x, a->global) + at % a->src_row_bytes;
}

static bool operand_place(struct ptx *x, const struct insn *in, const struct access *a, char *text, size_t size)
{
	uint32_t waves = ptx_waves(x, in), lanes[32], warps[PROG_MAX_WAVES] = { 0 };
	unsigned f = first_wave(waves), n = a->nlanes ? a->nlanes : 32;
	uint64_t from = operand_byte(x, a, f, 0);
	int64_t step = a->absolute ? a->tile : a->from_end ? (int64_t)x->p->ksteps - 1 - a->tile : a->tile;
	int lane, warp, reg;

	for (unsigned l = 0; l < 32; l++)
		lanes[l] = (uint32_t)(operand_byte(x, a, f, l % n) - from);
	for (unsigned w = 0; w < x->p->waves; w++) {
		if (!(waves >> w & 1))
			continue;
		warps[w] = (uint32_t)(operand_byte(x, a, w, 0) - from);
		for (unsigned l = 0; l < n; l++)
			if ((uint32_t)(operand_byte(x, a, w, l) - from) != lanes[l] + warps[w]) {
				ptx_fail(x, in->loc, DIAG_SHAPE, "the rows that '%s' fetches are not the same for every wave", in->op);
				return false;
			}
	}
	lane = ptx_table_of(x, lanes, 32, in->loc);
	warp = ptx_table_of(x, warps, x->p->waves, in->loc);
	if (lane < -1 || warp < -1 || (reg = pointer_of(x, a->global, lane, warp, in->loc)) < 0)
		return false;
	if (a->absolute || a->from_end)
		step -= x->pos;
	snprintf(text, size, "[%%gp%d+%" PRId64 "]", reg, (int64_t)from + step * (int64_t)a->src_row_bytes);
	return true;
}

/* ---- a kernel's globals: one piece after the other ---- */

static uint64_t piece_bytes(const struct ptx *x, const struct insn *in)
{
	return (uint64_t)in->bytes * x->p->waves;
}

static bool is_global(const struct insn *in)
{
	return in->cls == OPC_VMEM_LOAD || in->cls == OPC_VMEM_STORE || in->cls == OPC_VMEM_LDS;
}

static int loop_around(const struct program *p, uint32_t i)
{
	for (size_t l = 0; l < p->nloops; l++)
		if (i >= p->loops[l].begin && i < p->loops[l].end)
			return (int)l;
	return -1;
}

/* How a kernel's globals are shared out: a place of its own for each trip where they are large enough for that. */
void ptx_streams(struct ptx *x)
{
	const struct program *p = x->p;
	struct loc where[PTX_MAX_STREAMS] = { { 0 } };

	for (uint32_t i = 0; i < p->ninsns; i++) {
		const struct insn *in = &p->insns[i];
		int g = in->access >= 0 ? p->access[in->access].global : -1, l = loop_around(p, i);

		if (!is_global(in) || g < 0 || g >= PTX_MAX_STREAMS || p->access[in->access].src_lane)
			continue;
		where[g] = in->loc;
		if (l < 0) {
			x->stream[g].outside += piece_bytes(x, in);
		} else {
			x->stream[g].per_trip += piece_bytes(x, in);
			if (p->loops[l].trips > x->stream[g].trips)
				x->stream[g].trips = p->loops[l].trips;
		}
	}
	for (size_t g = 0; g < p->nglobals && g < PTX_MAX_STREAMS; g++) {
		struct ptx_stream *s = &x->stream[g];
		double one = (double)s->per_trip + (double)s->outside, bytes = (double)p->globals[g].bytes;

		if (one <= 0 || p->gemm)
			continue;
		s->advances = s->trips > 1 && ((double)s->per_trip * (double)s->trips + (double)s->outside) * (double)p->workgroups <= bytes;
		s->shared = !s->advances && one * (double)p->workgroups > bytes;
		if (one > bytes)
			ptx_fail(x, where[g], DIAG_SHAPE, "one trip of a workgroup touches %.0f bytes of '%s', which has %.0f", one,
				 p->globals[g].name, bytes);
	}
}

static bool stream_place(struct ptx *x, const struct insn *in, const struct access *a, char *text, size_t size)
{
	struct ptx_stream *s = &x->stream[a->global];
	uint32_t lanes[32], warps[PROG_MAX_WAVES];
	int lane, warp, reg;

	for (unsigned l = 0; l < 32; l++)
		lanes[l] = l * in->vmem->width_bytes;
	for (unsigned w = 0; w < x->p->waves; w++)
		warps[w] = w * in->bytes;
	lane = ptx_table_of(x, lanes, 32, in->loc);
	warp = ptx_table_of(x, warps, x->p->waves, in->loc);
	if (lane < -1 || warp < -1 || (reg = pointer_of(x, a->global, lane, warp, in->loc)) < 0)
		return false;
	if (x->chain >= 0) {
		strbuf_add(&x->body, "\tmul.wide.u32 %%l1, %%v%d, %%opaque;\n\tadd.s64 %%l1, %%l1, %%gp%d;\n", x->chain, reg);
		snprintf(text, size, "[%%l1+%" PRIu64 "]", s->used);
	} else {
		snprintf(text, size, "[%%gp%d+%" PRIu64 "]", reg, s->used);
	}
	s->used += piece_bytes(x, in);
	return true;
}

bool ptx_global(struct ptx *x, const struct insn *in, char *text, size_t size)
{
	const struct access *a = in->access >= 0 ? &x->p->access[in->access] : NULL;

	if (!a || a->global < 0 || a->global >= PTX_MAX_STREAMS) {
		diag_fix(diag_add(x->d, in->loc, DIAG_SHAPE, "'%s' names no global memory", in->op), "declare a <global> and name it");
		x->failed = true;
		return false;
	}
	if (a->src_lane)
		return operand_place(x, in, a, text, size);
	if (x->p->gemm && a->global < 2) {
		ptx_fail(x, in->loc, DIAG_SHAPE, "which rows of %s '%s' fetches is not known", x->p->globals[a->global].name, in->op);
		return false;
	}
	return stream_place(x, in, a, text, size);
}

/* At a loop's end, and back to the start in front of one that begins elsewhere. */
void ptx_pointers_move(struct ptx *x, int64_t steps)
{
	for (size_t i = 0; i < x->npointers; i++) {
		int g = x->pointer[i].global;
		int64_t by = 0;

		if (x->p->gemm && g < 2)
			by = steps * (int64_t)x->p->gemm->tile_k * dtype_bits(g ? x->p->gemm->type_b : x->p->gemm->type_a) / 8;
		else if (!x->p->gemm && x->stream[g].advances && steps > 0)
			by = (int64_t)x->stream[g].per_trip;
		if (by)
			strbuf_add(&x->body, "\tadd.s64 %%gp%zu, %%gp%zu, %" PRId64 ";\n", i, i, by);
	}
}

/* ---- set-up ---- */

static void add_table(struct strbuf *s, const char *reg, bool wide, int table, const char *index)
{
	if (table < 0)
		return;
	strbuf_add(s, "\tmov.u32 %%t1, tab%d;\n\tmad.lo.u32 %%t1, %s, 4, %%t1;\n\tld.const.b32 %%t1, [%%t1];\n", table, index);
	if (wide)
		strbuf_add(s, "\tcvt.u64.u32 %%l1, %%t1;\n\tadd.s64 %s, %s, %%l1;\n", reg, reg);
	else
		strbuf_add(s, "\tadd.u32 %s, %s, %%t1;\n", reg, reg);
}

/* Bytes from the start of a global to what this workgroup begins with. */
static void workgroup_part(struct ptx *x, const struct ptx_pointer *q, const char *reg)
{
	const struct gemm_shape *g = x->p->gemm;
	struct strbuf *s = &x->setup;

	if (g) {
		strbuf_add(s, "\tmul.wide.u32 %%l1, %s, %zu;\n\tadd.s64 %s, %s, %%l1;\n", q->global == 0 ? "%tm" : "%tn",
			   (size_t)(q->global == 0 ? g->tile_m : g->tile_n) * row_pitch(x, q->global), reg, reg);
	} else if (!x->stream[q->global].shared) {
		const struct ptx_stream *t = &x->stream[q->global];
		uint64_t each = t->outside + t->per_trip * (t->advances ? t->trips : 1);

		strbuf_add(s, "\tcvt.u64.u32 %%l1, %%wg;\n\tmad.lo.u64 %s, %%l1, %" PRIu64 ", %s;\n", reg, each, reg);
	}
}

void ptx_addresses(struct ptx *x)
{
	struct strbuf *s = &x->setup;
	char reg[24];

	for (size_t i = 0; i < x->naddresses; i++) {
		snprintf(reg, sizeof(reg), "%%sa%zu", i);
		strbuf_add(s, "\tmov.u32 %s, shared_memory;\n", reg);
		add_table(s, reg, false, x->address[i].lane, "%lane");
		add_table(s, reg, false, x->address[i].warp, "%warp");
	}
	for (size_t i = 0; i < x->npointers; i++) {
		const struct ptx_pointer *q = &x->pointer[i];

		snprintf(reg, sizeof(reg), "%%gp%zu", i);
		strbuf_add(s, "\tld.param.u64 %s, [arg%d];\n\tcvta.to.global.u64 %s, %s;\n", reg, x->arg_global[q->global], reg, reg);
		workgroup_part(x, q, reg);
		add_table(s, reg, true, q->lane, "%lane");
		add_table(s, reg, true, q->warp, "%warp");
	}
	for (size_t i = 0; i < x->nmasks; i++)
		strbuf_add(s, "\tmov.u32 %%t1, %" PRIu32 ";\n\tshr.u32 %%t1, %%t1, %%warp;\n\tand.b32 %%t1, %%t1, 1;\n"
			   "\tsetp.ne.u32 %%pgrp%zu, %%t1, 0;\n", x->mask[i], i);
}

const char *ptx_guard(struct ptx *x, uint32_t waves, char *text, size_t size)
{
	uint32_t all = x->p->waves >= 32 ? UINT32_MAX : (UINT32_C(1) << x->p->waves) - 1;
	size_t i = 0;

	text[0] = '\0';
	if ((waves & all) == all || waves == x->region)
		return text;
	while (i < x->nmasks && x->mask[i] != waves)
		i++;
	if (i == PTX_MAX_MASKS) {
		ptx_fail(x, x->p->insns[0].loc, DIAG_LIMIT, "more than %d different sets of waves", PTX_MAX_MASKS);
		return text;
	}
	if (i == x->nmasks)
		x->mask[x->nmasks++] = waves;
	snprintf(text, size, "@%%pgrp%zu ", i);
	return text;
}

static bool parts(const struct ptx *x, uint32_t i)
{
	const struct insn *in = &x->p->insns[i];
	uint32_t all = x->p->waves >= 32 ? UINT32_MAX : (UINT32_C(1) << x->p->waves) - 1;

	return ptx_waves(x, in) != all && in->cls != OPC_BARRIER && in->cls != OPC_SIGNAL && in->cls != OPC_AWAIT && in->cls != OPC_BRANCH &&
	       in->cls != OPC_END;
}

/* An mma with a predicate costs many instructions, and so do many other ones: the other warps jump over them. */
void ptx_region(struct ptx *x, uint32_t i)
{
	uint32_t waves = ptx_waves(x, &x->p->insns[i]), n = 0;
	bool matrix = false;
	char text[24];

	if (x->region && waves == x->region && parts(x, i))
		return;
	if (x->region) {
		strbuf_add(&x->body, "R%u:\n", x->nregions);
		x->region = 0;
	}
	for (uint32_t k = i; k < x->p->ninsns && parts(x, k) && ptx_waves(x, &x->p->insns[k]) == waves; k++, n++)
		matrix |= x->p->insns[k].cls == OPC_MATRIX;
	if (!matrix && n <= 8)
		return;
	if (!ptx_guard(x, waves, text, sizeof(text))[0])
		return;
	strbuf_add(&x->body, "\t@!%s bra R%u;\n", text + 1, ++x->nregions);
	x->region = waves;
}
