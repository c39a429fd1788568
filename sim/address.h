/* Byte addresses that a program's memory instructions need in their address registers. */
#ifndef WPSIM_ADDRESS_H
#define WPSIM_ADDRESS_H

#include "program.h"

/* Waves that execute in: bit w, wave w. */
uint32_t address_waves(const struct program *p, const struct insn *in);
/* Index into program.globals order A 0, B 1, scales of A 2, of B 3; -1: no operand's. */
int address_operand(const struct program *p, const struct access *ac);
/* Bytes of a row of operand which (as address_operand counts), and those that one K-step takes together in global memory:
 * of one row, or of scale_rows rows. */
uint64_t address_row_bytes(const struct program *p, int which);
uint32_t address_step_bytes(const struct program *p, int which);
/* Byte offset in global memory, from the workgroup's first row and the K-step, of byte src as access.src_lane counts. */
uint64_t address_of_byte(const struct program *p, int which, uint32_t src);

/*
 * at[w * lanes + l]: LDS instructions: the LDS byte address of lane l of wave w; loads and copies from global
 * memory: the byte offset from the workgroup's first row and the K-step's first element. Only executing waves
 * are filled in. *most: the largest immediate offset that the instruction may add. False: not known.
 */
bool address_table(const struct program *p, const struct insn *in, uint32_t *at, uint32_t *most);

#endif
