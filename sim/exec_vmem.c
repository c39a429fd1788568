/* Vector memory: buffer, global, flat and scratch loads, stores and atomics. */
#include "exec_mem.h"

/* ---- where the lanes of an instruction access memory ---- */

enum space { SPACE_GLOBAL, SPACE_LDS, SPACE_SCRATCH };

struct places {
	uint64_t addr[64];
	uint8_t space[64];
	uint8_t inside[64]; /* a bit per dword (the only one of a smaller access): not cut off by a resource's range
			     */
};

static uint64_t sgpr_pair(const struct xwave *w, unsigned reg)
{
	return x_sget(w, reg) | (uint64_t)x_sget(w, reg + 1) << 32;
}

/* A scalar offset: register, constant as written, or nothing. */
static uint32_t scalar_offset(const struct xwave *w, const struct xinsn *in, unsigned i)
{
	const struct operand_list *ops = in->base->ops;

	if (has_s(in, i, 1))
		return x_sget(w, in->o[i].reg);
	if (!ops || i >= ops->n || ops->o[i].kind != OPERAND_VALUE)
		return 0;
	if (ops->o[i].real) {
		float f = (float)ops->o[i].number;
		uint32_t u;

		memcpy(&u, &f, sizeof(u));
		return u;
	}
	return (uint32_t)ops->o[i].value;
}

static bool has_mod(const struct xinsn *in, const char *word)
{
	return in->base->mods && mods_has(in->base->mods, strlen(in->base->mods), word);
}

/* Global and flat: vaddr is 64 bits alone, or a 32-bit offset to a scalar base. */
static int global_places(struct xwave *w, const struct xinsn *in, unsigned vaddr, unsigned saddr, unsigned bytes,
			 struct places *p)
{
	bool base = !has_none(in, saddr), one = !has_none(in, vaddr), is_signed = !x_gfx9(w);
	const uint32_t *lo = NULL, *hi = NULL;
	uint64_t s, scale;
	unsigned lane;

	if (base && !has_s(in, saddr, 2))
		return bad_operand(w, in, saddr);
	if (one && !has_v(in, vaddr, base ? 1 : 2))
		return bad_operand(w, in, vaddr);
	if (one)
		lo = x_vreg(w, in->o[vaddr].reg);
	if (one && !base)
		hi = x_vreg(w, in->o[vaddr].reg + 1u);
	s = base ? sgpr_pair(w, in->o[saddr].reg) : 0;
	scale = base && is_signed && has_mod(in, "scale_offset") ? bytes : 1;
	FOR_LANES(w->exec & w->all, lane)
	{
		uint64_t v = 0;

		if (hi)
			v = lo[lane] | (uint64_t)hi[lane] << 32;
		else if (lo)
			v = is_signed ? (uint64_t)((int64_t)(int32_t)lo[lane] * (int64_t)scale) : lo[lane];
		p->addr[lane] = s + v + (uint64_t)(int64_t)in->mem.offset;
		p->space[lane] = SPACE_GLOBAL;
		p->inside[lane] = 0xff;
	}
	return 0;
}

static int flat_places(struct xwave *w, const struct xinsn *in, unsigned vaddr, unsigned saddr, unsigned bytes,
		       struct places *p)
{
	unsigned lane;

	if (global_places(w, in, vaddr, saddr, bytes, p) < 0)
		return -1;
	FOR_LANES(w->exec & w->all, lane)
	{
		/* gfx1250: private memory of all lanes lies in the aperture, the lane's number in bits 56 to 52. */
		uint64_t base = X_PRIVATE_BASE + (x_gfx9(w) ? 0 : (uint64_t)lane << 52);

		if (p->addr[lane] - X_SHARED_BASE < X_APERTURE_BYTES) {
			p->space[lane] = SPACE_LDS;
			p->addr[lane] -= X_SHARED_BASE;
		} else if (p->addr[lane] - base < X_APERTURE_BYTES) {
			p->space[lane] = SPACE_SCRATCH;
			p->addr[lane] -= base;
		}
	}
	return 0;
}

