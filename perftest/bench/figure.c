/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A recursive descent parser for the few forms of a figure. Checking is an evaluation without runs.
 */
#include "perftest/bench/figure.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include <ibcc/text.h>

#include "perftest/bench/select.h"
#include "perftest/bench/wire.h"

#define MAX_ARGS  3
#define MAX_DEPTH 32
#define SMOOTH    10u /* samples */
#define CROWD     20u /* passes */

struct eval {
	struct ibcc_experiment *x;
	const struct ibcc_exp_result *r; /* NULL: only check */
	const char *p;
	int depth;
	bool failed;
	char *why;
	size_t len;
};

struct args {
	char text[MAX_ARGS][IBCC_EXP_NAME_BYTES];
	int n;
};

static double fail(struct eval *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static double fail(struct eval *e, const char *fmt, ...)
{
	va_list ap;

	if (!e->failed) {
		va_start(ap, fmt);
		vsnprintf(e->why, e->len, fmt, ap);
		va_end(ap);
	}
	e->failed = true;
	return NAN;
}

static char peek(struct eval *e)
{
	while (isspace((unsigned char)*e->p))
		e->p++;
	return *e->p;
}

static bool eat(struct eval *e, char c)
{
	if (peek(e) != c)
		return false;
	e->p++;
	return true;
}

/* Functions of one run; the third argument is a number where they take one. */
enum per_run {
	F_MBYTES,
	F_MBITS,
	F_OFFERED,
	F_IDEAL,
	F_IDEAL_SHARE,
	F_UTILISATION,
	F_FAIRNESS,
	F_SETTLE,
	F_LATENCY,
	F_CCTI,
	F_MARKED,
	F_QUEUE,
	F_PAUSED,
	F_DROPPED,
	F_PERCENT,
	F_SETS,
	F_ROUNDS,
	F_ROUNDS_AFTER,
	F_ROUNDS_CROWDED,
	F_CONN,  /* a word of conn_figure() */
	F_IWARP, /* a subject and a figure's name */
};
static const struct function {
	const char *name;
	int n_args;
	enum per_run f;
} functions[] = {
	{ "MBps", 2, F_MBYTES },
	{ "Mbps", 2, F_MBITS },
	{ "offered", 2, F_OFFERED },
	{ "ideal", 2, F_IDEAL },
	{ "ideal_share", 1, F_IDEAL_SHARE },
	{ "utilisation", 2, F_UTILISATION },
	{ "fairness", 3, F_FAIRNESS },
	{ "settle", 3, F_SETTLE },
	{ "latency", 2, F_LATENCY },
	{ "ccti", 2, F_CCTI },
	{ "marked", 2, F_MARKED },
	{ "queue", 1, F_QUEUE },
	{ "paused", 1, F_PAUSED },
	{ "dropped", 1, F_DROPPED },
	{ "percent", 1, F_PERCENT },
	{ "sets", 1, F_SETS },
	{ "rounds", 1, F_ROUNDS },
	{ "late_rounds", 1, F_ROUNDS_AFTER },
	{ "crowded_rounds", 1, F_ROUNDS_CROWDED },
	{ "conn", 3, F_CONN },
	{ "iwarp", 3, F_IWARP },
};

/* Time in ms from the window's beginning until the throughput stays at a share of the offered for
 * good; infinite if it does not. Single samples hold few packets, so the mean of the last ten
 * counts.
 */
static double settle_ms(const struct ibcc_select *s, double share)
{
	const struct ibcc_measure *m = &s->run->measure;
	double want = share * ibcc_select_offered_mbps(s) * SMOOTH, last = 0;
	uint64_t since_ps = m->from_ps;

	for (uint32_t k = 0; k < m->n_samples; k++) {
		last += ibcc_select_sample_mbps(s, k);
		if (k >= SMOOTH)
			last -= ibcc_select_sample_mbps(s, k - SMOOTH);
		if (m->sample_ps[k] > since_ps && last < want)
			since_ps = m->sample_ps[k];
	}
	if (!m->n_samples || since_ps >= m->sample_ps[m->n_samples - 1])
		return INFINITY;
	return (double)(since_ps - m->from_ps) / (double)IBCC_PS_PER_MS;
}

static double paused(const struct ibcc_exp_run *run)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < run->measure.n_ports; i++) {
		if (run->scenario.topo->port[i].peer == IBCC_NONE)
			continue;
		sum += run->measure.port[i].paused;
		n++;
	}
	return n ? sum / n : NAN;
}

