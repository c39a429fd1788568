/* Parts of the code object reader: files and bundles, what LLVM reads, descriptors and metadata as text. */
#ifndef WPSIM_CODEOBJ_INTERNAL_H
#define WPSIM_CODEOBJ_INTERNAL_H

#include "codeobj.h"

struct codeobj_image { /* one ELF file in memory */
	const uint8_t *bytes;
	size_t n;
	char target[32];     /* processor, "gfx942" */
	unsigned abi;        /* code object version, 0: unknown */
	bool relocatable;
};

/* How reading an image ended. */
enum codeobj_end { CODEOBJ_DONE, CODEOBJ_DAMAGED, CODEOBJ_NO_BACKEND, CODEOBJ_LARGE };

/*
 * codeobj.c: the text of all kernels, or of the one named kernel (NULL: all), appended to out; otherwise one
 * sentence about what is wrong. LLVM may end the process on a damaged file: called in a process of its own.
 */
enum codeobj_end codeobj_render(const struct codeobj_image *image, const char *kernel, struct strbuf *out);

/* What codeobj_disassemble does. LLVM may crash on bytes that are no instruction: called in a process of its own. */
size_t codeobj_decode(const char *target, const uint8_t *bytes, size_t n, char *buf, size_t cap);

/* codeobj_apart.c: codeobj_render in a process of its own; *sig: the signal that ended it, -1: no answer, 0: neither. */
enum codeobj_end codeobj_render_apart(const struct codeobj_image *image, const char *kernel, struct strbuf *out, int *sig);
/* End the process that renders, with the sentence that LLVM gives for it. */
void codeobj_give_up(const char *why);

/* codeobj_text.c */

/* Names become words that the listing reader takes: other characters are replaced. */
void codeobj_name(struct strbuf *out, const char *name, size_t n);
/* The directives of a kernel descriptor (64 bytes) of a target. */
void codeobj_descriptor(struct strbuf *out, const char *target, const char *name, const uint8_t kd[64]);
struct codeobj_metadata { /* of the notes of an object */
	struct strbuf text;   /* as an assembler wants it, without the directives around it; empty: there is none */
	char *target;         /* "amdgcn-amd-amdhsa--gfx942:xnack-", NULL: not said */
	char **kernels;       /* symbols of the kernels, without .kd */
	size_t nkernels, capkernels;
};
/* Notes of one section; those of others are passed over. 0, -1: they can't be understood. */
int codeobj_metadata(const uint8_t *notes, size_t n, struct codeobj_metadata *out);
void codeobj_metadata_free(struct codeobj_metadata *m);

#endif