static int scratch_places(struct xwave *w, const struct xinsn *in, unsigned vaddr, unsigned saddr, unsigned bytes,
			  struct places *p)
{
	const uint32_t *v = has_v(in, vaddr, 1) ? x_vreg(w, in->o[vaddr].reg) : NULL;
	int64_t s = (int32_t)scalar_offset(w, in, saddr);
	int64_t scale = v && !x_gfx9(w) && has_mod(in, "scale_offset") ? bytes : 1;
	unsigned lane;

	if (!v && !has_none(in, vaddr))
		return bad_operand(w, in, vaddr);
	FOR_LANES(w->exec & w->all, lane)
	{
		p->addr[lane] = (uint64_t)(s + (v ? (int32_t)v[lane] * scale : 0) + in->mem.offset);
		p->space[lane] = SPACE_SCRATCH;
		p->inside[lane] = 0xff;
	}
	return 0;
}

/* ---- buffer resources ---- */

struct resource {
	uint64_t base, records, stride;
	bool swizzle, add_tid, oob_select, unbound;
	unsigned index_stride, element_bytes;
};

static struct resource read_resource(const struct xwave *w, unsigned reg)
{
	uint32_t d[4];
	struct resource r = {0};

	for (unsigned i = 0; i < 4; i++)
		d[i] = x_sget(w, reg + i);
	if (x_gfx9(w)) {
		r.base = d[0] | (uint64_t)(d[1] & 0xffff) << 32;
		r.stride = d[1] >> 16 & 0x3fff;
		r.swizzle = d[1] >> 31;
		r.records = d[2];
		r.add_tid = d[3] >> 23 & 1;
		if (r.add_tid)
			r.stride |= (uint64_t)(d[3] >> 15 & 15) << 14;
		r.index_stride = 8u << (d[3] >> 21 & 3);
		r.element_bytes = 2u << (d[3] >> 19 & 3);
		r.unbound = !(d[0] | d[1] | d[2] | d[3]);
		return r;
	}
	static const unsigned scale[] = {1, 4, 8, 32};

	r.base = d[0] | (uint64_t)(d[1] & 0x1ffffff) << 32;
	r.records = d[1] >> 25 | (uint64_t)d[2] << 7 | (uint64_t)(d[3] & 0x3f) << 39;
	r.stride = (uint64_t)(d[3] >> 12 & 0x3fff) * scale[d[3] >> 26 & 3];
	r.swizzle = d[3] >> 28 & 1;
	r.oob_select = d[3] >> 29 & 1;
	r.index_stride = 32;
	r.element_bytes = 16;
	return r;
}

static uint64_t swizzled(const struct resource *r, uint64_t index, uint64_t offset)
{
	uint64_t is = r->index_stride, es = r->element_bytes;

	return (index / is * r->stride + offset / es * es) * is + index % is * es + offset % es;
}

/* Range check of one dword (or the whole of a smaller access) at byte part of the access. */
static bool out_of_range(const struct xwave *w, const struct resource *r, bool idxen, uint64_t index,
			 uint64_t offset, uint32_t soffset, unsigned part, unsigned size)
{
	if (x_gfx9(w)) {
		if (r->unbound)
			return true;
		if (r->add_tid && !idxen)
			return false;
		if (idxen && r->stride)
			return index >= r->records;
		return !r->swizzle && offset + part >= r->records;
	}
	if (r->swizzle)
		return false;
	offset += soffset + part;
	if (r->oob_select && offset + size > r->stride)
		return true;
	return index * r->stride + offset + size > r->records;
}

/* vaddr, resource and scalar offset are operands first, first + 1 and first + 2. all: one dword out of range is all
 * out. */
static int buffer_places(struct xwave *w, const struct xinsn *in, unsigned first, unsigned bytes, bool all,
			 struct places *p)
{
	uint32_t soffset = scalar_offset(w, in, first + 2);
	bool idxen = in->mem.idxen, offen = in->mem.offen;
	unsigned reg = first < in->n ? in->o[first].reg : 0, dwords = bytes < 4 ? 1 : bytes / 4,
		 size = bytes < 4 ? bytes : 4, lane;
	struct resource r;

