/* Files with code objects: ELF headers and offload bundles. */
#include "codeobj_internal.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static const char bundle_magic[] = "__CLANG_OFFLOAD_BUNDLE__", packed_magic[] = "CCOB";

static bool begins(const uint8_t *bytes, size_t n, const char *magic)
{
	size_t len = strlen(magic);

	return n >= len && !memcmp(bytes, magic, len);
}

bool codeobj_likely(const void *bytes, size_t n)
{
	return begins(bytes, n, ELFMAG) || begins(bytes, n, bundle_magic) || begins(bytes, n, packed_magic);
}

/* ---- what is wrong with a file ---- */

struct reading {
	const struct src *s;
	const struct codeobj_options *o;
	struct diag *d;
	struct src *place; /* what findings point at: an empty text of the file's name, made when needed */
};

static struct finding *report(struct reading *r, enum diag_code code, const char *fmt, ...) PRINTF_LIKE(3, 4);
static struct finding *report(struct reading *r, enum diag_code code, const char *fmt, ...)
{
	struct strbuf b = { 0 };
	struct finding *f;
	va_list ap;

	if (!r->place) {
		r->place = src_from_text(r->s->path, "", 0);
		diag_keep(r->d, r->place);
	}
	va_start(ap, fmt);
	strbuf_addv(&b, fmt, ap);
	va_end(ap);
	f = diag_add(r->d, (struct loc){ r->place, 0, 0 }, code, "%s", b.s);
	strbuf_free(&b);
	return f;
}

/* ---- ELF header ---- */

#define ELF_OSABI_AMDGPU_HSA 64

/* The processor is a number in the flags of the header (LLVM's AMDGPU usage guide, e_flags). */
static const struct { unsigned machine; const char *target; } machines[] = {
	{ 0x4c, "gfx942" }, { 0x4f, "gfx950" }, { 0x49, "gfx1250" },
};

static int read_header(struct reading *r, const uint8_t *bytes, size_t n, struct codeobj_image *out)
{
	Elf64_Ehdr h;

	if (n < sizeof(h)) {
		report(r, DIAG_ELF, "the file ends inside its ELF header");
		return -1;
	}
	memcpy(&h, bytes, sizeof(h));
	if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_machine != EM_AMDGPU) {
		diag_fix(report(r, DIAG_ELF, "the ELF file is not for an AMD GPU (machine %u)", h.e_machine),
			 "give the code object: clang's --cuda-device-only --no-gpu-bundle-output writes it, clang-offload-bundler takes it out of a program");
		return -1;
	}
	*out = (struct codeobj_image){ .bytes = bytes, .n = n, .relocatable = h.e_type == ET_REL };
	if (h.e_ident[EI_OSABI] == ELF_OSABI_AMDGPU_HSA && h.e_ident[EI_ABIVERSION] <= 8)
		out->abi = h.e_ident[EI_ABIVERSION] + 2u; /* 2 stands for version 4 */
	for (size_t i = 0; i < ARRAY_LEN(machines); i++)
		if (machines[i].machine == (h.e_flags & 0xff)) {
			memcpy(out->target, machines[i].target, strlen(machines[i].target) + 1);
			return 0;
		}
	diag_fix(report(r, DIAG_ELF, "the code object is for a processor that wpsim does not know (number 0x%02x in the ELF flags)",
			h.e_flags & 0xff),
		 "compile it for one of: gfx942, gfx950, gfx1250");
	return -1;
}

/* ---- bundles ---- */

static uint64_t word64(const uint8_t *p)
{
	uint64_t v = 0;

	for (unsigned i = 8; i-- > 0;)
		v = v << 8 | p[i];
	return v;
}

/* "hipv4-amdgcn-amd-amdhsa--gfx942:xnack-": the processor behind the last "--". */
static size_t entry_processor(const char *id, size_t n, const char **out)
{
	size_t at = 0, k = 0;

	for (size_t i = 0; i + 2 < n; i++)
		if (id[i] == '-' && id[i + 1] == '-')
			at = i + 2;
	while (at && at + k < n && id[at + k] != ':')
		k++;
	*out = id + at;
	return k;
}

static bool known(const char *name, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(machines); i++)
		if (strlen(machines[i].target) == n && !memcmp(machines[i].target, name, n))
			return true;
	return false;
}

struct entry {
	const uint8_t *bytes;
	size_t n;
	char target[32];
};
#define MAX_ENTRIES 1024

