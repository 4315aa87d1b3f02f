/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One pass over the counters of all active ports, and over the logs of switches that mark.
 *
 * The collector asks once what a port can count. A node that did not answer at all in the last pass
 * gets one question before its ports are asked, so that dead nodes cost little. What is in logs is
 * up to collector_marks.c.
 */
#include <errno.h>
#include <stdlib.h>

#include <ibcc/ccmad.h>
#include <ibcc/collect.h>
#include <ibcc/link.h>
#include <ibcc/pma.h>

#include "lib/mad/collector_state.h"

/* The collector reports that the fabric's time stands still after this many passes in a row. */
#define STILL_PASSES 2u

struct ibcc_collector *ibcc_collector_new(void)
{
	struct ibcc_collector *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->units = ibcc_units_new();
	if (c->units)
		return c;
	ibcc_collector_free(c);
	return NULL;
}

void ibcc_collector_free(struct ibcc_collector *c)
{
	if (!c)
		return;
	ibcc_marks_fini(&c->marks);
	ibcc_units_free(c->units);
	ibcc_batch_fini(&c->batch);
	free(c->node);
	free(c->port);
	free(c);
}

void ibcc_collector_set_deadline(struct ibcc_collector *c, uint64_t ns)
{
	c->deadline_ns = ns;
}

void ibcc_collector_confine(struct ibcc_collector *c, const bool *port)
{
	c->only = port;
}

const struct ibcc_units *ibcc_collector_units(const struct ibcc_collector *c)
{
	return c->units;
}

bool ibcc_collector_uses_fabric_clock(const struct ibcc_collector *c)
{
	return c->simulated;
}

void ibcc_collector_ask_again(struct ibcc_collector *c)
{
	for (uint32_t i = 0; i < c->n_nodes; i++) {
		c->node[i].refusal.due = 0;
		c->node[i].sum.idle = false;
	}
	for (uint32_t i = 0; i < c->n_ports; i++) {
		c->port[i].tries = 0;
		c->port[i].refusal.due = c->port[i].con_refusal.due = 0;
	}
	ibcc_marks_ask_again(&c->marks);
}

bool ibcc_collector_clock_trouble(const struct ibcc_collector *c, struct ibcc_why *why)
{
	why->text[0] = '\0';
	if (c->still < STILL_PASSES)
		return false;
	ibcc_why_set(why, 0,
		     "clock: the simulated fabric stands still, so no rate can be computed: "
		     "ibcc-sim is paused (\"ibcc-sim set speed=1\" lets it go on), has stopped, or "
		     "has ended");
	return true;
}

static int resize(struct ibcc_collector *c, const struct ibcc_topo *t)
{
	void *v = reallocarray(c->node, t->n_nodes ? t->n_nodes : 1, sizeof(*c->node));

	if (!v)
		return -ENOMEM;
	c->node = v;
	v = reallocarray(c->port, t->n_ports ? t->n_ports : 1, sizeof(*c->port));
	if (!v)
		return -ENOMEM;
	c->port = v;
	return 0;
}

/* Fits the state to the topology's indices. A port that was not there before begins with empty
 * state.
 */
static int fit(struct ibcc_collector *c, const struct ibcc_topo *t)
{
	bool same = c->node && c->n_nodes == t->n_nodes && c->n_ports == t->n_ports;

	if (!same && resize(c, t) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		const struct ibcc_topo_node *n = &t->node[i];

		if (i < c->n_nodes && c->node[i].guid == n->guid)
			continue;
		c->node[i] = (struct ibcc_node_state){
			.guid = n->guid,
			.vendor_id = n->vendor_id,
			.device = ibcc_device_find(n->vendor_id, n->device_id),
		};
	}
	for (uint32_t i = 0; i < t->n_ports; i++) {
		uint64_t guid = t->node[t->port[i].node].guid;
		uint8_t num = t->port[i].num;

		if (i >= c->n_ports || c->port[i].guid != guid || c->port[i].num != num)
			c->port[i] = (struct ibcc_port_state){
				.guid = guid, .num = num, .errors_due = ibcc_errors_first(c, i)
			};
	}
	c->n_nodes = t->n_nodes;
	c->n_ports = t->n_ports;
	return 0;
}