	if ((idxen || offen) && !has_v(in, first, (unsigned)idxen + offen))
		return bad_operand(w, in, first);
	if (!has_s(in, first + 1, 4))
		return bad_operand(w, in, first + 1);
	r = read_resource(w, in->o[first + 1].reg);
	FOR_LANES(w->exec & w->all, lane)
	{
		uint64_t index = idxen ? x_vreg(w, reg)[lane] : 0;
		uint64_t offset = (uint32_t)in->mem.offset + (uint64_t)(offen ? x_vreg(w, reg + idxen)[lane] : 0);
		uint8_t inside = 0;

		if (r.add_tid)
			index += lane;
		for (unsigned i = 0; i < dwords; i++)
			if (!out_of_range(w, &r, idxen, index, offset, soffset, 4 * i, size))
				inside |= (uint8_t)(1u << i);
		if (all && inside != (1u << dwords) - 1)
			inside = 0;
		p->inside[lane] = inside;
		p->space[lane] = SPACE_GLOBAL;
		if (!r.swizzle)
			p->addr[lane] = r.base + soffset + offset + r.stride * index;
		else if (x_gfx9(w))
			p->addr[lane] = r.base + soffset + swizzled(&r, index, offset);
		else
			p->addr[lane] = r.base + swizzled(&r, index, offset + soffset);
	}
	return 0;
}

/* ---- reading and writing them ---- */

static int get(struct xwave *w, const struct xinsn *in, const struct places *p, unsigned lane, unsigned at,
	       void *to, unsigned bytes, uint64_t *undef)
{
	uint64_t addr = p->addr[lane] + at;

	switch ((enum space)p->space[lane]) {
	case SPACE_LDS:
		return lds_get(w, in, (int)lane, addr, to, bytes, XLDS_DS, undef);
	case SPACE_SCRATCH:
		return scratch_get(w, in, lane, (int64_t)addr, to, bytes, undef);
	default:
		return global_get(w, in, (int)lane, addr, to, bytes, undef);
	}
}

static int put(struct xwave *w, const struct xinsn *in, const struct places *p, unsigned lane, unsigned at,
	       const void *from, unsigned bytes, uint64_t undef)
{
	uint64_t addr = p->addr[lane] + at;

	switch ((enum space)p->space[lane]) {
	case SPACE_LDS:
		return lds_put(w, in, (int)lane, addr, from, bytes, XLDS_DS, undef);
	case SPACE_SCRATCH:
		return scratch_put(w, in, lane, (int64_t)addr, from, bytes, undef);
	default:
		if (undef && !x_analysis(w))
			return x_fault(w, in, DIAG_UNINIT, (int)lane, "stores a value that nothing has written");
		return global_put(w, in, (int)lane, addr, from, bytes);
	}
}

/* All bytes of one lane, parts out of range as zeros. */
static int get_all(struct xwave *w, const struct xinsn *in, const struct places *p, unsigned lane, unsigned bytes,
		   uint8_t to[16], uint64_t *undef)
{
	unsigned dwords = bytes < 4 ? 1 : bytes / 4, all = (1u << dwords) - 1;

	*undef = 0;
	if ((p->inside[lane] & all) == all)
		return get(w, in, p, lane, 0, to, bytes, undef);
	memset(to, 0, 16);
	for (unsigned i = 0; i < dwords; i++) {
		uint64_t u = 0;

		if (!(p->inside[lane] >> i & 1))
			continue;
		if (get(w, in, p, lane, 4 * i, to + (size_t)4 * i, bytes < 4 ? bytes : 4, &u) < 0)
			return -1;
		*undef |= u << 4 * i;
	}
	return 0;
}

/* Sub-dword value to 32 bits. */
static uint32_t extended(const uint8_t *from, intptr_t arg)
{
	uint32_t v = M_BYTES(arg) == 1 ? from[0] : from[0] | (uint32_t)from[1] << 8;

	if (arg & M_SIGNED)
		v = M_BYTES(arg) == 1 ? (uint32_t)(int32_t)(int8_t)v : (uint32_t)(int32_t)(int16_t)v;
	return v;
}

