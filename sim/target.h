/* A machine model: everything numeric of models/T.xml, each value with its quality and source. */
#ifndef WPSIM_TARGET_H
#define WPSIM_TARGET_H

#include "diag.h"
#include "util.h"
#include "xml.h"

enum quality { Q_MEASURED, Q_DOCUMENTED, Q_COMPILER, Q_DERIVED, Q_ESTIMATE, Q_COUNT };
const char *quality_name(enum quality q);

/* Where a row comes from. source is a tag of the target's <source> list plus an optional place. */
struct origin {
	enum quality quality;
	const char *source;
	const char *note; /* "" when none */
	struct loc loc;
};

enum opclass {
#define OPCLASS(tail, name, slot) OPC_##tail,
#include "opclass.def"
#undef OPCLASS
	OPC_COUNT
};
enum slot { SLOT_VALU, SLOT_SALU, SLOT_LDS, SLOT_VMEM, SLOT_BRANCH, SLOT_INTERNAL, SLOT_COUNT };
const char *opclass_name(enum opclass c);
enum slot opclass_slot(enum opclass c);
const char *slot_name(enum slot s);

enum counter { CTR_VM, CTR_LGKM, CTR_EXP, CTR_LOAD, CTR_STORE, CTR_DS, CTR_KM, CTR_ASYNC, CTR_TENSOR, CTR_X, CTR_COUNT };
const char *counter_name(enum counter c); /* "vm", "lgkm", ... also the attribute names of <wait> */

struct counter_row {
	bool present;
	unsigned max;    /* highest value; issue stalls there */
	bool in_order;   /* completions of one kind are reported in issue order */
	struct origin from;
};

/* One row per opclass: <class name= busy= latency= hold= counter= quality= source=/> */
struct class_row {
	unsigned busy_clk;    /* the slot's unit on this SIMD takes no other op for so long */
	unsigned latency_clk; /* issue to first dependent issue; 0 where completion is asynchronous */
	unsigned hold_clk;    /* the wave itself issues nothing else for so long */
	int counter;          /* enum counter that goes up, -1 for none */
	struct origin from;
};

enum matrix_kind { MK_MFMA, MK_SMFMAC, MK_MFMA_SCALE, MK_WMMA, MK_WMMA_SCALE, MK_SWMMAC };
enum matrix_unit { MU_XDL, MU_SGEMM, MU_DGEMM }; /* which hazard rows apply */
/* For ops whose time depends on operand types. */
enum matrix_operands { MO_ANY, MO_ANY_F8, MO_NO_F8, MO_BOTH_F4, MO_NOT_BOTH_F4 };

struct matrix_row {
	const char *op; /* mnemonic */
	enum matrix_kind kind;
	enum matrix_unit unit;
	enum matrix_operands operands;
	const char *types; /* operand kinds as written, e.g. "f16" or "f8f6f4" */
	const char *when;  /* option name of the target's choice this row belongs to; NULL: always */
	unsigned m, n, k, blocks;
	unsigned passes;         /* as hazard rows count them: gfx9 passes of 4 clk, gfx1250 execution time / 4 */
	unsigned occupancy_clk;  /* distance of independent ops on one SIMD */
	unsigned ready_clk;      /* start to the first clk at which a non-forwarding reader may issue */
	unsigned chain_clk;      /* start to the start of an op with the exact result as C */
	unsigned prefix_clk;     /* scale prefix: unit time in front of the op that nothing hides */
	unsigned valu_block_clk; /* from start, no vector op may run on the SIMD */
	unsigned a_regs, b_regs, c_regs; /* VGPRs of the widest operand types */
	struct origin from;
};

/* Bytes of an element type times 2 (fp4 = 1, fp6 = not a whole number: use type_bits). */
enum dtype { DT_F64, DT_F32, DT_XF32, DT_F16, DT_BF16, DT_FP8, DT_BF8, DT_FP6, DT_BF6, DT_FP4, DT_I8, DT_I32, DT_COUNT };
const char *dtype_name(enum dtype t); /* "f16", "bf16", "fp8", ... */
unsigned dtype_bits(enum dtype t);

