#include "stats.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[ST_COUNT] = {
#define STALL(tail, name, text) name,
#include "stall.def"
#undef STALL
};

static const char *const texts[ST_COUNT] = {
#define STALL(tail, name, text) text,
#include "stall.def"
#undef STALL
};

const char *stall_name(enum stall s)
{
	return names[s];
}

const char *stall_text(enum stall s)
{
	return texts[s];
}

void stats_free(struct stats *s)
{
	free(s->stages);
	free(s->segments);
	free(s->busy);
	memset(s, 0, sizeof(*s));
}
