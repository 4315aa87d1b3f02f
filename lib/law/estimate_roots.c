/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds roots, contributors and victims in one interval of counters. Begin with examine(), which
 * looks at one switch port.
 *
 * What counters look like around a root: an input-generated root's link is full and does not
 * wait, while its feeders do. An output-generated root, the port to a slow adapter, sends the
 * little that is taken and waits for credits the rest of the time. Ports between sources and root
 * are busy or wait all the time, too. But a port that waits for a switch is never where
 * congestion starts.
 *
 * Afterwards some roots are removed: feeders of another root (feeds_root()), and ports that are
 * full without blocking any sender (blocks_nobody()).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/grow.h>

#include "estimate.h"

/* An adapter that does not wait must get this share of the BECNs of the most marked one to
 * contribute: an adapter that sends all that it wants takes part in the congestion only if it sends
 * much. The share is of BECNs counted, not of BECNs per time in which it could send. By the latter,
 * the waiting ones would make it look small, however much it takes of what they wait for.
 */
#define BECN_FREE_PERMILLE 200u
#define BECN_WAIT_PERMILLE 250u
/* Where all ports of a switch mark, the root is one that is busy to this share at least. */
#define MARKED_BUSY_PERMILLE 500u
#define DEFAULT_PACKET       2074u

/* How much of the interval a port sent or waited, permille. */
static uint16_t busy(const struct load *l)
{
	return (uint16_t)(l->sent + l->waited);
}

/* Whether congestion may start in a switch behind a port that does not answer. */
static bool is_hidden(const struct estimation *j, uint32_t port)
{
	return j->t->port[port].beyond == IBCC_BEYOND_SWITCH &&
	       j->load[port].waited >= j->p->slow_wait_permille;
}

/* Whether congestion could start at a port, judged by its own counters alone. */
static bool looks_like_root(const struct estimation *j, uint32_t port, enum ibcc_congestion *kind)
{
	const struct load *l = &j->load[port];
	bool waits = l->waited >= j->p->slow_wait_permille;

	if (waits && !ibcc_topo_faces_ca(j->t, port) && !is_hidden(j, port))
		return false; /* it waits for a port of the next switch */
	*kind = waits ? IBCC_CONGESTION_OUTPUT : IBCC_CONGESTION_INPUT;
	return busy(l) >= j->p->full_permille;
}

/* Whether a port has a marking profile of NVIDIA's control because of a root. Where such profiles
 * are, every port marks by one. A port's own part of the marks cannot be told from the others', so
 * only a port that got its profile for a root counts as one that marks.
 */
static bool has_our_profile(const struct estimation *j, uint32_t port)
{
	const struct ibcc_endport_cc *sw = switch_cc(j, port);

	if (!sw || sw->mechanism != IBCC_MECHANISM_DCQCN)
		return false;
	for (uint32_t k = 0; j->last && k < j->last->n_roots; k++)
		if (j->last->root[k].r.port == port)
			return ibcc_phase_sets(j->last->root[k].r.phase);
	return false;
}

/* Whether marks that adapters report could come from a port. It certainly marks if it has a setting
 * of its own. With a setting for all ports of the switch it must also be busy, and not wait for a
 * switch.
 */
static bool marks(const struct estimation *j, uint32_t port)
{
	const struct ibcc_topo_port *p = &j->t->port[port];
	const struct load *l = &j->load[port];
	const struct ibcc_endport_cc *sw = switch_cc(j, port);
	bool faces_ca = ibcc_topo_faces_ca(j->t, port);

	if (has_our_profile(j, port))
		return true;
	if (!sw || !ibcc_settings_port_marks(sw, p->num))
		return false;
	if (ibcc_settings_effective(sw, p->num).Valid ||
	    (faces_ca && ibcc_cc_mask_test(&sw->sw.Victim_Mask, p->num)))
		return true;
	return busy(l) >= MARKED_BUSY_PERMILLE &&
	       (faces_ca || l->waited < j->p->slow_wait_permille);
}