/* Entries for processors that wpsim knows, at most cap. Returns their number, -1 after a finding. */
static int bundle_entries(struct reading *r, const uint8_t *b, size_t n, struct entry *out, int cap, struct strbuf *all)
{
	size_t at = sizeof(bundle_magic) - 1;
	uint64_t count = n >= at + 8 ? word64(b + at) : UINT64_MAX;
	int found = 0;

	at += 8;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t off, size, len;
		const char *name;
		size_t k;

		if (count > MAX_ENTRIES || n - at < 24 || (len = word64(b + at + 16)) > n - at - 24 ||
		    (off = word64(b + at)) > n || (size = word64(b + at + 8)) > n - off) {
			report(r, DIAG_ELF, "the offload bundle is damaged: entry %llu does not fit into the file", (unsigned long long)i);
			return -1;
		}
		k = entry_processor((const char *)b + at + 24, len, &name);
		if (k && k < sizeof(out->target) && all->len < 500) {
			strbuf_add(all, "%s", all->len ? ", " : "");
			codeobj_name(all, name, k);
		}
		if (known(name, k) && found < cap && (!r->o->target || (strlen(r->o->target) == k && !memcmp(r->o->target, name, k)))) {
			out[found] = (struct entry){ .bytes = b + off, .n = size };
			memcpy(out[found++].target, name, k);
		}
		at += 24 + len;
	}
	return found;
}

/* The image that a bundle holds; 0, -1 after a finding. */
static int from_bundle(struct reading *r, const uint8_t *b, size_t n, struct codeobj_image *out)
{
	struct strbuf all = { 0 };
	struct entry entry[2];
	int found = bundle_entries(r, b, n, entry, 2, &all), rc = -1;

	if (found == 0)
		diag_fix(report(r, DIAG_ELF, "the offload bundle holds no code object for %s; it has: %s",
				r->o->target ? r->o->target : "a processor that wpsim knows", all.s ? all.s : "none"),
			 "compile for one of: gfx942, gfx950, gfx1250");
	else if (found == 2)
		diag_fix(report(r, DIAG_ELF, "the offload bundle holds several code objects: %s", all.s), "choose one with --target");
	else if (found == 1 && !begins(entry[0].bytes, entry[0].n, ELFMAG))
		report(r, DIAG_ELF, "the entry of %s in the offload bundle is no ELF file", entry[0].target);
	else if (found == 1)
		rc = read_header(r, entry[0].bytes, entry[0].n, out);
	strbuf_free(&all);
	return rc;
}

static int find_image(struct reading *r, struct codeobj_image *out)
{
	const uint8_t *bytes = (const uint8_t *)r->s->text;

	if (begins(bytes, r->s->len, packed_magic)) {
		diag_fix(report(r, DIAG_ELF, "the offload bundle is compressed, and wpsim does not unpack it"),
			 "compile with --no-offload-compress, or unpack it with clang-offload-bundler --unbundle");
		return -1;
	}
	if (begins(bytes, r->s->len, bundle_magic))
		return from_bundle(r, bytes, r->s->len, out);
	if (!begins(bytes, r->s->len, ELFMAG)) {
		report(r, DIAG_ELF, "the file is no ELF file");
		return -1;
	}
	return read_header(r, bytes, r->s->len, out);
}

static struct src *finish(struct reading *r, enum codeobj_end end, const struct strbuf *out, int sig, bool *no_backend)
{
	const char *text = out->s ? out->s : "";

	switch (end) {
	case CODEOBJ_DONE:
		return src_from_text(r->s->path, text, out->len);
	case CODEOBJ_LARGE:
		diag_fix(report(r, DIAG_LIMIT, "%s", text), "choose a kernel with --kernel");
		break;
	case CODEOBJ_NO_BACKEND:
		*no_backend = true;
		report(r, DIAG_ELF, "%s", text);
		break;
	case CODEOBJ_DAMAGED:
		if (sig)
			report(r, DIAG_ELF, "the code object is damaged: LLVM gave up reading it (%s)",
			       sig > 0 ? strsignal(sig) : "no answer");
		else
			report(r, DIAG_ELF, "the code object is damaged: %s", text);
		break;
	}
	return NULL;
}

struct src *codeobj_read(const struct src *s, const struct codeobj_options *o, char target_out[32], bool *no_backend, struct diag *d)
{
	static const struct codeobj_options none = { 0 };
	struct reading r = { .s = s, .o = o ? o : &none, .d = d };
	struct codeobj_image image;
	struct strbuf out = { 0 };
	struct src *listing;
	enum codeobj_end end;
	int sig = 0;

	*no_backend = false;
	target_out[0] = '\0';
	if (find_image(&r, &image) < 0)
		return NULL;
	memcpy(target_out, image.target, sizeof(image.target));
	end = codeobj_render_apart(&image, r.o->kernel, &out, &sig);
	listing = finish(&r, end, &out, sig, no_backend);
	strbuf_free(&out);
	return listing;
}

struct src *codeobj_to_listing(const struct src *s, char target_out[32], bool *no_backend, struct diag *d)
{
	return codeobj_read(s, NULL, target_out, no_backend, d);
}
