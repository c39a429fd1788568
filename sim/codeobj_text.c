/* Kernel descriptors and metadata of a code object as the text that an assembler would take. */
#include "codeobj_internal.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_LLVM
#include <msgpack.h>
#endif

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '.';
}

void codeobj_name(struct strbuf *out, const char *name, size_t n)
{
	static const char hex[] = "0123456789abcdef";

	if (!n || (name[0] >= '0' && name[0] <= '9'))
		strbuf_addn(out, "_", 1);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)name[i];
		char coded[4] = { '$', hex[c >> 4], hex[c & 15], '\0' };

		strbuf_addn(out, name_char(name[i]) ? &name[i] : coded, name_char(name[i]) ? 1 : 3);
	}
}

/* ---- kernel descriptors (LLVM's AMDGPU usage guide, "Kernel Descriptor") ---- */

enum word { GROUP_SIZE = 0, PRIVATE_SIZE = 4, KERNARG_SIZE = 8, RSRC3 = 44, RSRC1 = 48, RSRC2 = 52, PROPERTIES = 56 };
enum who { ALL = 0, GFX9 = 1, GFX12 = 2 };

/* A directive that is a field as it is: word, lowest bit, bits. */
struct field {
	const char *name;
	uint8_t word, bit, bits, who;
};

static const struct field fields[] = {
	{ "group_segment_fixed_size", GROUP_SIZE, 0, 32, ALL },
	{ "private_segment_fixed_size", PRIVATE_SIZE, 0, 32, ALL },
	{ "kernarg_size", KERNARG_SIZE, 0, 32, ALL },
	{ "user_sgpr_count", RSRC2, 1, 5, GFX9 },
	{ "user_sgpr_count", RSRC2, 1, 6, GFX12 },
	{ "user_sgpr_dispatch_ptr", PROPERTIES, 1, 1, ALL },
	{ "user_sgpr_queue_ptr", PROPERTIES, 2, 1, ALL },
	{ "user_sgpr_kernarg_segment_ptr", PROPERTIES, 3, 1, ALL },
	{ "user_sgpr_dispatch_id", PROPERTIES, 4, 1, ALL },
	{ "user_sgpr_kernarg_preload_length", PROPERTIES, 16, 7, ALL },
	{ "user_sgpr_kernarg_preload_offset", PROPERTIES, 23, 9, ALL },
	{ "user_sgpr_private_segment_size", PROPERTIES, 6, 1, ALL },
	{ "wavefront_size32", PROPERTIES, 10, 1, GFX12 },
	{ "uses_dynamic_stack", PROPERTIES, 11, 1, ALL },
	{ "enable_private_segment", RSRC2, 0, 1, ALL },
	{ "system_sgpr_workgroup_id_x", RSRC2, 7, 1, ALL },
	{ "system_sgpr_workgroup_id_y", RSRC2, 8, 1, ALL },
	{ "system_sgpr_workgroup_id_z", RSRC2, 9, 1, ALL },
	{ "system_sgpr_workgroup_info", RSRC2, 10, 1, ALL },
	{ "system_vgpr_workitem_id", RSRC2, 11, 2, ALL },
};
static const struct field more_fields[] = {
	{ "named_barrier_count", RSRC3, 14, 3, GFX12 },
	{ "float_round_mode_32", RSRC1, 12, 2, ALL },
	{ "float_round_mode_16_64", RSRC1, 14, 2, ALL },
	{ "float_denorm_mode_32", RSRC1, 16, 2, ALL },
	{ "float_denorm_mode_16_64", RSRC1, 18, 2, ALL },
	{ "dx10_clamp", RSRC1, 21, 1, GFX9 },
	{ "ieee_mode", RSRC1, 23, 1, GFX9 },
	{ "fp16_overflow", RSRC1, 26, 1, ALL },
	{ "tg_split", RSRC3, 16, 1, GFX9 },
	{ "memory_ordered", RSRC1, 30, 1, GFX12 },
	{ "forward_progress", RSRC1, 31, 1, GFX12 },
	{ "inst_pref_size", RSRC3, 4, 8, GFX12 },
	{ "round_robin_scheduling", RSRC1, 21, 1, GFX12 },
	{ "exception_fp_ieee_invalid_op", RSRC2, 24, 1, ALL },
	{ "exception_fp_denorm_src", RSRC2, 25, 1, ALL },
	{ "exception_fp_ieee_div_zero", RSRC2, 26, 1, ALL },
	{ "exception_fp_ieee_overflow", RSRC2, 27, 1, ALL },
	{ "exception_fp_ieee_underflow", RSRC2, 28, 1, ALL },
	{ "exception_fp_ieee_inexact", RSRC2, 29, 1, ALL },
	{ "exception_int_div_zero", RSRC2, 30, 1, ALL },
};

