/* From a program to the text of a complete kernel, and how that kernel is to be launched. */
#ifndef WPSIM_EMIT_H
#define WPSIM_EMIT_H

#include "program.h"
#include "verify.h"

struct emit_options {
	bool stamps;          /* clock stamps at stage boundaries, written to the stamp buffer */
	const char *kernel;   /* symbol, NULL: the program's name with - as _ */
};

#define EMIT_MAX_ARGS 12
enum emit_arg_kind { EARG_A, EARG_B, EARG_C, EARG_SA, EARG_SB, EARG_GLOBAL, EARG_STAMPS };
struct emit_arg { /* each a 64-bit pointer, at byte 8 * i of the kernel arguments */
	enum emit_arg_kind kind;
	const char *name;
	uint64_t bytes;   /* to allocate */
	bool output;
	int global;       /* EARG_GLOBAL: index into program.globals */
};

struct kernel_text { /* an emitted kernel */
	char *text;            /* assembler (AMD) or PTX (NVIDIA), 0-terminated */
	size_t len;
	char *kernel;          /* symbol */
	const char *target;    /* "gfx950", "sm_90" */
	unsigned grid[3];      /* workgroups */
	unsigned block[3];     /* threads */
	unsigned cluster[3];   /* workgroups of a cluster; 1 1 1 */
	uint32_t lds_bytes;    /* dynamic shared memory to ask for; 0 when the kernel declares it itself */
	size_t nargs;
	struct emit_arg arg[EMIT_MAX_ARGS];
	struct verify_layout layout; /* how A, B, scales and C lie in their buffers; set for GEMMs */
	bool verifiable;       /* the result can be compared with a reference product */
	unsigned stamps;       /* 64-bit stamps each wave writes, in stage order; wave w of workgroup g at (g * waves + w) * stamps */
	uint32_t *scale_map_a, *scale_map_b; /* what layout points at */
	const char **stamp_stage; /* [stamps] stage that begins there; the last one is the loop's end. hw/measure.c reads them so:
				   * stamp 0 is named "loop-begin" and taken once, in front of the main loop; each stage's stamp is
				   * overwritten in every trip (those of the last trip stay); the last, "loop-end", is taken behind the
				   * loop. Without stages: just these two. An emitter that cannot take one writes 0 there. */
};

/*
 * AMD targets: assembler text that clang-22 assembles (--target=amdgcn-amd-amdhsa -mcpu=TARGET); sm_90: PTX.
 * The loop's instructions are those of p, in order. 0, or -1 after a finding (E_SHAPE, E_REG_CAP, E_TARGET:
 * what the emitter cannot print).
 */
int emit_kernel(const struct program *p, const struct emit_options *o, struct kernel_text *out, struct diag *d);
void kernel_text_free(struct kernel_text *k);

/* emit_ptx.c, emit_amd.c: called by emit_kernel by target. */
int emit_ptx(const struct program *p, const struct emit_options *o, struct kernel_text *out, struct diag *d);
int emit_amd(const struct program *p, const struct emit_options *o, struct kernel_text *out, struct diag *d);
/* Kernels without a GEMM: for their time, as the calibration kernels. */
int emit_amd_plain(const struct program *p, const struct emit_options *o, struct kernel_text *out, struct diag *d);

#endif
