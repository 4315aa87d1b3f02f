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

#define CONFIDENT_PERMILLE 700u /* of the ports on the way to a root must have been read */
#define DRAIN_PASSES       5u   /* after a change, backlog being repaid looks like new roots */
#define FADE               4u   /* BECN counts lose a quarter each pass */
#define COUNT_ONE          16u  /* one BECN in the counts that fade */
#define KNOWN_BECNS        8u   /* so many at the most marked adapter tell who contributes */
#define UNSET_SHARE        8u   /* of a root's adapters, one in so many may lack its settings */
#define DEFAULT_PACKET     2074u
#define FOREIGN_PERMILLE   20u /* acknowledgements, which go elsewhere too, are below this */

static uint32_t endport_of(const struct ibcc_topo *t, const struct ibcc_source *s)
{
	return t->port[s->port].endport;
}

/* Share of what waiting adapters send that does not go through the root, permille. They could send
 * more of it if the root's share did not stand in its way.
 */
static uint32_t foreign_permille(const struct ibcc_root *now)
{
	uint64_t sent = 0;

	for (uint32_t i = 0; i < now->n_sources; i++)
		sent += now->source[i].xmit_mbps;
	return sent > now->rate_mbps ? (uint32_t)((sent - now->rate_mbps) * 1000 / sent) : 0;
}

/* Somebody waits behind the root who sends elsewhere: throttling the others can help. Sources that
 * all want the root only share it, and throttling would cost and help nobody (Mizero et al.,
 * DCMS, 2016, found the same for marking rates).
 */
static bool worth_acting(const struct ibcc_tuner_params *p, const struct ibcc_root *now)
{
	bool waits = false;

	for (uint32_t i = 0; i < now->n_sources; i++) {
		if (now->source[i].role == IBCC_ROLE_VICTIM &&
		    now->source[i].wait_permille > p->victim_wait_permille)
			return true;
		waits |= now->source[i].role == IBCC_ROLE_CANDIDATE;
	}
	return waits && foreign_permille(now) > FOREIGN_PERMILLE;
}

/* Backlog that is repaid after a change fills many links for a moment. */
static bool believable(const struct ibcc_tuner *tn, const struct ibcc_estimate *e,
		       const struct ibcc_root *now)
{
	uint32_t most = e->n_cas / 8 > 2 ? e->n_cas / 8 : 2;
	uint32_t n = 0;

	if (now->confidence_permille < CONFIDENT_PERMILLE)
		return false;
	if (now->kind == IBCC_CONGESTION_OUTPUT)
		return true;
	for (uint32_t i = 0; i < e->n_roots; i++)
		n += e->root[i].kind == IBCC_CONGESTION_INPUT;
	return n <= most && tn->since_change >= DRAIN_PASSES;
}

static void note_becns(struct ibcc_tuner_root *r, const struct ibcc_topo *t, uint32_t n_endports,
		       const struct ibcc_root *now)
{
	for (uint32_t i = 0; i < n_endports; i++)
		r->becn[i] -= r->becn[i] / FADE;
	for (uint32_t i = 0; i < now->n_sources; i++)
		r->becn[endport_of(t, &now->source[i])] += COUNT_ONE * now->source[i].becn;
}

static const struct ibcc_root *in_estimate(const struct ibcc_estimate *e, uint32_t port)
{
	for (uint32_t i = 0; i < e->n_roots; i++)
		if (e->root[i].port == port)
			return &e->root[i];
	return NULL;
}

