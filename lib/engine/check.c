/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Invariants: recomputes from the queues what the engine counts, and compares. For tests, at any
 * time between two runs.
 *
 * Every packet of the pool is found exactly once: under way (an event), in a VOQ, in a receive
 * buffer, or in a list of ACKs and CNPs. For each link and VL, credits at the sender, credits
 * under way, packets on the link and packets in the receiver's buffer add up to the buffer.
 * Credits of a sender that waits for some are events. No port is idle that has a packet to send
 * and the credits for it. If inputs are read by one output at a time, that holds for packets of
 * inputs that are not being read, and the output is woken when an input has been read. With
 * PAUSE, the bytes that ingress ports and switches count are those found and at most the memory,
 * and each sender does what its peer said last, unless that message is still under way. Queue
 * pairs are found where their hashes lead.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "endpoint.h"
#include "eth.h"
#include "evq.h"
#include "qps.h"
#include "tx.h"
#include "voq.h"

struct check {
	const struct ibcc_engine *e;
	uint8_t *seen; /* by packet */
	/* By input port and VL: blocks on the link or in the buffer; with PAUSE, bytes there. */
	uint32_t *blocks;
	uint32_t *coming; /* by outq: blocks of credits under way */
	uint32_t *come;   /* the part of those that has come but was not taken in yet */
	uint8_t *told;    /* by port: a PAUSE message is under way to it */
	uint8_t *ends;    /* by input port: EV_READ will wake the outputs that wait for it */
	uint64_t data, packets;
	char *buf;
	size_t len;
};

#define FAIL(k, ...) (snprintf((k)->buf, (k)->len, __VA_ARGS__), -EIO)

/* Counts a packet that stands in a queue or event; in_buffer: it occupies the port's buffer. */
static int see(struct check *k, uint32_t pkt, bool in_buffer)
{
	const struct pkt *p = &k->e->pkt[pkt];

	if (pkt >= k->e->cap_pkts || k->seen[pkt])
		return FAIL(k, "packet %u is in two places", pkt);
	k->seen[pkt] = 1;
	k->packets++;
	k->data += !(p->flags & PKT_CTRL);
	if (in_buffer)
		k->blocks[input_of(k->e, p) * k->e->n_vls + p->vl] +=
			k->e->eth ? k->e->bytes[pkt_kind(p)] : k->e->blocks[pkt_kind(p)];
	return 0;
}

static int check_event(void *arg, uint64_t t, enum ibcc_fab_event kind, uint32_t *index)
{
	struct check *k = arg;
	uint32_t i = *index;
	bool alive;

	if (t < k->e->now_ps && kind != EV_CREDIT)
		return FAIL(k, "an event at %llu ps is overdue", (unsigned long long)t);
	switch (kind) {
	case EV_ARRIVE:
	case EV_DELIVER: /* what was on a dead link is lost already */
		alive = !(k->e->pkt[i].flags & PKT_LOST);
		return see(k, i, k->e->eth ? k->e->pkt[i].flags & PKT_HELD : alive);
	case EV_QUIET: return see(k, i, false); /* its place is under way as credits */
	case EV_CTRL: return see(k, i, false);
	case EV_BCN: return see(k, i, false);
	case EV_CREDIT: /* may be in the past: credits are taken in when a port needs them */
		k->coming[i >> KIND_BITS] += k->e->blocks[i & KIND_MASK];
		if (t <= k->e->now_ps)
			k->come[i >> KIND_BITS] += k->e->blocks[i & KIND_MASK];
		break;
	case EV_PAUSE: k->told[i >> 1] = 1; break;
	case EV_READ: k->ends[i] = 1; break;
	case EV_FREE:
	case EV_FLOW:
	case EV_QP:
	case EV_GATE:
	case EV_DRAIN:
	case EV_SCENARIO:
	case EV_RETRY: break;
	}
	return 0;
}

/* Counts the packets of a list and their bytes. */
static int check_list(struct check *k, uint32_t pkt, bool in_buffer, uint32_t *n, uint32_t *bytes)
{
	for (; pkt != NONE; pkt = k->e->pkt[pkt].next) {
		int rc = see(k, pkt, in_buffer);

		if (rc)
			return rc;
		++*n;
		*bytes += k->e->bytes[pkt_kind(&k->e->pkt[pkt])];
	}
	return 0;
}

