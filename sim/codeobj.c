/* What LLVM does for code objects: sections, symbols and relocations of the ELF file, and disassembly. */
#include "codeobj_internal.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#ifndef HAVE_LLVM

bool codeobj_available(void)
{
	return false;
}

enum codeobj_end codeobj_render(const struct codeobj_image *image, const char *kernel, struct strbuf *out)
{
	(void)image, (void)kernel;
	strbuf_add(out, "this wpsim was built without LLVM, which reads code objects: give the assembler text instead");
	return CODEOBJ_NO_BACKEND;
}

size_t codeobj_decode(const char *target, const uint8_t *bytes, size_t n, char *buf, size_t cap)
{
	(void)target, (void)bytes, (void)n, (void)buf, (void)cap;
	return 0;
}

#else

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <llvm-c/Core.h>
#include <llvm-c/Disassembler.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Object.h>
#include <llvm-c/Target.h>

#include "dl.h"

#ifndef LLVM_LIBRARY
#define LLVM_LIBRARY "libLLVM-22.so"
#endif

/* ---- the library: opened when it is needed, as its start takes longer than most runs of wpsim ---- */

#define CALLS(X) \
	X(CreateMemoryBufferWithMemoryRange) X(DisposeMemoryBuffer) X(DisposeMessage) X(CreateBinary) X(DisposeBinary) \
	X(BinaryGetType) X(ObjectFileCopySectionIterator) X(ObjectFileIsSectionIteratorAtEnd) X(DisposeSectionIterator) \
	X(MoveToNextSection) X(ObjectFileCopySymbolIterator) X(ObjectFileIsSymbolIteratorAtEnd) X(DisposeSymbolIterator) \
	X(MoveToNextSymbol) X(GetSectionName) X(GetSectionSize) X(GetSectionContents) X(GetSectionAddress) \
	X(GetSectionContainsSymbol) X(GetSymbolName) X(GetSymbolAddress) X(GetSymbolSize) X(GetRelocations) \
	X(DisposeRelocationIterator) X(IsRelocationIteratorAtEnd) X(MoveToNextRelocation) X(GetRelocationOffset) \
	X(GetRelocationSymbol) X(GetRelocationType) X(CreateDisasmCPU) X(DisasmDispose) X(DisasmInstruction) \
	X(InitializeAMDGPUTargetInfo) X(InitializeAMDGPUTargetMC) X(InitializeAMDGPUDisassembler) \
	X(InstallFatalErrorHandler)

static struct llvm {
	int state; /* 0: not tried, 1: there, -1: not there */
#define FIELD(name) __typeof__(&LLVM##name) name;
	CALLS(FIELD)
#undef FIELD
} llvm;

static struct hw_error llvm_missing;

static bool llvm_open(void)
{
	static const char *const names[] = { LLVM_LIBRARY, "libLLVM-22.so", "libLLVM.so.22.1", NULL };
	static const char what[] = "LLVM 22, which reads code objects,";
#define SYMBOL(name) { "LLVM" #name, offsetof(struct llvm, name), false },
	static const struct dl_symbol symbols[] = { CALLS(SYMBOL) };
#undef SYMBOL
	void *library;

	if (llvm.state)
		return llvm.state > 0;
	llvm.state = -1;
	library = dl_open(names, what, &llvm_missing);
	if (!library || dl_symbols(library, what, symbols, ARRAY_LEN(symbols), &llvm, &llvm_missing) != 0)
		return false;
	llvm.InitializeAMDGPUTargetInfo();
	llvm.InitializeAMDGPUTargetMC();
	llvm.InitializeAMDGPUDisassembler();
	llvm.state = 1;
	return true;
}

bool codeobj_available(void)
{
	return llvm_open();
}

/* Addresses are 0 and no symbols are known: branches come out as numbers of words. */
static LLVMDisasmContextRef disassembler(const char *target)
{
	return llvm.CreateDisasmCPU("amdgcn-amd-amdhsa", target, NULL, 0, NULL, NULL);
}

