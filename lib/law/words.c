/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Decisions as sentences for people. */
#include <stdlib.h>

#include <ibcc/control.h>
#include <ibcc/decision.h>
#include <ibcc/device.h>
#include <ibcc/text.h>

#include "words_impl.h"

void ibcc_words_evidence(struct ibcc_text *x, const struct ibcc_topo *t,
			 const struct ibcc_root_parameters *r)
{
	ibcc_text_say(x, "congestion starts at ");
	ibcc_words_place(x, t, r->port);
	if (r->kind == IBCC_CONGESTION_INPUT)
		ibcc_text_add(x,
			      ": full with %u Mb/s, and ports upstream are blocked %.1f %% of the "
			      "time (PortXmitWait)",
			      r->seen_mbps, r->tree_wait_permille / 10.0);
	else
		ibcc_text_add(x,
			      ": it takes %u of %u Mb/s, and the port to it is blocked %.1f %% "
			      "of the time (PortXmitWait)",
			      r->seen_mbps, r->link_mbps, r->wait_permille / 10.0);
}

/* Decisions to control a root, or not to. */
static void say_whether(struct ibcc_text *x, const struct ibcc_topo *t,
			const struct ibcc_decision *d, const char *what)
{
	ibcc_words_evidence(x, t, &d->root);
	ibcc_text_say(x, "%s", what);
}

/* Why the switch of a root cannot be given settings: by its device type, or by what it answered. */
static const char *no_support(const struct ibcc_topo *t, uint32_t port)
{
	const struct ibcc_topo_node *n = &t->node[t->port[port].node];
	const struct ibcc_device *d = ibcc_device_find(n->vendor_id, n->device_id);
	const char *refusal = ibcc_device_facts(ibcc_device_generation(d))->refusal;

	return refusal ? refusal : "does not support congestion control";
}

static void say_barred(struct ibcc_text *x, const struct ibcc_topo *t,
		       const struct ibcc_decision *d, const char *why, bool writes)
{
	ibcc_text_say(x, "%s %s: %s", why, name_of(t, d->root.port).text,
		      writes ? "its settings are reverted, and not tried again for a while"
			     : "reverting its settings is recommended");
}

/* Decisions between those to admit a root and those to let it go change the settings that it has;
 * their words do not say whether that is done.
 */
static bool is_imperative(enum ibcc_decision_code code)
{
	return code > IBCC_DECISION_NO_SUPPORT && code < IBCC_DECISION_HARM;
}

