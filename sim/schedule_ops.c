/* Instructions of a schedule. */
#include "schedule_internal.h"

#include <ctype.h>
#include <string.h>

#define BYTES_MAX (1u << 30)
#define STRIDE_MAX 65536u
#define OFFSET_MAX ((4u << 20) - 1)
#define MULTICAST_MAX 64u
#define WAIT_MAX 255u
#define PRIORITY_MAX 3u
#define STATES_MAX 255u
#define SLEEP_MAX 127u
#define MODE_MAX 255u
#define NAMED_MAX 16u

/* Groups and waves that execute it */

static void read_groups(struct reader *r, struct xml_node *n, struct sched_op *op)
{
	uint8_t mask;

	op->groups = r->weave ? r->weave->groups : UINT8_MAX;
	if (!attr_groups(r, n, "group", &mask))
		return;
	if (!(mask & r->section_groups))
		diag_add(r->d, attr_loc(n, "group"), DIAG_VALUE,
			 "no group of this section executes it");
	else if (mask & ~op->groups)
		diag_add(r->d, attr_loc(n, "group"), DIAG_VALUE,
			 "the <interleave> is for other groups");
	op->groups = mask;
}

static void read_waves(struct reader *r, struct xml_node *n, struct sched_op *op)
{
	unsigned per_group, lo, hi;

	if (!attr_waves(r, n, &op->wave_lo, &op->wave_hi) || r->head_broken)
		return;
	per_group = r->s->waves / r->s->groups;
	lo = (unsigned)op->wave_lo / per_group;
	hi = (unsigned)op->wave_hi / per_group;
	for (unsigned g = lo; g <= hi; g++)
		if (op->groups & r->section_groups & 1u << g)
			return;
	diag_add(r->d, attr_loc(n, "waves"), DIAG_VALUE,
		 "no wave of %s is in a group that executes it", xml_get(n, "waves")->value);
}

static void read_id(struct reader *r, struct xml_node *n, struct sched_op *op)
{
	struct xml_attr *at = xml_get(n, "id");

	if (op->kind == OP_BARRIER && at && isdigit((unsigned char)at->value[0])) {
		if (r->weave)
			diag_fix(diag_add(r->d, at->value_loc, DIAG_VALUE,
					  "a named barrier can't be woven: id names "
					  "the stream of an <interleave>"),
				 "end the <interleave>, write the barrier, and begin a new one");
		else
			attr_uint(r, n, "id", 1, NAMED_MAX, &op->barrier_id);
		op->scope = SCOPE_NAMED;
		return;
	}
	if (r->weave) {
		if (attr_need(r, n, "id", "it is how the order of the <interleave> names it"))
			attr_identifier(r, n, "id", &op->id, NULL);
		return;
	}
	attr_refuse(r, n, "id",
		    op->kind == OP_BARRIER
			    ? "a named barrier has a number, 1 to 16"
			    : "only the order of an <interleave> names instructions");
}

static void read_counts(struct reader *r, struct xml_node *n, struct sched_op *op)
{
	unsigned v;

	attr_uint(r, n, "count", 1, MAX_COUNT, &op->count);
	if (attr_uint(r, n, "edge", 0, MAX_COUNT, &v))
		op->edge_count = (int)v;
	if (r->in_edge)
		attr_refuse(r, n, "edge", "it stands in the <edge> of its stage");
	else if (r->has_edge)
		attr_refuse(r, n, "edge", "the stage has an <edge> of its own");
	if (attr_uint(r, n, "bytes", 1, BYTES_MAX, &v))
		op->bytes = v;
}

/* LDS buffers */

static const struct sched_lds *lds_of(struct reader *r, const struct name *name)
{
	return name ? &r->s->lds[name->index] : NULL;
}

static const struct sched_reg *reg_of(struct reader *r, const struct name *name)
{
	return name ? &r->s->regs[name->index] : NULL;
}

/* The buffer that a block belongs to; NULL when it names none. */
static const struct sched_lds *lds_of_reg(struct reader *r, const struct sched_reg *b)
{
	return b && b->from ? schedule_lds(r->s, b->from) : NULL;
}

