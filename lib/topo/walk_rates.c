/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Rates of links that PortInfo does not report at first.
 *
 * A port that reads QDR may be faster, in two ways. Some devices report extended speeds only if
 * bit 31 of AttrMod says that the sender knows them (OpenSM asks in this way since 3.3.25, if
 * CapabilityMask has the bit). A port that reports which extended speeds it supports reports the
 * active one, too, so it is not asked again. And FDR10 is in an attribute of the vendor's, while
 * PortInfo says QDR.
 *
 * Both ends of a link run at the same speed. So each link is decided on its own, whatever the
 * other ports of its switch answered, and only one end is asked. No end is asked if the other end
 * cannot be faster, or has reported its speed. That makes at most one Get of each kind for a
 * link, as long as nodes answer. A node that does not answer a kind of question is not asked it
 * again; the other ends of its links are. If two nodes of one type of device do not answer, and
 * no node of the type has, the others of the type are not asked either. A link that stays
 * undecided has no rate: QDR would be a guess, by which a faster link looks full.
 *
 * The questions come when all other Gets have been answered, in rounds, since which end is asked
 * next depends on which have answered.
 */
#include <ibcc/device.h>

#include <errno.h>

#include <ibcc/grow.h>

#include "lib/topo/walk_state.h"

#define STATE_UP 2u
#define MUTE_MAX 2u /* nodes of a type without an answer, after which the type is not asked */

/* One end of a link. */
struct end {
	struct ibcc_walk_node *node; /* NULL: the node at this end gave no answer */
	struct walk_port *port;
	uint32_t num;
};

static bool is_switch(const struct ibcc_walk_node *n)
{
	return n->info.node_type == IBCC_NODE_SWITCH;
}

/* Whether the PortInfo of an end is known. */
static bool is_known(const struct end *e)
{
	return e->node && e->port->info.state;
}

static bool reads_qdr(const struct end *e)
{
	return is_known(e) && e->port->info.state >= STATE_UP &&
	       e->port->info.speed == IBCC_LINK_SPEED_QDR;
}

static void set_speed(const struct end *e, enum ibcc_link_speed speed)
{
	if (!is_known(e))
		return;
	e->port->info.speed = speed;
	e->port->info.rate_mbps = ibcc_link_rate_mbps(e->port->info.lanes, speed);
}

static struct walk_type *find_type(const struct ibcc_walk *w, const struct ibcc_walk_node *n)
{
	for (uint32_t i = 0; i < w->n_types; i++)
		if (w->type[i].vendor_id == n->info.vendor_id &&
		    w->type[i].device_id == n->info.device_id)
			return &w->type[i];
	return NULL;
}

static int add_type(struct ibcc_walk *w, const struct ibcc_walk_node *n)
{
	struct walk_type *t;

	if (find_type(w, n))
		return 0;
	t = ibcc_grow(w->type, w->n_types, &w->cap_types, sizeof(*t));
	if (!t)
		return -ENOMEM;
	w->type = t;
	t[w->n_types++] = (struct walk_type){ .vendor_id = n->info.vendor_id,
					      .device_id = n->info.device_id };
	return 0;
}

/* Whether an end may be faster than it reads, in the way that a kind of question is about. */
static bool may_be_faster(const struct end *e, enum walk_rate kind)
{
	const struct ibcc_device *d;
	const struct walk_port *caps;

	if (!e->node)
		return true;
	if (kind == WALK_RATE_FDR10) {
		d = ibcc_device_find(e->node->info.vendor_id, e->node->info.device_id);
		return d && ibcc_device_has_fdr10(d);
	}
	/* A switch has its capabilities at port 0. */
	caps = is_switch(e->node) ? &e->node->port[0] : e->port;
	return !(is_known(e) && e->port->info.tells_ext_speeds) &&
	       (!caps->info.state || caps->info.has_ext_speeds);
}

/* The kind of question that is still open for a link that reads QDR; WALK_RATES: none is. */
static enum walk_rate open_question(const struct end ends[2])
{
	enum walk_rate kind = WALK_RATE_EXT;

	while (kind < WALK_RATES &&
	       (ends[0].port->told[kind] || (ends[1].node && ends[1].port->told[kind]) ||
		!may_be_faster(&ends[0], kind) || !may_be_faster(&ends[1], kind)))
		kind++;
	return kind;
}

/* How useful it is to ask an end; 0: it is of no use. A switch is better, as it has more such
 * links. */
static int worth(const struct ibcc_walk *w, const struct end *e, enum walk_rate kind)
{
	const struct walk_type *t = reads_qdr(e) ? find_type(w, e->node) : NULL;

	if (!t || e->node->answers[kind] == WALK_MUTE)
		return 0;
	if (e->node->answers[kind] == WALK_YES)
		return 3;
	if (!t->answered[kind] && t->n_mute[kind] >= MUTE_MAX)
		return 0;
	return is_switch(e->node) ? 2 : 1;
}

/* Asks the better end of a link. Until a node or its type has answered once, it gets one question
 * at a time.
 */
