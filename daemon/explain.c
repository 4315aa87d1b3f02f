/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The log (explain.h): a function tell_*() for each topic. Begin with ibcc_explain_pass(). */
#include "daemon/explain.h"

#include <stdlib.h>
#include <string.h>

#include <ibcc/hash.h>
#include <ibcc/log.h>
#include <ibcc/rates.h>
#include <ibcc/refusal.h>
#include <ibcc/text.h>
#include <ibcc/throttle.h>

#include "daemon/explain_change.h"

/* The log does not repeat within this many polling cycles over all ports what it has reported.
 * Conditions that come and go in every cycle would fill the log and say nothing.
 */
#define REMEMBER_PASSES 60u
#define REMEMBER        256u
/* The log names this many ports one by one when congestion starts at many at once. */
#define ROOTS_TOLD 5u
/* Length of a line about roots or a decision. Its rates are in MB/s, for people. */
#define LINE_BYTES 4096u

/* What a line is about. With its figures it makes the key of a memory. */
enum subject {
	TROUBLE = 1,
	ROOT,
	NO_ROOTS,
	DECISION,
	SITUATION,
	LEFT,
	STEP,
	REFUSED,
	DOUBTED,
	UNKNOWN,
	HELD_BACK,
	HELD_BELOW,
	VENDOR,
	ROUTING,
	ADVICE,
	MENDED,
	JOBS,
};

struct ibcc_explain {
	uint64_t trouble; /* the key of the last report; 0: none */
	bool trouble_told;
	struct memory {
		uint64_t what, pass; /* a key, and the polling cycle in which it last held */
	} memory[REMEMBER];
	uint64_t pass;
	bool congested; /* congestion was reported */
	bool planned;   /* there were changes to write */
	bool fabric_known;
	uint64_t generation;
	uint64_t drift_sum;
	/* Keys of the last report of each subject; 0: nothing to report. */
	uint64_t unknown, held_back, held_below, doubted, vendor, advice, routing;
};

/* Makes a key from a subject and its figures. */
static uint64_t key_of(enum subject s, uint64_t a, uint64_t b)
{
	uint64_t part[] = { s, a, b };

	return ibcc_hash(IBCC_HASH_START, part, sizeof(part));
}

static uint64_t key_of_port(const struct ibcc_topo *t, enum subject s, uint64_t a, uint32_t port)
{
	const struct ibcc_topo_port *p = &t->port[port];
	uint64_t part[] = { s, a, t->node[p->node].guid, p->num };

	return ibcc_hash(IBCC_HASH_START, part, sizeof(part));
}

/* Is this another key than the last one of its subject? */
static bool is_other(uint64_t *last, uint64_t now)
{
	bool other = *last != now;

	*last = now;
	return other;
}

/* Is this key news? From now on it is not. */
static bool is_news(struct ibcc_explain *x, uint64_t what)
{
	struct memory *oldest = &x->memory[0];

	for (uint32_t i = 0; i < REMEMBER; i++) {
		struct memory *m = &x->memory[i];

		if (m->what == what && m->pass && x->pass - m->pass <= REMEMBER_PASSES) {
			m->pass = x->pass;
			return false;
		}
		if (m->pass < oldest->pass)
			oldest = m;
	}
	*oldest = (struct memory){ what, x->pass };
	return true;
}

/* A checksum over targets and values. */
static uint64_t sum_plan(const struct ibcc_plan *p)
{
	uint64_t h = IBCC_HASH_START;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct ibcc_change *c = &p->change[i];
		uint64_t head[] = { c->node_guid, c->port, c->attr_id, c->attr_mod };

		h = ibcc_hash(h, head, sizeof(head));
		h = ibcc_hash(h, c->new_data, sizeof(c->new_data));
	}
	return h;
}

struct ibcc_explain *ibcc_explain_new(void)
{
	struct ibcc_explain *x = calloc(1, sizeof(*x));

	if (x)
		x->drift_sum = sum_plan(&(struct ibcc_plan){ 0 });
	return x;
}

void ibcc_explain_free(struct ibcc_explain *x)
{
	free(x);
}

/* Reports trouble again if the same cause has another error, or none. */
static void tell_trouble(struct ibcc_explain *x, enum ibcc_trouble code, int err, const char *text)
{
	uint64_t key = code == IBCC_TROUBLE_NONE ? 0 : key_of(TROUBLE, code, (uint64_t)-err);

	if (!is_other(&x->trouble, key))
		return;
	if (key && is_news(x, key)) {
		ibcc_log_of(IBCC_LOG_TROUBLE, LOG_WARNING, "%s; the daemon keeps trying", text);
		x->trouble_told = true;
	} else if (!key && x->trouble_told) {
		ibcc_log_of(IBCC_LOG_WORKS_AGAIN, LOG_NOTICE, "working again");
		x->trouble_told = false;
	}
}