/* Notes when a node's ports were read last, and how late, and when their errors are due. */
static void follow_node(struct ibcc_collector *c, const struct ibcc_topo *t, uint32_t node,
			const struct ibcc_collector *old, const struct ibcc_topo *from)
{
	const struct ibcc_topo_node *n = &t->node[node];
	uint32_t was = ibcc_topo_find_guid(from, n->guid);

	if (was >= old->n_nodes || was >= from->n_nodes)
		return;
	for (uint32_t i = 0; i <= n->n_ports && i <= from->node[was].n_ports; i++) {
		struct ibcc_port_state *p = &c->port[n->first_port + i];
		const struct ibcc_port_state *q = &old->port[from->node[was].first_port + i];

		if (q->errors_due >= old->pass)
			p->errors_due = c->pass + q->errors_due - old->pass;
		p->last_t_ns = q->last_t_ns;
		p->last_late_ns = q->last_late_ns;
	}
}

int ibcc_collector_follow(struct ibcc_collector *c, const struct ibcc_topo *t,
			  const struct ibcc_collector *old, const struct ibcc_topo *from)
{
	if (fit(c, t) < 0)
		return -ENOMEM;
	c->still = old->still;
	for (uint32_t i = 0; i < t->n_nodes && old->n_ports == from->n_ports; i++)
		follow_node(c, t, i, old, from);
	return 0;
}

uint16_t ibcc_collector_lid(const struct ibcc_topo *t, uint32_t port)
{
	const struct ibcc_topo_port *p = &t->port[port];

	return ibcc_topo_is_switch(t, p->node) ? t->port[t->node[p->node].first_port].lid : p->lid;
}

bool ibcc_collector_is_active(const struct ibcc_topo *t, uint32_t port)
{
	const struct ibcc_topo_port *p = &t->port[port];

	return p->num > 0 && p->state == 4 && ibcc_topo_has_link(t, port) &&
	       ibcc_collector_lid(t, port);
}

uint32_t ibcc_collector_first_active(const struct ibcc_topo *t, uint32_t node)
{
	const struct ibcc_topo_node *n = &t->node[node];

	for (uint32_t p = n->first_port + 1; p <= n->first_port + n->n_ports; p++) {
		if (ibcc_collector_is_active(t, p))
			return p;
	}
	return IBCC_NONE;
}

static void set_counter(struct ibcc_counters *n, enum ibcc_ctr ctr, uint8_t width, uint64_t v)
{
	n->width[ctr] = width;
	n->v[ctr] = v;
}

static void take_ext(struct ibcc_counters *n, const uint8_t *mad, bool wait)
{
	struct ibcc_pma_counters_ext e;

	ibcc_pma_counters_ext_unpack(mad, &e);
	set_counter(n, IBCC_CTR_XMIT_DATA, 64, e.PortXmitData);
	set_counter(n, IBCC_CTR_RCV_DATA, 64, e.PortRcvData);
	set_counter(n, IBCC_CTR_XMIT_PKTS, 64, e.PortXmitPkts);
	set_counter(n, IBCC_CTR_RCV_PKTS, 64, e.PortRcvPkts);
	if (wait)
		set_counter(n, IBCC_CTR_XMIT_WAIT, 64, e.PortXmitWait);
}

