/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Why the service is not well: one cause, the most urgent that holds, and its description. */
#include "daemon/service/service.h"

#include <stdlib.h>

#include <ibcc/precheck.h>
#include <ibcc/refusal.h>
#include <ibcc/state.h>
#include <ibcc/throttle.h>

#include "daemon/service/service_impl.h"

/* Each of these functions returns whether a cause holds and, if so, describes it in *why. The cycle
 * is the service's; NULL: there is none.
 */
typedef bool holds_fn(const struct ibcc_service *s, const struct ibcc_cycle *c,
		      struct ibcc_why *why);

static bool plugin(const struct ibcc_service *s, const struct ibcc_cycle *c, struct ibcc_why *why)
{
	(void)c;
	*why = s->plugin_why;
	return s->plugin_silent && s->config.apply_via != IBCC_VIA_DIRECT;
}

static bool pass(const struct ibcc_service *s, const struct ibcc_cycle *c, struct ibcc_why *why)
{
	(void)c;
	*why = s->last_why;
	return s->last_err;
}

static bool write_failed(const struct ibcc_service *s, const struct ibcc_cycle *c,
			 struct ibcc_why *why)
{
	(void)c;
	*why = s->last_why;
	return s->last_act_err;
}

static bool state_file(const struct ibcc_service *s, const struct ibcc_cycle *c,
		       struct ibcc_why *why)
{
	const char *text = s->state ? ibcc_state_trouble(s->state) : NULL;

	(void)c;
	if (text)
		ibcc_why_set(why, 0, "%s", text);
	return text;
}

static bool trial(const struct ibcc_service *s, const struct ibcc_cycle *c, struct ibcc_why *why)
{
	(void)c;
	return s->trial.is_over && ibcc_service_no_trial(s, why);
}

static bool discovery(const struct ibcc_service *s, const struct ibcc_cycle *c,
		      struct ibcc_why *why)
{
	(void)c;
	if (!ibcc_discovery_is_doubtful(&s->discovery))
		return false;
	ibcc_why_set(
		why, 0, "discovery of the fabric is %s; the daemon %s", s->discovery.text.text,
		s->discovery.partial
			? "decides on the other nodes, and repeats the discovery"
			: "continues with the topology from before, and repeats the discovery");
	return true;
}

static bool errors(const struct ibcc_service *s, const struct ibcc_cycle *c, struct ibcc_why *why)
{
	(void)s;
	return c && ibcc_precheck_refusals(c->topo, &c->actual, why);
}

static bool clocks(const struct ibcc_service *s, const struct ibcc_cycle *c, struct ibcc_why *why)
{
	(void)s;
	return c && ibcc_collector_clock_trouble(c->collector, why);
}

static bool keys(const struct ibcc_service *s, const struct ibcc_cycle *c, struct ibcc_why *why)
{
	(void)c;
	return ibcc_service_key_trouble(s, why);
}

static bool no_effect(const struct ibcc_service *s, const struct ibcc_cycle *c,
		      struct ibcc_why *why)
{
	(void)s;
	if (!c || !c->rollout.n_ignorers)
		return false;
	ibcc_rollout_text(&c->rollout, c->topo, why);
	return true;
}

static bool election(const struct ibcc_service *s, const struct ibcc_cycle *c, struct ibcc_why *why)
{
	(void)c;
	return ibcc_service_election_trouble(s, why);
}

static bool skipped(const struct ibcc_service *s, const struct ibcc_cycle *c, struct ibcc_why *why)
{
	(void)c;
	if (s->cycle.skips)
		ibcc_why_set(why, 0, "the settings are reverted, but %s", s->cycle.skipped.text);
	return s->cycle.skips;
}

static bool owed(const struct ibcc_service *s, const struct ibcc_cycle *c, struct ibcc_why *why)
{
	(void)c;
	return ibcc_service_debt_trouble(s, why);
}

/* A cause that refuses every plan lasts, even if a polling cycle has not tried to write. */
static bool refused(const struct ibcc_service *s, const struct ibcc_cycle *c, struct ibcc_why *why)
{
	return c && ibcc_service_writes(s) && ibcc_refusal_check(c, why);
}

/* To wait for the next try is no success. If only the user can try again, the answer to the command
 * has reported the failure, and history has it.
 */
static bool hold(const struct ibcc_service *s, const struct ibcc_cycle *c, struct ibcc_why *why)
{
	if (!s->hold_next || !c || !c->decided || !c->plan.n ||
	    !(ibcc_service_writes(s) || ibcc_service_refines(s)))
		return false;
	*why = s->hold_why;
	return true;
}

static bool blind(const struct ibcc_service *s, const struct ibcc_cycle *c, struct ibcc_why *why)
{
	char *text;

	(void)s;
	if (!c || !c->decided || c->estimate.trustworthy)
		return false;
	text = ibcc_cycle_words(c);
	ibcc_why_set(why, 0, "%s", text ? text : "no memory");
	free(text);
	return true;
}

