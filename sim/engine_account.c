/* Where the time of each wave and each matrix unit went. */
#include "engine_head.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLLOW_LEVELS 4 /* barriers followed from wave to wave */

void engine_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "wpsim: %s:%d: the engine is wrong: %s\n", file, line, what);
	abort();
}

/* ---- waves ---- */

/* As stall_add, with a record for time lines. */
static uint64_t stall_note(struct engine *e, struct wave *w, uint64_t begin, uint64_t end,
			   uint32_t stage, uint8_t why)
{
	if (e->rec && end > begin)
		record_segment(e, w, begin, end, stage, (enum stall)why);
	return stall_add(w, begin, end, stage * ACC_COUNT, why);
}

static const uint8_t unit_why[] = {
	[UN_NONE] = ST_ARBITRATION, [UN_VALU] = ST_VALU, [UN_PACKED] = ST_VALU,
	[UN_MATRIX] = ST_MATRIX,    [UN_SALU] = ST_ARBITRATION, [UN_LDS] = ST_LDS,
	[UN_VMEM] = ST_VMEM,	    [UN_TDM] = ST_TDM,
};

/* Reason of a unit that is busy: vector work in front of a matrix op is not the matrix unit. */
static uint8_t unit_reason(const struct engine *e, const struct wave *w, const struct op *op)
{
	const struct simd *s = &e->simds[w->simd];

	if (op->unit == UN_MATRIX) {
		uint64_t accepts = e->ahead ? s->start[(s->nmatrix - e->ahead) & (MATRIX_RING - 1)]
					    : s->unit_free;

		return s->valu_free > accepts ? ST_VALU : ST_MATRIX;
	}
	if (op->unit == UN_PACKED)
		return s->at[UN_PACKED] > s->valu_free ? ST_MATRIX : ST_VALU;
	return unit_why[op->unit];
}

/* Time that reading matrix operands kept a vector op back, up to t. */
static uint64_t reads_passed(const struct simd *s, uint64_t t)
{
	uint64_t end = 0;

	if (s->old_end <= t)
		end = s->old_end;
	for (unsigned i = 0; i < MATRIX_RING; i++)
		if (s->reads_end[i] <= t)
			end = max_u64(end, s->reads_end[i]);
	return end;
}

/* Time held by the wave's own last instruction, a barrier included. Returns what is left to explain. */
static uint64_t account_held(struct engine *e, struct wave *w)
{
	uint64_t at = w->pos;

	if (w->free_why != ST_BARRIER)
		return stall_note(e, w, at, w->free, w->last_stage, w->free_why);
	at = stall_note(e, w, at, w->split, w->last_stage, ST_BARRIER);
	return stall_note(e, w, at, w->free, w->last_stage, ST_RELEASE);
}

/* Time until the head's own conditions held. */
static uint64_t account_head(struct engine *e, struct wave *w, uint64_t at)
{
	const struct op *op = w->op;
	const struct named *b;
	uint64_t begin = at;

	if (op->cls != OPC_AWAIT || w->dep_why != ST_BARRIER)
		return stall_note(e, w, at, w->dep, op->stage, w->dep_why);
	b = &e->wgs[w->wg].named[op->named];
	w->blame = b->blame;
	at = stall_note(e, w, at, w->dep - min_u64(w->dep, e->barrier_release), op->stage, ST_BARRIER);
	if (w->column)
		e->late[(size_t)b->blame_stage * e->p->groups + e->waves[b->blame].group] += at - begin;
	return stall_note(e, w, at, w->dep, op->stage, ST_RELEASE);
}

/*
 * The head of w issues at t: account for the time since its last issue, in the order in which it got
 * rid of its obstacles. unit: when its unit was free.
 */
void account_gap(struct engine *e, struct wave *w, uint64_t t, uint64_t unit)
{
	const struct op *op = w->op;
	const struct simd *s = &e->simds[w->simd];
	uint64_t at = w->pos;

	if (w->free > at)
		at = account_held(e, w);
	if (w->dep > at)
		at = account_head(e, w, at);
	if (at == t)
		return;
	if (s->block_end && (op->unit == UN_VALU || op->unit == UN_PACKED))
		unit = max_u64(unit, reads_passed(s, t));
	if (unit > at)
		at = stall_note(e, w, at, min_u64(unit, t), op->stage, unit_reason(e, w, op));
	if (at == t)
		return;
	at = stall_note(e, w, at, min_u64(visit_round(e, s, at), t), op->stage, ST_PHASE);
	stall_note(e, w, at, t, op->stage, ST_ARBITRATION);
}