static void tell_fabric(struct ibcc_explain *x, const struct ibcc_cycle *c)
{
	if (x->fabric_known && x->generation == c->topo->generation)
		return;
	x->fabric_known = true;
	x->generation = c->topo->generation;
	ibcc_log(LOG_INFO, "fabric of %u node%s, %u endport%s", c->topo->n_nodes,
		 ibcc_text_plural(c->topo->n_nodes, "", "s"), c->topo->n_endports,
		 ibcc_text_plural(c->topo->n_endports, "", "s"));
}

static void tell_roots(struct ibcc_explain *x, const struct ibcc_cycle *c)
{
	const struct ibcc_estimate *e = &c->estimate;
	uint32_t n = 0;
	char words[IBCC_ROOT_WORDS_BYTES], line[LINE_BYTES];

	for (uint32_t i = 0; i < e->n_roots; i++) {
		if (!is_news(x, key_of_port(c->topo, ROOT, 0, e->root[i].port)) || ++n > ROOTS_TOLD)
			continue;
		ibcc_estimate_explain(c->topo, &e->root[i], words, sizeof(words));
		ibcc_log_of(IBCC_LOG_ROOT, LOG_NOTICE, "congestion: %s",
			    ibcc_rates_in(words, false, line, sizeof(line)));
	}
	if (n > ROOTS_TOLD)
		ibcc_log_of(IBCC_LOG_ROOT, LOG_NOTICE, "congestion: at %u more port%s",
			    n - ROOTS_TOLD, ibcc_text_plural(n - ROOTS_TOLD, "", "s"));
	x->congested |= n > 0;
	if (e->n_roots || !x->congested)
		return;
	/* Reported once, until it returns after some time. */
	x->congested = false;
	if (is_news(x, key_of(NO_ROOTS, 0, 0)))
		ibcc_log_of(IBCC_LOG_NO_CONGESTION, LOG_NOTICE, "congestion has ended");
}

/* Is the decision new: a decision for other roots, or another finding? After the call all of it is
 * known. For recommendations roots do not count, because each root gets its own line when it
 * appears.
 */
static bool is_decision_news(struct ibcc_explain *x, const struct ibcc_cycle *c)
{
	const struct ibcc_decisions *d = &c->target.decisions;
	bool news = false;

	if (c->refused != IBCC_REFUSED_NOT)
		return is_news(x, key_of(REFUSED, c->refused, 0));
	if (d->step != IBCC_STEP_ALL)
		news |= is_news(x, key_of(STEP, d->step, 0));
	if (d->step == IBCC_STEP_WAIT || d->step == IBCC_STEP_THE_REST)
		return news;
	for (uint32_t i = 0; i < d->n; i++) {
		const struct ibcc_decision *one = &d->decision[i];

		news |= is_news(x, d->recommended ? key_of(DECISION, one->code, one->root.kind)
						  : key_of_port(c->topo, DECISION, one->code,
								one->root.port));
	}
	if (!d->n)
		news |= is_news(x, key_of(SITUATION, d->situation.code, d->situation.lacking));
	if (d->n_left)
		news |= is_news(x, key_of(LEFT, d->left_goes, 0));
	return news;
}

static void tell_decision(const struct ibcc_cycle *c)
{
	char line[LINE_BYTES], *words = ibcc_cycle_words(c);

	if (words)
		ibcc_log_of(IBCC_LOG_DECISION, LOG_NOTICE, "decision: %s",
			    ibcc_rates_in(words, false, line, sizeof(line)));
	free(words);
}

