/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which hotspots are controlled, from when and for how long.
 *
 * A root goes through three stages: seen (in enough passes to be no accident), on (its settings are
 * wanted; judged once they are in force and the tree had time to drain) and gone (quiet for long,
 * since a controlled root and a vanished one look alike for a while). Roots are taken up one
 * after the other: the tree of one can hide or fake another.
 */
#include <errno.h>
#include <string.h>

#include "text.h"
#include "tuner_state.h"

#define UNSET_SHARE    8u /* of a root's adapters, one in so many may lack its settings */
#define DEFAULT_PACKET 2074u
#define SLOW_PERMILLE  200u
#define FULL_PERMILLE  900u
#define MORE_PERMILLE  1300u /* of the contributors counted on: formula again */
#define KIND_PASSES    3u    /* so long it must look like the other kind to be taken for it */

static uint32_t wire_bytes(const struct ibcc_topo *t, const struct ibcc_snapshot *s, uint32_t port)
{
	const struct ibcc_delta *d = &s->port[port].delta;
	uint64_t bytes;

	if (!ibcc_delta_valid(d, IBCC_CTR_XMIT_PKTS) || !d->v[IBCC_CTR_XMIT_PKTS])
		return t->port[port].mtu_bytes ? t->port[port].mtu_bytes : DEFAULT_PACKET;
	bytes = d->v[IBCC_CTR_XMIT_DATA] * 4 / d->v[IBCC_CTR_XMIT_PKTS];
	return bytes < 64 ? 64 : bytes > 8192 ? 8192 : (uint32_t)bytes;
}

static void note_evidence(struct ibcc_tuner_root *r, const struct ibcc_topo *t,
			  const struct ibcc_root *now)
{
	struct ibcc_text x = { .buf = r->evidence, .len = sizeof(r->evidence) };
	char port[IBCC_DESC_BYTES + 16];

	ibcc_topo_port_name(t, r->port, port, sizeof(port));
	switch (r->kind) {
	case IBCC_CONGESTION_INPUT:
		ibcc_text_add(&x,
			      "congestion starts at %s: full with %u Mb/s while its feeders wait "
			      "%u.%u %% (PortXmitWait)",
			      port, now->rate_mbps, now->tree_wait_permille / 10,
			      now->tree_wait_permille % 10);
		break;
	case IBCC_CONGESTION_OUTPUT:
		ibcc_text_add(&x,
			      "congestion starts at %s: its receiver takes %u of %u Mb/s, it waits "
			      "%u.%u %% (PortXmitWait)",
			      port, now->rate_mbps, now->link_mbps, now->wait_permille / 10,
			      now->wait_permille % 10);
		break;
	}
}

/* Settings go to those who contribute and, while nobody is marked, to all who may: control is for
 * each QP, so who gets no BECNs is never throttled. Returns how many are new, or -ENOMEM.
 */
static int enlist(struct ibcc_tuner *tn, struct ibcc_tuner_root *r, const struct ibcc_topo *t,
		  const struct ibcc_settings *actual, const struct ibcc_root *now)
{
	int n = 0;

	for (uint32_t i = 0; i < now->n_sources; i++) {
		int ret;

		if (now->source[i].role == IBCC_ROLE_VICTIM)
			continue;
		ret = ibcc_tuner_enlist(tn, r, actual, ibcc_tuner_endport_of(t, &now->source[i]));
		if (ret < 0)
			return ret;
		n += ret;
	}
	return n;
}

static int switch_on(struct ibcc_tuner *tn, struct ibcc_tuner_root *r, const struct ibcc_topo *t,
		     const struct ibcc_snapshot *s, const struct ibcc_settings *actual,
		     const struct ibcc_root *now, struct ibcc_text *say)
{
	uint32_t sw = ibcc_tuner_switch_of(t, r), n;
	int ret;

	if (actual->ep[sw].support != IBCC_CC_SUPPORTED) {
		char port[IBCC_DESC_BYTES + 16];

		ibcc_topo_port_name(t, r->port, port, sizeof(port));
		ibcc_text_say(say,
			      "congestion at %s cannot be controlled: its switch does not "
			      "support congestion control",
			      port);
		return 0;
	}
	ret = ibcc_tuner_touch(tn, actual, sw);
	if (!ret)
		ret = enlist(tn, r, t, actual, now);
	if (ret < 0)
		return ret;
	n = now->n_contributors ? now->n_contributors : 1;
	/* The window began anew if another root changed in this very pass. A slow receiver's buffer
	 * may have had room in its first pass, and taken more than it does.
	 */
	ibcc_tuner_number(r, n, n,
			  r->win.n && r->kind == IBCC_CONGESTION_INPUT
				  ? (uint32_t)(r->win.rate_mbps / r->win.n)
				  : now->rate_mbps);
	r->learned =
		now->n_sources && now->source[0].role != IBCC_ROLE_CANDIDATE && now->n_contributors;
	r->packet_bytes = wire_bytes(t, s, r->port);
	r->wait_permille = now->wait_permille;
	r->threshold = ibcc_law_threshold(r->kind);
	r->interval_ns = s->interval_ns;
	ibcc_tuner_probe_begin(tn, r, actual);
	r->drain = r->probe ? 0 : ibcc_tuner_drain_passes(r, s, now);
	ret = ibcc_tuner_guard_begin(tn, r);
	if (ret)
		return ret;
	r->on = true;
	tn->since_event = 0;
	note_evidence(r, t, now);
	if (r->probe)
		ibcc_text_say(say, "%s; mark without delay, to learn who contributes", r->evidence);
	else
		ibcc_text_say(say, "%s; control on with formulas for %u sources", r->evidence,
			      r->n);
	ibcc_tuner_changed(tn);
	return 0;
}

