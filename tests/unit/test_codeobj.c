/*
 * Code objects: what clang writes for the kernels of tests/compile is the same program as its assembler text;
 * the text made of a code object assembles to the same bytes; damaged files are refused and nothing more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "codeobj.h"

static char dir[] = "/tmp/wpsim-codeobj-XXXXXX";
static const char *const targets[] = { "gfx942", "gfx950", "gfx1250" };

static const char *top(void)
{
	const char *s = getenv("top_srcdir");

	return s ? s : ".";
}

static int run(char *command)
{
	int rc = system(command);

	free(command);
	return rc;
}

static bool have_tools(void)
{
	static int have = -1;

	if (have < 0)
		have = codeobj_available() && run(xstrdup("{ clang-22 --version && ld.lld-22 --version && llvm-objcopy-22 --version; } "
							  ">/dev/null 2>&1")) == 0;
	if (!have)
		print_message("# LLVM 22 is not built in, or clang-22, lld-22 or llvm-objcopy-22 is not there\n");
	return have;
}

static int setup(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	return run(xasprintf("rm -rf %s", dir));
}

static const char clang[] = "clang-22 -target amdgcn-amd-amdhsa";

/* k.s, k.o and k.co of a kernel's source. */
static void compile(const char *target, const char *name)
{
	assert_int_equal(run(xasprintf("cd %s && %s -x c -std=c17 -nogpulib -ffreestanding -ffp-contract=off -O2 -mcpu=%s -S -o k.s "
				       "%s/tests/compile/%s.c && %s -x assembler -mcpu=%s -c -o k.o k.s && ld.lld-22 -shared -o k.co k.o",
				       dir, clang, target, top(), name, clang, target)), 0);
}

/* ---- a file of dir as a listing and as a program ---- */

struct read {
	struct src *file, *text;
	struct program *p;
	struct listing_info info;
	struct diag d;
	char target[32];
	bool no_backend;
};

static struct target *loaded[ARRAY_LEN(targets)];

static const struct target *target_of(const char *name)
{
	struct diag d;
	size_t i = 0;

	while (strcmp(targets[i], name))
		i++;
	if (!loaded[i]) {
		diag_init(&d);
		loaded[i] = target_load(name, NULL, (struct loc){ 0 }, &d);
		assert_non_null(loaded[i]);
		diag_free(&d);
	}
	return loaded[i];
}

static void convert(struct read *x, const void *bytes, size_t n, const struct codeobj_options *o)
{
	memset(x, 0, sizeof(*x));
	diag_init(&x->d);
	x->file = src_from_text("k.co", bytes, n);
	x->text = codeobj_read(x->file, o, x->target, &x->no_backend, &x->d);
	assert_true(!x->text == (x->d.errors > 0));
}

static void parse(struct read *x, const char *target, const char *kernel)
{
	struct listing_options o = { .kernel = kernel, .keep_operands = true };

	x->p = listing_parse(x->text, target_of(target), &o, &x->info, &x->d);
	diag_print(&x->d, stdout, false);
	assert_non_null(x->p);
	assert_int_equal(x->d.n, 0);
}

static void done(struct read *x)
{
	program_free(x->p);
	diag_free(&x->d);
	src_free(x->text);
	src_free(x->file);
}

static struct src *load(const char *file)
{
	char *path = xasprintf("%s/%s", dir, file);
	struct diag d;
	struct src *s;

	diag_init(&d);
	s = src_load_bytes(path, &d);
	assert_non_null(s);
	diag_free(&d);
	free(path);
	return s;
}

static void read_object(struct read *x, const char *file, const char *target, const char *kernel)
{
	struct codeobj_options o = { .kernel = kernel };
	struct src *s = load(file);

	assert_true(codeobj_likely(s->text, s->len));
	convert(x, s->text, s->len, &o);
	src_free(s);
	diag_print(&x->d, stdout, false);
	assert_non_null(x->text);
	assert_string_equal(x->target, target);
	parse(x, target, kernel);
}

static void read_text(struct read *x, const char *file, const char *target, const char *kernel)
{
	memset(x, 0, sizeof(*x));
	diag_init(&x->d);
	x->text = load(file);
	parse(x, target, kernel);
}