static uint32_t word_at(const uint8_t *kd, unsigned at)
{
	return kd[at] | (uint32_t)kd[at + 1] << 8 | (uint32_t)kd[at + 2] << 16 | (uint32_t)kd[at + 3] << 24;
}

static uint32_t bits_of(const uint8_t *kd, unsigned word, unsigned bit, unsigned bits)
{
	uint32_t v = word_at(kd, word) >> bit;

	return bits < 32 ? v & ((1u << bits) - 1) : v;
}

static void add_fields(struct strbuf *out, const struct field *f, size_t n, enum who who, const uint8_t *kd)
{
	for (size_t i = 0; i < n; i++)
		if (f[i].who == ALL || f[i].who == who)
			strbuf_add(out, "\t\t.amdhsa_%s %u\n", f[i].name, bits_of(kd, f[i].word, f[i].bit, f[i].bits));
}

void codeobj_descriptor(struct strbuf *out, const char *target, const char *name, const uint8_t kd[64])
{
	enum who who = !strncmp(target, "gfx12", 5) ? GFX12 : GFX9;
	unsigned vgprs = bits_of(kd, RSRC1, 0, 6), sgprs = (bits_of(kd, RSRC1, 6, 4) + 1) * 8;

	strbuf_add(out, "\t.amdhsa_kernel ");
	codeobj_name(out, name, strlen(name));
	strbuf_add(out, "\n");
	add_fields(out, fields, ARRAY_LEN(fields), who, kd);
	/* Counts are stored in granules: the highest number that gives the same. On gfx9 six scalar registers
	 * are the hardware's own, and on gfx12 every wave has all. */
	strbuf_add(out, "\t\t.amdhsa_next_free_vgpr %u\n", (vgprs + 1) * (who == GFX12 ? 16 : 8));
	strbuf_add(out, "\t\t.amdhsa_next_free_sgpr %u\n", who == GFX12 ? 106 : sgprs < 108 ? sgprs - 6 : 102);
	if (who == GFX9)
		strbuf_add(out, "\t\t.amdhsa_accum_offset %u\n", (bits_of(kd, RSRC3, 0, 6) + 1) * 4);
	strbuf_add(out, "\t\t.amdhsa_reserve_vcc 0\n");
	add_fields(out, more_fields, ARRAY_LEN(more_fields), who, kd);
	strbuf_add(out, "\t.end_amdhsa_kernel\n");
}

/* ---- metadata: a note with a MessagePack document ---- */

void codeobj_metadata_free(struct codeobj_metadata *m)
{
	strbuf_free(&m->text);
	free(m->target);
	for (size_t i = 0; i < m->nkernels; i++)
		free(m->kernels[i]);
	free(m->kernels);
}

#ifdef HAVE_LLVM

#define NOTE_AMDGPU_METADATA 32
#define MAX_DEPTH 16u
#define MAX_TEXT (16u << 20)

static bool key_is(const msgpack_object *k, const char *word)
{
	return k->type == MSGPACK_OBJECT_STR && k->via.str.size == strlen(word) && !memcmp(k->via.str.ptr, word, k->via.str.size);
}

