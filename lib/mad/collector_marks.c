/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which packets switches have marked since the pass before, from their CongestionLogs
 * (collector_marks.h).
 *
 * A log holds the last few packets that a switch marked, however long ago, each with its time.
 * Only the node's own clock says what is new: an entry is later than the previous reading of the
 * log, and its time fits between those of its neighbours. Where that ends, the rest is not part
 * of the log: ibsim returns garbage beyond byte 224 of a datagram, and nothing else in the answer
 * shows that.
 */
#include "lib/mad/collector_marks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/ccmad.h>

#include "lib/mad/batch.h"

void ibcc_marks_fini(struct ibcc_mark_logs *m)
{
	free(m->node);
	free(m->mark);
	*m = (struct ibcc_mark_logs){ 0 };
}

/* Makes room for t's nodes, and for all that its switches can log. */
static int make_room(struct ibcc_mark_logs *m, const struct ibcc_topo *t)
{
	uint32_t cap = 0;
	void *v;

	for (uint32_t i = 0; i < t->n_nodes; i++)
		cap += ibcc_topo_is_switch(t, i) ? IBCC_CC_LOG_SWITCH_ENTRIES : 0;
	if (!m->node || m->n_nodes != t->n_nodes) {
		v = reallocarray(m->node, t->n_nodes ? t->n_nodes : 1, sizeof(*m->node));
		if (!v)
			return -ENOMEM;
		m->node = v;
		if (t->n_nodes > m->n_nodes)
			memset(m->node + m->n_nodes, 0,
			       (t->n_nodes - m->n_nodes) * sizeof(*m->node));
		m->n_nodes = t->n_nodes;
	}
	if (!m->mark || m->cap != cap) {
		v = reallocarray(m->mark, cap ? cap : 1, sizeof(*m->mark));
		if (!v)
			return -ENOMEM;
		m->mark = v;
		m->cap = cap;
	}
	return 0;
}

/* Whether a switch may have logged something: it marks, or it has nothing but the log and has not
 * been silent to the class, as it would be to a wrong CC_Key.
 */
static bool may_log(const struct ibcc_topo *t, uint32_t node, const struct ibcc_settings *actual)
{
	const struct ibcc_topo_node *sw = &t->node[node];
	uint32_t ep = t->port[sw->first_port].endport;

	if (ep >= actual->n)
		return false;
	if (actual->ep[ep].support == IBCC_CC_LOG_ONLY)
		return actual->ep[ep].answer != IBCC_CC_NO_ANSWER;
	for (unsigned int num = 1; num <= sw->n_ports; num++) {
		if (ibcc_settings_port_marks(&actual->ep[ep], num))
			return true;
	}
	return false;
}

/* Whether a pass that reads the ports `only` (NULL: all) reads some of a node. */
static bool is_among(const struct ibcc_topo *t, uint32_t node, const bool *only)
{
	const struct ibcc_topo_node *n = &t->node[node];
	bool any = !only;

	for (uint32_t p = n->first_port; !any && p <= n->first_port + n->n_ports; p++)
		any = only[p];
	return any;
}

static bool may_ask(const struct ibcc_mark_logs *m, const struct ibcc_node_log *n)
{
	return ibcc_ask_in_pass(m->pass, n->tries) &&
	       (!n->refusal.wait || ibcc_refusal_is_due(&n->refusal, m->pass));
}

void ibcc_marks_ask_again(struct ibcc_mark_logs *m)
{
	for (uint32_t i = 0; i < m->n_nodes; i++) {
		m->node[i].tries = 0;
		m->node[i].refusal.due = 0;
	}
}

int ibcc_marks_begin(struct ibcc_mark_logs *m, const struct ibcc_topo *t,
		     const struct ibcc_settings *actual, const bool *only)
{
	m->pass += !only;
	m->n_marks = 0;
	if (make_room(m, t) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		struct ibcc_node_log *n = &m->node[i];

		if (n->guid != t->node[i].guid)
			*n = (struct ibcc_node_log){ .guid = t->node[i].guid };
		n->maps = false;
		n->wanted = actual && ibcc_topo_is_switch(t, i) && may_ask(m, n) &&
			    is_among(t, i, only) && may_log(t, i, actual);
	}
	return 0;
}

