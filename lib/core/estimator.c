/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Roots, contributors and victims from one interval of counters.
 *
 * What counters look like around a root: input-generated, the root's link is full and does not
 * wait, its feeders do; output-generated, the port to a slow adapter sends the little that is
 * taken and waits for credits all other time. Ports between sources and root are busy or waiting
 * all the time too, but a port that waits for a switch is never where congestion starts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/estimate.h>

#include "estimate_pairs.h"
#include "estimate_tree.h"

/* An adapter contributes if it gets more than this share of the BECNs that the most marked one
 * gets (permille): late marks of a flow that has ended fall below it.
 */
#define BECN_SHARE_PERMILLE 20u
/* Without a wait of its own it must also get this share: who sends all that it wants takes part in
 * the congestion only by much. Of what it gets, not of that for the time that it could send: those
 * that wait would make it look small however much it takes of what they wait for.
 */
#define BECN_FREE_PERMILLE 200u
#define BECN_WAIT_PERMILLE 250u
/* Where all ports of a switch mark, the root is one that is busy to this share at least. */
#define MARKED_BUSY_PERMILLE 500u
/* A port to an adapter that sends less while it gets marks is limited by the adapter. */
#define LINK_LIMIT_PERMILLE 900u

struct job {
	const struct ibcc_estimator_params *p;
	const struct ibcc_topo *t;
	const struct ibcc_settings *actual;
	struct load *load;
	struct tree tree;
	struct ibcc_estimate *e;
	uint32_t cap_roots;
};

void ibcc_estimator_defaults(struct ibcc_estimator_params *p)
{
	*p = (struct ibcc_estimator_params){
		.full_permille = 970,
		.fed_wait_permille = 50,
		.ca_wait_permille = 100,
		.slow_wait_permille = 100,
		.stale_permille = 100,
	};
}

void ibcc_estimate_fini(struct ibcc_estimate *e)
{
	if (!e)
		return;
	for (uint32_t i = 0; e->root && i < e->n_roots; i++)
		free(e->root[i].source);
	free(e->root);
	free(e->pair);
	*e = (struct ibcc_estimate){ 0 };
}

static uint64_t count(const struct ibcc_delta *d, enum ibcc_ctr c)
{
	return ibcc_delta_valid(d, c) ? d->v[c] : 0;
}

static struct load make_load(const struct ibcc_topo_port *port, const struct ibcc_port_sample *s)
{
	struct load l = { .read = port->num && port->peer != IBCC_NONE && port->rate_mbps };
	uint64_t sent;

	if (!l.read || s->state != IBCC_SAMPLE_FRESH)
		return l;
	l.fecn = count(&s->delta, IBCC_CTR_RCV_FECN);
	l.becn = count(&s->delta, IBCC_CTR_RCV_BECN);
	if (!ibcc_delta_exact(&s->delta, IBCC_CTR_XMIT_DATA) ||
	    !ibcc_delta_exact(&s->delta, IBCC_CTR_XMIT_WAIT))
		return l;
	l.usable = true;
	l.mbps = ibcc_delta_xmit_mbps(&s->delta);
	sent = (uint64_t)l.mbps * 1000 / port->rate_mbps;
	l.sent = (uint16_t)(sent < 1000 ? sent : 1000);
	l.waited = (uint16_t)ibcc_delta_wait_permille(&s->delta, s->tick_ps);
	return l;
}

static void make_loads(struct job *j, const struct ibcc_snapshot *s)
{
	uint32_t expected = 0, usable = 0;

	for (uint32_t i = 0; i < j->t->n_ports && i < s->n_ports; i++) {
		struct load *l = &j->load[i];

		*l = make_load(&j->t->port[i], &s->port[i]);
		expected += l->read;
		usable += l->usable;
		if (!l->read || !is_ca_port(j->t, i))
			continue;
		j->e->n_cas++;
		j->e->fecn += l->fecn;
		j->e->becn += l->becn;
	}
	j->e->trustworthy =
		usable && s->interval_ns &&
		(uint64_t)(expected - usable) * 1000 <= (uint64_t)expected * j->p->stale_permille;
}

