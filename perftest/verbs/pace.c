/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/verbs/pace.h"

#include <math.h>

#include <ibcc/rng.h>

void ibcc_perf_pace_start(struct ibcc_perf_pace *p)
{
	p->next_ns = 0;
	p->due = p->missed = 0;
}

bool ibcc_perf_pace_on(const struct ibcc_perf_pace *p, uint64_t now_ns, uint64_t *change_ns)
{
	uint64_t change = p->stop_ns ? p->stop_ns : IBCC_PERF_NEVER, period, at, next;
	bool on = true;

	if (now_ns < p->start_ns) {
		*change_ns = p->start_ns;
		return false;
	}
	if (p->stop_ns && now_ns >= p->stop_ns) {
		*change_ns = IBCC_PERF_NEVER;
		return false;
	}
	if (p->off_ns) {
		period = p->on_ns + p->off_ns;
		at = (now_ns - p->start_ns) % period;
		on = at < p->on_ns;
		next = now_ns - at + (on ? p->on_ns : period);
		change = next < change ? next : change;
	}
	*change_ns = change;
	return on;
}

/* Time since the start that the flow was on, and the inverse. */
static double on_time(const struct ibcc_perf_pace *p, uint64_t now_ns)
{
	uint64_t end = p->stop_ns && now_ns > p->stop_ns ? p->stop_ns : now_ns;
	uint64_t since = end > p->start_ns ? end - p->start_ns : 0;
	uint64_t period = p->on_ns + p->off_ns, at;

	if (!p->off_ns)
		return (double)since;
	at = since % period;
	return (double)(since / period * p->on_ns) + (double)(at < p->on_ns ? at : p->on_ns);
}

static uint64_t clock_time(const struct ibcc_perf_pace *p, double on_ns)
{
	double rounds;

	if (p->off_ns) {
		rounds = floor(on_ns / (double)p->on_ns);
		on_ns += rounds * (double)p->off_ns;
	}
	return on_ns < 9e18 ? p->start_ns + (uint64_t)on_ns : IBCC_PERF_NEVER;
}

static double interval(struct ibcc_perf_pace *p)
{
	double u;

	if (!p->exponential)
		return p->interval_ns;
	u = (double)(ibcc_rng_next(&p->rng) >> 11) * 0x1p-53; /* 0 <= u < 1 */
	return -log1p(-u) * p->interval_ns;
}

bool ibcc_perf_pace_take(struct ibcc_perf_pace *p, uint64_t now_ns, uint64_t *due_ns)
{
	uint64_t change;
	bool on = ibcc_perf_pace_on(p, now_ns, &change);
	double now, late;

	if (!(p->interval_ns > 0)) {
		*due_ns = now_ns;
		p->due += on;
		return on;
	}
	/* A message that was due while the flow was on is still due. */
	now = on_time(p, now_ns);
	if (now_ns < p->start_ns || p->next_ns > now || (!on && p->next_ns >= now))
		return false;
	late = (now - p->next_ns) / p->interval_ns;
	if (late > p->depth) {
		/* Messages beyond the bucket's depth are given up at once, by the mean interval. */
		p->missed += (uint64_t)(late - p->depth);
		p->next_ns += floor(late - p->depth) * p->interval_ns;
	}
	*due_ns = clock_time(p, p->next_ns);
	p->next_ns += interval(p);
	p->due++;
	return true;
}

void ibcc_perf_pace_end(struct ibcc_perf_pace *p, uint64_t now_ns)
{
	double late = on_time(p, now_ns) - p->next_ns;

	if (p->interval_ns > 0 && late > 0)
		p->missed += (uint64_t)ceil(late / p->interval_ns);
	p->next_ns = INFINITY;
}

uint64_t ibcc_perf_pace_next(const struct ibcc_perf_pace *p, uint64_t now_ns)
{
	uint64_t change, next;

	if (!ibcc_perf_pace_on(p, now_ns, &change))
		return p->interval_ns > 0 && p->next_ns < on_time(p, now_ns) ? now_ns : change;
	if (!(p->interval_ns > 0))
		return now_ns;
	next = clock_time(p, p->next_ns);
	return next > now_ns ? next : now_ns;
}
