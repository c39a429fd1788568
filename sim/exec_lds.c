/* LDS instructions: loads, stores, transposing loads, atomics, permutations, barrier objects. */
#include "exec_mem.h"

enum { L_ST64 = 1 << 11 }; /* offsets of two-address forms count 64 elements */

/* Are the first operands vector registers, so many of them? 0: any number of operands from there on. */
static int forms(struct xwave *w, const struct xinsn *in, unsigned n0, unsigned n1, unsigned n2, unsigned n3)
{
	const unsigned n[] = { n0, n1, n2, n3 };

	for (unsigned i = 0; i < ARRAY_LEN(n) && n[i]; i++)
		if (!has_v(in, i, n[i]))
			return bad_operand(w, in, i);
	return 0;
}

static unsigned words_of(unsigned bytes)
{
	return bytes < 4 ? 1 : bytes / 4;
}

/* Addresses of the active lanes; the others UINT32_MAX. */
static void lane_addresses(const struct xwave *w, const struct xinsn *in, unsigned operand, uint32_t offset,
			   uint64_t mask, uint32_t addr[64])
{
	const uint32_t *v = x_vreg(w, in->o[operand].reg);

	for (unsigned i = 0; i < w->lanes; i++)
		addr[i] = mask >> i & 1 ? v[i] + offset : UINT32_MAX;
}

/* ---- loads and stores ---- */

static int read_words(struct xwave *w, const struct xinsn *in, unsigned lane, uint32_t addr, unsigned words, unsigned reg)
{
	uint32_t d[4];
	uint64_t undef;

	if (lds_get(w, in, (int)lane, addr, d, 4 * words, XLDS_DS, &undef) < 0)
		return -1;
	for (unsigned i = 0; i < words; i++)
		load_word(w, reg + i, lane, d[i], undef >> 4 * i & 15);
	return 0;
}

static int read_small(struct xwave *w, const struct xinsn *in, unsigned lane, uint32_t addr)
{
	unsigned bytes = M_BYTES(in->arg), reg = in->o[0].reg;
	uint32_t v = 0, old = x_vreg(w, reg)[lane];
	uint64_t undef;

	if (lds_get(w, in, (int)lane, addr, &v, bytes, XLDS_DS, &undef) < 0)
		return -1;
	if (in->arg & M_SIGNED)
		v = bytes == 1 ? (uint32_t)(int32_t)(int8_t)v : (uint32_t)(int32_t)(int16_t)v;
	if (in->arg & M_D16)
		v = in->arg & M_HI ? (old & 0xffff) | v << 16 : (old & 0xffff0000u) | (v & 0xffff);
	load_word(w, reg, lane, v, undef);
	return 0;
}

static int op_read(struct xwave *w, const struct xinsn *in)
{
	unsigned bytes = M_BYTES(in->arg), lane;
	uint32_t addr[64];

	if (forms(w, in, words_of(bytes), 1, 0, 0) < 0)
		return -1;
	lane_addresses(w, in, 1, (uint32_t)in->mem.offset, w->exec, addr);
	x_lds_begin(w, in, addr, bytes, false, false);
	FOR_LANES(w->exec & w->all, lane)
		if ((bytes < 4 ? read_small(w, in, lane, addr[lane]) : read_words(w, in, lane, addr[lane], bytes / 4, in->o[0].reg)) < 0)
			return -1;
	return 0;
}

static int write_words(struct xwave *w, const struct xinsn *in, unsigned lane, uint32_t addr, unsigned bytes, unsigned reg)
{
	unsigned words = bytes < 4 ? 1 : bytes / 4;
	uint64_t undef = 0;
	uint32_t d[4];

	for (unsigned i = 0; i < words; i++) {
		d[i] = x_vreg(w, reg + i)[lane];
		undef |= (uint64_t)undef_word(w, reg + i, lane) << 4 * i;
	}
	if (in->arg & M_HI)
		d[0] >>= 16;
	return lds_put(w, in, (int)lane, addr, d, bytes, XLDS_DS, undef & ((1ull << bytes) - 1));
}