size_t codeobj_decode(const char *target, const uint8_t *bytes, size_t n, char *buf, size_t cap)
{
	static struct {
		char target[32];
		LLVMDisasmContextRef dc;
	} last; /* a listing asks for many instructions of one target */
	uint8_t code[16];
	size_t used;

	if (!llvm_open() || strlen(target) >= sizeof(last.target) || cap == 0)
		return 0;
	if (!last.dc || strcmp(last.target, target)) {
		if (last.dc)
			llvm.DisasmDispose(last.dc);
		last.dc = disassembler(target);
		strcpy(last.target, target);
	}
	if (!last.dc)
		return 0;
	n = n < sizeof(code) ? n : sizeof(code);
	memcpy(code, bytes, n);
	buf[0] = '\0';
	used = llvm.DisasmInstruction(last.dc, code, n, 0, buf, cap);
	return used <= n && used % 4 == 0 && buf[0] ? used : 0;
}

/* ---- the object ---- */

struct section {
	const char *name;
	uint64_t address, size;
	const uint8_t *bytes;
	LLVMSectionIteratorRef it; /* an iterator that stands on it */
};

struct symbol_at {
	char *name;
	uint64_t address, size;
	uint32_t section;
	bool kernel;
};

struct reloc {
	uint64_t at;
	char *text; /* of the operand */
};

struct object {
	const struct codeobj_image *image;
	LLVMBinaryRef bin;
	struct section *sections;
	size_t nsections, capsections;
	struct symbol_at *symbols; /* of the sections kept, by section and address */
	size_t nsymbols, capsymbols;
	struct codeobj_metadata meta;
	LLVMDisasmContextRef dc;
	unsigned functions; /* printed */
	struct strbuf *out;
};

static bool begins(const char *s, const char *word)
{
	return !strncmp(s, word, strlen(word));
}

static bool code_section(const struct section *s)
{
	return begins(s->name, ".text");
}

#define MAX_SECTIONS 20000u /* of the kinds that are read: many where every function has its own */

/* Sections whose bytes lie in the file, of the kinds that are read. 0, -1: one does not fit. */
static int read_sections(struct object *x)
{
	static const char *const kinds[] = { ".text", ".rodata", ".note", ".rela.text", ".dynsym", ".dynstr" };
	const uint8_t *lo = x->image->bytes, *hi = lo + x->image->n;
	LLVMSectionIteratorRef it = llvm.ObjectFileCopySectionIterator(x->bin);

	for (uint32_t i = 0; it && !llvm.ObjectFileIsSectionIteratorAtEnd(x->bin, it); llvm.MoveToNextSection(it), i++) {
		struct section s = { .name = llvm.GetSectionName(it), .address = llvm.GetSectionAddress(it), .size = llvm.GetSectionSize(it) };
		bool wanted = false;

		if (i > x->image->n / sizeof(Elf64_Shdr) || x->nsections > MAX_SECTIONS)
			return -1;
		for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
			wanted = wanted || (s.name && begins(s.name, kinds[k]));
		if (!wanted || !s.size)
			continue;
		s.bytes = (const uint8_t *)llvm.GetSectionContents(it);
		if (!s.bytes || s.bytes < lo || s.bytes > hi || s.size > (uint64_t)(hi - s.bytes) || s.address > UINT64_MAX - s.size)
			return -1;
		x->sections = xgrow(x->sections, x->nsections, &x->capsections, sizeof(*x->sections));
		s.it = llvm.ObjectFileCopySectionIterator(x->bin);
		for (uint32_t k = 0; k < i; k++)
			llvm.MoveToNextSection(s.it);
		x->sections[x->nsections++] = s;
	}
	llvm.DisposeSectionIterator(it);
	return 0;
}

static void add_symbol(struct object *x, const char *name, uint64_t address, uint64_t size, uint32_t section)
{
	const struct section *s = &x->sections[section];

	if (!name[0] || begins(name, ".L") || address < s->address || address - s->address >= s->size)
		return;
	x->symbols = xgrow(x->symbols, x->nsymbols, &x->capsymbols, sizeof(*x->symbols));
	x->symbols[x->nsymbols++] = (struct symbol_at){ xstrdup(name), address, size, section, false };
}