static uint16_t busy(const struct load *l)
{
	return (uint16_t)(l->sent + l->waited);
}

/* Could congestion start here, judged by the port alone? */
static bool looks_like_root(const struct job *j, uint32_t port, enum ibcc_congestion *kind)
{
	const struct load *l = &j->load[port];
	bool faces_ca = is_ca_port(j->t, j->t->port[port].peer);
	bool waits = l->waited >= j->p->slow_wait_permille;

	if (waits && !faces_ca)
		return false; /* it waits for a port of the next switch */
	*kind = waits ? IBCC_CONGESTION_OUTPUT : IBCC_CONGESTION_INPUT;
	return busy(l) >= j->p->full_permille;
}

/* Could marks that adapters report come from this port? Certainly if it has a setting of its own;
 * with a setting for all ports of the switch it must be busy besides, and not wait for a switch.
 */
static bool marks(const struct job *j, uint32_t port)
{
	const struct ibcc_topo_port *p = &j->t->port[port];
	const struct load *l = &j->load[port];
	uint32_t ep = j->t->port[j->t->node[p->node].first_port].endport;
	bool faces_ca = is_ca_port(j->t, p->peer);
	const struct ibcc_endport_cc *sw;

	if (!j->actual || ep >= j->actual->n ||
	    !ibcc_settings_port_marks(&j->actual->ep[ep], p->num))
		return false;
	sw = &j->actual->ep[ep];
	if (ibcc_settings_effective(sw, p->num).Valid ||
	    (faces_ca && ibcc_cc_mask_test(&sw->sw.Victim_Mask, p->num)))
		return true;
	return busy(l) >= MARKED_BUSY_PERMILLE &&
	       (faces_ca || l->waited < j->p->slow_wait_permille);
}

/* Marked packets that came to the adapters behind a port. Where the last port before an adapter may
 * mark itself, those are its own.
 */
static uint64_t fecn_behind(const struct job *j, uint32_t port)
{
	const struct ibcc_topo_node *sw = &j->t->node[j->t->port[port].node];
	uint64_t sum = 0;

	for (uint32_t lid = 1; lid < sw->lft_len && lid <= IBCC_LID_MAX; lid++) {
		uint32_t ca =
			sw->lft[lid] == j->t->port[port].num ? j->t->lid_port[lid] : IBCC_NONE;
		uint32_t last;

		if (ca == IBCC_NONE || !is_ca_port(j->t, ca))
			continue;
		last = j->t->port[ca].peer;
		if (last == port || last == IBCC_NONE || !marks(j, last))
			sum += j->load[ca].fecn;
	}
	return sum;
}

static bool contributes(const struct load *l, uint64_t most)
{
	if (!l->becn || l->becn * 1000 <= most * BECN_SHARE_PERMILLE)
		return false;
	return l->becn * 1000 >= most * BECN_FREE_PERMILLE || l->waited > BECN_WAIT_PERMILLE;
}

/* Role of an adapter's port in the tree just walked. */
static enum ibcc_role role_of(const struct job *j, uint32_t port, uint64_t most)
{
	const struct load *l = &j->load[port];
	uint8_t flag = j->tree.flag[port];

	if (!(flag & TREE_REACHES) || !l->usable)
		return IBCC_ROLE_NONE;
	if (most && contributes(l, most))
		return IBCC_ROLE_CONTRIBUTOR;
	if (!most && l->mbps && !(flag & TREE_SHARED) && l->waited < j->p->ca_wait_permille)
		return IBCC_ROLE_NEAR;
	if (l->waited < j->p->ca_wait_permille || !(flag & TREE_BLOCKED))
		return IBCC_ROLE_NONE;
	if (!most)
		return IBCC_ROLE_CANDIDATE;
	/* In the root's own switch each input buffer holds the packets of one adapter: who waits
	 * there without marks waits for something else.
	 */
	return flag & TREE_SHARED ? IBCC_ROLE_VICTIM : IBCC_ROLE_NONE;
}