static int op_write(struct xwave *w, const struct xinsn *in)
{
	unsigned bytes = M_BYTES(in->arg), lane;
	uint32_t addr[64];

	if (forms(w, in, 1, words_of(bytes), 0, 0) < 0)
		return -1;
	lane_addresses(w, in, 0, (uint32_t)in->mem.offset, w->exec, addr);
	x_lds_begin(w, in, addr, bytes, true, false);
	FOR_LANES(w->exec & w->all, lane)
		if (write_words(w, in, lane, addr[lane], bytes, in->o[1].reg) < 0)
			return -1;
	return 0;
}

/* Two addresses: offsets in elements. second: distance of the second one from the first. */
static void two_addresses(struct xwave *w, const struct xinsn *in, unsigned operand, bool write, uint32_t addr[64],
			  uint32_t *second)
{
	unsigned bytes = M_BYTES(in->arg), unit = bytes * (in->arg & L_ST64 ? 64 : 1);
	uint32_t both[128];

	lane_addresses(w, in, operand, (uint32_t)in->mem.offset0 * unit, w->exec, addr);
	*second = ((uint32_t)in->mem.offset1 - (uint32_t)in->mem.offset0) * unit;
	x_lds_begin(w, in, addr, bytes, write, false);
	for (unsigned i = 0; i < w->lanes; i++) {
		both[i] = addr[i];
		both[w->lanes + i] = addr[i] == UINT32_MAX ? UINT32_MAX : addr[i] + *second;
	}
	x_lds_pieces(w, both, 2 * w->lanes, bytes, write);
}

static int op_read2(struct xwave *w, const struct xinsn *in)
{
	unsigned words = M_BYTES(in->arg) / 4, reg = in->o[0].reg, lane;
	uint32_t addr[64], second;

	if (forms(w, in, 2 * words, 1, 0, 0) < 0)
		return -1;
	two_addresses(w, in, 1, false, addr, &second);
	FOR_LANES(w->exec & w->all, lane)
		if (read_words(w, in, lane, addr[lane], words, reg) < 0 ||
		    read_words(w, in, lane, addr[lane] + second, words, reg + words) < 0)
			return -1;
	return 0;
}

static int op_write2(struct xwave *w, const struct xinsn *in)
{
	unsigned bytes = M_BYTES(in->arg), lane;
	uint32_t addr[64], second;

	if (forms(w, in, 1, words_of(bytes), words_of(bytes), 0) < 0)
		return -1;
	two_addresses(w, in, 0, true, addr, &second);
	FOR_LANES(w->exec & w->all, lane)
		if (write_words(w, in, lane, addr[lane], bytes, in->o[1].reg) < 0 ||
		    (second && write_words(w, in, lane, addr[lane] + second, bytes, in->o[2].reg) < 0))
			return -1;
	return 0;
}

/* Address M0 + offset + lane * 4. arg: 1 for the store */
static int op_addtid(struct xwave *w, const struct xinsn *in)
{
	uint32_t m0 = x_sget(w, REG_M0) & (x_gfx9(w) ? 0xffff : 0xfffff), addr[64];
	unsigned lane;

	if (forms(w, in, 1, 0, 0, 0) < 0)
		return -1;
	if (m0 % 4)
		return x_fault(w, in, DIAG_ALIGN, -1, "M0 is %u: an LDS access with the lane's number wants a multiple of 4 there", m0);
	for (unsigned i = 0; i < w->lanes; i++)
		addr[i] = w->exec >> i & 1 ? m0 + (uint32_t)in->mem.offset + 4 * i : UINT32_MAX;
	x_lds_begin(w, in, addr, 4, in->arg, false);
	FOR_LANES(w->exec & w->all, lane) {
		uint32_t v = x_vreg(w, in->o[0].reg)[lane];

		if ((in->arg ? lds_put(w, in, (int)lane, addr[lane], &v, 4, XLDS_DS, undef_word(w, in->o[0].reg, lane)) :
			       read_words(w, in, lane, addr[lane], 1, in->o[0].reg)) < 0)
			return -1;
	}
	return 0;
}