/* 0, -1: there are more than the file has room for: LLVM does not check the table's size when it goes through. */
static int read_symbols(struct object *x)
{
	LLVMSymbolIteratorRef it = llvm.ObjectFileCopySymbolIterator(x->bin);
	size_t left = x->image->n / sizeof(Elf64_Sym);

	for (; it && !llvm.ObjectFileIsSymbolIteratorAtEnd(x->bin, it); llvm.MoveToNextSymbol(it)) {
		if (left-- == 0)
			return -1;
		for (uint32_t i = 0; i < x->nsections; i++) {
			if (!code_section(&x->sections[i]) && !begins(x->sections[i].name, ".rodata"))
				continue;
			if (!llvm.GetSectionContainsSymbol(x->sections[i].it, it))
				continue;
			add_symbol(x, llvm.GetSymbolName(it), llvm.GetSymbolAddress(it), llvm.GetSymbolSize(it), i);
			break;
		}
	}
	llvm.DisposeSymbolIterator(it);
	return 0;
}

/* A stripped file has symbols for the loader only, which the C interface does not go through. */
static void read_dynamic_symbols(struct object *x)
{
	const struct section *sym = NULL, *str = NULL;

	for (size_t i = 0; i < x->nsections; i++) {
		sym = strcmp(x->sections[i].name, ".dynsym") ? sym : &x->sections[i];
		str = strcmp(x->sections[i].name, ".dynstr") ? str : &x->sections[i];
	}
	for (size_t i = 0; sym && str && i < sym->size / sizeof(Elf64_Sym); i++) {
		Elf64_Sym s;

		memcpy(&s, sym->bytes + i * sizeof(s), sizeof(s));
		if (s.st_name >= str->size || !memchr(str->bytes + s.st_name, 0, str->size - s.st_name))
			continue;
		for (uint32_t k = 0; k < x->nsections; k++)
			if (code_section(&x->sections[k]) || begins(x->sections[k].name, ".rodata"))
				add_symbol(x, (const char *)str->bytes + s.st_name, s.st_value, s.st_size, k);
	}
}

static int by_place(const void *a, const void *b)
{
	const struct symbol_at *x = a, *y = b;

	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool descriptor_of(const struct object *x, const struct symbol_at *s, size_t *n)
{
	size_t len = strlen(s->name);

	*n = len - 3;
	return len > 3 && !strcmp(s->name + len - 3, ".kd") && !code_section(&x->sections[s->section]);
}

/* Kernels are what a descriptor or the metadata names. */
static void mark_kernels(struct object *x)
{
	char **names = NULL;
	size_t n = 0, cap = 0, len;

	for (size_t i = 0; i < x->nsymbols; i++)
		if (descriptor_of(x, &x->symbols[i], &len)) {
			names = xgrow(names, n, &cap, sizeof(*names));
			names[n++] = xasprintf("%.*s", (int)len, x->symbols[i].name);
		}
	for (size_t i = 0; i < x->meta.nkernels; i++) {
		names = xgrow(names, n, &cap, sizeof(*names));
		names[n++] = xstrdup(x->meta.kernels[i]);
	}
	if (n)
		qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 0; i < x->nsymbols && n; i++)
		x->symbols[i].kernel = code_section(&x->sections[x->symbols[i].section]) &&
				       bsearch(&x->symbols[i].name, names, n, sizeof(*names), by_name);
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

/* ---- relocations of a code section ---- */

struct relocs {
	struct reloc *list;
	size_t n, cap, next;
};

static void relocs_free(struct relocs *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->list[i].text);
	free(r->list);
	*r = (struct relocs){ 0 };
}

