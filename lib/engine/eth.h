/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lossless Ethernet: what an engine has in addition when its flow control is PAUSE (eth.c), and
 * backward congestion notification (bcn.c).
 *
 * A packet's way through the engine stays as it is. On a PAUSE link a packet costs no credits:
 * the sender's credits are 0 while it may send, and -1 while it is paused.
 */
#ifndef IBCC_ENGINE_ETH_H
#define IBCC_ENGINE_ETH_H

#include "internal.h"

/* EV_PAUSE: the index is the sender's port, doubled, plus 1 to stop it. */
#define PAUSE_STOP 1u

/* A port as a receiver, and as a sender. */
struct eth_port {
	uint32_t held;      /* bytes that came in here and wait in the buffer */
	bool stopped;       /* has stopped its peer */
	uint32_t xoff, xon; /* bytes held at which it stops its peer, and lets it go on */
	bool paused;        /* its peer has stopped it */
	uint64_t pauses, paused_ps, paused_since_ps;
};

/* A switch's output as a congestion point. */
struct bcn_point {
	uint32_t since;   /* bytes that came since the last sample */
	uint32_t backlog; /* at the last sample */
	uint64_t negative, positive;
};

/* A source's limiter for one destination. */
struct bcn_limiter {
	double mbps;    /* 0: none, sends at line rate */
	uint32_t point; /* whose feedback raises it: the last that lowered it */
};

struct fab_eth {
	struct eth_port *port;
	uint64_t *memory; /* by switch: bytes in use */
	/* Only with BCN: */
	struct bcn_point *point;     /* by port */
	struct bcn_limiter *limiter; /* by queue pair */
	uint32_t *tag;               /* by packet: whose feedback its limiter follows, or NONE */
	uint32_t cap_limiter, n_limiter, cap_tag;
};

/* eth.c */
bool ibcc_eth_model_valid(const struct ibcc_model *m);
/* Whether the headroom lies above XON in a buffer of this size; true where there is no PAUSE. */
bool ibcc_eth_buffer_valid(const struct ibcc_model *m, uint32_t bytes);
/* Derives a port's XOFF and XON from its buffer. */
void ibcc_eth_buffer_set(struct ibcc_engine *e, uint32_t port);
int ibcc_eth_build(struct ibcc_engine *e);
void ibcc_eth_free(struct ibcc_engine *e);
/* Takes a packet that arrives into the buffer; false: there is no room. */
bool ibcc_eth_admit(struct ibcc_engine *e, uint32_t pkt);
/* The packet leaves the buffer of an input port at time t, not before now. */
void ibcc_eth_release(struct ibcc_engine *e, uint32_t in_port, uint32_t bytes, uint64_t t);
void ibcc_eth_pause(struct ibcc_engine *e, uint32_t index);
void ibcc_eth_port_read(const struct ibcc_engine *e, uint32_t port, struct ibcc_engine_port *out);

/* bcn.c: feedback of a queue of q packets that was q_last at the last sample, and what it makes of
 * a rate.
 */
double ibcc_bcn_feedback(const struct ibcc_bcn *b, double q, double q_last, double qeq);
double ibcc_bcn_rate(const struct ibcc_bcn *b, double mbps, double feedback);
/* Makes a packet carry feedback. */
void ibcc_bcn_message(struct pkt *p, double feedback);
/* A packet came to the queue of an output; a message came to its source; a source sent. */
void ibcc_bcn_arrive(struct ibcc_engine *e, uint32_t port, uint32_t pkt);
void ibcc_bcn_notify(struct ibcc_engine *e, uint32_t pkt);
void ibcc_bcn_sent(struct ibcc_engine *e, uint32_t qp, uint32_t pkt);
uint32_t ibcc_bcn_limit_mbps(const struct ibcc_engine *e, uint32_t qp);

#endif
