/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes the daemon's log (explain.h). Each kind of message has a tell_ function; is_news() keeps
 * what was said before from being said again. Begin with ibcc_explain_cycle() and
 * ibcc_explain_pass().
 */
#include "daemon/explain.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/hash.h>
#include <ibcc/log.h>
#include <ibcc/rates.h>
#include <ibcc/throttle.h>

#include "daemon/apply/refusal.h"

/* What was told in so many passes is not told again: things that come and go at every pass would
 * fill the log and say nothing.
 */
#define REMEMBER_PASSES 60u
#define REMEMBER        64u
/* Ports told one by one when congestion starts at many at once. */
#define ROOTS_TOLD 5u
/* Nodes named in a line about a plan. */
#define NODES_TOLD 4u
/* Of a line about roots or a decision, whose rates are in MB/s for people. */
#define LINE_BYTES 4096u

struct ibcc_explain {
	char trouble[IBCC_WHY_BYTES];
	bool trouble_told;
	struct memory {
		uint64_t what, pass; /* a sum; when it was so the last time */
	} memory[REMEMBER];
	uint64_t pass;
	bool congested; /* was told */
	bool planned;   /* there was something to write */
	bool fabric_known;
	uint64_t generation;
	uint64_t drift_sum;
	char unknown[IBCC_WHY_BYTES]; /* settings of unknown origin last told */
	char held_back[IBCC_WHY_BYTES], held_below[IBCC_WHY_BYTES];
	char doubted[IBCC_WHY_BYTES]; /* counters that are not believed last told */
	char vendor[IBCC_WHY_BYTES];  /* what the vendor's own control does, likewise */
	char advice[IBCC_WHY_BYTES], routing[IBCC_WHY_BYTES];
	char others[IBCC_WHY_BYTES]; /* what only somebody outside can end, as it was logged last */
};

/* Whether that is news, which it is no longer then. */
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

/* Over the words: the same with other numbers is nothing new. */
static uint64_t sum_words(const char *text)
{
	uint64_t h = IBCC_HASH_START;

	for (; *text; text++)
		if (!isdigit((unsigned char)*text) && *text != '.')
			h = ibcc_hash(h, text, 1);
	return h;
}

/* How a change is told. */
struct teller {
	const struct ibcc_change *change;
	const char *what;
};

/* Over targets and values. */
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

