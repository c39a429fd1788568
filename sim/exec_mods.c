/* Modifiers of instructions as a listing writes them, read into struct xinsn. */
#include "exec_core.h"

#include <stdlib.h>

struct mods {
	const char *s;
	size_t n;
};

static bool has(const struct mods *m, const char *word)
{
	return mods_has(m->s, m->n, word);
}

static bool number(const struct mods *m, const char *name, int64_t *v)
{
	const char *word;
	size_t n;

	return mods_value(m->s, m->n, name, v, &word, &n);
}

static int64_t number_or(const struct mods *m, const char *name, int64_t none)
{
	int64_t v;

	return number(m, name, &v) ? v : none;
}

/* What stands behind "name:", up to the next blank outside of brackets. false: it is not there. */
static bool text_of(const struct mods *m, const char *name, struct mods *out)
{
	size_t k = strlen(name), depth = 0;

	for (size_t i = 0; m->s && i + k < m->n; i++) {
		if ((i && ident_char(m->s[i - 1])) || memcmp(m->s + i, name, k) != 0 || m->s[i + k] != ':')
			continue;
		out->s = m->s + i + k + 1;
		for (out->n = 0; i + k + 1 + out->n < m->n; out->n++) {
			char c = out->s[out->n];

			depth += c == '(' || c == '[';
			depth -= (c == ')' || c == ']') && depth;
			if (!depth && (c == ' ' || c == '\t'))
				break;
		}
		return true;
	}
	return false;
}

/* "[1,0,1]": how many there are, 0 when there is no such list. */
static unsigned list(const struct mods *m, const char *name, int64_t *v, unsigned most)
{
	struct mods t;
	unsigned n = 0;

	if (!text_of(m, name, &t) || !t.n || t.s[0] != '[')
		return 0;
	for (size_t i = 1; i < t.n && n < most;) {
		size_t k = i;
		struct symtab none = { 0 };

		while (k < t.n && t.s[k] != ',' && t.s[k] != ']')
			k++;
		if (expr_eval(&none, t.s + i, k - i, &v[n]) < 0)
			return n;
		n++;
		i = k + 1;
	}
	return n;
}

static bool is(const char *s, size_t n, const char *word)
{
	return strlen(word) == n && !memcmp(s, word, n);
}

/* ---- SDWA ---- */

static uint8_t selection(const struct mods *m, const char *name)
{
	static const struct { const char *word; uint8_t sel; } words[] = {
		{ "DWORD", XSEL_DWORD }, { "BYTE_0", XSEL_BYTE_0 }, { "BYTE_1", XSEL_BYTE_1 }, { "BYTE_2", XSEL_BYTE_2 },
		{ "BYTE_3", XSEL_BYTE_3 }, { "WORD_0", XSEL_WORD_0 }, { "WORD_1", XSEL_WORD_1 },
	};
	struct mods t;

	if (text_of(m, name, &t))
		for (size_t i = 0; i < ARRAY_LEN(words); i++)
			if (is(t.s, t.n, words[i].word))
				return words[i].sel;
	return XSEL_DWORD;
}

static void read_sdwa(const struct mods *m, struct xinsn *in)
{
	struct mods t;

	in->dst_sel = selection(m, "dst_sel");
	if (text_of(m, "dst_unused", &t))
		in->dst_unused = is(t.s, t.n, "UNUSED_SEXT") ? 1 : is(t.s, t.n, "UNUSED_PRESERVE") ? 2 : 0;
	if (in->src0 < in->n)
		in->o[in->src0].sel = selection(m, "src0_sel");
	if (in->src0 + 1 < in->n)
		in->o[in->src0 + 1].sel = selection(m, "src1_sel");
}

/* ---- DPP ---- */

static const struct { const char *name; uint8_t kind; bool number; } dpp_words[] = {
	{ "row_shl", XDPP_ROW_SHL, true }, { "row_shr", XDPP_ROW_SHR, true }, { "row_ror", XDPP_ROW_ROR, true },
	{ "wave_shl", XDPP_WAVE_SHL, true }, { "wave_shr", XDPP_WAVE_SHR, true }, { "wave_rol", XDPP_WAVE_ROL, true },
	{ "wave_ror", XDPP_WAVE_ROR, true }, { "row_newbcast", XDPP_NEWBCAST, true }, { "row_share", XDPP_SHARE, true },
	{ "row_xmask", XDPP_XMASK, true }, { "row_mirror", XDPP_MIRROR, false }, { "row_half_mirror", XDPP_HALF_MIRROR, false },
};