/* Of all ports, the most bytes that waited for one on the mean. */
static double longest_queue(const struct ibcc_exp_run *run)
{
	double most = 0;

	for (uint32_t i = 0; i < run->measure.n_ports; i++)
		most = fmax(most, run->measure.port[i].backlog_bytes);
	return most;
}

static double dropped(const struct ibcc_exp_run *run)
{
	double sum = 0;

	for (uint32_t i = 0; i < run->measure.n_ports; i++)
		sum += (double)run->measure.port[i].dropped;
	return sum;
}

/* Rounds of changes within the measuring window. */
static uint32_t late_rounds(const struct ibcc_exp_run *run)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < run->live.n_rounds; i++)
		n += run->live.round[i].t_ps > run->measure.from_ps;
	return n;
}

/* Most rounds of changes in CROWD passes in a row, within the measuring window. */
static uint32_t crowded_rounds(const struct ibcc_exp_run *run)
{
	const struct ibcc_live_round *r = run->live.round;
	uint32_t most = 0;

	for (uint32_t i = 0; i < run->live.n_rounds; i++) {
		uint32_t n = 0;

		for (uint32_t k = i; k < run->live.n_rounds; k++)
			n += r[i].t_ps > run->measure.from_ps && r[k].pass < r[i].pass + CROWD;
		most = n > most ? n : most;
	}
	return most;
}

static double marked_percent(const struct ibcc_exp_run *run)
{
	const struct ibcc_dcqcn *d = &run->scenario.model.dcqcn;

	return d->enabled ? d->profile[0].percent : 0;
}

static double of_run(struct eval *e, const struct function *f, const struct args *a,
		     const struct ibcc_exp_run *run)
{
	const char *who = f->n_args > 1 ? a->text[1] : "all";
	double number = f->n_args > 2 ? strtod(a->text[2], NULL) : 0, v = NAN;
	struct ibcc_select s;
	int rc;

	if (f->f == F_IWARP)
		return ibcc_exp_wire_figure(run->wire, a->text[1], a->text[2]);
	rc = ibcc_select(run, who, &s);
	if (rc)
		return fail(e,
			    rc == -ENOMEM ? "out of memory at \"%s\""
					  : "got \"%s\", want a flow, a kind of flow, or a node",
			    who);
	switch (f->f) {
	case F_MBYTES: v = ibcc_select_mbps(&s) / 8; break;
	case F_MBITS: v = ibcc_select_mbps(&s); break;
	case F_OFFERED: v = ibcc_select_offered_mbps(&s); break;
	case F_IDEAL: v = ibcc_select_ideal_mbps(&s); break;
	case F_IDEAL_SHARE: v = ibcc_measure_ideal_share(&run->measure); break;
	case F_UTILISATION: v = ibcc_select_mbps(&s) / ibcc_select_capacity_mbps(&s); break;
	case F_FAIRNESS: v = ibcc_select_unfairness(&s, number); break;
	case F_SETTLE: v = settle_ms(&s, number); break;
	case F_LATENCY: v = ibcc_select_latency_us(&s); break;
	case F_CCTI: v = ibcc_select_ccti(&s); break;
	case F_MARKED: v = ibcc_select_marked(&s); break;
	case F_QUEUE: v = longest_queue(run); break;
	case F_PAUSED: v = paused(run); break;
	case F_DROPPED: v = dropped(run); break;
	case F_PERCENT: v = marked_percent(run); break;
	case F_SETS: v = (double)run->live.sets; break;
	case F_ROUNDS: v = run->live.n_rounds; break;
	case F_ROUNDS_AFTER: v = late_rounds(run); break;
	case F_ROUNDS_CROWDED: v = crowded_rounds(run); break;
	case F_CONN: v = ibcc_select_conn(&s, a->text[2]); break;
	case F_IWARP: break; /* above */
	}
	free(s.in);
	return v;
}