/* ---- the same program ---- */

static void same_operands(const struct operand_list *a, const struct operand_list *b)
{
	for (; a && b; a = a->next, b = b->next) {
		assert_ptr_equal(a->desc, b->desc);
		assert_int_equal(a->n, b->n);
		assert_int_equal(a->returns, b->returns);
		for (unsigned i = 0; i < a->n; i++) {
			const struct operand *x = &a->o[i], *y = &b->o[i];

			if (x->kind == OPERAND_SYMBOL)
				continue;
			assert_int_equal(x->kind, y->kind);
			assert_int_equal(x->reg, y->reg);
			assert_int_equal(x->n, y->n);
			if (x->kind == OPERAND_VALUE && !x->real && !y->real)
				assert_int_equal((uint32_t)x->value, (uint32_t)y->value);
		}
	}
	assert_true(!a && !b);
}

static void same_program(const struct read *a, const struct read *b)
{
	assert_int_equal(a->p->ninsns, b->p->ninsns);
	for (size_t i = 0; i < a->p->ninsns; i++) {
		const struct insn *x = &a->p->insns[i], *y = &b->p->insns[i];

		assert_string_equal(x->op, y->op);
		assert_int_equal(x->cls, y->cls);
		assert_int_equal(x->size, y->size);
		assert_int_equal(x->target, y->target);
		assert_int_equal(x->nspans, y->nspans);
		assert_memory_equal(x->span, y->span, x->nspans * sizeof(x->span[0]));
		assert_int_equal(x->nwait, y->nwait);
		for (unsigned k = 0; k < x->nwait; k++)
			assert_true(x->wait[k].counter == y->wait[k].counter && x->wait[k].value == y->wait[k].value);
		if (x->cls != OPC_BRANCH)
			same_operands(x->ops, y->ops);
	}
}

static void same_info(const struct listing_info *a, const struct listing_info *b)
{
	const struct listing_launch *x = &a->launch, *y = &b->launch;

	assert_string_equal(a->kernel, b->kernel);
	assert_int_equal(a->vgpr, b->vgpr);
	assert_int_equal(a->agpr, b->agpr);
	assert_int_equal(a->sgpr, b->sgpr);
	assert_int_equal(a->lds_bytes, b->lds_bytes);
	assert_int_equal(a->scratch_bytes, b->scratch_bytes);
	assert_int_equal(a->vgpr_spills, b->vgpr_spills);
	assert_int_equal(a->workgroup_threads, b->workgroup_threads);
	assert_int_equal(x->described, y->described);
	assert_int_equal(x->kernarg_bytes, y->kernarg_bytes);
	assert_int_equal(x->kernarg_ptr, y->kernarg_ptr);
	assert_int_equal(x->dispatch_ptr, y->dispatch_ptr);
	assert_int_equal(x->preload_length, y->preload_length);
	assert_int_equal(x->preload_offset, y->preload_offset);
	assert_memory_equal(x->workgroup_id, y->workgroup_id, sizeof(x->workgroup_id));
	assert_int_equal(x->workitem_dims, y->workitem_dims);
	assert_int_equal(x->user_sgprs, y->user_sgprs);
	assert_int_equal(x->float_mode, y->float_mode);
	assert_int_equal(x->nargs, y->nargs);
	for (size_t i = 0; i < x->nargs; i++) {
		assert_string_equal(x->arg[i].name, y->arg[i].name);
		assert_int_equal(x->arg[i].kind, y->arg[i].kind);
		assert_int_equal(x->arg[i].offset, y->arg[i].offset);
		assert_int_equal(x->arg[i].size, y->arg[i].size);
	}
}

static const char *const sources[] = { "gemm", "softmax", "reduce", "integer", "convert" };

