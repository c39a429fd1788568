#include "util.h"

#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn static void out_of_memory(void)
{
	fputs("wpsim: out of memory\n", stderr);
	exit(2);
}

void *xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (!p)
		out_of_memory();
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	void *p = n && size ? calloc(n, size) : calloc(1, 1);

	if (!p)
		out_of_memory();
	return p;
}

void *xreallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;
	void *q;

	if (__builtin_mul_overflow(n, size, &bytes))
		out_of_memory();
	q = realloc(p, bytes ? bytes : 1);
	if (!q)
		out_of_memory();
	return q;
}

char *xstrdup(const char *s)
{
	size_t size = strlen(s) + 1;

	return memcpy(xmalloc(size), s, size);
}

/* The text of a format in memory of its own; *len is its length. */
static char *format(const char *fmt, va_list ap, size_t *len) PRINTF_LIKE(1, 0)
	__attribute__((nonnull(1)));
static char *format(const char *fmt, va_list ap, size_t *len)
{
	char small[256], *s;
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(small, sizeof(small), fmt, again);
	va_end(again);
	if (n < 0)
		out_of_memory();
	*len = (size_t)n;
	s = xmalloc(*len + 1);
	if (*len < sizeof(small))
		memcpy(s, small, *len + 1);
	else
		vsnprintf(s, *len + 1, fmt, ap);
	return s;
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	size_t len;
	char *s;

	va_start(ap, fmt);
	s = format(fmt, ap, &len);
	va_end(ap);
	return s;
}

void *xgrow(void *p, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return p;
	if (n > SIZE_MAX / 2 - 8)
		out_of_memory();
	*cap = n < 8 ? 8 : n * 2;
	return xreallocarray(p, *cap, size);
}

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_CHECKED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_CHECKED 1
#endif
#endif
#ifndef ARENA_CHECKED
#define ARENA_CHECKED 0
#endif

#define ARENA_ALIGN 16u
/* Under the address sanitizer each allocation is a block of its own, so that overruns are seen. */
#define ARENA_BLOCK_BYTES (ARENA_CHECKED ? 0u : 64u * 1024u)

struct arena_block {
	struct arena_block *next;
	_Alignas(ARENA_ALIGN) unsigned char data[];
};

struct arena {
	struct arena_block *blocks;
	unsigned char *free; /* the unused rest of the newest block for small allocations */
	size_t left;
};

struct arena *arena_new(void)
{
	return xcalloc(1, sizeof(struct arena));
}

void arena_free(struct arena *a)
{
	struct arena_block *b, *next;

	if (!a)
		return;
	for (b = a->blocks; b; b = next) {
		next = b->next;
		free(b);
	}
	free(a);
}

static unsigned char *arena_block_new(struct arena *a, size_t bytes)
{
	struct arena_block *b;
	size_t total;

	if (__builtin_add_overflow(bytes, sizeof(*b), &total))
		out_of_memory();
	b = xcalloc(1, total);
	b->next = a->blocks;
	a->blocks = b;
	return b->data;
}

void *arena_alloc(struct arena *a, size_t n, size_t size)
{
	unsigned char *p;
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX - 2 * ARENA_ALIGN)
		out_of_memory();
	if (bytes > ARENA_BLOCK_BYTES / 4)
		return arena_block_new(a, bytes);
	bytes = (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
	if (bytes == 0)
		bytes = ARENA_ALIGN;
	if (bytes > a->left) {
		a->left = bytes > ARENA_BLOCK_BYTES ? bytes : ARENA_BLOCK_BYTES;
		a->free = arena_block_new(a, a->left);
	}
	p = a->free;
	a->free += bytes;
	a->left -= bytes;
	return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *copy = arena_alloc(a, len + 1, 1);

	memcpy(copy, s, len);
	return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	char *s, *copy;
	va_list ap;
	size_t len;

	va_start(ap, fmt);
	s = format(fmt, ap, &len);
	va_end(ap);
	copy = arena_strndup(a, s, len);
	free(s);
	return copy;
}

void strbuf_addn(struct strbuf *b, const char *s, size_t n)
{
	size_t need;

	if (__builtin_add_overflow(b->len, n, &need) || need > SIZE_MAX / 2 - 1)
		out_of_memory();
	if (need + 1 > b->cap) {
		b->cap = need + 1 < 64 ? 64 : (need + 1) * 2;
		b->s = xreallocarray(b->s, b->cap, 1);
	}
	if (n)
		memcpy(b->s + b->len, s, n);
	b->len = need;
	b->s[need] = '\0';
}

