/* Prologue, loops and epilogue: which stages and instructions each group executes. */
#include "schedule_internal.h"

#include <string.h>

#define TRIPS_MAX (INT64_C(1) << 40)
#define UNROLL_MAX 64u
#define PEEL_MAX 4096u
#define PRIORITY_MAX 3u
#define MAX_SECTIONS 64u

static const char *const boundary_words[] = {"barrier", "drain", "none"};
static const enum boundary boundaries[] = {BOUNDARY_BARRIER, BOUNDARY_DRAIN, BOUNDARY_NONE};

static void read_boundary(struct reader *r, struct xml_node *n, enum boundary *out)
{
	int v;

	if (attr_word(r, n, "boundary", boundary_words, ARRAY_LEN(boundary_words), &v))
		*out = boundaries[v];
}

static struct sched_stage *new_stage(struct reader *r, const struct xml_node *n)
{
	struct sched_stage *st;

	if (r->full)
		return NULL;
	if (++r->nstages > MAX_STAGES) {
		diag_add(r->d, n->loc, DIAG_LIMIT, "the schedule has more than %u stages",
			 MAX_STAGES);
		r->full = true;
		return NULL;
	}
	st = arena_alloc(r->a, 1, sizeof(*st));
	st->loc = n->loc;
	st->priority = -1;
	st->boundary = BOUNDARY_NONE;
	return st;
}

static struct sched_stage *read_stage(struct reader *r, struct xml_node *n, enum boundary boundary)
{
	struct sched_stage *st = new_stage(r, n);
	struct xml_node *edge = NULL;
	unsigned v;

	if (!st)
		return NULL;
	st->boundary = boundary;
	attr_identifier(r, n, "name", &st->name, &st->name_loc);
	if (!st->name)
		st->name = "";
	if (attr_uint(r, n, "priority", 0, PRIORITY_MAX, &v))
		st->priority = (int)v;
	read_boundary(r, n, &st->boundary);
	for (struct xml_node *c = n->first; c; c = c->next) {
		if (edge)
			diag_add(r->d, c->loc, DIAG_ELEMENT,
				 "<%s> stands behind <edge>, which must be last in its stage",
				 c->name);
		else if (element_of(c) == EL_EDGE)
			edge = c;
	}
	r->has_edge = edge != NULL;
	st->ops = read_ops(r, n);
	r->has_edge = false;
	if (!edge)
		return st;
	r->in_edge = true;
	st->edge_ops = read_ops(r, edge);
	r->in_edge = false;
	if (!st->edge_ops && !r->full)
		diag_add(r->d, edge->loc, DIAG_ELEMENT, "<edge> has no instructions inside");
	return st;
}

static void check_stage_name(struct reader *r, const struct sched_section *sec,
			     const struct sched_stage *st)
{
	for (const struct sched_stage *o = sec->stages; o && o != st; o = o->next) {
		if (!o->name || !*st->name || strcmp(o->name, st->name))
			continue;
		diag_note(diag_add(r->d, st->name_loc, DIAG_NAME,
				   "a second stage '%s' in this section", st->name),
			  o->name_loc, "the first one is here");
		return;
	}
}

/* Stages in order; instructions between them become stages without a name. */
static void read_stages(struct reader *r, struct xml_node *n, struct sched_section *sec,
			enum boundary boundary)
{
	struct sched_stage **link = &sec->stages, *between = NULL;
	struct sched_op **op_link = NULL;

	for (struct xml_node *c = n->first; c && !r->full; c = c->next) {
		if (element_of(c) == EL_STAGE) {
			*link = read_stage(r, c, boundary);
			if (!*link)
				return;
			check_stage_name(r, sec, *link);
			link = &(*link)->next;
			between = NULL;
			continue;
		}
		if (!between) {
			between = *link = new_stage(r, c);
			if (!between)
				return;
			link = &between->next;
			op_link = &between->ops;
		}
		*op_link = read_op(r, c);
		if (!*op_link)
			return;
		op_link = &(*op_link)->next;
	}
}

static bool has_ops(const struct sched_section *sec)
{
	for (const struct sched_stage *st = sec->stages; st; st = st->next)
		if (st->ops || st->edge_ops)
			return true;
	return false;
}