/* `writes`: it is carried out; else it is only recommended. */
static void say_decision(struct ibcc_text *x, const struct ibcc_topo *t,
			 const struct ibcc_decision *d, bool writes)
{
	switch (d->code) {
	case IBCC_DECISION_ADMIT:
		say_whether(x, t, d,
			    writes ? "congestion control is enabled"
				   : "congestion control is recommended");
		ibcc_text_add(x, " for %u source%s", d->root.n,
			      ibcc_text_plural(d->root.n, "", "s"));
		break;
	case IBCC_DECISION_LEARN:
		say_whether(x, t, d, "mark packets without throttling, to identify contributors");
		break;
	case IBCC_DECISION_NO_SUPPORT:
		ibcc_words_evidence(x, t, &d->root);
		ibcc_text_say(x, "its switch %s", no_support(t, d->root.port));
		break;
	case IBCC_DECISION_HARM:
		say_barred(x, t, d, "adapters send less than before congestion control of", writes);
		break;
	case IBCC_DECISION_IN_VAIN:
		say_barred(x, t, d, "no adapter would be freed by congestion control of", writes);
		break;
	case IBCC_DECISION_DOUBTED:
		ibcc_text_say(x, "counters of %s are inconsistent: %s",
			      name_of(t, d->root.port).text,
			      writes ? "its settings are reverted"
				     : "reverting its settings is recommended");
		break;
	case IBCC_DECISION_LEARNT:
		ibcc_text_say(x, "BECNs identify %u contributor%s: settings for %s", d->root.n,
			      ibcc_text_plural(d->root.n, "", "s"),
			      ibcc_text_plural(d->root.n, "it", "them"));
		break;
	case IBCC_DECISION_MORE:
		ibcc_text_say(x, "BECN counters identify %u contributor%s", d->root.n,
			      ibcc_text_plural(d->root.n, "", "s"));
		break;
	case IBCC_DECISION_ENLIST:
		ibcc_text_say(x, "more adapters contribute: settings for %u more", d->a);
		break;
	case IBCC_DECISION_DRAINED:
		ibcc_text_say(x,
			      "the congestion tree is empty: throttle its sources to their shares");
		break;
	case IBCC_DECISION_DRAIN_AGAIN:
		ibcc_text_say(x,
			      "the congestion tree is back, its sources are blocked %.1f %%: empty "
			      "it first",
			      d->a / 10.0);
		break;
	case IBCC_DECISION_TREE_GONE:
		ibcc_text_say(x, "the root blocks no sender any more: mark fewer packets");
		break;
	case IBCC_DECISION_TREE_BACK:
		ibcc_text_say(x, "the root blocks senders again: mark more packets");
		break;
	case IBCC_DECISION_TURNED:
		ibcc_text_say(x, "the root is %s now, for %u Mb/s: recompute its settings",
			      d->root.kind == IBCC_CONGESTION_INPUT ? "an oversubscribed link"
								    : "a slow receiver",
			      d->root.rate_mbps);
		break;
	case IBCC_DECISION_NUMBERS:
		ibcc_text_say(x,
			      "BECN counters identify %u contributor%s, equivalent to %u equal "
			      "one%s, and the root carries %u Mb/s: recompute its settings "
			      "(before: %u, %u, %u Mb/s)",
			      d->a, ibcc_text_plural(d->a, "", "s"), d->b,
			      ibcc_text_plural(d->b, "", "s"), d->c, d->root.n, d->root.n_heavy,
			      d->root.rate_mbps);
		break;
	case IBCC_DECISION_PAIRS:
		ibcc_text_say(x,
			      "the switch's CongestionLog names %u flow%s that the root limits to "
			      "%u Mb/s in all: recompute its settings (before: %u, %u Mb/s)",
			      d->a, ibcc_text_plural(d->a, "", "s"), d->b, d->root.n,
			      d->root.rate_mbps);
		break;
	case IBCC_DECISION_LOOSEN:
		ibcc_text_say(x, "the root is only %.1f %% busy: throttle its sources less",
			      d->a / 10.0);
		break;
	case IBCC_DECISION_TIGHTEN:
		ibcc_text_say(x, "the root is busy and blocks sources: throttle them more");
		break;
	case IBCC_DECISION_STEP_BACK:
		ibcc_text_say(x,
			      "the adapters behind the root send %u Mb/s with the last steps, and "
			      "sent %u Mb/s before them: revert these steps",
			      d->b, d->a);
		break;
	}
}

void ibcc_control_explain(const struct ibcc_topo *t, const struct ibcc_control *c, char *buf,
			  size_t len)
{
	struct ibcc_text x = { .buf = buf, .len = len };

	if (len)
		buf[0] = '\0';
	for (uint32_t k = 0; k < c->n_roots; k++) {
		const struct ibcc_control_root *from = &c->root[k];
		uint32_t node = ibcc_topo_find_guid(t, from->guid);
		struct ibcc_root_parameters r = from->s.r;

		r.port = node == IBCC_NONE ? IBCC_NONE : ibcc_topo_port_index(t, node, from->port);
		ibcc_words_evidence(&x, t, &r);
		ibcc_text_say(&x, "congestion control for %u source%s", r.n,
			      ibcc_text_plural(r.n, "", "s"));
	}
	if (!c->n_roots)
		ibcc_text_add(&x, "a plan without congestion roots");
}

/* Too little was read to decide on, and why. */
static void say_blind(struct ibcc_text *x, const struct ibcc_situation *f)
{
	uint32_t missing = f->ports - f->usable - f->unsure;

	ibcc_text_add(x, "counters of %u of %u port%s are not usable", f->ports - f->usable,
		      f->ports, ibcc_text_plural(f->ports, "", "s"));
	if (missing && f->unsure)
		ibcc_text_add(x, " (%u were not read, others are saturated or were cleared)",
			      missing);
	else if (f->unsure)
		ibcc_text_add(x, " (they are saturated or were cleared: a shorter interval_ms, "
				 "or clear_counters, may help)");
	else
		ibcc_text_add(x, " (they were not read)");
	ibcc_text_add(x, ": nothing is decided");
}

static void say_not_set(struct ibcc_text *x, const struct ibcc_topo *t,
			const struct ibcc_situation *f, bool writes)
{
	ibcc_words_evidence(x, t, &f->root);
	if (writes)
		ibcc_text_say(x, "its settings are not on the fabric");
	else
		ibcc_text_say(x, "congestion control is recommended for %u source%s", f->root.n,
			      ibcc_text_plural(f->root.n, "", "s"));
}