static void add_string(struct strbuf *out, const char *s, size_t n)
{
	bool plain = n > 0 && s[0] != '-' && s[0] != '.' && s[0] != '$';

	for (size_t i = 0; i < n; i++)
		plain = plain && (name_char(s[i]) || s[i] == '-' || s[i] == '+' || (s[i] == ':' && i + 1 < n));
	if (!plain)
		strbuf_addn(out, "'", 1);
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\'')
			strbuf_addn(out, "'", 1);
		strbuf_addn(out, (unsigned char)s[i] < ' ' || s[i] == 127 ? "?" : &s[i], 1);
	}
	if (!plain)
		strbuf_addn(out, "'", 1);
}

static void add_scalar(struct strbuf *out, const msgpack_object *o, bool name)
{
	switch (o->type) {
	case MSGPACK_OBJECT_BOOLEAN: strbuf_add(out, o->via.boolean ? "true" : "false"); break;
	case MSGPACK_OBJECT_POSITIVE_INTEGER: strbuf_add(out, "%" PRIu64, o->via.u64); break;
	case MSGPACK_OBJECT_NEGATIVE_INTEGER: strbuf_add(out, "%" PRId64, o->via.i64); break;
	case MSGPACK_OBJECT_FLOAT32:
	case MSGPACK_OBJECT_FLOAT64: strbuf_add(out, "%.17g", o->via.f64); break;
	case MSGPACK_OBJECT_STR:
		if (name)
			codeobj_name(out, o->via.str.ptr, o->via.str.size);
		else
			add_string(out, o->via.str.ptr, o->via.str.size);
		break;
	case MSGPACK_OBJECT_NIL:
	case MSGPACK_OBJECT_BIN:
	case MSGPACK_OBJECT_EXT:
	case MSGPACK_OBJECT_ARRAY:
	case MSGPACK_OBJECT_MAP:
		strbuf_add(out, "''");
		break;
	}
}

static bool nested(const msgpack_object *o)
{
	return (o->type == MSGPACK_OBJECT_ARRAY && o->via.array.size) || (o->type == MSGPACK_OBJECT_MAP && o->via.map.size);
}

static void add_indent(struct strbuf *out, unsigned n)
{
	strbuf_add(out, "%*s", (int)n, "");
}

static int add_node(struct strbuf *out, const msgpack_object *o, unsigned indent, unsigned depth);

/* The entries of a map; the first one goes behind what stands in the line already. */
static int add_map(struct strbuf *out, const msgpack_object_map *m, unsigned indent, unsigned depth)
{
	for (uint32_t i = 0; i < m->size; i++) {
		const msgpack_object *k = &m->ptr[i].key, *v = &m->ptr[i].val;
		size_t at;

		if (i)
			add_indent(out, indent);
		at = out->len;
		if (k->type != MSGPACK_OBJECT_STR)
			return -1;
		codeobj_name(out, k->via.str.ptr, k->via.str.size);
		strbuf_addn(out, ":", 1);
		if (nested(v)) {
			strbuf_addn(out, "\n", 1);
			/* The lists of the top level stand two columns in, as all others. */
			if (add_node(out, v, indent + 2, depth + 1) < 0)
				return -1;
			continue;
		}
		strbuf_add(out, "%*s", out->len - at < 16 ? (int)(17 - (out->len - at)) : 1, "");
		if (v->type == MSGPACK_OBJECT_ARRAY || v->type == MSGPACK_OBJECT_MAP)
			strbuf_add(out, v->type == MSGPACK_OBJECT_ARRAY ? "[]" : "{}");
		else
			add_scalar(out, v, key_is(k, ".name") || key_is(k, ".symbol"));
		strbuf_addn(out, "\n", 1);
	}
	return 0;
}