/* Whether the log of its switch says that a port marked no packet. */
static bool marked_none(const struct estimation *j, uint32_t port)
{
	const struct ibcc_port_sample *s = &j->s->port[port];

	return s->marked == IBCC_MARKED_NONE && s->trust.doubt == IBCC_DOUBT_NONE;
}

/* Whether a silent adapter, at a LID behind a port, may get packets that this port marked. Its own
 * count of marked packets is not known.
 */
static bool may_be_marked(const struct estimation *j, uint32_t port, uint32_t lid)
{
	uint32_t region = j->t->n_gaps ? j->t->lost_lid[lid] : IBCC_NONE, last;

	if (region == IBCC_NONE || !j->t->gap[region].has_senders)
		return false;
	last = j->t->gap[region].port;
	return last == port || j->t->port[last].beyond != IBCC_BEYOND_ADAPTER || !marks(j, last) ||
	       marked_none(j, last);
}

/* How many marked packets came to the adapters behind a port that marks. If the last port before an
 * adapter marks itself, that adapter's marks count for that port.
 */
static uint64_t fecn_behind(const struct estimation *j, uint32_t port)
{
	uint64_t sum = 0;

	for (uint32_t lid = ibcc_topo_next_lid(j->t, port, 0); lid;
	     lid = ibcc_topo_next_lid(j->t, port, lid)) {
		uint32_t ca = j->t->lid_port[lid], last;

		if (ca == IBCC_NONE)
			sum += may_be_marked(j, port, lid);
		if (ca == IBCC_NONE || !is_ca_port(j->t, ca))
			continue;
		last = j->t->port[ca].peer;
		if (last == port || last == IBCC_NONE || !marks(j, last) || marked_none(j, last))
			sum += j->load[ca].fecn;
	}
	return sum;
}

/* Whether an adapter's BECNs make it a contributor, given those of the most marked one. */
static bool contributes(const struct load *l, uint64_t most)
{
	if (!l->becn || l->becn * IBCC_TRACE_SHARE <= most)
		return false;
	return l->becn * 1000 >= most * BECN_FREE_PERMILLE || l->waited > BECN_WAIT_PERMILLE;
}

/* The role of an adapter's port in the tree just walked, by its switch's flags. `most`: BECNs of
 * the most marked adapter, 0 if nothing is marked.
 */
static enum ibcc_role role_of(const struct estimation *j, uint32_t port, uint8_t flag,
			      uint64_t most)
{
	const struct load *l = &j->load[port];

	if (!l->usable)
		return IBCC_ROLE_NONE;
	if (most && contributes(l, most))
		return IBCC_ROLE_CONTRIBUTOR;
	if (!most && l->mbps && !(flag & TREE_SHARED) && l->waited < j->p->ca_wait_permille)
		return IBCC_ROLE_NEAR;
	if (l->waited < j->p->ca_wait_permille || !(flag & TREE_BLOCKED))
		return IBCC_ROLE_NONE;
	if (!most)
		return IBCC_ROLE_CANDIDATE;
	/* At the root's own switch each input buffer holds the packets of one adapter: an adapter
	 * that waits there without being marked waits for something else.
	 */
	return flag & TREE_SHARED ? IBCC_ROLE_VICTIM : IBCC_ROLE_NONE;
}

/* Sums over the adapters upstream of the port just walked. */
struct upstream {
	uint32_t n_blocked;
	uint32_t n_shared;  /* adapters that wait, and so do the switch ports on their way */
	uint64_t free_mbps; /* what the adapters that do not wait send */
	uint64_t most;      /* BECNs of the most marked adapter */
};

/* Sums up the adapters upstream of a port. Blocked are those that wait behind it. If the receiver
 * is slow, those also count that do not wait only because they are throttled for another root. A
 * port that waits for a slow adapter can wait for nothing else, so in that case packets may be held
 * up elsewhere, too. BECNs name contributors only if the root marks (`marked`).
 */
static struct upstream look_upstream(const struct estimation *j, bool slow, bool marked)
{
	const struct tree *tr = j->tree;
	struct upstream u = { 0 };

