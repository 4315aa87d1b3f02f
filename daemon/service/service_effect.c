/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the polling cycles measured, for the history: before and after each transaction, and each
 * minute.
 */
#include <string.h>
#include <time.h>

#include "daemon/service/service_impl.h"

/* The effect is measured after this many polling cycles, a minute at the default interval. The
 * interval of the first cycle contains the write itself, loads are means over about two cycles, and
 * full queues have to drain.
 */
#define SETTLED_PASSES 6u
#define SAMPLE_S       60

static void count_loads(const struct ibcc_cycle *c, int64_t *value)
{
	uint16_t waits = c->options.estimator.ca_wait_permille;

	for (uint32_t i = 0; i < c->topo->n_endports && i < c->estimate.n_loads; i++) {
		const struct ibcc_load *l = &c->estimate.load[i];

		if (!l->known ||
		    ibcc_topo_is_switch(c->topo, c->topo->port[c->topo->endport[i]].node))
			continue;
		value[IBCC_SAMPLE_TOTAL_MBPS] += l->mbps;
		value[IBCC_SAMPLE_WAITING] += l->wait_permille >= waits;
	}
}

static void count_roots(const struct ibcc_estimate *p, int64_t *value)
{
	value[IBCC_SAMPLE_ROOTS] = p->n_roots;
	for (uint32_t i = 0; i < p->n_roots; i++) {
		const struct ibcc_root *r = &p->root[i];
		uint16_t wait = r->wait_permille > r->tree_wait_permille ? r->wait_permille
									 : r->tree_wait_permille;

		value[IBCC_SAMPLE_VICTIMS] += r->n_victims;
		if (wait > value[IBCC_SAMPLE_WAIT_PERMILLE])
			value[IBCC_SAMPLE_WAIT_PERMILLE] = wait;
		for (uint32_t k = 0; k < r->n_sources; k++)
			if (r->source[k].role == IBCC_ROLE_VICTIM)
				value[IBCC_SAMPLE_VICTIM_MBPS] += r->source[k].xmit_mbps;
	}
}

static void count_settings(const struct ibcc_cycle *c, int64_t *value)
{
	for (uint32_t i = 0; i < c->actual.n && i < c->topo->n_endports; i++)
		if (c->actual.ep[i].support == IBCC_CC_SUPPORTED &&
		    ibcc_settings_are_on(&c->actual.ep[i]))
			value[ibcc_topo_is_switch(c->topo, c->topo->port[c->topo->endport[i]].node)
				      ? IBCC_SAMPLE_SWITCHES_ON
				      : IBCC_SAMPLE_ADAPTERS_ON]++;
}

static struct ibcc_state_sample sample_of(const struct ibcc_cycle *c)
{
	struct ibcc_state_sample s = { .at_s = time(NULL) };

	count_loads(c, s.value);
	count_roots(&c->estimate, s.value);
	count_settings(c, s.value);
	return s;
}

/* Ends the wait of transactions for their effect: they get the last measurement from before the
 * next write.
 */
static void end_waiting(struct ibcc_service *s)
{
	struct ibcc_service_effect *e = &s->effect;

	if (e->first && e->passes)
		ibcc_state_after(s->state, e->first, e->newest, e->passes, &e->last);
	else if (e->first)
		ibcc_state_unmeasurable(s->state, e->first, e->newest);
	e->first = 0;
}

void ibcc_service_resume_effect(struct ibcc_service *s)
{
	struct ibcc_service_effect *e = &s->effect;
	int64_t first, last;

	e->newest = ibcc_state_newest(s->state);
	if (ibcc_state_unmeasured(s->state, &first, &last) || !first)
		return;
	/* Only the effect of the newest transaction can still be seen: the older ones were
	 * overwritten.
	 */
	if (last == e->newest)
		e->first = last;
	ibcc_state_unmeasurable(s->state, first, last == e->newest ? last - 1 : last);
}

/* The newest transaction has a further step. Its effect is that of all steps, so the wait starts
 * again.
 */
static void wait_anew(struct ibcc_service *s)
{
	struct ibcc_service_effect *e = &s->effect;

	if (!e->newest)
		return;
	e->first = e->first ? e->first : e->newest;
	e->passes = 0;
	e->sampled_s = 0;
}

/* Starts the wait for the effect of transactions up to `newest`; `before` was measured before them.
 */
static void begin_waiting(struct ibcc_service *s, int64_t newest,
			  const struct ibcc_state_sample *before)
{
	struct ibcc_service_effect *e = &s->effect;

	if (newest <= e->newest)
		return;
	end_waiting(s);
	if (before && !ibcc_state_before(s->state, e->newest + 1, newest, before))
		e->first = e->newest + 1;
	e->newest = newest;
	e->passes = 0;
	e->sampled_s = 0; /* so that the series has this moment */
}

void ibcc_service_await_effect(struct ibcc_service *s)
{
	const struct ibcc_service_effect *e = &s->effect;

	if (s->state)
		begin_waiting(s, ibcc_state_newest(s->state), e->measured ? &e->last : NULL);
}

/* The series has the peaks of a minute, but the current value of the sent data. */
static void add_to_series(struct ibcc_service *s, const struct ibcc_state_sample *now)
{
	struct ibcc_service_effect *e = &s->effect;

	for (int i = 0; i < IBCC_SAMPLE_FIELDS; i++)
		if (i > IBCC_SAMPLE_WAIT_PERMILLE || now->value[i] > e->peak.value[i])
			e->peak.value[i] = now->value[i];
	e->peak.at_s = now->at_s;
	if (e->sampled_s && now->at_s >= e->sampled_s && now->at_s - e->sampled_s < SAMPLE_S)
		return;
	ibcc_state_add_sample(s->state, &e->peak);
	e->sampled_s = now->at_s;
	memset(&e->peak, 0, sizeof(e->peak));
}

/* The worse values of this polling cycle and the one before: a single cycle may not see a root. */
static struct ibcc_state_sample worse(const struct ibcc_state_sample *now,
				      const struct ibcc_state_sample *before)
{
	struct ibcc_state_sample s = *now;

	for (int i = 0; i <= IBCC_SAMPLE_WAIT_PERMILLE; i++)
		if (before->value[i] > s.value[i])
			s.value[i] = before->value[i];
	return s;
}

void ibcc_service_measure(struct ibcc_service *s, int64_t newest_before)
{
	struct ibcc_service_effect *e = &s->effect;
	struct ibcc_state_sample now, before;

	if (!s->cycle.decided)
		return;
	now = sample_of(&s->cycle);
	/* written by another process */
	begin_waiting(s, newest_before, e->measured ? &e->last : NULL);
	e->last = before = worse(&now, &e->pass);
	if (e->first && ++e->passes == SETTLED_PASSES)
		end_waiting(s);
	/* When a polling cycle writes, its counters are from before the write, but its settings
	 * from after it.
	 */
	for (int i = IBCC_SAMPLE_SWITCHES_ON; e->measured && i < IBCC_SAMPLE_FIELDS; i++)
		before.value[i] = e->pass.value[i];
	e->pass = now;
	e->measured = true;
	begin_waiting(s, ibcc_state_newest(s->state), &before);
	if (s->cycle.acted && s->cycle.result.set_mads && newest_before == e->newest)
		wait_anew(s);
	add_to_series(s, &now);
}