/* ---- transposing loads ---- */

/*
 * Lanes work in groups of 16. Each lane brings elements that are neighbours along one dimension of a block;
 * it gets elements that are neighbours along the other one: element j of lane l is element row j, column l.
 *
 * gfx9: rows of 16 columns are brought by lanes in a row: 4 lanes of 4 elements (16 bits), 2 of 8 (8 bits) or
 * one of 16 (4 and 6 bits). gfx1250: 16 bits: lanes 0 to 7 of the group bring the left halves of 8 rows, 8 to 15
 * the right halves; 8 bits: 4 rows' left halves, their right halves, then the next 4 rows; 4 and 6 bits as gfx9.
 */
static void transpose_source(bool gfx9, unsigned bits, unsigned elements, unsigned lane, unsigned j, unsigned *from_lane,
			     unsigned *from_element)
{
	unsigned group = lane & ~15u, column = lane & 15, from;

	if (elements == 16)
		from = j;
	else if (gfx9)
		from = j * (16 / elements) + column / elements;
	else if (bits == 16)
		from = j + 8 * (column / 8);
	else
		from = 8 * (j / 4) + j % 4 + 4 * (column / 8);
	*from_lane = group + from;
	*from_element = column % elements;
}

static uint32_t take_bits(const uint32_t *words, unsigned at, unsigned n)
{
	uint64_t v = words[at / 32];

	if (at % 32 + n > 32)
		v |= (uint64_t)words[at / 32 + 1] << 32;
	return (uint32_t)(v >> at % 32) & ((1u << n) - 1);
}

static void put_bits(uint32_t *words, unsigned at, unsigned n, uint32_t v)
{
	words[at / 32] |= v << at % 32;
	if (at % 32 + n > 32)
		words[at / 32 + 1] |= v >> (32 - at % 32);
}

void transpose_lanes(bool gfx9, unsigned element_bits, unsigned lanes, unsigned words, const uint32_t in[64][4],
		     uint32_t out[64][4])
{
	unsigned elements = 32 * words / element_bits;

	for (unsigned lane = 0; lane < lanes; lane++) {
		memset(out[lane], 0, sizeof(out[lane]));
		for (unsigned j = 0; j < elements; j++) {
			unsigned from, e;

			transpose_source(gfx9, element_bits, elements, lane, j, &from, &e);
			put_bits(out[lane], j * element_bits, element_bits, take_bits(in[from], e * element_bits, element_bits));
		}
	}
}

uint64_t transpose_givers(bool gfx9, unsigned element_bits, unsigned words, unsigned lane)
{
	unsigned elements = 32 * words / element_bits, from, e;
	uint64_t mask = 0;

	for (unsigned j = 0; j < elements; j++) {
		transpose_source(gfx9, element_bits, elements, lane, j, &from, &e);
		mask |= 1ull << from;
	}
	return mask;
}