static void take_plain(struct ibcc_counters *n, const uint8_t *mad, bool data, bool wait)
{
	struct ibcc_pma_counters p;

	ibcc_pma_counters_unpack(mad, &p);
	if (data) {
		set_counter(n, IBCC_CTR_XMIT_DATA, 32, p.PortXmitData);
		set_counter(n, IBCC_CTR_RCV_DATA, 32, p.PortRcvData);
		set_counter(n, IBCC_CTR_XMIT_PKTS, 32, p.PortXmitPkts);
		set_counter(n, IBCC_CTR_RCV_PKTS, 32, p.PortRcvPkts);
	}
	if (wait)
		set_counter(n, IBCC_CTR_XMIT_WAIT, 32, p.PortXmitWait);
}

static void take_con(const struct ibcc_port_state *p, struct ibcc_counters *n, const uint8_t *mad)
{
	uint64_t v[2];

	ibcc_pma_array_unpack(mad, IBCC_PMA_ATTR_RCV_CON_CTRL, v);
	if (p->fecn)
		set_counter(n, IBCC_CTR_RCV_FECN, 32, v[0]);
	if (p->becn)
		set_counter(n, IBCC_CTR_RCV_BECN, 32, v[1]);
}

/* Is anything known that says what the node's PortXmitWait counts? */
static bool has_tick(const struct ibcc_node_state *n, const struct ibcc_port_state *p)
{
	return p->has_tick || n->kernel_pma || ibcc_device_default_tick(n->device) >= 0;
}

/* An answer about another port than the one asked for does not count. The mlx5 kernel driver fills
 * in the counters alone.
 */
static bool is_genuine(const struct ibcc_collector *c, const struct ibcc_topo *t,
		       const struct ibcc_mad_op *op, uint32_t port)
{
	struct ibcc_pma_select s;

	ibcc_pma_select_unpack(op->mad, IBCC_PMA_ATTR_COUNTERS_EXT, &s);
	return s.port == t->port[port].num || (!s.port && c->node[t->port[port].node].kernel_pma);
}

/* Takes an answer with counters. Data and packets make a reading; another counter that fails is
 * missing from it.
 */
static void take_counters(struct ibcc_collector *c, const struct ibcc_topo *t,
			  const struct ibcc_mad_op *op, enum ibcc_ask_kind kind, uint32_t port)
{
	struct ibcc_port_state *p = &c->port[port];
	struct ibcc_node_state *n = &c->node[t->port[port].node];
	bool main_op = kind == IBCC_ASK_EXT || (kind == IBCC_ASK_PLAIN && !n->ext);

	n->answered |= op->err == 0 || op->err == -EREMOTEIO;
	if (op->err < 0) {
		if (op->err == -EREMOTEIO && op->status == IBCC_MAD_STATUS_REDIRECT)
			n->known = false; /* ClassPortInfo will say where the node redirects to */
		if (main_op)
			p->err = op->err;
		if (kind == IBCC_ASK_CON && ibcc_batch_is_refused(op))
			ibcc_refusal_note(&p->con_refusal, c->pass);
		return;
	}
	if (!is_genuine(c, t, op, port)) {
		if (main_op)
			p->err = -EPROTO;
		if (kind == IBCC_ASK_CON)
			ibcc_refusal_note(&p->con_refusal, c->pass);
		return;
	}
	if (main_op) {
		p->got = true;
		p->t_ns = op->t_ns;
		p->late_ns = ibcc_collector_late(op);
	}
	if (kind == IBCC_ASK_EXT)
		take_ext(&p->now, op->mad, n->ext_wait && has_tick(n, p));
	else if (kind == IBCC_ASK_PLAIN)
		take_plain(&p->now, op->mad, !n->ext, n->plain_wait && has_tick(n, p));
	else
		take_con(p, &p->now, op->mad);
	if (kind == IBCC_ASK_PLAIN && p->errors_asked)
		ibcc_errors_take(p, op->mad);
	if (kind == IBCC_ASK_CON)
		p->con_refusal.wait = 0;
}