static int read_dpp(const struct mods *m, struct xinsn *in)
{
	struct xdpp *d = &in->dpp;
	int64_t v[8] = { 0 };
	bool found = false;

	d->row_mask = (uint8_t)(number_or(m, "row_mask", 15) & 15);
	d->bank_mask = (uint8_t)(number_or(m, "bank_mask", 15) & 15);
	d->bound_ctrl = has(m, "bound_ctrl");
	d->fi = number_or(m, "fi", has(m, "fi")) != 0;
	if (list(m, "quad_perm", v, 4) == 4) {
		d->kind = XDPP_QUAD;
		for (unsigned i = 0; i < 4; i++)
			d->quad[i] = (uint8_t)(v[i] & 3);
		found = true;
	}
	if (list(m, "dpp8", v, 8) == 8) {
		d->kind = XDPP_DPP8;
		for (unsigned i = 0; i < 8; i++)
			d->lane8[i] = (uint8_t)(v[i] & 7);
		found = true;
	}
	for (size_t i = 0; i < ARRAY_LEN(dpp_words); i++) {
		if (!has(m, dpp_words[i].name))
			continue;
		d->kind = dpp_words[i].kind;
		d->arg = (uint8_t)(dpp_words[i].number ? number_or(m, dpp_words[i].name, 0) & 15 : 0);
		found = true;
	}
	if (number(m, "row_bcast", &v[0])) {
		d->kind = v[0] == 31 ? XDPP_BCAST31 : XDPP_BCAST15;
		found = true;
	}
	d->on = found;
	return found ? 0 : -1;
}

/* ---- VOP3, VOP3P ---- */

/* Entry k of a list belongs to the k-th source; one more belongs to the destination. */
static void read_halves(const struct mods *m, struct xinsn *in)
{
	bool mixed = !strncmp(in->base->op, "v_fma_mix", 9) || !strncmp(in->base->op, "v_mad_mix", 9);
	int64_t sel[5] = { 0 }, sel_hi[5], lo[5] = { 0 }, hi[5] = { 0 };
	unsigned nsel = list(m, "op_sel", sel, 5), sources = 0;

	for (unsigned i = 0; i < 5; i++)
		sel_hi[i] = !mixed;
	list(m, "op_sel_hi", sel_hi, 5);
	list(m, "neg_lo", lo, 5);
	list(m, "neg_hi", hi, 5);
	for (unsigned i = in->src0; i < in->n && sources < 4; i++, sources++) {
		in->o[i].op_sel = sel[sources] != 0;
		in->o[i].op_sel_hi = sel_hi[sources] != 0;
		in->o[i].neg_lo = lo[sources] != 0;
		in->o[i].neg_hi = hi[sources] != 0;
	}
	if (nsel == sources + 1 && in->n)
		in->o[0].op_sel = sel[sources] != 0;
	in->clamp = has(m, "clamp");
	if (number(m, "mul", &sel[0]))
		in->omod = sel[0] == 2 ? 1 : sel[0] == 4 ? 2 : 0;
	else if (number(m, "div", &sel[0]))
		in->omod = 3;
}

/* ---- matrix ---- */

static uint8_t word_index(const struct mods *m, const char *name, const char *const *words, size_t n, uint8_t none)
{
	struct mods t;
	int64_t v;

	if (!text_of(m, name, &t))
		return none;
	for (size_t i = 0; i < n; i++)
		if (is(t.s, t.n, words[i]))
			return (uint8_t)i;
	return number(m, name, &v) && v >= 0 ? (uint8_t)v : none;
}