static void tell_plan(struct ibcc_explain *x, const struct ibcc_cycle *c)
{
	bool wrote = c->acted && c->result.set_mads;
	bool decision = is_decision_news(x, c);
	bool begins = c->plan.n && !x->planned;
	char nodes[512];

	if (wrote || decision)
		tell_decision(c);
	x->planned = c->plan.n > 0;
	if (!c->plan.n || (!wrote && !decision && !begins))
		return;
	ibcc_explain_nodes(c->topo, &c->plan, nodes, sizeof(nodes));
	for (uint32_t i = 0; i < c->plan.n; i++) {
		const char *what = "would change";

		if (wrote)
			what = c->result.change[i].outcome == IBCC_OUTCOME_VERIFIED
				       ? "changed"
				       : "could not change";
		ibcc_explain_change(&c->plan.change[i], what);
	}
	if (wrote)
		ibcc_log_of(
			c->result.n_verified == c->result.n ? IBCC_LOG_WROTE : IBCC_LOG_NOT_WRITTEN,
			LOG_NOTICE, "%u of %u change%s verified, %u Set MAD%s: %s",
			c->result.n_verified, c->result.n, ibcc_text_plural(c->result.n, "", "s"),
			c->result.set_mads, ibcc_text_plural(c->result.set_mads, "", "s"), nodes);
	else
		ibcc_log_of(IBCC_LOG_WOULD_WRITE, LOG_INFO,
			    "recommends %u change%s (ibcc-tune plan shows %s): %s", c->plan.n,
			    ibcc_text_plural(c->plan.n, "", "s"),
			    ibcc_text_plural(c->plan.n, "it", "them"), nodes);
}

static void tell_unknown(struct ibcc_explain *x, const struct ibcc_cycle *c)
{
	const struct ibcc_audit *a = &c->audit;
	struct ibcc_why text;

	if (!is_other(&x->unknown,
		      a->n_unknown ? key_of(UNKNOWN, a->n_unknown, a->unknown_guid) : 0))
		return;
	ibcc_audit_unknown_text(c->topo, a, &text);
	ibcc_log_of(IBCC_LOG_UNKNOWN_ORIGIN, LOG_NOTICE, "%s",
		    a->n_unknown ? text.text : "no node has foreign settings now");
}

/* Key of the ports with inconsistent counters, and of the reasons; 0: all counters are consistent.
 */
static uint64_t doubted_key(const struct ibcc_cycle *c)
{
	uint64_t key = c->snapshot.n_doubted ? IBCC_HASH_START : 0;

	for (uint32_t i = 0; key && i < c->topo->n_ports && i < c->snapshot.n_ports; i++) {
		enum ibcc_doubt doubt = c->snapshot.port[i].trust.doubt;
		uint64_t part = key_of_port(c->topo, DOUBTED, doubt, i);

		if (doubt != IBCC_DOUBT_NONE)
			key = ibcc_hash(key, &part, sizeof(part));
	}
	return key;
}

static void tell_doubted(struct ibcc_explain *x, const struct ibcc_cycle *c)
{
	uint64_t key = doubted_key(c);
	char text[IBCC_WHY_BYTES];

	if (!is_other(&x->doubted, key) || !is_news(x, key ? key : key_of(DOUBTED, 0, 0)))
		return;
	ibcc_trust_say(c->topo, &c->snapshot, text, sizeof(text));
	ibcc_log_of(IBCC_LOG_DOUBTED, key ? LOG_WARNING : LOG_NOTICE, "%s",
		    key ? text : "the counters of all ports are consistent again");
}

static void tell_held(uint64_t *last, uint64_t key, const struct ibcc_why *now, const char *none)
{
	if (is_other(last, key))
		ibcc_log_of(IBCC_LOG_HELD_BACK, key ? LOG_WARNING : LOG_NOTICE, "%s",
			    key ? now->text : none);
}

static void tell_held_back(struct ibcc_explain *x, const struct ibcc_cycle *c)
{
	const struct ibcc_throttle_excess *e = &c->audit.excess;
	struct ibcc_throttled all = ibcc_throttle_all(c->topo, &c->actual);
	uint64_t least[] = { HELD_BACK,       all.n,           all.endport,
			     all.least.cause, all.least.index, (uint64_t)(all.least.mbps * 1000) };
	uint64_t excess[] = { HELD_BELOW,
			      e->n,
			      e->endport,
			      e->by_step,
			      (uint64_t)(e->mbps * 1000),
			      (uint64_t)(e->meant_mbps * 1000) };
	struct ibcc_why text;

	ibcc_throttle_text(c->topo, &c->actual, &text);
	tell_held(&x->held_back, all.n ? ibcc_hash(IBCC_HASH_START, least, sizeof(least)) : 0,
		  &text, "no settings hold adapters back at all times");
	ibcc_throttle_excess_text(c->topo, e, &text);
	tell_held(&x->held_below, e->n ? ibcc_hash(IBCC_HASH_START, excess, sizeof(excess)) : 0,
		  &text, "no adapter is throttled more than its settings intend");
}

/* Key of the nodes with NVIDIA's congestion control: which node numbers, in which state, with which
 * algorithms; 0: none.
 */