/* Takes the entries that are later than `from`, newest first. Times are counted from there, so a
 * wrap does not matter. */
static void take_new(struct ibcc_mark_logs *m, uint32_t node, const struct ibcc_cc_log *log,
		     uint32_t from)
{
	uint32_t newest = log->u.sw.CurrentTimeStamp - from;

	for (unsigned int i = 0; i < IBCC_CC_LOG_SWITCH_ENTRIES && m->n_marks < m->cap; i++) {
		uint32_t slid = log->u.sw.entry[i].SLID, dlid = log->u.sw.entry[i].DLID;
		uint32_t since = log->u.sw.entry[i].TimeStamp - from;

		if (!slid || !dlid || !since || since > newest)
			return;
		newest = since;
		m->mark[m->n_marks++] = (struct ibcc_mark){
			.node = node,
			.slid = (uint16_t)slid,
			.dlid = (uint16_t)dlid,
			.sl = log->u.sw.entry[i].SL,
		};
	}
}

static bool is_empty(const struct ibcc_cc_port_mask *map)
{
	for (unsigned int i = 0; i < sizeof(map->byte); i++)
		if (map->byte[i])
			return false;
	return true;
}

/* Takes the map of ports that marked. A switch whose map was always empty, or is empty beside new
 * packets, keeps no map. */
static void take_map(struct ibcc_node_log *n, const struct ibcc_cc_port_mask *map, bool any_new)
{
	n->map = *map;
	if (!is_empty(map))
		n->keeps_map = true;
	else if (any_new)
		n->keeps_map = false;
	n->maps = n->keeps_map;
}

void ibcc_marks_take(struct ibcc_mark_logs *m, uint32_t node, const struct ibcc_mad_op *op,
		     bool heard)
{
	struct ibcc_node_log *n = &m->node[node];
	struct ibcc_cc_log log;
	uint32_t n_marks;
	bool follows;

	if (ibcc_batch_is_refused(op)) {
		ibcc_refusal_note(&n->refusal, m->pass);
		return;
	}
	if (op->err < 0) {
		n->tries += heard && n->tries < IBCC_ASK_TRIES;
		return;
	}
	n->tries = 0;
	if (ibcc_cc_log_unpack(op->mad, &log) < 0 || log.LogType != IBCC_CC_LOG_SWITCH) {
		ibcc_refusal_note(&n->refusal, m->pass);
		return;
	}
	n->refusal.wait = 0;
	/* Marks since a reading long ago are not recent ones. Nor can times be compared if the
	 * node's clock has restarted, which looks like more than half a round of the clock.
	 */
	follows = n->pass && m->pass - n->pass <= IBCC_ASK_TRIES &&
		  log.u.sw.CurrentTimeStamp - n->ts <= INT32_MAX;
	if (follows) {
		n_marks = m->n_marks;
		take_new(m, node, &log, n->ts);
		take_map(n, &log.u.sw.PortMap, m->n_marks > n_marks);
	}
	n->pass = m->pass;
	n->ts = log.u.sw.CurrentTimeStamp;
}

static void record_map(const struct ibcc_node_log *n, const struct ibcc_topo_node *sw,
		       struct ibcc_snapshot *s)
{
	for (unsigned int num = 1; num <= sw->n_ports; num++)
		s->port[sw->first_port + num].marked =
			ibcc_cc_mask_test(&n->map, num) ? IBCC_MARKED_SOME : IBCC_MARKED_NONE;
}

void ibcc_marks_record(const struct ibcc_mark_logs *m, const struct ibcc_topo *t,
		       struct ibcc_snapshot *s)
{
	for (uint32_t i = 0; i < m->n_nodes; i++)
		if (m->node[i].maps)
			record_map(&m->node[i], &t->node[i], s);
	for (uint32_t i = 0; i < m->n_marks; i++) {
		/* Marks are a sample: if memory is short, some are missing. */
		if (ibcc_snapshot_mark(s, &m->mark[i]) < 0)
			return;
	}
}
