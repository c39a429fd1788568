/* Scalar memory: loads and stores by address and by buffer resource. */
#include "exec_mem.h"

static int64_t immediate(const struct xinsn *in, unsigned i)
{
	const struct operand_list *ops = in->base->ops;

	return ops && i < ops->n && ops->o[i].kind == OPERAND_VALUE && !ops->o[i].real ? ops->o[i].value : 0;
}

/* Offset to the base: a constant or a register in the text, and the modifier. Low bits do not count. */
static uint64_t offset_of(const struct xwave *w, const struct xinsn *in, unsigned bytes)
{
	uint64_t align = bytes == 1 ? 1 : bytes == 2 ? 2 : 4, v = 0;
	bool scaled = in->base->mods && mods_has(in->base->mods, strlen(in->base->mods), "scale_offset");

	if (has_s(in, 2, 1))
		v = (uint64_t)x_sget(w, in->o[2].reg) * (scaled ? bytes : 1);
	else
		v = (uint64_t)immediate(in, 2);
	return (v & ~(align - 1)) + ((uint64_t)(int64_t)in->mem.offset & ~(align - 1));
}

struct span_of_memory {
	uint64_t addr;
	uint64_t limit; /* bytes from addr on that are inside the buffer */
};

static struct span_of_memory place(const struct xwave *w, const struct xinsn *in, unsigned bytes)
{
	unsigned reg = in->o[1].reg;
	uint64_t align = bytes == 1 ? 1 : bytes == 2 ? 2 : 4, offset = offset_of(w, in, bytes), base, stride, records, size;
	uint32_t d0 = x_sget(w, reg), d1 = x_sget(w, reg + 1);

	if (!(in->arg & M_BUFFER))
		return (struct span_of_memory){ ((d0 | (uint64_t)d1 << 32) & ~(align - 1)) + offset, UINT64_MAX };
	if (x_gfx9(w)) {
		base = d0 | (uint64_t)(d1 & 0xffff) << 32;
		stride = d1 >> 16 & 0x3fff;
		records = x_sget(w, reg + 2);
	} else {
		uint32_t d3 = x_sget(w, reg + 3);

		base = d0 | (uint64_t)(d1 & 0x1ffffff) << 32;
		records = d1 >> 25 | (uint64_t)x_sget(w, reg + 2) << 7 | (uint64_t)(d3 & 0x3f) << 39;
		stride = d3 >> 12 & 0x3fff;
	}
	size = (records * (stride ? stride : 1)) & ~(align - 1);
	return (struct span_of_memory){ (base & ~(align - 1)) + offset, offset < size ? size - offset : 0 };
}

static void put_word(struct xwave *w, unsigned reg, uint32_t v, bool undef)
{
	x_sput(w, reg, v);
	if (undef)
		x_taint(w, reg, 1, XS_UNDEF);
}

/* The operands' forms; bad: that of the data is wrong. */
static int forms(struct xwave *w, const struct xinsn *in, bool bad)
{
	if (bad)
		return bad_operand(w, in, 0);
	if (!has_s(in, 1, in->arg & M_BUFFER ? 4 : 2))
		return bad_operand(w, in, 1);
	if (in->n > 2 && in->o[2].kind == OPERAND_REG && in->o[2].vector)
		return bad_operand(w, in, 2);
	return 0;
}

/* arg: bytes, M_SIGNED, M_BUFFER */
int op_smem_load(struct xwave *w, const struct xinsn *in)
{
	unsigned bytes = M_BYTES(in->arg), step = bytes < 4 ? bytes : 4;
	bool wanted = has_s(in, 0, bytes < 4 ? 1 : bytes / 4);
	struct span_of_memory m;

	if (forms(w, in, !wanted && !has_none(in, 0)) < 0)
		return -1;
	m = place(w, in, bytes);
	for (unsigned at = 0; at < bytes; at += step) {
		uint64_t undef = 0;
		uint32_t v = 0;

		if (at < m.limit && global_get(w, in, -1, m.addr + at, &v, step, &undef) < 0)
			return -1;
		if (x_analysis(w) && at < m.limit && !global_known(w, m.addr + at, step) && wanted)
			x_taint(w, in->o[0].reg + at / 4, 1, XS_UNKNOWN);
		if (in->arg & M_SIGNED)
			v = bytes == 1 ? (uint32_t)(int32_t)(int8_t)v : (uint32_t)(int32_t)(int16_t)v;
		if (wanted)
			put_word(w, in->o[0].reg + at / 4, v, undef != 0);
	}
	return 0;
}

int op_smem_store(struct xwave *w, const struct xinsn *in)
{
	unsigned bytes = M_BYTES(in->arg);
	struct span_of_memory m;

	if (forms(w, in, !has_s(in, 0, bytes / 4)) < 0)
		return -1;
	m = place(w, in, bytes);
	for (unsigned at = 0; at < bytes; at += 4) {
		uint32_t v = x_sget(w, in->o[0].reg + at / 4);

		if (at < m.limit && global_put(w, in, -1, m.addr + at, &v, 4) < 0)
			return -1;
	}
	return 0;
}
