/*
 * Taints: values that nothing has written, and in analysis mode values that nobody knows. They move with
 * the data, lane by lane and bit by bit where operations do; only where one of them decides something
 * is there a finding.
 */
#include "exec_core.h"

uint64_t x_tainted(const struct xwave *w, unsigned reg, unsigned n, unsigned taint)
{
	uint64_t lanes = 0;

	for (unsigned r = reg; r < reg + n; r++) {
		if (r < REG_SGPR)
			lanes |= taint & XS_UNDEF ? w->v_taint[r].undef : 0;
		if (r < REG_SGPR)
			lanes |= taint & XS_UNKNOWN ? w->v_taint[r].unknown : 0;
		else if (w->s_taint[r - REG_SGPR] & taint)
			lanes = w->all;
	}
	return lanes;
}

void x_taint(struct xwave *w, unsigned reg, uint64_t lanes, unsigned taint)
{
	if (reg < REG_SGPR) {
		if (taint & XS_UNDEF)
			w->v_taint[reg].undef |= lanes;
		if (taint & XS_UNKNOWN)
			w->v_taint[reg].unknown |= lanes;
	} else if (lanes && reg < REG_COUNT) {
		w->s_taint[reg - REG_SGPR] |= (uint8_t)taint;
		if (taint & XS_UNDEF)
			w->s_undef[reg - REG_SGPR] = UINT32_MAX;
		if (taint & XS_UNKNOWN)
			w->s_unknown[reg - REG_SGPR] = UINT32_MAX;
	}
}

/* ---- sources ---- */

static bool any_taint(const struct xwave *w, const struct xinsn *in)
{
	uint64_t v = 0;
	unsigned s = 0;

	for (unsigned i = 0; i < in->nread; i++) {
		unsigned r = in->read[i].first, end = r + in->read[i].n;

		if (r < REG_SGPR)
			for (; r < end; r++)
				v |= w->v_taint[r].undef | w->v_taint[r].unknown;
		else
			for (; r < end; r++)
				s |= w->s_taint[r - REG_SGPR];
	}
	return (v & w->all) || s;
}

/* Bits of scalar registers first .. first + n - 1 as one word of up to 64. */
static struct xlanes scalar_bits(const struct xwave *w, const struct span *s)
{
	struct xlanes t = { 0 };

	for (unsigned i = 0; i < s->n && i < 2; i++) {
		unsigned r = s->first + i - REG_SGPR;

		if (w->s_taint[r] & XS_UNDEF)
			t.undef |= (uint64_t)w->s_undef[r] << (32 * i);
		if (w->s_taint[r] & XS_UNKNOWN)
			t.unknown |= (uint64_t)w->s_unknown[r] << (32 * i);
	}
	return t;
}

static struct xlanes scalar_all(const struct xwave *w, const struct span *s)
{
	unsigned t = 0;

	for (unsigned i = 0; i < s->n; i++)
		t |= w->s_taint[s->first + i - REG_SGPR];
	return (struct xlanes){ t & XS_UNDEF ? UINT64_MAX : 0, t & XS_UNKNOWN ? UINT64_MAX : 0 };
}

static struct xlanes vector_bits(const struct xwave *w, const struct span *s)
{
	struct xlanes t = { 0 };

	for (unsigned r = s->first; r < s->first + (unsigned)s->n; r++) {
		t.undef |= w->v_taint[r].undef;
		t.unknown |= w->v_taint[r].unknown;
	}
	return t;
}

static bool is_mask(const struct xwave *w, const struct xinsn *in, const struct span *s)
{
	if (s->n != (w->lanes > 32 ? 2 : 1))
		return false;
	if (s->first == REG_VCC || s->first == REG_EXEC)
		return true;
	for (unsigned i = 0; i < in->n; i++)
		if (in->o[i].kind == OPERAND_REG && in->o[i].reg == s->first && in->o[i].type == XT_MASK)
			return true;
	return false;
}

