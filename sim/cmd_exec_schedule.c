/* wpsim exec of a schedule: the emitted kernel's text is read, executed and compared with a reference product. */
#include "cmd_exec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emit.h"
#include "src.h"
#include "verify.h"

#define MAX_TOTAL_BYTES (UINT64_C(1) << 34)
#define CHECKED_PRODUCTS 2e9 /* multiplications of the reference, about */

struct job {
	struct kernel_text k;
	struct listing_info info;
	struct program *text; /* what the emitted text parses to */
	struct exec_buffer buffer[EMIT_MAX_ARGS];
	uint64_t kernarg[EMIT_MAX_ARGS];
	struct exec_launch launch;
	struct exec_result res;
};

static void job_free(struct job *j)
{
	for (size_t i = 0; i < j->k.nargs; i++)
		free(j->buffer[i].data);
	exec_result_free(&j->res);
	program_free(j->text);
	kernel_text_free(&j->k);
	free(j);
}

/* ---- the kernel and its data ---- */

static int read_kernel(struct run *r, struct job *j)
{
	struct listing_options lo = { .keep_operands = true };
	struct src *s;
	char *name;

	if (strncmp(r->program->target->name, "gfx", 3) != 0) {
		diag_add(&r->diag, (struct loc){ 0 }, DIAG_TARGET, "kernels of %s can't be executed on the CPU: AMD targets can",
			 r->program->target->name);
		return -1;
	}
	if (emit_kernel(r->program, &(struct emit_options){ 0 }, &j->k, &r->diag) < 0)
		return -1;
	name = xasprintf("%s (emitted)", r->path);
	s = src_from_text(name, j->k.text, j->k.len);
	free(name);
	diag_keep(&r->diag, s);
	j->text = listing_parse(s, r->target, &lo, &j->info, &r->diag);
	return j->text ? 0 : -1;
}

static char fill_letter(enum emit_arg_kind kind)
{
	switch (kind) {
	case EARG_A: return 'A';
	case EARG_B: return 'B';
	case EARG_SA: return 'S';
	case EARG_SB: return 'T';
	case EARG_C: case EARG_GLOBAL: case EARG_STAMPS: break;
	}
	return 0;
}

static int make_data(struct run *r, struct job *j, uint64_t seed)
{
	uint64_t total = 0;

	for (size_t i = 0; i < j->k.nargs; i++)
		total += j->k.arg[i].bytes > MAX_TOTAL_BYTES ? MAX_TOTAL_BYTES : j->k.arg[i].bytes;
	if (total > MAX_TOTAL_BYTES) {
		diag_fix(diag_add(&r->diag, r->program->insns[0].loc, DIAG_LIMIT, "the matrices take more than %llu GiB",
				  (unsigned long long)(MAX_TOTAL_BYTES >> 30)), "choose smaller ones with --size");
		return -1;
	}
	for (size_t i = 0; i < j->k.nargs; i++) {
		const struct emit_arg *a = &j->k.arg[i];
		struct exec_buffer *b = &j->buffer[i];
		char letter = fill_letter(a->kind);

		*b = (struct exec_buffer){ .data = xcalloc(a->bytes ? a->bytes : 1, 1), .bytes = a->bytes,
					   .initialised = !a->output, .writable = a->output || !letter };
		if (letter)
			verify_fill(&j->k.layout, letter, seed, b->data);
		else if (a->kind == EARG_C)
			verify_poison(b->data, a->bytes);
		j->launch.patch[i].offset = (unsigned)(8 * i);
		j->launch.patch[i].buffer = (unsigned)i;
	}
	j->launch.npatches = j->launch.nbuffers = j->k.nargs;
	j->launch.buffers = j->buffer;
	j->launch.kernarg = j->kernarg;
	j->launch.kernarg_bytes = 8 * j->k.nargs;
	j->launch.dynamic_lds_bytes = 0;
	memcpy(j->launch.grid, j->k.grid, sizeof(j->k.grid));
	memcpy(j->launch.block, j->k.block, sizeof(j->k.block));
	memcpy(j->launch.cluster, j->k.cluster, sizeof(j->k.cluster));
	return 0;
}

/* ---- the result ---- */

static const void *data_of(const struct job *j, enum emit_arg_kind kind)
{
	for (size_t i = 0; i < j->k.nargs; i++)
		if (j->k.arg[i].kind == kind)
			return j->buffer[i].data;
	return NULL;
}

static void compare(struct run *r, const struct job *j, bool all, FILE *f)
{
	const struct verify_layout *l = &j->k.layout;
	const struct gemm_shape *g = r->program->gemm;
	int64_t rows = all ? l->m : (int64_t)g->tile_m * j->k.cluster[1], cols = all ? l->n : (int64_t)g->tile_n * j->k.cluster[0];
	double products;
	struct verify_result v;
	struct finding *x;
	unsigned every;

	rows = rows > l->m ? l->m : rows;
	cols = cols > l->n ? l->n : cols;
	products = (double)rows * (double)cols * (double)l->k;
	every = products > CHECKED_PRODUCTS ? (unsigned)(products / CHECKED_PRODUCTS) + 1 : 1;
	verify_product(l, data_of(j, EARG_A), data_of(j, EARG_B), data_of(j, EARG_SA), data_of(j, EARG_SB), data_of(j, EARG_C), 0, rows, 0,
		       cols, every, &v);
	fprintf(f, "  result: %" PRIu64 " of %" PRId64 " elements compared with the reference product, %" PRIu64 " wrong\n"
		"  largest error %.3g, relative to the row's products %.3g (allowed: %.3g)\n",
		v.checked, rows * cols, v.wrong, v.max_abs, v.max_rel, v.tolerance);
	if (!v.wrong)
		return;
	x = diag_add(&r->diag, r->program->nstages ? r->program->stages[0].loc : r->program->insns[0].loc, DIAG_WRONG,
		     "%" PRIu64 " of %" PRIu64 " elements differ from the reference; the worst is C[%" PRId64 "][%" PRId64 "]: %g instead of %g",
		     v.wrong, v.checked, v.row, v.col, v.got, v.want);
	diag_fix(x, "wpsim check names accesses that see the wrong data; --order random with several seeds shows races");
}