/* Brings the list of roots up to date with an estimate. */
static void observe(struct ibcc_tuner *tn, const struct ibcc_topo *t, const struct ibcc_estimate *e)
{
	for (uint32_t i = 0; i < e->n_roots; i++) {
		const struct ibcc_root *now = &e->root[i];
		struct ibcc_tuner_root *r = ibcc_tuner_find(tn, now->port);

		if (!r && (!worth_acting(&tn->p, now) || !believable(tn, e, now)))
			continue;
		if (!r)
			r = ibcc_tuner_add(tn, now->port);
		if (!r)
			continue;
		r->absent = 0;
		note_becns(r, t, tn->n_endports, now);
		if (r->on)
			continue;
		if (!worth_acting(&tn->p, now) || !believable(tn, e, now) ||
		    (r->seen && r->kind != now->kind)) {
			r->seen = 0;
			r->win = (struct ibcc_tuner_window){ 0 };
			continue;
		}
		r->kind = now->kind;
		r->seen++;
		r->win.n++;
		r->win.rate_mbps += now->rate_mbps;
	}
	for (uint32_t i = tn->n_roots; i-- > 0;) {
		struct ibcc_tuner_root *r = &tn->root[i];
		uint32_t patience = r->in_force ? tn->p.quiet_passes * (uint32_t)r->patience
						: tn->p.confirm_passes;

		if (in_estimate(e, r->port))
			continue;
		r->absent++;
		if (!r->on || r->absent >= patience)
			ibcc_tuner_drop(tn, r);
	}
}

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
		uint32_t ep = endport_of(t, &now->source[i]);

		if (now->source[i].role == IBCC_ROLE_VICTIM || r->member[ep])
			continue;
		r->lacking[ep] = actual->ep[ep].support != IBCC_CC_SUPPORTED;
		if (!ibcc_tuner_usable_ca(&actual->ep[ep]))
			continue;
		if (ibcc_tuner_touch(tn, actual, ep))
			return -ENOMEM;
		r->member[ep] = true;
		n++;
	}
	return n;
}

static void changed(struct ibcc_tuner *tn, struct ibcc_tuner_root *r)
{
	r->settle = tn->p.settle_passes;
	r->win = (struct ibcc_tuner_window){ 0 };
	r->last_tree_wait = 1000;
	tn->since_change = 0;
}

static int switch_on(struct ibcc_tuner *tn, struct ibcc_tuner_root *r, const struct ibcc_topo *t,
		     const struct ibcc_snapshot *s, const struct ibcc_settings *actual,
		     const struct ibcc_root *now, struct ibcc_text *say)
{
	uint32_t sw = ibcc_tuner_switch_of(t, r);
	int ret;

	if (actual->ep[sw].support != IBCC_CC_SUPPORTED) {
		char port[IBCC_DESC_BYTES + 16];

		ibcc_topo_port_name(t, r->port, port, sizeof(port));
		ibcc_text_add(say,
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
	r->n = now->n_contributors ? now->n_contributors : 1;
	r->learned = now->source[0].role != IBCC_ROLE_CANDIDATE && now->n_contributors;
	r->rate_mbps = (uint32_t)(r->win.rate_mbps / r->win.n);
	if (!r->rate_mbps)
		r->rate_mbps = 1;
	r->packet_bytes = wire_bytes(t, s, r->port);
	r->wait_permille = now->wait_permille;
	r->threshold = ibcc_law_threshold(r->kind);
	r->on = true;
	note_evidence(r, t, now);
	ibcc_text_add(say, "%s; control on with formulas for %u sources", r->evidence, r->n);
	changed(tn, r);
	return 0;
}

/* Are a root's settings on the fabric, but for a few adapters that do not take them? */
static bool in_force(const struct ibcc_tuner *tn, const struct ibcc_topo *t,
		     const struct ibcc_tuner_root *r, const struct ibcc_target *laid)
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
	return unset * UNSET_SHARE <= members;
}

static uint32_t source_mbps(const struct ibcc_tuner *tn, const struct ibcc_topo *t,
			    const struct ibcc_tuner_root *r)
{
	uint32_t max = 1;

	for (uint32_t i = 0; i < tn->n_endports; i++)
		if (r->member[i] && t->port[t->endport[i]].rate_mbps > max)
			max = t->port[t->endport[i]].rate_mbps;
	return max;
}

/* Contributors, once enough BECNs were counted to tell. */
static uint32_t known_contributors(const struct ibcc_tuner *tn, const struct ibcc_tuner_root *r)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < tn->n_endports; i++)
		if (r->becn[i] > most)
			most = r->becn[i];
	return most >= KNOWN_BECNS * COUNT_ONE ? ibcc_tuner_contributors(r, tn->n_endports) : 0;
}

