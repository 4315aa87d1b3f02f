/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Clears counters of 32 bits before they stop at their end: at 4X QDR, PortXmitData does after 9
 * seconds of a full link.
 */
#include <errno.h>

#include <ibcc/collect.h>
#include <ibcc/pma.h>

#include "lib/mad/collector_state.h"

#define HALF_RANGE (UINT64_C(1) << 31)

/* Bits of PortCounters' and PortRcvConCtrl's CounterSelect, and of CounterSelect2 (IBA vol. 1,
 * 16.1.3.5, annex A10).
 */
static const struct {
	enum ibcc_ctr ctr;
	uint16_t attr_id;
	uint16_t select;
	uint8_t select2;
} counters[] = {
	{ IBCC_CTR_XMIT_DATA, IBCC_PMA_ATTR_COUNTERS, 1u << 12, 0 },
	{ IBCC_CTR_RCV_DATA, IBCC_PMA_ATTR_COUNTERS, 1u << 13, 0 },
	{ IBCC_CTR_XMIT_PKTS, IBCC_PMA_ATTR_COUNTERS, 1u << 14, 0 },
	{ IBCC_CTR_RCV_PKTS, IBCC_PMA_ATTR_COUNTERS, 1u << 15, 0 },
	{ IBCC_CTR_XMIT_WAIT, IBCC_PMA_ATTR_COUNTERS, 0, 1 },
	{ IBCC_CTR_RCV_FECN, IBCC_PMA_ATTR_RCV_CON_CTRL, 1u << 0, 0 },
	{ IBCC_CTR_RCV_BECN, IBCC_PMA_ATTR_RCV_CON_CTRL, 1u << 1, 0 },
};
#define N_COUNTERS (sizeof(counters) / sizeof(counters[0]))

static bool is_full(const struct ibcc_port_sample *s, enum ibcc_ctr c)
{
	return s->state == IBCC_SAMPLE_FRESH && s->now.width[c] == 32 && s->now.v[c] >= HALF_RANGE;
}

static int add_clear(const struct ibcc_collector *c, struct ibcc_batch *b,
		     const struct ibcc_topo *t, const struct ibcc_snapshot *s, uint32_t port,
		     uint16_t attr_id)
{
	struct ibcc_batch_tag tag = { .index = port, .kind = attr_id };
	struct ibcc_pma_select select = { .port = t->port[port].num };
	struct ibcc_mad_op *op;

	for (size_t i = 0; i < N_COUNTERS; i++) {
		if (counters[i].attr_id != attr_id || !is_full(&s->port[port], counters[i].ctr))
			continue;
		select.counters |= counters[i].select;
		select.counters2 |= counters[i].select2;
	}
	if (!select.counters && !select.counters2)
		return 0;
	op = ibcc_batch_add(b, ibcc_collector_lid(t, port), tag);
	if (!op)
		return -ENOMEM;
	ibcc_collector_redirect(c, t, t->port[port].node, op);
	ibcc_mad_request(op->mad, IBCC_MAD_CLASS_PERF, IBCC_MAD_SET, attr_id, 0);
	ibcc_pma_select_pack(op->mad, attr_id, &select);
	return 0;
}

/* A port's counters have been cleared: the next difference counts from 0. What the port counted
 * between reading and clearing is lost, which is little beside an interval.
 */
static void count_from_zero(struct ibcc_port_sample *s, uint16_t attr_id)
{
	for (size_t i = 0; i < N_COUNTERS; i++)
		if (counters[i].attr_id == attr_id && is_full(s, counters[i].ctr))
			s->now.v[counters[i].ctr] = 0;
}

int ibcc_collector_clear_full(const struct ibcc_collector *c, struct ibcc_transport *tr,
			      const struct ibcc_topo *t, struct ibcc_snapshot *s,
			      uint32_t *n_cleared)
{
	struct ibcc_batch b = { 0 };
	uint32_t n = 0;
	int rc = 0;

	for (uint32_t i = 0; i < t->n_ports && i < s->n_ports && rc == 0; i++) {
		rc = add_clear(c, &b, t, s, i, IBCC_PMA_ATTR_COUNTERS);
		if (rc == 0)
			rc = add_clear(c, &b, t, s, i, IBCC_PMA_ATTR_RCV_CON_CTRL);
	}
	if (rc == 0)
		rc = ibcc_batch_run(&b, tr);
	for (size_t k = 0; k < b.n && rc == 0; k++) {
		if (b.op[k].err)
			continue;
		count_from_zero(&s->port[b.tag[k].index], b.tag[k].kind);
		n++;
	}
	ibcc_batch_fini(&b);
	if (rc == 0)
		*n_cleared = n;
	return rc;
}
