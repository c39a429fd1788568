/* The set of visited states. */
#include "explorer_internal.h"

#include <stdlib.h>
#include <string.h>

void x_set_init(struct x_set *s, size_t size, size_t max)
{
	*s = (struct x_set){ .size = size, .max = max, .nslots = 1024 };
	s->slot = xcalloc(s->nslots, sizeof(*s->slot));
}

void x_set_free(struct x_set *s)
{
	free(s->key);
	free(s->parent);
	free(s->how);
	free(s->slot);
}

static uint64_t hash_bytes(const unsigned char *k, size_t n)
{
	uint64_t h = 0x9e3779b97f4a7c15u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ k[i]) * 0x100000001b3u;
	return h ^ h >> 29;
}

static void set_rehash(struct x_set *s)
{
	free(s->slot);
	s->nslots *= 4;
	s->slot = xcalloc(s->nslots, sizeof(*s->slot));
	for (size_t i = 0; i < s->n; i++) {
		size_t at = hash_bytes(s->key + i * s->size, s->size) & (s->nslots - 1);

		while (s->slot[at])
			at = (at + 1) & (s->nslots - 1);
		s->slot[at] = (uint32_t)i + 1;
	}
}

bool x_set_add(struct x_set *s, const void *key, uint32_t parent, uint32_t how)
{
	size_t at = hash_bytes(key, s->size) & (s->nslots - 1);

	for (; s->slot[at]; at = (at + 1) & (s->nslots - 1))
		if (memcmp(s->key + (s->slot[at] - 1) * s->size, key, s->size) == 0)
			return true;
	if (s->n >= s->max)
		return false;
	if (s->n == s->cap) {
		s->cap = s->cap ? s->cap * 2 : 256;
		s->key = xreallocarray(s->key, s->cap, s->size);
		s->parent = xreallocarray(s->parent, s->cap, sizeof(*s->parent));
		s->how = xreallocarray(s->how, s->cap, sizeof(*s->how));
	}
	memcpy(s->key + s->n * s->size, key, s->size);
	s->parent[s->n] = parent;
	s->how[s->n] = how;
	s->slot[at] = (uint32_t)++s->n;
	if (s->n * 2 > s->nslots)
		set_rehash(s);
	return true;
}