/* arg: bytes, element bits << 8. gfx1250 takes EXEC as all ones; gfx9 wants it so. */
static int op_read_tr(struct xwave *w, const struct xinsn *in)
{
	unsigned bytes = M_BYTES(in->arg), bits = (unsigned)in->arg >> 8, words = bytes / 4, align = bytes == 12 ? 16 : bytes, lane;
	uint64_t mask = x_gfx9(w) ? w->exec & w->all : w->all, undef_lanes = w->all & ~mask;
	uint32_t addr[64], d[64][4] = { { 0 } }, out[64][4];

	if (forms(w, in, words, 1, 0, 0) < 0)
		return -1;
	lane_addresses(w, in, 1, (uint32_t)in->mem.offset, mask, addr);
	x_lds_begin(w, in, addr, bytes, false, false);
	FOR_LANES(mask, lane) {
		uint64_t undef;

		if (x_gfx9(w) && addr[lane] % align)
			return x_fault(w, in, DIAG_ALIGN, (int)lane, "reads %u bytes at LDS address %u: a transposing read wants a multiple of %u",
				       bytes, addr[lane], align);
		if (lds_get(w, in, (int)lane, addr[lane], d[lane], bytes, XLDS_DS, &undef) < 0)
			return -1;
		undef_lanes |= (uint64_t)(undef != 0) << lane;
	}
	transpose_lanes(x_gfx9(w), bits, w->lanes, words, d, out);
	FOR_LANES(mask, lane)
		for (unsigned i = 0; i < words; i++)
			load_word(w, in->o[0].reg + i, lane, out[lane][i],
				  undef_lanes && (undef_lanes & transpose_givers(x_gfx9(w), bits, words, lane)));
	return 0;
}

/* ---- permutations: no LDS memory ---- */

static void permuted(struct xwave *w, unsigned reg, const uint32_t out[64], uint64_t undef)
{
	unsigned lane;

	FOR_LANES(w->exec & w->all, lane)
		load_word(w, reg, lane, out[lane], undef >> lane & 1);
}

/* vdst, index, data. arg: 0 bpermute, 1 bpermute_fi (reads inactive lanes too), 2 permute */
static int op_permute(struct xwave *w, const struct xinsn *in)
{
	const uint32_t *index, *data;
	uint64_t readable = in->arg == 1 ? w->all : w->exec, undef = 0;
	uint32_t out[64] = { 0 };
	unsigned lane;

	if (forms(w, in, 1, 1, 1, 0) < 0)
		return -1;
	index = x_vreg(w, in->o[1].reg);
	data = x_vreg(w, in->o[2].reg);
	FOR_LANES(w->exec & w->all, lane) {
		unsigned other = (index[lane] + (uint32_t)in->mem.offset) / 4 % w->lanes;

		if (in->arg == 2) {
			out[other] = data[lane];
			undef |= (uint64_t)(undef_word(w, in->o[2].reg, lane) != 0) << other;
		} else if (readable >> other & 1) {
			out[lane] = data[other];
			undef |= (uint64_t)(undef_word(w, in->o[2].reg, other) != 0) << lane;
		}
	}
	permuted(w, in->o[0].reg, out, undef);
	return 0;
}

static unsigned reversed5(unsigned v)
{
	unsigned r = 0;

	for (unsigned i = 0; i < 5; i++)
		r |= (v >> i & 1) << (4 - i);
	return r;
}

/* Lane that lane i reads from under the pattern in offset. */
static unsigned swizzle_source(unsigned offset, unsigned i)
{
	unsigned low = i & 31, mask = offset & 31, turn = offset >> 5 & 31, j;

	if (offset >= 0xe000)
		j = (reversed5(low) >> __builtin_popcount(mask)) | (low & mask);
	else if (offset >= 0xc000)
		j = (low & mask) | ((offset >> 10 & 1 ? low - turn : low + turn) & ~mask & 31);
	else if (offset & 0x8000)
		return (i & ~3u) | (offset >> 2 * (i & 3) & 3);
	else
		j = ((low & mask) | turn) ^ (offset >> 10 & 31);
	return (i & 32) | (j & 31);
}

static int op_swizzle(struct xwave *w, const struct xinsn *in)
{
	const uint32_t *data;
	uint64_t undef = 0;
	uint32_t out[64];
	unsigned lane;

	if (forms(w, in, 1, 1, 0, 0) < 0)
		return -1;
	data = x_vreg(w, in->o[1].reg);
	FOR_LANES(w->exec & w->all, lane) {
		unsigned from = swizzle_source((unsigned)in->mem.offset & 0xffff, lane);
		bool active = w->exec >> from & 1;

		out[lane] = active ? data[from] : 0;
		undef |= (uint64_t)(active && undef_word(w, in->o[1].reg, from)) << lane;
	}
	permuted(w, in->o[0].reg, out, undef);
	return 0;
}

