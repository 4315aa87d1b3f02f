/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Synthetic counters: ports that send at a rate, wait a share of the time and get BECNs. */
#ifndef TEST_TRAFFIC_H
#define TEST_TRAFFIC_H

#include <string.h>

#include "fabrics.h"

#include <ibcc/snapshot.h>

#define TRAFFIC_INTERVAL_NS 1000000ull
#define TRAFFIC_TICK_PS     8000ull
#define TRAFFIC_PACKET      2074u /* bytes on the wire */

/* A port's load until a test changes it. */
struct traffic_port {
	uint32_t mbps;
	uint16_t wait_permille;
	uint32_t becn, fecn; /* in each interval */
	bool silent;         /* does not answer */
	bool unmeasured;     /* the unit of its waits is unknown */
};

struct traffic {
	const struct ibcc_topo *t;
	struct ibcc_snapshot s;
	uint64_t now_ns;
	uint64_t late_ns; /* readings are taken this much later than they are dated */
	struct traffic_port port[256];
	uint32_t rcv_mbps[256]; /* by port: the rate that comes in */
	struct ibcc_counters ctr[256];
};

static inline void traffic_init(struct traffic *tr, const struct ibcc_topo *t)
{
	memset(tr, 0, sizeof(*tr));
	assert_true(t->n_ports <= 256);
	tr->t = t;
	assert_int_equal(ibcc_snapshot_init(&tr->s, t), 0);
	for (uint32_t i = 0; i < t->n_ports; i++)
		memset(tr->ctr[i].width, 64, sizeof(tr->ctr[i].width));
}

/* Makes one interval of the present loads, in which only some ports are read (NULL: all). */
static inline void traffic_pass_some(struct traffic *tr, const bool *only)
{
	tr->now_ns += TRAFFIC_INTERVAL_NS;
	ibcc_snapshot_begin_some(&tr->s, only);
	for (uint32_t i = 0; i < tr->t->n_ports; i++) {
		const struct traffic_port *p = &tr->port[i];
		struct ibcc_counters *c = &tr->ctr[i];
		uint64_t bytes = p->mbps * (TRAFFIC_INTERVAL_NS / 1000) / 8;

		if (!tr->t->port[i].num || !ibcc_topo_has_link(tr->t, i))
			continue;
		c->t_ns = tr->now_ns + tr->late_ns;
		c->v[IBCC_CTR_XMIT_DATA] += bytes / 4;
		c->v[IBCC_CTR_XMIT_PKTS] += bytes / TRAFFIC_PACKET;
		c->v[IBCC_CTR_XMIT_WAIT] +=
			TRAFFIC_INTERVAL_NS * p->wait_permille / TRAFFIC_TICK_PS;
		c->v[IBCC_CTR_RCV_DATA] += tr->rcv_mbps[i] * (TRAFFIC_INTERVAL_NS / 1000) / 32;
		c->v[IBCC_CTR_RCV_BECN] += p->becn;
		c->v[IBCC_CTR_RCV_FECN] += p->fecn;
		if (only && !only[i])
			continue;
		if (p->silent)
			ibcc_snapshot_miss(&tr->s, i, -110);
		else
			ibcc_snapshot_record(&tr->s, i, c, p->unmeasured ? 0 : TRAFFIC_TICK_PS);
	}
	ibcc_snapshot_end(&tr->s, tr->now_ns);
}

static inline void traffic_pass(struct traffic *tr)
{
	traffic_pass_some(tr, NULL);
}

static inline struct traffic_port *traffic_at(struct traffic *tr, uint32_t node, unsigned int num)
{
	return &tr->port[fabric_port(tr->t, node, num)];
}

static inline uint16_t traffic_lid(const struct traffic *tr, uint32_t node)
{
	return tr->t->port[fabric_port(tr->t, node, 1)].lid;
}

/* A switch logged n packets as marked since the last pass. */
static inline void traffic_log(struct traffic *tr, uint32_t node, uint16_t slid, uint16_t dlid,
			       unsigned int n)
{
	const struct ibcc_mark m = { .node = node, .slid = slid, .dlid = dlid };

	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(ibcc_snapshot_mark(&tr->s, &m), 0);
}

/* The Lustre fabric without control. Four sources share what the slow sink takes, and the rest of
 * the first switch's link to the second stays unused (P. Huang and A. Chu: 626 of 4000 MB/s each).
 */
static inline void traffic_lustre_off(struct traffic *tr)
{
	for (unsigned int i = 0; i < 4; i++)
		*traffic_at(tr, LUSTRE_SRC1 + i, 1) =
			(struct traffic_port){ .mbps = 4987, .wait_permille = 844 };
	*traffic_at(tr, LUSTRE_SW1, 5) =
		(struct traffic_port){ .mbps = 19947, .wait_permille = 377 };
	*traffic_at(tr, LUSTRE_SW2, 1) =
		(struct traffic_port){ .mbps = 14960, .wait_permille = 532 };
	*traffic_at(tr, LUSTRE_SW2, 2) = (struct traffic_port){ .mbps = 4987 };
}

/* The ideal: the slow sink is as busy as before, and src4 has the rest of the link between the
 * switches.
 */
static inline void traffic_lustre_tuned(struct traffic *tr)
{
	for (unsigned int i = 0; i < 3; i++)
		*traffic_at(tr, LUSTRE_SRC1 + i, 1) =
			(struct traffic_port){ .mbps = 4987, .wait_permille = 10, .becn = 80 };
	*traffic_at(tr, LUSTRE_SRC4, 1) =
		(struct traffic_port){ .mbps = 17040, .wait_permille = 467 };
	*traffic_at(tr, LUSTRE_SW1, 5) = (struct traffic_port){ .mbps = 32000 };
	*traffic_at(tr, LUSTRE_SW2, 1) =
		(struct traffic_port){ .mbps = 14960, .wait_permille = 530 };
	*traffic_at(tr, LUSTRE_SW2, 2) = (struct traffic_port){ .mbps = 17040 };
}

#endif
