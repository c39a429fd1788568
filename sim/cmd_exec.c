/* wpsim exec: run a kernel on the CPU with the arguments of the command line. */
#include "cmd_exec.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "numfmt.h"
#include "src.h"

#define MAX_BUFFER_BYTES (INT64_C(1) << 36)

/* ---- arguments ---- */

struct given { /* arguments of the launch, in order */
	struct exec_buffer buffer[LISTING_MAX_ARGS];
	bool output[LISTING_MAX_ARGS];
	unsigned arg_of[LISTING_MAX_ARGS]; /* argument of each buffer */
	size_t nbuffers;
	uint8_t kernarg[8 * LISTING_MAX_ARGS + 4096];
	size_t bytes;
	struct exec_launch launch;
	uint64_t seed;
};

static void given_free(struct given *g)
{
	for (size_t i = 0; i < g->nbuffers; i++)
		free(g->buffer[i].data);
}

static int bad_arg(size_t i, const char *spec, const char *why)
{
	return cmd_error("exec: --arg %s (the %zu%s): %s", spec, i + 1, i == 0 ? "st" : i == 1 ? "nd" : i == 2 ? "rd" : "th", why);
}

static uint64_t next_random(uint64_t *s)
{
	uint64_t z = *s += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static const struct {
	const char *word;
	enum numfmt format;
	bool real;
} element_types[] = {
	{ "f64", NF_F64, true }, { "f32", NF_F32, true }, { "f16", NF_F16, true }, { "bf16", NF_BF16, true },
	{ "i8", NF_I8, false }, { "u8", NF_U8, false }, { "i32", NF_I32, false }, { "u32", NF_U32, false },
};

/* Numbers in [-1, 1), or any bits of a whole number. */
static void fill_random(void *data, enum numfmt f, bool real, uint64_t count, uint64_t *seed)
{
	for (uint64_t i = 0; i < count; i++) {
		uint64_t x = next_random(seed);

		if (real)
			numfmt_store(f, data, i, (double)(int64_t)x * 0x1p-63);
		else if (numfmt_bits(f) == 8)
			((uint8_t *)data)[i] = (uint8_t)x;
		else
			((uint32_t *)data)[i] = (uint32_t)x;
	}
}

static struct exec_buffer *add_buffer(struct given *g, size_t arg, uint64_t bytes, bool initialised)
{
	struct exec_buffer *b = &g->buffer[g->nbuffers];

	g->arg_of[g->nbuffers++] = (unsigned)arg;
	*b = (struct exec_buffer){ .data = xcalloc(bytes ? bytes : 1, 1), .bytes = bytes, .initialised = initialised,
				   .writable = true };
	return b;
}

/* "rand-f16:COUNT"; 1: done, 0: spec is no such thing, -1. */
static int random_buffer(struct given *g, size_t i, const char *spec, const char *colon)
{
	int64_t n;

	if (strncmp(spec, "rand-", 5) != 0)
		return 0;
	for (size_t k = 0; k < ARRAY_LEN(element_types); k++) {
		size_t len = strlen(element_types[k].word);
		unsigned bytes = numfmt_bits(element_types[k].format) / 8;
		struct exec_buffer *b;

		if ((size_t)(colon - spec - 5) != len || strncmp(spec + 5, element_types[k].word, len) != 0)
			continue;
		if (parse_int64(colon + 1, 1, MAX_BUFFER_BYTES / bytes, &n) != 0) {
			bad_arg(i, spec, "a number of elements must follow");
			return -1;
		}
		b = add_buffer(g, i, (uint64_t)n * bytes, true);
		fill_random(b->data, element_types[k].format, element_types[k].real, (uint64_t)n, &g->seed);
		return 1;
	}
	bad_arg(i, spec, "random numbers can be f64, f32, f16, bf16, i32, u32, i8 or u8");
	return -1;
}

static int file_buffer(struct given *g, size_t i, const char *spec, const char *path)
{
	struct exec_buffer *b;
	FILE *f = fopen(path, "rb");
	long n;

	if (!f)
		return bad_arg(i, spec, strerror(errno)), -1;
	if (fseek(f, 0, SEEK_END) != 0 || (n = ftell(f)) < 0 || fseek(f, 0, SEEK_SET) != 0 || n > MAX_BUFFER_BYTES) {
		fclose(f);
		return bad_arg(i, spec, "the file can't be read"), -1;
	}
	b = add_buffer(g, i, (uint64_t)n, true);
	if (fread(b->data, 1, (size_t)n, f) != (size_t)n) {
		fclose(f);
		return bad_arg(i, spec, "the file can't be read"), -1;
	}
	fclose(f);
	return 1;
}

/* A buffer: 1; no buffer: 0; -1 after a message. */
static int read_buffer(struct given *g, size_t i, const char *spec, const char *colon)
{
	static const struct { const char *word; bool initialised, output; } words[] = {
		{ "buf:", false, false }, { "out:", false, true }, { "zero:", true, false },
	};
	int64_t n;
	int rc = random_buffer(g, i, spec, colon);

	for (size_t k = 0; k < ARRAY_LEN(words) && rc == 0; k++) {
		if (strncmp(spec, words[k].word, strlen(words[k].word)) != 0)
			continue;
		if (parse_int64(colon + 1, 1, MAX_BUFFER_BYTES, &n) != 0) {
			if (k == 0)
				return file_buffer(g, i, spec, colon + 1);
			return bad_arg(i, spec, "a number of bytes must follow"), -1;
		}
		g->output[g->nbuffers] = words[k].output;
		add_buffer(g, i, (uint64_t)n, words[k].initialised);
		rc = 1;
	}
	return rc;
}

/* A number: its bytes, 0 and a message when it is none. */
static unsigned read_number(size_t i, const char *spec, const char *colon, uint64_t *v)
{
	static const struct { const char *word; unsigned bytes; int64_t lo, hi; } ints[] = {
		{ "i8:", 1, INT8_MIN, INT8_MAX }, { "u8:", 1, 0, UINT8_MAX }, { "i16:", 2, INT16_MIN, INT16_MAX },
		{ "u16:", 2, 0, UINT16_MAX }, { "i32:", 4, INT32_MIN, INT32_MAX }, { "u32:", 4, 0, UINT32_MAX },
		{ "i64:", 8, INT64_MIN, INT64_MAX }, { "u64:", 8, 0, INT64_MAX },
	};
	int64_t n;
	double d;

	for (size_t k = 0; k < ARRAY_LEN(ints); k++) {
		if (strncmp(spec, ints[k].word, strlen(ints[k].word)) != 0)
			continue;
		if (parse_int64(colon + 1, ints[k].lo, ints[k].hi, &n) != 0) {
			bad_arg(i, spec, "the number is none, or out of the type's range");
			return 0;
		}
		*v = (uint64_t)n;
		return ints[k].bytes;
	}
	for (size_t k = 0; k < ARRAY_LEN(element_types); k++) {
		size_t len = strlen(element_types[k].word);

		if (!element_types[k].real || (size_t)(colon - spec) != len || strncmp(spec, element_types[k].word, len) != 0)
			continue;
		if (parse_double(colon + 1, &d) != 0) {
			bad_arg(i, spec, "this is no number");
			return 0;
		}
		*v = numfmt_put(element_types[k].format, d);
		return numfmt_bits(element_types[k].format) / 8;
	}
	bad_arg(i, spec, "TYPE:VALUE is wanted, with one of i32, u32, i64, u64, f32, f64, f16, buf, out, zero, rand-f16, rand-f32");
	return 0;
}

/* Argument i goes to its place. large: bytes of it, pointers 8. */
static int place_arg(struct given *g, const struct listing_launch *k, size_t i, const char *spec, uint64_t v, unsigned bytes,
		     bool pointer)
{
	const struct listing_arg *a = NULL;
	size_t n = 0, offset;

	for (size_t j = 0; j < k->nargs && j < LISTING_MAX_ARGS; j++)
		if (k->arg[j].kind != LARG_HIDDEN && n++ == i)
			a = &k->arg[j];
	if (k->nargs && !a)
		return bad_arg(i, spec, "the kernel has fewer arguments");
	if (a && a->size != bytes)
		return bad_arg(i, spec, a->size == 8 ? "the kernel's argument has 8 bytes" :
			       a->size == 4 ? "the kernel's argument has 4 bytes" : "the kernel's argument has another size");
	if (a && a->kind == LARG_POINTER && !pointer)
		return bad_arg(i, spec, "the kernel wants a buffer here: buf, out, zero or rand-...");
	offset = a ? a->offset : (g->bytes + bytes - 1) / bytes * bytes;
	if (offset + bytes > sizeof(g->kernarg))
		return bad_arg(i, spec, "the arguments are too long");
	memcpy(g->kernarg + offset, &v, bytes);
	if (offset + bytes > g->bytes)
		g->bytes = offset + bytes;
	if (pointer) {
		g->launch.patch[g->launch.npatches].offset = (unsigned)offset;
		g->launch.patch[g->launch.npatches++].buffer = (unsigned)g->nbuffers - 1;
	}
	return 0;
}

static int read_args(struct given *g, const struct cmd_options *o, const struct listing_info *info)
{
	size_t want = 0;

	for (size_t j = 0; j < info->launch.nargs && j < LISTING_MAX_ARGS; j++)
		want += info->launch.arg[j].kind != LARG_HIDDEN;
	if (o->nargs < want || o->nargs > LISTING_MAX_ARGS)
		return cmd_error("exec: the kernel takes %zu argument%s, and %zu --arg %s given", want, want == 1 ? "" : "s", o->nargs,
				 o->nargs == 1 ? "is" : "are");
	for (size_t i = 0; i < o->nargs; i++) {
		const char *spec = o->args[i], *colon = strchr(spec, ':');
		uint64_t v = 0;
		unsigned bytes = 8;
		int rc;

		if (!colon)
			return bad_arg(i, spec, "TYPE:VALUE is wanted");
		rc = read_buffer(g, i, spec, colon);
		if (rc < 0)
			return STATUS_BAD_INPUT;
		if (rc == 0 && !(bytes = read_number(i, spec, colon, &v)))
			return STATUS_BAD_INPUT;
		if (place_arg(g, &info->launch, i, spec, v, bytes, rc > 0))
			return STATUS_BAD_INPUT;
	}
	return 0;
}

/* ---- results ---- */

uint64_t exec_checksum(const void *data, uint64_t bytes)
{
	const uint8_t *s = data;
	uint64_t h = UINT64_C(14695981039346656037);

	for (uint64_t i = 0; i < bytes; i++)
		h = (h ^ s[i]) * UINT64_C(1099511628211);
	return h;
}

void exec_print_counts(const struct program *p, const struct exec_result *r, FILE *f)
{
	fprintf(f, "  %6s  %12s  %12s  %s\n", "line", "executed", "LDS clk", "instruction");
	for (size_t i = 0; i < p->ninsns; i++) {
		const struct exec_site *s = &r->site[i];
		struct loc l = p->insns[i].loc;

		if (!s->executed)
			continue;
		fprintf(f, "  %6u  %12" PRIu64, loc_line(l), s->executed);
		if (s->worst_lds_clk)
			fprintf(f, "  %12.1f", (double)s->lds_clk / (double)s->executed);
		else
			fprintf(f, "  %12s", "");
		if (p->insns[i].flags & INSN_IMPLIED)
			fprintf(f, "  %s\n", p->insns[i].op);
		else
			fprintf(f, "  %.*s\n", (int)(l.end - l.begin), l.src->text + l.begin);
	}
}

static int dump_one(const struct given *g, const struct listing_info *info, const char *spec)
{
	const char *eq = strchr(spec, '=');
	size_t n = eq ? (size_t)(eq - spec) : 0, explicit_arg = 0;
	char *name = xasprintf("%.*s", (int)n, spec);
	int64_t number = 0;
	FILE *f;
	int rc = 0;

	if (n && parse_int64(name, 1, LISTING_MAX_ARGS, &number) != 0)
		for (size_t j = 0; j < info->launch.nargs && j < LISTING_MAX_ARGS; j++) {
			if (info->launch.arg[j].kind == LARG_HIDDEN)
				continue;
			explicit_arg++;
			if (!strcmp(info->launch.arg[j].name, name))
				number = (int64_t)explicit_arg;
		}
	free(name);
	for (size_t b = 0; b < g->nbuffers; b++) {
		if (!number || g->arg_of[b] + 1 != (uint64_t)number)
			continue;
		f = fopen(eq + 1, "wb");
		if (!f || fwrite(g->buffer[b].data, 1, g->buffer[b].bytes, f) != g->buffer[b].bytes)
			rc = cmd_error("exec: %s: %s", eq + 1, strerror(errno));
		if (f && fclose(f) != 0)
			rc = cmd_error("exec: %s: %s", eq + 1, strerror(errno));
		return rc;
	}
	return cmd_error("exec: --dump %s: ARGUMENT=FILE is wanted, the argument by its number or name, and a buffer", spec);
}

static void print_result(const struct run *r, const struct given *g, const struct exec_result *res, FILE *f)
{
	const struct exec_launch *l = &g->launch;
	unsigned threads = l->block[0] * l->block[1] * l->block[2], lanes = (unsigned)r->target->v.wave_size;
	uint64_t groups = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];

	fprintf(f, "%s for %s: %" PRIu64 " workgroup%s of %u threads (%u wave%s), %" PRIu64 " wave instructions executed\n",
		r->listing_info.kernel[0] ? r->listing_info.kernel : "snippet", r->target->name, groups, groups == 1 ? "" : "s", threads,
		(threads + lanes - 1) / lanes, threads > lanes ? "s" : "", res->insns);
	for (size_t b = 0; b < g->nbuffers; b++)
		fprintf(f, "  argument %u: %" PRIu64 " bytes%s, checksum %016" PRIx64 "\n", g->arg_of[b] + 1, g->buffer[b].bytes,
			g->output[b] ? " of output" : "", exec_checksum(g->buffer[b].data, g->buffer[b].bytes));
}

