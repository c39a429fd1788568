/* Libraries opened at run time: the one place that does it. */
#ifndef WPSIM_DL_H
#define WPSIM_DL_H

#include "hw.h"

struct dl_symbol {
	const char *name;
	size_t offset; /* of the pointer in the table */
	bool optional; /* stays NULL when the library has none */
};

/* Open the first of names (NULL-terminated) that loads; what names the runtime for the message. NULL and *e otherwise. */
void *dl_open(const char *const *names, const char *what, struct hw_error *e);
/* Fill table's pointers. 0, or -1 naming the first that is missing. */
int dl_symbols(void *library, const char *what, const struct dl_symbol *s, size_t n, void *table, struct hw_error *e);
void dl_close(void *library); /* NULL is allowed */

#endif