/* Sections that an assembler makes of the text are those of the object. */
static void assemble_again(const struct read *x, const char *target)
{
	static const char *const sections[] = { ".text", ".rodata", ".note" };
	char *path = xasprintf("%s/again.s", dir);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fwrite(x->text->text, 1, x->text->len, f);
	assert_int_equal(fclose(f), 0);
	free(path);
	assert_int_equal(run(xasprintf("cd %s && %s -x assembler -mcpu=%s -c -o again.o again.s", dir, clang, target)), 0);
	for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
		struct src *a, *b;

		assert_int_equal(run(xasprintf("cd %s && llvm-objcopy-22 -O binary --only-section=%s k.o a.bin && "
					       "llvm-objcopy-22 -O binary --only-section=%s again.o b.bin", dir, sections[i], sections[i])), 0);
		a = load("a.bin");
		b = load("b.bin");
		assert_true(b->len > 0 && a->len >= b->len);
		assert_true(a->len == b->len || i == 0); /* the fill behind the code is not printed */
		assert_memory_equal(a->text, b->text, b->len);
		src_free(a);
		src_free(b);
	}
}

static void compiled(void **state)
{
	(void)state;
	if (!have_tools())
		skip();
	for (size_t t = 0; t < ARRAY_LEN(targets); t++)
		for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
			struct read text, object, linked;

			compile(targets[t], sources[i]);
			read_text(&text, "k.s", targets[t], NULL);
			read_object(&object, "k.o", targets[t], NULL);
			read_object(&linked, "k.co", targets[t], NULL);
			same_program(&text, &object);
			same_program(&text, &linked);
			same_info(&text.info, &object.info);
			same_info(&text.info, &linked.info);
			assemble_again(&object, targets[t]);
			done(&text);
			done(&object);
			done(&linked);
		}
}

/* Every field of the descriptor goes through, none is mistaken for another. */
static void descriptors(void **state)
{
	static const char *const common[] = {
		"group_segment_fixed_size 4660", "private_segment_fixed_size 96", "kernarg_size 40", "user_sgpr_dispatch_ptr 1",
		"user_sgpr_queue_ptr 1", "user_sgpr_kernarg_segment_ptr 1", "user_sgpr_dispatch_id 1",
		"user_sgpr_kernarg_preload_length 3", "user_sgpr_kernarg_preload_offset 1", "user_sgpr_private_segment_size 1",
		"uses_dynamic_stack 1", "enable_private_segment 1", "system_sgpr_workgroup_id_x 0", "system_sgpr_workgroup_id_y 1",
		"system_sgpr_workgroup_id_z 1", "system_sgpr_workgroup_info 1", "system_vgpr_workitem_id 2", "float_round_mode_32 1",
		"float_round_mode_16_64 2", "float_denorm_mode_32 1", "float_denorm_mode_16_64 2", "fp16_overflow 1",
		"exception_fp_ieee_invalid_op 1", "exception_fp_denorm_src 1", "exception_fp_ieee_div_zero 1",
		"exception_fp_ieee_overflow 1", "exception_fp_ieee_underflow 1", "exception_fp_ieee_inexact 1",
		"exception_int_div_zero 1",
	}, *const gfx9[] = { "dx10_clamp 0", "ieee_mode 0", "tg_split 1" },
	   *const gfx12[] = { "named_barrier_count 5", "memory_ordered 0", "forward_progress 0", "inst_pref_size 19", "round_robin_scheduling 1" };

	(void)state;
	if (!have_tools())
		skip();
	for (size_t t = 0; t < ARRAY_LEN(targets); t++) {
		bool gfx1250 = t == 2;
		size_t more = gfx1250 ? ARRAY_LEN(gfx12) : ARRAY_LEN(gfx9);

		for (size_t i = 0; i <= ARRAY_LEN(common) + more; i++) {
			const char *line = i < ARRAY_LEN(common) ? common[i] : i == ARRAY_LEN(common) + more ? "next_free_sgpr 40" :
					   gfx1250 ? gfx12[i - ARRAY_LEN(common)] : gfx9[i - ARRAY_LEN(common)];
			char *path = xasprintf("%s/d.s", dir);
			FILE *f = fopen(path, "a");

			assert_non_null(f);
			if (i == 0) {
				assert_int_equal(ftruncate(fileno(f), 0), 0);
				fprintf(f, ".amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n.text\n", targets[t]);
			}
			fprintf(f, ".globl k%zu\n.type k%zu,@function\n.p2align 8\nk%zu:\n\ts_endpgm\n.size k%zu, 4\n"
				".section .rodata\n.p2align 6\n.amdhsa_kernel k%zu\n.amdhsa_next_free_vgpr %zu\n%s.amdhsa_%s\n%s"
				".end_amdhsa_kernel\n.text\n",
				i, i, i, i, i, 13 + 8 * i, gfx1250 ? "" : ".amdhsa_accum_offset 12\n", line,
				strncmp(line, "next_free_sgpr", 14) ? ".amdhsa_next_free_sgpr 20\n" : "");
			assert_int_equal(fclose(f), 0);
			free(path);
		}
		struct read x;
		struct src *s;

		assert_int_equal(run(xasprintf("cd %s && %s -x assembler -mcpu=%s -c -o k.o d.s && llvm-objcopy-22 --add-section=.note=/dev/null k.o",
					       dir, clang, targets[t])), 0);
		s = load("k.o");
		convert(&x, s->text, s->len, NULL);
		src_free(s);
		diag_print(&x.d, stdout, false);
		assert_non_null(x.text);
		FILE *f;
		char *path = xasprintf("%s/again.s", dir);

		f = fopen(path, "w");
		assert_non_null(f);
		fwrite(x.text->text, 1, x.text->len, f);
		assert_int_equal(fclose(f), 0);
		free(path);
		assert_int_equal(run(xasprintf("cd %s && %s -x assembler -mcpu=%s -c -o again.o again.s && "
					       "llvm-objcopy-22 -O binary --only-section=.rodata k.o a.bin && "
					       "llvm-objcopy-22 -O binary --only-section=.rodata again.o b.bin && cmp a.bin b.bin",
					       dir, clang, targets[t])), 0);
		done(&x);
	}
}

