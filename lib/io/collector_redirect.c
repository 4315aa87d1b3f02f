/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Nodes whose ClassPortInfo says that their counters are to be had elsewhere (IBA vol.
 * 1, 13.4.8.1): at another QP, or another LID.
 */
#include <stdio.h>

#include "lib/io/collector_state.h"

static bool is_followed(const struct ibcc_pma_redirect *r)
{
	return r->lid && r->lid <= IBCC_LID_MAX;
}

void ibcc_collector_redirect(const struct ibcc_collector *c, uint32_t node, struct ibcc_mad_op *op)
{
	const struct ibcc_pma_redirect *r;

	if (node >= c->n_nodes || !is_followed(&c->node[node].redirect))
		return;
	r = &c->node[node].redirect;
	op->lid = r->lid;
	op->sl = r->sl;
	op->qp = r->qp;
	op->q_key = r->q_key;
}

int ibcc_collector_pma_get(struct ibcc_collector *c, uint32_t node, uint16_t lid, uint16_t attr_id,
			   uint8_t port, struct ibcc_batch_tag tag)
{
	int rc = ibcc_batch_pma_get(&c->batch, lid, attr_id, port, tag);

	if (!rc)
		ibcc_collector_redirect(c, node, &c->batch.op[c->batch.n - 1]);
	return rc;
}

int ibcc_collector_redirect_say(const struct ibcc_collector *c, const struct ibcc_topo *t,
				uint32_t node, char *buf, size_t len)
{
	static const struct ibcc_pma_redirect none;
	const struct ibcc_pma_redirect *r =
		node < c->n_nodes ? &c->node[node].redirect : &none; /* no pass yet */

	if (is_followed(r))
		return snprintf(
			buf, len,
			"counters of %s are read at LID %u, QP %u, to where it redirects them",
			t->node[node].desc, r->lid, r->qp ? r->qp : 1);
	if (r->lid || r->gid)
		return snprintf(
			buf, len,
			"%s redirects requests for its counters to where they cannot be sent "
			"(%s): it is asked itself",
			t->node[node].desc, r->lid ? "no unicast LID" : "a GID without a LID");
	buf[0] = '\0';
	return 0;
}
