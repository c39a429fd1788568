#include "kernels.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "dl.h"
#include "numfmt.h"

static char dir[] = "/tmp/wpsim-kernels-XXXXXX";

const char *kernels_dir(void)
{
	return dir;
}

const char *kernels_top(void)
{
	const char *s = getenv("top_srcdir");

	return s ? s : ".";
}

int kernels_run(char *command)
{
	int rc = system(command);

	free(command);
	return rc;
}

bool kernels_have_clang(void)
{
	if (kernels_run(xstrdup("clang-22 --version >/dev/null 2>&1")) == 0)
		return true;
	print_message("# clang-22 is not there\n");
	return false;
}

struct src *kernels_load(const char *file)
{
	char *path = xasprintf("%s/%s", dir, file);
	struct diag d;
	struct src *s;

	diag_init(&d);
	s = src_load(path, &d);
	assert_non_null(s);
	diag_free(&d);
	free(path);
	return s;
}

static const char *host_compiler(void)
{
	const char *cc = getenv("CC");

	return cc && *cc ? cc : "gcc";
}

/* ---- the kernels ---- */

char *kernel_name[KERNELS_MAX];
size_t nkernels;

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list(void)
{
	char *path = xasprintf("%s/tests/compile", kernels_top());
	DIR *d = opendir(path);
	struct dirent *e;

	assert_non_null(d);
	while ((e = readdir(d)) && nkernels < KERNELS_MAX) {
		size_t n = strlen(e->d_name);

		if (n > 2 && !strcmp(e->d_name + n - 2, ".c"))
			kernel_name[nkernels++] = xasprintf("%.*s", (int)n - 2, e->d_name);
	}
	closedir(d);
	free(path);
	qsort(kernel_name, nkernels, sizeof(*kernel_name), by_name);
	assert_true(nkernels >= 32);
}

void kernels_open(void)
{
	list();
	assert_non_null(mkdtemp(dir));
}

void kernels_close(void)
{
	for (size_t i = 0; i < nkernels; i++)
		free(kernel_name[i]);
	nkernels = 0;
	kernels_run(xasprintf("rm -rf %s", dir));
}

void kernels_compile(const char *target, const char *level)
{
	struct strbuf b = { 0 };

	for (size_t i = 0; i < nkernels; i++)
		strbuf_add(&b, " %s/tests/compile/%s.c", kernels_top(), kernel_name[i]);
	assert_int_equal(kernels_run(xasprintf("f='%s'; cd %s && clang-22 -x c -std=c17 -target amdgcn-amd-amdhsa -nogpulib -ffreestanding "
					       "-ffp-contract=off -fwrapv -w -mcpu=%s %s -S $f", b.s, dir, target, level)), 0);
	strbuf_free(&b);
}

/* ---- the reference: all files in one library ---- */

void kernels_host_open(struct kernels_host *h, const char *target)
{
	char *source = xasprintf("%s/host.c", dir), *library = xasprintf("%s/host-%s.so", dir, target);
	const char *const open_names[] = { library, NULL };
	struct hw_error e;
	FILE *f = fopen(source, "w");

	assert_non_null(f);
	for (size_t i = 0; i < nkernels; i++)
		fprintf(f, "#define host host_%s\n#include \"%s.c\"\n#undef host\n", kernel_name[i], kernel_name[i]);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(kernels_run(xasprintf("%s -std=gnu17 -w -O1 -fwrapv -ffp-contract=off -fPIC -shared -DHOST -D__%s__ -I%s/tests/compile -o %s %s -lm",
				       host_compiler(), target, kernels_top(), library, source)), 0);
	h->library = dl_open(open_names, "the reference", &e);
	assert_non_null(h->library);
	for (size_t i = 0; i < nkernels; i++) {
		char *symbol = xasprintf("host_%s", kernel_name[i]);
		struct dl_symbol s = { symbol, 0, false };

		assert_int_equal(dl_symbols(h->library, "the reference", &s, 1, &h->fn[i], &e), 0);
		free(symbol);
	}
	free(source);
	free(library);
}

void kernels_host_close(struct kernels_host *h)
{
	dl_close(h->library);
}

/* ---- how a kernel is run ---- */

static unsigned type_bytes(const char *type)
{
	static const struct { const char *name; unsigned bytes; } types[] = {
		{ "f16", 2 }, { "bf16", 2 }, { "f32", 4 }, { "f64", 8 }, { "i8", 1 }, { "u8", 1 }, { "i16", 2 }, { "u16", 2 },
		{ "i32", 4 }, { "u32", 4 }, { "i64", 8 }, { "u64", 8 },
	};

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (!strcmp(types[i].name, type))
			return types[i].bytes;
	print_message("# no type '%s'\n", type);
	fail();
	return 0;
}