static double call(struct eval *e, const struct function *f, const struct args *a)
{
	size_t v, i;
	double sum = 0;
	uint32_t n = 0;
	char *end;

	for (v = 0; v < e->x->n_variants; v++)
		if (!strcmp(e->x->variant[v].name, a->text[0]))
			break;
	if (v == e->x->n_variants)
		return fail(e, "got \"%s\", want a variant", a->text[0]);
	if ((f->f == F_IWARP) != (e->x->wire[0] != '\0'))
		return fail(e, "the figure %s is only for %s", f->name,
			    e->x->wire[0] ? "scenarios" : "experiments with mpa");
	if (f->f == F_IWARP) {
		if (!ibcc_exp_wire_has(e->x, a->text[1], a->text[2]))
			return fail(e,
				    "got \"%s, %s\", want a subject of mpa and one of its figures",
				    a->text[1], a->text[2]);
	} else if (f->f == F_CONN) {
		if (!ibcc_select_conn_has(a->text[2]))
			return fail(e, "got \"%s\", want a figure of connections", a->text[2]);
	} else if (f->n_args > 2) {
		strtod(a->text[2], &end);
		if (end == a->text[2] || *end)
			return fail(e, "got \"%s\", want a number", a->text[2]);
	}
	if (!e->r) {
		e->x->variant[v].needed = true;
		return 1;
	}
	for (i = 0; i < e->r->n_runs && !e->failed; i++) {
		if (e->r->run[i].variant != v)
			continue;
		sum += of_run(e, f, a, &e->r->run[i]);
		n++;
	}
	return n ? sum / n : NAN;
}

/* Ranks from 1, the mean rank among equals. */
static double rank(const double *v, size_t n, size_t i)
{
	size_t below = 0, equal = 0, k;

	for (k = 0; k < n; k++) {
		below += v[k] < v[i];
		equal += v[k] == v[i];
	}
	return (double)below + ((double)equal + 1) / 2;
}