/* gfx9 has ECC on its registers: a 16-bit load from memory clears the other half. */
static uint32_t with_half(const struct xwave *w, uint32_t old, uint32_t v, intptr_t arg)
{
	if (x_gfx9(w))
		old = 0;
	return arg & M_HI ? (old & 0xffff) | v << 16 : (old & 0xffff0000u) | (v & 0xffff);
}

static int load(struct xwave *w, const struct xinsn *in, const struct places *p)
{
	unsigned bytes = M_BYTES(in->arg), reg = in->o[0].reg, lane;
	uint8_t b[16];
	uint64_t undef;

	if (!has_v(in, 0, bytes < 4 ? 1 : bytes / 4))
		return bad_operand(w, in, 0);
	FOR_LANES(w->exec & w->all, lane)
	{
		if (get_all(w, in, p, lane, bytes, b, &undef) < 0)
			return -1;
		if (bytes < 4) {
			uint32_t v = extended(b, in->arg);

			load_word(w, reg, lane,
				  in->arg & M_D16 ? with_half(w, x_vreg(w, reg)[lane], v, in->arg) : v, undef != 0);
			continue;
		}
		for (unsigned i = 0; i < bytes / 4; i++) {
			uint32_t v;

			memcpy(&v, b + (size_t)4 * i, 4);
			load_word(w, reg + i, lane, v, undef >> 4 * i & 15);
		}
	}
	return 0;
}

static int store(struct xwave *w, const struct xinsn *in, const struct places *p, unsigned data)
{
	unsigned bytes = M_BYTES(in->arg), reg = in->o[data].reg, dwords = bytes < 4 ? 1 : bytes / 4,
		 all = (1u << dwords) - 1, lane;

	if (!has_v(in, data, dwords))
		return bad_operand(w, in, data);
	FOR_LANES(w->exec & w->all, lane)
	{
		uint32_t d[4];
		uint64_t undef = 0;

		for (unsigned i = 0; i < dwords; i++) {
			d[i] = x_vreg(w, reg + i)[lane];
			undef |= (uint64_t)undef_word(w, reg + i, lane) << 4 * i;
		}
		if (in->arg & M_HI)
			d[0] >>= 16;
		if ((p->inside[lane] & all) == all) {
			if (put(w, in, p, lane, 0, d, bytes, bytes < 4 ? undef & ((1u << bytes) - 1) : undef) < 0)
				return -1;
			continue;
		}
		for (unsigned i = 0; i < dwords; i++)
			if ((p->inside[lane] >> i & 1) &&
			    put(w, in, p, lane, 4 * i, &d[i], bytes < 4 ? bytes : 4, undef >> 4 * i & 15) < 0)
				return -1;
	}
	return 0;
}

static bool compares(enum xatomic op)
{
	return op == AT_CMPSWAP || op == AT_FCMPSWAP;
}

/* Operands data and dst, -1: the old value is not wanted. */
static int atomic(struct xwave *w, const struct xinsn *in, const struct places *p, unsigned data_at, int dst_at)
{
	unsigned bytes = M_BYTES(in->arg), lane, data, dst;
	enum xatomic op = (enum xatomic)(in->arg >> 8);

	if (!has_v(in, data_at, bytes / 4 * (compares(op) ? 2 : 1)))
		return bad_operand(w, in, data_at);
	if (dst_at >= 0 && !has_v(in, (unsigned)dst_at, bytes / 4))
		return bad_operand(w, in, (unsigned)dst_at);
	data = in->o[data_at].reg;
	dst = dst_at >= 0 ? in->o[dst_at].reg : 0;
	FOR_LANES(w->exec & w->all, lane)
	{
		uint64_t old = 0, a = reg_value(w, data, lane, bytes), b = 0;
		bool undef = false;
		int bad = 0;

		if (compares(op))
			b = reg_value(w, data + bytes / 4, lane, bytes);
		if (p->inside[lane] && p->space[lane] == SPACE_LDS)
			bad = lds_atomic(w, in, (int)lane, p->addr[lane], op, bytes, a, b, 0, XLDS_DS, &old,
					 &undef);
		else if (p->inside[lane] && p->space[lane] == SPACE_SCRATCH)
			bad = x_fault(w, in, DIAG_BOUNDS, (int)lane, "an atomic on scratch memory");
		else if (p->inside[lane])
			bad = global_atomic(w, in, lane, p->addr[lane], op, bytes, a, b, &old, &undef);
		if (bad)
			return -1;
		for (unsigned i = 0; dst_at >= 0 && i < bytes / 4; i++)
			load_word(w, dst + i, lane, (uint32_t)(old >> 32 * i), undef);
	}
	return 0;
}