int ibcc_collector_flush(struct ibcc_collector *c, struct ibcc_transport *tr,
			 const struct ibcc_topo *t)
{
	int rc = ibcc_batch_run(&c->batch, tr);

	for (size_t k = 0; k < c->batch.n && rc == 0; k++) {
		const struct ibcc_mad_op *op = &c->batch.op[k];
		uint32_t i = c->batch.tag[k].index;
		enum ibcc_ask_kind kind = (enum ibcc_ask_kind)c->batch.tag[k].kind;

		switch (kind) {
		case IBCC_ASK_CLASS: ibcc_caps_take_class(c, op, i); break;
		case IBCC_ASK_CONTROL: ibcc_caps_take_control(c, op, i); break;
		case IBCC_ASK_LOG: ibcc_marks_take(&c->marks, i, op, c->node[i].answered); break;
		case IBCC_ASK_SUM:
		case IBCC_ASK_SUM_WAIT: ibcc_sums_take(c, op, kind, i); break;
		case IBCC_ASK_EXT:
		case IBCC_ASK_PLAIN:
		case IBCC_ASK_CON: take_counters(c, t, op, kind, i); break;
		case IBCC_ASK_ERRORS:
			if (!op->err && is_genuine(c, t, op, i))
				ibcc_errors_take(&c->port[i], op->mad);
			break;
		case IBCC_ASK_SLS: break; /* this question is never sent together with the others */
		}
	}
	ibcc_batch_clear(&c->batch);
	return rc;
}

int ibcc_collector_flush_if_full(struct ibcc_collector *c, struct ibcc_transport *tr,
				 const struct ibcc_topo *t)
{
	return c->batch.n < IBCC_BATCH_OPS ? 0 : ibcc_collector_flush(c, tr, t);
}

int ibcc_collector_add(struct ibcc_collector *c, const struct ibcc_topo *t, uint32_t port,
		       enum ibcc_ask_kind kind, uint16_t attr_id)
{
	struct ibcc_batch_tag tag = { .index = port, .kind = (uint16_t)kind };

	return ibcc_collector_pma_get(c, t, t->port[port].node, ibcc_collector_lid(t, port),
				      attr_id, t->port[port].num, tag);
}

/* Whether a port's PortCounters are read in each pass. */
static bool reads_plain(const struct ibcc_node_state *n, const struct ibcc_port_state *p)
{
	return !n->ext || (!n->ext_wait && n->plain_wait && has_tick(n, p));
}

static int add_counters(struct ibcc_collector *c, const struct ibcc_topo *t, uint32_t port)
{
	const struct ibcc_node_state *n = &c->node[t->port[port].node];
	struct ibcc_port_state *p = &c->port[port];
	int rc = 0;

	ibcc_errors_plan(c, p);
	if (n->ext)
		rc = ibcc_collector_add(c, t, port, IBCC_ASK_EXT, IBCC_PMA_ATTR_COUNTERS_EXT);
	if (rc == 0 && reads_plain(n, p))
		rc = ibcc_collector_add(c, t, port, IBCC_ASK_PLAIN, IBCC_PMA_ATTR_COUNTERS);
	if (rc == 0 && (p->fecn || p->becn) && !ibcc_topo_is_switch(t, t->port[port].node) &&
	    (!p->con_refusal.wait || ibcc_refusal_is_due(&p->con_refusal, c->pass)))
		rc = ibcc_collector_add(c, t, port, IBCC_ASK_CON, IBCC_PMA_ATTR_RCV_CON_CTRL);
	return rc;
}

static int add_node(struct ibcc_collector *c, const struct ibcc_topo *t, uint32_t node,
		    uint64_t cc_key)
{
	const struct ibcc_topo_node *n = &t->node[node];
	struct ibcc_batch_tag log = { .index = node, .kind = IBCC_ASK_LOG };
	uint32_t first = ibcc_collector_first_active(t, node);
	int rc = 0;

	if (!c->node[node].known || first == IBCC_NONE)
		return 0;
	for (uint32_t p = first; p <= n->first_port + n->n_ports && rc == 0; p++) {
		if (c->port[p].asked && !c->node[node].sum.quiet)
			rc = add_counters(c, t, p);
	}
	if (rc == 0 && ibcc_marks_wants(&c->marks, node))
		rc = ibcc_batch_cc_get(&c->batch, ibcc_collector_lid(t, first), cc_key,
				       IBCC_CC_ATTR_LOG, 0, log);
	return rc;
}

