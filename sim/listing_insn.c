/* The instruction table: insn.def with its families written out, by name. */
#include "listing_internal.h"

#include <string.h>
#include <threads.h>

#define MAX_INSNS 4096
#define MAX_NAME_BYTES (96u << 10)
#define BUCKETS 8192

enum {
	T_942 = ISA_942, T_950 = ISA_950, T_1250 = ISA_1250,
	T_GFX9 = ISA_942 | ISA_950,
	T_950_1250 = ISA_950 | ISA_1250,
	T_ALL = ISA_942 | ISA_950 | ISA_1250,
};

struct row {
	const char *names;
	enum opclass cls;
	uint8_t isa;
	const char *operands, *rest;
};

static const struct row rows[] = {
#define INSN(names, cls, targets, operands, rest) { names, OPC_##cls, T_##targets, operands, rest },
#include "insn.def"
#undef INSN
};

const char *const suffix_text[SUFFIX_COUNT] = { "", "_e32", "_e64", "_dpp", "_e64_dpp", "_sdwa" };

/* Filled once, constant afterwards. */
static struct insn_desc table[MAX_INSNS];
static struct insn_desc *bucket[BUCKETS];
static char name_pool[MAX_NAME_BYTES];
static size_t ninsns, pool_used;
static once_flag filled = ONCE_FLAG_INIT;

static size_t hash(const char *s, size_t n)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * 16777619u;
	return (h ^ h >> 15) % BUCKETS;
}

static void parse_slots(struct insn_desc *x, const char *s)
{
	while (*s && x->nslots < INSN_MAX_SLOTS) {
		struct insn_slot *o = &x->slot[x->nslots++];

		if (*s == '?') {
			o->optional = true;
			s++;
		}
		o->role = *s++;
		if (*s == '*')
			s++;
		while (*s >= '0' && *s <= '9')
			o->regs = (uint8_t)(o->regs * 10 + (*s++ - '0'));
		if (*s == 'v' || *s == 's')
			o->file = *s++;
		while (*s == ' ')
			s++;
	}
}

static void parse_rest(struct insn_desc *x, const char *s)
{
	static const struct { const char *word; uint16_t bit; } words[] = {
		{ "<vcc", READS_VCC }, { "<exec", READS_EXEC }, { "<scc", READS_SCC }, { "<m0", READS_M0 },
		{ ">vcc", WRITES_VCC }, { ">exec", WRITES_EXEC }, { ">scc", WRITES_SCC }, { ">m0", WRITES_M0 },
		{ "flat", CTR_FLAT }, { "smem", CTR_AS_SMEM }, { "async", CTR_IS_ASYNC }, { "exp", CTR_IS_EXP },
		{ "none", CTR_IS_NONE }, { "short", ENC_SHORT },
	};

	while (*s) {
		size_t n = strcspn(s, " ");

		if (*s == '=')
			x->canonical = s + 1; /* the last word of its row */
		for (size_t i = 0; i < ARRAY_LEN(words); i++)
			if (n == strlen(words[i].word) && !memcmp(s, words[i].word, n))
				x->rest |= words[i].bit;
		s += n + (s[n] == ' ');
	}
}

static void add_insn(const struct row *row, const char *const part[3], const size_t len[3])
{
	struct insn_desc *x = &table[ninsns];
	size_t total = len[0] + len[1] + len[2], h;
	char *name = name_pool + pool_used;

	if (ninsns == MAX_INSNS || total + 1 > MAX_NAME_BYTES - pool_used)
		return; /* the unit test counts the rows */
	ninsns++;
	pool_used += total + 1;
	for (size_t i = 0, at = 0; i < 3; at += len[i], i++)
		memcpy(name + at, part[i], len[i]);
	x->name = x->canonical = name;
	x->cls = row->cls;
	x->isa = row->isa;
	parse_slots(x, row->operands);
	parse_rest(x, row->rest);
	h = hash(name, total);
	x->next = bucket[h];
	bucket[h] = x;
}

/* One row; at most one {a,b,c} in its names. */
static void add_row(const struct row *row)
{
	const char *open = strchr(row->names, '{'), *close = open ? strchr(open, '}') : NULL;
	const char *part[3] = { row->names, "", "" };
	size_t len[3] = { strlen(row->names), 0, 0 };

	if (!close) {
		add_insn(row, part, len);
		return;
	}
	len[0] = (size_t)(open - row->names);
	part[2] = close + 1;
	len[2] = strlen(part[2]);
	for (const char *s = open + 1; s < close; s += len[1] + 1) {
		part[1] = s;
		len[1] = strcspn(s, ",}");
		add_insn(row, part, len);
	}
}

static void fill(void)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		add_row(&rows[i]);
}

enum isa isa_of_target(const struct target *t)
{
	static const struct { const char *name; enum isa isa; } known[] = {
		{ "gfx942", ISA_942 }, { "gfx950", ISA_950 }, { "gfx1250", ISA_1250 },
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (!strcmp(t->name, known[i].name))
			return known[i].isa;
	/* A target file of one's own: by what its base has. */
	if (t->v.wave_size <= 32)
		return ISA_1250;
	return target_lds(t, "ds_read_b64_tr_b16") ? ISA_950 : ISA_942;
}

static struct insn_desc *find(const char *name, size_t n, unsigned isa)
{
	for (struct insn_desc *x = bucket[hash(name, n)]; x; x = x->next)
		if ((x->isa & isa) && !strncmp(x->name, name, n) && !x->name[n])
			return x;
	return NULL;
}

/* Length of name without its encoding suffix. */
static size_t without_suffix(const char *name, size_t n, enum suffix *suffix)
{
	static const enum suffix longest_first[] = { SUFFIX_E64_DPP, SUFFIX_SDWA, SUFFIX_E32, SUFFIX_E64, SUFFIX_DPP };

	for (size_t i = 0; i < ARRAY_LEN(longest_first); i++) {
		const char *s = suffix_text[longest_first[i]];
		size_t k = strlen(s);

		if (n > k && !memcmp(name + n - k, s, k)) {
			*suffix = longest_first[i];
			return n - k;
		}
	}
	*suffix = SUFFIX_NONE;
	return n;
}

const struct insn_desc *insn_find(const char *name, size_t n, enum isa isa, enum suffix *suffix)
{
	call_once(&filled, fill);
	n = without_suffix(name, n, suffix);
	return n > 64 ? NULL : find(name, n, isa);
}

unsigned insn_targets(const char *name, size_t n)
{
	enum suffix suffix;
	unsigned isa = 0;

	call_once(&filled, fill);
	n = without_suffix(name, n, &suffix);
	if (n > 64)
		return 0;
	for (unsigned i = ISA_942; i <= ISA_1250; i <<= 1)
		if (find(name, n, i))
			isa |= i;
	return isa;
}

const char *insn_nearest(const char *name, enum isa isa)
{
	static thread_local const char *words[MAX_INSNS];
	size_t n = 0, len = strlen(name);

	call_once(&filled, fill);
	for (size_t i = 0; i < ninsns; i++) {
		size_t k = strlen(table[i].name), longer = k > len ? k : len;

		/* word_nearest is slow, and would not take the others */
		if ((table[i].isa & isa) && longer - (k < len ? k : len) <= longer / 3 && table[i].name[0] == name[0])
			words[n++] = table[i].name;
	}
	return word_nearest(name, words, n);
}

size_t insn_index(const struct insn_desc *x)
{
	return (size_t)(x - table);
}

size_t insn_count(void)
{
	call_once(&filled, fill);
	return ninsns;
}

const struct insn_desc *insn_at(size_t i)
{
	return &table[i];
}
