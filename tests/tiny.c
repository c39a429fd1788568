#include "tiny.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct tiny *tiny_new(const struct target *target, unsigned waves, unsigned groups)
{
	struct tiny *t = xcalloc(1, sizeof(*t));
	struct arena *a = arena_new();
	struct program *p = arena_alloc(a, 1, sizeof(*p));

	t->p = p;
	t->loop = -1;
	p->arena = a;
	p->target = target;
	p->name = "tiny";
	p->waves = waves;
	p->groups = groups;
	p->gap_written = true;
	p->workgroups = 1;
	p->cluster_workgroups = 1;
	p->vgpr = 64;
	p->sgpr = 16;
	p->stages = arena_alloc(a, 1, sizeof(*p->stages));
	p->stages[0] = (struct stage){ .name = "all", .kind = STAGE_PLAIN };
	p->nstages = 1;
	p->globals = arena_alloc(a, 2, sizeof(*p->globals));
	p->globals[0] = (struct global){ .name = "A", .bytes = 1 << 20 };
	p->globals[1] = (struct global){ .name = "B", .bytes = 1 << 20 };
	p->nglobals = 2;
	for (unsigned g = 0; g < PROG_MAX_GROUPS; g++)
		p->main_loop[g] = -1;
	return t;
}

void tiny_free(struct tiny *t)
{
	if (!t)
		return;
	free(t->p->insns);
	free(t->p->access);
	free(t->p->buffers);
	free(t->p->loops);
	arena_free(t->p->arena);
	src_free(t->src);
	free(t);
}

int32_t tiny_buffer(struct tiny *t, char operand, uint32_t slot_bytes, unsigned slots)
{
	struct program *p = t->p;

	p->buffers = xgrow(p->buffers, p->nbuffers, &t->capbuffers, sizeof(*p->buffers));
	p->buffers[p->nbuffers] = (struct buffer){
		.name = arena_printf(p->arena, "buf%zu", p->nbuffers), .base = p->lds_bytes,
		.slot_bytes = slot_bytes, .slots = slots, .alias_of = -1, .operand = operand,
	};
	p->lds_bytes += slot_bytes * slots;
	return (int32_t)p->nbuffers++;
}

int32_t tiny_alias(struct tiny *t, char operand, int32_t of, uint32_t slot_bytes, unsigned slots)
{
	uint32_t bytes = t->p->lds_bytes, end;
	int32_t i = tiny_buffer(t, operand, slot_bytes, slots);
	struct buffer *b = &t->p->buffers[i];

	b->base = t->p->buffers[of].base;
	b->alias_of = of;
	end = b->base + slot_bytes * slots;
	t->p->lds_bytes = end > bytes ? end : bytes;
	return i;
}

static struct insn *add(struct tiny *t, enum opclass cls, const char *op, unsigned groups)
{
	struct program *p = t->p;
	struct insn *in;

	p->insns = xgrow(p->insns, p->ninsns, &t->capinsns, sizeof(*p->insns));
	in = &p->insns[p->ninsns++];
	*in = (struct insn){
		.cls = cls, .op = op, .groups = (uint8_t)(groups & ((1u << p->groups) - 1)), .size = 4,
		.counter = (int8_t)p->target->classes[cls].counter, .repeat = 1, .access = -1, .loop = -1,
	};
	return in;
}

static void span(struct insn *in, enum span_role role, unsigned first, unsigned n)
{
	in->span[in->nspans] = (struct span){ (uint16_t)first, (uint16_t)n };
	in->role[in->nspans++] = (uint8_t)role;
}

static struct access *add_access(struct tiny *t, int32_t buffer, struct tiny_tile k, bool write)
{
	struct program *p = t->p;
	struct access *ac;

	p->access = xgrow(p->access, p->naccess, &t->capaccess, sizeof(*p->access));
	ac = &p->access[p->naccess++];
	*ac = (struct access){
		.buffer = buffer, .global = -1, .write = write, .absolute = k.base == TINY_FIRST,
		.from_end = k.base == TINY_LAST, .tile = k.at, .slot = -1,
	};
	return ac;
}

static int global_of(char operand)
{
	return operand == 'B' ? 1 : 0;
}

static int32_t range_access(struct tiny *t, int32_t buffer, struct tiny_tile k, struct tiny_range r, bool write)
{
	struct access *ac = add_access(t, buffer, k, write);
	uint32_t *lane = arena_alloc(t->p->arena, 1, sizeof(*lane));
	uint32_t *base = arena_alloc(t->p->arena, t->p->waves, sizeof(*base));

	*lane = r.from;
	for (unsigned w = r.first; w < t->p->waves; w++)
		base[w] = (w - r.first) * r.step;
	ac->nlanes = 1;
	ac->lane = lane;
	ac->wave_base = base;
	ac->width = r.bytes;
	return (int32_t)t->p->naccess - 1;
}

