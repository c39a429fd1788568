/* A comparison as text, JSON, CSV and a figure. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "jsonval.h"

/* ---- text ---- */

static void percent(FILE *f, int width, double v, bool sign)
{
	if (isnan(v))
		fprintf(f, " %*s", width, "-");
	else
		fprintf(f, sign ? " %+*.2f%%" : " %*.2f%%", width - 1, 100 * v);
}

static void text_row(const struct compare_row *r, double tolerance, FILE *f)
{
	double error = compare_error(r);

	fprintf(f, "%-34s %10.2f %10.2f", r->id, r->measured, r->predicted);
	percent(f, 9, error, true);
	if (r->ideal > 0)
		fprintf(f, " %9.2f %9.2f", r->measured - r->ideal, r->predicted - r->ideal);
	else
		fprintf(f, " %9s %9s", "-", "-");
	percent(f, 9, compare_lost_error(r), false);
	if (r->measured_us > 0)
		fprintf(f, " %10.2f %10.2f", r->measured_us, r->predicted_us);
	else
		fprintf(f, " %10s %10s", "-", "-");
	if (r->clock_mhz > 0)
		fprintf(f, " %6.0f", r->clock_mhz);
	else
		fprintf(f, " %6s", "-");
	fprintf(f, "%s%s\n", r->fitted ? "  fitted" : "", tolerance >= 0 && fabs(error) > tolerance ? "  beyond the tolerance" : "");
	for (size_t i = 0; i < r->nstages; i++)
		fprintf(f, "  %-28s %c   %10.2f %10.2f\n", r->stages[i].name, 'A' + (char)r->stages[i].group, r->stages[i].measured,
			r->stages[i].predicted);
}

static void text_figures(const char *name, const struct compare *c, enum compare_column col, bool blind, FILE *f)
{
	struct compare_figures g;

	compare_figures(c, col, blind, &g);
	if (g.n == 0)
		return;
	fprintf(f, "%-34s %5zu", name, g.n);
	percent(f, 10, g.mean_abs, false);
	percent(f, 10, g.lost, false);
	percent(f, 10, g.lost_pooled, false);
	percent(f, 10, g.bias, true);
	fprintf(f, "  %zu above, %zu below\n", g.above, g.below);
}

void compare_text(const struct compare *c, double tolerance, FILE *f)
{
	size_t nsets, fitted = 0;
	struct compare_set *sets = compare_sets(c, &nsets);

	fprintf(f, "%-34s %10s %10s %9s %9s %9s %9s %10s %10s %6s\n", "clk a K-step", "measured", "predicted", "error", "lost",
		"predicted", "error", "us", "predicted", "MHz");
	for (size_t i = 0; i < c->n; i++) {
		text_row(&c->row[i], tolerance, f);
		fitted += c->row[i].fitted;
	}
	fprintf(f, "\n%-34s %5s %10s %10s %10s %10s\n", "", "rows", "mean abs.", "lost", "pooled", "bias");
	text_figures("wpsim", c, COMPARE_PREDICTED, false, f);
	if (fitted && fitted < c->n)
		text_figures("wpsim, rows not fitted on", c, COMPARE_PREDICTED, true, f);
	text_figures("baseline: matrix bound alone", c, COMPARE_IDEAL, false, f);
	text_figures("baseline: no overlap", c, COMPARE_SERIAL, false, f);
	for (size_t i = 0; i < nsets; i++) {
		fprintf(f, "%s%-34s %5zu  tau ", i ? "" : "\n", sets[i].name, sets[i].n);
		if (isnan(sets[i].tau))
			fprintf(f, "%5s", "-");
		else
			fprintf(f, "%5.2f", sets[i].tau);
		fprintf(f, "  best: %s%s%s\n", sets[i].best_measured,
			strcmp(sets[i].best_measured, sets[i].best_predicted) ? ", predicted: " : " (found)",
			strcmp(sets[i].best_measured, sets[i].best_predicted) ? sets[i].best_predicted : "");
	}
	if (c->skipped)
		fprintf(f, "\n%zu measurements are of kernels that no schedule models\n", c->skipped);
	free(sets);
}

/* ---- JSON ---- */

static void put(struct strbuf *b, const char *key, double v)
{
	strbuf_add(b, ", \"%s\": ", key);
	jsonval_put(b, v > 0 || v < 0 || v == 0 ? v : NAN);
}

static void put_text(struct strbuf *b, const char *key, const char *v)
{
	strbuf_add(b, ", \"%s\": ", key);
	jsonval_quote(b, v);
}

