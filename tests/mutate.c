#include "mutate.h"

#include <stdlib.h>
#include <string.h>

const char *mutate_kind_name(enum mutate_kind k)
{
	static const char *const name[] = {
		"wait dropped", "wait loosened", "wait one earlier", "wait one later", "barrier dropped",
		"barrier one earlier", "barrier one later", "tile up", "tile down", "one slot less",
	};
	return name[k];
}

static bool is_barrier(const struct insn *in)
{
	return in->cls == OPC_BARRIER || ((in->cls == OPC_SIGNAL || in->cls == OPC_AWAIT) && in->barrier != BAR_NULL);
}

/* Whether instructions i and i + 1 may change places: no loop begins or ends between them. */
static bool may_swap(const struct program *p, uint32_t i)
{
	if (i + 1 >= p->ninsns)
		return false;
	for (uint32_t j = i; j <= i + 1; j++)
		if (p->insns[j].cls == OPC_BRANCH || p->insns[j].cls == OPC_END)
			return false;
	for (size_t l = 0; l < p->nloops; l++)
		if (p->loops[l].begin == i + 1)
			return false;
	for (unsigned g = 0; g < p->groups; g++)
		if (p->entry[g] == i + 1)
			return false;
	return true;
}

static bool tile_moves(const struct insn *in)
{
	switch ((int)in->cls) {
	case OPC_LDS_READ:
	case OPC_LDS_WRITE:
	case OPC_VMEM_LDS:
	case OPC_TDM_LOAD:
	case OPC_VMEM_LOAD:
		return in->access >= 0;
	default:
		return false;
	}
}

static bool applies(const struct program *p, enum mutate_kind k, uint32_t i)
{
	const struct insn *in = i < p->ninsns ? &p->insns[i] : NULL;

	if (k == MUTATE_SLOT_LESS)
		return i < p->nbuffers && p->buffers[i].slots > 1;
	if (!in)
		return false;
	switch (k) {
	case MUTATE_WAIT_DROP:
	case MUTATE_WAIT_LOOSEN:
		return in->cls == OPC_WAIT && !(in->flags & INSN_AUTO_WAIT);
	case MUTATE_WAIT_EARLIER:
		return in->cls == OPC_WAIT && !(in->flags & INSN_AUTO_WAIT) && i > 0 && may_swap(p, i - 1);
	case MUTATE_WAIT_LATER:
		return in->cls == OPC_WAIT && !(in->flags & INSN_AUTO_WAIT) && may_swap(p, i);
	case MUTATE_BARRIER_DROP:
		return is_barrier(in);
	case MUTATE_BARRIER_EARLIER:
		return is_barrier(in) && i > 0 && may_swap(p, i - 1);
	case MUTATE_BARRIER_LATER:
		return is_barrier(in) && may_swap(p, i);
	case MUTATE_TILE_UP:
	case MUTATE_TILE_DOWN:
		return tile_moves(in);
	case MUTATE_SLOT_LESS:
	case MUTATE_KINDS:
		break;
	}
	return false;
}

static void swap(struct program *p, uint32_t i)
{
	struct insn t = p->insns[i];

	p->insns[i] = p->insns[i + 1];
	p->insns[i + 1] = t;
}

void mutate_nop(struct insn *in)
{
	struct insn nop = { .cls = OPC_NOP, .op = "s_nop", .groups = in->groups, .size = in->size, .counter = -1,
			    .imm = 1, .repeat = 1, .access = -1, .stage = in->stage, .loop = -1, .loc = in->loc };
	*in = nop;
}

/* A split barrier loses the signal and the next wait of the same id, or the other way round. */
static void drop_barrier(struct program *p, uint32_t i)
{
	struct insn was = p->insns[i];

	mutate_nop(&p->insns[i]);
	if (was.cls == OPC_BARRIER)
		return;
	for (uint32_t step = was.cls == OPC_SIGNAL ? 1 : UINT32_MAX, j = i + step; j < p->ninsns; j += step) {
		struct insn *in = &p->insns[j];

		if (is_barrier(in) && in->cls != was.cls && in->barrier == was.barrier && in->groups == was.groups) {
			mutate_nop(in);
			return;
		}
	}
}

static void move_tile(struct program *p, uint32_t i, int by)
{
	struct access *ac = &p->access[p->insns[i].access];

	ac->tile += ac->from_end ? -by : by;
	ac->slot = -1;
}

static void change(struct program *p, enum mutate_kind k, uint32_t i)
{
	switch (k) {
	case MUTATE_WAIT_DROP:
		mutate_nop(&p->insns[i]);
		break;
	case MUTATE_WAIT_LOOSEN:
		for (unsigned j = 0; j < p->insns[i].nwait; j++)
			p->insns[i].wait[j].value++;
		break;
	case MUTATE_WAIT_EARLIER:
	case MUTATE_BARRIER_EARLIER:
		swap(p, i - 1);
		break;
	case MUTATE_WAIT_LATER:
	case MUTATE_BARRIER_LATER:
		swap(p, i);
		break;
	case MUTATE_BARRIER_DROP:
		drop_barrier(p, i);
		break;
	case MUTATE_TILE_UP:
		move_tile(p, i, 1);
		break;
	case MUTATE_TILE_DOWN:
		move_tile(p, i, -1);
		break;
	case MUTATE_SLOT_LESS:
		p->buffers[i].slots--;
		for (size_t j = 0; j < p->naccess; j++)
			if (p->access[j].buffer == (int32_t)i)
				p->access[j].slot = -1;
		break;
	case MUTATE_KINDS:
		break;
	}
}

static void *copy_of(const void *v, size_t n, size_t size)
{
	void *c = xcalloc(n + 1, size);

	if (n)
		memcpy(c, v, n * size);
	return c;
}

bool mutate(const struct program *p, size_t i, struct mutant *out)
{
	size_t places = p->ninsns > p->nbuffers ? p->ninsns : p->nbuffers;

	for (unsigned k = 0; k < MUTATE_KINDS; k++)
		for (uint32_t at = 0; at < places; at++) {
			if (!applies(p, (enum mutate_kind)k, at) || i-- > 0)
				continue;
			*out = (struct mutant){ .p = *p, .kind = (enum mutate_kind)k, .at = at };
			out->p.arena = NULL;
			out->p.insns = copy_of(p->insns, p->ninsns, sizeof(*p->insns));
			out->p.access = copy_of(p->access, p->naccess, sizeof(*p->access));
			out->p.buffers = copy_of(p->buffers, p->nbuffers, sizeof(*p->buffers));
			change(&out->p, out->kind, at);
			return true;
		}
	return false;
}

void mutant_free(struct mutant *m)
{
	free(m->p.insns);
	free(m->p.access);
	free(m->p.buffers);
}
