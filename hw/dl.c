#include "dl.h"

#include <dlfcn.h>
#include <string.h>

void *dl_open(const char *const *names, const char *what, struct hw_error *e)
{
	char first[256] = "";

	for (size_t i = 0; names[i]; i++) {
		void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
		const char *why;

		if (library)
			return library;
		why = dlerror();
		if (i == 0)
			strncpy(first, why ? why : names[i], sizeof(first) - 1);
	}
	hw_fail(e, "%s is not on this machine: can't open %s (%s)", what, names[0], first);
	return NULL;
}

int dl_symbols(void *library, const char *what, const struct dl_symbol *s, size_t n, void *table, struct hw_error *e)
{
	for (size_t i = 0; i < n; i++) {
		void *p = dlsym(library, s[i].name);

		if (!p && !s[i].optional)
			return hw_fail(e, "%s is too old or damaged: it has no %s", what, s[i].name);
		/* A function pointer can't be made of a void pointer in ISO C; their bytes are the same. */
		memcpy((char *)table + s[i].offset, &p, sizeof(p));
	}
	return 0;
}

void dl_close(void *library)
{
	if (library)
		dlclose(library);
}