/* BECNs name contributors only of a root that marks: `marked`. */
static int list_sources(const struct job *j, struct ibcc_root *r, bool marked)
{
	uint64_t most = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < j->t->n_ports; i++) {
		if (!(j->tree.flag[i] & TREE_REACHES) || !j->load[i].usable)
			continue;
		if (marked && j->load[i].becn > most)
			most = j->load[i].becn;
		n++;
	}
	r->source = calloc(n ? n : 1, sizeof(*r->source));
	if (!r->source)
		return -ENOMEM;
	for (uint32_t i = 0; i < j->t->n_ports; i++) {
		enum ibcc_role role = role_of(j, i, most);

		if (role == IBCC_ROLE_NONE)
			continue;
		r->source[r->n_sources++] = (struct ibcc_source){
			.port = i,
			.role = role,
			.xmit_mbps = j->load[i].mbps,
			.wait_permille = j->load[i].waited,
			.becn = j->load[i].becn,
		};
		r->n_victims += role == IBCC_ROLE_VICTIM;
		r->n_contributors += role == IBCC_ROLE_CONTRIBUTOR || role == IBCC_ROLE_CANDIDATE;
	}
	return 0;
}

/* Adapters that wait behind a port, and at a slow adapter those that only do not because they are
 * throttled for another root. A port to an adapter that waits can wait for nothing else, so there
 * it does not matter whether packets for it are held up elsewhere as well.
 */
static uint32_t n_blocked(const struct job *j, const struct ibcc_root *r)
{
	bool slow = r->kind == IBCC_CONGESTION_OUTPUT;
	uint32_t n = 0;

	for (uint32_t i = 0; i < j->t->n_ports; i++) {
		const struct load *l = &j->load[i];
		bool blocked = j->tree.flag[i] & TREE_BLOCKED;

		if (!(j->tree.flag[i] & TREE_REACHES) || !l->usable)
			continue;
		n += (l->waited >= j->p->ca_wait_permille && (blocked || slow)) ||
		     (l->becn && blocked && slow);
	}
	return n;
}

static bool has_becn(const struct ibcc_root *r)
{
	for (uint32_t i = 0; i < r->n_sources; i++)
		if (r->source[i].role == IBCC_ROLE_CONTRIBUTOR)
			return true;
	return false;
}