static uint64_t permute(const struct xwave *w, uint64_t t)
{
	uint64_t out = 0;

	for (unsigned l = 0; t && l < w->lanes; l++) {
		int from = w->core->lane_from[l];

		if (from >= 0 && t >> from & 1)
			out |= UINT64_C(1) << l;
	}
	return out;
}

static void merge(struct xlanes *to, struct xlanes t)
{
	to->undef |= t.undef;
	to->unknown |= t.unknown;
}

static struct xlanes span_taint(const struct xwave *w, const struct xinsn *in, const struct span *s)
{
	const struct xopnd *o = &in->o[in->src0];
	struct xlanes t;

	if (s->first >= REG_SGPR)
		return is_mask(w, in, s) ? scalar_bits(w, s) : scalar_all(w, s);
	t = vector_bits(w, s);
	if (in->dpp.on && o->kind == OPERAND_REG && o->reg == s->first) {
		t.undef = permute(w, t.undef);
		t.unknown = permute(w, t.unknown);
	}
	return t;
}

static struct xlanes operand_taint(const struct xwave *w, const struct xinsn *in, unsigned i)
{
	const struct xopnd *o = &in->o[i];
	struct span s = { o->reg, o->n };

	return o->kind == OPERAND_REG ? span_taint(w, in, &s) : (struct xlanes){ 0 };
}

/* v_cndmask: each lane takes one source. */
static struct xlanes select_taint(const struct xwave *w, const struct xinsn *in)
{
	struct xlanes a = operand_taint(w, in, 1), b = operand_taint(w, in, 2), m;
	uint64_t mask = x_mask_get(w, in, 3);
	struct span vcc = { REG_VCC, w->lanes > 32 ? 2 : 1 };

	m = in->n > 3 ? operand_taint(w, in, 3) : scalar_bits(w, &vcc);
	return (struct xlanes){ m.undef | (a.undef & ~mask) | (b.undef & mask),
				m.unknown | (a.unknown & ~mask) | (b.unknown & mask) };
}

static struct xlanes vector_sources(const struct xwave *w, const struct xinsn *in)
{
	struct xlanes t = { 0 };

	if (in->flags & XF_SELECT)
		return select_taint(w, in);
	for (unsigned i = 0; i < in->nread; i++)
		merge(&t, span_taint(w, in, &in->read[i]));
	return t;
}

/* A bit that decides an AND or OR alone makes the other one's taint vanish. */
static uint64_t decided(uint64_t ta, uint64_t tb, uint64_t a, uint64_t b, unsigned flags)
{
	uint64_t pass_a = flags & XF_AND ? b : ~b, pass_b = flags & XF_OR ? ~a : a; /* where the other one does not decide */

	return (ta & (pass_a | tb)) | (tb & (pass_b | ta));
}

static uint64_t scalar_value(const struct xwave *w, const struct xinsn *in, unsigned i)
{
	return i < in->n ? x_scalar64(w, in, i) : w->exec;
}

static struct xlanes bitwise_sources(const struct xwave *w, const struct xinsn *in)
{
	struct xlanes a = { 0 }, b = { 0 };
	struct span exec = { REG_EXEC, 2 };

	if (in->flags & (XF_AND | XF_ANDN2 | XF_OR)) { /* d = o1 op o2; a saveexec has EXEC in the place of o2 */
		uint64_t x = scalar_value(w, in, 1), y = scalar_value(w, in, 2);

		a = operand_taint(w, in, 1);
		b = in->n > 2 ? operand_taint(w, in, 2) : scalar_bits(w, &exec);
		return (struct xlanes){ decided(a.undef, b.undef, x, y, in->flags), decided(a.unknown, b.unknown, x, y, in->flags) };
	}
	for (unsigned i = 0; i < in->nread; i++) {
		if (in->read[i].first == REG_SCC)
			merge(&a, scalar_all(w, &in->read[i]));
		else
			merge(&a, scalar_bits(w, &in->read[i]));
	}
	return a;
}

