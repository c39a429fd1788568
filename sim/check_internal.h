/* Shared by check*.c: the window of examined instances and the orders that must hold in it. */
#ifndef WPSIM_CHECK_INTERNAL_H
#define WPSIM_CHECK_INTERNAL_H

#include "check.h"

#define NO_POS UINT32_MAX
#define CHECK_MAX_OPS 4096u
#define CHECK_MAX_PAIRS 4000000u
#define CHECK_MAX_INSTANCES (4u << 20)
#define CHECK_IDS 18 /* barrier ids: 0 workgroup, 1 cluster, 2.. named 1..16 */

/* One executed instruction of one group's wave. Its position is its index in the track. */
struct instance {
	uint32_t insn;
	uint32_t trip; /* of the innermost loop, within the window */
	int32_t step;  /* K-step that "k" means here */
	uint32_t ord;  /* how many ops of its completion stream were issued before it */
	uint32_t done; /* position of the wait that guarantees its completion, NO_POS: none */
	int32_t access; /* followed paths: index into paths->access, -1 */
};

/* A wait instruction's execution, for one counter. */
struct wait_at {
	uint32_t pos;
	uint32_t value;
	uint32_t issued[2]; /* ops issued before it: in-order stream, unordered stream */
};

struct positions {
	uint32_t *pos;
	size_t n, cap;
};

struct track {
	struct instance *inst;
	size_t n, cap;
	struct wait_at *waits[CTR_COUNT];
	size_t nwaits[CTR_COUNT], capwaits[CTR_COUNT];
	struct positions signal[CHECK_IDS], await[CHECK_IDS];
};

/* x must be complete before the wave executes the instance at deadline. */
enum order_kind { ORDER_REGISTER, ORDER_SAME_WAVE, ORDER_READ_AFTER_WRITE, ORDER_WRITE_AFTER_READ, ORDER_WRITE_AFTER_WRITE, ORDER_PUBLISH };
struct order {
	uint8_t group;     /* whose track x and deadline are positions of */
	uint8_t kind;      /* enum order_kind */
	uint8_t other_group;
	uint32_t x, deadline;
	uint32_t other;    /* position of the access that needs x, in other_group's track */
};

/* An order that no wait guarantees, kept until all waits are known. */
struct fault {
	struct order o;
	bool tight; /* a wait stands in the right place, with too large a value */
	struct wait_at w;
};

struct checker {
	const struct program *p;
	struct diag *d;
	struct check_result *out;
	struct arena *arena;
	struct track track[PROG_MAX_GROUPS];
	unsigned ngroups;
	uint32_t ahead[CHECK_IDS]; /* most signals that a wave gives beyond the phase it waits for next */
	uint32_t masked;       /* barrier insn taken out (spare search), NO_POS */
	uint64_t loop_trips[64]; /* trips examined of each loop */
	int64_t ksteps;        /* of the window */
	int64_t cut;           /* K-steps left out of it */
	struct order *orders;
	size_t norders, caporders;
	struct fault *pending;
	size_t npending, cappending;
	struct bytes *bytes;   /* check_bytes.c */
	bool gemm;             /* both operands come through LDS buffers that name them */
	bool edge;             /* examine edge tiles: their variant of each stage, fewer copies */
	const struct check_paths *paths; /* NULL: the loops are followed */
	bool quiet;            /* spare search: count, don't report */
	size_t faults;
	/* what was reported already: pairs of instructions */
	uint64_t *reported;
	size_t nreported, capreported;
};

static inline int check_id_index(int barrier)
{
	return barrier == BAR_WORKGROUP ? 0 : barrier == BAR_CLUSTER ? 1 : barrier >= 1 && barrier <= 16 ? barrier + 1 : -1;
}

/* Is this instruction left out in the variant under examination? */
static inline bool check_skips(const struct checker *c, const struct insn *in)
{
	return (in->flags & (c->edge ? INSN_EDGE_ABSENT : INSN_EDGE_ONLY)) != 0;
}

/* A written tile number inside the window: those nearer to the end are counted from there. */
static inline int64_t check_tile(const struct checker *c, int32_t tile)
{
	return c->cut && tile > (c->ksteps + c->cut) / 2 ? tile - c->cut : tile;
}

/* Waves of the workgroup that execute an instruction. */
static inline uint32_t check_waves_of(const struct program *p, const struct insn *in)
{
	unsigned per_group = p->waves / p->groups;
	uint32_t mask = 0;

	for (unsigned w = 0; w < p->waves; w++)
		if (in->groups >> (w / per_group) & 1)
			mask |= 1u << w;
	return in->waves ? mask & in->waves : mask;
}

/* check_trace.c */
int check_build_tracks(struct checker *c);
void check_free_tracks(struct checker *c);
bool check_stream_ordered(const struct program *p, const struct insn *in);
/* Does "x, of the waves that execute position x of track gx, complete at its position xdone" happen before position y of
 * track gy, through some barrier? */
bool check_before(const struct checker *c, unsigned gx, uint32_t x, uint32_t xdone, unsigned gy, uint32_t y);
/* The last arrival of gx, by the waves that execute position x of it, that y of gy is known to come after, over all ids;
 * NO_POS when none. */
uint32_t check_deadline(const struct checker *c, unsigned gx, uint32_t x, unsigned gy, uint32_t y);

/* check_data.c: LDS accesses, tiles and slots */
int check_data(struct checker *c);

/* check_bytes.c: LDS accesses of followed paths, byte by byte */
void check_bytes_begin(struct checker *c);
void check_bytes_visit(struct checker *c, unsigned group, size_t from, size_t to); /* in an order that barriers allow */
void check_bytes_end(struct checker *c);

/* check_regs.c: register uses, fragments' tiles, accumulated K */
int check_regs(struct checker *c);

/* check_global.c: stores that publish data of other stores */
void check_published(struct checker *c);

/* check_waits.c */
void check_require(struct checker *c, struct order o);
void check_judge_orders(struct checker *c);
/* The audit: waits that are stronger than needed. After the edge variant was examined as well. */
void check_report_strong(struct checker *c);

/* Is this barrier taken out for the spare search? All unrolled copies of the place are. */
static inline bool check_masked(const struct checker *c, uint32_t insn)
{
	return c->masked != NO_POS && c->p->insns[insn].barrier == BAR_WORKGROUP &&
	       c->p->insns[insn].loc.begin == c->p->insns[c->masked].loc.begin;
}

/* check.c: once per (code, a, b); true when it is new */
bool check_once(struct checker *c, enum diag_code code, uint32_t insn_a, uint32_t insn_b);
const char *check_when(const struct checker *c, unsigned group, uint32_t pos, char *buf, size_t size);
char check_group_letter(unsigned g);

#endif