/* ---- options ---- */

static void on_interrupt(int sig)
{
	(void)sig;
	exec_interrupt();
}

struct exec_options exec_options_of(const struct cmd_options *o)
{
	struct sigaction act = { .sa_handler = on_interrupt, .sa_flags = SA_RESETHAND };

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	return (struct exec_options){ .order = o->random_order ? EXEC_RANDOM : EXEC_ROUND_ROBIN, .seed = o->seed,
				      .threads = o->threads };
}

/* The launch that the options and the text ask for. */
static void set_sizes(struct exec_launch *l, const struct cmd_options *o, const struct listing_info *info)
{
	for (unsigned i = 0; i < 3; i++) {
		l->grid[i] = o->grid[i] ? o->grid[i] : 1;
		l->cluster[i] = info->launch.cluster[i];
		l->block[i] = o->block[i] ? o->block[i] : info->launch.reqd_size[i] ? info->launch.reqd_size[i] : 1;
	}
	if (!o->block[0] && !info->launch.reqd_size[0])
		l->block[0] = info->workgroup_threads && info->workgroup_threads < 1024 ? info->workgroup_threads : 64;
}

struct exec_launch *exec_given_new(const struct cmd_options *o, const struct listing_info *info, int *status)
{
	struct given *g = xcalloc(1, sizeof(*g));

