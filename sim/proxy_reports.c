/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reports of traps (SA, method Report) from a client that is a subnet manager to one that has
 * subscribed. ibsim would hand them to subnet managers only, so they go from client to client
 * here, and so do their answers.
 */
#include <arpa/inet.h>

#include <ibcc/notice.h>

#include "sim/proxy_state.h"

#define ATTR_INFORM_INFO 0x0003u
#define SUBSCRIBE        (56u + 23u) /* place of InformInfo:Subscribe in the datagram */

static uint16_t lid_of(const struct client *c)
{
	return c->p->ops.lid(c->p->ops.arg, ibcc_upstream_node_guid(c->slot));
}

/* A client that has subscribed to reports, at the host with a LID. */
static struct client *subscriber(const struct ibcc_proxy *p, uint16_t lid)
{
	struct client *c;

	for (c = TAILQ_FIRST(&p->clients); c; c = TAILQ_NEXT(c, link))
		if (c->slot && c->informed && lid_of(c) == lid)
			return c;
	return NULL;
}

/* Hands a report to the client that has subscribed at the report's destination LID. There is at
 * most one such client, since on a real host, too, only one program can receive reports.
 */
static bool hand_over(struct client *from, const struct ibcc_wire_mad *m)
{
	struct client *to = subscriber(from->p, ntohs((uint16_t)m->dlid));
	struct ibcc_wire_mad out;

	if (!to || ibcc_upstream_expect(from->p->u, m, ibcc_proxy_answer, from, &out))
		return false;
	out.slid = htons(lid_of(from));
	ibcc_proxy_send(to, &out);
	return true;
}

bool ibcc_proxy_report(struct client *c, const struct ibcc_wire_mad *m)
{
	struct ibcc_mad_header h;
	uint16_t trap;

	ibcc_mad_header_unpack(m->mad, &h);
	if (h.method == IBCC_MAD_TRAP_REPRESS) { /* ibsim would throw the answer away */
		ibcc_upstream_answered(c->p->u, m);
		return true;
	}
	if (h.mgmt_class != IBCC_MAD_CLASS_SA)
		return false;
	if (h.method == IBCC_MAD_SET && h.attr_id == ATTR_INFORM_INFO)
		c->informed = m->mad[SUBSCRIBE] == 1;
	if (h.method == IBCC_MAD_REPORT_RESP) {
		ibcc_upstream_answered(c->p->u, m);
		return true;
	}
	return ibcc_notice_report(m->mad, &trap) && hand_over(c, m);
}