static void parse_three(const char *s, unsigned out[3])
{
	out[0] = out[1] = out[2] = 1;
	assert_true(sscanf(s, "%u,%u,%u", &out[0], &out[1], &out[2]) >= 1);
}

static void parse_arg(char *word, struct kernel_arg *a)
{
	static const char *const whats[] = { "", "in", "out", "io" };
	char *part = strtok(word, ":");

	*a = (struct kernel_arg){ .what = KARG_VALUE };
	for (unsigned i = 1; i < ARRAY_LEN(whats); i++)
		if (!strcmp(part, whats[i]))
			a->what = (enum kernel_what)i;
	if (a->what != KARG_VALUE)
		part = strtok(NULL, ":");
	assert_true(part && strlen(part) < sizeof(a->type));
	strcpy(a->type, part);
	a->bytes = type_bytes(part);
	part = strtok(NULL, ":");
	assert_true(part && strlen(part) < sizeof(a->value));
	if (a->what == KARG_VALUE) {
		strcpy(a->value, part);
		a->count = 1;
		return;
	}
	a->count = strtoul(part, NULL, 10);
	part = strtok(NULL, ":");
	if (part && a->what == KARG_OUT) {
		a->tolerance = strtod(part, NULL);
	} else if (part) {
		assert_int_equal(sscanf(part, "%ld..%ld", &a->lo, &a->hi), 2);
		a->filled = true;
		a->eighths = strstr(part, "/8") != NULL;
	}
}

static void parse_launch(const char *name, struct kernel_run *l)
{
	char *path = xasprintf("%s/tests/compile/%s.c", kernels_top(), name), line[1024], *word, *words[64];
	FILE *f = fopen(path, "r");
	size_t n = 0;

	*l = (struct kernel_run){ .name = name };
	assert_non_null(f);
	free(path);
	do
		assert_non_null(fgets(line, sizeof(line), f));
	while (strncmp(line, "// launch:", 10));
	fclose(f);
	for (word = strtok(line + 10, " \n"); word && n < ARRAY_LEN(words); word = strtok(NULL, " \n"))
		words[n++] = word;
	for (size_t i = 0; i < n; i++) {
		word = words[i];
		if (!strncmp(word, "grid=", 5)) {
			parse_three(word + 5, l->grid);
		} else if (!strncmp(word, "block=", 6)) {
			parse_three(word + 6, l->block);
		} else {
			assert_true(l->nargs < KERNEL_ARGS);
			parse_arg(strncmp(word, "args=", 5) ? word : word + 5, &l->arg[l->nargs++]);
		}
	}
	assert_true(l->grid[0] && l->block[0] && l->nargs);
}

/* ---- data ---- */

