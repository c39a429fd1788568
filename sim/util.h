/* Memory that never fails, one arena per phase, and small string helpers. */
#ifndef WPSIM_UTIL_H
#define WPSIM_UTIL_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

/* x* end the process with a message and status 2 when memory runs out. */
void *xmalloc(size_t size) __attribute__((malloc, alloc_size(1)));
void *xcalloc(size_t n, size_t size) __attribute__((malloc, alloc_size(1, 2)));
void *xreallocarray(void *p, size_t n, size_t size) __attribute__((alloc_size(2, 3)));
char *xstrdup(const char *s) __attribute__((malloc));
char *xasprintf(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* Make room for one more element behind n used ones; doubles *cap when full. */
void *xgrow(void *p, size_t n, size_t *cap, size_t size);

/* Arena: allocations live until arena_free. Memory is zeroed and aligned to 16 bytes. */
struct arena;
struct arena *arena_new(void);
void arena_free(struct arena *a); /* NULL is allowed */
void *arena_alloc(struct arena *a, size_t n, size_t size);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Growing text buffer. */
struct strbuf {
	char *s; /* always terminated once something was added; NULL before */
	size_t len, cap;
};
void strbuf_add(struct strbuf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void strbuf_addv(struct strbuf *b, const char *fmt, va_list ap) PRINTF_LIKE(2, 0);
void strbuf_addn(struct strbuf *b, const char *s, size_t n);
void strbuf_free(struct strbuf *b);

/*
 * The word of words[0..n) nearest to s by edit distance (transpositions count one), or NULL when
 * none is near enough (distance at most a third of the longer word, at least 1).
 */
const char *word_nearest(const char *s, const char *const *words, size_t n);

/* Length of the UTF-8 character at s[0..n), n > 0, its code point in *cp; 0 when it is not one. */
size_t utf8_decode(const char *s, size_t n, uint32_t *cp);
/* The most of s[0..n) that fits into max bytes without cutting a UTF-8 character. */
size_t utf8_cut(const char *s, size_t n, size_t max);

/* Whole string to integer in [lo, hi]. Returns 0, -1 when not a number, -2 when out of range. */
int parse_int64(const char *s, int64_t lo, int64_t hi, int64_t *out);
/* Whole string to a finite number. Returns 0 or -1. Locale independent. */
int parse_double(const char *s, double *out);

#endif