static bool returns(const struct xinsn *in)
{
	return in->base->ops && in->base->ops->returns;
}

/* ---- copies to LDS through M0 ---- */

/*
 * Lane l writes at M0 + offset + l * step, step 4, or 16 for the wide forms; smaller values are extended to
 * a dword. m0_mask: bits of M0 that count.
 */
static int copy_to_lds(struct xwave *w, const struct xinsn *in, const struct places *p, uint32_t m0_mask)
{
	unsigned bytes = M_BYTES(in->arg), out = bytes < 4 ? 4 : bytes, step = bytes > 4 ? 16 : 4, lane;
	uint32_t base = (x_sget(w, REG_M0) & m0_mask) + (uint32_t)in->mem.offset, addr[64];

	for (unsigned i = 0; i < w->lanes; i++)
		addr[i] = w->exec >> i & 1 ? base + i * step : UINT32_MAX;
	x_lds_begin(w, in, addr, out, true, false);
	if (w->places_only)
		return 0;
	FOR_LANES(w->exec & w->all, lane)
	{
		uint8_t b[16];
		uint64_t undef;

		if (get_all(w, in, p, lane, bytes, b, &undef) < 0)
			return -1;
		if (bytes < 4) {
			uint32_t v = extended(b, in->arg);

			memcpy(b, &v, 4);
			undef = undef ? 15 : 0;
		}
		if (lds_put(w, in, (int)lane, addr[lane], b, out, XLDS_COPY, undef) < 0)
			return -1;
	}
	return 0;
}

/* ---- operations ---- */

int op_buffer_load(struct xwave *w, const struct xinsn *in)
{
	struct places p;

	if (buffer_places(w, in, in->mem.lds ? 0 : 1, M_BYTES(in->arg), false, &p) < 0)
		return -1;
	return in->mem.lds ? copy_to_lds(w, in, &p, 0x3ffff) : load(w, in, &p);
}

int op_buffer_store(struct xwave *w, const struct xinsn *in)
{
	struct places p;

	if (buffer_places(w, in, 1, M_BYTES(in->arg), false, &p) < 0)
		return -1;
	return store(w, in, &p, 0);
}

int op_buffer_atomic(struct xwave *w, const struct xinsn *in)
{
	struct places p;

	if (buffer_places(w, in, 1, M_BYTES(in->arg), true, &p) < 0)
		return -1;
	return atomic(w, in, &p, 0, returns(in) ? 0 : -1);
}

int op_global_load(struct xwave *w, const struct xinsn *in)
{
	struct places p;

	if (global_places(w, in, 1, 2, M_BYTES(in->arg), &p) < 0)
		return -1;
	return load(w, in, &p);
}

int op_global_store(struct xwave *w, const struct xinsn *in)
{
	struct places p;

	if (global_places(w, in, 0, 2, M_BYTES(in->arg), &p) < 0)
		return -1;
	return store(w, in, &p, 1);
}

int op_global_atomic(struct xwave *w, const struct xinsn *in)
{
	unsigned first = returns(in) ? 1 : 0;
	struct places p;

	if (global_places(w, in, first, first + 2, M_BYTES(in->arg), &p) < 0)
		return -1;
	return atomic(w, in, &p, first + 1, first ? 0 : -1);
}