static uint64_t vendor_key(const struct ibcc_vendor *v)
{
	uint64_t part[] = { VENDOR, v->n_off, v->n_on, v->n_silent, v->n_marking, v->n_reacting };
	uint64_t key = ibcc_hash(IBCC_HASH_START, part, sizeof(part));

	for (uint32_t i = 0; i < v->n; i++)
		if (v->ep[i].cc == IBCC_VENDOR_CC_ON && v->ep[i].algorithm.n_slots)
			key = ibcc_hash(key, &v->ep[i].algorithm, sizeof(v->ep[i].algorithm));
	return v->n_off + v->n_on + v->n_silent ? key : 0;
}

/* Key of the switch numbers that route some service levels by more than their tables, and of the
 * roots that are therefore only observed; 0: none.
 */
static uint64_t routing_key(const struct ibcc_cycle *c)
{
	uint64_t part[] = { ROUTING, c->vendor.n_loose, c->vendor.loose_sls, c->unproved.n };
	uint64_t key = ibcc_hash(IBCC_HASH_START, part, sizeof(part));

	for (uint32_t i = 0; i < c->unproved.n && i < IBCC_UNPROVED_NAMED; i++) {
		uint64_t root = key_of_port(c->topo, ROUTING, c->unproved.first[i].sls,
					    c->unproved.first[i].port);

		key = ibcc_hash(key, &root, sizeof(root));
	}
	return c->vendor.n_loose || c->unproved.n ? key : 0;
}

static void tell_vendor(struct ibcc_explain *x, const struct ibcc_cycle *c)
{
	struct ibcc_vendor_advice a = ibcc_refusal_advice(c);
	uint64_t vendor = vendor_key(&c->vendor), routing = routing_key(c), advice = 0;
	struct ibcc_why text;

	if (is_other(&x->vendor, vendor) && vendor) {
		ibcc_vendor_text(&c->vendor, &text);
		ibcc_log_of(IBCC_LOG_VENDOR, LOG_NOTICE, "%s", text.text);
	}
	if (is_other(&x->routing, routing) && routing) {
		ibcc_refusal_routes(c, &text);
		ibcc_log_of(IBCC_LOG_VENDOR, LOG_NOTICE, "%s", text.text);
	}
	if (a.code != IBCC_VENDOR_ADVICE_NONE)
		advice = key_of_port(c->topo, ADVICE, a.code, a.root->port);
	if (is_other(&x->advice, advice) && advice) {
		ibcc_vendor_advice_text(&c->vendor, c->topo, a, &text);
		ibcc_log_of(IBCC_LOG_VENDOR, LOG_NOTICE,
			    "advice for the operator of NVIDIA's congestion control: %s",
			    text.text);
	}
}

static void tell_audit(struct ibcc_explain *x, const struct ibcc_cycle *c)
{
	const struct ibcc_audit *a = &c->audit;
	uint64_t sum = sum_plan(&a->drift);
	struct ibcc_why text;
	uint32_t i;

	if (!c->audited)
		return;
	if (a->n_made + a->n_unmade + a->n_other)
		ibcc_log_of(IBCC_LOG_INTERRUPTED, LOG_NOTICE,
			    "read back the changes that an interruption left open: %u took effect, "
			    "%u did not, %u %s a third value",
			    a->n_made, a->n_unmade, a->n_other,
			    ibcc_text_plural(a->n_other, "has", "have"));
	for (i = 0; i < c->repaired.n; i++)
		ibcc_explain_change(&c->repaired.change[i],
				    c->repair.change[i].outcome == IBCC_OUTCOME_VERIFIED
					    ? "repaired"
					    : "could not repair");
	if (c->mended && is_news(x, key_of(MENDED, c->repaired.change[0].node_guid, 0)))
		ibcc_log_of(IBCC_LOG_DRIFT, LOG_WARNING, "drift: %s; repaired", c->drifted.text);
	tell_unknown(x, c);
	if (sum == x->drift_sum)
		return;
	x->drift_sum = sum;
	ibcc_audit_text(c->topo, a, &text);
	if (!a->drift.n)
		ibcc_log_of(IBCC_LOG_NO_DRIFT, LOG_NOTICE,
			    "settings are again those that ibcc-tune wrote");
	else
		ibcc_log_of(IBCC_LOG_DRIFT, LOG_WARNING, "drift: %s", text.text);
	for (i = 0; i < a->drift.n; i++)
		ibcc_explain_change(&a->drift.change[i], "drifted");
}

