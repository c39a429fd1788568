/* The core's own instructions: branches, waits, barriers, modes, clocks, and what has no effect here. */
#include "exec_core.h"

uint64_t code_address(const struct xprog *x, uint32_t insn)
{
	return X_CODE_BASE + x->offset[insn];
}

static const struct xprog *prog_of(const struct xwave *w)
{
	return w->wg->run->prog;
}

/* ---- branches ---- */

enum { ON_SCC0, ON_SCC1, ON_VCCZ, ON_VCCNZ, ON_EXECZ, ON_EXECNZ };

static int go(struct xwave *w, const struct xinsn *in)
{
	int32_t to = in->base->target;

	if (to < 0 || (size_t)to >= prog_of(w)->p->ninsns)
		return x_fault(w, in, DIAG_UNSUPPORTED, -1, "the branch leaves the kernel: other functions are not executed");
	if ((uint32_t)to <= in->index)
		w->core->last_back = in->index;
	w->next_pc = (uint32_t)to;
	return 0;
}

/* Does the program end straight behind instruction i? */
static bool ends_at(const struct xwave *w, uint32_t i)
{
	const struct program *p = prog_of(w)->p;

	for (unsigned n = 0; n < 8 && i < p->ninsns; n++, i++) {
		if (p->insns[i].cls == OPC_END)
			return true;
		if (p->insns[i].cls != OPC_WAIT && p->insns[i].cls != OPC_NOP && p->insns[i].cls != OPC_SALU)
			return false;
	}
	return i >= p->ninsns;
}

/*
 * A way out of a loop on an unknown condition, in front of the loop's end: it is taken when it was passed by as
 * often as a backward branch would be taken. Of more such branches than there is room for the oldest is forgotten.
 */
static bool leaves_loop(struct xcore *c, const struct xinsn *in, unsigned trips)
{
	size_t n = sizeof(c->unknown_exit) / sizeof(c->unknown_exit[0]), i = 0;

	while (i < n - 1 && c->unknown_exit[i].insn != in->index && c->unknown_exit[i].passed)
		i++;
	if (c->unknown_exit[i].insn != in->index) {
		c->unknown_exit[i].insn = in->index;
		c->unknown_exit[i].passed = 0;
	}
	if (++c->unknown_exit[i].passed < trips)
		return false;
	c->unknown_exit[i].passed = 0;
	return true;
}

static bool way_out(const struct xcore *c, const struct xinsn *in)
{
	return c->last_back != UINT32_MAX && in->index <= c->last_back && (uint32_t)in->base->target > c->last_back;
}

/*
 * A condition that nobody knows. Backward: a loop over unknown data makes some trips. Forward: what a bounds
 * check skips, up to the end of the kernel, is executed. Other branches go where the values that stand for the
 * unknown ones lead (exec_start.c): sizes are large, so that loops are entered. taken: what these say.
 */
static bool guess(struct xwave *w, const struct xinsn *in, bool taken)
{
	struct xcore *c = w->core;
	unsigned trips = x_options(w)->unknown_trips ? x_options(w)->unknown_trips : 4;

	if (in->base->target < 0)
		return false;
	if ((uint32_t)in->base->target > in->index) {
		bool end_there = ends_at(w, (uint32_t)in->base->target), end_here = ends_at(w, in->index + 1);

		if (way_out(c, in))
			return leaves_loop(c, in, trips);
		return end_there == end_here ? taken : end_here;
	}
	if (c->unknown_run != in->index)
		c->unknown_taken = 0;
	c->unknown_run = in->index;
	if (c->unknown_taken++ < trips)
		return true;
	c->unknown_taken = 0;
	return false;
}

static int op_branch(struct xwave *w, const struct xinsn *in)
{
	return go(w, in);
}

static int op_cbranch(struct xwave *w, const struct xinsn *in)
{
	bool taken = false;

	switch (in->arg) {
	case ON_SCC0: taken = !x_scc(w); break;
	case ON_SCC1: taken = x_scc(w); break;
	case ON_VCCZ: taken = x_vcc(w) == 0; break;
	case ON_VCCNZ: taken = x_vcc(w) != 0; break;
	case ON_EXECZ: taken = w->exec == 0; break;
	case ON_EXECNZ: taken = w->exec != 0; break;
	default: break;
	}
	if (x_analysis(w) && (w->core->branch_unknown ||
			      ((in->arg == ON_EXECZ || in->arg == ON_EXECNZ) && w->core->exec_unknown)))
		taken = guess(w, in, taken);
	if (!taken)
		return 0;
	w->wg->cluster->site[in->index].taken++;
	return go(w, in);
}