/* Work conservation: a port that sends nothing may send nothing of this kind on this VL. */
static int check_idle(struct check *k, uint32_t port, unsigned int vl, unsigned int kind)
{
	const struct ibcc_engine *e = k->e;
	const struct port *p = port_of(e, port);
	uint32_t outq = port * e->n_vls + vl;

	if (p->busy_ps > e->now_ps || !(p->flags & PORT_UP) ||
	    e->port[outq].credits + (int32_t)k->come[outq] < (int32_t)e->blocks[kind])
		return 0;
	return FAIL(k, "port %u VL %u is idle with %u packets and %d credits", port, vl, p->queued,
		    e->port[outq].credits + (int32_t)k->come[outq]);
}

/* The kind of the longest data packets: of those that wait, a port need not send a shorter one. */
static unsigned int longest(const struct ibcc_engine *e)
{
	unsigned int most = DATA;

	for (unsigned int kind = OTHER; kind < e->n_kinds; kind++)
		if (e->bytes[kind] > e->bytes[most])
			most = kind;
	return most;
}

/* Checks the packet of a VL whose turn it is. An output that waits for credits chooses again when
 * credits come, not when the packet that it waits with may not be read any more.
 */
static int check_turn(struct check *k, uint32_t port, unsigned int vl)
{
	const struct ibcc_engine *e = k->e;
	uint32_t outq = port * e->n_vls + vl, in = e->sw[e->owner[port]].first_port;
	bool idle = port_of(e, port)->busy_ps <= e->now_ps, waits = e->port[outq].flags & OUTQ_WANT;
	struct reads_choice c;

	if (!e->reading)
		return check_idle(k, port, vl,
				  pkt_kind(&e->pkt[voq_first(e, outq, voq_turn(e, outq))]));
	ibcc_reads_choose(e, outq, &c);
	for (unsigned int i = 0; i < FAR_WORDS * VOQ_WORD; i++, in++)
		if (c.passed[i / VOQ_WORD] >> i % VOQ_WORD & 1 && idle && !waits &&
		    !(k->ends[in] && ibcc_reads_wanted(e, in, e->topo->port[port].num)))
			return FAIL(k, "port %u is not told when port %u has been read", port, in);
	if (c.slot == NONE)
		return 0;
	return check_idle(k, port, vl, waits ? longest(e) : pkt_kind(&e->pkt[c.pkt]));
}

static int check_output(struct check *k, uint32_t port)
{
	const struct ibcc_engine *e = k->e;
	const struct port *p = port_of(e, port);
	uint32_t total = 0;

	for (unsigned int vl = 0; vl < e->n_vls; vl++) {
		const struct port *q = port_outq(e, port, vl);
		uint32_t outq = port * e->n_vls + vl, n = 0, bytes = 0, wrong = 0, holding = 0;
		uint32_t queued;

		for (unsigned int i = 0; i < e->n_slots; i++) {
			const struct voq *v = &e->voq[outq * e->n_slots + i];
			int rc = check_list(k, v->head, true, &n, &bytes);

			if (rc)
				return rc;
			holding += v->head != NONE;
			wrong += voq_holds(e, outq, i) != (v->head != NONE);
		}
		queued = e->n_vls == 1 ? p->queued : e->wait[outq].queued;
		if (n != queued || bytes != backlog_of(e, q) || wrong || !holding != !q->holds)
			return FAIL(k,
				    "port %u VL %u: %u packets, %u bytes, counted %u, %u; %u of %u "
				    "inputs that hold some or not are not known as such",
				    port, vl, n, bytes, queued, backlog_of(e, q), wrong,
				    e->n_slots);
		if (q->holds) {
			int rc = check_turn(k, port, vl);

			if (rc)
				return rc;
		}
		total += n;
	}
	if (total != p->queued)
		return FAIL(k, "port %u: %u packets, counted %u", port, total, p->queued);
	return 0;
}

static int check_group(struct check *k, const struct group *g)
{
	const struct ibcc_engine *e = k->e;
	int rc = 0;

	if (g->vl >= e->n_vls)
		return 0;
	if (g->n_ctrl)
		rc = check_idle(k, g->port, g->vl, CTRL);
	for (uint32_t i = 1; i <= g->n_ready && !g->gated && !rc; i++) {
		uint32_t id = g->ready[i].id;

		if (qp_rested(e, id & READY_QP ? id & ~READY_QP : head_qp(e, &e->flow[id])))
			rc = check_idle(k, g->port, g->vl, longest(e));
	}
	return rc;
}

