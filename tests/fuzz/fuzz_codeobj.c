/* Any bytes are a listing, or at least one finding; what a damaged code object gives goes through the listing reader. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codeobj.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(what)                                                                           \
	do {                                                                                 \
		if (!(what)) {                                                               \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #what); \
			abort();                                                             \
		}                                                                            \
	} while (0)

static void read_listing(const struct src *s, const char *target)
{
	struct listing_options o = { .unknown_warns = true, .keep_operands = true };
	struct listing_info info;
	struct program *p;
	struct target *t;
	struct diag d;

	diag_init(&d);
	t = target_load(target, NULL, (struct loc){ 0 }, &d);
	MUST(t && !d.n);
	p = listing_parse(s, t, &o, &info, &d);
	MUST(!p == (d.errors > 0));
	if (p)
		MUST(program_validate(p, &d) == 0);
	program_free(p);
	target_free(t);
	diag_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct src *s = src_from_text("fuzz.co", (const char *)data, size), *listing;
	bool no_backend = false;
	char target[32];
	struct diag d;

	diag_init(&d);
	codeobj_likely(data, size);
	listing = codeobj_read(s, NULL, target, &no_backend, &d);
	MUST(!listing == (d.errors > 0));
	MUST(!listing || !no_backend);
	if (listing) {
		MUST(!memchr(listing->text, 0, listing->len) && listing_likely(listing));
		read_listing(listing, target);
	}
	src_free(listing);
	diag_free(&d);
	src_free(s);
	return 0;
}
