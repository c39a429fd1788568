#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit.h"
#include "util.h"

void compare_add(struct compare *c, const struct compare_row *r)
{
	c->row = xgrow(c->row, c->n, &c->cap, sizeof(*c->row));
	c->row[c->n++] = *r;
}

void compare_free(struct compare *c)
{
	free(c->row);
	*c = (struct compare){ 0 };
}

static double column(const struct compare_row *r, enum compare_column col)
{
	return col == COMPARE_IDEAL ? r->ideal : col == COMPARE_SERIAL ? r->serial : r->predicted;
}

double compare_error(const struct compare_row *r)
{
	return r->predicted / r->measured - 1;
}

static double lost_error(const struct compare_row *r, enum compare_column col)
{
	double lost = r->measured - r->ideal;

	return r->ideal > 0 && lost > 0 ? fabs(column(r, col) - r->measured) / lost : NAN;
}

double compare_lost_error(const struct compare_row *r)
{
	return lost_error(r, COMPARE_PREDICTED);
}

void compare_figures(const struct compare *c, enum compare_column col, bool blind, struct compare_figures *out)
{
	double *abs_error = xcalloc(c->n + 1, sizeof(double)), *lost = xcalloc(c->n + 1, sizeof(double)),
	       *error = xcalloc(c->n + 1, sizeof(double)), off = 0, all_lost = 0;
	size_t nlost = 0;

	*out = (struct compare_figures){ 0 };
	for (size_t i = 0; i < c->n; i++) {
		const struct compare_row *r = &c->row[i];
		double v = column(r, col), l = lost_error(r, col);

		if ((blind && r->fitted) || v <= 0)
			continue;
		error[out->n] = v / r->measured - 1;
		abs_error[out->n] = fabs(error[out->n]);
		out->above += error[out->n] > 0;
		out->below += error[out->n] < 0;
		out->n++;
		if (r->ideal > 0) {
			off += fabs(v - r->measured);
			all_lost += r->measured - r->ideal;
		}
		if (!isnan(l))
			lost[nlost++] = l;
	}
	out->mean_abs = fit_mean(abs_error, out->n);
	out->bias = fit_mean(error, out->n);
	out->lost = fit_mean(lost, nlost);
	out->lost_pooled = all_lost > 0 ? off / all_lost : NAN;
	free(abs_error);
	free(error);
	free(lost);
}

static struct compare_set set_of(const struct compare *c, const char *name)
{
	struct compare_set s = { .name = name };
	double *p = xcalloc(c->n, sizeof(*p)), *m = xcalloc(c->n, sizeof(*m));
	const struct compare_row *best_p = NULL, *best_m = NULL;

	for (size_t i = 0; i < c->n; i++) {
		const struct compare_row *r = &c->row[i];

		if (!r->siblings || strcmp(r->siblings, name) != 0)
			continue;
		p[s.n] = r->predicted;
		m[s.n++] = r->measured;
		if (!best_p || r->predicted < best_p->predicted)
			best_p = r;
		if (!best_m || r->measured < best_m->measured)
			best_m = r;
	}
	s.tau = fit_kendall(p, m, s.n);
	s.best_predicted = best_p ? best_p->id : "";
	s.best_measured = best_m ? best_m->id : "";
	free(p);
	free(m);
	return s;
}

struct compare_set *compare_sets(const struct compare *c, size_t *n)
{
	struct compare_set *sets = xcalloc(c->n + 1, sizeof(*sets));

	*n = 0;
	for (size_t i = 0; i < c->n; i++) {
		const char *name = c->row[i].siblings;
		bool seen = !name;

		for (size_t k = 0; k < i && !seen; k++)
			seen = c->row[k].siblings && strcmp(c->row[k].siblings, name) == 0;
		if (seen)
			continue;
		sets[*n] = set_of(c, name);
		*n += sets[*n].n >= 2;
	}
	return sets;
}

size_t compare_beyond(const struct compare *c, double tolerance)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n && tolerance >= 0; i++)
		n += fabs(compare_error(&c->row[i])) > tolerance;
	return n;
}