static void read_address(struct reader *r, struct xml_node *n, struct sched_op *op,
			 const struct sched_lds *b)
{
	static const char *const words[] = {"own", "all"};
	static const char reason[] = "the operand's layout gives the addresses";
	unsigned v;
	int share = op->kind == OP_READ;

	if (b && b->operand) {
		attr_refuse(r, n, "stride", reason);
		attr_refuse(r, n, "offset", reason);
		attr_refuse(r, n, "share", reason);
		return;
	}
	attr_uint(r, n, "stride", 1, STRIDE_MAX, &op->stride);
	if (attr_uint(r, n, "offset", 0, OFFSET_MAX, &v)) {
		op->offset = v;
		if (b && b->bytes && v >= b->bytes)
			diag_add(r->d, attr_loc(n, "offset"), DIAG_VALUE,
				 "offset %u lies behind the %llu bytes of a slot "
				 "of '%s'",
				 v, (unsigned long long)b->bytes, b->name);
	}
	attr_word(r, n, "share", words, ARRAY_LEN(words), &share);
	op->share = share ? SHARE_ALL : SHARE_OWN;
}

/* What every instruction that touches LDS buffer b says about it. */
static void use_buffer(struct reader *r, struct xml_node *n, struct sched_op *op,
		       const struct sched_lds *b)
{
	if (b && b->operand)
		attr_need(r, n, "tile", "it says which K-step of the operand is meant");
	else if (b && b->slots > 1 && !r->decl_broken)
		attr_need(r, n, "tile", "it says which slot of the buffer is meant");
	read_address(r, n, op, b);
}

static void read_load(struct reader *r, struct xml_node *n, struct sched_op *op)
{
	const struct name *into =
		attr_name(r, n, "into", KIND(FRAGMENT) | KIND(STAGING) | KIND(REGISTERS), &op->into,
			  &op->into_loc);
	const struct sched_reg *b = reg_of(r, into);
	const struct sched_lds *lds = b && b->kind == SREG_STAGING ? lds_of_reg(r, b) : NULL;

	attr_name(r, n, "from", KIND(GLOBAL), &op->from, &op->from_loc);
	if (lds && lds->operand) {
		attr_refuse(r, n, "operand", "the buffer of the staging block says it");
		op->operand = lds->operand;
	} else {
		attr_operand(r, n, &op->operand);
	}
	if (op->operand)
		attr_need(r, n, "tile", "it says which K-step of the operand is meant");
}

static void read_write(struct reader *r, struct xml_node *n, struct sched_op *op)
{
	const struct name *from = attr_name(r, n, "from", KIND_REGISTER, &op->from, &op->from_loc);
	const struct sched_reg *b = reg_of(r, from);
	const struct sched_lds *own = b && b->kind == SREG_STAGING ? lds_of_reg(r, b) : NULL;
	const struct sched_lds *lds =
		lds_of(r, attr_name(r, n, "to", KIND(LDS), &op->to, &op->to_loc));

	if (!xml_get(n, "to")) {
		if (own)
			op->to = own->name;
		else if (from && !r->decl_broken)
			attr_need(r, n, "to", "the registers belong to no LDS buffer");
		lds = own;
	}
	use_buffer(r, n, op, lds);
}

static void read_read(struct reader *r, struct xml_node *n, struct sched_op *op)
{
	const struct name *into = attr_name(r, n, "into", KIND_OPERAND, &op->into, &op->into_loc);
	const struct sched_reg *b = reg_of(r, into);
	const struct sched_lds *own = lds_of_reg(r, b);
	const struct sched_lds *lds =
		lds_of(r, attr_name(r, n, "from", KIND(LDS), &op->from, &op->from_loc));

	if (!xml_get(n, "from")) {
		if (own)
			op->from = own->name;
		else if (into && !r->decl_broken)
			attr_need(r, n, "from", "the registers belong to no LDS buffer");
		lds = own;
	}
	use_buffer(r, n, op, lds);
	if (!op->op && b)
		op->op = b->read_op;
}

static void read_multicast(struct reader *r, struct xml_node *n, struct sched_op *op)
{
	const struct schedule *s = r->s;
	unsigned most = s->cluster_rows * s->cluster_cols;

	if (!attr_uint(r, n, "multicast", 1, MULTICAST_MAX, &op->multicast) || r->head_broken)
		return;
	if (op->multicast > most)
		diag_add(r->d, attr_loc(n, "multicast"), DIAG_VALUE,
			 "%u workgroups can't share a fetch: a cluster has %u", op->multicast,
			 most);
}