/* ---- instructions of each stage of the loop ---- */

struct stage_count {
	uint64_t executed, lowered;
};

/* Does the line at s say "; stage NAME" for a stage of the program? Its index, or -1. */
static int named_stage(const struct program *p, const char *s, const char *end)
{
	static const char word[] = "; stage ";
	size_t n;

	while (s < end && (*s == '\t' || *s == ' '))
		s++;
	n = (size_t)(end - s);
	if (n < sizeof(word) || memcmp(s, word, sizeof(word) - 1) != 0)
		return -1;
	s += sizeof(word) - 1;
	n = (size_t)(end - s);
	for (size_t i = 0; i < p->nstages; i++)
		if (strlen(p->stages[i].name) == n && !memcmp(p->stages[i].name, s, n))
			return (int)i;
	return -1;
}

/* Walk the text between instructions for the marks of stages and loops. */
static void count_text(const struct program *p, const struct job *j, struct stage_count *count)
{
	const struct src *s = j->text->insns[0].loc.src;
	int stage = -1;
	bool in_loop = false;
	uint32_t at = 0, loop_begin = 0;

	for (uint32_t i = 0; i < j->text->ninsns; i++) {
		const struct insn *in = &j->text->insns[i];

		while (at < in->loc.begin) {
			const char *line = s->text + at, *nl = memchr(line, '\n', in->loc.begin - at);
			const char *end = nl ? nl : s->text + in->loc.begin;
			int named = named_stage(p, line, end);

			if (named >= 0)
				stage = named;
			if (end - line > 6 && !memcmp(line, ".Lloop", 6)) {
				in_loop = true;
				loop_begin = i;
			}
			at = (uint32_t)(end - s->text) + 1;
		}
		at = at > in->loc.end ? at : in->loc.end;
		if (in_loop && stage >= 0)
			count[stage].executed += j->res.site[i].executed;
		if (in_loop && in->cls == OPC_BRANCH && in->target == (int32_t)loop_begin)
			in_loop = false;
	}
}

static unsigned waves_of(const struct program *p, const struct insn *in)
{
	unsigned each = p->waves / p->groups, n = 0;

	for (unsigned w = 0; w < p->waves; w++)
		n += (in->groups >> (w / each) & 1) && (!in->waves || (in->waves >> w & 1));
	return n;
}

static void count_program(const struct program *p, uint64_t workgroups, struct stage_count *count)
{
	for (size_t l = 0; l < p->nloops; l++)
		for (uint32_t i = p->loops[l].begin; i < p->loops[l].end; i++) {
			const struct insn *in = &p->insns[i];

			if (in->stage >= 0 && !(in->flags & INSN_EDGE_ONLY))
				count[in->stage].lowered += workgroups * p->loops[l].trips * in->repeat * waves_of(p, in);
		}
}

static void print_stages(const struct run *r, const struct job *j, uint64_t workgroups, FILE *f)
{
	const struct program *p = r->program;
	struct stage_count *count = xcalloc(p->nstages + 1, sizeof(*count));
	bool head = false;

	count_text(p, j, count);
	count_program(p, workgroups, count);
	for (size_t i = 0; i < p->nstages; i++) {
		if (!count[i].lowered)
			continue;
		if (!head)
			fprintf(f, "  %-20s  %14s  %14s\n", "stage of the loop", "executed", "of the program");
		head = true;
		fprintf(f, "  %-20s  %14" PRIu64 "  %14" PRIu64 "\n", p->stages[i].name, count[i].executed, count[i].lowered);
	}
	free(count);
}

void exec_schedule(struct run *r, const struct cmd_options *o, FILE *f)
{
	struct job *j = xcalloc(1, sizeof(*j));
	struct exec_options eo = exec_options_of(o);
	uint64_t groups, done;

	if (read_kernel(r, j) == 0 && make_data(r, j, o->seed) == 0) {
		eo.only = !o->all_workgroups;
		groups = (uint64_t)j->k.grid[0] * j->k.grid[1] * j->k.grid[2];
		done = eo.only ? (uint64_t)j->k.cluster[0] * j->k.cluster[1] * j->k.cluster[2] : groups;
		if (exec_run(j->text, &j->info, &j->launch, &eo, &j->res, &r->diag) == 0) {
			fprintf(f, "%s for %s: %" PRIu64 " of %" PRIu64 " workgroup%s, %" PRIu64 " wave instructions executed\n", j->k.kernel,
				j->k.target, done, groups, groups == 1 ? "" : "s", j->res.insns);
			if (j->k.verifiable && r->program->gemm)
				compare(r, j, !eo.only, f);
			print_stages(r, j, done, f);
		}
		if (o->counts && j->res.site)
			exec_print_counts(j->text, &j->res, f);
	}
	job_free(j);
}