static void json_row(struct strbuf *b, const struct compare_row *r)
{
	strbuf_add(b, "{\"id\": ");
	jsonval_quote(b, r->id);
	put_text(b, "kernel", r->kernel);
	put_text(b, "target", r->target);
	put_text(b, "where", r->where);
	put_text(b, "siblings", r->siblings);
	put(b, "measured_clk", r->measured);
	put(b, "predicted_clk", r->predicted);
	put(b, "ideal_clk", r->ideal);
	put(b, "error", compare_error(r));
	put(b, "lost_error", compare_lost_error(r));
	put(b, "measured_us", r->measured_us > 0 ? r->measured_us : NAN);
	put(b, "predicted_us", r->predicted_us > 0 ? r->predicted_us : NAN);
	put(b, "clock_mhz", r->clock_mhz > 0 ? r->clock_mhz : NAN);
	put(b, "spread", r->spread);
	strbuf_add(b, ", \"fitted\": %s, \"stages\": [", r->fitted ? "true" : "false");
	for (size_t i = 0; i < r->nstages; i++) {
		strbuf_add(b, "%s{\"name\": ", i ? ", " : "");
		jsonval_quote(b, r->stages[i].name);
		strbuf_add(b, ", \"group\": %u", r->stages[i].group);
		put(b, "measured_clk", r->stages[i].measured);
		put(b, "predicted_clk", r->stages[i].predicted);
		strbuf_add(b, "}");
	}
	strbuf_add(b, "]}");
}

static void json_figures(struct strbuf *b, const char *key, const struct compare *c, enum compare_column col, bool blind)
{
	struct compare_figures g;

	compare_figures(c, col, blind, &g);
	strbuf_add(b, "\"%s\": {\"rows\": %zu", key, g.n);
	put(b, "mean_abs_error", g.mean_abs);
	put(b, "lost_error", g.lost);
	put(b, "lost_error_pooled", g.lost_pooled);
	put(b, "bias", g.bias);
	strbuf_add(b, ", \"above\": %zu, \"below\": %zu}", g.above, g.below);
}

void compare_json(const struct compare *c, double tolerance, bool one_line, FILE *out)
{
	const char *nl = one_line ? " " : "\n  ";
	struct strbuf b = { 0 };
	size_t nsets;
	struct compare_set *sets = compare_sets(c, &nsets);

	strbuf_add(&b, "{\"schema\": \"wpsim.compare.v1\",%s\"tolerance\": ", nl);
	jsonval_put(&b, tolerance >= 0 ? tolerance : NAN);
	strbuf_add(&b, ",%s\"beyond\": %zu,%s\"not_modelled\": %zu,%s\"rows\": [", nl, compare_beyond(c, tolerance), nl, c->skipped,
		   nl);
	for (size_t i = 0; i < c->n; i++) {
		strbuf_add(&b, "%s%s", i ? "," : "", i ? nl : "");
		json_row(&b, &c->row[i]);
	}
	strbuf_add(&b, "],%s\"figures\": {", nl);
	json_figures(&b, "wpsim", c, COMPARE_PREDICTED, false);
	strbuf_add(&b, ",%s", nl);
	json_figures(&b, "wpsim_blind", c, COMPARE_PREDICTED, true);
	strbuf_add(&b, ",%s", nl);
	json_figures(&b, "matrix_bound", c, COMPARE_IDEAL, false);
	strbuf_add(&b, ",%s", nl);
	json_figures(&b, "no_overlap", c, COMPARE_SERIAL, false);
	strbuf_add(&b, "},%s\"siblings\": [", nl);
	for (size_t i = 0; i < nsets; i++) {
		strbuf_add(&b, "%s{\"name\": ", i ? ", " : "");
		jsonval_quote(&b, sets[i].name);
		strbuf_add(&b, ", \"rows\": %zu", sets[i].n);
		put(&b, "tau", sets[i].tau);
		put_text(&b, "best_measured", sets[i].best_measured);
		put_text(&b, "best_predicted", sets[i].best_predicted);
		strbuf_add(&b, "}");
	}
	strbuf_add(&b, "]}\n");
	fwrite(b.s, 1, b.len, out);
	strbuf_free(&b);
	free(sets);
}

/* ---- CSV ---- */

static void csv_text(FILE *f, const char *s)
{
	if (!s)
		return;
	if (!strpbrk(s, ",\"\n\r")) {
		fputs(s, f);
		return;
	}
	fputc('"', f);
	for (; *s; s++) {
		if (*s == '"')
			fputc('"', f);
		fputc(*s, f);
	}
	fputc('"', f);
}

static void csv_number(FILE *f, double v, bool known)
{
	fputc(',', f);
	if (known && isfinite(v))
		fprintf(f, "%.9g", v);
}

void compare_csv(const struct compare *c, FILE *f)
{
	fputs("id,kernel,target,where,siblings,measured_clk,predicted_clk,ideal_clk,error,lost_error,measured_us,predicted_us,"
	      "clock_mhz,spread,fitted\n", f);
	for (size_t i = 0; i < c->n; i++) {
		const struct compare_row *r = &c->row[i];
		const char *const texts[] = { r->id, r->kernel, r->target, r->where, r->siblings };

		for (size_t k = 0; k < ARRAY_LEN(texts); k++) {
			if (k)
				fputc(',', f);
			csv_text(f, texts[k]);
		}
		csv_number(f, r->measured, true);
		csv_number(f, r->predicted, true);
		csv_number(f, r->ideal, r->ideal > 0);
		csv_number(f, compare_error(r), true);
		csv_number(f, compare_lost_error(r), true);
		csv_number(f, r->measured_us, r->measured_us > 0);
		csv_number(f, r->predicted_us, r->predicted_us > 0);
		csv_number(f, r->clock_mhz, r->clock_mhz > 0);
		csv_number(f, r->spread, true);
		fprintf(f, ",%s\n", r->fitted ? "yes" : "no");
	}
}