static void read_copy(struct reader *r, struct xml_node *n, struct sched_op *op)
{
	const struct sched_lds *lds =
		lds_of(r, attr_name(r, n, "to", KIND(LDS), &op->to, &op->to_loc));
	bool commit = true;

	attr_name(r, n, "from", KIND(GLOBAL), &op->from, &op->from_loc);
	attr_flag(r, n, "commit", &commit);
	op->no_commit = !commit;
	use_buffer(r, n, op, lds);
}

static void read_mma(struct reader *r, struct xml_node *n, struct sched_op *op)
{
	const struct name *acc = attr_name(r, n, "acc", KIND(ACCUMULATOR), &op->acc, &op->acc_loc);
	const struct sched_reg *c = reg_of(r, acc);

	attr_name(r, n, "a", KIND_OPERAND, &op->a, &op->a_loc);
	attr_name(r, n, "b", KIND_OPERAND, &op->b, &op->b_loc);
	attr_name(r, n, "scale-a", KIND_OPERAND, &op->sa, NULL);
	attr_name(r, n, "scale-b", KIND_OPERAND, &op->sb, NULL);
	attr_name(r, n, "index", KIND_OPERAND, &op->index, NULL);
	if (!op->op && !r->has_matrix && !r->head_broken)
		attr_need(r, n, "op",
			  "the <kernel> has no <matrix> that would name the instruction");
	if (!c || r->decl_broken)
		return;
	if (!c->a)
		attr_need(r, n, "a", "the accumulator names no default");
	if (!c->b)
		attr_need(r, n, "b", "the accumulator names no default");
	if (!r->s->gemm || c->count)
		attr_need(r, n, "count", "no shape gives the number of matrix instructions");
	op->a = op->a ? op->a : c->a;
	op->b = op->b ? op->b : c->b;
	op->sa = op->sa ? op->sa : c->sa;
	op->sb = op->sb ? op->sb : c->sb;
}

static void read_store(struct reader *r, struct xml_node *n, struct sched_op *op)
{
	attr_name(r, n, "from", KIND_REGISTER, &op->from, &op->from_loc);
	attr_name(r, n, "to", KIND(GLOBAL), &op->to, &op->to_loc);
	attr_name(r, n, "publishes", KIND(GLOBAL), &op->publishes, NULL);
}

static void read_tdm_store(struct reader *r, struct xml_node *n, struct sched_op *op)
{
	const struct sched_lds *lds =
		lds_of(r, attr_name(r, n, "from", KIND(LDS), &op->from, &op->from_loc));

	attr_name(r, n, "to", KIND(GLOBAL), &op->to, &op->to_loc);
	if (lds && lds->slots > 1)
		attr_need(r, n, "tile", "it says which slot of the buffer is meant");
}

static void read_work(struct reader *r, struct xml_node *n, struct sched_op *op)
{
	attr_names(r, n, "writes", KIND_REGISTER, &op->writes);
	attr_names(r, n, "reads", KIND_REGISTER, &op->reads);
	if (!op->count)
		op->count = 1;
}

static void read_wait(struct reader *r, struct xml_node *n, struct sched_op *op)
{
	unsigned v;

	for (int c = 0; c < CTR_COUNT; c++) {
		const char *name = counter_name((enum counter)c);

		if (attr_uint(r, n, name, 0, WAIT_MAX, &v)) {
			op->wait[c] = (int)v;
			op->wait_loc[c] = attr_loc(n, name);
		}
	}
	if (attr_uint(r, n, "groups", 0, WAIT_MAX, &v))
		op->wait_groups = (int)v;
	for (size_t i = 0; i < n->nattrs; i++)
		if (strcmp(n->attrs[i].name, "id") && strcmp(n->attrs[i].name, "group"))
			return;
	if (vocabulary_patched(r, n))
		return;
	diag_fix(
		diag_add(r->d, n->loc, DIAG_ATTR, "<wait> names no counter"),
		"add vm, lgkm, exp, load, store, ds, km, async, tensor or x, or groups for copy groups");
}

