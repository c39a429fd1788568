/*
 * Loops of a listing: a backward branch closes one when control enters the instructions between its
 * target and itself at the target only. Trip counts are read from the text where the counter starts
 * at a constant, moves by a constant once a trip, and is compared with a constant.
 */
#include "flow_internal.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 64u
#define MAX_TRIPS (1u << 24)

struct arrivals {	      /* branches that go to an instruction */
	uint32_t first, last; /* FLOW_NONE, 0: there are none */
};

struct finder {
	struct program *p;
	struct arrivals *to;
	struct loop *list;
	size_t n, cap;
	uint64_t budget; /* trips that may still be counted one by one */
	uint64_t scans;	 /* instructions that may still be looked at for branches into loops */
};

/* ---- operands from the text ---- */

/* Operand k (0: the first after the mnemonic) of the instruction's text, without blanks around it.
 */
static size_t operand(const struct insn *in, unsigned k, const char **text)
{
	const struct src *s = in->loc.src;
	const char *at, *end, *stop;

	if (!s || in->loc.begin >= in->loc.end || in->loc.end > s->len)
		return 0;
	at = s->text + in->loc.begin;
	end = s->text + in->loc.end;
	while (at < end && *at != ' ' && *at != '\t')
		at++;
	for (; k; k--) {
		at = memchr(at, ',', (size_t)(end - at));
		if (!at)
			return 0;
		at++;
	}
	stop = memchr(at, ',', (size_t)(end - at));
	if (!stop)
		stop = end;
	while (at < stop && (*at == ' ' || *at == '\t'))
		at++;
	while (stop > at &&
	       (stop[-1] == ' ' || stop[-1] == '\t' || stop[-1] == '\r' || stop[-1] == '\n'))
		stop--;
	*text = at;
	return (size_t)(stop - at);
}

static bool constant(const struct insn *in, unsigned k, int64_t *value)
{
	const char *text;
	size_t n = operand(in, k, &text);
	char buf[24], *end;

	if (n == 0 || n >= sizeof(buf) || !((text[0] >= '0' && text[0] <= '9') || text[0] == '-'))
		return false;
	memcpy(buf, text, n);
	buf[n] = '\0';
	*value = strtoll(buf, &end, 0);
	return *end == '\0' && *value >= INT32_MIN && *value <= UINT32_MAX;
}

static bool op_is(const struct insn *in, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (in->op && !strcmp(in->op, names[i]))
			return true;
	return false;
}

/* ---- trip counts ---- */

static bool writes(const struct insn *in, unsigned reg)
{
	for (unsigned k = 0; k < in->nspans; k++)
		if (in->role[k] == ROLE_DST && in->span[k].first <= reg &&
		    reg < in->span[k].first + (unsigned)in->span[k].n)
			return true;
	return false;
}

/* The register of a compare's operand k, REG_COUNT when it is none. */
static unsigned register_operand(const struct insn *in, unsigned k)
{
	const char *text;
	size_t n = operand(in, k, &text);
	char buf[8], *end;
	long v;

	if (n < 2 || n >= sizeof(buf) || text[0] != 's' || text[1] < '0' || text[1] > '9')
		return REG_COUNT;
	memcpy(buf, text + 1, n - 1);
	buf[n - 1] = '\0';
	v = strtol(buf, &end, 10);
	return *end == '\0' && v < REG_VCC - REG_SGPR ? REG_SGPR + (unsigned)v : REG_COUNT;
}

/* The one instruction of [begin, end) that writes reg; FLOW_NONE when there are none or several. */
static uint32_t only_writer(const struct program *p, uint32_t begin, uint32_t end, unsigned reg)
{
	uint32_t found = FLOW_NONE;

	for (uint32_t i = begin; i < end; i++)
		if (writes(&p->insns[i], reg)) {
			if (found != FLOW_NONE)
				return FLOW_NONE;
			found = i;
		}
	return found;
}

static bool step_of(const struct insn *in, unsigned reg, int64_t *step)
{
	static const char *const add[] = {"s_add_i32", "s_add_u32", "s_add_co_i32", "s_add_co_u32"},
				 *const sub[] = {"s_sub_i32", "s_sub_u32", "s_sub_co_i32",
						 "s_sub_co_u32"},
				 *const addk[] = {"s_addk_i32", "s_addk_co_i32"};
	unsigned from = register_operand(in, 1), other = 2;

	if (op_is(in, addk, ARRAY_LEN(addk)))
		return register_operand(in, 0) == reg && constant(in, 1, step);
	if (from == REG_COUNT && op_is(in, add, ARRAY_LEN(add))) {
		from = register_operand(in, 2);
		other = 1;
	}
	if (from != reg || !constant(in, other, step))
		return false;
	if (op_is(in, sub, ARRAY_LEN(sub)))
		*step = -*step;
	else if (!op_is(in, add, ARRAY_LEN(add)))
		return false;
	return true;
}

