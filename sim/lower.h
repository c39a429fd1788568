/* From a tile-level schedule to the per-wave program. */
#ifndef WPSIM_LOWER_H
#define WPSIM_LOWER_H

#include "program.h"
#include "schedule.h"

/*
 * Lower s for target t: instruction counts, physical registers, LDS byte addresses of every lane,
 * counters, boundary barriers, the conditional barriers of the group offset, waits for register
 * dependences, s_nops that the spacing rows ask for, loop control. NULL after at least one finding
 * (E_SHAPE, E_TARGET, E_LDS_CAP, E_REG_CAP, E_INTERLEAVE, E_LIMIT). The program refers to t, which
 * must live longer; it copies names from s but keeps places in s->src.
 */
struct program *lower(const struct schedule *s, const struct target *t, struct diag *d);

#endif
