/* Folders at the command line: the schedules, listings and code objects in them, in a fixed order. */
#include "cmd.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util.h"

#define MAX_FOLDERS_DEEP 32u
#define MAX_FILES 100000u

struct files {
	char **list;
	size_t n, cap;
	int status;
};

static bool wanted(const char *name)
{
	static const char *const ends[] = { ".s", ".amdgcn", ".co", ".hsaco", ".o" };
	size_t n = strlen(name);

	if (strcmp(name, "schedule.xml") == 0)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		size_t k = strlen(ends[i]);

		if (n > k && name[0] != '.' && strcmp(name + n - k, ends[i]) == 0)
			return true;
	}
	return false;
}

static void add(struct files *f, char *path)
{
	f->list = xgrow(f->list, f->n, &f->cap, sizeof(*f->list));
	f->list[f->n++] = path;
}

static void walk(struct files *f, const char *path, unsigned depth)
{
	struct dirent **entry = NULL;
	int n = scandir(path, &entry, NULL, alphasort);
	size_t len = strlen(path);

	if (n < 0) {
		f->status = cmd_error("can't read the folder %s: %s", path, strerror(errno));
		return;
	}
	for (int i = 0; i < n; i++) {
		const char *name = entry[i]->d_name;
		char *inner = xasprintf("%s%s%s", path, len && path[len - 1] == '/' ? "" : "/", name);
		struct stat st;

		if (name[0] != '.' && lstat(inner, &st) == 0 && f->n < MAX_FILES) {
			/* Links to folders are not followed: they may lead back. */
			if (S_ISDIR(st.st_mode) && depth < MAX_FOLDERS_DEEP)
				walk(f, inner, depth + 1);
			else if (wanted(name) && stat(inner, &st) == 0 && S_ISREG(st.st_mode))
				add(f, xstrdup(inner));
		}
		free(inner);
		free(entry[i]);
	}
	free(entry);
}

int cmd_files_open(struct cmd_options *o)
{
	struct files f = { 0 };

	for (size_t i = 0; i < o->nwords; i++) {
		size_t before = f.n;
		struct stat st;

		if (strcmp(o->words[i], "-") == 0 || stat(o->words[i], &st) != 0 || !S_ISDIR(st.st_mode)) {
			add(&f, xstrdup(o->words[i]));
			continue;
		}
		walk(&f, o->words[i], 0);
		if (f.n == before && !f.status)
			f.status = cmd_error("the folder %s holds no schedule.xml, listing (.s, .amdgcn) or code object (.co, .hsaco, .o)",
					     o->words[i]);
	}
	if (f.n >= MAX_FILES)
		f.status = cmd_error("more than %u files", MAX_FILES);
	o->words = f.list;
	o->nwords = f.n;
	return f.status;
}

void cmd_files_close(struct cmd_options *o)
{
	for (size_t i = 0; i < o->nwords; i++)
		free(o->words[i]);
	free(o->words);
}
