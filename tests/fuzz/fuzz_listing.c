/*
 * Any bytes are a program that holds its invariants, or at least one finding. The first byte chooses
 * target and options.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "listing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(what)                                                                           \
	do {                                                                                 \
		if (!(what)) {                                                               \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #what); \
			abort();                                                             \
		}                                                                            \
	} while (0)

static struct target *target_of(unsigned i)
{
	static const char *const names[] = { "gfx942", "gfx950", "gfx1250" };
	static struct target *loaded[3];

	i %= 3;
	if (!loaded[i]) {
		struct diag d;

		diag_init(&d);
		loaded[i] = target_load(names[i], NULL, (struct loc){ 0 }, &d);
		MUST(loaded[i]);
		diag_free(&d);
	}
	return loaded[i];
}

static void check_insn(const struct program *p, const struct insn *in)
{
	MUST(in->op && in->op[0] && in->size && in->size % 4 == 0 && in->size <= 16);
	MUST(in->target >= -1 && in->target < (int64_t)p->ninsns);
	MUST(in->target == -1 || in->cls == OPC_BRANCH);
	MUST(in->also <= CTR_COUNT && (!in->also || p->target->counters[in->also - 1].present));
	MUST(in->counter < 0 || p->target->counters[in->counter].present);
	MUST(in->loc.src && in->loc.begin < in->loc.end && in->loc.end <= in->loc.src->len);
	MUST(opclass_slot(in->cls) != SLOT_LDS || in->lds);
	MUST((in->cls != OPC_VMEM_LOAD && in->cls != OPC_VMEM_STORE && in->cls != OPC_VMEM_LDS) || in->vmem);
	MUST(in->stage == 0 && in->loop == -1 && in->access == -1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct listing_options o = { 0 };
	struct listing_info info;
	struct program *p;
	struct src *s;
	struct diag d;

	if (!size || memchr(data + 1, 0, size - 1)) /* src_load refuses a NUL byte */
		return 0;
	if (data[0] & 64)
		o.kernel = "k";
	o.unknown_warns = data[0] & 32;
	o.waves = data[0] & 16 ? 8 : 0;
	s = src_from_text("fuzz.s", (const char *)data + 1, size - 1);
	diag_init(&d);
	listing_likely(s);
	p = listing_parse(s, target_of(data[0] & 15), &o, &info, &d);
	MUST(!p == (d.errors > 0));
	if (p) {
		MUST(program_validate(p, &d) == 0);
		for (size_t i = 0; i < p->ninsns; i++)
			check_insn(p, &p->insns[i]);
		MUST(info.kernel);
	}
	for (size_t i = 0; i < d.n; i++)
		MUST(d.list[i].loc.src == s && d.list[i].loc.begin <= s->len);
	program_free(p);
	diag_free(&d);
	src_free(s);
	return 0;
}
