/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the polling cycles measured, for the history: before and after each transaction, and each
 * minute.
 */
#include <string.h>
#include <time.h>

#include <ibcc/json.h>

#include "daemon/report/report.h"
#include "daemon/service/service_impl.h"

/* The effect is measured after this many polling cycles, a minute at the default interval. The
 * interval of the first cycle contains the write itself, loads are means over about two cycles, and
 * full queues have to drain.
 */
#define SETTLED_PASSES 6u
/* At least this many of them must have read all ports. Fast ones leave most loads as they were, so
 * an eighth of such a load is still from before the change.
 */
#define WHOLE_PASSES 3u
#define SAMPLE_S     60

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

/* The list of ibcc_state_keep_senders() from that of ibcc_report_blocked(). */
static json_t *senders_of(const json_t *blocked)
{
	json_t *list = json_array();
	const json_t *o;
	size_t i;

	json_array_foreach (blocked, i, o)
		json_array_append_new(list,
				      json_pack("{sO sO sO sO sn}", "node_guid",
						json_object_get(o, "node_guid"), "node",
						json_object_get(o, "node"), "port",
						json_object_get(o, "port"), "before_mbps",
						json_object_get(o, "xmit_mbps"), "after_mbps"));
	return list;
}

/* What a sender of a list sends in the last polling cycle; null if it is gone or was not read. */
static json_t *rate_now(const struct ibcc_cycle *c, const json_t *sender)
{
	json_int_t number = json_integer_value(json_object_get(sender, "port"));
	uint32_t node = IBCC_NONE, port = IBCC_NONE, ep = IBCC_NONE;
	uint64_t guid;

	if (ibcc_json_read_guid(json_object_get(sender, "node_guid"), &guid))
		node = ibcc_topo_find_guid(c->topo, guid);
	if (node != IBCC_NONE && number <= c->topo->node[node].n_ports)
		port = ibcc_topo_port_index(c->topo, node, (uint8_t)number);
	if (port != IBCC_NONE)
		ep = c->topo->port[port].endport;
	if (ep == IBCC_NONE || ep >= c->estimate.n_loads || !c->estimate.load[ep].known)
		return json_null();
	return json_integer(c->estimate.load[ep].mbps);
}

/* A copy of a list of senders, with what they send now. */
static json_t *senders_now(const struct ibcc_cycle *c, const json_t *senders)
{
	json_t *list = json_deep_copy(senders), *o;
	size_t i;

	json_array_foreach (list, i, o)
		json_object_set_new(o, "after_mbps", rate_now(c, o));
	return list;
}

static void keep_senders_after(struct ibcc_service *s)
{
	struct ibcc_service_effect *e = &s->effect;
	const struct ibcc_cycle *c = ibcc_service_cycle(s);
	json_t *before = ibcc_state_senders(s->state, e->first);
	json_t *after = c && c->decided && json_is_array(before) ? senders_now(c, before) : NULL;

	if (after)
		ibcc_state_keep_senders(s->state, e->first, e->newest, after);
	json_decref(after);
	json_decref(before);
}

/* Ends the wait of transactions for their effect: they get the last measurement from before the
 * next write.
 */
static void end_waiting(struct ibcc_service *s)
{
	struct ibcc_service_effect *e = &s->effect;

	if (e->first && e->passes) {
		ibcc_state_after(s->state, e->first, e->newest, e->passes, &e->last);
		keep_senders_after(s);
	} else if (e->first) {
		ibcc_state_unmeasurable(s->state, e->first, e->newest);
	}
	e->first = 0;
}

/* Looks up with which transaction congestion control was turned on. */
static void find_turned_on(struct ibcc_service *s)
{
	struct ibcc_service_effect *e = &s->effect;

	json_decref(e->before);
	e->since = ibcc_state_turned_on(s->state);
	e->before = e->since ? ibcc_state_senders(s->state, e->since) : NULL;
}

void ibcc_service_resume_effect(struct ibcc_service *s)
{
	struct ibcc_service_effect *e = &s->effect;
	int64_t first, last;

	e->newest = ibcc_state_newest(s->state);
	find_turned_on(s);
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
	e->passes = e->whole = 0;
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
	if (e->first) {
		json_t *senders = senders_of(e->blocked);

		if (json_array_size(senders))
			ibcc_state_keep_senders(s->state, e->first, newest, senders);
		json_decref(senders);
	}
	e->newest = newest;
	e->passes = e->whole = 0;
	e->sampled_s = 0; /* so that the series has this moment */
	find_turned_on(s);
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

/* Remembers the blocked senders. A single cycle may see none, so the cycle before also counts. */
static void look_at_blocked(struct ibcc_service_effect *e, const struct ibcc_cycle *c)
{
	json_t *now = ibcc_report_blocked(c);

	if (json_array_size(now) || !e->pass.value[IBCC_SAMPLE_WAITING]) {
		json_decref(e->blocked);
		e->blocked = now;
	} else {
		json_decref(now);
	}
}

void ibcc_service_measure(struct ibcc_service *s, int64_t newest_before)
{
	struct ibcc_service_effect *e = &s->effect;
	struct ibcc_state_sample now, before;

	if (!s->cycle.decided)
		return;
	now = sample_of(&s->cycle);
	look_at_blocked(e, &s->cycle);
	/* written by another process */
	begin_waiting(s, newest_before, e->measured ? &e->last : NULL);
	e->last = before = worse(&now, &e->pass);
	e->passes += e->first != 0;
	e->whole += e->first && !s->cycle.fast;
	if (e->first && e->passes >= SETTLED_PASSES && e->whole >= WHOLE_PASSES)
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

json_t *ibcc_service_gain(const struct ibcc_service *s)
{
	const struct ibcc_service_effect *e = &s->effect;
	const struct ibcc_cycle *c = ibcc_service_cycle(s);

	if (!c || !json_is_array(e->before) ||
	    (!e->pass.value[IBCC_SAMPLE_SWITCHES_ON] && !e->pass.value[IBCC_SAMPLE_ADAPTERS_ON]))
		return json_null();
	return json_pack("{sI so}", "transaction", (json_int_t)e->since, "senders",
			 senders_now(c, e->before));
}

void ibcc_service_effect_fini(struct ibcc_service_effect *e)
{
	json_decref(e->blocked);
	json_decref(e->before);
}