static int ask(struct ibcc_walk *w, const struct end ends[2], enum walk_rate kind)
{
	int first = worth(w, &ends[0], kind), second = worth(w, &ends[1], kind);
	const struct end *e = &ends[second > first];
	struct walk_type *t;

	if (!first && !second)
		return 0;
	if (e->node->answers[kind] != WALK_YES) {
		/* One question until it is known that there are answers. */
		t = find_type(w, e->node);
		if (e->node->answers[kind] == WALK_ASKED ||
		    (!t->answered[kind] && t->n_mute[kind] + t->n_asked[kind] >= MUTE_MAX))
			return 0;
		e->node->answers[kind] = WALK_ASKED;
		t->n_asked[kind]++;
	}
	if (kind == WALK_RATE_EXT)
		return ibcc_walk_ask(w, e->node, IBCC_SMP_ATTR_PORT_INFO,
				     e->num | IBCC_SMP_EXT_SPEEDS, 0);
	return ibcc_walk_ask(w, e->node, IBCC_SMP_ATTR_EXT_PORT_INFO, e->num, 0);
}

/* Whether a link's rate is in doubt, seen from one end: it reads QDR, and nothing else is known.
 * True once for each link. If the other end reports a faster speed, the link gets that speed
 * without a question.
 */
static bool in_doubt(struct ibcc_walk_node *n, uint32_t num, struct end ends[2])
{
	ends[0] = (struct end){ n, &n->port[num], num };
	ends[1] = (struct end){ .node = ends[0].port->peer, .num = ends[0].port->peer_port };
	if (ends[1].node)
		ends[1].port = &ends[1].node->port[ends[1].num];
	if (!reads_qdr(&ends[0]))
		return false;
	if (!is_known(&ends[1]))
		return true;
	if (reads_qdr(&ends[1]))
		return ends[0].port < ends[1].port;
	if (ends[1].port->info.state >= STATE_UP &&
	    (ends[1].port->info.speed > IBCC_LINK_SPEED_QDR ||
	     ends[1].port->info.speed == IBCC_LINK_SPEED_NONE))
		set_speed(&ends[0], ends[1].port->info.speed);
	return false;
}

int ibcc_walk_ask_rates(struct ibcc_walk *w)
{
	struct end ends[2];
	int rc = 0;

	for (uint32_t i = 0; i < w->n && !rc; i++)
		rc = add_type(w, w->node[i]);
	for (uint32_t i = 0; i < w->n && !rc; i++) {
		for (uint32_t num = 1; num <= w->node[i]->info.num_ports && !rc; num++) {
			enum walk_rate kind;

			if (!in_doubt(w->node[i], num, ends))
				continue;
			kind = open_question(ends);
			if (kind < WALK_RATES)
				rc = ask(w, ends, kind);
		}
	}
	return rc;
}

void ibcc_walk_settle_rates(struct ibcc_walk *w)
{
	struct end ends[2];

	for (uint32_t i = 0; i < w->n; i++) {
		for (uint32_t num = 1; num <= w->node[i]->info.num_ports; num++) {
			if (!in_doubt(w->node[i], num, ends) || open_question(ends) == WALK_RATES)
				continue;
			set_speed(&ends[0], IBCC_LINK_SPEED_NONE);
			set_speed(&ends[1], IBCC_LINK_SPEED_NONE);
		}
	}
}

static enum walk_rate kind_of(const struct ibcc_walk_get *g)
{
	return g->attr_id == IBCC_SMP_ATTR_EXT_PORT_INFO ? WALK_RATE_FDR10 : WALK_RATE_EXT;
}

void ibcc_walk_take_rate(struct ibcc_walk *w, const struct ibcc_walk_get *g, const uint8_t *mad)
{
	enum walk_rate kind = kind_of(g);
	struct walk_type *t = find_type(w, g->node);
	uint32_t num = g->attr_mod & ~IBCC_SMP_EXT_SPEEDS;
	struct end e = { g->node, &g->node->port[num], num };
	struct ibcc_smp_port_info again;

	t->n_asked[kind] -= g->node->answers[kind] == WALK_ASKED;
	t->answered[kind] = true;
	g->node->answers[kind] = WALK_YES;
	/* A device that refuses the question does not have the speed that it is about. */
	e.port->told[kind] = true;
	if (!mad || !reads_qdr(&e))
		return;
	if (kind == WALK_RATE_FDR10) {
		if (ibcc_smp_has_fdr10(mad))
			set_speed(&e, IBCC_LINK_SPEED_FDR10);
		return;
	}
	ibcc_smp_port_info_unpack(mad, &again);
	e.port->info.caps = again.caps;
	if (again.state >= STATE_UP)
		set_speed(&e, again.speed);
}

void ibcc_walk_no_rate(struct ibcc_walk *w, const struct ibcc_walk_get *g)
{
	enum walk_rate kind = kind_of(g);
	struct walk_type *t = find_type(w, g->node);

	t->n_asked[kind] -= g->node->answers[kind] == WALK_ASKED;
	t->n_mute[kind] += g->node->answers[kind] != WALK_MUTE;
	g->node->answers[kind] = WALK_MUTE;
}