static int append(struct job *j, const struct ibcc_root *r)
{
	struct ibcc_estimate *e = j->e;

	if (e->n_roots == j->cap_roots) {
		uint32_t cap = j->cap_roots ? 2 * j->cap_roots : 4;
		struct ibcc_root *grown = reallocarray(e->root, cap, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		e->root = grown;
		j->cap_roots = cap;
	}
	e->root[e->n_roots++] = *r;
	return 0;
}

static int examine(struct job *j, uint32_t port)
{
	const struct load *l = &j->load[port];
	struct ibcc_root r = {
		.port = port,
		.link_mbps = j->t->port[port].rate_mbps,
		.rate_mbps = l->mbps,
		.wait_permille = l->waited,
	};
	bool suspect =
		looks_like_root(j, port, &r.kind) &&
		(r.kind == IBCC_CONGESTION_OUTPUT || !ibcc_flows_freely(j->t, j->load, port));
	bool marked = j->e->becn && (!j->actual || marks(j, port));
	int ret;

	/* Several ports may mark, of which only some do. One that is full is on the verge of it. */
	if (marked && j->actual && j->e->fecn) {
		r.fecn = fecn_behind(j, port);
		marked = r.fecn || busy(l) >= j->p->full_permille;
	}
	if (!suspect && (!marked || !j->actual))
		return 0;
	if (!suspect && is_ca_port(j->t, j->t->port[port].peer) && l->sent < LINK_LIMIT_PERMILLE)
		r.kind = IBCC_CONGESTION_OUTPUT;
	ibcc_tree_walk(&j->tree, j->p, j->t, j->load, port);
	ret = list_sources(j, &r, marked);
	if (ret)
		return ret;
	if ((suspect && n_blocked(j, &r) >= 2) || (marked && has_becn(&r))) {
		r.tree_wait_permille = j->tree.feed_wait;
		r.n_waiting = j->tree.n_waiting;
		r.confidence_permille = (uint16_t)(1000ull * j->tree.n_usable /
						   (j->tree.n_read ? j->tree.n_read : 1));
		ret = append(j, &r);
		if (!ret)
			return 0;
	}
	free(r.source);
	return ret;
}

static bool belongs_elsewhere(const struct ibcc_estimate *e, const struct ibcc_root *r,
			      uint32_t port)
{
	for (uint32_t i = 0; i < e->n_roots; i++) {
		const struct ibcc_root *o = &e->root[i];

		for (uint32_t k = 0; o != r && k < o->n_sources; k++)
			if (o->source[k].port == port &&
			    (o->source[k].role == IBCC_ROLE_CONTRIBUTOR ||
			     o->source[k].role == IBCC_ROLE_CANDIDATE))
				return true;
	}
	return false;
}

/* Who waits for a root of its own is not another root's victim: nothing done there would help. */
static void clear_victims(struct ibcc_estimate *e)
{
	for (uint32_t i = 0; i < e->n_roots; i++) {
		struct ibcc_root *r = &e->root[i];
		uint32_t n = 0;

		for (uint32_t k = 0; k < r->n_sources; k++) {
			if (r->source[k].role == IBCC_ROLE_VICTIM &&
			    belongs_elsewhere(e, r, r->source[k].port))
				r->n_victims--;
			else
				r->source[n++] = r->source[k];
		}
		r->n_sources = n;
	}
}

/* Does a port of the next switch, which is a root, hold it up? */
static bool feeds_root(const struct job *j, const struct ibcc_root *r)
{
	uint32_t next = j->t->port[j->t->port[r->port].peer].node;

	if (!ibcc_topo_is_switch(j->t, next) || j->load[r->port].sent >= j->p->full_permille ||
	    marks(j, r->port))
		return false;
	for (uint32_t i = 0; i < j->e->n_roots; i++)
		if (j->t->port[j->e->root[i].port].node == next)
			return true;
	return false;
}

/* A link between switches that is not quite full waits the rest of the time. Where the reason is
 * known it is no root of its own, but the tree of one that still stands.
 */
static void clear_feeders(const struct job *j)
{
	struct ibcc_estimate *e = j->e;

	for (uint32_t i = e->n_roots; i-- > 0;) {
		if (!feeds_root(j, &e->root[i]))
			continue;
		free(e->root[i].source);
		memmove(&e->root[i], &e->root[i + 1], (--e->n_roots - i) * sizeof(*e->root));
	}
}

/* How much sending time is lost behind a root. */
static uint64_t severity(const struct ibcc_root *r)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < r->n_sources; i++)
		sum += r->source[i].wait_permille;
	return sum;
}

static int by_severity(const void *a, const void *b)
{
	const struct ibcc_root *x = a, *y = b;
	uint64_t sx = severity(x), sy = severity(y);

	if (sx != sy)
		return sx > sy ? -1 : 1;
	return x->port < y->port ? -1 : x->port > y->port;
}

int ibcc_estimator_run(const struct ibcc_estimator_params *p, const struct ibcc_topo *t,
		       const struct ibcc_snapshot *s, const struct ibcc_settings *actual,
		       struct ibcc_estimate *e)
{
	struct job j = { .p = p, .t = t, .actual = actual, .e = e };
	int ret = -ENOMEM;

	*e = (struct ibcc_estimate){ .pass = s->pass };
	j.load = calloc(t->n_ports ? t->n_ports : 1, sizeof(*j.load));
	if (!j.load || ibcc_tree_init(&j.tree, t))
		goto out;
	make_loads(&j, s);
	ret = 0;
	for (uint32_t i = 0; !ret && i < t->n_ports; i++)
		if (!is_ca_port(t, i) && j.load[i].usable)
			ret = examine(&j, i);
	if (!ret) {
		clear_feeders(&j);
		clear_victims(e);
		ret = ibcc_estimate_pairs(t, s, e);
	}
	if (!ret && e->n_roots > 1)
		qsort(e->root, e->n_roots, sizeof(*e->root), by_severity);
out:
	ibcc_tree_fini(&j.tree);
	free(j.load);
	if (ret)
		ibcc_estimate_fini(e);
	return ret;
}