/* ---- figure ---- */

#define SIDE 560.0
#define LEFT 70.0
#define TOP 20.0

struct axis { double lo, hi; }; /* of log10 */

static double place(const struct axis *a, double v)
{
	return (log10(v) - a->lo) / (a->hi - a->lo) * SIDE;
}

static void svg_text(FILE *f, const char *s)
{
	for (; *s; s++) {
		switch (*s) {
		case '<': fputs("&lt;", f); break;
		case '&': fputs("&amp;", f); break;
		default:
			if ((unsigned char)*s >= ' ')
				fputc(*s, f);
		}
	}
}

static struct axis find_axis(const struct compare *c)
{
	struct axis a = { INFINITY, -INFINITY };

	for (size_t i = 0; i < c->n; i++) {
		a.lo = fmin(a.lo, log10(fmin(c->row[i].measured, c->row[i].predicted)));
		a.hi = fmax(a.hi, log10(fmax(c->row[i].measured, c->row[i].predicted)));
	}
	if (!(a.hi > a.lo - 1e-9) || !isfinite(a.lo) || !isfinite(a.hi))
		return (struct axis){ 0, 4 };
	a.lo -= 0.1;
	a.hi += 0.1;
	return a;
}

/* 1, 2 and 5 of each decade, or only decades when there are many. */
static void svg_grid(const struct axis *a, FILE *f)
{
	static const double steps[] = { 1, 2, 5 };

	for (int d = (int)floor(a->lo); d <= (int)ceil(a->hi); d++)
		for (size_t k = 0; k < (a->hi - a->lo > 3 ? 1 : ARRAY_LEN(steps)); k++) {
			double v = steps[k] * pow(10, d), at = place(a, v);

			if (at < 0 || at > SIDE)
				continue;
			fprintf(f, "<path class=\"grid\" d=\"M%.1f %.1fV%.1fM%.1f %.1fH%.1f\"/>\n", LEFT + at, TOP, TOP + SIDE, LEFT,
				TOP + SIDE - at, LEFT + SIDE);
			fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%g</text>\n", LEFT + at, TOP + SIDE + 16, v);
			fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", LEFT - 6, TOP + SIDE - at + 4, v);
		}
}

void compare_svg(const struct compare *c, double tolerance, FILE *f)
{
	struct axis a = find_axis(c);
	double band = tolerance > 0 ? log10(1 + tolerance) / (a.hi - a.lo) * SIDE : 0;

	fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
		"font-family=\"sans-serif\" font-size=\"11\">\n", SIDE + LEFT + 20, SIDE + TOP + 50, SIDE + LEFT + 20, SIDE + TOP + 50);
	fputs("<title>Predicted against measured clk of a K-step</title>\n<style>.grid{stroke:#ddd;fill:none}.line{stroke:#888;fill:none}"
	      ".band{fill:#8883;stroke:none}.p{fill:#06c}.fitted{fill:none;stroke:#06c}</style>\n<rect width=\"100%\" height=\"100%\" "
	      "fill=\"#fff\"/>\n", f);
	svg_grid(&a, f);
	if (band > 0) /* the strip on both sides of the diagonal */
		fprintf(f, "<path class=\"band\" d=\"M%.1f %.1fV%.1fL%.1f %.1fH%.1fV%.1fL%.1f %.1fz\"/>\n", LEFT, TOP + SIDE,
			TOP + SIDE - band, LEFT + SIDE - band, TOP, LEFT + SIDE, TOP + band, LEFT + band, TOP + SIDE);
	fprintf(f, "<path class=\"line\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", LEFT, TOP + SIDE, LEFT + SIDE, TOP);
	for (size_t i = 0; i < c->n; i++) {
		const struct compare_row *r = &c->row[i];

		fprintf(f, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>", r->fitted ? "fitted" : "p",
			LEFT + place(&a, r->measured), TOP + SIDE - place(&a, r->predicted));
		svg_text(f, r->id);
		fprintf(f, ": measured %.6g, predicted %.6g clk (%+.2f %%)</title></circle>\n", r->measured, r->predicted,
			100 * compare_error(r));
	}
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">measured, clk a K-step</text>\n", LEFT + SIDE / 2, TOP + SIDE + 36);
	fprintf(f, "<text transform=\"translate(16 %.1f) rotate(-90)\" text-anchor=\"middle\">predicted, clk a K-step</text>\n</svg>\n",
		TOP + SIDE / 2);
}