static void spread(struct xlanes *t, uint64_t lanes)
{
	t->undef = t->undef & lanes ? UINT64_MAX : 0;
	t->unknown = t->unknown & lanes ? UINT64_MAX : 0;
}

static struct xlanes one_lane(const struct xwave *w, const struct xinsn *in, struct xlanes t)
{
	unsigned l = in->n > 2 ? x_scalar32(w, in, 2) : w->exec ? (unsigned)__builtin_ctzll(w->exec) : 0;
	struct xlanes v = operand_taint(w, in, 1);

	l &= w->lanes - 1;
	(void)t;
	return (struct xlanes){ v.undef >> l & 1 ? UINT64_MAX : 0, v.unknown >> l & 1 ? UINT64_MAX : 0 };
}

bool taint_sources(struct xwave *w, const struct xinsn *in, struct xlanes *lanes)
{
	struct xlanes t = { 0 };

	*lanes = t;
	if ((in->flags & XF_FREE) || !any_taint(w, in))
		return false;
	if (in->flags & XF_READLANE) {
		t = one_lane(w, in, t);
	} else if (in->flags & XF_MATRIX) {
		t = vector_sources(w, in);
		spread(&t, w->all);
	} else if (in->flags & XF_VECTOR) {
		t = vector_sources(w, in);
		if (in->flags & XF_CROSS)
			spread(&t, w->exec);
	} else if (in->flags & XF_BITWISE) {
		t = bitwise_sources(w, in);
	} else {
		for (unsigned i = 0; i < in->nread; i++)
			merge(&t, in->read[i].first < REG_SGPR ? vector_bits(w, &in->read[i]) : scalar_all(w, &in->read[i]));
		spread(&t, w->all);
	}
	*lanes = t;
	return t.undef || t.unknown;
}

/* ---- results ---- */

static void set_scalar(struct xwave *w, unsigned reg, uint32_t undef, uint32_t unknown)
{
	unsigned r = reg - REG_SGPR;

	w->s_taint[r] = (uint8_t)((undef ? XS_UNDEF : 0) | (unknown ? XS_UNKNOWN : 0));
	w->s_undef[r] = undef;
	w->s_unknown[r] = unknown;
}

static void set_lanes(struct xlanes *t, uint64_t mask, struct xlanes v)
{
	t->undef = (t->undef & ~mask) | (v.undef & mask);
	t->unknown = (t->unknown & ~mask) | (v.unknown & mask);
}

/* SCC says whether a result is zero: a bit that is surely one decides it. */
static bool surely_set(const struct xwave *w, const struct xinsn *in, const struct xlanes *t)
{
	return (in->flags & XF_BITWISE) && in->n && (x_scalar64(w, in, 0) & ~(t->undef | t->unknown)) != 0;
}

static void demand_exec(struct xwave *w, const struct xinsn *in, struct xlanes t)
{
	if (t.undef & w->all)
		core_report(w, in->index, DIAG_UNINIT, __builtin_ctzll(t.undef & w->all), UINT32_MAX, NULL,
			    "EXEC is computed from a value that nothing has written");
	if (t.unknown & w->all) /* all lanes that may run do */
		x_set_exec(w, w->exec | (t.unknown & w->all));
	w->core->exec_unknown = (t.unknown & w->all) != 0;
}

/* What reaches word k of a result of two words, of a vector op whose words are apart. */
static struct xlanes word_taint(const struct xwave *w, const struct xinsn *in, unsigned k)
{
	struct xlanes t = { 0 };

	for (unsigned i = 0; i < in->n; i++) {
		const struct xopnd *o = &in->o[i];
		unsigned word = in->flags & XF_PACKED ? (k ? o->op_sel_hi : o->op_sel) : 0;
		struct span s = { (uint16_t)(o->reg + (word < o->n ? word : 0)), 1 };

		if (i < in->src0 || o->kind != OPERAND_REG || o->special)
			continue;
		merge(&t, s.first < REG_SGPR ? vector_bits(w, &s) : scalar_all(w, &s));
	}
	return t;
}