static int check_hcas(struct check *k)
{
	const struct ibcc_engine *e = k->e;
	uint32_t ignored = 0;
	int rc = 0;

	for (uint32_t i = 0; i < e->n_hca && !rc; i++)
		rc = check_list(k, e->hca[i].rx, true, &ignored, &ignored);
	for (uint32_t i = 0; i < e->n_group && !rc; i++) {
		uint32_t n = 0;

		rc = check_list(k, e->group[i].ctrl, false, &n, &ignored);
		if (!rc && n != e->group[i].n_ctrl)
			return FAIL(k, "group %u: %u answers, counted %u", i, n,
				    e->group[i].n_ctrl);
		if (!rc)
			rc = check_group(k, &e->group[i]);
	}
	return rc;
}

/* The sum of credits and of blocks in use is the buffer's size, for each VL of an input port. */
static int check_credits(struct check *k, uint32_t in_port)
{
	const struct ibcc_engine *e = k->e;
	uint32_t peer = e->peer[in_port];
	uint32_t size = buffer_bytes(e, in_port) / IBCC_LINK_CREDIT_BYTES;

	for (unsigned int vl = 0; vl < e->n_vls; vl++) {
		const struct port *q = port_outq(e, peer, vl);
		uint64_t sum = k->blocks[in_port * e->n_vls + vl];

		if (q->credits < 0 || (uint32_t)q->credits > size)
			return FAIL(k, "port %u VL %u: %d credits of %u", peer, vl, q->credits,
				    size);
		sum += k->coming[peer * e->n_vls + vl];
		if (sum + (uint32_t)q->credits != size)
			return FAIL(k, "port %u VL %u: %llu blocks in use and %d credits of %u",
				    peer, vl, (unsigned long long)sum, q->credits, size);
	}
	return 0;
}

/* No credits of an outq that is short stand in lanes, and each outq that waits is short. */
static int check_short(struct check *k)
{
	const struct ibcc_engine *e = k->e;
	const struct evq *q = &e->evq;
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->n_outqs; i++) {
		n += is_short(e, i);
		if (e->port[i].flags & OUTQ_WANT && !is_short(e, i) && !e->eth)
			return FAIL(k, "outq %u waits for credits, but is not short of them", i);
	}
	if (n != q->n_short)
		return FAIL(k, "%u outqs are short of credits, counted %u", n, q->n_short);
	for (uint32_t i = 0; i < q->n_credit_lanes; i++) {
		const struct lane *l = &q->lane[q->credit_lane[i]];

		for (uint32_t at = l->credit_at; at != l->tail; at++)
			if (is_short(e, l->ring[at & l->mask].with >> KIND_BITS))
				return FAIL(k, "credits lie that outq %u is short of",
					    l->ring[at & l->mask].with >> KIND_BITS);
	}
	return 0;
}

static int check_pause(struct check *k, uint32_t port)
{
	const struct ibcc_engine *e = k->e;
	uint32_t peer = e->peer[port];
	const struct eth_port *x = &e->eth->port[port];

	if (k->blocks[port] != x->held)
		return FAIL(k, "port %u: holds %u bytes, counted %u", port, k->blocks[port],
			    x->held);
	if (x->stopped ? x->held <= x->xon : x->held > x->xoff)
		return FAIL(k, "port %u: holds %u bytes and has %sstopped its peer", port, x->held,
			    x->stopped ? "" : "not ");
	if (!k->told[peer] && e->eth->port[peer].paused != x->stopped)
		return FAIL(k, "port %u has not done what port %u said", peer, port);
	if (port_outq(e, port, 0)->credits != (x->paused ? -1 : 0))
		return FAIL(k, "port %u: paused %d, but credits %d", port, x->paused,
			    port_outq(e, port, 0)->credits);
	return 0;
}

static int check_memory(struct check *k, uint32_t sw)
{
	const struct ibcc_engine *e = k->e;
	const struct fab_switch *s = &e->sw[sw];
	uint64_t sum = 0, size = (uint64_t)s->n_ports * s->buffer_bytes;

	for (uint32_t i = 0; i <= s->n_ports; i++)
		sum += e->eth->port[s->first_port + i].held;
	if (sum != e->eth->memory[sw] || sum > size)
		return FAIL(k, "switch %u: %llu bytes in a memory of %llu, counted %llu", sw,
			    (unsigned long long)sum, (unsigned long long)size,
			    (unsigned long long)e->eth->memory[sw]);
	return 0;
}