struct insn *tiny_read(struct tiny *t, unsigned groups, int32_t buffer, struct tiny_tile k, struct tiny_range r,
		       unsigned reg)
{
	struct insn *in = add(t, OPC_LDS_READ, "read", groups);

	in->lds = target_lds_widest(t->p->target, false);
	in->bytes = r.bytes;
	in->access = range_access(t, buffer, k, r, false);
	span(in, ROLE_DST, reg, TINY_REGS);
	return in;
}

struct insn *tiny_write(struct tiny *t, unsigned groups, int32_t buffer, struct tiny_tile k, struct tiny_range r,
		       unsigned reg)
{
	struct insn *in = add(t, OPC_LDS_WRITE, "write", groups);

	in->lds = target_lds_widest(t->p->target, true);
	in->bytes = r.bytes;
	in->access = range_access(t, buffer, k, r, true);
	span(in, ROLE_DATA, reg, TINY_REGS);
	return in;
}

struct insn *tiny_copy(struct tiny *t, unsigned groups, int32_t buffer, struct tiny_tile k, struct tiny_range r)
{
	struct insn *in = add(t, OPC_VMEM_LDS, "copy", groups);

	in->vmem = target_vmem_widest(t->p->target, VM_LDS);
	in->bytes = r.bytes;
	in->access = range_access(t, buffer, k, r, true);
	t->p->access[in->access].global = global_of((char)t->p->buffers[buffer].operand);
	return in;
}

struct insn *tiny_tdm(struct tiny *t, unsigned groups, int32_t buffer, struct tiny_tile k, struct tiny_range r)
{
	struct insn *in = add(t, OPC_TDM_LOAD, "tdm", groups);

	in->bytes = r.bytes;
	in->access = range_access(t, buffer, k, r, true);
	t->p->access[in->access].global = global_of((char)t->p->buffers[buffer].operand);
	return in;
}

struct insn *tiny_load(struct tiny *t, unsigned groups, char operand, struct tiny_tile k, unsigned reg)
{
	struct insn *in = add(t, OPC_VMEM_LOAD, "load", groups);

	in->vmem = target_vmem_widest(t->p->target, VM_LOAD);
	in->bytes = 64;
	add_access(t, -1, k, false)->global = global_of(operand);
	in->access = (int32_t)t->p->naccess - 1;
	span(in, ROLE_DST, reg, TINY_REGS);
	return in;
}

struct insn *tiny_smem(struct tiny *t, unsigned groups, unsigned sreg)
{
	struct insn *in = add(t, OPC_SMEM, "sload", groups);

	span(in, ROLE_DST, REG_SGPR + sreg, 1);
	return in;
}

static struct insn *alu(struct tiny *t, enum opclass c, const char *op, unsigned groups, unsigned dst, unsigned src)
{
	struct insn *in = add(t, c, op, groups);

	span(in, ROLE_DST, dst, 1);
	span(in, ROLE_SRC, src, 1);
	return in;
}

struct insn *tiny_valu(struct tiny *t, unsigned groups, unsigned dst, unsigned src)
{
	return alu(t, OPC_VALU, "valu", groups, dst, src);
}

struct insn *tiny_salu(struct tiny *t, unsigned groups, unsigned dst, unsigned src)
{
	return alu(t, OPC_SALU, "salu", groups, REG_SGPR + dst, REG_SGPR + src);
}

struct insn *tiny_mma(struct tiny *t, unsigned groups, unsigned acc, unsigned a, unsigned b)
{
	struct insn *in = add(t, OPC_MATRIX, "mma", groups);

	in->matrix = &t->p->target->matrix[0];
	span(in, ROLE_DST, acc, in->matrix->c_regs);
	span(in, ROLE_C, acc, in->matrix->c_regs);
	span(in, ROLE_A, a, TINY_REGS);
	span(in, ROLE_B, b, TINY_REGS);
	return in;
}

struct insn *tiny_wait(struct tiny *t, unsigned groups, enum counter c, unsigned value)
{
	struct insn *in = add(t, OPC_WAIT, "wait", groups);

	in->nwait = 1;
	in->wait[0].counter = (int8_t)c;
	in->wait[0].value = (uint8_t)value;
	return in;
}

static struct insn *barrier(struct tiny *t, enum opclass c, const char *op, unsigned groups, int id)
{
	struct insn *in = add(t, c, op, groups);

	in->barrier = (int8_t)id;
	return in;
}