/* The longest part of a stall accounted since the ring held so many entries. */
uint8_t account_dominant(const struct wave *w, uint32_t before)
{
	uint32_t most = 0;
	uint8_t why = ST_ISSUE;

	for (uint32_t i = before; i != w->nstall; i++) {
		const struct idle *s = &w->stall[i & (STALL_RING - 1)];

		if (s->clk > most) {
			most = s->clk;
			why = s->why;
		}
	}
	return why;
}

/* ---- matrix units ---- */

/* What the remembered stalls of w were mostly for: stands for those that are forgotten. */
static uint8_t most_frequent(const struct wave *w)
{
	uint64_t clk[ST_COUNT] = { 0 };
	uint8_t most = ST_ISSUE;

	for (uint32_t i = 0; i < STALL_RING; i++)
		clk[w->stall[i].why] += w->stall[i].clk;
	for (uint8_t r = 0; r < ST_COUNT; r++)
		if (clk[r] > clk[most])
			most = r;
	return most;
}

/* What w did in [begin, end), newest first; barrier waits lead on to the wave that came last. */
static void follow(const struct engine *e, struct simd *s, const struct wave *w, uint64_t begin,
		   uint64_t end, unsigned level)
{
	uint32_t n = w->nstall < STALL_RING ? w->nstall : STALL_RING;
	bool forgotten = false;

	for (uint32_t i = 1; i <= n && begin < end; i++) {
		const struct idle *x = &w->stall[(w->nstall - i) & (STALL_RING - 1)];
		uint64_t from = x->clk == UINT32_MAX ? 0 : x->end - x->clk;
		uint64_t to = min_u64(x->end, end);

		if (from >= end)
			continue;
		if (to <= begin)
			break;
		from = max_u64(from, begin);
		s->lost[ST_ISSUE] += end - to; /* no stall between this one and the one behind it */
		if (x->why == ST_BARRIER && level < FOLLOW_LEVELS && x->who != w->id)
			follow(e, s, &e->waves[x->who], from, to, level + 1);
		else
			s->lost[x->why] += to - from;
		end = from;
		forgotten = i == STALL_RING;
	}
	if (begin < end)
		s->lost[forgotten ? most_frequent(w) : ST_ISSUE] += end - begin;
}

/* The unit idled in [begin, end) in front of the op that w issued at issue. */
void account_lost(struct engine *e, struct simd *s, struct wave *w, uint64_t begin, uint64_t end,
		  uint64_t issue)
{
	s->gap_begin = begin;
	s->gap_end = end;
	s->gap_why = ST_VALU;
	if (end > issue) { /* accepted, but a packed op still keeps it from starting */
		s->lost[ST_VALU] += end - max_u64(issue, begin);
		end = max_u64(issue, begin);
	}
	if (begin < end)
		follow(e, s, w, begin, end, 0);
}

/* ---- edges ---- */

/* Reason that holds w back at now, as far as it can be known. */
static enum stall reason_now(const struct engine *e, const struct wave *w, uint64_t now)
{
	if (w->free > now)
		return w->free_why == ST_BARRIER && !w->at_barrier ? ST_RELEASE
								   : (enum stall)w->free_why;
	if (w->dep > now)
		return (enum stall)w->dep_why;
	if (e->simds[w->simd].at[w->op->unit] > now)
		return (enum stall)unit_reason(e, w, w->op);
	return ST_ARBITRATION;
}

/* Busy and idle time that was accounted beyond now, taken back; idle time up to now, added. */
static void snapshot_simd(const struct engine *e, unsigned i, uint64_t now, uint64_t *out)
{
	const struct simd *s = &e->simds[i];
	uint64_t *busy = out + (s->busy - e->acc), *lost = out + (s->lost - e->acc);

	if (s->unit_free <= now) {
		const struct wave *w = NULL;

		for (unsigned k = 0; k < s->n; k++)
			if (!s->order[k]->ended && (!w || s->order[k]->id < w->id))
				w = s->order[k];
		lost[!w ? ST_LAUNCH : w->pos >= now ? ST_ISSUE : reason_now(e, w, now)] +=
			now - s->unit_free;
		return;
	}
	*busy -= s->unit_free - now;
	/* The newest gap may lie beyond now as well: it was not busy. */
	if (s->gap_end > now && s->gap_end > s->gap_begin) {
		uint64_t beyond = s->gap_end - max_u64(s->gap_begin, now);

		*busy += beyond;
		lost[s->gap_why] -= beyond;
	}
}