/* Are a root's settings on the fabric, but for a few adapters that do not take them? */
static bool in_force(const struct ibcc_tuner *tn, const struct ibcc_topo *t,
		     struct ibcc_tuner_root *r, const struct ibcc_target *laid)
{
	uint32_t sw = ibcc_tuner_switch_of(t, r);
	uint32_t members = 0, unset = 0, last = IBCC_NONE;

	for (uint32_t i = 0; i < laid->n_reasons; i++) {
		uint32_t ep = laid->reason[i].endport;

		if (ep == sw)
			return false;
		unset += r->member[ep] && ep != last;
		last = ep;
	}
	for (uint32_t i = 0; i < tn->n_endports; i++)
		members += r->member[i];
	r->begun |= unset < members;
	return unset * UNSET_SHARE <= members;
}

/* A sink that has become fast and fills its link, or a port whose adapter has become slow. In
 * between it is what it was: a port that is held back too much sends little as well. A link between
 * switches that waits does so in another root's tree.
 */
static bool looks_like_other_kind(const struct ibcc_topo *t, const struct ibcc_tuner_root *r,
				  const struct ibcc_root *now)
{
	uint32_t peer = t->port[r->port].peer;

	switch (r->kind) {
	case IBCC_CONGESTION_INPUT:
		return now->wait_permille >= SLOW_PERMILLE && peer != IBCC_NONE &&
		       !ibcc_topo_is_switch(t, t->port[peer].node);
	case IBCC_CONGESTION_OUTPUT: return now->rate_mbps >= now->link_mbps / 1000 * FULL_PERMILLE;
	}
	return false;
}

static bool turned(const struct ibcc_topo *t, struct ibcc_tuner_root *r,
		   const struct ibcc_root *now, struct ibcc_text *say)
{
	r->other_kind = looks_like_other_kind(t, r, now) ? r->other_kind + 1 : 0;
	if (r->other_kind < KIND_PASSES || !now->rate_mbps)
		return false;
	r->other_kind = 0;
	r->kind = r->kind == IBCC_CONGESTION_INPUT ? IBCC_CONGESTION_OUTPUT : IBCC_CONGESTION_INPUT;
	ibcc_tuner_number(r, r->n_adapters, r->n_adapters, now->rate_mbps);
	r->pairs.capacity_mbps = now->rate_mbps;
	r->threshold = ibcc_law_threshold(r->kind);
	r->calm = false;
	ibcc_tuner_begin_anew(r);
	ibcc_text_say(say, "the root carries %u Mb/s and is %s-generated now: formulas again",
		      now->rate_mbps, r->kind == IBCC_CONGESTION_INPUT ? "input" : "output");
	return true;
}

/* More sources than were seen to wait: those that are held for another root do not wait. */
static bool more_drained(struct ibcc_tuner_root *r, const struct ibcc_tuner_sources *s)
{
	if (s->n * 1000ull <= r->n_adapters * (uint64_t)MORE_PERMILLE)
		return false;
	ibcc_tuner_number(r, s->n, s->n_heavy, r->full_mbps);
	r->learned = true;
	return true;
}

/* What a pass is decided by. */
struct pass {
	const struct ibcc_topo *t;
	const struct ibcc_snapshot *snap;
	const struct ibcc_estimate *e;
	const struct ibcc_settings *actual;
	struct ibcc_text *say;
};