struct insn *tiny_barrier(struct tiny *t, unsigned groups)
{
	return barrier(t, OPC_BARRIER, "barrier", groups, BAR_WORKGROUP);
}

struct insn *tiny_signal(struct tiny *t, unsigned groups, int id)
{
	return barrier(t, OPC_SIGNAL, "signal", groups, id);
}

struct insn *tiny_await(struct tiny *t, unsigned groups, int id)
{
	return barrier(t, OPC_AWAIT, "await", groups, id);
}

void tiny_loop(struct tiny *t, uint64_t trips, unsigned steps)
{
	struct program *p = t->p;

	p->loops = xgrow(p->loops, p->nloops, &t->caploops, sizeof(*p->loops));
	t->loop = (int)p->nloops++;
	p->loops[t->loop] = (struct loop){
		.begin = (uint32_t)p->ninsns, .trips = trips, .steps = steps,
		.groups = (uint8_t)((1u << p->groups) - 1), .parent = -1,
	};
	for (unsigned g = 0; g < p->groups && p->main_loop[g] < 0; g++)
		p->main_loop[g] = t->loop;
}

void tiny_loop_end(struct tiny *t)
{
	add(t, OPC_BRANCH, "branch", TINY_ALL)->loop = t->loop;
	t->p->loops[t->loop].end = (uint32_t)t->p->ninsns;
	t->loop = -1;
}

/* ---- text ---- */

static void print_access(const struct program *p, const struct insn *in, struct strbuf *b)
{
	const struct access *ac = &p->access[in->access];

	if (ac->buffer >= 0)
		strbuf_add(b, " %s", p->buffers[ac->buffer].name);
	strbuf_add(b, ac->absolute ? "[%d]" : ac->from_end ? "[last-%d]" : "[k%+d]", ac->tile);
	if (ac->slot >= 0)
		strbuf_add(b, " slot %d", ac->slot);
	if (ac->lane)
		strbuf_add(b, " bytes %u+%u", ac->lane[0], ac->width);
	if (ac->wave_base && p->waves > 1 && ac->wave_base[1])
		strbuf_add(b, " +%u a wave", ac->wave_base[1]);
}

static void print_insn(const struct program *p, const struct insn *in, struct strbuf *b)
{
	strbuf_add(b, "%s", in->op);
	if (in->groups != (1u << p->groups) - 1)
		strbuf_add(b, " groups %#x", in->groups);
	if (in->access >= 0)
		print_access(p, in, b);
	for (unsigned i = 0; i < in->nwait; i++)
		strbuf_add(b, " %s<=%u", counter_name((enum counter)in->wait[i].counter), in->wait[i].value);
	if (in->cls == OPC_SIGNAL || in->cls == OPC_AWAIT)
		strbuf_add(b, " id %d", in->barrier);
	for (unsigned i = 0; i < in->nspans; i++) {
		static const char *const role[] = { "dst", "src", "a", "b", "c", "index", "addr", "data" };

		if (in->role[i] != ROLE_C)
			strbuf_add(b, " %s r%u..%u", role[in->role[i]], in->span[i].first,
				   in->span[i].first + in->span[i].n - 1);
	}
}

void tiny_print(const struct program *p, struct strbuf *b)
{
	for (size_t i = 0; i < p->nbuffers; i++)
		strbuf_add(b, "%s: %u slots of %u bytes at %u\n", p->buffers[i].name, p->buffers[i].slots,
			   p->buffers[i].slot_bytes, p->buffers[i].base);
	for (size_t i = 0; i < p->ninsns; i++) {
		for (size_t l = 0; l < p->nloops; l++)
			if (p->loops[l].begin == i)
				strbuf_add(b, "      loop %" PRIu64 " trips of %u\n", p->loops[l].trips, p->loops[l].steps);
		if (p->insns[i].cls == OPC_NOP)
			continue;
		strbuf_add(b, "%4zu  ", i);
		print_insn(p, &p->insns[i], b);
		strbuf_add(b, "\n");
	}
}

struct program *tiny_finish(struct tiny *t, uint64_t ksteps)
{
	struct program *p = t->p;
	struct strbuf b = { 0 };

	add(t, OPC_END, "end", TINY_ALL);
	p->ksteps = ksteps;
	/* Line i + 1 of the source is instruction i. */
	for (size_t i = 0; i < p->ninsns; i++) {
		print_insn(p, &p->insns[i], &b);
		strbuf_add(&b, "\n");
	}
	t->src = src_from_text("tiny", b.s, b.len);
	strbuf_free(&b);
	for (size_t i = 0; i < p->ninsns; i++) {
		uint32_t begin = t->src->line_start[i];

		p->insns[i].loc = (struct loc){ t->src, begin, begin + 1 };
	}
	return p;
}