static int add_node(struct strbuf *out, const msgpack_object *o, unsigned indent, unsigned depth)
{
	if (depth > MAX_DEPTH || out->len > MAX_TEXT)
		return -1;
	if (o->type == MSGPACK_OBJECT_MAP) {
		add_indent(out, indent);
		return add_map(out, &o->via.map, indent, depth);
	}
	for (uint32_t i = 0; i < o->via.array.size; i++) {
		const msgpack_object *x = &o->via.array.ptr[i];

		if (out->len > MAX_TEXT)
			return -1;
		add_indent(out, indent);
		strbuf_add(out, "- ");
		if (x->type == MSGPACK_OBJECT_MAP && x->via.map.size) {
			if (add_map(out, &x->via.map, indent + 2, depth + 1) < 0)
				return -1;
			continue;
		}
		if (nested(x))
			return -1; /* lists of lists: there are none in this format */
		add_scalar(out, x, false);
		strbuf_addn(out, "\n", 1);
	}
	return 0;
}

static const msgpack_object *find_key(const msgpack_object *map, const char *word)
{
	if (map->type == MSGPACK_OBJECT_MAP)
		for (uint32_t i = 0; i < map->via.map.size; i++)
			if (key_is(&map->via.map.ptr[i].key, word))
				return &map->via.map.ptr[i].val;
	return NULL;
}

static void note_kernels(struct codeobj_metadata *m, const msgpack_object *root)
{
	const msgpack_object *list = find_key(root, "amdhsa.kernels");

	for (uint32_t i = 0; list && list->type == MSGPACK_OBJECT_ARRAY && i < list->via.array.size; i++) {
		const msgpack_object *s = find_key(&list->via.array.ptr[i], ".symbol");
		size_t n = s && s->type == MSGPACK_OBJECT_STR ? s->via.str.size : 0;

		if (n <= 3 || memcmp(s->via.str.ptr + n - 3, ".kd", 3) || memchr(s->via.str.ptr, 0, n))
			continue;
		m->kernels = xgrow(m->kernels, m->nkernels, &m->capkernels, sizeof(*m->kernels));
		m->kernels[m->nkernels++] = xasprintf("%.*s", (int)(n - 3), s->via.str.ptr);
	}
}

/* Only what can stand in a directive. */
static void note_target(struct codeobj_metadata *m, const msgpack_object *root)
{
	const msgpack_object *t = find_key(root, "amdhsa.target");
	size_t n = t && t->type == MSGPACK_OBJECT_STR && t->via.str.size < 100 ? t->via.str.size : 0;

	for (size_t i = 0; i < n; i++) {
		char c = t->via.str.ptr[i];

		if (!name_char(c) && c != '-' && c != '+' && c != ':')
			return;
	}
	if (n && !m->target)
		m->target = xasprintf("%.*s", (int)n, t->via.str.ptr);
}

static int unpack(const uint8_t *bytes, size_t n, struct codeobj_metadata *out)
{
	msgpack_unpacked u;
	size_t off = 0;
	int rc = -1;

	msgpack_unpacked_init(&u);
	if (msgpack_unpack_next(&u, (const char *)bytes, n, &off) == MSGPACK_UNPACK_SUCCESS && u.data.type == MSGPACK_OBJECT_MAP) {
		rc = add_node(&out->text, &u.data, 0, 0);
		if (rc == 0)
			note_kernels(out, &u.data);
		if (rc == 0)
			note_target(out, &u.data);
	}
	msgpack_unpacked_destroy(&u);
	return rc;
}

int codeobj_metadata(const uint8_t *notes, size_t n, struct codeobj_metadata *out)
{
	size_t at = 0;

	while (n - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr h;
		size_t name, desc;

		memcpy(&h, notes + at, sizeof(h));
		at += sizeof(h);
		name = ((size_t)h.n_namesz + 3) & ~(size_t)3;
		desc = ((size_t)h.n_descsz + 3) & ~(size_t)3;
		if (name > n - at || h.n_descsz > n - at - name)
			return -1;
		if (h.n_type == NOTE_AMDGPU_METADATA && h.n_namesz == 7 && !memcmp(notes + at, "AMDGPU", 7) &&
		    unpack(notes + at + name, h.n_descsz, out) < 0)
			return -1;
		at += name;
		at = desc > n - at ? n : at + desc;
	}
	return 0;
}

#else

int codeobj_metadata(const uint8_t *notes, size_t n, struct codeobj_metadata *out)
{
	(void)notes, (void)n, (void)out;
	return -1;
}

#endif