static void read_barrier(struct reader *r, struct xml_node *n, struct sched_op *op)
{
	static const char *const kinds[] = {"plain", "drain"};
	static const char *const parts[] = {"signal", "wait"};
	static const char *const scopes[] = {"workgroup", "cluster"};
	int v = 0;

	attr_word(r, n, "kind", kinds, ARRAY_LEN(kinds), &v);
	op->drain = v == 1;
	if (attr_word(r, n, "part", parts, ARRAY_LEN(parts), &v))
		op->bpart = v ? BARRIER_WAIT : BARRIER_SIGNAL;
	if (op->drain && op->bpart == BARRIER_WAIT)
		diag_add(r->d, attr_loc(n, "kind"), DIAG_VALUE,
			 "a draining barrier waits before it signals; this one "
			 "only waits");
	if (op->scope == SCOPE_NAMED)
		attr_refuse(r, n, "scope", "a named barrier is known by its id");
	else if (attr_word(r, n, "scope", scopes, ARRAY_LEN(scopes), &v) && v)
		op->scope = SCOPE_CLUSTER;
	if (op->scope == SCOPE_CLUSTER && !r->head_broken &&
	    r->s->cluster_rows * r->s->cluster_cols == 1)
		diag_fix(diag_add(r->d, attr_loc(n, "scope"), DIAG_VALUE,
				  "the launch has no clusters"),
			 "add <cluster rows=\"2\" cols=\"2\"/> to the shape");
	if (op->scope == SCOPE_WORKGROUP)
		attr_refuse(r, n, "members", "every wave of the workgroup arrives");
	attr_uint(r, n, "members", 1, MAX_WAVES, &op->members);
}

static void read_imm(struct reader *r, struct xml_node *n, struct sched_op *op)
{
	if (op->kind == OP_PRIORITY)
		attr_uint(r, n, "level", 0, PRIORITY_MAX, &op->imm);
	else if (op->kind == OP_NOP)
		attr_uint(r, n, "states", 1, STATES_MAX, &op->imm);
	else if (op->kind == OP_SLEEP)
		attr_uint(r, n, "units", 0, SLEEP_MAX, &op->imm);
	else if (op->kind == OP_MODE)
		attr_uint(r, n, "bits", 0, MODE_MAX, &op->imm);
}

/* Interleaves */

/* Instructions of one child; 0 when that depends on the target or on derived counts. */
static unsigned known_count(const struct sched_op *op)
{
	switch (op->kind) {
	case OP_LOAD:
	case OP_WRITE:
	case OP_COPY:
	case OP_READ:
	case OP_MMA:
	case OP_STORE:
	case OP_VALU:
	case OP_TRANS:
	case OP_PACKED:
	case OP_SALU:
	case OP_SMEM:
	case OP_PERMUTE:
		return op->count;
	case OP_TDM:
	case OP_TDM_STORE:
	case OP_WAIT:
	case OP_BARRIER:
	case OP_PRIORITY:
	case OP_FENCE:
	case OP_NOP:
	case OP_SLEEP:
	case OP_MODE:
	case OP_COMMIT:
	case OP_INTERLEAVE:
	case OP_KIND_COUNT:
		break;
	}
	return 0;
}

/* Where the counts are written, the order must use each instruction once. */
static void check_stream(struct reader *r, const struct sched_op *weave,
			 const struct sched_op *first, const struct sched_op *const *seq, size_t n)
{
	size_t have = 0, used = 0;

	for (const struct sched_op *c = weave->children; c; c = c->next) {
		if (!c->id || strcmp(c->id, first->id))
			continue;
		if (!known_count(c))
			return;
		have += known_count(c);
	}
	for (size_t i = 0; i < n; i++)
		used += seq[i] == first;
	if (used != have)
		diag_note(diag_add(r->d, weave->order_loc, DIAG_INTERLEAVE,
				   "the order uses '%s' %zu time%s; it has %zu "
				   "instruction%s",
				   first->id, used, used == 1 ? "" : "s", have,
				   have == 1 ? "" : "s"),
			  first->loc, "'%s' begins here", first->id);
}