/* ---- several kernels, stripped files, bundles ---- */

static void kernels(void **state)
{
	struct read x;
	struct src *s;

	(void)state;
	if (!have_tools())
		skip();
	compile("gfx950", "copy");
	read_object(&x, "k.co", "gfx950", "copy");
	assert_string_equal(x.info.kernel, "copy");
	assert_null(strstr(x.text->text, "amdhsa_kernel fill"));
	done(&x);
	read_object(&x, "k.co", "gfx950", "fill.kd");
	assert_string_equal(x.info.kernel, "fill");
	done(&x);
	/* All of them, and one that is not there: the listing reader chooses. */
	s = load("k.co");
	convert(&x, s->text, s->len, NULL);
	assert_true(x.text && strstr(x.text->text, "amdhsa_kernel fill") && strstr(x.text->text, "amdhsa_kernel copy"));
	done(&x);
	src_free(s);
	assert_int_equal(run(xasprintf("cd %s && llvm-objcopy-22 --strip-all k.co s.co", dir)), 0);
	read_object(&x, "s.co", "gfx950", "fill");
	assert_true(x.p->ninsns > 5 && x.info.workgroup_threads == 256);
	done(&x);
}

static void put64(uint8_t *p, uint64_t v)
{
	for (unsigned i = 0; i < 8; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

struct bundle {
	uint8_t bytes[65536];
	size_t n;
};

static void bundle_begin(struct bundle *b, unsigned entries)
{
	static const char magic[] = "__CLANG_OFFLOAD_BUNDLE__";

	memset(b, 0, sizeof(*b));
	memcpy(b->bytes, magic, 24);
	put64(b->bytes + 24, entries);
	b->n = 32;
}

static void bundle_entry(struct bundle *b, const char *id, uint64_t offset, uint64_t size)
{
	put64(b->bytes + b->n, offset);
	put64(b->bytes + b->n + 8, size);
	put64(b->bytes + b->n + 16, strlen(id));
	memcpy(b->bytes + b->n + 24, id, strlen(id));
	b->n += 24 + strlen(id);
}

static void refused(const void *bytes, size_t n, const struct codeobj_options *o, const char *words)
{
	struct read x;

	convert(&x, bytes, n, o);
	assert_null(x.text);
	assert_int_equal(x.d.list[0].code, DIAG_ELF);
	assert_non_null(x.d.list[0].loc.src);
	if (words && !strstr(x.d.list[0].message, words))
		diag_print(&x.d, stdout, false);
	assert_true(!words || strstr(x.d.list[0].message, words));
	done(&x);
}

static void bundles(void **state)
{
	struct codeobj_options o = { .target = "gfx950" };
	struct bundle *b = xcalloc(1, sizeof(*b));
	struct src *s;
	struct read x;

	(void)state;
	refused("CCOB\2\0\0\0", 8, NULL, "compressed");
	refused("\177ELF", 4, NULL, "ends inside");
	refused("hello", 5, NULL, "no ELF");
	bundle_begin(b, 2);
	bundle_entry(b, "host-x86_64-unknown-linux--", 32, 0);
	bundle_entry(b, "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-", 32, 0);
	refused(b->bytes, b->n, NULL, "gfx90a");
	bundle_begin(b, 1);
	bundle_entry(b, "hipv4-amdgcn-amd-amdhsa--gfx942", UINT64_MAX - 4, 16);
	refused(b->bytes, b->n, NULL, "does not fit");
	bundle_begin(b, 3);
	refused(b->bytes, b->n, NULL, "does not fit");
	bundle_begin(b, UINT32_MAX);
	refused(b->bytes, sizeof(b->bytes), NULL, "does not fit");
	if (!have_tools()) {
		free(b);
		skip();
	}
	compile("gfx950", "reduce");
	s = load("k.co");
	assert_true(s->len < sizeof(b->bytes) - 4096);
	memcpy(b->bytes + 4096, s->text, s->len);
	bundle_begin(b, 2);
	memcpy(b->bytes + 4096, s->text, s->len);
	bundle_entry(b, "host-x86_64-unknown-linux--", 4096, 0);
	bundle_entry(b, "hipv4-amdgcn-amd-amdhsa--gfx950:sramecc+:xnack-", 4096, s->len);
	convert(&x, b->bytes, 4096 + s->len, NULL);
	diag_print(&x.d, stdout, false);
	assert_non_null(x.text);
	assert_string_equal(x.target, "gfx950");
	parse(&x, "gfx950", NULL);
	done(&x);
	bundle_begin(b, 2);
	memcpy(b->bytes + 4096, s->text, s->len);
	bundle_entry(b, "hipv4-amdgcn-amd-amdhsa--gfx942", 4096, 10);
	bundle_entry(b, "hipv4-amdgcn-amd-amdhsa--gfx950", 4096, s->len);
	refused(b->bytes, 4096 + s->len, NULL, "several");
	convert(&x, b->bytes, 4096 + s->len, &o);
	assert_non_null(x.text);
	done(&x);
	src_free(s);
	free(b);
}

/* ---- damaged files ---- */

static void other_machines(void **state)
{
	uint8_t h[64] = { 0x7f, 'E', 'L', 'F', 2, 1, 1, 64, 4 };

	(void)state;
	h[18] = 62; /* x86-64 */
	refused(h, sizeof(h), NULL, "not for an AMD GPU (machine 62)");
	h[18] = 224;
	h[48] = 0x3f; /* gfx90a */
	refused(h, sizeof(h), NULL, "does not know (number 0x3f");
	h[48] = 0x4c;
	if (codeobj_available())
		refused(h, sizeof(h), NULL, "no code");
}

static void truncated(void **state)
{
	struct src *s;

	(void)state;
	if (!have_tools())
		skip();
	compile("gfx942", "softmax");
	for (int linked = 0; linked < 2; linked++) {
		s = load(linked ? "k.co" : "k.o");
		for (size_t n = 0; n < s->len; n += 64)
			refused(s->text, n, NULL, NULL);
		src_free(s);
	}
}

static uint64_t random64(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* Whatever happens, it is a text or a finding; a text may hold findings of its own. WPSIM_MUTANTS: how many. */
static void mutated(void **state)
{
	const char *many = getenv("WPSIM_MUTANTS");
	unsigned count = many ? (unsigned)atoi(many) : 100, texts = 0, refusals = 0;
	uint64_t seed = 0x9e3779b97f4a7c15ull;
	struct src *s;

	(void)state;
	if (!have_tools())
		skip();
	compile("gfx1250", "reduce");
	s = load("k.o");
	for (unsigned i = 0; i < count; i++) {
		struct listing_options o = { .unknown_warns = true };
		struct read x;
		char *bytes = xmalloc(s->len);

		memcpy(bytes, s->text, s->len);
		for (uint64_t k = 1 + random64(&seed) % 4; k; k--) {
			/* Half of them in the headers: the first 64 bytes, and the tables at the end. */
			size_t at = random64(&seed) % s->len;

			if (random64(&seed) % 2)
				at = random64(&seed) % 4 ? s->len - 1 - at % (s->len / 3) : at % 64;
			bytes[at] = (char)(random64(&seed) % 3 ? bytes[at] ^ (1 << (random64(&seed) % 8)) : (int)random64(&seed));
		}
		convert(&x, bytes, s->len, NULL);
		texts += x.text != NULL;
		refusals += x.text == NULL;
		if (x.text)
			x.p = listing_parse(x.text, target_of(x.target), &o, &x.info, &x.d);
		done(&x);
		free(bytes);
	}
	src_free(s);
	print_message("# %u mutants: %u read, %u refused\n", count, texts, refusals);
	assert_true(texts > count / 20 && refusals > count / 20);
}

/* ---- .long in a listing ---- */

static void encoded(void **state)
{
	(void)state;
	if (!have_tools())
		skip();
	for (size_t t = 0; t < ARRAY_LEN(targets); t++) {
		struct read text, words;
		struct strbuf b = { 0 };
		struct src *s;

		compile(targets[t], "integer");
		read_text(&text, "k.s", targets[t], NULL);
		assert_int_equal(run(xasprintf("cd %s && llvm-objcopy-22 -O binary --only-section=.text k.o a.bin", dir)), 0);
		s = load("a.bin");
		size_t bytes = 0;
		for (size_t i = 0; i < text.p->ninsns; i++)
			bytes += text.p->insns[i].size;
		for (size_t i = 0; i + 4 <= bytes; i += 4) {
			uint32_t w;

			memcpy(&w, s->text + i, 4);
			strbuf_add(&b, i % 12 == 4 ? ", 0x%08x" : i ? "\n.long 0x%08x" : ".long 0x%08x", w);
		}
		strbuf_add(&b, "\n");
		memset(&words, 0, sizeof(words));
		diag_init(&words.d);
		words.text = src_from_text("words.s", b.s, b.len);
		parse(&words, targets[t], NULL);
		same_program(&text, &words);
		for (size_t i = 0; i < words.p->ninsns; i++)
			assert_ptr_equal(words.p->insns[i].loc.src, words.text);
		strbuf_free(&b);
		src_free(s);
		done(&text);
		done(&words);
	}
}

static void bad_word(const char *text, const char *words, unsigned line)
{
	struct src *s = src_from_text("w.s", text, strlen(text));
	struct diag d;

	diag_init(&d);
	assert_null(listing_parse(s, target_of("gfx942"), NULL, NULL, &d));
	assert_true(d.n >= 1);
	if (!strstr(d.list[0].message, words))
		diag_print(&d, stdout, false);
	assert_non_null(strstr(d.list[0].message, words));
	assert_int_equal(loc_line(d.list[0].loc), line);
	diag_free(&d);
	src_free(s);
}

static void bad_words(void **state)
{
	(void)state;
	if (!codeobj_available()) {
		bad_word("s_nop 0\n.long 0xbf800000\n", "can't be read", 2);
		return;
	}
	bad_word("s_nop 0\n.long 0xffffffff\ns_nop 0\n", "no instruction of gfx942", 2);
	bad_word("s_nop 0\n.long 0x262e04ff\ns_nop 0\n", "no instruction of gfx942", 2); /* its constant is missing */
	bad_word(".byte 1, 2, 3\ns_nop 0\n", "multiple of 4", 1);
	bad_word("s_nop 0\n.long 0xbf820001\n.long 0x262e04ff, 0x000000ff\n", "no instruction begins", 2);
	bad_word(".long here\n", "numbers only", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compiled), cmocka_unit_test(descriptors), cmocka_unit_test(kernels), cmocka_unit_test(bundles),
		cmocka_unit_test(other_machines), cmocka_unit_test(truncated), cmocka_unit_test(mutated), cmocka_unit_test(encoded),
		cmocka_unit_test(bad_words),
	};
	int rc = cmocka_run_group_tests(tests, setup, teardown);

	for (size_t i = 0; i < ARRAY_LEN(targets); i++)
		target_free(loaded[i]);
	return rc;
}