void taint_results(struct xwave *w, const struct xinsn *in, const struct xlanes *lanes, bool any)
{
	struct xlanes t = *lanes, word[2] = { t, t };
	uint64_t mask = in->flags & XF_MATRIX ? w->all : w->write_mask;
	bool exec = false;

	if (!any) {
		taint_clear_results(w, in);
		return;
	}
	if (in->flags & XF_WRITELANE) {
		mask = UINT64_C(1) << (x_scalar32(w, in, 2) & (w->lanes - 1));
		t = operand_taint(w, in, 1);
	}
	if (in->flags & (XF_LOW64 | XF_PACKED))
		word[0] = word_taint(w, in, 0);
	if (in->flags & XF_PACKED)
		word[1] = word_taint(w, in, 1);
	for (unsigned i = 0; i < in->nwrite; i++) {
		const struct span *s = &in->write[i];

		for (unsigned k = 0; k < s->n; k++) {
			unsigned r = s->first + k;
			uint64_t lanes_on = (in->flags & (XF_VECTOR | XF_READLANE)) == XF_VECTOR ? w->write_mask : UINT64_MAX;

			if (r < REG_SGPR)
				set_lanes(&w->v_taint[r], mask, s->n == 2 ? word[k] : t);
			else if ((in->flags & XF_SAVEEXEC) && i == 0 && r != REG_EXEC && r != REG_EXEC + 1)
				set_scalar(w, r, 0, 0);
			else if (r == REG_EXEC || r == REG_EXEC + 1)
				exec = true;
			else if (r == REG_SCC)
				set_scalar(w, r, t.undef && !surely_set(w, in, &t) ? UINT32_MAX : 0,
					   t.unknown && !surely_set(w, in, &t) ? UINT32_MAX : 0);
			else if ((in->flags & XF_LOW64) && k == 0 && !(in->flags & XF_VECTOR))
				set_scalar(w, r, word[0].undef ? UINT32_MAX : 0, word[0].unknown ? UINT32_MAX : 0);
			else
				set_scalar(w, r, (uint32_t)((t.undef & lanes_on) >> (32 * (k & 1))),
					   (uint32_t)((t.unknown & lanes_on) >> (32 * (k & 1))));
		}
	}
	if (exec) {
		if (in->flags & XF_VECTOR) {
			t.undef &= w->write_mask;
			t.unknown &= w->write_mask;
		}
		demand_exec(w, in, t);
	}
}

void taint_clear_results(struct xwave *w, const struct xinsn *in)
{
	uint64_t mask = in->flags & XF_MATRIX ? w->all : w->write_mask;

	if (in->flags & XF_WRITELANE)
		mask = UINT64_C(1) << (x_scalar32(w, in, 2) & (w->lanes - 1));
	for (unsigned i = 0; i < in->nwrite; i++) {
		unsigned r = in->write[i].first, end = r + in->write[i].n;

		for (; r < end; r++) {
			if (r >= REG_SGPR) {
				w->s_taint[r - REG_SGPR] = 0;
				if (r == REG_EXEC)
					w->core->exec_unknown = false;
			} else if (w->v_taint[r].undef | w->v_taint[r].unknown) {
				w->v_taint[r].undef &= ~mask;
				w->v_taint[r].unknown &= ~mask;
			}
		}
	}
}

void taint_unknown_results(struct xwave *w, const struct xinsn *in)
{
	for (unsigned i = 0; i < in->nwrite; i++)
		for (unsigned k = 0; k < in->write[i].n; k++)
			x_taint(w, in->write[i].first + k, w->exec, XS_UNKNOWN);
}

bool taint_copies(const struct xinsn *in)
{
	return in->base->cls == OPC_VMEM_LDS || in->base->cls == OPC_TDM_LOAD || in->base->cls == OPC_TDM_STORE;
}