static void tell_trouble(struct ibcc_explain *x, const char *text)
{
	if (!strcmp(x->trouble, text))
		return;
	snprintf(x->trouble, sizeof(x->trouble), "%s", text);
	if (text[0] && is_news(x, sum_words(text))) {
		ibcc_log_of(IBCC_LOG_TROUBLE, LOG_WARNING, "%s; keeps trying", text);
		x->trouble_told = true;
	} else if (!text[0] && x->trouble_told) {
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
	ibcc_log(LOG_INFO, "fabric of %u nodes, %u endports", c->topo->n_nodes,
		 c->topo->n_endports);
}

static void tell_roots(struct ibcc_explain *x, const struct ibcc_cycle *c)
{
	const struct ibcc_picture *e = &c->picture;
	uint32_t n = 0;
	char words[IBCC_ROOT_WORDS_BYTES], line[LINE_BYTES];

	for (uint32_t i = 0; i < e->n_roots; i++) {
		const struct ibcc_topo_port *p = &c->topo->port[e->root[i].port];
		uint64_t id[] = { c->topo->node[p->node].guid, p->num };

		if (!is_news(x, ibcc_hash(IBCC_HASH_START, id, sizeof(id))) || ++n > ROOTS_TOLD)
			continue;
		ibcc_picture_explain(c->topo, &e->root[i], words, sizeof(words));
		ibcc_log_of(IBCC_LOG_ROOT, LOG_NOTICE, "congestion: %s",
			    ibcc_rates_in(words, false, line, sizeof(line)));
	}
	if (n > ROOTS_TOLD)
		ibcc_log_of(IBCC_LOG_ROOT, LOG_NOTICE, "congestion: at %u more ports",
			    n - ROOTS_TOLD);
	x->congested |= n > 0;
	if (e->n_roots || !x->congested)
		return;
	/* Told once until it is back after a while. */
	x->congested = false;
	if (is_news(x, sum_words("no congestion")))
		ibcc_log_of(IBCC_LOG_NO_CONGESTION, LOG_NOTICE, "no congestion any more");
}

/* Fields of a channel adapter's setting, service levels in a row with equal values as one. */
struct runs {
	uint32_t n;
	struct run {
		struct ibcc_field_change f;
		int last_sl;
	} run[1 + 4 * IBCC_CC_SLS];
};

static int collect(const struct ibcc_field_change *f, void *arg)
{
	struct runs *r = arg;
	uint32_t i;

	for (i = 0; f->sl > 0 && i < r->n; i++) {
		struct run *p = &r->run[i];

		if (p->last_sl == f->sl - 1 && !strcmp(p->f.field, f->field) &&
		    !strcmp(p->f.old_text, f->old_text) && !strcmp(p->f.new_text, f->new_text)) {
			p->last_sl = f->sl;
			return 0;
		}
	}
	if (r->n == sizeof(r->run) / sizeof(r->run[0]))
		return -1;
	r->run[r->n++] = (struct run){ *f, f->sl };
	return 0;
}

static void tell_run(const struct run *r, const struct ibcc_change *c, const char *what)
{
	char param[128], reason[IBCC_REASON_BYTES + 64];
	struct ibcc_log_change l = { .guid = c->node_guid,
				     .port = c->port,
				     .param = param,
				     .old_text = r->f.old_text,
				     .new_text = r->f.new_text,
				     .reason = ibcc_rates_in(c->reason, false, reason,
							     sizeof(reason)) };
	const char *attr = ibcc_cc_attr_name(c->attr_id);

	if (c->attr_id == IBCC_CC_ATTR_SW_PORT_SETTING && r->f.index >= 0)
		l.port = r->f.index;
	if (r->f.sl < 0)
		snprintf(param, sizeof(param), "%s.%s", attr, r->f.field);
	else if (r->last_sl == r->f.sl)
		snprintf(param, sizeof(param), "%s.%s[SL %d]", attr, r->f.field, r->f.sl);
	else
		snprintf(param, sizeof(param), "%s.%s[SL %d-%d]", attr, r->f.field, r->f.sl,
			 r->last_sl);
	ibcc_log_change_event(LOG_DEBUG, what, &l);
}

/* Names of table runs live only during the walk, so those are told from within it. */
static int tell_field(const struct ibcc_field_change *f, void *arg)
{
	const struct teller *t = arg;
	struct run r = { *f, f->sl };

	tell_run(&r, t->change, t->what);
	return 0;
}

static void tell_change(const struct ibcc_change *c, const char *what)
{
	struct teller t = { c, what };
	struct runs runs = { 0 };
	uint32_t i;

	if (c->attr_id != IBCC_CC_ATTR_CA_SETTING) {
		ibcc_plan_fields(c, tell_field, &t);
		return;
	}
	ibcc_plan_fields(c, collect, &runs);
	for (i = 0; i < runs.n; i++)
		tell_run(&runs.run[i], c, what);
}

/* "leaf2, source1 and 3 more" */
static void name_nodes(const struct ibcc_topo *t, const struct ibcc_plan *p, char *buf, size_t len)
{
	uint64_t last = 0;
	uint32_t n = 0;
	size_t at = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t node = ibcc_topo_find_guid(t, p->change[i].node_guid);

		if (p->change[i].node_guid == last || node == IBCC_NONE)
			continue;
		last = p->change[i].node_guid;
		if (++n <= NODES_TOLD && at < len)
			at += (size_t)snprintf(buf + at, len - at, "%s%s", n > 1 ? ", " : "",
					       t->node[node].desc);
	}
	if (n > NODES_TOLD && at < len)
		snprintf(buf + at, len - at, " and %u more", n - NODES_TOLD);
}

