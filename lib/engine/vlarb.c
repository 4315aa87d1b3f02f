/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* VL arbitration of the outputs of switches and channel adapters by two tables (IBA vol. 1,
 * 7.6.9).
 *
 * A table is gone through in turn. An entry may send as long as it has weight left; the packet
 * that uses up the weight is sent whole. The table of high priority goes first, until it has sent
 * its limit (in units of 4096 bytes; 0: one packet; 255: no limit) while the low one had packets.
 * Then the low table may send one packet. VLs in neither table do not send.
 */
#include "vlarb.h"

#include <errno.h>
#include <stdlib.h>

#define LIMIT_BYTES 4096
#define NO_LIMIT    255

struct vlarb_table_state {
	uint8_t at;
	int32_t left; /* blocks */
};

struct vlarb_port {
	struct vlarb_table_state high, low;
	int32_t high_left; /* bytes */
};

static bool table_valid(const struct ibcc_vlarb_table *t, unsigned int vls)
{
	if (t->n > IBCC_VLARB_ENTRIES)
		return false;
	for (unsigned int i = 0; i < t->n; i++)
		if (t->entry[i].vl >= vls)
			return false;
	return true;
}

bool ibcc_vlarb_valid(const struct ibcc_model *m)
{
	const struct ibcc_vlarb *a = &m->vlarb;
	uint16_t served = 0;

	if (!a->high.n && !a->low.n)
		return true;
	if (!table_valid(&a->high, m->vls) || !table_valid(&a->low, m->vls))
		return false;
	for (unsigned int i = 0; i < a->high.n; i++)
		served |= (uint16_t)(!!a->high.entry[i].weight << a->high.entry[i].vl);
	for (unsigned int i = 0; i < a->low.n; i++)
		served |= (uint16_t)(!!a->low.entry[i].weight << a->low.entry[i].vl);
	return served == (1u << m->vls) - 1;
}

static int32_t high_limit(const struct ibcc_engine *e)
{
	unsigned int limit = e->model.vlarb.high_limit;

	return limit ? (int32_t)limit * LIMIT_BYTES : 1;
}

int ibcc_vlarb_build(struct ibcc_engine *e)
{
	if (!e->model.vlarb.high.n && !e->model.vlarb.low.n)
		return 0;
	e->vlarb = calloc(e->n_ports + 1u, sizeof(*e->vlarb));
	if (!e->vlarb)
		return -ENOMEM;
	for (uint32_t i = 0; i < e->n_ports; i++)
		e->vlarb[i].high_left = high_limit(e);
	return 0;
}

static uint32_t send_vl(struct ibcc_engine *e, uint32_t port, unsigned int vl)
{
	return port_of(e, port)->flags & PORT_SWITCH ? ibcc_fab_switch_send_vl(e, port, vl)
						     : ibcc_fab_hca_send_vl(e, port, vl);
}

/* Bytes sent of the entry whose turn it is; 0 if no entry can send. */
static uint32_t table_send(struct ibcc_engine *e, uint32_t port, const struct ibcc_vlarb_table *t,
			   struct vlarb_table_state *s)
{
	const struct vlarb_table_state was = *s;

	/* Once around and back to the first entry, which then has new weight. */
	for (unsigned int i = 0; i <= t->n && t->n; i++) {
		uint32_t bytes = s->left > 0 ? send_vl(e, port, t->entry[s->at].vl) : 0;

		if (bytes) {
			s->left -= (int32_t)((bytes + IBCC_LINK_CREDIT_BYTES - 1) /
					     IBCC_LINK_CREDIT_BYTES);
			return bytes;
		}
		s->at = (uint8_t)(s->at + 1 < t->n ? s->at + 1 : 0);
		s->left = t->entry[s->at].weight;
	}
	*s = was; /* how often a port looks in vain must not matter */
	return 0;
}

void ibcc_vlarb_send(struct ibcc_engine *e, uint32_t port)
{
	const struct ibcc_vlarb *a = &e->model.vlarb;
	struct vlarb_port *s = &e->vlarb[port];
	uint32_t sent;

	if (s->high_left > 0) {
		sent = table_send(e, port, &a->high, &s->high);
		if (sent) {
			s->high_left -= a->high_limit == NO_LIMIT ? 0 : (int32_t)sent;
			return;
		}
	}
	sent = table_send(e, port, &a->low, &s->low);
	if (!sent && s->high_left <= 0)
		sent = table_send(e, port, &a->high, &s->high);
	if (sent)
		s->high_left = high_limit(e);
}
