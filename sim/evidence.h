/* Published measurements: the tables of models/evidence, as models/evidence/README.md describes them. */
#ifndef WPSIM_EVIDENCE_H
#define WPSIM_EVIDENCE_H

#include "diag.h"
#include "src.h"
#include "util.h"

struct evidence_row { /* texts live in the arena; "-" stands for none */
	const char *id, *schedule, *target, *siblings, *shape, *quantity, *unit, *source, *note;
	double value;
	bool fitted;
	struct loc loc;
};

struct evidence {
	struct arena *arena;
	struct src **src;
	size_t nsrc;
	struct evidence_row *row;
	size_t n;
};

/* All *.tsv of a folder, by name. 0, or -1 after findings (E_SAMPLES, E_IO). *out is to be freed in both cases. */
int evidence_load(struct evidence *out, const char *folder, struct diag *d);
/* One table; takes s over. */
int evidence_parse(struct evidence *out, struct src *s, struct diag *d);
void evidence_free(struct evidence *e);

#endif
