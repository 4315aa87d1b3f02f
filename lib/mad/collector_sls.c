/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which SLs some ports send on, by PortXmitDataSL (IBA vol. 1, annex A13). No capability bit
 * announces this attribute. So it is asked for, and an answer counts if it is about the port and
 * has counted anything.
 */
#include <errno.h>
#include <string.h>

#include <ibcc/collect.h>
#include <ibcc/pma.h>

#include "lib/mad/collector_state.h"

/* An SL with less than one part in USED_SHARE of what a port sends does not congest the port. MADs
 * use an SL, too.
 */
#define USED_SHARE 50u
/* The percentage of what a port sent that has to be found among its SLs: at first, and once it was
 * found. The two are not read at the same time.
 */
#define AT_FIRST 80u
#define STILL    50u
/* If an answer is lost, what was known stays valid for this many passes. */
#define KEPT_PASSES 3u

#define HALF_RANGE (UINT32_C(1) << 31)
#define ALL_SLS    0xffffu /* of CounterSelect */

/* Finds which SLs a port sent on since the reading before. If the SLs do not add up to what was
 * sent, not all of them are counted: some devices count them in groups, not all of which are on.
 * Counters at their end have counted at least as much as they show, so a missing part says nothing
 * then. False: the SLs are not known.
 */
static bool judge(struct ibcc_port_state *p, const uint64_t *now, uint64_t sent)
{
	uint64_t grown[IBCC_PMA_SLS], total = 0;
	bool full = false, enough;

	for (unsigned int i = 0; i < IBCC_PMA_SLS; i++) {
		grown[i] = now[i] >= p->sl_words[i] ? now[i] - p->sl_words[i] : now[i];
		total += grown[i];
		full |= now[i] >= UINT32_MAX;
	}
	enough = total * 100 >= sent * (p->sls_add_up ? STILL : AT_FIRST);
	if (sent && (!full || enough))
		p->sls_add_up = enough;
	if (!p->sls_add_up || (!total && !full))
		return p->sls_add_up;
	if (sent > total)
		total = sent;
	p->sls = 0;
	for (unsigned int i = 0; i < IBCC_PMA_SLS; i++)
		if (now[i] >= UINT32_MAX || grown[i] * USED_SHARE >= total)
			p->sls |= (uint16_t)(1u << i);
	return true;
}

/* Takes the answer about a port's SLs. */
static void take(struct ibcc_collector *c, const struct ibcc_topo *t, const struct ibcc_mad_op *op,
		 uint32_t port, const struct ibcc_delta *d)
{
	struct ibcc_port_state *p = &c->port[port];
	struct ibcc_refusal *refusal = &c->node[t->port[port].node].sl_refusal;
	uint64_t v[IBCC_PMA_SLS] = { 0 }, sum = 0;
	struct ibcc_pma_select s = { 0 };

	if (!op->err) {
		ibcc_pma_select_unpack(op->mad, IBCC_PMA_ATTR_XMIT_DATA_SL, &s);
		ibcc_pma_array_unpack(op->mad, IBCC_PMA_ATTR_XMIT_DATA_SL, v);
	}
	for (unsigned int i = 0; i < IBCC_PMA_SLS; i++)
		sum += v[i];
	if (s.port != p->num || !sum) {
		if (refusal->due <= c->pass)
			ibcc_refusal_note(refusal, c->pass);
		return;
	}
	refusal->wait = 0;
	if (!p->sl_pass ||
	    !judge(p, v, ibcc_delta_exact(d, IBCC_CTR_XMIT_DATA) ? d->v[IBCC_CTR_XMIT_DATA] : 0))
		p->sls = 0;
	p->sl_pass = c->pass;
	for (unsigned int i = 0; i < IBCC_PMA_SLS; i++)
		p->sl_words[i] = (uint32_t)v[i];
}

int ibcc_collector_read_sls(struct ibcc_collector *c, struct ibcc_transport *tr,
			    const struct ibcc_topo *t, const struct ibcc_snapshot *s,
			    const uint32_t *port, uint32_t n, uint16_t *sls)
{
	int rc = c->n_ports == t->n_ports && s->n_ports == t->n_ports ? 0 : -EINVAL;

	ibcc_batch_clear(&c->batch);
	for (uint32_t i = 0; i < n && !rc; i++) {
		const struct ibcc_refusal *r = &c->node[t->port[port[i]].node].sl_refusal;

		if (s->port[port[i]].state != IBCC_SAMPLE_KEPT &&
		    (!r->wait || ibcc_refusal_is_due(r, c->pass)))
			rc = ibcc_collector_add(c, t, port[i], IBCC_ASK_SLS,
						IBCC_PMA_ATTR_XMIT_DATA_SL);
	}
	if (!rc)
		rc = ibcc_batch_run(&c->batch, tr);
	for (size_t k = 0; k < c->batch.n && !rc; k++)
		take(c, t, &c->batch.op[k], c->batch.tag[k].index,
		     &s->port[c->batch.tag[k].index].delta);
	ibcc_batch_clear(&c->batch);
	for (uint32_t i = 0; i < n && !rc; i++) {
		const struct ibcc_port_state *p = &c->port[port[i]];

		sls[i] = p->sl_pass && c->pass - p->sl_pass <= KEPT_PASSES ? p->sls : 0;
	}
	return rc;
}

/* Whether a counter of a port's SLs is more than half full. */
static bool is_filling(const struct ibcc_collector *c, uint32_t port)
{
	const struct ibcc_port_state *p = &c->port[port];

	for (unsigned int i = 0; p->sl_pass == c->pass && i < IBCC_PMA_SLS; i++)
		if (p->sl_words[i] >= HALF_RANGE)
			return true;
	return false;
}

int ibcc_collector_clear_sls(struct ibcc_collector *c, struct ibcc_transport *tr,
			     const struct ibcc_topo *t, const uint32_t *port, uint32_t n)
{
	int rc = c->n_ports == t->n_ports ? 0 : -EINVAL;

	ibcc_batch_clear(&c->batch);
	for (uint32_t i = 0; i < n && !rc; i++) {
		const struct ibcc_pma_select all = { .port = c->port[port[i]].num,
						     .counters = ALL_SLS };
		uint8_t *mad;

		if (!is_filling(c, port[i]))
			continue;
		rc = ibcc_collector_add(c, t, port[i], IBCC_ASK_SLS, IBCC_PMA_ATTR_XMIT_DATA_SL);
		if (rc)
			break;
		mad = c->batch.op[c->batch.n - 1].mad;
		ibcc_mad_request(mad, IBCC_MAD_CLASS_PERF, IBCC_MAD_SET, IBCC_PMA_ATTR_XMIT_DATA_SL,
				 0);
		ibcc_pma_select_pack(mad, IBCC_PMA_ATTR_XMIT_DATA_SL, &all);
	}
	if (!rc)
		rc = ibcc_batch_run(&c->batch, tr);
	for (size_t k = 0; k < c->batch.n && !rc; k++)
		if (!c->batch.op[k].err)
			memset(c->port[c->batch.tag[k].index].sl_words, 0,
			       sizeof(c->port[0].sl_words));
	ibcc_batch_clear(&c->batch);
	return rc;
}