/* ---- atomics ---- */

/* LDS obeys the MODE register: bits 5 and 4 for 32 bits, 7 and 6 for 16 and 64 bits. */
static unsigned flush_mode(const struct xwave *w, enum xatomic op, unsigned bytes)
{
	unsigned denorm = w->mode >> (op == AT_PK_F16 || op == AT_PK_BF16 ? 6 : 4) & 3;

	if (bytes == 8)
		return 0;
	return (denorm & 1 ? 0 : FLUSH_IN) | (denorm & 2 ? 0 : FLUSH_OUT);
}

enum { L_RTN = 1 << 16, L_CMP_FIRST = 1 << 17 }; /* the data to compare with come first */

static int op_atomic(struct xwave *w, const struct xinsn *in)
{
	unsigned first = in->arg & L_RTN ? 1 : 0, bytes = M_BYTES(in->arg), words = bytes / 4, lane, data;
	enum xatomic op = (enum xatomic)(in->arg >> 8 & 0xff);
	bool two = in->n > first + 2;
	uint32_t addr[64];

	if (first ? forms(w, in, words, 1, words, two ? words : 0) : forms(w, in, 1, words, two ? words : 0, 0))
		return -1;
	data = in->o[first + 1].reg;
	lane_addresses(w, in, first, (uint32_t)in->mem.offset, w->exec, addr);
	x_lds_begin(w, in, addr, bytes, true, false);
	FOR_LANES(w->exec & w->all, lane) {
		uint64_t a = reg_value(w, data, lane, bytes), b = two ? reg_value(w, in->o[first + 2].reg, lane, bytes) : 0, old;
		bool undef, swap = in->arg & L_CMP_FIRST;

		if (lds_atomic(w, in, (int)lane, addr[lane], op, bytes, swap ? b : a, swap ? a : b, flush_mode(w, op, bytes), XLDS_DS, &old,
			       &undef) < 0)
			return -1;
		for (unsigned i = 0; first && i < bytes / 4; i++)
			load_word(w, in->o[0].reg + i, lane, (uint32_t)(old >> 32 * i), undef);
	}
	return 0;
}

/* Exchange at two addresses. */
static int op_exchange2(struct xwave *w, const struct xinsn *in)
{
	unsigned bytes = M_BYTES(in->arg), words = bytes / 4, lane;
	uint32_t addr[64], second;

	if (forms(w, in, 2 * words, 1, words, words) < 0)
		return -1;
	two_addresses(w, in, 1, true, addr, &second);
	FOR_LANES(w->exec & w->all, lane)
		for (unsigned k = 0; k < 2; k++) {
			uint64_t a = reg_value(w, in->o[2 + k].reg, lane, bytes), old;
			bool undef;

			if (lds_atomic(w, in, (int)lane, addr[lane] + k * second, AT_SWAP, bytes, a, 0, 0, XLDS_DS, &old, &undef) < 0)
				return -1;
			for (unsigned i = 0; i < words; i++)
				load_word(w, in->o[0].reg + k * words + i, lane, (uint32_t)(old >> 32 * i), undef);
		}
	return 0;
}

/* The number of active lanes is added to (arg 1: taken from) one counter; all lanes get its old value. */
static int op_append(struct xwave *w, const struct xinsn *in)
{
	uint64_t mask = w->exec & w->all, old;
	unsigned lane;
	bool undef;

	if (forms(w, in, 1, 0, 0, 0) < 0)
		return -1;
	if (!mask)
		return 0;
	if (lds_atomic(w, in, -1, (uint32_t)in->mem.offset, in->arg ? AT_SUB : AT_ADD, 4, (uint64_t)__builtin_popcountll(mask), 0, 0,
		       XLDS_DS, &old, &undef) < 0)
		return -1;
	FOR_LANES(mask, lane)
		load_word(w, in->o[0].reg, lane, (uint32_t)old, undef);
	return 0;
}

