#include "samples.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jsonval.h"

#define MAX_TEXT 4096u
#define MAX_STAGES 4096u
#define MAX_WARNINGS 64u

/* ---- writing ---- */

static void put_text(struct strbuf *b, const char *key, const char *text)
{
	strbuf_add(b, "%s\"%s\": ", b->len > 1 ? ", " : "", key);
	jsonval_quote(b, text ? text : "");
}

static void put_number(struct strbuf *b, const char *key, double v)
{
	strbuf_add(b, ", \"%s\": ", key);
	jsonval_put(b, v);
}

void sample_print(struct strbuf *out, const struct sample *s)
{
	struct strbuf b = { 0 };

	strbuf_add(&b, "{");
	put_text(&b, "schema", SAMPLE_SCHEMA);
	put_text(&b, "kernel", s->kernel);
	put_text(&b, "schedule", s->schedule);
	put_text(&b, "hash", s->hash);
	put_text(&b, "target", s->target);
	put_text(&b, "backend", s->backend);
	put_text(&b, "device", s->device);
	put_text(&b, "arch", s->arch);
	put_text(&b, "driver", s->driver);
	put_text(&b, "date", s->date);
	put_text(&b, "version", s->version);
	put_number(&b, "workgroups", (double)s->workgroups);
	put_number(&b, "trips", (double)s->trips);
	put_number(&b, "steps", s->steps);
	put_number(&b, "repeats", s->repeats);
	put_number(&b, "loop_clk", s->loop_clk);
	put_number(&b, "clk_per_step", s->clk_per_step);
	put_number(&b, "steady_clk", s->steady_clk);
	put_number(&b, "spread", s->spread);
	put_number(&b, "time_us", s->time_us);
	put_number(&b, "clock_mhz", s->clock_mhz);
	put_text(&b, "result", s->result);
	put_number(&b, "registers", s->registers);
	put_number(&b, "spill_bytes", s->spill_bytes);
	strbuf_add(&b, ", \"stages\": [");
	for (size_t i = 0; i < s->nstages; i++) {
		strbuf_add(&b, "%s{\"name\": ", i ? ", " : "");
		jsonval_quote(&b, s->stages[i].name);
		strbuf_add(&b, ", \"group\": %u, \"clk\": ", s->stages[i].group);
		jsonval_put(&b, s->stages[i].clk);
		strbuf_add(&b, "}");
	}
	strbuf_add(&b, "], \"warnings\": [");
	for (size_t i = 0; i < s->nwarnings; i++) {
		strbuf_add(&b, "%s", i ? ", " : "");
		jsonval_quote(&b, s->warnings[i]);
	}
	strbuf_add(&b, "]}\n");
	strbuf_addn(out, b.s, b.len);
	strbuf_free(&b);
}

/* Where the last whole line of a file ends. */
static off_t whole_lines(int fd, off_t size)
{
	char c[4096];

	while (size > 0) {
		off_t from = size > (off_t)sizeof(c) ? size - (off_t)sizeof(c) : 0;
		ssize_t n = pread(fd, c, (size_t)(size - from), from);

		if (n != (ssize_t)(size - from))
			return -1;
		while (n > 0 && c[n - 1] != '\n')
			n--;
		if (n > 0)
			return from + n;
		size = from;
	}
	return 0;
}

static int write_all(int fd, const char *s, size_t n)
{
	while (n > 0) {
		ssize_t k = write(fd, s, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return k < 0 ? errno : EIO;
		s += k;
		n -= (size_t)k;
	}
	return 0;
}

int samples_writable(const char *path)
{
	int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT) {
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0)
			unlink(path);
	}
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

int samples_append(const char *path, const struct sample *s)
{
	int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666), rc = 0;
	struct strbuf b = { 0 };
	struct stat st;

	if (fd < 0)
		return errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		off_t end = whole_lines(fd, st.st_size);

		if (end < 0 || (end < st.st_size && ftruncate(fd, end) != 0))
			rc = errno ? errno : EIO;
	}
	sample_print(&b, s);
	if (rc == 0)
		rc = write_all(fd, b.s, b.len);
	strbuf_free(&b);
	if (close(fd) != 0 && rc == 0)
		rc = errno;
	return rc;
}

void samples_hash(const void *bytes, size_t n, char out[17])
{
	const unsigned char *p = bytes;
	uint64_t h = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * UINT64_C(1099511628211);
	snprintf(out, 17, "%016" PRIx64, h);
}

/* ---- reading ---- */

struct reader {
	struct samples *s;
	struct diag *d;
	const struct jsonval *o; /* the record being read */
	uint32_t begin, end;     /* its line */
	size_t errors;           /* in this record */
};