/* One pass for the roots that are on. */
static int control(struct ibcc_tuner *tn, const struct ibcc_topo *t, const struct ibcc_estimate *e,
		   const struct ibcc_settings *actual, const struct ibcc_target *laid,
		   struct ibcc_text *say)
{
	for (uint32_t i = 0; i < tn->n_roots; i++) {
		struct ibcc_tuner_root *r = &tn->root[i];
		const struct ibcc_root *now = in_estimate(e, r->port);
		uint32_t n;
		int more;

		if (!r->on || !in_force(tn, t, r, laid))
			continue;
		r->in_force = true;
		if (!now || now->confidence_permille < CONFIDENT_PERMILLE)
			continue;
		n = known_contributors(tn, r);
		if (ibcc_tuner_judge(&tn->p, r, now, n, source_mbps(tn, t, r), say))
			changed(tn, r);
		more = n ? enlist(tn, r, t, actual, now) : 0;
		if (more < 0)
			return more;
		if (more && !say->n)
			ibcc_text_add(say, "%d more adapters get BECNs: settings for them, too",
				      more);
	}
	return 0;
}

static bool settling(const struct ibcc_tuner *tn)
{
	for (uint32_t i = 0; i < tn->n_roots; i++)
		if (tn->root[i].on && (tn->root[i].settle || !tn->root[i].in_force))
			return true;
	return false;
}

/* The most severe root that has been seen often enough comes next. */
static int take_up(struct ibcc_tuner *tn, const struct ibcc_topo *t, const struct ibcc_snapshot *s,
		   const struct ibcc_estimate *e, const struct ibcc_settings *actual,
		   struct ibcc_text *say)
{
	if (settling(tn))
		return 0;
	for (uint32_t i = 0; i < e->n_roots; i++) {
		struct ibcc_tuner_root *r = ibcc_tuner_find(tn, e->root[i].port);

		if (!r || r->on || r->seen < tn->p.confirm_passes)
			continue;
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
		ibcc_text_add(say, "counters of too many ports are missing: nothing is decided");
	else if (unset)
		ibcc_text_add(say, "%s; its settings are not on the fabric", unset->evidence);
	else if (on && out->n_reasons)
		ibcc_text_add(say, "%u root%s under control; some nodes lack settings", on,
			      on == 1 ? "" : "s");
	else if (on)
		ibcc_text_add(say, "%u root%s under control", on, on == 1 ? "" : "s");
	else if (waiting)
		ibcc_text_add(say, "congestion seen, to be confirmed");
	else if (out->n_reasons)
		ibcc_text_add(say, "congestion is over: settings from before it");
	else if (e->n_roots)
		ibcc_text_add(say, "congestion holds up nobody else: nothing is set");
	else
		ibcc_text_add(say, "no congestion");
}

int ibcc_tuner_step(struct ibcc_tuner *tn, const struct ibcc_topo *t, const struct ibcc_snapshot *s,
		    const struct ibcc_estimate *e, const struct ibcc_settings *actual,
		    struct ibcc_target *out)
{
	char summary[IBCC_REASON_BYTES] = "";
	struct ibcc_text say = { .buf = summary, .len = sizeof(summary) };
	struct ibcc_target laid = { 0 };
	int ret = ibcc_tuner_prepare(tn, t);

	if (!ret)
		ret = ibcc_tuner_lay(tn, t, actual, &laid);
	if (ret)
		return ret;
	if (e->trustworthy) {
		tn->n_cas = e->n_cas;
		tn->since_change += tn->since_change < UINT16_MAX;
		tn->gone_since += tn->gone_since < UINT32_MAX;
		observe(tn, t, e);
		ret = control(tn, t, e, actual, &laid, &say);
		if (!ret)
			ret = take_up(tn, t, s, e, actual, &say);
		ibcc_target_fini(&laid);
		if (!ret)
			ret = ibcc_tuner_lay(tn, t, actual, &laid);
		if (ret)
			goto out;
		ibcc_tuner_let_go(tn, t, &laid);
	}
	summarise(tn, e, &laid, &say);
	memcpy(laid.summary, summary, sizeof(laid.summary));
	*out = laid;
	return 0;
out:
	ibcc_target_fini(&laid);
	return ret;
}
