/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Nodes whose ClassPortInfo redirects requests for counters to another QP or another LID (IBA
 * vol. 1, 13.4.8.1).
 */
#include <stdio.h>

#include "lib/mad/collector_state.h"

/* Why requests are not sent where a node redirects them; NULL: they are sent there, or the node
 * redirects none. A node may redirect only to itself: its answer must not make us send requests to
 * any other node, least of all requests that clear counters.
 */
static const char *refusal(const struct ibcc_topo *t, uint32_t node,
			   const struct ibcc_pma_redirect *r)
{
	uint32_t port;

	if (!r->lid)
		return r->gid ? "a GID without a LID" : NULL;
	if (r->lid > IBCC_LID_MAX)
		return "no unicast LID";
	port = ibcc_topo_port_of_lid(t, r->lid);
	if (port == IBCC_NONE)
		return "a LID that no known port has";
	if (t->port[port].node != node)
		return "a LID of another node";
	return r->q_key && r->q_key != IBCC_GSI_Q_KEY
		       ? "a Q_Key that the daemon may not use (only 0x80010000)"
		       : NULL;
}

void ibcc_collector_redirect(const struct ibcc_collector *c, const struct ibcc_topo *t,
			     uint32_t node, struct ibcc_mad_op *op)
{
	const struct ibcc_pma_redirect *r = node < c->n_nodes ? &c->node[node].redirect : NULL;

	if (!r || !r->lid || refusal(t, node, r))
		return;
	op->lid = r->lid;
	op->sl = r->sl;
	op->qp = r->qp;
	op->q_key = r->q_key;
}

int ibcc_collector_pma_get(struct ibcc_collector *c, const struct ibcc_topo *t, uint32_t node,
			   uint16_t lid, uint16_t attr_id, uint8_t port, struct ibcc_batch_tag tag)
{
	int rc = ibcc_batch_pma_get(&c->batch, lid, attr_id, port, tag);

	if (!rc)
		ibcc_collector_redirect(c, t, node, &c->batch.op[c->batch.n - 1]);
	return rc;
}

int ibcc_collector_redirect_say(const struct ibcc_collector *c, const struct ibcc_topo *t,
				uint32_t node, char *buf, size_t len)
{
	static const struct ibcc_pma_redirect none;
	const struct ibcc_pma_redirect *r =
		/* before the first pass, there is no redirection */
		node < c->n_nodes ? &c->node[node].redirect : &none;

	const char *why = refusal(t, node, r);

	if (why)
		return snprintf(buf, len,
				"%s redirects requests for its counters to an address that "
				"ibcc-tune does not use (%s): the daemon asks the node itself",
				t->node[node].desc, why);
	if (r->lid)
		return snprintf(buf, len,
				"the daemon reads the counters of %s at LID %u, QP %u, because the "
				"node redirects it there",
				t->node[node].desc, r->lid, r->qp ? r->qp : 1);
	buf[0] = '\0';
	return 0;
}