static bool known(const struct xwave *w, unsigned reg, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (reg + i < REG_SGPR ? (w->v_taint[reg + i].unknown & w->exec) != 0 : (w->s_taint[reg + i - REG_SGPR] & XS_UNKNOWN) != 0)
			return false;
	return true;
}

bool taint_lds_known(const struct xwave *w, const struct xinsn *in)
{
	if (!taint_copies(in) || in->n < 2)
		return false;
	if (in->base->cls != OPC_VMEM_LDS) /* LDS address, and the group with sizes and padding */
		return known(w, in->o[0].reg + 1u, 1) && known(w, in->o[1].reg, 8);
	for (unsigned i = 0; i < in->nread; i++)
		if (in->read[i].first == REG_M0 && x_gfx9(w))
			return known(w, REG_M0, 1);
	return in->o[0].kind == OPERAND_REG && known(w, in->o[0].reg, 1);
}

/* ---- where values decide ---- */

static void forgive(struct xwave *w, const struct span *s)
{
	for (unsigned r = s->first; r < s->first + (unsigned)s->n; r++) {
		if (r >= REG_SGPR)
			w->s_taint[r - REG_SGPR] &= (uint8_t)~XS_UNDEF;
		else
			w->v_taint[r].undef &= ~w->exec;
	}
}

/* A branch on VCC or EXEC asks whether any bit is set. */
static struct xlanes branch_taint(const struct xwave *w, const struct span *s)
{
	struct xlanes t;
	uint64_t v;

	if (s->first != REG_VCC && s->first != REG_EXEC)
		return scalar_all(w, s);
	t = scalar_bits(w, s);
	v = s->first == REG_VCC ? x_vcc(w) : w->exec;
	t.undef &= w->all;
	t.unknown &= w->all;
	return v & ~(t.undef | t.unknown) ? (struct xlanes){ 0 } : t;
}

static void demand_branch(struct xwave *w, const struct xinsn *in)
{
	w->core->branch_unknown = false;
	for (unsigned i = 0; i < in->nread; i++) {
		struct xlanes t = branch_taint(w, &in->read[i]);

		if (t.undef) {
			core_report(w, in->index, DIAG_UNINIT, -1, UINT32_MAX, NULL, "the branch depends on a value that nothing has written");
			forgive(w, &in->read[i]);
		}
		if (t.unknown)
			w->core->branch_unknown = true;
	}
}

static const char *demanded(const struct xinsn *in, unsigned i)
{
	if (in->read_role[i] == ROLE_ADDR)
		return "the address is computed from a value that nothing has written";
	if (in->read[i].first == REG_M0 && (in->flags & XF_M0))
		return "the LDS address in M0 was never written";
	if (in->read_role[i] == ROLE_DATA && (in->flags & XF_STORE_OUT))
		return "a value that nothing has written is stored";
	return NULL;
}

int taint_demand(struct xwave *w, const struct xinsn *in)
{
	bool pass_over = false;

	if (!any_taint(w, in)) {
		w->core->branch_unknown = false;
		return 0;
	}
	if (in->flags & XF_DECIDES) {
		demand_branch(w, in);
		return 0;
	}
	for (unsigned i = 0; i < in->nread; i++) {
		const char *what = demanded(in, i);
		struct xlanes t;

		if (!what)
			continue;
		t = in->read[i].first < REG_SGPR ? vector_bits(w, &in->read[i]) : scalar_all(w, &in->read[i]);
		if (in->read[i].first < REG_SGPR || w->exec) {
			t.undef &= w->exec;
			t.unknown &= w->exec;
		}
		if (t.undef) {
			core_report(w, in->index, DIAG_UNINIT, __builtin_ctzll(t.undef), UINT32_MAX, NULL, "%s", what);
			forgive(w, &in->read[i]);
		}
		if (t.unknown && (in->read_role[i] != ROLE_DATA))
			pass_over = true;
	}
	return pass_over ? -1 : 0;
}