	g->seed = o->seed;
	set_sizes(&g->launch, o, info);
	*status = read_args(g, o, info);
	if (*status) {
		exec_given_free(&g->launch);
		return NULL;
	}
	g->launch.buffers = g->buffer;
	g->launch.nbuffers = g->nbuffers;
	g->launch.kernarg = g->kernarg;
	g->launch.kernarg_bytes = g->bytes;
	return &g->launch;
}

void exec_given_free(struct exec_launch *l)
{
	struct given *g = l ? (struct given *)(void *)((char *)l - offsetof(struct given, launch)) : NULL;

	if (!g)
		return;
	given_free(g);
	free(g);
}

/* A status; findings are in r->diag. */
static int exec_listing(struct run *r, const struct cmd_options *o, FILE *f)
{
	struct exec_options eo = exec_options_of(o);
	struct exec_result res = { 0 };
	int status = 0;
	struct exec_launch *l = exec_given_new(o, &r->listing_info, &status);
	const struct given *g;

	if (!l)
		return status;
	g = (const struct given *)(const void *)((const char *)l - offsetof(struct given, launch));
	if (exec_run(r->program, &r->listing_info, l, &eo, &res, &r->diag) == 0)
		print_result(r, g, &res, f);
	if (o->counts && res.site)
		exec_print_counts(r->program, &res, f);
	for (size_t i = 0; i < o->ndumps && !status; i++)
		status = dump_one(g, &r->listing_info, o->dumps[i]);
	exec_result_free(&res);
	exec_given_free(l);
	return status;
}

int cmd_exec(const struct cmd_options *o)
{
	struct run r = { .path = o->words[0] };
	struct output out;
	struct src *s;
	int status, found;

	if (o->nwords != 1)
		return cmd_error("exec: one kernel at a time");
	status = output_open(&out, o->output);
	if (status)
		return status;
	diag_init(&r.diag);
	s = run_load(&r, o);
	if (s && (listing_given(s) || r.code_object)) {
		run_listing(&r, o, s);
		if (r.program)
			status = exec_listing(&r, o, out.f);
	} else if (s) {
		run_lower_source(&r, o, s);
		if (r.program)
			exec_schedule(&r, o, out.f);
	}
	run_print_findings(&r, o, out.f);
	found = run_status(&r, o);
	status = found > status ? found : status;
	run_free(&r);
	if (status >= STATUS_BAD_INPUT) {
		output_discard(&out);
		return status;
	}
	found = output_commit(&out);
	return found > status ? found : status;
}