/* The value that reg has when the loop is entered: the nearest write before it, in straight code.
 */
static bool start_of(const struct finder *f, uint32_t begin, unsigned reg, int64_t *value)
{
	static const char *const moves[] = {"s_mov_b32", "s_movk_i32"};
	const struct program *p = f->p;

	for (uint32_t i = begin; i-- > 0;) {
		const struct insn *in = &p->insns[i];

		if (!flow_falls_through(p, i) || f->to[i + 1].first < begin)
			return false;
		if (i + 1 != begin && f->to[i + 1].first != FLOW_NONE && f->to[i + 1].last >= begin)
			return false; /* an outer loop begins here: later entries find another value
				       */
		if (in->cls == OPC_BRANCH && flow_branch_target(p, i) != FLOW_NONE &&
		    flow_branch_target(p, i) <= i)
			return false;
		if (writes(in, reg))
			return op_is(in, moves, ARRAY_LEN(moves)) && constant(in, 1, value);
	}
	return false;
}

static bool holds(const char *relation, bool is_signed, uint32_t a, uint32_t b)
{
	int64_t x = is_signed ? (int64_t)(int32_t)a : (int64_t)a,
		y = is_signed ? (int64_t)(int32_t)b : (int64_t)b;

	if (!strncmp(relation, "eq", 2))
		return x == y;
	if (!strncmp(relation, "lg", 2) || !strncmp(relation, "ne", 2))
		return x != y;
	if (!strncmp(relation, "gt", 2))
		return x > y;
	if (!strncmp(relation, "ge", 2))
		return x >= y;
	return !strncmp(relation, "lt", 2) ? x < y : x <= y;
}

/* Control may leave the loop in the middle, but not skip a part of it. */
static bool straight(const struct program *p, const struct loop *l, uint32_t writer)
{
	for (uint32_t i = l->begin; i + 1 < l->end; i++) {
		uint32_t target = flow_branch_target(p, i);

		if (target == FLOW_NONE || target < l->begin || target >= l->end)
			continue;
		if (target > i || (target <= writer && writer <= i))
			return false;
	}
	return true;
}

static uint64_t count(struct finder *f, const struct insn *cmp, bool taken_if, bool swapped,
		      uint32_t value, uint32_t step, uint32_t bound)
{
	const char *relation = cmp->op + (!strncmp(cmp->op, "s_cmpk_", 7) ? 7 : 6);
	bool is_signed = strstr(relation, "_i32") != NULL;

	for (uint64_t trips = 1; trips <= MAX_TRIPS && f->budget; trips++, f->budget--) {
		bool scc = swapped ? holds(relation, is_signed, bound, value)
				   : holds(relation, is_signed, value, bound);

		if (scc != taken_if)
			return trips;
		value += step;
	}
	return 0;
}

static uint64_t trips_of(struct finder *f, const struct loop *l)
{
	const struct program *p = f->p;
	const struct insn *branch = &p->insns[l->end - 1], *cmp = NULL;
	uint32_t at = l->end - 1, writer;
	int64_t step, start, bound;
	unsigned reg;
	bool swapped;

	if (!branch->op ||
	    (strcmp(branch->op, "s_cbranch_scc0") && strcmp(branch->op, "s_cbranch_scc1")))
		return 0;
	while (at > l->begin && !cmp)
		if (writes(&p->insns[--at], REG_SCC))
			cmp = &p->insns[at];
	if (!cmp || !cmp->op || strncmp(cmp->op, "s_cmp", 5) || !strstr(cmp->op, "32"))
		return 0;
	reg = register_operand(cmp, 0);
	swapped = reg == REG_COUNT;
	if (swapped)
		reg = register_operand(cmp, 1);
	if (reg == REG_COUNT || !constant(cmp, swapped ? 0 : 1, &bound))
		return 0;
	writer = only_writer(p, l->begin, l->end, reg);
	if (writer == FLOW_NONE || !step_of(&p->insns[writer], reg, &step) ||
	    !straight(p, l, writer) || !start_of(f, l->begin, reg, &start))
		return 0;
	return count(f, cmp, branch->op[13] == '1', swapped,
		     (uint32_t)(writer < at ? start + step : start), (uint32_t)step,
		     (uint32_t)bound);
}

