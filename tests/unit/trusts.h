/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Readings of exactly known traffic, taken at the two ends of each link at different times. Some
 * ports report true counters and others do not.
 */
#ifndef TEST_TRUSTS_H
#define TEST_TRUSTS_H

#include <string.h>

#include "draws.h"
#include "fabrics.h"

#include <ibcc/snapshot.h>

#define SLOT_NS     1000000ull
#define SLOTS       4u /* slots in an interval */
#define INTERVAL_NS (SLOTS * SLOT_NS)
#define SLOT_BYTES  4000000u /* bytes that a link of 32 Gb/s carries in a slot */
#define PACKET      2000u
#define MAX_SLOTS   4000u
#define MAX_PORTS   64u

/* What a port reports, as shares of the true values, in permille. */
struct tells {
	uint32_t sent, received, packets;
	uint32_t wait_permille; /* share of the interval, whatever is sent */
	uint32_t fecn_permille; /* share of the packets that came */
	bool silent, lacks_counters;
};

struct fabric {
	struct ibcc_topo *t;
	struct ibcc_snapshot s;
	uint64_t sum[MAX_PORTS]
		    [MAX_SLOTS + 1]; /* bytes that a port has sent by the beginning of a slot */
	struct tells tells[MAX_PORTS];
	/* time after the beginning of an interval at which a port is read */
	uint32_t read_ns[MAX_PORTS];
	struct ibcc_counters ctr[MAX_PORTS];
	uint64_t seen[MAX_PORTS][2]; /* true bytes at the reading before */
	unsigned int n;              /* passes */
	const bool *only;            /* by port: what passes read; NULL: all */
};

static uint32_t rng;

static inline bool is_linked(const struct fabric *w, uint32_t port)
{
	return w->t->port[port].num && w->t->port[port].peer != IBCC_NONE;
}

/* Each link sends `permille` of its rate in all slots; with 0, each slot is randomly full or empty.
 */
static inline void fill(struct fabric *w, uint32_t permille)
{
	for (uint32_t i = 0; i < w->t->n_ports; i++)
		for (unsigned int k = 0; k < MAX_SLOTS && is_linked(w, i); k++)
			w->sum[i][k + 1] = w->sum[i][k] + (permille ? SLOT_BYTES / 1000 * permille
							   : draw(&rng) % 2 ? SLOT_BYTES
									    : 0);
}

/* Makes a fabric in which all links send at this rate. */
static inline void open_fabric(struct fabric *w, uint32_t permille)
{
	memset(w, 0, sizeof(*w));
	rng = 4711;
	w->t = fabric_lustre();
	assert_true(w->t->n_ports <= MAX_PORTS);
	assert_int_equal(ibcc_snapshot_init(&w->s, w->t), 0);
	for (uint32_t i = 0; i < w->t->n_ports; i++) {
		w->tells[i] = (struct tells){ .sent = 1000, .received = 1000, .packets = 1000 };
		memset(w->ctr[i].width, 64, sizeof(w->ctr[i].width));
		w->read_ns[i] = 100; /* no reading at time 0 */
	}
	fill(w, permille);
}

static inline void close_fabric(struct fabric *w)
{
	ibcc_snapshot_fini(&w->s);
	ibcc_topo_free(w->t);
}

/* Bytes that a port has sent by a given time. */
static inline uint64_t sent_by(const struct fabric *w, uint32_t port, uint64_t ns)
{
	uint64_t slot = ns / SLOT_NS;
	const uint64_t *sum = w->sum[port];

	assert_true(slot < MAX_SLOTS);
	return sum[slot] + (sum[slot + 1] - sum[slot]) * (ns % SLOT_NS) / SLOT_NS;
}

static inline void read_port(struct fabric *w, uint32_t port)
{
	const struct tells *tell = &w->tells[port];
	struct ibcc_counters *c = &w->ctr[port];
	uint64_t t = w->n * INTERVAL_NS + w->read_ns[port];
	uint64_t sent = sent_by(w, port, t), came = sent_by(w, w->t->port[port].peer, t);
	uint64_t more = sent - w->seen[port][0], more_came = came - w->seen[port][1];

	w->seen[port][0] = sent;
	w->seen[port][1] = came;
	c->v[IBCC_CTR_XMIT_DATA] += more * tell->sent / 1000 / 4;
	c->v[IBCC_CTR_RCV_DATA] += more_came * tell->received / 1000 / 4;
	c->v[IBCC_CTR_XMIT_PKTS] += more / PACKET * tell->packets / 1000;
	c->v[IBCC_CTR_RCV_PKTS] += more_came / PACKET;
	c->v[IBCC_CTR_XMIT_WAIT] += (t - c->t_ns) * tell->wait_permille / 1000;
	c->v[IBCC_CTR_RCV_FECN] += more_came / PACKET * tell->fecn_permille / 1000;
	c->t_ns = t;
	memset(c->width, tell->lacks_counters ? 0 : 64, sizeof(c->width));
	if (tell->silent)
		ibcc_snapshot_miss(&w->s, port, -110);
	else
		ibcc_snapshot_record(&w->s, port, c, 1000);
}

static inline void passes(struct fabric *w, unsigned int n)
{
	for (; n; n--, w->n++) {
		ibcc_snapshot_begin_some(&w->s, w->only);
		for (uint32_t i = 0; i < w->t->n_ports; i++)
			if (is_linked(w, i) && (!w->only || w->only[i]))
				read_port(w, i);
		ibcc_snapshot_end(&w->s, (w->n + 1) * INTERVAL_NS);
		ibcc_trust_judge(w->t, &w->s);
	}
}

static inline struct tells *at(struct fabric *w, uint32_t node, unsigned int num)
{
	return &w->tells[fabric_port(w->t, node, num)];
}

static inline enum ibcc_doubt doubt_of(const struct fabric *w, uint32_t node, unsigned int num)
{
	return w->s.port[fabric_port(w->t, node, num)].trust.doubt;
}

/* Reads switches `ns` after the beginning of an interval, and adapters at the beginning. */
static inline void read_switches_at(struct fabric *w, uint32_t ns)
{
	for (uint32_t i = 0; i < w->t->n_ports; i++)
		if (ibcc_topo_is_switch(w->t, w->t->port[i].node))
			w->read_ns[i] = ns;
}

static inline void lie_all(struct fabric *w, uint32_t node, uint32_t sent)
{
	for (unsigned int num = 1; num <= w->t->node[node].n_ports; num++)
		at(w, node, num)->sent = sent;
}

#endif