/* The place of a key in the record's line; the whole line when it is not there. */
static struct loc place_of(const struct reader *r, const char *key)
{
	struct loc l = { r->s->src, r->begin, r->end };
	char quoted[64];
	const char *at;

	snprintf(quoted, sizeof(quoted), "\"%s\"", key);
	at = memmem(r->s->src->text + r->begin, r->end - r->begin, quoted, strlen(quoted));
	if (at) {
		l.begin = (uint32_t)(at - r->s->src->text);
		l.end = l.begin + (uint32_t)strlen(quoted);
	}
	return l;
}

static const struct jsonval *member(struct reader *r, const char *key, enum jsonval_kind kind)
{
	const struct jsonval *v = jsonval_get(r->o, key);

	if (v && v->kind == kind)
		return v;
	if (v)
		diag_add(r->d, place_of(r, key), DIAG_SAMPLES, "'%s' of a sample is %s; it must be %s", key,
			 jsonval_kind_name(v->kind), jsonval_kind_name(kind));
	else
		diag_fix(diag_add(r->d, place_of(r, key), DIAG_SAMPLES, "a sample has no '%s'", key),
			 "'wpsim run --samples' writes all that a sample needs");
	r->errors++;
	return NULL;
}

static const char *text(struct reader *r, const char *key, bool may_be_empty)
{
	const struct jsonval *v = member(r, key, JV_STRING);

	if (!v)
		return "";
	if (strlen(v->string) > MAX_TEXT || (!may_be_empty && !*v->string)) {
		diag_add(r->d, place_of(r, key), DIAG_SAMPLES, "'%s' of a sample is %s", key,
			 *v->string ? "longer than 4096 bytes" : "empty");
		r->errors++;
		return "";
	}
	return v->string;
}

static double number(struct reader *r, const char *key, double lo, double hi)
{
	const struct jsonval *v = member(r, key, JV_NUMBER);

	if (!v)
		return lo;
	if (!(v->number >= lo && v->number <= hi)) {
		diag_add(r->d, place_of(r, key), DIAG_SAMPLES, "'%s' of a sample is %g; it must lie between %g and %g", key,
			 v->number, lo, hi);
		r->errors++;
		return lo;
	}
	return v->number;
}

static uint64_t whole(struct reader *r, const char *key, double lo, double hi)
{
	double v = number(r, key, lo, hi);

	if (v != floor(v)) {
		diag_add(r->d, place_of(r, key), DIAG_SAMPLES, "'%s' of a sample is %g; it must be a whole number", key, v);
		r->errors++;
	}
	return (uint64_t)v;
}

static void read_stages(struct reader *r, struct sample *s)
{
	const struct jsonval *v = member(r, "stages", JV_ARRAY), *record = r->o;
	struct sample_stage *out;

	if (!v || v->n == 0)
		return;
	if (v->n > MAX_STAGES) {
		diag_add(r->d, place_of(r, "stages"), DIAG_SAMPLES, "a sample has %zu stages, more than %u", v->n, MAX_STAGES);
		r->errors++;
		return;
	}
	out = arena_alloc(r->s->arena, v->n, sizeof(*out));
	for (size_t i = 0; i < v->n && r->errors == 0; i++) {
		r->o = v->item[i];
		out[i] = (struct sample_stage){ text(r, "name", false), (unsigned)whole(r, "group", 0, 3),
						number(r, "clk", 0, 1e15) };
	}
	r->o = record;
	s->stages = out;
	s->nstages = v->n;
}

static void read_warnings(struct reader *r, struct sample *s)
{
	const struct jsonval *v = member(r, "warnings", JV_ARRAY);
	const char **out;

	if (!v || v->n == 0)
		return;
	out = arena_alloc(r->s->arena, v->n, sizeof(*out));
	for (size_t i = 0; i < v->n; i++) {
		if (v->item[i]->kind != JV_STRING || v->n > MAX_WARNINGS) {
			diag_add(r->d, place_of(r, "warnings"), DIAG_SAMPLES, "'warnings' of a sample is no list of at most %u texts",
				 MAX_WARNINGS);
			r->errors++;
			return;
		}
		out[i] = v->item[i]->string;
	}
	s->warnings = out;
	s->nwarnings = v->n;
}