/* To a code address: an instruction must begin there. */
static int jump(struct xwave *w, const struct xinsn *in, uint64_t address)
{
	const struct xprog *x = prog_of(w);
	uint64_t at = address - X_CODE_BASE;
	size_t lo = 0, hi = x->p->ninsns;

	if (w->core->branch_unknown && x_analysis(w))
		return x_fault(w, in, DIAG_UNSUPPORTED, -1, "the jump goes to an address that depends on unknown arguments");
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (x->offset[mid] < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo >= x->p->ninsns || x->offset[lo] != at)
		return x_fault(w, in, DIAG_BOUNDS, -1, "the jump goes to address 0x%llx, where no instruction of the kernel begins",
			       (unsigned long long)address);
	if (lo <= in->index)
		w->core->last_back = in->index;
	w->next_pc = (uint32_t)lo;
	return 0;
}

static uint64_t behind(const struct xwave *w, const struct xinsn *in)
{
	return code_address(prog_of(w), in->index + 1);
}

static int op_getpc(struct xwave *w, const struct xinsn *in)
{
	x_scalar_put64(w, in, 0, behind(w, in));
	return 0;
}

static int op_setpc(struct xwave *w, const struct xinsn *in)
{
	return jump(w, in, x_scalar64(w, in, 0));
}

static int op_swappc(struct xwave *w, const struct xinsn *in)
{
	uint64_t to = x_scalar64(w, in, 1);

	x_scalar_put64(w, in, 0, behind(w, in));
	return jump(w, in, to);
}

static int op_addpc(struct xwave *w, const struct xinsn *in)
{
	return jump(w, in, behind(w, in) + x_scalar64(w, in, 0));
}

static int op_call(struct xwave *w, const struct xinsn *in)
{
	x_scalar_put64(w, in, 0, behind(w, in));
	return go(w, in);
}

/* ---- the rest ---- */

static int op_nothing(struct xwave *w, const struct xinsn *in)
{
	(void)w;
	(void)in;
	return 0;
}

static int op_wait(struct xwave *w, const struct xinsn *in)
{
	sync_wait(w, in->base);
	return 0;
}

static int op_end(struct xwave *w, const struct xinsn *in)
{
	sync_end(w);
	barriers_leave(w, in);
	return 0;
}

static int op_trap(struct xwave *w, const struct xinsn *in)
{
	return x_fault(w, in, DIAG_WRONG, -1, "the kernel stops itself");
}

static int op_code_end(struct xwave *w, const struct xinsn *in)
{
	return x_fault(w, in, DIAG_BOUNDS, -1, "the wave runs into the fill behind the kernel");
}

/* Clocks: instructions that the cluster has executed, times four. */
static uint64_t now_clk(const struct xwave *w)
{
	return w->wg->cluster->clock * 4;
}

static int op_clock(struct xwave *w, const struct xinsn *in)
{
	x_scalar_put64(w, in, 0, now_clk(w) / (uint64_t)in->arg);
	return 0;
}

static int op_message(struct xwave *w, const struct xinsn *in)
{
	x_scalar_put64(w, in, 0, now_clk(w) / 16);
	return 0;
}

enum { HW_MODE = 1, HW_LDS_ALLOC = 6, HW_SCHED_MODE = 26, HW_IB_STS2 = 28, HW_CYCLES_LO = 29, HW_CYCLES_HI = 30 };

static uint32_t hw_register(const struct xwave *w, unsigned id)
{
	switch (id) {
	case HW_MODE: return w->mode;
	case HW_IB_STS2: return w->wg->cluster->n > 1 ? 1u << 6 : 0;
	case HW_CYCLES_LO: return (uint32_t)now_clk(w);
	case HW_CYCLES_HI: return (uint32_t)(now_clk(w) >> 32);
	default: return 0; /* where the wave runs: the first place of all */
	}
}

static int op_getreg(struct xwave *w, const struct xinsn *in)
{
	unsigned id = in->simm & 63, from = in->simm >> 6 & 31, bits = (in->simm >> 11 & 31) + 1;
	uint32_t v = hw_register(w, id) >> from;

	x_scalar_put32(w, in, 0, bits < 32 ? v & ((1u << bits) - 1) : v);
	return 0;
}