/* <lds op= dir= width= port= banks= groups=.../> */
struct lds_row {
	const char *op;
	bool write, transpose;
	unsigned width_bytes;   /* per lane */
	unsigned port_clk;      /* time on the port of a SIMD pair */
	unsigned banks;         /* banks as this op sees them; 4 bytes wide */
	unsigned ngroups;
	uint64_t group[64];     /* lanes judged together for conflicts */
	struct origin from;
};

enum vmem_kind { VM_LOAD, VM_STORE, VM_LDS };
struct vmem_row {
	const char *op;
	enum vmem_kind kind;
	unsigned width_bytes; /* per lane */
	unsigned addr_clk;    /* address stage of the CU's memory path */
	unsigned data_clk;    /* return (or store data) stage */
	struct origin from;
};

/* Spacing: <spacing first= second= relation= states= by=/> */
enum spacing_relation { SR_C_EXACT, SR_C_OVERLAP, SR_AB, SR_RAW, SR_WAW, SR_WAR, SR_ANY };
struct spacing_row {
	const char *first, *second; /* class words of the spacing table, see docs/targets.md */
	enum spacing_relation relation;
	unsigned passes; /* 0: any */
	unsigned states; /* wait states that must lie between */
	bool software;   /* true: software must keep it; false: the hardware interlocks */
	struct origin from;
};

struct clock_row {
	const char *name; /* "nominal", "gemm-f16", ... */
	double mhz;
	struct origin from;
};

struct choice_row {
	const char *name;   /* what is chosen, e.g. "wmma-rates" */
	const char *option; /* the option in force */
	const char *options[8];
	size_t noptions;
	const char *note;
};

/*
 * Scalar values: <value key= value= unit= quality= source=/>. One line each in target.def:
 * VALUE(field, "key", unit, min, max); the reader demands every key and refuses any other.
 */
struct target_values {
#define VALUE(field, key, unit, lo, hi) double field;
#include "target.def"
#undef VALUE
};
enum value_id {
#define VALUE(field, key, unit, lo, hi) TV_##field,
#include "target.def"
#undef VALUE
	TV_COUNT
};

struct target {
	const char *name;    /* "gfx950" */
	const char *product; /* "MI350X, MI355X" */
	const char *path;
	struct src *src;
	struct arena *arena;
	struct target_values v;
	struct origin v_from[TV_COUNT];
	unsigned pair_of_simd[8];
	struct counter_row counters[CTR_COUNT];
	struct class_row classes[OPC_COUNT];
	struct matrix_row *matrix;
	size_t nmatrix;
	struct lds_row *lds;
	size_t nlds;
	struct vmem_row *vmem;
	size_t nvmem;
	struct spacing_row *spacing;
	size_t nspacing;
	struct clock_row *clocks;
	size_t nclocks; /* at least one; [0] is the default */
	struct choice_row choice; /* name == NULL: nothing to choose */
};

/*
 * Load by name ("gfx950": searched in $WPSIM_MODELS, then next to the source tree, then in the
 * installed data folder) or by path (contains '/' or ends in .xml). variant: option of the target's
 * choice, or NULL for its default. NULL after at least one finding. where: the place that named it.
 */
struct target *target_load(const char *name_or_path, const char *variant, struct loc where, struct diag *d);
struct target *target_parse(struct src *s, const char *variant, struct loc where, struct diag *d); /* takes s */
void target_free(struct target *t);
/* Path of a file of models/ in a new string, or NULL. */
char *target_find_file(const char *file);
/* Names of all targets that can be found, sorted, allocated from a. */
size_t target_names(struct arena *a, const char ***names);

/* Rows by name; NULL when the target has none. Rows of options not in force are never returned. */
const struct matrix_row *target_matrix(const struct target *t, const char *op, enum dtype a, enum dtype b);
const struct lds_row *target_lds(const struct target *t, const char *op);
const struct vmem_row *target_vmem(const struct target *t, const char *op);
const struct clock_row *target_clock(const struct target *t, const char *name);
/* The widest plain LDS read or write, or memory op of that kind. */
const struct lds_row *target_lds_widest(const struct target *t, bool write);
const struct vmem_row *target_vmem_widest(const struct target *t, enum vmem_kind kind);

/* Programs of the target are PTX: its waits are interlocks, its names those of PTX. */
static inline bool target_is_ptx(const struct target *t)
{
	return t->v.wait_interlock >= 1;
}

/* Print one target readably, or the list. */
void target_print(const struct target *t, FILE *out);

#endif
