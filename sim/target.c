/* Targets: names, look-up of rows, search for files. Reading is in target_read.c. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target.h"
#include "target_impl.h"

#define VALUE(field, key, unit, lo, hi) {key, unit, lo, hi, offsetof(struct target_values, field), false},
#define OPTIONAL_VALUE(field, key, unit, lo, hi) {key, unit, lo, hi, offsetof(struct target_values, field), true},
const struct value_info value_info[TV_COUNT] = {
#include "target.def"
};
#undef VALUE

const char *const quality_words[Q_COUNT] = {"measured", "documented", "compiler", "derived",
					    "estimate"};

const char *const opclass_words[OPC_COUNT] = {
#define OPCLASS(tail, name, slot) name,
#include "opclass.def"
#undef OPCLASS
};

static const enum slot opclass_slots[OPC_COUNT] = {
#define OPCLASS(tail, name, slot) SLOT_##slot,
#include "opclass.def"
#undef OPCLASS
};

static const char *const slot_words[SLOT_COUNT] = {"valu", "salu",   "lds",
						   "vmem", "branch", "internal"};

const char *const counter_words[CTR_COUNT] = {
	"vm", "lgkm", "exp", "load", "store", "ds", "km", "async", "tensor", "x",
};

const char *const dtype_words[DT_COUNT] = {
	"f64", "f32", "xf32", "f16", "bf16", "fp8", "bf8", "fp6", "bf6", "fp4", "i8", "i32",
};
static const unsigned dtype_bit_counts[DT_COUNT] = {64, 32, 32, 16, 16, 8, 8, 6, 6, 4, 8, 32};

const char *const matrix_kind_words[6] = {"mfma", "smfmac",	"mfma-scale",
					  "wmma", "wmma-scale", "swmmac"};
const char *const matrix_unit_words[3] = {"xdl", "sgemm", "dgemm"};
const char *const matrix_operands_words[5] = {"any", "any-f8", "no-f8", "both-f4", "not-both-f4"};
const char *const vmem_kind_words[3] = {"load", "store", "lds"};
const char *const relation_words[7] = {"c-exact", "c-overlap", "ab", "raw", "waw", "war", "any"};

/* Sets of instructions that spacing rows are about; docs/targets.md says what each one holds. */
/* clang-format off */
const char *const spacing_words[] = {
	"matrix", "xdl", "sgemm", "dgemm", "dgemm-4x4", "dgemm-16x16", "wmma", "swmmac",
	"vector", "trans", "not-trans", "packed", "partial", "dot", "not-dot", "fma-f64",
	"vector-sgpr", "vector-vcc", "vector-exec", "vector-then-dgemm",
	"salu-m0", "setreg", "getreg",
	"memory", "vmem", "lds", "lds-dma", "vmem-sgpr", "wide-store", "wide-store-sgpr", "m0-user",
	"lane-access", "lane-read", "lane-select", "dpp", "permlane", "div-fmas",
};
/* clang-format on */
const size_t nspacing_words = ARRAY_LEN(spacing_words);

const char *quality_name(enum quality q)
{
	return quality_words[q];
}

const char *opclass_name(enum opclass c)
{
	return opclass_words[c];
}

enum slot opclass_slot(enum opclass c)
{
	return opclass_slots[c];
}

const char *slot_name(enum slot s)
{
	return slot_words[s];
}

const char *counter_name(enum counter c)
{
	return counter_words[c];
}

const char *dtype_name(enum dtype t)
{
	return dtype_words[t];
}

unsigned dtype_bits(enum dtype t)
{
	return dtype_bit_counts[t];
}

void target_free(struct target *t)
{
	struct target_owner *o = (struct target_owner *)t;

	if (!t)
		return;
	for (size_t i = 0; i < o->nbases; i++)
		src_free(o->bases[i]);
	src_free(t->src);
	arena_free(t->arena);
	free(o);
}

/* Rows */

static bool is_f8(enum dtype t)
{
	return t == DT_FP8 || t == DT_BF8;
}

static bool operands_match(enum matrix_operands o, enum dtype a, enum dtype b)
{
	switch (o) {
	case MO_ANY:
		return true;
	case MO_ANY_F8:
		return is_f8(a) || is_f8(b);
	case MO_NO_F8:
		return !is_f8(a) && !is_f8(b);
	case MO_BOTH_F4:
		return a == DT_FP4 && b == DT_FP4;
	case MO_NOT_BOTH_F4:
		return a != DT_FP4 || b != DT_FP4;
	}
	return false;
}