static void tell_plan(struct ibcc_explain *x, const struct ibcc_cycle *c)
{
	const char *summary = ibcc_target_summary(&c->target);
	bool wrote = c->acted && c->result.set_mads;
	bool decision = is_news(x, sum_words(summary));
	bool begins = c->plan.n && !x->planned;
	char nodes[512], line[LINE_BYTES];

	if ((wrote || decision) && summary[0])
		ibcc_log_of(IBCC_LOG_DECISION, LOG_NOTICE, "decision: %s",
			    ibcc_rates_in(summary, false, line, sizeof(line)));
	x->planned = c->plan.n > 0;
	if (!c->plan.n || (!wrote && !decision && !begins))
		return;
	name_nodes(c->topo, &c->plan, nodes, sizeof(nodes));
	for (uint32_t i = 0; i < c->plan.n; i++) {
		const char *what = "would change";

		if (wrote)
			what = c->result.change[i].outcome == IBCC_OUTCOME_VERIFIED
				       ? "changed"
				       : "could not change";
		tell_change(&c->plan.change[i], what);
	}
	if (wrote)
		ibcc_log_of(c->result.n_verified == c->result.n ? IBCC_LOG_WROTE
								: IBCC_LOG_NOT_WRITTEN,
			    LOG_NOTICE, "%u of %u writes verified, %u Set MADs: %s",
			    c->result.n_verified, c->result.n, c->result.set_mads, nodes);
	else
		ibcc_log_of(IBCC_LOG_WOULD_WRITE, LOG_INFO,
			    "would write %u settings (ibcc-tune plan shows them): %s", c->plan.n,
			    nodes);
}

static void tell_unknown(struct ibcc_explain *x, const struct ibcc_cycle *c)
{
	struct ibcc_why text;

	ibcc_audit_unknown_text(c->topo, &c->audit, &text);
	if (!strcmp(x->unknown, text.text))
		return;
	memcpy(x->unknown, text.text, sizeof(x->unknown));
	ibcc_log_of(IBCC_LOG_UNKNOWN_ORIGIN, LOG_NOTICE, "%s",
		    text.text[0] ? text.text : "there are no settings of unknown origin any more");
}

static void tell_doubted(struct ibcc_explain *x, const struct ibcc_cycle *c)
{
	char text[IBCC_WHY_BYTES];
	const char *line = text;

	ibcc_trust_say(c->topo, &c->snapshot, text, sizeof(text));
	if (!strcmp(x->doubted, text))
		return;
	memcpy(x->doubted, text, sizeof(x->doubted));
	if (!text[0])
		line = "the counters of all ports are believed again";
	if (is_news(x, ibcc_hash(IBCC_HASH_START, line, strlen(line))))
		ibcc_log_of(IBCC_LOG_DOUBTED, text[0] ? LOG_WARNING : LOG_NOTICE, "%s", line);
}

static void tell_if_other(char *last, const struct ibcc_why *now, const char *none)
{
	if (!strcmp(last, now->text))
		return;
	memcpy(last, now->text, sizeof(now->text));
	ibcc_log_of(IBCC_LOG_HELD_BACK, now->text[0] ? LOG_WARNING : LOG_NOTICE, "%s",
		    now->text[0] ? now->text : none);
}

static void tell_held_back(struct ibcc_explain *x, const struct ibcc_cycle *c)
{
	struct ibcc_why text;

	ibcc_throttle_text(c->topo, &c->actual, &text);
	tell_if_other(x->held_back, &text, "no settings hold adapters back at all times");
	ibcc_throttle_excess_text(c->topo, &c->audit.excess, &text);
	tell_if_other(x->held_below, &text, "no adapter is held back more than it is meant to be");
}