/* One pass for a root that is being emptied; now: NULL if it is no root now. */
static int empty(struct ibcc_tuner *tn, struct ibcc_tuner_root *r, const struct pass *p,
		 const struct ibcc_root *now)
{
	struct ibcc_tuner_sources s = ibcc_tuner_known_sources(tn, p->t, r);

	if (!now || now->confidence_permille < IBCC_TUNER_CONFIDENT)
		return 0;
	if (more_drained(r, &s))
		ibcc_text_say(p->say, "BECN counters name %u contributors", r->n);
	return enlist(tn, r, p->t, p->actual, now);
}

/* One pass for a root that is held. Returns 1 if its parameters changed, 0 or -errno. */
static int hold(struct ibcc_tuner *tn, struct ibcc_tuner_root *r, const struct pass *p,
		const struct ibcc_root *now, bool judge)
{
	struct ibcc_tuner_sources s = ibcc_tuner_known_sources(tn, p->t, r);
	bool leads = &tn->root[r->leader] == r, changed;
	int more;

	if (ibcc_tuner_has_outlier(r, now) && r->learned)
		return 0; /* nothing can be judged by that */
	if (ibcc_tuner_returned(r, p->snap, now, p->say))
		return 1;
	s.marks = ibcc_tuner_marks(p->e, now);
	s.jammed = ibcc_tuner_jammed(tn, r, p->e);
	s.rests = ibcc_tuner_rests(tn);
	ibcc_tuner_calm(r, now, tn->p.victim_wait_permille, p->say);
	changed = turned(p->t, r, now, p->say);
	if (changed)
		tn->since_event = 0;
	else
		changed = judge && ibcc_tuner_judge(&tn->p, r, now, &s, leads, p->say);
	more = (s.n || s.marks) && !r->told.on ? enlist(tn, r, p->t, p->actual, now) : 0;
	if (more < 0)
		return more;
	if (more && !p->say->n)
		ibcc_text_say(p->say, "%d more adapters get BECNs: settings for them, too", more);
	return changed;
}

/* One pass for a root whose settings are in force. Returns 1 if its parameters changed. */
static int control_root(struct ibcc_tuner *tn, struct ibcc_tuner_root *r, const struct pass *p)
{
	const struct ibcc_root *now = ibcc_tuner_in_estimate(p->e, r->port);
	/* Also while nobody is marked and it is no root: others wait for it to settle. */
	bool settles = r->settle > 0, emptied;
	int ret;

	r->settle -= settles;
	if (r->lost && now && !r->probe)
		r->drain = ibcc_tuner_drain_passes(r, p->snap, now);
	r->lost = false;
	r->in_force = true;
	if (r->probe) {
		struct ibcc_tuner_sources s = ibcc_tuner_known_sources(tn, p->t, r);

		if (!ibcc_tuner_probe(tn, r, &s, p->say))
			return 0;
		r->drain = now ? ibcc_tuner_drain_passes(r, p->snap, now) : 0;
		return 1;
	}
	emptied = r->drain && ibcc_tuner_drained(tn, r, now);
	if (emptied)
		ibcc_text_say(p->say, "the tree is empty: from emptying it to holding it");
	if (r->drain) {
		ret = empty(tn, r, p, now);
		return ret < 0 ? ret : 0;
	}
	if (!now || now->confidence_permille < IBCC_TUNER_CONFIDENT)
		return emptied;
	/* The pass in which it turns out to be empty was one of emptying it. */
	ret = hold(tn, r, p, now, !settles && !emptied);
	return ret < 0 ? ret : ret || emptied;
}

/* One pass for the roots that are on. Those that have seen enough change together. */
static int control(struct ibcc_tuner *tn, const struct pass *p, const struct ibcc_target *laid)
{
	bool changed = false;

	for (uint32_t i = 0; i < tn->n_roots; i++) {
		struct ibcc_tuner_root *r = &tn->root[i];
		int ret;

		if (!r->on)
			continue;
		if (!in_force(tn, p->t, r, laid)) {
			r->lost |= r->in_force;
			continue;
		}
		ret = control_root(tn, r, p);
		if (ret < 0)
			return ret;
		changed |= ret;
	}
	if (changed)
		ibcc_tuner_changed(tn);
	return 0;
}

/* Is a full link perhaps only what changes made elsewhere let through? One that has stood for long
 * is not, unless trees are still being emptied.
 */
static bool may_pass(const struct ibcc_tuner *tn, const struct ibcc_tuner_root *r)
{
	for (uint32_t i = 0; i < tn->n_roots; i++) {
		const struct ibcc_tuner_root *o = &tn->root[i];

		if (o->on &&
		    (o->drain || !o->in_force || (o->settle && r->stood < IBCC_TUNER_STOOD)))
			return true;
	}
	return false;
}

