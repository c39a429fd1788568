/*
 * Listings: assembler text of AMDGPU kernels (compiler output, objdump text, bare snippets) to programs.
 */
#ifndef WPSIM_LISTING_H
#define WPSIM_LISTING_H

#include "program.h"

struct listing_options {
	const char *kernel;   /* symbol to take; NULL: the only one, or the whole text of a bare snippet */
	bool unknown_warns;   /* an unknown mnemonic is a warning (counted, treated as having no effect) */
	bool keep_operands;   /* fill insn.ops */
	unsigned waves;       /* waves of a workgroup when the text does not say; 0: 1 */
};

#define LISTING_MAX_ARGS 64
enum listing_arg_kind { LARG_VALUE, LARG_POINTER, LARG_HIDDEN };
struct listing_arg { /* of the metadata */
	const char *name;       /* "" when it has none; hidden arguments: their value_kind ("hidden_block_count_x") */
	enum listing_arg_kind kind;
	unsigned offset, size;  /* bytes in the kernel argument segment */
	bool read_only;
};
struct listing_launch { /* how the hardware starts a wave: descriptor directives, or the descriptor's bits */
	bool described;         /* a descriptor or .amdhsa_ directives were there */
	unsigned kernarg_bytes;
	/* user SGPRs in their order, each present or not */
	bool private_buffer, dispatch_ptr, queue_ptr, kernarg_ptr, dispatch_id, flat_scratch_init, private_size;
	unsigned preload_length, preload_offset; /* dwords of kernel arguments in user SGPRs behind these */
	bool workgroup_id[3], workgroup_info, private_wave_offset;
	unsigned workitem_dims; /* 0: x, 1: x and y, 2: all; packed 10 bits each in v0 */
	unsigned reqd_size[3];  /* workgroup size asked for, 0 unknown */
	unsigned cluster[3];    /* workgroups of a cluster, 0 unknown */
	unsigned named_barriers;
	unsigned user_sgprs;    /* as the descriptor counts them, 0: it does not say */
	unsigned float_mode;    /* MODE bits 7 to 0: rounding, denormals */
	size_t nargs;
	struct listing_arg arg[LISTING_MAX_ARGS];
};

struct listing_info { /* what the text says beside the instructions */
	const char *kernel;   /* "" for a bare snippet */
	unsigned vgpr, agpr, sgpr, lds_bytes, scratch_bytes, vgpr_spills, sgpr_spills;
	unsigned workgroup_threads; /* largest, 0 unknown */
	size_t unknown;       /* instructions of unknown mnemonic that were let pass */
	struct listing_launch launch;
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