static bool counters(const struct ibcc_service *s, const struct ibcc_cycle *c, struct ibcc_why *why)
{
	(void)s;
	return c && ibcc_trust_say(c->topo, &c->snapshot, why->text, sizeof(why->text));
}

static bool held_back(const struct ibcc_service *s, const struct ibcc_cycle *c,
		      struct ibcc_why *why)
{
	(void)s;
	return c && ibcc_throttle_text(c->topo, &c->actual, why);
}

static bool held_below(const struct ibcc_service *s, const struct ibcc_cycle *c,
		       struct ibcc_why *why)
{
	(void)s;
	if (!c || !c->audit.excess.n)
		return false;
	ibcc_throttle_excess_text(c->topo, &c->audit.excess, why);
	return true;
}

static bool fought(const struct ibcc_service *s, const struct ibcc_cycle *c, struct ibcc_why *why)
{
	(void)c;
	return ibcc_repair_counts_trouble(&s->repairs.counts, s->cycle.topo, why);
}

static bool shared(const struct ibcc_service *s, const struct ibcc_cycle *c, struct ibcc_why *why)
{
	(void)c;
	return ibcc_discovery_shared_trouble(&s->discovery, why);
}

/* In the order of the checks: a later cause may follow from an earlier one. */
static const struct cause {
	enum ibcc_trouble code;
	holds_fn *holds;
} causes[] = {
	{ IBCC_TROUBLE_PLUGIN, plugin },
	{ IBCC_TROUBLE_PASS, pass },
	{ IBCC_TROUBLE_WRITE, write_failed },
	{ IBCC_TROUBLE_STATE_FILE, state_file },
	{ IBCC_TROUBLE_TRIAL, trial },
	{ IBCC_TROUBLE_DISCOVERY, discovery },
	{ IBCC_TROUBLE_ERRORS, errors },
	{ IBCC_TROUBLE_CLOCK, clocks },
	{ IBCC_TROUBLE_KEYS, keys },
	{ IBCC_TROUBLE_NO_EFFECT, no_effect },
	{ IBCC_TROUBLE_ELECTION, election },
	{ IBCC_TROUBLE_SKIPPED, skipped },
	{ IBCC_TROUBLE_OWED, owed },
	{ IBCC_TROUBLE_REFUSED, refused },
	{ IBCC_TROUBLE_HOLD, hold },
	{ IBCC_TROUBLE_BLIND, blind },
	{ IBCC_TROUBLE_COUNTERS, counters },
	{ IBCC_TROUBLE_HELD_BACK, held_back },
	{ IBCC_TROUBLE_HELD_BELOW, held_below },
	{ IBCC_TROUBLE_FOUGHT, fought },
	{ IBCC_TROUBLE_SHARED, shared },
};

enum ibcc_trouble ibcc_service_trouble(const struct ibcc_service *s, enum ibcc_trouble from,
				       enum ibcc_trouble to, struct ibcc_why *why)
{
	const struct ibcc_cycle *c = ibcc_service_cycle(s);

	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (causes[i].code >= from && causes[i].code <= to && causes[i].holds(s, c, why))
			return causes[i].code;
	ibcc_why_set(why, 0, "%s", "");
	return IBCC_TROUBLE_NONE;
}

const char *ibcc_trouble_name(enum ibcc_trouble code)
{
	switch (code) {
	case IBCC_TROUBLE_NONE: return "none";
	case IBCC_TROUBLE_PLUGIN: return "plugin";
	case IBCC_TROUBLE_PASS: return "pass";
	case IBCC_TROUBLE_WRITE: return "write";
	case IBCC_TROUBLE_STATE_FILE: return "state_file";
	case IBCC_TROUBLE_TRIAL: return "trial";
	case IBCC_TROUBLE_DISCOVERY: return "discovery";
	case IBCC_TROUBLE_ERRORS: return "errors";
	case IBCC_TROUBLE_CLOCK: return "clock";
	case IBCC_TROUBLE_KEYS: return "keys";
	case IBCC_TROUBLE_NO_EFFECT: return "no_effect";
	case IBCC_TROUBLE_ELECTION: return "election";
	case IBCC_TROUBLE_SKIPPED: return "skipped";
	case IBCC_TROUBLE_OWED: return "owed";
	case IBCC_TROUBLE_REFUSED: return "refused";
	case IBCC_TROUBLE_HOLD: return "hold";
	case IBCC_TROUBLE_BLIND: return "blind";
	case IBCC_TROUBLE_COUNTERS: return "counters";
	case IBCC_TROUBLE_HELD_BACK: return "held_back";
	case IBCC_TROUBLE_HELD_BELOW: return "held_below";
	case IBCC_TROUBLE_FOUGHT: return "fought";
	case IBCC_TROUBLE_SHARED: return "shared";
	}
	return "";
}