/* global_load_addtid_b32 vdst, saddr and global_store_addtid_b32 vdata, saddr; arg: 1 for the store */
int op_global_addtid(struct xwave *w, const struct xinsn *in)
{
	uint64_t base = has_s(in, 1, 2) ? sgpr_pair(w, in->o[1].reg) : 0;
	unsigned lane;

	if (!has_v(in, 0, 1))
		return bad_operand(w, in, 0);
	if (!has_s(in, 1, 2) && !has_none(in, 1))
		return bad_operand(w, in, 1);
	FOR_LANES(w->exec & w->all, lane)
	{
		uint64_t addr = base + (uint64_t)(int64_t)in->mem.offset + (uint64_t)lane * 4, undef;
		uint32_t v = x_vreg(w, in->o[0].reg)[lane];

		if (in->arg) {
			if (global_put(w, in, (int)lane, addr, &v, 4) < 0)
				return -1;
			continue;
		}
		if (global_get(w, in, (int)lane, addr, &v, 4, &undef) < 0)
			return -1;
		load_word(w, in->o[0].reg, lane, v, undef);
	}
	return 0;
}

int op_global_lds(struct xwave *w, const struct xinsn *in)
{
	struct places p;

	if (global_places(w, in, 0, 1, M_BYTES(in->arg), &p) < 0)
		return -1;
	return copy_to_lds(w, in, &p, 0x3fffc);
}

int op_scratch_lds(struct xwave *w, const struct xinsn *in)
{
	struct places p;

	if (scratch_places(w, in, 0, 1, M_BYTES(in->arg), &p) < 0)
		return -1;
	return copy_to_lds(w, in, &p, 0x3fffc);
}

int op_flat_load(struct xwave *w, const struct xinsn *in)
{
	struct places p;

	if (flat_places(w, in, 1, 2, M_BYTES(in->arg), &p) < 0)
		return -1;
	return load(w, in, &p);
}

int op_flat_store(struct xwave *w, const struct xinsn *in)
{
	struct places p;

	if (flat_places(w, in, 0, 2, M_BYTES(in->arg), &p) < 0)
		return -1;
	return store(w, in, &p, 1);
}

int op_flat_atomic(struct xwave *w, const struct xinsn *in)
{
	unsigned first = returns(in) ? 1 : 0;
	struct places p;

	if (flat_places(w, in, first, first + 2, M_BYTES(in->arg), &p) < 0)
		return -1;
	return atomic(w, in, &p, first + 1, first ? 0 : -1);
}

int op_scratch_load(struct xwave *w, const struct xinsn *in)
{
	struct places p;

	if (scratch_places(w, in, 1, 2, M_BYTES(in->arg), &p) < 0)
		return -1;
	return load(w, in, &p);
}

int op_scratch_store(struct xwave *w, const struct xinsn *in)
{
	struct places p;

	if (scratch_places(w, in, 0, 2, M_BYTES(in->arg), &p) < 0)
		return -1;
	return store(w, in, &p, 1);
}

/* 32 registers, those with a bit in M0. arg: 1 store, 2 scratch */
int op_block(struct xwave *w, const struct xinsn *in)
{
	bool is_store = in->arg & 1;
	unsigned vaddr = is_store ? 0 : 1, reg = in->o[is_store ? 1 : 0].reg, lane;
	uint32_t which = x_sget(w, REG_M0);
	struct places p;

	if ((in->arg & 2 ? scratch_places(w, in, vaddr, 2, 4, &p) : global_places(w, in, vaddr, 2, 4, &p)) < 0)
		return -1;
	if (!has_v(in, is_store ? 1 : 0, 32))
		return bad_operand(w, in, is_store ? 1 : 0);
	FOR_LANES(w->exec & w->all, lane)
	for (unsigned i = 0; i < 32; i++) {
		uint32_t v = x_vreg(w, reg + i)[lane];
		uint64_t undef = undef_word(w, reg + i, lane);

		if (!(which >> i & 1))
			continue;
		if ((is_store ? put(w, in, &p, lane, 4 * i, &v, 4, undef)
			      : get(w, in, &p, lane, 4 * i, &v, 4, &undef)) < 0)
			return -1;
		if (!is_store)
			load_word(w, reg + i, lane, v, undef);
	}
	return 0;
}