static double spearman(const double *x, const double *y, size_t n)
{
	double mean = ((double)n + 1) / 2, xy = 0, xx = 0, yy = 0;

	for (size_t i = 0; i < n; i++) {
		double a = rank(x, n, i) - mean, b = rank(y, n, i) - mean;

		if (isnan(y[i]))
			return NAN;
		xy += a * b;
		xx += a * a;
		yy += b * b;
	}
	return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

static double spread(const double *y, size_t n)
{
	double least = INFINITY, most = -INFINITY;

	for (size_t i = 0; i < n; i++) {
		least = fmin(least, y[i]);
		most = fmax(most, y[i]);
	}
	return most - least;
}

static double of_series(struct eval *e, bool is_trend, const struct args *a)
{
	for (size_t i = 0; i < e->x->n_series; i++) {
		struct ibcc_exp_series *s = &e->x->series[i];

		if (strcmp(s->name, a->text[0]))
			continue;
		for (size_t c = 0; c < s->n_columns; c++) {
			if (strcmp(s->column[c].name, a->text[1]))
				continue;
			s->needed = true;
			if (!e->r)
				return 1;
			return is_trend ? spearman(s->x, &s->y[c * s->n], s->n)
					: spread(&s->y[c * s->n], s->n);
		}
		return fail(e, "got \"%s\", want a column of %s", a->text[1], s->name);
	}
	return fail(e, "got \"%s\", want a series", a->text[0]);
}

/* Arguments are plain words, with spaces around them or not. */
static bool read_args(struct eval *e, struct args *a)
{
	const char *end;
	size_t len;

	for (a->n = 0; a->n < MAX_ARGS; a->n++) {
		peek(e);
		len = strcspn(e->p, ",()");
		end = e->p + len;
		while (len && isspace((unsigned char)e->p[len - 1]))
			len--;
		if (!len || len >= sizeof(a->text[0])) {
			fail(e, "want a word at \"%.20s\"", e->p);
			return false;
		}
		memcpy(a->text[a->n], e->p, len);
		a->text[a->n][len] = '\0';
		e->p = end;
		if (!eat(e, ',')) {
			a->n++;
			break;
		}
	}
	if (eat(e, ')'))
		return true;
	fail(e, "want ) at \"%.20s\"", e->p);
	return false;
}

static double function(struct eval *e)
{
	size_t len = strspn(e->p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
	const char *name = e->p;
	const struct function *f = NULL;
	bool is_trend = len == 5 && !strncmp(name, "trend", 5);
	bool is_spread = len == 6 && !strncmp(name, "spread", 6);
	struct args a;

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (strlen(functions[i].name) == len && !strncmp(functions[i].name, name, len))
			f = &functions[i];
	if (!f && !is_trend && !is_spread)
		return fail(e, "want a number or a function at \"%.20s\"", e->p);
	e->p += len;
	if (!eat(e, '('))
		return fail(e, "want ( after %.*s", (int)len, name);
	if (!read_args(e, &a))
		return NAN;
	if (a.n != (f ? f->n_args : 2))
		return fail(e, "got %d argument%s for %.*s, want %d", a.n,
			    ibcc_text_plural((uint64_t)a.n, "", "s"), (int)len, name,
			    f ? f->n_args : 2);
	return f ? call(e, f, &a) : of_series(e, is_trend, &a);
}

static double sum(struct eval *e);

/* min(A, B), max(A, B). */
static double extreme(struct eval *e, bool least)
{
	double a, b;

	e->p += strlen("min");
	if (!eat(e, '('))
		return fail(e, "want ( at \"%.20s\"", e->p);
	a = sum(e);
	if (!e->failed && !eat(e, ','))
		return fail(e, "want , at \"%.20s\"", e->p);
	b = e->failed ? NAN : sum(e);
	if (!e->failed && !eat(e, ')'))
		return fail(e, "want ) at \"%.20s\"", e->p);
	/* If one value is unknown (NAN), so is the result. */
	return isnan(a) || isnan(b) ? NAN : least ? fmin(a, b) : fmax(a, b);
}

static double factor(struct eval *e)
{
	char c = peek(e), *end;
	double v;

	if (++e->depth > MAX_DEPTH)
		return fail(e, "nested more than %d deep", MAX_DEPTH);
	if (eat(e, '(')) {
		v = sum(e);
		if (!e->failed && !eat(e, ')'))
			fail(e, "want ) at \"%.20s\"", e->p);
	} else if (eat(e, '-')) {
		v = -factor(e);
	} else if (isdigit((unsigned char)c) || c == '.') {
		v = strtod(e->p, &end);
		e->p = end;
	} else if (!strncmp(e->p, "min(", 4) || !strncmp(e->p, "max(", 4)) {
		v = extreme(e, e->p[1] == 'i');
	} else {
		v = function(e);
	}
	e->depth--;
	return e->failed ? NAN : v;
}

static double product(struct eval *e)
{
	double v = factor(e);

	while (!e->failed) {
		if (eat(e, '*'))
			v *= factor(e);
		else if (eat(e, '/'))
			v /= factor(e);
		else
			break;
	}
	return v;
}

static double sum(struct eval *e)
{
	double v = product(e);

	while (!e->failed) {
		if (eat(e, '+'))
			v += product(e);
		else if (eat(e, '-'))
			v -= product(e);
		else
			break;
	}
	return v;
}

bool ibcc_figure_fill(char *out, size_t len, const char *template, const char *word)
{
	size_t at = 0, add;

	for (; *template; template += strncmp(template, "{}", 2) ? 1 : 2) {
		bool hole = !strncmp(template, "{}", 2);

		add = hole ? strlen(word) : 1;
		if (at + add >= len)
			return false;
		memcpy(out + at, hole ? word : template, add);
		at += add;
	}
	out[at] = '\0';
	return true;
}

static int evaluate(struct eval *e, double *out)
{
	double v = sum(e);

	if (!e->failed && peek(e))
		fail(e, "got \"%.20s\" after the end", e->p);
	if (e->failed)
		return -EINVAL;
	*out = v;
	return 0;
}

int ibcc_figure_check(struct ibcc_experiment *x, const char *value, char *why, size_t len)
{
	struct eval e = { .x = x, .p = value, .why = why, .len = len };
	double ignored;

	return evaluate(&e, &ignored);
}

int ibcc_figure_eval(struct ibcc_experiment *x, const struct ibcc_exp_result *r, const char *value,
		     double *out, char *why, size_t len)
{
	struct eval e = { .x = x, .r = r, .p = value, .why = why, .len = len };

	return evaluate(&e, out);
}