/* ---- barrier objects of gfx1250 ---- */

static int arrive_at(struct xwave *w, const struct xinsn *in, int lane, uint32_t addr, uint64_t by, bool async,
		     uint64_t *old, bool *undef)
{
	if (lds_atomic(w, in, lane, addr, AT_ARRIVE, 8, by, 0, 0, async ? XLDS_COPY : XLDS_DS, old, undef) < 0)
		return -1;
	race_lds_arrive(w, addr, async, (uint32_t)by > ((uint32_t)*old & ((1u << BARRIER_COUNT_BITS) - 1)));
	return 0;
}

int lds_barrier_arrive(struct xwave *w, const struct xinsn *in, uint32_t addr)
{
	uint64_t old;
	bool undef;

	return arrive_at(w, in, -1, addr, 1, true, &old, &undef);
}

/* arg: 1 async, without a result */
static int op_arrive(struct xwave *w, const struct xinsn *in)
{
	unsigned first = in->arg ? 0 : 1, lane;
	uint32_t addr[64];

	if (first ? forms(w, in, 2, 1, 2, 0) : forms(w, in, 1, 0, 0, 0))
		return -1;
	lane_addresses(w, in, first, (uint32_t)in->mem.offset, w->exec, addr);
	x_lds_begin(w, in, addr, 8, true, false);
	FOR_LANES(w->exec & w->all, lane) {
		uint64_t by = in->arg ? 1 : x_vreg(w, in->o[2].reg)[lane], old;
		bool undef;

		if (arrive_at(w, in, (int)lane, addr[lane], by, in->arg, &old, &undef) < 0)
			return -1;
		for (unsigned i = 0; first && i < 2; i++)
			load_word(w, in->o[0].reg + i, lane, (uint32_t)(old >> 32 * i), undef);
	}
	return 0;
}

/* ---- the table ---- */

#define LOAD(names, arg) { names, "wide wide", op_read, arg }
#define STORE(names, arg) { names, "wide wide", op_write, arg }
#define ATOMIC(names, op, bytes) { names, "wide wide wide", op_atomic, M_ATOMIC(op, bytes) }
#define ATOMIC_RTN(names, op, bytes) { names, "wide wide wide wide", op_atomic, M_ATOMIC(op, bytes) | L_RTN }