const struct matrix_row *target_matrix(const struct target *t, const char *op, enum dtype a,
				       enum dtype b)
{
	for (size_t i = 0; i < t->nmatrix; i++) {
		const struct matrix_row *r = &t->matrix[i];

		if (!strcmp(r->op, op) && operands_match(r->operands, a, b))
			return r;
	}
	return NULL;
}

const struct lds_row *target_lds(const struct target *t, const char *op)
{
	for (size_t i = 0; i < t->nlds; i++)
		if (!strcmp(t->lds[i].op, op))
			return &t->lds[i];
	return NULL;
}

const struct vmem_row *target_vmem(const struct target *t, const char *op)
{
	for (size_t i = 0; i < t->nvmem; i++)
		if (!strcmp(t->vmem[i].op, op))
			return &t->vmem[i];
	return NULL;
}

const struct clock_row *target_clock(const struct target *t, const char *name)
{
	for (size_t i = 0; i < t->nclocks; i++)
		if (!strcmp(t->clocks[i].name, name))
			return &t->clocks[i];
	return NULL;
}

const struct lds_row *target_lds_widest(const struct target *t, bool write)
{
	const struct lds_row *best = NULL;

	for (size_t i = 0; i < t->nlds; i++) {
		const struct lds_row *r = &t->lds[i];

		if (r->write != write || r->transpose)
			continue;
		if (!best || r->width_bytes > best->width_bytes)
			best = r;
	}
	return best;
}

const struct vmem_row *target_vmem_widest(const struct target *t, enum vmem_kind kind)
{
	const struct vmem_row *best = NULL;

	for (size_t i = 0; i < t->nvmem; i++) {
		const struct vmem_row *r = &t->vmem[i];

		if (r->kind == kind && (!best || r->width_bytes > best->width_bytes))
			best = r;
	}
	return best;
}

/* Files */

/* Folders that hold models, in order of search; NULL ends. out has room for 4. */
static void model_folders(const char *out[4])
{
	size_t n = 0;
	const char *env = getenv("WPSIM_MODELS");

	if (env && *env)
		out[n++] = env;
#ifdef WPSIM_MODELS_SRC
	out[n++] = WPSIM_MODELS_SRC;
#endif
#ifdef WPSIM_DATADIR
	out[n++] = WPSIM_DATADIR "/models";
#endif
#if !defined(WPSIM_MODELS_SRC) && !defined(WPSIM_DATADIR)
	out[n++] = "models";
#endif
	out[n] = NULL;
}

/* A folder of models may hold anything; only a plain file is opened unasked. */
static bool readable_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, R_OK);
}

char *target_find_file(const char *file)
{
	const char *folders[4];

	model_folders(folders);
	for (size_t i = 0; folders[i]; i++) {
		char *path = xasprintf("%s/%s", folders[i], file);

		if (readable_file(path))
			return path;
		free(path);
	}
	return NULL;
}

static bool is_path(const char *s)
{
	size_t n = strlen(s);

	return strchr(s, '/') || (n > 4 && !strcmp(s + n - 4, ".xml"));
}

char *target_path(const char *name_or_path, const struct src *near)
{
	bool path = is_path(name_or_path);
	const char *ext = path ? "" : ".xml";
	const char *slash = near ? strrchr(near->path, '/') : NULL;
	char *s;

	if (near && name_or_path[0] != '/') {
		int len = slash ? (int)(slash - near->path) + 1 : 0;

		s = xasprintf("%.*s%s%s", len, near->path, name_or_path, ext);
		if (readable_file(s))
			return s;
		free(s);
	}
	if (path)
		return xstrdup(name_or_path);
	s = xasprintf("%s.xml", name_or_path);
	char *found = target_find_file(s);

	free(s);
	return found;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

size_t target_names(struct arena *a, const char ***names)
{
	const char *folders[4];
	const char **list = NULL;
	size_t n = 0, cap = 0, kept = 0;

	model_folders(folders);
	for (size_t i = 0; folders[i]; i++) {
		DIR *dir = opendir(folders[i]);
		struct dirent *e;

		while (dir && (e = readdir(dir))) {
			size_t len = strlen(e->d_name);

			if (len <= 4 || e->d_name[0] == '.' || strcmp(e->d_name + len - 4, ".xml"))
				continue;
			list = xgrow(list, n, &cap, sizeof(*list));
			list[n++] = arena_strndup(a, e->d_name, len - 4);
		}
		if (dir)
			closedir(dir);
	}
	if (n)
		qsort(list, n, sizeof(*list), by_name);
	*names = arena_alloc(a, n ? n : 1, sizeof(**names));
	for (size_t i = 0; i < n; i++)
		if (!kept || strcmp((*names)[kept - 1], list[i]))
			(*names)[kept++] = list[i];
	free(list);
	return kept;
}