void strbuf_addv(struct strbuf *b, const char *fmt, va_list ap)
{
	size_t len;
	char *s = format(fmt, ap, &len);

	strbuf_addn(b, s, len);
	free(s);
}

void strbuf_add(struct strbuf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strbuf_addv(b, fmt, ap);
	va_end(ap);
}

void strbuf_free(struct strbuf *b)
{
	free(b->s);
	*b = (struct strbuf){0};
}

#define WORD_MAX 64u

/* Edits (insert, delete, replace, swap of neighbours) between a and b, each at most WORD_MAX long.
 */
static size_t edit_distance(const char *a, size_t na, const char *b, size_t nb)
{
	size_t rows[3][WORD_MAX + 1];
	size_t *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t j = 0; j <= nb; j++)
		row[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t *spare = before;

		before = above;
		above = row;
		row = spare;
		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);

			if (above[j] + 1 < best)
				best = above[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			row[j] = best;
		}
	}
	return row[nb];
}

const char *word_nearest(const char *s, const char *const *words, size_t n)
{
	const char *nearest = NULL;
	size_t len = strnlen(s, WORD_MAX + 1), least = SIZE_MAX;

	if (len == 0 || len > WORD_MAX)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t wlen = strnlen(words[i], WORD_MAX + 1);
		size_t longer = wlen > len ? wlen : len;
		size_t most = longer < 6 ? 1 : longer / 3;
		size_t distance;

		if (wlen == 0 || wlen > WORD_MAX)
			continue;
		distance = edit_distance(s, len, words[i], wlen);
		/* A word of which nothing is left is no hint. */
		if (distance <= most && (distance < longer || distance == 0) && distance < least) {
			least = distance;
			nearest = words[i];
		}
	}
	return nearest;
}

static size_t utf8_lead_len(unsigned char c)
{
	if (c < 0x80)
		return 1;
	if (c < 0xc2 || c > 0xf4) /* a trailing byte, an overlong form, beyond the last plane */
		return 0;
	return c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

size_t utf8_decode(const char *s, size_t n, uint32_t *cp)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *p = (const unsigned char *)s;
	size_t len = utf8_lead_len(p[0]);
	uint32_t v;

	if (len == 0 || len > n)
		return 0;
	v = len == 1 ? p[0] : p[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		v = v << 6 | (p[i] & 0x3fu);
	}
	if (v < least[len] || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
		return 0;
	*cp = v;
	return len;
}

size_t utf8_cut(const char *s, size_t n, size_t max)
{
	if (n <= max)
		return n;
	for (n = max; n > 0 && ((unsigned char)s[n] & 0xc0) == 0x80;)
		n--;
	return n;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int parse_int64(const char *s, int64_t lo, int64_t hi, int64_t *out)
{
	bool negative = *s == '-', over = false;
	int64_t v = 0;

	if (*s == '-' || *s == '+')
		s++;
	if (!is_digit(*s))
		return -1;
	for (; is_digit(*s); s++) {
		int64_t digit = *s - '0';

		if (__builtin_mul_overflow(v, (int64_t)10, &v) ||
		    __builtin_add_overflow(v, negative ? -digit : digit, &v)) {
			over = true;
			v = 0;
		}
	}
	if (*s)
		return -1;
	if (over || v < lo || v > hi)
		return -2;
	*out = v;
	return 0;
}

/* True for [+-] digits [. digits] [e [+-] digits] with at least one digit before the exponent. */
static bool is_decimal(const char *s)
{
	size_t digits = 0;

	if (*s == '-' || *s == '+')
		s++;
	for (; is_digit(*s); s++)
		digits++;
	if (*s == '.')
		for (s++; is_digit(*s); s++)
			digits++;
	if (digits == 0)
		return false;
	if (*s == 'e' || *s == 'E') {
		s++;
		if (*s == '-' || *s == '+')
			s++;
		if (!is_digit(*s))
			return false;
		while (is_digit(*s))
			s++;
	}
	return *s == '\0';
}

int parse_double(const char *s, double *out)
{
	locale_t c, old;
	double v;

	if (!is_decimal(s))
		return -1;
	c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!c)
		out_of_memory();
	old = uselocale(c);
	v = strtod(s, NULL);
	uselocale(old);
	freelocale(c);
	if (!isfinite(v))
		return -1;
	*out = v;
	return 0;
}