static void read_matrix(const struct mods *m, struct xinsn *in)
{
	static const char *const formats[] = { "MATRIX_FMT_FP8", "MATRIX_FMT_BF8", "MATRIX_FMT_FP6", "MATRIX_FMT_BF6",
					       "MATRIX_FMT_FP4" };
	static const char *const scales[] = { "MATRIX_SCALE_FMT_E8", "MATRIX_SCALE_FMT_E5M3", "MATRIX_SCALE_FMT_E4M3" };
	static const char *const rows[] = { "MATRIX_SCALE_ROW0", "MATRIX_SCALE_ROW1" };
	struct xmatrix *x = &in->mx;
	int64_t v[5] = { 0 }, hi[5] = { 0 };

	x->cbsz = (uint8_t)number_or(m, "cbsz", 0);
	x->abid = (uint8_t)number_or(m, "abid", 0);
	x->blgp = (uint8_t)number_or(m, "blgp", 0);
	if (list(m, "neg", v, 3)) /* of f64 operations, in the place of blgp */
		x->blgp = (uint8_t)((v[0] & 1) | (v[1] & 1) << 1 | (v[2] & 1) << 2);
	x->fmt_a = word_index(m, "matrix_a_fmt", formats, ARRAY_LEN(formats), x->cbsz);
	x->fmt_b = word_index(m, "matrix_b_fmt", formats, ARRAY_LEN(formats), x->blgp);
	x->scale_fmt_a = word_index(m, "matrix_a_scale_fmt", scales, ARRAY_LEN(scales), 0);
	x->scale_fmt_b = word_index(m, "matrix_b_scale_fmt", scales, ARRAY_LEN(scales), 0);
	x->scale_row_a = word_index(m, "matrix_a_scale", rows, ARRAY_LEN(rows), 0);
	x->scale_row_b = word_index(m, "matrix_b_scale", rows, ARRAY_LEN(rows), 0);
	x->reuse_a = has(m, "matrix_a_reuse");
	x->reuse_b = has(m, "matrix_b_reuse");
	x->clamp = has(m, "clamp");
	v[0] = v[1] = v[2] = 0;
	list(m, "op_sel", v, 5);
	list(m, "op_sel_hi", hi, 5);
	x->op_sel_a = (uint8_t)((v[0] & 1) | (hi[0] & 1) << 1);
	x->op_sel_b = (uint8_t)((v[1] & 1) | (hi[1] & 1) << 1);
	v[0] = v[1] = v[2] = hi[0] = hi[1] = hi[2] = 0;
	list(m, "neg_lo", v, 5);
	list(m, "neg_hi", hi, 5);
	for (unsigned i = 0; i < 3; i++) {
		x->neg_lo |= (uint8_t)((v[i] & 1) << i);
		x->neg_hi |= (uint8_t)((hi[i] & 1) << i);
	}
}

/* ---- memory ---- */

static int64_t bits_mask(const char *s, size_t n, int64_t *or_mask, int64_t *xor_mask)
{
	int64_t and_mask = 0;

	for (size_t i = 0; i < n; i++) {
		and_mask = and_mask << 1 | (s[i] == 'p' || s[i] == 'i');
		*or_mask = *or_mask << 1 | (s[i] == '1');
		*xor_mask = *xor_mask << 1 | (s[i] == 'i');
	}
	return and_mask;
}

/* "swizzle(BITMASK_PERM, "01pip")" and its like, as the offset that encodes it. */
static int read_swizzle(const char *s, size_t n, int32_t *out)
{
	static const char *const words[] = { "QUAD_PERM", "BITMASK_PERM", "BROADCAST", "SWAP", "REVERSE", "FFT", "ROTATE" };
	int64_t v[4] = { 0 }, and_mask = 31, or_mask = 0, xor_mask = 0;
	size_t i = 0, k, nv = 0, word;
	struct symtab none = { 0 };

	while (i < n && s[i] != '(')
		i++;
	for (i++; i < n && s[i] == ' '; i++)
		;
	for (k = i; k < n && ident_char(s[k]); k++)
		;
	for (word = 0; word < ARRAY_LEN(words) && !is(s + i, k - i, words[word]); word++)
		;
	for (i = k; i < n && s[i] != ')' && nv < 4; i = k) {
		for (i++; i < n && s[i] == ' '; i++)
			;
		for (k = i; k < n && s[k] != ',' && s[k] != ')'; k++)
			;
		if (k > i + 2 && s[i] == '"')
			and_mask = bits_mask(s + i + 1, k - i - 2, &or_mask, &xor_mask);
		else if (k > i && expr_eval(&none, s + i, k - i, &v[nv]) == 0)
			nv++;
	}
	switch (word) {
	case 0:
		*out = (int32_t)(0x8000 | (v[0] & 3) | (v[1] & 3) << 2 | (v[2] & 3) << 4 | (v[3] & 3) << 6);
		return 0;
	case 1: break;
	case 2:
		and_mask = 32 - v[0];
		or_mask = v[1];
		break;
	case 3: xor_mask = v[0]; break;
	case 4: xor_mask = v[0] - 1; break;
	case 5:
		*out = (int32_t)(0xe000 | (v[0] & 31));
		return 0;
	case 6:
		*out = (int32_t)(0xc000 | (v[0] & 1) << 10 | (v[1] & 31) << 5);
		return 0;
	default: return -1;
	}
	*out = (int32_t)((and_mask & 31) | (or_mask & 31) << 5 | (xor_mask & 31) << 10);
	return 0;
}

static int read_memory(const struct mods *m, struct xinsn *in)
{
	struct xmem *x = &in->mem;
	struct mods t;
	int64_t v;

	if (text_of(m, "offset", &t) && t.n > 8 && !memcmp(t.s, "swizzle(", 8)) {
		if (read_swizzle(t.s, t.n, &x->offset) < 0)
			return -1;
	} else if (number(m, "offset", &v)) {
		struct symtab none = { 0 };

		if (expr_eval(&none, t.s, t.n, &v) < 0 || v < INT32_MIN / 2 || v > INT32_MAX / 2)
			return -1;
		x->offset = (int32_t)v;
	}
	x->offset0 = (int32_t)(number_or(m, "offset0", 0) & 255);
	x->has_offset1 = number(m, "offset1", &v);
	x->offset1 = (int32_t)(x->has_offset1 ? v & 255 : 0);
	x->offen = has(m, "offen");
	x->idxen = has(m, "idxen");
	x->lds = has(m, "lds");
	x->glc = has(m, "sc0") || has(m, "glc");
	x->tfe = has(m, "tfe");
	x->gds = has(m, "gds");
	return 0;
}