static uint64_t random64(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static void put_number(const char *type, void *to, double v)
{
	float f = (float)v;
	uint32_t bits;
	uint16_t h;

	if (!strcmp(type, "f64")) {
		memcpy(to, &v, 8);
	} else if (!strcmp(type, "f32")) {
		memcpy(to, &f, 4);
	} else if (!strcmp(type, "bf16")) { /* values that need no rounding */
		memcpy(&bits, &f, 4);
		h = (uint16_t)(bits >> 16);
		memcpy(to, &h, 2);
	} else {
		h = (uint16_t)numfmt_put(NF_F16, v);
		memcpy(to, &h, 2);
	}
}

static bool is_float(const char *type)
{
	return strchr(type, 'f') != NULL;
}

static void fill(const struct kernel_arg *a, uint8_t *to, uint64_t *seed)
{
	for (size_t i = 0; i < a->count; i++, to += a->bytes) {
		uint64_t r = random64(seed);
		long n = a->lo + (a->filled ? (long)(r % (uint64_t)(a->hi - a->lo + 1)) : 0);

		if (is_float(a->type))
			put_number(a->type, to, a->filled ? (double)n / (a->eighths ? 8 : 1) : (double)((int64_t)r >> 12) * 0x1p-50);
		else if (a->filled)
			memcpy(to, &n, a->bytes);
		else
			memcpy(to, &r, a->bytes);
	}
}

static void scalar(const struct kernel_arg *a, uint8_t *to)
{
	uint64_t n = strtoull(a->value, NULL, 0);

	if (is_float(a->type))
		put_number(a->type, to, strtod(a->value, NULL));
	else
		memcpy(to, &n, a->bytes);
}

static double get_number(const struct kernel_arg *a, const uint8_t *from)
{
	float f;
	double d;

	if (!strcmp(a->type, "f32")) {
		memcpy(&f, from, 4);
		return f;
	}
	memcpy(&d, from, 8);
	return d;
}

/* Elements that differ; the first ones are shown. */
static size_t compare(const char *name, size_t index, const struct kernel_arg *a, const uint8_t *seen, const uint8_t *want, bool quiet)
{
	size_t bad = 0;

	for (size_t i = 0; i < a->count; i++) {
		const uint8_t *s = seen + i * a->bytes, *w = want + i * a->bytes;
		uint64_t bits[2] = { 0, 0 };

		if (!memcmp(s, w, a->bytes))
			continue;
		if (a->tolerance > 0) {
			double x = get_number(a, s), y = get_number(a, w);

			if (fabs(x - y) <= a->tolerance * fmax(1, fabs(y)))
				continue;
		}
		memcpy(&bits[0], s, a->bytes);
		memcpy(&bits[1], w, a->bytes);
		if (bad++ < 3 && !quiet)
			print_message("# %s: argument %zu, element %zu: 0x%llx, expected 0x%llx\n", name, index, i,
				      (unsigned long long)bits[0], (unsigned long long)bits[1]);
	}
	return bad;
}

void kernel_prepare(struct kernel_run *r, const char *name)
{
	uint64_t seed = 0x9e3779b97f4a7c15ull;

	parse_launch(name, r);
	for (const char *s = name; *s; s++)
		seed = (seed ^ (uint64_t)*s) * 0x100000001b3ull | 1;
	for (size_t i = 0; i < r->nargs; i++) {
		const struct kernel_arg *a = &r->arg[i];
		size_t bytes = a->count * a->bytes;

		r->start[i] = xcalloc(bytes, 1);
		r->data[i] = xmalloc(bytes);
		r->want[i] = xmalloc(bytes);
		if (a->what == KARG_VALUE)
			scalar(a, r->start[i]);
		else if (a->what != KARG_OUT)
			fill(a, r->start[i], &seed);
		memcpy(r->want[i], r->start[i], bytes);
	}
}

void kernel_free(struct kernel_run *r)
{
	for (size_t i = 0; i < r->nargs; i++) {
		free(r->start[i]);
		free(r->data[i]);
		free(r->want[i]);
	}
}

void kernel_reference(struct kernel_run *r, kernel_host *host)
{
	host((void *const *)r->want, r->grid[0] * r->grid[1] * r->grid[2]);
}

int kernel_execute(struct kernel_run *r, const struct program *p, const struct listing_info *info, const struct exec_options *o,
		   uint64_t *insns, struct diag *d)
{
	struct exec_buffer buffer[KERNEL_ARGS] = { 0 };
	struct exec_launch l = { .buffers = buffer };
	struct exec_result result = { 0 };
	uint8_t kernarg[4096] = { 0 };
	size_t given = 0;
	int rc;

	memcpy(l.grid, r->grid, sizeof(l.grid));
	memcpy(l.block, r->block, sizeof(l.block));
	for (size_t i = 0; i < info->launch.nargs; i++) {
		const struct listing_arg *m = &info->launch.arg[i];
		const struct kernel_arg *a = &r->arg[given];

		if (m->kind == LARG_HIDDEN)
			continue;
		assert_true(given < r->nargs && m->offset + m->size <= sizeof(kernarg));
		memcpy(r->data[given], r->start[given], a->count * a->bytes);
		if (a->what == KARG_VALUE) {
			assert_int_equal(m->size, a->bytes);
			memcpy(kernarg + m->offset, r->data[given], a->bytes);
		} else {
			buffer[l.nbuffers] = (struct exec_buffer){ .data = r->data[given], .bytes = a->count * a->bytes,
								   .initialised = a->what != KARG_OUT, .writable = a->what != KARG_IN };
			l.patch[l.npatches].offset = m->offset;
			l.patch[l.npatches++].buffer = (unsigned)l.nbuffers++;
		}
		given++;
	}
	assert_int_equal(given, r->nargs);
	l.kernarg = kernarg;
	l.kernarg_bytes = info->launch.kernarg_bytes;
	rc = exec_run(p, info, &l, o, &result, d);
	*insns += result.insns;
	exec_result_free(&result);
	return rc;
}

size_t kernel_compare(const struct kernel_run *r, bool quiet)
{
	size_t bad = 0;

	for (size_t i = 0; i < r->nargs; i++)
		bad += compare(r->name, i, &r->arg[i], r->data[i], r->want[i], quiet);
	return bad;
}