static void say_situation(struct ibcc_text *x, const struct ibcc_topo *t,
			  const struct ibcc_situation *f, bool writes)
{
	switch (f->code) {
	case IBCC_SITUATION_NOTHING_YET: break;
	case IBCC_SITUATION_NO_COUNTERS:
		ibcc_text_add(x, "there are no counters to read: nothing is decided");
		break;
	case IBCC_SITUATION_BLIND: say_blind(x, f); break;
	case IBCC_SITUATION_NOT_SET: say_not_set(x, t, f, writes); break;
	case IBCC_SITUATION_PARTLY_SET:
		ibcc_words_evidence(x, t, &f->root);
		ibcc_text_say(x, "%s",
			      writes ? "some of its settings are not on the fabric"
				     : "it has settings on the fabric, others are recommended");
		break;
	case IBCC_SITUATION_CONTROLLED:
		ibcc_text_add(x, "%u root%s controlled%s", f->roots,
			      ibcc_text_plural(f->roots, "", "s"),
			      f->lacking ? "; some nodes lack settings" : "");
		break;
	case IBCC_SITUATION_UNCONFIRMED:
		ibcc_text_add(x, "congestion seen, to be confirmed");
		break;
	case IBCC_SITUATION_OVER:
		ibcc_text_add(x, "congestion is over: the earlier settings are restored");
		break;
	case IBCC_SITUATION_UNKNOWN_NODES:
		ibcc_text_add(x,
			      "nodes that do not answer may cause the congestion of %u port%s: "
			      "no change recommended",
			      f->ports, ibcc_text_plural(f->ports, "", "s"));
		break;
	case IBCC_SITUATION_HARMLESS:
		ibcc_text_add(x, "congestion affects no other traffic: no change");
		break;
	case IBCC_SITUATION_NO_CONGESTION: ibcc_text_add(x, "no congestion"); break;
	}
}

static void say_left(struct ibcc_text *x, const struct ibcc_decisions *d)
{
	if (d->left_goes)
		ibcc_text_say(x, "previously applied settings of %u node%s are removed", d->n_left,
			      ibcc_text_plural(d->n_left, "", "s"));
	else if (d->n_left)
		ibcc_text_say(x, "%u node%s keep%s previously applied settings", d->n_left,
			      ibcc_text_plural(d->n_left, "", "s"),
			      ibcc_text_plural(d->n_left, "s", ""));
}

static void say_decisions(struct ibcc_text *x, const struct ibcc_topo *t,
			  const struct ibcc_decisions *d)
{
	for (uint32_t i = 0; i < d->n; i++)
		say_decision(x, t, &d->decision[i], !d->recommended);
	if (d->n && d->recommended && is_imperative(d->decision[0].code))
		ibcc_text_add(x, " (recommended)");
	if (!d->n)
		say_situation(x, t, &d->situation, !d->recommended);
	say_left(x, d);
}

struct all {
	const struct ibcc_topo *t;
	const struct ibcc_decisions *d;
};

/* A step after the first says what it waits for, or has waited for, and nothing else. */
static void say_all(struct ibcc_text *x, const void *arg)
{
	const struct all *a = arg;

	switch (a->d->step) {
	case IBCC_STEP_ALL: say_decisions(x, a->t, a->d); break;
	case IBCC_STEP_FIRST:
		say_decisions(x, a->t, a->d);
		ibcc_text_say(x, "%u node%s first, %u when counters show an effect",
			      a->d->step_nodes, ibcc_text_plural(a->d->step_nodes, "", "s"),
			      a->d->nodes_left);
		break;
	case IBCC_STEP_WAIT:
		ibcc_text_add(x, "%u node%s wait%s until counters show an effect at the first",
			      a->d->nodes_left, ibcc_text_plural(a->d->nodes_left, "", "s"),
			      ibcc_text_plural(a->d->nodes_left, "s", ""));
		break;
	case IBCC_STEP_THE_REST:
		ibcc_text_add(x, "counters show an effect at the first nodes: the others follow");
		break;
	}
}

char *ibcc_words_all(void (*say)(struct ibcc_text *x, const void *arg), const void *arg)
{
	struct ibcc_text x = { .buf = NULL };
	char *text;

	say(&x, arg);
	text = malloc(x.n + 1);
	if (!text)
		return NULL;
	text[0] = '\0';
	x = (struct ibcc_text){ .buf = text, .len = x.n + 1 };
	say(&x, arg);
	return text;
}

char *ibcc_words_decisions(const struct ibcc_topo *t, const struct ibcc_decisions *d)
{
	return ibcc_words_all(say_all, &(struct all){ t, d });
}
