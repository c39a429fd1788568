/*
 * Block scales: which register, and which part of it, holds the scales that a matrix op needs. Scales are copied
 * and read as they lie in memory, so the kernel fixes their order there: that in which the ops take them.
 *
 * MFMA: lane l supplies the scale of row l mod M, block l / M; an op selects one byte of the register, so a lane's
 * bytes are those of the row tiles, K slice by K slice.
 * WMMA: a lane supplies the four scales of one row as a dword; an op selects the lower or upper 16 lanes, so a
 * lane's dwords are those of its rows 32 apart, K slices inside.
 */
#include "lower_internal.h"

static bool wave64(const struct lower *lw)
{
	return lw->lanes == 64;
}

struct scale_place scale_place(const struct lower *lw, const struct reg_block *b, unsigned rt, unsigned k, unsigned rows)
{
	unsigned at, tiles = rows ? b->rows / rows : 1, slices = b->bytes / 4;

	if (wave64(lw)) {
		at = k * (tiles ? tiles : 1) + rt;
		return (struct scale_place){ at / 4, at % 4 };
	}
	if (rows >= 32)
		return (struct scale_place){ rt * slices + k, 0 };
	return (struct scale_place){ rt / 2 * slices + k, rt % 2 };
}

/* Byte of a wave's scales, as they lie in memory, for its row and block of the K-step. */
static unsigned place_in_block(const struct lower *lw, const struct reg_block *b, unsigned m, unsigned row, unsigned q)
{
	unsigned lane, byte, width = b->read ? b->read->width_bytes : 4;

	if (wave64(lw)) {
		unsigned across = lw->lanes / m;

		lane = q % across * m + row % m;
		byte = q / across * (b->rows / m) + row / m;
	} else {
		lane = row % 32;
		byte = row / 32 * b->bytes + q;
	}
	return byte / width * lw->lanes * width + lane * width + byte % width;
}

static bool row_after_row(const struct lower *lw, const struct reg_block *b, unsigned m)
{
	for (unsigned row = 0; row < b->rows; row++)
		for (unsigned q = 0; q < b->bytes; q++)
			if (place_in_block(lw, b, m, row, q) != row * b->bytes + q)
				return false;
	return true;
}

unsigned scale_rows(const struct lower *lw, enum operand_id id)
{
	unsigned m = lw->mx ? (id == OPERAND_SA ? lw->mx->m : lw->mx->n) : 0;

	for (size_t i = 0; m && i < lw->s->nregs; i++) {
		const struct reg_block *b = &lw->reg[i];

		if (b->operand != (int)id || b->rows % m || lw->lanes % m || b->r->kpart.n > 1)
			continue;
		return row_after_row(lw, b, m) ? 1 : b->rows;
	}
	return 1;
}
