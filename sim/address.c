#include "address.h"

#include <string.h>

uint32_t address_waves(const struct program *p, const struct insn *in)
{
	unsigned per = p->waves / p->groups;
	uint32_t mask = 0;

	if (in->waves)
		return in->waves;
	for (unsigned w = 0; w < p->waves; w++)
		if (in->groups >> (w / per) & 1)
			mask |= 1u << w;
	return mask;
}

int address_operand(const struct program *p, const struct access *ac)
{
	if (!p->gemm || ac->global < 0)
		return -1;
	switch (ac->global) {
	case 0: return 0;
	case 1: return 1;
	case 3: return p->gemm->scaled ? 2 : -1;
	case 4: return p->gemm->scaled ? 3 : -1;
	default: return -1;
	}
}

static uint64_t bytes_of(const struct program *p, int which, uint64_t elements)
{
	const struct gemm_shape *g = p->gemm;

	return which >= 2 ? elements / 32 : elements * dtype_bits(which == 0 ? g->type_a : g->type_b) / 8;
}

uint64_t address_row_bytes(const struct program *p, int which)
{
	return bytes_of(p, which, (uint64_t)p->gemm->k);
}

static unsigned scale_rows(const struct program *p, int which)
{
	unsigned rows = which == 2 ? p->gemm->scale_rows_a : which == 3 ? p->gemm->scale_rows_b : 1;

	return rows ? rows : 1;
}

uint32_t address_step_bytes(const struct program *p, int which)
{
	return (uint32_t)bytes_of(p, which, p->gemm->tile_k) * scale_rows(p, which);
}

uint64_t address_of_byte(const struct program *p, int which, uint32_t src)
{
	uint32_t group = address_step_bytes(p, which);

	return src / group * (scale_rows(p, which) * address_row_bytes(p, which)) + src % group;
}

static bool lds_class(enum opclass c)
{
	return c == OPC_LDS_READ || c == OPC_LDS_WRITE;
}

static uint32_t most_offset(const struct program *p, const struct insn *in)
{
	if (lds_class(in->cls))
		return 65535;
	if (in->cls == OPC_VMEM_LDS) /* it would move the place in LDS as well */
		return 0;
	return p->target->v.wave_size == 64 ? 4095 : 8388607;
}

static void lds_table(const struct program *p, const struct insn *in, const struct access *ac, uint32_t *at)
{
	const struct buffer *b = &p->buffers[ac->buffer];
	uint32_t waves = address_waves(p, in), base = b->base + (ac->slot > 0 ? (uint32_t)ac->slot * b->slot_bytes : 0);

	for (unsigned w = 0; w < p->waves; w++)
		for (uint32_t l = 0; (waves >> w & 1) && l < ac->nlanes; l++)
			at[w * ac->nlanes + l] = base + ac->wave_base[w] + ac->lane[l];
}

static void global_table(const struct program *p, const struct insn *in, const struct access *ac, int which, uint32_t *at,
			 uint32_t lanes)
{
	uint32_t waves = address_waves(p, in);

	for (unsigned w = 0; w < p->waves; w++)
		for (uint32_t l = 0; (waves >> w & 1) && l < lanes; l++)
			at[w * lanes + l] = (uint32_t)address_of_byte(p, which, ac->src_lane[l] + ac->src_wave[w]);
}

bool address_table(const struct program *p, const struct insn *in, uint32_t *at, uint32_t *most)
{
	const struct access *ac = in->access >= 0 ? &p->access[in->access] : NULL;
	uint32_t lanes = (uint32_t)p->target->v.wave_size;
	int which;

	if (!ac || in->cls == OPC_VMEM_STORE || in->cls == OPC_TDM_LOAD || in->cls == OPC_TDM_STORE)
		return false;
	*most = most_offset(p, in);
	if (lds_class(in->cls)) {
		if (!ac->lane || ac->nlanes != lanes || ac->buffer < 0)
			return false;
		lds_table(p, in, ac, at);
		return true;
	}
	which = address_operand(p, ac);
	if (which < 0 || !ac->src_lane)
		return false;
	global_table(p, in, ac, which, at, lanes);
	return true;
}