void ibcc_explain_cycle(struct ibcc_explain *x, const struct ibcc_cycle *c, enum ibcc_trouble code,
			int err, const char *text)
{
	x->pass += !(c && c->fast);
	tell_trouble(x, code, err, text);
	if (!c)
		return;
	tell_fabric(x, c);
	tell_vendor(x, c);
	tell_audit(x, c);
	tell_doubted(x, c);
	tell_held_back(x, c);
	if (!c->decided)
		return;
	tell_roots(x, c);
	tell_plan(x, c);
}

/* The jobs of roots that are admitted, whose settings are wanted on the fabric: by their numbers,
 * since more people read the journal than may ask the daemon.
 */
static void tell_jobs(struct ibcc_explain *x, const struct ibcc_service *s,
		      const struct ibcc_cycle *c)
{
	const struct ibcc_parameters *p = ibcc_tuner_parameters(c->tuner);
	const struct ibcc_root_parameters *r;
	char text[IBCC_ROOT_WORDS_BYTES];
	uint32_t n = 0;

	ibcc_parameters_each (r, p) {
		uint64_t key = ibcc_service_whose(s, r->port, text, sizeof(text));

		if (text[0] && is_news(x, key_of_port(c->topo, JOBS, key, r->port)) &&
		    n++ < ROOTS_TOLD)
			ibcc_log_of(IBCC_LOG_ROOT, LOG_NOTICE, "jobs: %s", text);
	}
}

/* Reports once that an apply is complete, or has ended early. */
static void tell_refinement(struct ibcc_service *s)
{
	bool settled;
	int64_t txn;
	const char *text = ibcc_service_refinement_news(s, &txn, &settled);

	if (text)
		ibcc_log(LOG_NOTICE, "the apply of transaction %lld %s: %s", (long long)txn,
			 settled ? "is complete" : "ends before it is complete", text);
}

static void tell_debts(struct ibcc_service *s)
{
	struct ibcc_why news;

	if (ibcc_service_debt_news(s, &news))
		ibcc_log(LOG_NOTICE, "%s", news.text);
}

static void tell_others(struct ibcc_explain *x, const struct ibcc_service *s)
{
	struct ibcc_why text;
	enum ibcc_trouble code =
		ibcc_service_trouble(s, IBCC_TROUBLE_FOUGHT, IBCC_TROUBLE_SHARED, &text);

	if (code != IBCC_TROUBLE_NONE && is_news(x, key_of(TROUBLE, code, 0)))
		ibcc_log(LOG_WARNING, "%s", text.text);
}

void ibcc_explain_pass(struct ibcc_explain *x, struct ibcc_service *s, int err,
		       const struct ibcc_why *why)
{
	const struct ibcc_cycle *c = err ? NULL : ibcc_service_cycle(s);
	enum ibcc_trouble code = err ? IBCC_TROUBLE_PASS : IBCC_TROUBLE_NONE;
	struct ibcc_why trouble = *why;

	if (c && c->act_err) {
		code = IBCC_TROUBLE_WRITE;
		err = c->act_err;
		trouble = c->blocked;
	} else if (c) {
		code = ibcc_service_trouble(s, IBCC_TROUBLE_STATE_FILE, IBCC_TROUBLE_HOLD,
					    &trouble);
	}
	ibcc_explain_cycle(x, c, code, err, trouble.text);
	if (c && c->decided)
		tell_jobs(x, s, c);
	tell_others(x, s);
	tell_refinement(s);
	tell_debts(s);
}

void ibcc_explain_request(struct ibcc_explain *x, const char *what, const struct ibcc_request *r,
			  int err, const struct ibcc_why *why, const json_t *result)
{
	const char *unrecorded = json_string_value(json_object_get(result, "unrecorded"));
	long long verified = json_integer_value(json_object_get(result, "verified"));

	/* This is another fabric. */
	memset(x->memory, 0, sizeof(x->memory));
	if (err)
		ibcc_log_of(IBCC_LOG_REQUEST_FAILED, LOG_WARNING, "%s by %s failed: %s", what,
			    r->who, why->text);
	else
		ibcc_log_of(IBCC_LOG_REQUEST, LOG_NOTICE, "%s by %s: %lld change%s verified", what,
			    r->who, verified, ibcc_text_plural(verified, "", "s"));
	if (unrecorded)
		ibcc_log_of(IBCC_LOG_UNRECORDED, LOG_WARNING, "%s by %s is NOT RECORDED: %s", what,
			    r->who, unrecorded);
}