static int by_offset(const void *a, const void *b)
{
	const struct reloc *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static const char *reloc_suffix(uint64_t type)
{
	switch (type) { /* LLVM's AMDGPU usage guide, "Relocation Records" */
	case 1: return "@abs32@lo";
	case 2: return "@abs32@hi";
	case 8: return "@gotpcrel32@lo";
	case 9: return "@gotpcrel32@hi";
	case 10: return "@rel32@lo";
	case 11: return "@rel32@hi";
	default: return "";
	}
}

static void read_relocs(const struct object *x, const struct section *code, struct relocs *out)
{
	char *name = xasprintf(".rela%s", code->name);
	const struct section *s = NULL;
	LLVMRelocationIteratorRef it;

	for (size_t i = 0; i < x->nsections && x->image->relocatable; i++)
		if (!strcmp(x->sections[i].name, name))
			s = &x->sections[i];
	free(name);
	if (!s)
		return;
	it = llvm.GetRelocations(s->it);
	for (size_t i = 0; !llvm.IsRelocationIteratorAtEnd(s->it, it) && i < s->size / sizeof(Elf64_Rela); llvm.MoveToNextRelocation(it), i++) {
		LLVMSymbolIteratorRef sym = llvm.GetRelocationSymbol(it);
		struct strbuf b = { 0 };
		Elf64_Rela r;

		memcpy(&r, s->bytes + i * sizeof(r), sizeof(r)); /* the addend, which the C interface does not give */
		if (!llvm.ObjectFileIsSymbolIteratorAtEnd(x->bin, sym)) {
			const char *target = llvm.GetSymbolName(sym);

			codeobj_name(&b, target, strlen(target));
			strbuf_add(&b, "%s", reloc_suffix(llvm.GetRelocationType(it)));
			if (r.r_addend)
				strbuf_add(&b, "%+lld", (long long)r.r_addend);
			out->list = xgrow(out->list, out->n, &out->cap, sizeof(*out->list));
			out->list[out->n++] = (struct reloc){ llvm.GetRelocationOffset(it), b.s };
		}
		llvm.DisposeSymbolIterator(sym);
	}
	llvm.DisposeRelocationIterator(it);
	if (out->n)
		qsort(out->list, out->n, sizeof(*out->list), by_offset);
}

/* The text of a relocation inside [at, at + n); NULL: none. Asked in rising order. */
static const char *reloc_inside(struct relocs *r, uint64_t at, uint64_t n)
{
	while (r->next < r->n && r->list[r->next].at < at)
		r->next++;
	return r->next < r->n && r->list[r->next].at < at + n ? r->list[r->next].text : NULL;
}

/* ---- disassembly of a function: instructions first, then the lines with labels for what is jumped to ---- */

struct decoded {
	uint64_t address;
	uint32_t text, size; /* text: offset into the lines, UINT32_MAX: no instruction */
	uint32_t label;      /* 1 + number */
	int64_t target;      /* address a branch goes to, -1 */
};

struct function {
	struct decoded *list;
	size_t n, cap;
	struct strbuf lines; /* texts, each with its NUL */
	const uint8_t *bytes;
	uint64_t address, size;
	unsigned number;
};

static uint32_t word_at(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The last operand of a branch when it is a number of words; where it begins, or NULL. */
static const char *branch_words(const char *text, long *words)
{
	const char *last = strrchr(text, ' ');
	char *end;

	if (!last || (!begins(text, "s_branch") && !begins(text, "s_cbranch_") && !begins(text, "s_call_b64")))
		return NULL;
	*words = strtol(last + 1, &end, 0);
	return end != last + 1 && *end == '\0' ? last + 1 : NULL;
}

static void decode(struct object *x, struct function *f, struct relocs *relocs)
{
	char buf[2048];

	for (uint64_t at = 0; at < f->size;) {
		struct decoded d = { .address = f->address + at, .text = UINT32_MAX, .target = -1 };
		const char *text = buf, *symbol, *place;
		long words;

		buf[0] = '\0';
		d.size = (uint32_t)llvm.DisasmInstruction(x->dc, (uint8_t *)(uintptr_t)(f->bytes + at), f->size - at, d.address, buf, sizeof(buf));
		if (!d.size || d.size % 4 || d.size > 16 || d.size > f->size - at || !buf[0])
			d.size = f->size - at < 4 ? (uint32_t)(f->size - at) : 4;
		else
			d.text = (uint32_t)f->lines.len;
		while (*text == '\t' || *text == ' ')
			text++;
		symbol = d.text == UINT32_MAX ? NULL : reloc_inside(relocs, d.address, d.size);
		place = branch_words(text, &words);
		if (symbol) { /* the last operand is what will be put in */
			const char *cut = strrchr(text, ' ');

			strbuf_add(&f->lines, "%.*s %s", cut ? (int)(cut - text) : (int)strlen(text), text, symbol);
		} else if (d.text != UINT32_MAX) {
			strbuf_addn(&f->lines, text, strlen(text));
			if (place)
				d.target = (int64_t)(d.address + 4 + (uint64_t)((int64_t)(int16_t)words * 4));
		}
		strbuf_addn(&f->lines, "", 1);
		f->list = xgrow(f->list, f->n, &f->cap, sizeof(*f->list));
		f->list[f->n++] = d;
		at += d.size;
	}
}

static struct decoded *decoded_at(const struct function *f, int64_t address)
{
	size_t lo = 0, hi = f->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->list[mid].address < (uint64_t)address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < f->n && f->list[lo].address == (uint64_t)address ? &f->list[lo] : NULL;
}

static void number_labels(struct function *f)
{
	uint32_t n = 0;

	for (size_t i = 0; i < f->n; i++) {
		struct decoded *to = f->list[i].target < 0 ? NULL : decoded_at(f, f->list[i].target);

		if (to)
			to->label = 1;
		else
			f->list[i].target = -1;
	}
	for (size_t i = 0; i < f->n; i++)
		if (f->list[i].label)
			f->list[i].label = ++n;
}

static void print_line(struct object *x, const struct function *f, const struct decoded *d)
{
	const uint8_t *code = f->bytes + (d->address - f->address);
	const char *text = d->text == UINT32_MAX ? "" : f->lines.s + d->text;
	size_t begin = x->out->len;

	if (d->label)
		strbuf_add(x->out, ".LBB%u_%u:\n", f->number, d->label - 1);
	begin = x->out->len;
	strbuf_addn(x->out, "\t", 1);
	if (d->target >= 0) {
		const struct decoded *to = decoded_at(f, d->target);

		strbuf_add(x->out, "%.*s .LBB%u_%u", (int)(strrchr(text, ' ') - text), text, f->number, to->label - 1);
	} else if (d->text != UINT32_MAX) {
		strbuf_addn(x->out, text, strlen(text));
	} else if (d->size == 4) {
		strbuf_add(x->out, ".long 0x%08x", word_at(code));
	} else {
		for (uint32_t i = 0; i < d->size; i++)
			strbuf_add(x->out, "%s0x%02x", i ? ", " : ".byte ", code[i]);
	}
	strbuf_add(x->out, "%*s// %012llX:", x->out->len - begin < 58 ? (int)(58 - (x->out->len - begin)) : 1, "",
		   (unsigned long long)d->address);
	for (uint32_t i = 0; i + 4 <= d->size; i += 4)
		strbuf_add(x->out, " %08X", word_at(code + i));
	strbuf_addn(x->out, "\n", 1);
}

/* Labels inside a function that are no functions: in hand-written code. */
static void print_inner_labels(struct object *x, size_t *next, size_t last, uint64_t address)
{
	for (; *next < last && x->symbols[*next].address <= address; (*next)++)
		if (x->symbols[*next].address == address) {
			codeobj_name(x->out, x->symbols[*next].name, strlen(x->symbols[*next].name));
			strbuf_add(x->out, ":\n");
		}
}

/* Symbols [first, last) lie inside the bytes. */
static void print_function(struct object *x, const struct section *s, struct relocs *relocs, uint64_t address, uint64_t size,
			   size_t first, size_t last)
{
	struct function f = { .bytes = s->bytes + (address - s->address), .address = address, .size = size, .number = x->functions++ };

	decode(x, &f, relocs);
	number_labels(&f);
	for (size_t i = 0; i < f.n && x->out->len <= SRC_MAX_BYTES; i++) {
		print_inner_labels(x, &first, last, f.list[i].address);
		print_line(x, &f, &f.list[i]);
	}
	free(f.list);
	strbuf_free(&f.lines);
}

/* ---- the whole text ---- */

/* A symbol that begins a function, rather than a label in one. */
static bool is_function(const struct object *x, const struct symbol_at *s)
{
	return code_section(&x->sections[s->section]) && (s->kernel || s->size);
}

static uint64_t function_end(const struct object *x, size_t i)
{
	const struct symbol_at *s = &x->symbols[i];
	const struct section *sec = &x->sections[s->section];
	uint64_t end = sec->address + sec->size;

	if (s->size && s->size < end - s->address)
		return s->address + s->size;
	for (size_t k = i + 1; k < x->nsymbols && x->symbols[k].section == s->section && !s->size; k++)
		if (is_function(x, &x->symbols[k]) && x->symbols[k].address > s->address)
			return x->symbols[k].address;
	return end;
}

static size_t print_functions(struct object *x, const char *kernel, bool only_kernels)
{
	size_t printed = 0;

	for (size_t i = 0; i < x->nsymbols && x->out->len <= SRC_MAX_BYTES; i++) {
		const struct symbol_at *s = &x->symbols[i];
		struct relocs relocs = { 0 };
		uint64_t end;
		size_t last = i + 1;

		if (!is_function(x, s) || (only_kernels && !s->kernel) || (kernel && strcmp(kernel, s->name)))
			continue;
		end = function_end(x, i);
		while (last < x->nsymbols && x->symbols[last].section == s->section && x->symbols[last].address < end)
			last++;
		strbuf_add(x->out, "\t.globl\t");
		codeobj_name(x->out, s->name, strlen(s->name));
		strbuf_add(x->out, "\n\t.p2align\t8\n\t.type\t");
		codeobj_name(x->out, s->name, strlen(s->name));
		strbuf_add(x->out, ",@function\n");
		codeobj_name(x->out, s->name, strlen(s->name));
		strbuf_add(x->out, ":\n");
		read_relocs(x, &x->sections[s->section], &relocs);
		print_function(x, &x->sections[s->section], &relocs, s->address, end - s->address, i + 1, last);
		relocs_free(&relocs);
		strbuf_add(x->out, ".Lfunc_end%zu:\n\t.size\t", printed);
		codeobj_name(x->out, s->name, strlen(s->name));
		strbuf_add(x->out, ", .Lfunc_end%zu-", printed);
		codeobj_name(x->out, s->name, strlen(s->name));
		strbuf_add(x->out, "\n\n");
		printed++;
	}
	return printed;
}

/* Code without any function: an assembled snippet. */
static void print_sections(struct object *x)
{
	for (size_t i = 0; i < x->nsections; i++) {
		const struct section *s = &x->sections[i];
		struct relocs relocs = { 0 };
		size_t first = 0, last;

		if (!code_section(s))
			continue;
		while (first < x->nsymbols && x->symbols[first].section < i)
			first++;
		for (last = first; last < x->nsymbols && x->symbols[last].section == i;)
			last++;
		read_relocs(x, s, &relocs);
		print_function(x, s, &relocs, s->address, s->size, first, last);
		relocs_free(&relocs);
	}
}

static int print_descriptors(struct object *x, const char *kernel)
{
	bool any = false;

	for (size_t i = 0; i < x->nsymbols; i++) {
		const struct symbol_at *s = &x->symbols[i];
		const struct section *sec = &x->sections[s->section];
		uint64_t at = s->address - sec->address;
		size_t n;
		char *name;

		if (!descriptor_of(x, s, &n) || (kernel && (strncmp(kernel, s->name, n) || kernel[n])))
			continue;
		if (sec->size - at < 64)
			return -1;
		if (!any)
			strbuf_add(x->out, "\t.section\t.rodata,\"a\",@progbits\n\t.p2align\t6, 0x0\n");
		any = true;
		name = xasprintf("%.*s", (int)n, s->name);
		codeobj_descriptor(x->out, x->image->target, name, sec->bytes + at);
		free(name);
	}
	if (any)
		strbuf_add(x->out, "\t.text\n");
	return 0;
}

/* The metadata says more of it than the flags, such as xnack, when both are of the same processor. */
static void print_target(struct object *x)
{
	const char *said = x->meta.target, *name = said ? strstr(said, "--") : NULL;
	size_t n = strlen(x->image->target);

	if (name && !strncmp(name + 2, x->image->target, n) && (name[2 + n] == ':' || !name[2 + n]))
		strbuf_add(x->out, "\t.amdgcn_target \"%s\"\n", said);
	else
		strbuf_add(x->out, "\t.amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n", x->image->target);
}

static enum codeobj_end print_object(struct object *x, const char *kernel)
{
	struct strbuf *out = x->out;
	bool any = false, code = false;

	for (size_t i = 0; i < x->nsections; i++)
		code = code || code_section(&x->sections[i]);
	if (!code) {
		strbuf_add(out, "it holds no code");
		return CODEOBJ_DAMAGED;
	}
	for (size_t i = 0; i < x->nsymbols; i++)
		any = any || x->symbols[i].kernel;
	if (!any) /* let the listing reader say what is missing */
		kernel = NULL;
	print_target(x);
	if (x->image->abi)
		strbuf_add(out, "\t.amdhsa_code_object_version %u\n", x->image->abi);
	strbuf_add(out, "\t.text\n");
	if (!print_functions(x, kernel, any)) {
		if (kernel)
			print_functions(x, NULL, any);
		else
			print_sections(x);
	}
	if (print_descriptors(x, kernel) < 0) {
		strbuf_free(out);
		strbuf_add(out, "a kernel descriptor does not fit into its section");
		return CODEOBJ_DAMAGED;
	}
	if (x->meta.text.len)
		strbuf_add(out, "\t.amdgpu_metadata\n---\n%s...\n\n\t.end_amdgpu_metadata\n", x->meta.text.s);
	if (out->len > SRC_MAX_BYTES) {
		strbuf_free(out);
		strbuf_add(out, "the disassembly is larger than %u MiB", SRC_MAX_BYTES >> 20);
		return CODEOBJ_LARGE;
	}
	return CODEOBJ_DONE;
}

static enum codeobj_end read_object(struct object *x, const char *kernel)
{
	if (read_sections(x) < 0) {
		strbuf_add(x->out, "a section does not fit into the file");
		return CODEOBJ_DAMAGED;
	}
	for (size_t i = 0; i < x->nsections; i++)
		if (begins(x->sections[i].name, ".note") && codeobj_metadata(x->sections[i].bytes, x->sections[i].size, &x->meta) < 0) {
			strbuf_add(x->out, "its metadata can't be understood");
			return CODEOBJ_DAMAGED;
		}
	if (read_symbols(x) < 0) {
		strbuf_add(x->out, "its symbol table is larger than the file");
		return CODEOBJ_DAMAGED;
	}
	if (!x->nsymbols)
		read_dynamic_symbols(x);
	mark_kernels(x);
	if (x->nsymbols)
		qsort(x->symbols, x->nsymbols, sizeof(*x->symbols), by_place);
	x->dc = disassembler(x->image->target);
	if (!x->dc) {
		strbuf_add(x->out, "this LLVM does not know %s", x->image->target);
		return CODEOBJ_NO_BACKEND;
	}
	return print_object(x, kernel);
}

enum codeobj_end codeobj_render(const struct codeobj_image *image, const char *kernel, struct strbuf *out)
{
	struct object x = { .image = image, .out = out };
	LLVMMemoryBufferRef buffer;
	enum codeobj_end end;
	char *why = NULL;

	if (!llvm_open()) {
		strbuf_add(out, "%s", llvm_missing.text);
		return CODEOBJ_NO_BACKEND;
	}
	llvm.InstallFatalErrorHandler(codeobj_give_up);
	buffer = llvm.CreateMemoryBufferWithMemoryRange((const char *)image->bytes, image->n, "", 0);
	x.bin = llvm.CreateBinary(buffer, NULL, &why);
	if (!x.bin || llvm.BinaryGetType(x.bin) != LLVMBinaryTypeELF64L) {
		strbuf_add(out, "%s", why ? why : "it is no 64-bit ELF file");
		end = CODEOBJ_DAMAGED;
	} else {
		end = read_object(&x, kernel);
	}
	/* The process ends here: what LLVM and this hold goes with it. */
	return end;
}

#endif