static void tell_once(char *last, const char *what, const char *text)
{
	if (!strcmp(last, text))
		return;
	snprintf(last, IBCC_WHY_BYTES, "%s", text);
	if (text[0])
		ibcc_log_of(IBCC_LOG_VENDOR, LOG_NOTICE, "%s%s", what, text);
}

static void tell_vendor(struct ibcc_explain *x, const struct ibcc_cycle *c)
{
	struct ibcc_why text;

	ibcc_vendor_text(&c->vendor, &text);
	tell_once(x->vendor, "", text.text);
	ibcc_refusal_routes(c, &text);
	tell_once(x->routing, "", text.text);
	tell_once(x->advice, "what its operator can do: ", c->advice.text);
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
		ibcc_log_of(
			IBCC_LOG_INTERRUPTED, LOG_NOTICE,
			"of the changes that were left open by an interruption %u turned out made, "
			"%u not made, %u otherwise",
			a->n_made, a->n_unmade, a->n_other);
	for (i = 0; i < c->repaired.n; i++)
		tell_change(&c->repaired.change[i],
			    c->repair.change[i].outcome == IBCC_OUTCOME_VERIFIED
				    ? "repaired"
				    : "could not repair");
	if (c->mended.text[0] && is_news(x, sum_words(c->mended.text)))
		ibcc_log_of(IBCC_LOG_DRIFT, LOG_WARNING, "drift: %s; repaired", c->mended.text);
	tell_unknown(x, c);
	if (sum == x->drift_sum)
		return;
	x->drift_sum = sum;
	ibcc_audit_text(c->topo, a, &text);
	if (!a->drift.n)
		ibcc_log_of(IBCC_LOG_NO_DRIFT, LOG_NOTICE, "settings are as we left them");
	else
		ibcc_log_of(IBCC_LOG_DRIFT, LOG_WARNING, "drift: %s", text.text);
	for (i = 0; i < a->drift.n; i++)
		tell_change(&a->drift.change[i], "drifted");
}

void ibcc_explain_cycle(struct ibcc_explain *x, const struct ibcc_cycle *c, const char *trouble)
{
	x->pass++;
	tell_trouble(x, trouble);
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

/* Once, that an apply is complete, or has ended before. */
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
	struct ibcc_why text = { "" };

	ibcc_service_others_trouble(s, &text);
	if (!strcmp(x->others, text.text))
		return;
	memcpy(x->others, text.text, sizeof(x->others));
	if (text.text[0] && is_news(x, sum_words(text.text)))
		ibcc_log(LOG_WARNING, "%s", text.text);
}

void ibcc_explain_pass(struct ibcc_explain *x, struct ibcc_service *s, int err,
		       const struct ibcc_why *why)
{
	const struct ibcc_cycle *c = err ? NULL : ibcc_service_cycle(s);
	struct ibcc_why trouble = *why;

	if (c && c->act_err)
		trouble = c->blocked;
	else if (c)
		ibcc_service_trouble(s, &trouble);
	ibcc_explain_cycle(x, c, trouble.text);
	tell_others(x, s);
	tell_refinement(s);
	tell_debts(s);
}

void ibcc_explain_request(struct ibcc_explain *x, const char *what, const struct ibcc_request *r,
			  int err, const struct ibcc_why *why, const json_t *result)
{
	const char *unrecorded = json_string_value(json_object_get(result, "unrecorded"));

	/* The fabric is another one. */
	memset(x->memory, 0, sizeof(x->memory));
	if (err)
		ibcc_log_of(IBCC_LOG_REQUEST_FAILED, LOG_WARNING, "%s by %s failed: %s", what,
			    r->who, why->text);
	else
		ibcc_log_of(IBCC_LOG_REQUEST, LOG_NOTICE, "%s by %s: %lld writes verified", what,
			    r->who,
			    (long long)json_integer_value(json_object_get(result, "verified")));
	if (unrecorded)
		ibcc_log_of(IBCC_LOG_UNRECORDED, LOG_WARNING, "%s by %s is NOT RECORDED: %s", what,
			    r->who, unrecorded);
}