void account_snapshot(const struct engine *e, uint64_t now, uint64_t *out)
{
	memcpy(out, e->acc, e->nacc * sizeof(*out));
	for (unsigned i = 0; i < e->nwaves; i++) {
		const struct wave *w = &e->waves[i];
		uint64_t *acc = out + (w->acc - e->acc);

		if (w->ended)
			acc[(size_t)(e->nstages - 1) * ACC_COUNT + ST_LAUNCH] += now - w->end_clk;
		else if (w->pos > now)
			acc[(size_t)w->last_stage * ACC_COUNT + ST_ISSUE] -= w->pos - now;
		else if (w->pos < now && w->free > now)
			acc[(size_t)w->last_stage * ACC_COUNT + reason_now(e, w, now)] += now - w->pos;
		else
			acc[(size_t)w->op->stage * ACC_COUNT + reason_now(e, w, now)] += now - w->pos;
	}
	for (unsigned i = 0; i < e->nsimds; i++)
		snapshot_simd(e, i, now, out);
}

/* ---- results ---- */

void account_finish(struct engine *e, struct stats *out)
{
	for (unsigned i = 0; i < e->nwaves; i++) {
		const struct wave *w = &e->waves[i];
		uint64_t sum = 0;

		for (unsigned k = 0; k < e->nstages; k++) {
			const uint64_t *acc = w->acc + (size_t)k * ACC_COUNT;

			for (unsigned r = 0; r < ST_COUNT; r++) {
				out->wave_clk[i][r] += acc[r];
				sum += acc[r];
			}
			out->insns += acc[ACC_INSNS];
		}
		if (!w->ended)
			continue;
		ENGINE_CHECK(sum == w->end_clk, "a wave's reasons do not sum to its lifetime");
		out->wave_end[i] = w->end_clk;
		out->total_clk = max_u64(out->total_clk, w->end_clk);
	}
	out->insns_stepped = out->insns - e->skipped_insns;
	if (e->loop_begin == NEVER) {
		out->prologue_clk = out->total_clk;
	} else {
		uint64_t end = max_u64(e->loop_end, e->loop_begin);

		out->prologue_clk = e->loop_begin;
		out->loop_clk = end - e->loop_begin;
		out->epilogue_clk = out->total_clk - min_u64(end, out->total_clk);
	}
}

/* ---- recording for time lines ---- */

#define MAX_SEGMENTS 1000000u

void record_segment(struct engine *e, const struct wave *w, uint64_t begin, uint64_t end,
		    uint32_t stage, enum stall what)
{
	struct recorder *r = e->rec;
	struct stats *o = r->out;
	struct segment *s;

	begin = max_u64(begin, r->begin);
	end = min_u64(end, r->end);
	if (begin >= end || w->simd != 0)
		return;
	for (size_t i = o->nsegments; i > 0 && o->nsegments - i < PROG_MAX_WAVES; i--) {
		s = &o->segments[i - 1];
		if (s->wave != w->id)
			continue;
		if (s->end == begin && s->stage == stage && s->what == what) {
			s->end = end;
			return;
		}
		break;
	}
	if (o->nsegments >= MAX_SEGMENTS) {
		r->full = true;
		return;
	}
	o->segments = xgrow(o->segments, o->nsegments, &r->capseg, sizeof(*o->segments));
	o->segments[o->nsegments++] =
		(struct segment){ begin, end, (uint16_t)stage, (uint8_t)what, w->id };
}

void record_busy(struct engine *e, uint64_t begin, uint64_t end, uint8_t wave, uint32_t stage)
{
	struct recorder *r = e->rec;
	struct stats *o = r->out;

	begin = max_u64(begin, r->begin);
	end = min_u64(end, r->end);
	if (begin >= end)
		return;
	if (o->nbusy >= MAX_SEGMENTS) {
		r->full = true;
		return;
	}
	o->busy = xgrow(o->busy, o->nbusy, &r->capbusy, sizeof(*o->busy));
	o->busy[o->nbusy].begin = begin;
	o->busy[o->nbusy].end = end;
	o->busy[o->nbusy].wave = wave;
	o->busy[o->nbusy++].stage = (uint16_t)stage;
}

/* Close the time lines at the end of the window: what waves are doing then is known as far as it goes. */
void record_flush(struct engine *e, uint64_t end)
{
	for (unsigned i = 0; i < e->nwaves; i++) {
		const struct wave *w = &e->waves[i];

		if (!w->ended && w->pos < end)
			record_segment(e, w, w->pos, end, w->free > e->now ? w->last_stage : w->op->stage,
				       reason_now(e, w, e->now));
	}
}
