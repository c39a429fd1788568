/* Source texts and places in them. A place is a byte range; line and column are computed late. */
#ifndef WPSIM_SRC_H
#define WPSIM_SRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diag;

struct src {
	char *path; /* as given by the user; "<stdin>" for "-" */
	char *text; /* terminated by a NUL that is not counted in len */
	size_t len;
	uint32_t *line_start; /* byte offset of each line */
	size_t nlines;
};

/* [begin, end) in src. src == NULL: no place is known. */
struct loc {
	const struct src *src;
	uint32_t begin, end;
};

#define SRC_MAX_BYTES (64u << 20)

/* Read a file, or standard input for "-". NULL with a diagnostic (E_IO) when it can't be read, is
 * larger than SRC_MAX_BYTES or holds a NUL byte. */
struct src *src_load(const char *path, struct diag *d);
/* The same for files that may be no text, and the test that src_load makes: false after the diagnostic. */
struct src *src_load_bytes(const char *path, struct diag *d);
bool src_is_text(const struct src *s, struct diag *d);
/* A source over a copy of text[0..len): tests, generated schedules. */
struct src *src_from_text(const char *name, const char *text, size_t len);
void src_free(struct src *s); /* NULL is allowed */

/* One-based line and column (in bytes) of an offset; offsets past the end give the last place. */
void src_line_col(const struct src *s, uint32_t off, unsigned *line, unsigned *col);
unsigned loc_line(struct loc l); /* 0 when no place is known */

#endif
