/* Code objects (ELF for AMDGPU) to listing text: disassembled by LLVM, then read by the one listing parser. */
#ifndef WPSIM_CODEOBJ_H
#define WPSIM_CODEOBJ_H

#include "listing.h"

bool codeobj_likely(const void *bytes, size_t n); /* begins with the ELF or offload-bundle magic */
bool codeobj_available(void);                     /* built with LLVM, and its library is there */
struct codeobj_options {
	const char *kernel; /* only this one; NULL: all */
	const char *target; /* of a bundle that holds several; NULL: the only one that wpsim knows */
};
/*
 * Disassemble the kernels of the object s (its bytes as read) into listing text with directives and
 * metadata of its own making, as a new source named like s. The caller owns it. NULL after a finding
 * (E_ELF, E_LIMIT, E_LISTING); *no_backend is set when LLVM is not built in or does not know the target:
 * one sentence about it is the finding. o may be NULL.
 */
struct src *codeobj_read(const struct src *s, const struct codeobj_options *o, char target_out[32], bool *no_backend, struct diag *d);
/* All kernels. */
struct src *codeobj_to_listing(const struct src *s, char target_out[32], bool *no_backend, struct diag *d);
/* One instruction from its encoding (.long in a listing): text in buf, bytes used, 0 when it is none. */
size_t codeobj_disassemble(const char *target, const uint8_t *bytes, size_t n, char *buf, size_t cap);

#endif