static int wave_counters(struct ibcc_collector *c, struct ibcc_transport *tr,
			 const struct ibcc_topo *t, uint64_t cc_key)
{
	int rc = 0;

	for (uint32_t i = 0; i < t->n_nodes && rc == 0; i++) {
		if (c->node[i].left_out)
			continue;
		c->node[i].answered = false;
		rc = add_node(c, t, i, cc_key);
		if (rc == 0)
			rc = ibcc_collector_flush_if_full(c, tr, t);
	}
	/* Behind all others, so that no other reading comes later for it. */
	for (uint32_t i = 0; i < t->n_ports && rc == 0; i++) {
		if (!c->port[i].errors_asked || reads_plain(&c->node[t->port[i].node], &c->port[i]))
			continue;
		rc = ibcc_collector_add(c, t, i, IBCC_ASK_ERRORS, IBCC_PMA_ATTR_COUNTERS);
		if (rc == 0)
			rc = ibcc_collector_flush_if_full(c, tr, t);
	}
	return rc < 0 ? rc : ibcc_collector_flush(c, tr, t);
}

/* Notes which nodes have no port to read in this pass. */
static void leave_out(struct ibcc_collector *c, const struct ibcc_topo *t)
{
	for (uint32_t i = 0; i < t->n_nodes; i++)
		c->node[i].left_out = c->only != NULL;
	for (uint32_t i = 0; c->only && i < t->n_ports; i++)
		if (c->only[i])
			c->node[t->port[i].node].left_out = false;
}

/* Sets the deadline: what is sent from now on must be answered within a part of the pass's time. */
static void limit(const struct ibcc_collector *c, struct ibcc_transport *tr, uint64_t from_ns,
		  unsigned int part)
{
	tr->deadline_ns = c->deadline_ns ? from_ns + c->deadline_ns / part : 0;
}

int ibcc_collector_pass(struct ibcc_collector *c, struct ibcc_transport *tr,
			const struct ibcc_topo *t, struct ibcc_snapshot *s, uint64_t cc_key,
			const struct ibcc_settings *actual)
{
	uint64_t from = ibcc_transport_now_ns(tr), end;
	int rc;

	if (s->n_ports != t->n_ports)
		return -EINVAL;
	rc = fit(c, t);
	if (rc == 0)
		leave_out(c, t);
	rc = rc < 0 ? rc : ibcc_marks_begin(&c->marks, t, actual, c->only);
	ibcc_batch_clear(&c->batch);
	/* Silence about what is only asked once must not use up the time for counters. */
	limit(c, tr, from, 4);
	if (rc == 0)
		rc = ibcc_caps_ask_classes(c, tr, t);
	limit(c, tr, from, 2);
	if (rc == 0)
		rc = ibcc_caps_ask_controls(c, tr, t);
	limit(c, tr, from, 1);
	if (rc == 0)
		rc = ibcc_sums_ask(c, tr, t, s);
	if (rc == 0)
		rc = wave_counters(c, tr, t, cc_key);
	tr->deadline_ns = 0;
	if (rc < 0)
		return rc;
	c->pass += !c->only;
	c->simulated = tr->simulated;
	end = ibcc_transport_fabric_ns(tr);
	c->still = s->pass && end <= s->t_ns ? c->still + 1 : 0;
	ibcc_sums_fill(c, t);
	ibcc_snapshot_begin_some(s, c->only);
	ibcc_collector_record(c, t, s);
	ibcc_marks_record(&c->marks, t, s);
	ibcc_snapshot_end(s, end);
	ibcc_sums_judge(c, t, s);
	return 0;
}
