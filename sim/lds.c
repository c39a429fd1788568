/* LDS bank arithmetic: what real lane addresses cost. */
#include "lds.h"

/* Sort the few dwords of one group; duplicates are one broadcast access. */
static size_t sort_unique(uint32_t *dw, size_t n)
{
	size_t out = 0;

	for (size_t i = 1; i < n; i++) {
		uint32_t v = dw[i];
		size_t j = i;

		for (; j > 0 && dw[j - 1] > v; j--)
			dw[j] = dw[j - 1];
		dw[j] = v;
	}
	for (size_t i = 0; i < n; i++)
		if (!out || dw[i] != dw[out - 1])
			dw[out++] = dw[i];
	return out;
}

/* Different dwords in the busiest bank. dw is scratch space. */
static unsigned busiest_bank(uint32_t *dw, size_t n, unsigned banks)
{
	unsigned count[256] = { 0 }, worst = 0;

	if (banks == 0 || banks > 256)
		banks = 64;
	n = sort_unique(dw, n);
	for (size_t i = 0; i < n; i++) {
		unsigned c = ++count[dw[i] % banks];

		if (c > worst)
			worst = c;
	}
	return worst;
}

static bool unaligned(const struct lds_row *row, unsigned nlanes, const uint32_t *addr, uint32_t limit)
{
	if (row->width_bytes < 2)
		return false;
	for (unsigned l = 0; l < nlanes; l++)
		if (addr[l] < limit && addr[l] % row->width_bytes)
			return true;
	return false;
}

unsigned lds_array_clk(const struct lds_row *row, unsigned nlanes, const uint32_t *addr, uint32_t limit,
		       unsigned unaligned_clk)
{
	unsigned words = (row->width_bytes + 3) / 4, sum = 0;

	if (nlanes > 64)
		nlanes = 64;
	if (words > 4)
		words = 4;
	if (unaligned_clk && unaligned(row, nlanes, addr, limit))
		return nlanes * unaligned_clk;
	for (unsigned g = 0; g < row->ngroups && g < ARRAY_LEN(row->group); g++) {
		uint32_t dw[64 * 4];
		size_t n = 0;

		for (unsigned l = 0; l < nlanes; l++)
			if ((row->group[g] >> l & 1) && addr[l] < limit)
				for (unsigned w = 0; w < words; w++)
					dw[n++] = addr[l] / 4 + w;
		sum += busiest_bank(dw, n, row->banks);
	}
	return sum ? sum : 1;
}

unsigned lds_array_clk_free(const struct lds_row *row)
{
	unsigned words = (row->width_bytes + 3) / 4, clk = 0;

	for (unsigned g = 0; g < row->ngroups && g < ARRAY_LEN(row->group); g++) {
		unsigned lanes = (unsigned)__builtin_popcountll(row->group[g]);
		unsigned banks = row->banks ? row->banks : 64;
		unsigned need = (lanes * words + banks - 1) / banks;

		clk += need ? need : 1;
	}
	return clk ? clk : 1;
}
