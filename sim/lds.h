/* LDS bank arithmetic: what real lane addresses cost. */
#ifndef WPSIM_LDS_H
#define WPSIM_LDS_H

#include "target.h"

/*
 * Array time of one instruction in clk, from its lane byte addresses (addr[0..wave_size)). For each
 * lane group of the row, the number of different dwords (gfx9: 4-byte words) in the busiest bank;
 * summed over the groups. Lanes whose address is limit or more make no access. Lanes of one group that
 * read the same dword share it. When a lane's address is not a multiple of the width, the instruction is
 * served lane by lane: unaligned_clk per lane (value lds.unaligned).
 */
unsigned lds_array_clk(const struct lds_row *row, unsigned nlanes, const uint32_t *addr, uint32_t limit,
		       unsigned unaligned_clk);
/* Same with conflict-free addresses: the number of groups, at least. */
unsigned lds_array_clk_free(const struct lds_row *row);

#endif