	for (uint32_t i = 0; i < tr->n_reached; i++) {
		const struct adapters *a = ibcc_tree_adapters(tr, tr->reached[i]);
		uint8_t flag = tr->below[tr->reached[i]];

		if (flag & TREE_BLOCKED)
			u.n_blocked += slow ? a->n_held_up : a->n_waiting;
		else if (slow)
			u.n_blocked += a->n_waiting;
		if (flag & TREE_BLOCKED && flag & TREE_SHARED)
			u.n_shared += a->n_waiting;
		u.free_mbps += a->free_mbps;
		if (marked && a->becn > u.most)
			u.most = a->becn;
	}
	return u;
}

static struct ibcc_source source_of(const struct estimation *j, uint32_t port, enum ibcc_role role)
{
	return (struct ibcc_source){
		.port = port,
		.role = role,
		.xmit_mbps = j->load[port].mbps,
		.wait_permille = j->load[port].waited,
		.becn = j->load[port].becn,
	};
}

static int by_port(const void *a, const void *b)
{
	const struct ibcc_source *x = a, *y = b;

	return order(x->port, y->port);
}

/* Adds an adapter to a root's sources if it has a role in the tree. *cap is the room for them. */
static int add_source(const struct estimation *j, struct ibcc_root *r, uint32_t port, uint8_t flag,
		      uint64_t most, uint32_t *cap)
{
	enum ibcc_role role = role_of(j, port, flag, most);
	struct ibcc_source *grown;

	if (role == IBCC_ROLE_NONE)
		return 0;
	grown = ibcc_grow(r->source, r->n_sources, cap, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	r->source = grown;
	r->source[r->n_sources++] = source_of(j, port, role);
	r->n_victims += role == IBCC_ROLE_VICTIM;
	r->n_contributors += ibcc_role_takes_part(role);
	return 0;
}

/* Adds the adapters at the root's switch that are not held up: nothing is marked, so that they may
 * have a role.
 */
static int add_near(const struct estimation *j, struct ibcc_root *r, uint32_t *cap)
{
	uint32_t node = j->t->port[r->port].node;
	const struct ibcc_topo_node *sw = &j->t->node[node];
	int ret = 0;

	for (uint32_t in = sw->first_port + 1; !ret && in <= sw->first_port + sw->n_ports; in++) {
		uint32_t q = j->t->port[in].peer;

		if (q != IBCC_NONE && in != r->port && is_ca_port(j->t, q) &&
		    !load_held_up(j->p, &j->load[q]))
			ret = add_source(j, r, q, j->tree->below[node], 0, cap);
	}
	if (r->n_sources)
		qsort(r->source, r->n_sources, sizeof(*r->source), by_port);
	return ret;
}

/* Lists the adapters that have a role in the tree, which are few of those upstream. */
static int list_sources(const struct estimation *j, struct ibcc_root *r, const struct upstream *u)
{
	const struct tree *tr = j->tree;
	struct ibcc_source *fits;
	uint32_t cap = 0;
	int ret = 0;

	for (uint32_t i = 0; i < tr->n_held_up && !ret; i++) {
		const struct held_up *h = &tr->held_up[i];

		if (tr->below[h->sw] && j->t->port[r->port].peer != h->port)
			ret = add_source(j, r, h->port, tr->below[h->sw], u->most, &cap);
	}
	if (!ret && !u->most && tr->below[tr->start])
		ret = add_near(j, r, &cap);
	if (ret || !r->n_sources)
		return ret;
	fits = realloc(r->source, r->n_sources * sizeof(*fits));
	r->source = fits ? fits : r->source;
	return 0;
}

/* The mean size of a port's packets in bytes; without a count, the MTU. */
static uint32_t wire_bytes(const struct estimation *j, uint32_t port)
{
	const struct ibcc_delta *d = &j->s->port[port].delta;
	uint64_t bytes;

	if (!ibcc_delta_valid(d, IBCC_CTR_XMIT_PKTS) || !d->v[IBCC_CTR_XMIT_PKTS])
		return j->t->port[port].mtu_bytes ? j->t->port[port].mtu_bytes : DEFAULT_PACKET;
	bytes = d->v[IBCC_CTR_XMIT_DATA] * 4 / d->v[IBCC_CTR_XMIT_PKTS];
	return bytes < 64 ? 64 : bytes > 8192 ? 8192 : (uint32_t)bytes;
}

/* The logged pairs of a port, most packets first; *n is their number. */
static const struct ibcc_pair *pairs_of(const struct ibcc_estimate *p, uint32_t port, uint32_t *n)
{
	uint32_t from = 0;

	while (from < p->n_pairs && p->pair[from].port < port)
		from++;
	for (*n = 0; from + *n < p->n_pairs && p->pair[from + *n].port == port;)
		++*n;
	return *n ? &p->pair[from] : NULL;
}

struct ibcc_root *ibcc_estimate_append(struct estimation *j, uint32_t port,
				       enum ibcc_congestion kind)
{
	struct ibcc_estimate *p = j->out;
	const struct load *l = &j->load[port];
	struct ibcc_root *r = ibcc_grow(p->root, p->n_known, &j->cap_roots, sizeof(*r));

	if (!r)
		return NULL;
	p->root = r;
	r += p->n_known++;
	*r = (struct ibcc_root){
		.port = port,
		.kind = kind,
		.link_mbps = j->t->port[port].rate_mbps / (l->narrow ? l->narrow : 1u),
		.rate_mbps = l->mbps,
		.wait_permille = l->waited,
		.fresh = l->usable && !l->kept,
		.kept = j->s->port[port].left_out,
		.interval_ns = j->s->interval_ns + j->s->port[port].kept_ns,
		.doubted = j->s->port[port].trust.doubt != IBCC_DOUBT_NONE,
		.packet_bytes = wire_bytes(j, port),
		.unknown_port = IBCC_NONE,
	};
	r->pair = pairs_of(p, port, &r->n_pairs);
	return r;
}

/* Looks at one switch port and appends it to the roots if congestion starts there: it looks like
 * a root and at least two adapters wait behind it, or it marks and adapters whose routes pass it
 * get BECNs.
 */
static int examine(struct estimation *j, uint32_t port)
{
	const struct load *l = &j->load[port];
	enum ibcc_congestion kind = IBCC_CONGESTION_INPUT;
	bool suspect = looks_like_root(j, port, &kind);
	bool marked = j->out->becn && (!j->actual || marks(j, port));
	/* Where no adapter counts CNPs, a root that has its profile is one while its port is full.
	 */
	bool kept = !j->out->becn && busy(l) >= j->p->full_permille && has_our_profile(j, port);
	struct upstream u;
	struct ibcc_root *r;
	uint64_t fecn = 0;

	/* Of the ports that may mark, only some do. One that is full is about to. */
	if (marked && j->actual && j->out->fecn) {
		fecn = marked_none(j, port) ? 0 : fecn_behind(j, port);
		marked = fecn || busy(l) >= j->p->full_permille;
	}
	if (!suspect && !kept && (!marked || !j->actual))
		return 0;
	if (!suspect && ibcc_topo_faces_ca(j->t, port) && l->sent < IBCC_FAST_PERMILLE)
		kind = IBCC_CONGESTION_OUTPUT;
	ibcc_tree_walk(j, port);
	u = look_upstream(j, kind == IBCC_CONGESTION_OUTPUT, marked);
	if ((!suspect || u.n_blocked < 2) && !u.most && !kept)
		return 0;
	r = ibcc_estimate_append(j, port, kind);
	if (!r)
		return -ENOMEM;
	r->fecn = fecn;
	r->tree_wait_permille = j->tree->feed_wait;
	r->n_waiting = j->tree->n_waiting;
	r->unknown_mbps = j->tree->unknown_mbps;
	r->unknown_port = j->tree->unknown_port;
	r->hidden = is_hidden(j, port);
	r->fed_freely = !kept && kind == IBCC_CONGESTION_INPUT && !u.most && !u.n_shared &&
			u.free_mbps * 1000 >= (uint64_t)l->mbps * j->p->full_permille;
	r->confidence_permille =
		(uint16_t)(1000ull * j->tree->n_usable / (j->tree->n_read ? j->tree->n_read : 1));
	return list_sources(j, r, &u);
}

/* Notes which adapters are contributors or candidates of a root. `jammed`: roots that are full only
 * because of senders that do not wait do not count.
 */
static void note_parts(const struct estimation *j, bool jammed)
{
	const struct ibcc_estimate *p = j->out;

	memset(j->takes_part, 0, j->t->n_ports * sizeof(*j->takes_part));
	for (uint32_t i = 0; i < p->n_known; i++)
		for (uint32_t k = 0; k < p->root[i].n_sources; k++)
			if (ibcc_role_takes_part(p->root[i].source[k].role) &&
			    !(jammed && p->root[i].fed_freely))
				j->takes_part[p->root[i].source[k].port] = true;
}

/* Removes victims that contribute to a root of their own: control of the other root would not help
 * them.
 */
static void clear_victims(const struct estimation *j)
{
	struct ibcc_estimate *p = j->out;

	note_parts(j, false);
	for (uint32_t i = 0; i < p->n_known; i++) {
		struct ibcc_root *r = &p->root[i];
		uint32_t n = 0;

		for (uint32_t k = 0; k < r->n_sources; k++) {
			if (r->source[k].role == IBCC_ROLE_VICTIM &&
			    j->takes_part[r->source[k].port])
				r->n_victims--;
			else
				r->source[n++] = r->source[k];
		}
		r->n_sources = n;
		for (uint32_t k = 0; k < n; k++)
			r->becn += r->source[k].becn;
	}
}

/* Whether a root only feeds another one. A link between switches that is not quite full waits the
 * rest of the time. If a root at the next switch explains that, and the port does not mark, it is a
 * part of that root's tree.
 */
static bool feeds_root(const struct estimation *j, const struct ibcc_root *r)
{
	uint32_t peer = j->t->port[r->port].peer, next;

	if (peer == IBCC_NONE)
		return false;
	next = j->t->port[peer].node;
	if (!ibcc_topo_is_switch(j->t, next) || j->load[r->port].sent >= j->p->full_permille ||
	    marks(j, r->port))
		return false;
	for (uint32_t i = 0; i < j->out->n_known; i++)
		if (j->t->port[j->out->root[i].port].node == next)
			return true;
	return false;
}

/* Whether a sender that does not wait fills a root's port, and the root blocks no other. Adapters
 * at that switch may wait for this port, but not if they wait for another root that their packets
 * go to. If they want this port as well, it becomes a root again as soon as the other root lets
 * them go.
 */
static bool blocks_nobody(const struct estimation *j, const struct ibcc_root *r)
{
	if (!r->fed_freely)
		return false;
	for (uint32_t k = 0; k < r->n_sources; k++)
		if (r->source[k].role == IBCC_ROLE_CANDIDATE && !j->takes_part[r->source[k].port])
			return false;
	return true;
}

/* Removes the roots of which `is_none` is true, one by one: each sees those that are left. */
static void clear_roots(const struct estimation *j,
			bool (*is_none)(const struct estimation *j, const struct ibcc_root *r))
{
	struct ibcc_estimate *p = j->out;

	for (uint32_t i = p->n_known; i-- > 0;) {
		if (!is_none(j, &p->root[i]))
			continue;
		free(p->root[i].source);
		memmove(&p->root[i], &p->root[i + 1], (--p->n_known - i) * sizeof(*p->root));
	}
}

/* Whether a port of a switch passes on congestion. */
static bool has_blocked_port(const struct estimation *j, uint32_t sw)
{
	const struct ibcc_topo_node *node = &j->t->node[sw];

	for (uint32_t i = node->first_port + 1; i <= node->first_port + node->n_ports; i++)
		if (load_blocked(j->p, &j->load[i]))
			return true;
	return false;
}

/* Lists the adapters that wait and have no role at any root, though a port of their switch waits,
 * too; *n is their number. NULL: no memory.
 */
static uint32_t *list_unexplained(const struct estimation *j, uint32_t *n)
{
	bool *has_role = calloc(j->t->n_ports, sizeof(*has_role));
	uint32_t *list = calloc(j->t->n_ports, sizeof(*list));

	*n = 0;
	for (uint32_t i = 0; has_role && i < j->out->n_known; i++)
		for (uint32_t k = 0; k < j->out->root[i].n_sources; k++)
			has_role[j->out->root[i].source[k].port] = true;
	for (uint32_t i = 0; has_role && list && i < j->t->n_ports; i++)
		if (is_ca_port(j->t, i) && j->load[i].usable &&
		    j->load[i].waited >= j->p->ca_wait_permille && !has_role[i] &&
		    j->t->port[i].peer != IBCC_NONE &&
		    has_blocked_port(j, j->t->port[j->t->port[i].peer].node))
			list[(*n)++] = i;
	if (!has_role) {
		free(list);
		list = NULL;
	}
	free(has_role);
	return list;
}

/* Adds those of n adapters whose packets may queue in a root's tree to the root's victims. */
static int add_victims(const struct estimation *j, struct ibcc_root *r, const uint32_t *port,
		       uint32_t n)
{
	struct ibcc_source *all;

	ibcc_tree_walk(j, r->port);
	all = realloc(r->source, (r->n_sources + n) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	r->source = all;
	for (uint32_t i = 0; i < n; i++) {
		if (!ibcc_tree_holds_up(j, j->t->port[j->t->port[port[i]].peer].node))
			continue;
		all[r->n_sources++] = source_of(j, port[i], IBCC_ROLE_VICTIM);
		r->n_victims++;
	}
	qsort(all, r->n_sources, sizeof(*all), by_port);
	return 0;
}

/* An adapter can wait behind a root though its own way there is free: on a torus it may reach the
 * root's destinations by other links than the contributors do, and send to others by theirs. Its
 * destinations are not known, so it is a victim if any of its routes queues in the tree, and if no
 * root explains that it waits.
 */
static int find_victims_elsewhere(struct estimation *j)
{
	uint32_t n = 0, *port;
	int ret = 0;

	if (!j->out->n_known)
		return 0;
	port = list_unexplained(j, &n);
	if (!port)
		return -ENOMEM;
	for (uint32_t i = 0; n && !ret && i < j->out->n_known; i++)
		ret = add_victims(j, &j->out->root[i], port, n);
	free(port);
	return ret;
}

/* How severe a root is: the sum of the waits of its sources, permille. */
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
	int ret = order(severity(y), severity(x));

	return ret ? ret : order(x->port, y->port);
}

int ibcc_estimate_roots(struct estimation *j)
{
	struct ibcc_estimate *p = j->out;
	struct tree tree = { 0 };
	int ret;

	j->tree = &tree;
	ret = ibcc_tree_init(j);
	j->takes_part = calloc(j->t->n_ports ? j->t->n_ports : 1, sizeof(*j->takes_part));
	if (!j->takes_part)
		ret = -ENOMEM;
	for (uint32_t i = 0; !ret && i < j->t->n_ports; i++)
		if (!is_ca_port(j->t, i) && j->load[i].usable)
			ret = examine(j, i);
	if (!ret) {
		clear_roots(j, feeds_root);
		note_parts(j, true);
		clear_roots(j, blocks_nobody);
		ret = find_victims_elsewhere(j);
	}
	if (!ret) {
		clear_victims(j);
		if (p->n_known > 1)
			qsort(p->root, p->n_known, sizeof(*p->root), by_severity);
	}
	p->n_roots = p->n_known;
	ibcc_tree_fini(&tree);
	free(j->takes_part);
	j->tree = NULL;
	j->takes_part = NULL;
	return ret;
}