/* Packets in flight agree: those found, by flows, and by totals. */
static int check_flows(struct check *k)
{
	const struct ibcc_engine *e = k->e;
	uint64_t in_flight = 0;

	for (uint32_t i = 0; i < e->n_flow; i++) {
		const struct flow *f = &e->flow[i];

		uint64_t sent = f->sent, out = f->received;

		if (e->ends)
			ibcc_ends_account(e, i, &sent, &out);
		if (out + f->dropped > sent)
			return FAIL(k, "flow %u: %llu sent, %llu received, %llu lost", i,
				    (unsigned long long)sent, (unsigned long long)out,
				    (unsigned long long)f->dropped);
		in_flight += sent - out - f->dropped;
	}
	if (in_flight != k->data ||
	    e->injected - e->delivered - e->dropped - e->discarded != k->data)
		return FAIL(k, "%llu data packets in the fabric, %llu by flows, %llu by totals",
			    (unsigned long long)k->data, (unsigned long long)in_flight,
			    (unsigned long long)(e->injected - e->delivered - e->dropped -
						 e->discarded));
	if (k->packets != e->cap_pkts - e->n_free_pkts)
		return FAIL(k, "%llu packets found, %u in use", (unsigned long long)k->packets,
			    e->cap_pkts - e->n_free_pkts);
	return 0;
}

/* Each queue pair is found by its group and where it leads, once, and the group's SL is that of the
 * path there, where paths have SLs.
 */
static int check_qps(struct check *k)
{
	const struct ibcc_engine *e = k->e;
	uint32_t total = 0, n;

	for (uint32_t i = 0; i < e->n_group; i++) {
		const struct group *g = &e->group[i];

		n = 0;
		for (uint32_t at = 0; at < qp_places(g); at++)
			n += qp_at(g, at) != NONE;
		if (g->qp && (n != g->qp->n || 2 * n > qp_places(g)))
			return FAIL(k, "group %u: %u queue pairs in %u places, counted %u", i, n,
				    qp_places(g), g->qp->n);
		total += n;
	}
	for (uint32_t i = 0; i < e->n_qp; i++) {
		const struct group *g = &e->group[e->qp[i].group];

		if (qp_find(g, e->qp[i].dst_port) != i)
			return FAIL(k, "queue pair %u is not found", i);
		if (e->path_sl && path_sl(e, g->port, e->qp[i].dst_port) != g->sl)
			return FAIL(k, "queue pair %u is on SL %u, its path on another", i, g->sl);
	}
	if (total != e->n_qp)
		return FAIL(k, "%u queue pairs by groups, %u in all", total, e->n_qp);
	return 0;
}

static int check_all(struct check *k)
{
	const struct ibcc_engine *e = k->e;
	int rc = ibcc_fab_evq_each(e, check_event, k);

	for (uint32_t i = 0; i < e->n_ports && !rc; i++)
		if (port_of(e, i)->flags & PORT_SWITCH)
			rc = check_output(k, i);
	if (!rc)
		rc = check_hcas(k);
	for (uint32_t i = 0; i < e->n_ports && !rc; i++)
		if (e->eth && e->peer[i] != NONE)
			rc = check_pause(k, i);
		else if (port_of(e, i)->flags & PORT_UP)
			rc = check_credits(k, i);
	for (uint32_t i = 0; e->eth && i < e->n_sw && !rc; i++)
		rc = check_memory(k, i);
	if (!rc)
		rc = check_short(k);
	if (!rc)
		rc = check_qps(k);
	return rc ? rc : check_flows(k);
}

int ibcc_engine_check(const struct ibcc_engine *e, char *buf, size_t len)
{
	struct check k = { .e = e, .buf = buf, .len = len };
	int rc = -ENOMEM;

	k.seen = calloc(e->cap_pkts + 1u, sizeof(*k.seen));
	k.blocks = calloc(e->n_outqs + 1u, sizeof(*k.blocks));
	k.coming = calloc(e->n_outqs + 1u, sizeof(*k.coming));
	k.come = calloc(e->n_outqs + 1u, sizeof(*k.come));
	k.told = calloc(e->n_ports + 1u, sizeof(*k.told));
	k.ends = calloc(e->n_ports + 1u, sizeof(*k.ends));
	if (k.seen && k.coming && k.come && k.blocks && k.told && k.ends)
		rc = check_all(&k);
	else
		snprintf(buf, len, "out of memory");
	free(k.seen);
	free(k.blocks);
	free(k.told);
	free(k.ends);
	free(k.coming);
	free(k.come);
	return rc;
}