/* ---- loops ---- */

static void note_arrivals(struct finder *f)
{
	const struct program *p = f->p;

	for (uint32_t i = 0; i <= p->ninsns; i++)
		f->to[i].first = FLOW_NONE;
	for (uint32_t i = 0; i < p->ninsns; i++) {
		uint32_t target = flow_branch_target(p, i);

		if (target == FLOW_NONE)
			continue;
		if (i < f->to[target].first)
			f->to[target].first = i;
		f->to[target].last = i; /* they come in order */
	}
}

/* Does a branch from outside go into the middle? Also when telling takes too long. */
static bool entered_inside(struct finder *f, uint32_t begin, uint32_t end)
{
	if (f->scans < end - begin)
		return true;
	f->scans -= end - begin;
	for (uint32_t i = begin + 1; i < end; i++)
		if (f->to[i].first != FLOW_NONE && (f->to[i].first < begin || f->to[i].last >= end))
			return true;
	return false;
}

static void collect(struct finder *f)
{
	uint32_t open[MAX_DEPTH]; /* loops around the instruction, innermost last */
	unsigned depth = 0;

	for (uint32_t i = 0; i < f->p->ninsns; i++) {
		uint32_t end = f->to[i].first == FLOW_NONE ? 0 : f->to[i].last + 1;

		while (depth && f->list[open[depth - 1]].end <= i)
			depth--;
		if (end <= i || depth == MAX_DEPTH ||
		    (depth && end > f->list[open[depth - 1]].end) || entered_inside(f, i, end))
			continue;
		f->list = xgrow(f->list, f->n, &f->cap, sizeof(*f->list));
		f->list[f->n] = (struct loop){.begin = i,
					      .end = end,
					      .steps = 1,
					      .groups = (uint8_t)((1u << f->p->groups) - 1),
					      .parent = depth ? (int)open[depth - 1] : -1};
		open[depth++] = (uint32_t)f->n++;
	}
}

static unsigned matrix_ops(const struct program *p, const struct loop *l)
{
	unsigned n = 0;

	for (uint32_t i = l->begin; i < l->end; i++)
		n += p->insns[i].cls == OPC_MATRIX;
	return n;
}

/* The innermost loop with most matrix ops; without any the longest innermost one. */
static int hot_loop(const struct program *p)
{
	bool *outer = xcalloc(p->nloops + 1, sizeof(*outer));
	unsigned best_matrix = 0;
	uint32_t best_size = 0;
	int best = -1;

	for (size_t l = 0; l < p->nloops; l++)
		if (p->loops[l].parent >= 0)
			outer[p->loops[l].parent] = true;
	for (size_t l = 0; l < p->nloops; l++) {
		unsigned m = outer[l] ? 0 : matrix_ops(p, &p->loops[l]);
		uint32_t size = p->loops[l].end - p->loops[l].begin;

		if (outer[l] ||
		    (best >= 0 && (m < best_matrix || (m == best_matrix && size <= best_size))))
			continue;
		best = (int)l;
		best_matrix = m;
		best_size = size;
	}
	free(outer);
	return best;
}

int flow_loops(struct program *p, struct diag *d)
{
	struct finder f = {
		.p = p, .budget = 1u << 26, .scans = (uint64_t)p->ninsns * MAX_DEPTH * 2};

	(void)d;
	if (p->groups == 0 || p->groups > PROG_MAX_GROUPS)
		p->groups = 1;
	f.to = xcalloc(p->ninsns + 1, sizeof(*f.to));
	note_arrivals(&f);
	collect(&f);
	p->loops = arena_alloc(p->arena, f.n + 1, sizeof(*p->loops));
	p->nloops = f.n;
	for (size_t l = 0; l < f.n; l++) {
		p->loops[l] = f.list[l];
		p->loops[l].trips = trips_of(&f, &f.list[l]);
		p->insns[f.list[l].end - 1].loop = (int32_t)l;
	}
	for (unsigned g = 0; g < PROG_MAX_GROUPS; g++)
		p->main_loop[g] = hot_loop(p);
	free(f.list);
	free(f.to);
	return 0;
}