/* ---- async copies of gfx1250: each lane names its LDS address ---- */

static int async_copy(struct xwave *w, const struct xinsn *in, const struct places *p, unsigned lds, bool to_lds)
{
	unsigned bytes = M_BYTES(in->arg), lane;
	const uint32_t *l;
	uint32_t addr[64];

	if (!has_v(in, lds, 1))
		return bad_operand(w, in, lds);
	l = x_vreg(w, in->o[lds].reg);
	for (unsigned i = 0; i < w->lanes; i++)
		addr[i] = w->exec >> i & 1 ? l[i] + (uint32_t)in->mem.offset : UINT32_MAX;
	x_lds_begin(w, in, addr, bytes, to_lds, false);
	if (w->places_only)
		return 0;
	FOR_LANES(w->exec & w->all, lane)
	{
		uint8_t b[16];
		uint64_t undef;

		if (to_lds) {
			if (global_get(w, in, (int)lane, p->addr[lane], b, bytes, &undef) < 0 ||
			    lds_put(w, in, (int)lane, addr[lane], b, bytes, XLDS_COPY, undef) < 0)
				return -1;
			continue;
		}
		if (lds_get(w, in, (int)lane, addr[lane], b, bytes, XLDS_COPY, &undef) < 0)
			return -1;
		if (undef && !x_analysis(w))
			return x_fault(w, in, DIAG_UNINIT, (int)lane,
				       "copies bytes of LDS that nothing has written");
		if (global_put(w, in, (int)lane, p->addr[lane], b, bytes) < 0)
			return -1;
	}
	return 0;
}

/*
 * A multicast load (arg bit 16) asks for its own workgroup: each workgroup of the mask in M0 makes the same
 * request. A mask without the workgroup itself gives it nothing.
 */
int op_async_load(struct xwave *w, const struct xinsn *in)
{
	uint32_t mask = x_sget(w, REG_M0) & 0xffff;
	struct places p;

	if ((in->arg >> 16 & 1) && mask && w->local->nmembers > 1 && !(mask >> w->local->rank & 1))
		return 0;
	if (global_places(w, in, 1, 2, M_BYTES(in->arg), &p) < 0)
		return -1;
	return async_copy(w, in, &p, 0, true);
}

int op_async_store(struct xwave *w, const struct xinsn *in)
{
	struct places p;

	if (global_places(w, in, 0, 2, M_BYTES(in->arg), &p) < 0)
		return -1;
	return async_copy(w, in, &p, 1, false);
}

/* ---- transposing loads from global memory; arg: bytes, element bits << 8 ---- */

int op_global_tr(struct xwave *w, const struct xinsn *in)
{
	unsigned bytes = M_BYTES(in->arg), bits = (unsigned)in->arg >> 8, words = bytes / 4, lane;
	uint32_t d[64][4] = {{0}}, out[64][4];
	uint64_t undef_lanes = 0;
	struct places p;

	if (!has_v(in, 0, words))
		return bad_operand(w, in, 0);
	if (global_places(w, in, 1, 2, bytes, &p) < 0)
		return -1;
	FOR_LANES(w->exec & w->all, lane)
	{
		uint64_t undef;

		if (global_get(w, in, (int)lane, p.addr[lane], d[lane], bytes, &undef) < 0)
			return -1;
		undef_lanes |= (uint64_t)(undef != 0) << lane;
	}
	transpose_lanes(false, bits, w->lanes, words, d, out);
	undef_lanes |= w->all & ~w->exec;
	FOR_LANES(w->exec & w->all, lane)
	for (unsigned i = 0; i < words; i++)
		load_word(w, in->o[0].reg + i, lane, out[lane][i],
			  undef_lanes & transpose_givers(false, bits, words, lane));
	return 0;
}

/* Caches, prefetches and the like: memory is coherent here. */
int op_nothing(struct xwave *w, const struct xinsn *in)
{
	(void)w;
	(void)in;
	return 0;
}
