/* Assembler text to machine code by the tools on this machine: clang for AMD targets, ptxas for PTX. */
#ifndef WPSIM_ASSEMBLE_H
#define WPSIM_ASSEMBLE_H

#include <stddef.h>

enum assemble_status { ASSEMBLE_DONE, ASSEMBLE_NO_TOOL, ASSEMBLE_REFUSED, ASSEMBLE_FAILED };

/*
 * The tool is $WPSIM_CLANG, else clang-22, else clang; for targets sm_* $WPSIM_PTXAS, else ptxas. *image is allocated with malloc. why: one sentence
 * when the result is not DONE.
 */
enum assemble_status assemble(const char *target, const char *text, size_t len, void **image, size_t *bytes, char *why,
			      size_t why_bytes);

#endif