/* The most severe root that has been seen often enough comes next. A full link may be what settings
 * that are new let through, so it has to wait for them to settle; a slow sink cannot be mistaken.
 */
static int take_up(struct ibcc_tuner *tn, const struct ibcc_topo *t, const struct ibcc_snapshot *s,
		   const struct ibcc_estimate *e, const struct ibcc_settings *actual,
		   struct ibcc_text *say)
{
	if (ibcc_tuner_probing(tn))
		return 0;
	for (uint32_t i = 0; i < e->n_roots; i++) {
		struct ibcc_tuner_root *r = ibcc_tuner_find(tn, e->root[i].port);
		bool confirmed = r && r->seen >= ibcc_tuner_confirm_passes(tn, e, r->kind) &&
				 (r->kind == IBCC_CONGESTION_OUTPUT || !may_pass(tn, r));

		if (!r || r->on || (!confirmed && !ibcc_tuner_may_learn(tn, r, &e->root[i])))
			continue;
		r->calm = !confirmed; /* others hold its sources already */
		return switch_on(tn, r, t, s, actual, &e->root[i], say);
	}
	return 0;
}

static void summarise(const struct ibcc_tuner *tn, const struct ibcc_estimate *e,
		      const struct ibcc_target *out, struct ibcc_text *say)
{
	const struct ibcc_tuner_root *unset = NULL;
	uint32_t on = 0, waiting = 0;

	if (say->n)
		return;
	for (uint32_t i = 0; i < tn->n_roots; i++) {
		on += tn->root[i].on;
		waiting += !tn->root[i].on;
		if (tn->root[i].on && !tn->root[i].in_force)
			unset = &tn->root[i];
	}
	if (!e->trustworthy)
		ibcc_text_say(say, "counters of too many ports are missing: nothing is decided");
	else if (unset)
		ibcc_text_say(say, "%s; its settings are not on the fabric", unset->evidence);
	else if (on && out->n_reasons)
		ibcc_text_say(say, "%u root%s under control; some nodes lack settings", on,
			      on == 1 ? "" : "s");
	else if (on)
		ibcc_text_say(say, "%u root%s under control", on, on == 1 ? "" : "s");
	else if (waiting)
		ibcc_text_say(say, "congestion seen, to be confirmed");
	else if (out->n_reasons)
		ibcc_text_say(say, "congestion is over: settings from before it");
	else if (e->n_roots)
		ibcc_text_say(say, "congestion holds up nobody else: nothing is set");
	else
		ibcc_text_say(say, "no congestion");
}

int ibcc_tuner_step(struct ibcc_tuner *tn, const struct ibcc_topo *t, const struct ibcc_snapshot *s,
		    const struct ibcc_estimate *e, const struct ibcc_settings *actual,
		    struct ibcc_target *out)
{
	char summary[IBCC_REASON_BYTES] = "";
	struct ibcc_text say = { .buf = summary, .len = sizeof(summary) };
	const struct pass p = { t, s, e, actual, &say };
	struct ibcc_target laid = { 0 };
	int ret = ibcc_tuner_prepare(tn, t);

	ibcc_tuner_group(tn, t);
	if (!ret)
		ret = ibcc_tuner_lay(tn, t, actual, &laid);
	if (ret)
		return ret;
	if (e->trustworthy) {
		tn->since_change += tn->since_change < UINT16_MAX;
		tn->since_event += tn->since_event < UINT16_MAX;
		tn->gone_since += tn->gone_since < UINT32_MAX;
		ibcc_tuner_note_load(tn, t, s);
		ibcc_tuner_observe(tn, t, e);
		ret = ibcc_tuner_count_pairs(tn, t, s, e);
		if (!ret)
			ret = control(tn, &p, &laid);
		if (!ret)
			ret = ibcc_tuner_tell(tn, t, e, actual, &say);
		if (!ret) {
			ibcc_tuner_release(tn, t, s, e, actual, &say);
			ret = take_up(tn, t, s, e, actual, &say);
		}
		ibcc_target_fini(&laid);
		ibcc_tuner_group(tn, t);
		if (!ret)
			ret = ibcc_tuner_lay(tn, t, actual, &laid);
		if (ret)
			goto out;
		ibcc_tuner_let_go(tn, t, &laid);
		laid.doubt = ibcc_tuner_doubt(tn, e);
	}
	summarise(tn, e, &laid, &say);
	memcpy(laid.summary, summary, sizeof(laid.summary));
	*out = laid;
	return 0;
out:
	ibcc_target_fini(&laid);
	return ret;
}