const struct xop xops_lds[] = {
	LOAD("ds_{read,load}_b32", 4),
	LOAD("ds_{read,load}_b64", 8),
	LOAD("ds_{read,load}_b96", 12),
	LOAD("ds_{read,load}_b128", 16),
	LOAD("ds_{read,load}_u8", 1),
	LOAD("ds_{read,load}_i8", 1 | M_SIGNED),
	LOAD("ds_{read,load}_u16", 2),
	LOAD("ds_{read,load}_i16", 2 | M_SIGNED),
	LOAD("ds_{read,load}_u8_d16", 1 | M_D16),
	LOAD("ds_{read,load}_u8_d16_hi", 1 | M_D16 | M_HI),
	LOAD("ds_{read,load}_i8_d16", 1 | M_SIGNED | M_D16),
	LOAD("ds_{read,load}_i8_d16_hi", 1 | M_SIGNED | M_D16 | M_HI),
	LOAD("ds_{read,load}_u16_d16", 2 | M_D16),
	LOAD("ds_{read,load}_u16_d16_hi", 2 | M_D16 | M_HI),
	{ "ds_{read2,load_2addr}_b32",            "wide wide", op_read2,  4 },
	{ "ds_{read2,load_2addr}_b64",            "wide wide", op_read2,  8 },
	{ "ds_{read2st64,load_2addr_stride64}_b32", "wide wide", op_read2, 4 | L_ST64 },
	{ "ds_{read2st64,load_2addr_stride64}_b64", "wide wide", op_read2, 8 | L_ST64 },
	{ "ds_{read,load}_addtid_b32",            "wide",      op_addtid, 0 },
	{ "ds_{write,store}_addtid_b32",          "wide",      op_addtid, 1 },
	{ "ds_read_b64_tr_b16",                 "wide wide", op_read_tr, 8 | 16 << 8 },
	{ "ds_{read_b64_tr_b8,load_tr8_b64}",     "wide wide", op_read_tr, 8 | 8 << 8 },
	{ "ds_{read_b64_tr_b4,load_tr4_b64}",     "wide wide", op_read_tr, 8 | 4 << 8 },
	{ "ds_{read_b96_tr_b6,load_tr6_b96}",     "wide wide", op_read_tr, 12 | 6 << 8 },
	{ "ds_load_tr16_b128",                    "wide wide", op_read_tr, 16 | 16 << 8 },
	STORE("ds_{write,store}_b8", 1),
	STORE("ds_{write,store}_b16", 2),
	STORE("ds_{write,store}_b8_d16_hi", 1 | M_HI),
	STORE("ds_{write,store}_b16_d16_hi", 2 | M_HI),
	STORE("ds_{write,store}_b32", 4),
	STORE("ds_{write,store}_b64", 8),
	STORE("ds_{write,store}_b96", 12),
	STORE("ds_{write,store}_b128", 16),
	{ "ds_{write2,store_2addr}_b32",          "wide wide wide", op_write2, 4 },
	{ "ds_{write2,store_2addr}_b64",          "wide wide wide", op_write2, 8 },
	{ "ds_{write2st64,store_2addr_stride64}_b32", "wide wide wide", op_write2, 4 | L_ST64 },
	{ "ds_{write2st64,store_2addr_stride64}_b64", "wide wide wide", op_write2, 8 | L_ST64 },
	{ "ds_bpermute_b32",                      "wide wide wide", op_permute, 0 },
	{ "ds_bpermute_fi_b32",                   "wide wide wide", op_permute, 1 },
	{ "ds_permute_b32",                       "wide wide wide", op_permute, 2 },
	{ "ds_swizzle_b32",                       "wide wide", op_swizzle, 0 },
	{ "ds_append",                            "wide",      op_append, 0 },
	{ "ds_consume",                           "wide",      op_append, 1 },
	{ "ds_nop",                               "",          op_nothing, 0 },
	{ "ds_atomic_async_barrier_arrive_b64",   "wide",      op_arrive, 1 },
	{ "ds_atomic_barrier_arrive_rtn_b64",     "wide wide wide", op_arrive, 0 },
	{ "ds_{wrxchg2_rtn,storexchg_2addr_rtn}_b32", "wide wide wide wide", op_exchange2, 4 },
	{ "ds_{wrxchg2_rtn,storexchg_2addr_rtn}_b64", "wide wide wide wide", op_exchange2, 8 },
	{ "ds_{wrxchg2st64_rtn,storexchg_2addr_stride64_rtn}_b32", "wide wide wide wide", op_exchange2, 4 | L_ST64 },
	{ "ds_{wrxchg2st64_rtn,storexchg_2addr_stride64_rtn}_b64", "wide wide wide wide", op_exchange2, 8 | L_ST64 },
#define BOTH(name, type, op, bytes) ATOMIC("ds_" name "_" type, op, bytes), ATOMIC_RTN("ds_" name "_rtn_" type, op, bytes)
	BOTH("add", "u32", AT_ADD, 4), BOTH("add", "u64", AT_ADD, 8),
	BOTH("sub", "u32", AT_SUB, 4), BOTH("sub", "u64", AT_SUB, 8),
	BOTH("rsub", "u32", AT_RSUB, 4), BOTH("rsub", "u64", AT_RSUB, 8),
	BOTH("inc", "u32", AT_INC, 4), BOTH("inc", "u64", AT_INC, 8),
	BOTH("dec", "u32", AT_DEC, 4), BOTH("dec", "u64", AT_DEC, 8),
	BOTH("min", "i32", AT_SMIN, 4), BOTH("min", "i64", AT_SMIN, 8),
	BOTH("max", "i32", AT_SMAX, 4), BOTH("max", "i64", AT_SMAX, 8),
	BOTH("min", "u32", AT_UMIN, 4), BOTH("min", "u64", AT_UMIN, 8),
	BOTH("max", "u32", AT_UMAX, 4), BOTH("max", "u64", AT_UMAX, 8),
	BOTH("and", "b32", AT_AND, 4), BOTH("and", "b64", AT_AND, 8),
	BOTH("or", "b32", AT_OR, 4), BOTH("or", "b64", AT_OR, 8),
	BOTH("xor", "b32", AT_XOR, 4), BOTH("xor", "b64", AT_XOR, 8),
	BOTH("mskor", "b32", AT_MSKOR, 4), BOTH("mskor", "b64", AT_MSKOR, 8),
	BOTH("add", "f32", AT_FADD, 4), BOTH("add", "f64", AT_FADD, 8),
	BOTH("min", "f32", AT_FMIN, 4), BOTH("min", "f64", AT_FMIN, 8),
	BOTH("max", "f32", AT_FMAX, 4), BOTH("max", "f64", AT_FMAX, 8),
	BOTH("sub_clamp", "u32", AT_SUB_CLAMP, 4), BOTH("cond_sub", "u32", AT_COND_SUB, 4),
	BOTH("pk_add", "f16", AT_PK_F16, 4), BOTH("pk_add", "bf16", AT_PK_BF16, 4),
	BOTH("cmpstore", "b32", AT_CMPSWAP, 4), BOTH("cmpstore", "b64", AT_CMPSWAP, 8),
#undef BOTH
	ATOMIC("ds_min_num_f32", AT_FMIN_NUM, 4), ATOMIC("ds_min_num_f64", AT_FMIN_NUM, 8),
	ATOMIC("ds_max_num_f32", AT_FMAX_NUM, 4), ATOMIC("ds_max_num_f64", AT_FMAX_NUM, 8),
	ATOMIC_RTN("ds_min_num_rtn_f32", AT_FMIN_NUM, 4), ATOMIC_RTN("ds_min_num_rtn_f64", AT_FMIN_NUM, 8),
	ATOMIC_RTN("ds_max_num_rtn_f32", AT_FMAX_NUM, 4), ATOMIC_RTN("ds_max_num_rtn_f64", AT_FMAX_NUM, 8),
	ATOMIC_RTN("ds_{wrxchg,storexchg}_rtn_b32", AT_SWAP, 4), ATOMIC_RTN("ds_{wrxchg,storexchg}_rtn_b64", AT_SWAP, 8),
	ATOMIC_RTN("ds_wrap_rtn_b32", AT_WRAP, 4),
#define CMPST(type, op, bytes) \
	{ "ds_cmpst_" type, "wide wide wide", op_atomic, M_ATOMIC(op, bytes) | L_CMP_FIRST }, \
	{ "ds_cmpst_rtn_" type, "wide wide wide wide", op_atomic, M_ATOMIC(op, bytes) | L_CMP_FIRST | L_RTN }
	CMPST("b32", AT_CMPSWAP, 4), CMPST("b64", AT_CMPSWAP, 8), CMPST("f32", AT_FCMPSWAP, 4), CMPST("f64", AT_FCMPSWAP, 8),
#undef CMPST
};
const size_t nxops_lds = ARRAY_LEN(xops_lds);