static int op_setreg(struct xwave *w, const struct xinsn *in)
{
	uint64_t where = in->o[0].bits;
	unsigned from = where >> 6 & 31, bits = (where >> 11 & 31) + 1;
	uint32_t mask = (bits < 32 ? (1u << bits) - 1 : UINT32_MAX) << from;

	if ((where & 63) == HW_MODE)
		w->mode = (w->mode & ~mask) | (x_scalar32(w, in, 1) << from & mask);
	return 0;
}

static int op_mode(struct xwave *w, const struct xinsn *in)
{
	uint32_t v = (uint32_t)in->simm & 15;

	w->mode = in->arg ? (w->mode & ~0xf0u) | v << 4 : (w->mode & ~0xfu) | v;
	return 0;
}

const struct xop xops_core[] = {
	{ "s_branch", "none", op_branch, 0 },
	{ "s_cbranch_scc0", "none", op_cbranch, ON_SCC0 },
	{ "s_cbranch_scc1", "none", op_cbranch, ON_SCC1 },
	{ "s_cbranch_vccz", "none", op_cbranch, ON_VCCZ },
	{ "s_cbranch_vccnz", "none", op_cbranch, ON_VCCNZ },
	{ "s_cbranch_execz", "none", op_cbranch, ON_EXECZ },
	{ "s_cbranch_execnz", "none", op_cbranch, ON_EXECNZ },
	{ "s_getpc_b64", "b64", op_getpc, 0 },
	{ "s_get_pc_i64", "b64", op_getpc, 0 },
	{ "s_setpc_b64", "b64", op_setpc, 0 },
	{ "s_set_pc_i64", "b64", op_setpc, 0 },
	{ "s_swappc_b64", "b64 b64", op_swappc, 0 },
	{ "s_swap_pc_i64", "b64 b64", op_swappc, 0 },
	{ "s_add_pc_i64", "i64", op_addpc, 0 },
	{ "s_call_b64", "b64 none", op_call, 0 },
	{ "s_call_i64", "b64 none", op_call, 0 },
	{ "s_endpgm", "none", op_end, 0 },
	{ "s_endpgm_saved", "none", op_end, 0 },
	{ "s_trap", "none", op_trap, 0 },
	{ "s_code_end", "none", op_code_end, 0 },
	{ "s_waitcnt", "none", op_wait, 0 },
	{ "s_waitcnt_depctr", "none", op_wait, 0 },
	{ "s_wait_{idle,alu,asynccnt,dscnt,kmcnt,loadcnt,loadcnt_dscnt,storecnt,storecnt_dscnt,tensorcnt,xcnt}", "none", op_wait, 0 },
	{ "s_barrier", "none", barrier_op_whole, 0 },
	{ "s_barrier_signal", "none", barrier_op_signal, 0 },
	{ "s_barrier_signal_isfirst", "none", barrier_op_signal, 1 },
	{ "s_barrier_wait", "none", barrier_op_wait, 0 },
	{ "s_barrier_init", "none", barrier_op_init, 0 },
	{ "s_barrier_join", "none", barrier_op_join, 0 },
	{ "s_barrier_leave", "none", barrier_op_leave, 0 },
	{ "s_wakeup_barrier", "none", op_nothing, 0 },
	{ "s_{nop,delay_alu,clause,version,setprio,setprio_inc_wg,sleep,sleep_var,monitor_sleep,wakeup,sethalt}", "none", op_nothing, 0 },
	{ "s_{sendmsg,sendmsghalt,ttracedata,ttracedata_imm,incperflevel,decperflevel,icache_inv,set_vgpr_msb}", "none", op_nothing, 0 },
	{ "s_dcache_{inv,inv_vol,wb,wb_vol}", "none", op_nothing, 0 },
	{ "s_sendmsg_rtn_{b32,b64}", "b64 none", op_message, 0 },
	{ "s_memtime", "b64", op_clock, 1 },
	{ "s_get_shader_cycles_u64", "b64", op_clock, 1 },
	{ "s_memrealtime", "b64", op_clock, 16 },
	{ "s_getreg_b32", "b32 none", op_getreg, 0 },
	{ "s_setreg_b32", "none b32", op_setreg, 0 },
	{ "s_setreg_imm32_b32", "none b32", op_setreg, 0 },
	{ "s_round_mode", "none", op_mode, 0 },
	{ "s_denorm_mode", "none", op_mode, 1 },
};
const size_t nxops_core = ARRAY_LEN(xops_core);
