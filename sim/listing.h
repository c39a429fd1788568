/*
 * Listings: assembler text of AMDGPU kernels (compiler output, objdump text, bare snippets) to programs.
 */
#ifndef WPSIM_LISTING_H
#define WPSIM_LISTING_H

#include "program.h"

struct listing_options {
	const char *kernel;   /* symbol to take; NULL: the only one, or the whole text of a bare snippet */
	bool unknown_warns;   /* an unknown mnemonic is a warning (counted, treated as having no effect) */
	unsigned waves;       /* waves of a workgroup when the text does not say; 0: 1 */
};

struct listing_info { /* what the text says beside the instructions */
	const char *kernel;   /* "" for a bare snippet */
	unsigned vgpr, agpr, sgpr, lds_bytes, scratch_bytes, vgpr_spills, sgpr_spills;
	unsigned workgroup_threads; /* largest, 0 unknown */
	size_t unknown;       /* instructions of unknown mnemonic that were let pass */
};

/*
 * Parse s for target t. Every instruction's place is its text in s. Labels become insn.target; loops[]
 * is left empty (flow.h finds loops). NULL after at least one finding (E_MNEMONIC, E_OPERAND, E_LABEL,
 * E_LISTING, E_LIMIT). *info may be NULL.
 */
struct program *listing_parse(const struct src *s, const struct target *t, const struct listing_options *o,
			      struct listing_info *info, struct diag *d);
/* Does the text look like a listing rather than XML? By content: the first non-blank character. */
bool listing_likely(const struct src *s);

#endif