static void read_loop(struct reader *r, struct xml_node *n, struct sched_section *sec)
{
	struct schedule *s = r->s;

	sec->unroll = 1;
	sec->trips = -1;
	attr_uint(r, n, "unroll", 1, UNROLL_MAX, &sec->unroll);
	attr_uint(r, n, "peel", 0, PEEL_MAX, &sec->peel);
	xml_int(n, "trips", false, 1, TRIPS_MAX, &sec->trips, r->d);
	if (!s->unroll_loc.src)
		s->unroll_loc = attr_loc(n, "unroll");
	if (!s->gemm && !r->head_broken)
		attr_need(r, n, "trips", "a <kernel> has no K that would give it");
	if (r->ksteps > 0 && !xml_get(n, "trips") && r->ksteps < (int64_t)sec->peel + sec->unroll)
		diag_add(r->d, n->loc, DIAG_SHAPE,
			 "the loop would never run: the GEMM has %lld K-step%s, a trip takes %u "
			 "and %u are peeled",
			 (long long)r->ksteps, r->ksteps == 1 ? "" : "s", sec->unroll, sec->peel);
}

static struct sched_section *read_section(struct reader *r, struct xml_node *n,
					  enum section_kind kind)
{
	struct sched_section *sec = arena_alloc(r->a, 1, sizeof(*sec));
	enum boundary boundary = kind == SECTION_LOOP ? BOUNDARY_BARRIER : BOUNDARY_NONE;

	sec->kind = kind;
	sec->loc = n->loc;
	sec->groups = UINT8_MAX;
	sec->unroll = 1;
	sec->trips = -1;
	attr_groups(r, n, "groups", &sec->groups);
	if (kind == SECTION_LOOP) {
		read_loop(r, n, sec);
		read_boundary(r, n, &boundary);
	}
	r->section = kind;
	r->section_groups = sec->groups;
	read_stages(r, n, sec, boundary);
	if (kind == SECTION_LOOP && !has_ops(sec) && !r->full)
		diag_add(r->d, n->loc, DIAG_ELEMENT, "<loop> has no instructions inside");
	return sec;
}

/* The loop before sec that one of its groups runs too; *g: which group. */
static const struct sched_section *loop_before(const struct schedule *s,
					       const struct sched_section *sec, unsigned *g)
{
	for (const struct sched_section *o = s->sections; o != sec; o = o->next)
		for (*g = 0; o->kind == SECTION_LOOP && *g < s->groups; ++*g)
			if (o->groups & sec->groups & 1u << *g)
				return o;
	return NULL;
}

/* Each group runs at most one loop, and at least something. */
static void check_coverage(struct reader *r)
{
	const struct schedule *s = r->s;
	uint8_t all = (uint8_t)((1u << s->groups) - 1), covered = 0;

	for (const struct sched_section *sec = s->sections; sec; sec = sec->next) {
		unsigned g;
		const struct sched_section *before =
			sec->kind == SECTION_LOOP ? loop_before(s, sec, &g) : NULL;

		covered |= sec->groups;
		if (before)
			diag_note(diag_add(r->d, sec->loc, DIAG_ELEMENT,
					   "group %c has a loop already", (char)('A' + g)),
				  before->loc, "it is here");
	}
	for (unsigned g = 0; g < s->groups; g++)
		if (!((covered & all) >> g & 1))
			diag_add(r->d, s->waves_loc, DIAG_ELEMENT,
				 "group %c has nothing to execute: no section is for it",
				 (char)('A' + g));
}

void read_sections(struct reader *r, struct xml_node *root)
{
	struct sched_section **link = &r->s->sections;
	unsigned count = 0;

	for (struct xml_node *n = root->first; n; n = n->next) {
		enum element e = element_of(n);

		if (e != EL_PROLOGUE && e != EL_LOOP && e != EL_EPILOGUE)
			continue;
		if (++count > MAX_SECTIONS) {
			diag_add(r->d, n->loc, DIAG_LIMIT, "the schedule has more than %u sections",
				 MAX_SECTIONS);
			return;
		}
		*link = read_section(r, n,
				     e == EL_PROLOGUE ? SECTION_PROLOGUE
				     : e == EL_LOOP   ? SECTION_LOOP
						      : SECTION_EPILOGUE);
		link = &(*link)->next;
	}
	if (!count)
		diag_add(r->d, root->loc, DIAG_ELEMENT,
			 "<schedule> needs a <loop>, <prologue> or <epilogue> inside");
	else if (!r->head_broken)
		check_coverage(r);
}