static void check_weave(struct reader *r, const struct sched_op *weave)
{
	const struct sched_op **seq, *first[MAX_IDS];
	size_t n, nids = 0;

	for (const struct sched_op *c = weave->children; c; c = c->next)
		if (!c->id)
			return;
	n = schedule_weave(weave, r->a, &seq, r->d);
	if (!n)
		return;
	r->nwoven += n;
	if (r->nwoven > WEAVE_MAX && r->nwoven - n <= WEAVE_MAX) {
		diag_add(r->d, weave->order_loc, DIAG_LIMIT,
			 "the interleaves have more than %d instructions in all", WEAVE_MAX);
		r->full = true;
		return;
	}
	for (const struct sched_op *c = weave->children; c; c = c->next) {
		size_t i = 0;

		while (i < nids && strcmp(first[i]->id, c->id))
			i++;
		if (i < nids)
			continue;
		first[nids++] = c;
		check_stream(r, weave, c, seq, n);
	}
}

static void read_interleave(struct reader *r, struct xml_node *n, struct sched_op *op)
{
	struct xml_attr *at = xml_get(n, "order");

	r->weave = op;
	op->children = read_ops(r, n);
	r->weave = NULL;
	if (!at)
		return;
	op->order = at->value;
	op->order_loc = at->value_loc;
	if (!op->children)
		diag_add(r->d, n->loc, DIAG_ELEMENT, "<interleave> has no instructions inside");
	else if (!r->full)
		check_weave(r, op);
}

/* All kinds */

static void read_common(struct reader *r, struct xml_node *n, struct sched_op *op)
{
	op->wave_lo = op->wave_hi = -1;
	op->part = op->kpart = (struct part){0, 1};
	op->edge_count = -1;
	op->multicast = 1;
	op->wait_groups = -1;
	for (int c = 0; c < CTR_COUNT; c++)
		op->wait[c] = -1;
	read_groups(r, n, op);
	read_waves(r, n, op);
	if (op->kind != OP_INTERLEAVE)
		read_id(r, n, op);
	read_counts(r, n, op);
	read_multicast(r, n, op);
	attr_flag(r, n, "cold", &op->cold);
	attr_mnemonic(r, n, "op", &op->op, &op->op_loc);
	attr_tile(r, n, &op->tile);
	if (op->kind != OP_BARRIER)
		attr_part(r, n, "part", &op->part);
	attr_part(r, n, "k", &op->kpart);
}

static void read_kind(struct reader *r, struct xml_node *n, struct sched_op *op)
{
	switch (op->kind) {
	case OP_LOAD:
		read_load(r, n, op);
		break;
	case OP_WRITE:
		read_write(r, n, op);
		break;
	case OP_COPY:
	case OP_TDM:
		read_copy(r, n, op);
		break;
	case OP_READ:
		read_read(r, n, op);
		break;
	case OP_MMA:
		read_mma(r, n, op);
		break;
	case OP_STORE:
		read_store(r, n, op);
		break;
	case OP_TDM_STORE:
		read_tdm_store(r, n, op);
		break;
	case OP_VALU:
	case OP_TRANS:
	case OP_PACKED:
	case OP_SALU:
	case OP_SMEM:
	case OP_PERMUTE:
		read_work(r, n, op);
		break;
	case OP_WAIT:
		read_wait(r, n, op);
		break;
	case OP_BARRIER:
		read_barrier(r, n, op);
		break;
	case OP_PRIORITY:
	case OP_NOP:
	case OP_SLEEP:
	case OP_MODE:
		read_imm(r, n, op);
		break;
	case OP_INTERLEAVE:
		read_interleave(r, n, op);
		break;
	case OP_FENCE:
	case OP_COMMIT:
	case OP_KIND_COUNT:
		break;
	}
}

struct sched_op *read_op(struct reader *r, struct xml_node *n)
{
	struct sched_op *op;

	if (r->full)
		return NULL;
	if (++r->nops > MAX_OPS) {
		diag_add(r->d, n->loc, DIAG_LIMIT, "the schedule has more than %u instructions",
			 MAX_OPS);
		r->full = true;
		return NULL;
	}
	op = arena_alloc(r->a, 1, sizeof(*op));
	op->kind = (enum op_kind)(element_of(n) - EL_LOAD);
	op->loc = n->loc;
	read_common(r, n, op);
	read_kind(r, n, op);
	return op;
}

struct sched_op *read_ops(struct reader *r, struct xml_node *n)
{
	struct sched_op *first = NULL, **link = &first;

	for (struct xml_node *c = n->first; c; c = c->next) {
		if (element_of(c) < EL_LOAD)
			continue;
		*link = read_op(r, c);
		if (!*link)
			break;
		link = &(*link)->next;
	}
	return first;
}