/* ---- hardware registers ---- */

static const struct { const char *name; unsigned id; } hwregs[] = {
	{ "HW_REG_MODE", 1 }, { "HW_REG_STATUS", 2 }, { "HW_REG_WAVE_MODE", 1 }, { "HW_REG_WAVE_STATUS", 2 },
	{ "HW_REG_TRAPSTS", 3 }, { "HW_REG_HW_ID", 4 }, { "HW_REG_GPR_ALLOC", 5 }, { "HW_REG_LDS_ALLOC", 6 },
	{ "HW_REG_IB_STS", 7 }, { "HW_REG_SH_MEM_BASES", 15 }, { "HW_REG_XCC_ID", 20 }, { "HW_REG_HW_ID1", 23 },
	{ "HW_REG_HW_ID2", 24 }, { "HW_REG_SCHED_MODE", 26 }, { "HW_REG_WAVE_SCHED_MODE", 26 }, { "HW_REG_SHADER_CYCLES", 29 },
	{ "HW_REG_SHADER_CYCLES_LO", 29 }, { "HW_REG_SHADER_CYCLES_HI", 30 }, { "HW_REG_IB_STS2", 28 },
	{ "HW_REG_WAVE_HW_ID1", 23 }, { "HW_REG_WAVE_HW_ID2", 24 }, { "HW_REG_EXCP_FLAG_USER", 18 },
};

int xmods_hwreg(const char *s, size_t n, uint64_t *simm)
{
	int64_t v[3] = { 0, 0, 32 };
	struct symtab none = { 0 };
	size_t i = 0;

	while (i < n && s[i] != '(')
		i++;
	if (i == n)
		return -1;
	for (unsigned k = 0; k < 3 && i < n && s[i] != ')'; k++) {
		size_t from, to;

		for (from = i + 1; from < n && s[from] == ' '; from++)
			;
		for (to = from; to < n && s[to] != ',' && s[to] != ')'; to++)
			;
		i = to;
		while (to > from && s[to - 1] == ' ')
			to--;
		if (k == 0) {
			v[0] = -1;
			for (size_t r = 0; r < ARRAY_LEN(hwregs); r++)
				if (is(s + from, to - from, hwregs[r].name))
					v[0] = hwregs[r].id;
		}
		if ((k || v[0] < 0) && expr_eval(&none, s + from, to - from, &v[k]) < 0)
			return -1;
	}
	if (v[0] < 0 || v[0] > 63 || v[1] < 0 || v[1] > 31 || v[2] < 1 || v[2] > 32)
		return -1;
	*simm = (uint64_t)(v[0] | v[1] << 6 | (v[2] - 1) << 11);
	return 0;
}

/* Modifiers of one half of a dual instruction: the text from its last operand to the colons or the end. */
static struct mods half_mods(const struct insn *base, const struct operand_list *ops)
{
	struct mods m = { base->loc.src->text + base->loc.begin, base->loc.end - base->loc.begin };
	size_t skip = ops->n ? ops->o[ops->n - 1].end - base->loc.begin : 0;

	if (!ops->n || skip > m.n)
		return (struct mods){ NULL, 0 };
	m.s += skip;
	m.n -= skip;
	for (size_t i = 0; i + 1 < m.n; i++)
		if (m.s[i] == ':' && m.s[i + 1] == ':')
			m.n = i;
	return m;
}

int xmods_read(struct xinsn *in, const struct operand_list *ops, bool dual)
{
	const char *text = in->base->mods;
	struct mods m = { text, text ? strlen(text) : 0 };
	enum opclass c = in->base->cls;

	if (dual)
		m = half_mods(in->base, ops);
	read_halves(&m, in);
	if (c == OPC_MATRIX)
		read_matrix(&m, in);
	if (in->flags & XF_MEMORY)
		return m.s ? read_memory(&m, in) : 0;
	if (!m.s)
		return 0;
	if (ops->suffix == SUFFIX_SDWA)
		read_sdwa(&m, in);
	if ((ops->suffix == SUFFIX_DPP || ops->suffix == SUFFIX_E64_DPP) && read_dpp(&m, in) < 0)
		return -1;
	in->simm = (uint64_t)number_or(&m, "bitop3", 0);
	return 0;
}