static void read_fields(struct reader *r, struct sample *s)
{
	s->kernel = text(r, "kernel", false);
	s->schedule = text(r, "schedule", true);
	s->hash = text(r, "hash", false);
	s->target = text(r, "target", false);
	s->backend = text(r, "backend", false);
	s->device = text(r, "device", false);
	s->arch = text(r, "arch", true);
	s->driver = text(r, "driver", true);
	s->date = text(r, "date", true);
	s->version = text(r, "version", true);
	s->workgroups = whole(r, "workgroups", 0, 0x1p52);
	s->trips = whole(r, "trips", 0, 0x1p52);
	s->steps = (unsigned)whole(r, "steps", 0, 65536);
	s->repeats = (unsigned)whole(r, "repeats", 1, 1e6);
	s->loop_clk = number(r, "loop_clk", 0, 1e18);
	s->clk_per_step = number(r, "clk_per_step", 0, 1e18);
	s->steady_clk = number(r, "steady_clk", 0, 1e18);
	s->spread = number(r, "spread", 0, 1e6);
	s->time_us = number(r, "time_us", 0, 1e15);
	s->clock_mhz = number(r, "clock_mhz", 0, 1e5);
	s->result = text(r, "result", false);
	s->registers = (unsigned)whole(r, "registers", 0, 65536);
	s->spill_bytes = (unsigned)whole(r, "spill_bytes", 0, 1e9);
	read_stages(r, s);
	read_warnings(r, s);
}

/* One line; true when it holds a sample. */
static bool read_line(struct reader *r, struct sample *out)
{
	struct samples *s = r->s;
	struct loc line = { s->src, r->begin, r->end };
	struct jsonval_error e;
	const char *schema;

	r->errors = 0;
	*out = (struct sample){ .loc = line };
	r->o = jsonval_parse(s->arena, s->src->text + r->begin, r->end - r->begin, &e);
	if (!r->o) {
		struct loc at = { s->src, r->begin + (uint32_t)(e.offset < r->end - r->begin ? e.offset : 0), r->end };

		at.end = at.begin + 1;
		diag_fix(diag_add(r->d, at, DIAG_SAMPLES, "this line is no JSON object: %s", e.text),
			 "a file of samples has one JSON object a line");
		return false;
	}
	if (r->o->kind != JV_OBJECT) {
		diag_add(r->d, line, DIAG_SAMPLES, "this line is %s, not a JSON object", jsonval_kind_name(r->o->kind));
		return false;
	}
	schema = text(r, "schema", false);
	if (r->errors)
		return false;
	if (strcmp(schema, SAMPLE_SCHEMA) != 0) {
		diag_add(r->d, place_of(r, "schema"), DIAG_SAMPLES, "samples of schema '%.60s' are not known; this wpsim reads "
			 SAMPLE_SCHEMA, schema);
		return false;
	}
	read_fields(r, out);
	return r->errors == 0;
}

int samples_parse(struct samples *out, struct src *s, struct diag *d)
{
	struct reader r = { .s = out, .d = d };
	size_t errors = d->errors, cap = 0;

	*out = (struct samples){ .arena = arena_new(), .src = s };
	for (size_t i = 0; i < s->nlines; i++) {
		struct sample one;

		r.begin = s->line_start[i];
		r.end = i + 1 < s->nlines ? s->line_start[i + 1] : (uint32_t)s->len;
		while (r.end > r.begin && strchr(" \t\r\n", s->text[r.end - 1]))
			r.end--;
		if (r.end == r.begin)
			continue;
		if (out->n == SAMPLES_MAX) {
			diag_add(d, (struct loc){ s, r.begin, r.end }, DIAG_LIMIT, "more than %u samples in one file", SAMPLES_MAX);
			break;
		}
		if (!read_line(&r, &one))
			continue;
		out->list = xgrow(out->list, out->n, &cap, sizeof(*out->list));
		out->list[out->n++] = one;
	}
	return d->errors > errors ? -1 : 0;
}

int samples_load(struct samples *out, const char *path, bool may_miss, struct diag *d)
{
	struct src *s;

	*out = (struct samples){ 0 };
	if (may_miss && access(path, F_OK) != 0 && errno == ENOENT)
		return 0;
	s = src_load(path, d);
	return s ? samples_parse(out, s, d) : -1;
}

void samples_free(struct samples *s)
{
	free(s->list);
	arena_free(s->arena);
	src_free(s->src);
	*s = (struct samples){ 0 };
}

const struct sample *samples_find(const struct samples *s, const char *hash, const char *device)
{
	for (size_t i = s->n; i-- > 0;)
		if (strcmp(s->list[i].hash, hash) == 0 && (!device || strcmp(s->list[i].device, device) == 0))
			return &s->list[i];
	return NULL;
}

const struct sample *samples_find_kernel(const struct samples *s, const char *kernel, const char *target)
{
	for (size_t i = s->n; i-- > 0;)
		if (strcmp(s->list[i].kernel, kernel) == 0 && strcmp(s->list[i].target, target) == 0)
			return &s->list[i];
	return NULL;
}
