/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the files of the reference simulator share: reference.c has the words, links and switches,
 * reference_host.c the hosts, reference_limiter.c the rate limiters of DCQCN.
 */
#ifndef TEST_REFERENCE_PARTS_H
#define TEST_REFERENCE_PARTS_H

#include <assert.h>
#include <obstack.h>
#include <stdlib.h>

#include "reference.h"

#define PORTS  (2 * REF_LINKS)
#define PAIRS  (REF_NODES * REF_NODES * REF_SLS)
#define NONE   UINT32_MAX
#define QUEUES PORTS

struct message {
	unsigned int left; /* packets that are neither taken nor lost */
	bool lost;         /* one of them is */
	uint64_t allowed;  /* when the window did */
};

struct packet {
	struct packet *next; /* behind it in its queue */
	unsigned int flow, from, to, sl;
	unsigned int pair;                 /* of the packet, or of the one that it answers */
	bool cnp, becn, fecn, waits, lost; /* waits: for a switch's output */
	uint64_t came, sent;               /* into the send queue, its first bit on the link */
	struct message *message;
	unsigned int via; /* port that sent it into the buffer that it is in, or NONE */
	unsigned int vl;  /* of that buffer */
};

struct queue {
	struct packet *head, *tail;
	uint64_t served; /* at a host: when it was last, in packets of the host */
};

/* A VL of a port. */
struct lane {
	uint32_t credits;
	struct queue queue[QUEUES]; /* of a switch, by input, as `via` */
	/* Of a switch: the queue that was served last, packets to pass before one is marked. */
	unsigned int last, skip;
	uint64_t backlog, rng;
	bool congested, starved;
	bool fresh; /* packets came that may not have to wait */
	double average;
	uint64_t stepped; /* when the average last moved */
	struct queue cnp; /* of a host */
};

/* Where a port is in a table. */
struct place {
	unsigned int at;
	int left; /* weight of the entry there */
};

/* One direction of a link, from a node to a node. */
struct port {
	unsigned int from, to;
	uint32_t rate;
	uint64_t longer; /* what it sends takes so much longer to arrive */
	bool down, busy;
	uint64_t until; /* when the packet that it sends, or sent last, ends */
	struct lane lane[REF_VLS];
	unsigned int turn; /* the VL that is next */
	struct place high, low;
	int high_left; /* bytes until the low table may send */
	/* Of a switch. */
	bool victim_mask;
	/* PAUSE: it may not send; at the other end, what is held, and whether it was stopped. */
	bool paused, stopped;
	uint64_t held;
	/* Of a host. */
	uint64_t n_served, next_cnp;
	struct pair *aside; /* pairs with queues */
	struct queue received;
	uint64_t n_received; /* data packets */
};

/* Two hosts and a service level. As what the index, the rest or the limiter is of, pair_of() says
 * which one counts: the pair itself, the one that stands for all of a service level, or for all
 * service levels.
 */
struct pair {
	struct queue queue; /* what flows to all have set aside */
	struct pair *next;  /* of the same host, that had some */
	bool listed;
	unsigned int number; /* from 1 on, in the order in which they were first to be known */
	uint64_t next_cnp;
	unsigned int ccti;
	uint64_t until; /* it rests */
	bool rests;     /* the same, as a service level */
	bool asleep;    /* the queue is, until the pair has rested */
	bool alarm;     /* wakes then */
	struct limiter {
		bool on, cnp_for_alpha, cnp_for_cut, cut;
		double rate, target, most, alpha;
		unsigned int by_time, by_bytes;
		uint32_t bytes;
		unsigned int epoch, cuts; /* clocks of an earlier limiter, or cut, are void */
	} limiter;
};

struct flow {
	unsigned int port; /* of its host */
	struct queue queue;
	uint64_t rng, to_rng;
	struct ref_count count;
	uint64_t on_time; /* paced: of its last packet, in times that it is on */
	uint64_t since;   /* not paced: when the packet before left, or the window opened */
	/* Closed: packets that came and that are done; when messages were allowed, by number. */
	uint64_t n_came, n_done, allowed[REF_OPEN];
	bool waits;              /* for the window */
	struct message *message; /* of the packet that came last */
	unsigned int to;         /* the same, of a flow to all */
	bool asleep;             /* until the pair of its first packet has rested, or */
	bool off;                /* until it is on */
};

enum what {
	ARRIVAL, /* of a packet in a flow's send queue */
	ALLOWED, /* flow: its times or its window let its next packet come */
	RESTED,  /* pair */
	TIMER,   /* of a host's service level */
	ALPHA,   /* of a pair's limiter, of an epoch: one of its clocks */
	LOOK,    /* the same, for a cut */
	GROW,    /* the same, of a cut */
	NOTIFY,  /* port: has a CNP to send */
	CHANGE,  /* of the case */
	TAKEN,   /* port: its host has taken a packet */
	HELD,    /* long enough: a packet at a port */
	CREDIT,  /* blocks for a port and VL */
	PAUSE,   /* port: may not send any more, or may again */
	HEADER,  /* of a packet for a port */
	TAIL,    /* of a packet for a port's host */
	FREE,    /* port: has sent its packet */
};

struct event {
	struct event *next; /* in the order in which they happen */
	uint64_t at;
	enum what what;
	unsigned int who, blocks;
	struct packet *packet;
};

struct ref {
	const struct ref_case *c;
	uint64_t now;
	struct event *event;
	struct port port[PORTS]; /* of link i: 2 i from its end 0, 2 i + 1 from its end 1 */
	struct flow flow[REF_FLOWS];
	struct pair pair[PAIRS];
	unsigned int n_known;
	bool timer[REF_NODES][REF_SLS];           /* runs */
	unsigned int route[REF_NODES][REF_NODES]; /* port from a node to a host, or NONE */
	uint32_t sink[REF_NODES];
	struct obstack memory; /* kept until all ends: what is small may be wasteful */
};

static inline uint32_t payload(const struct ref *r, unsigned int flow)
{
	return r->c->flow[flow].packet ? r->c->flow[flow].packet : r->c->packet;
}

static inline uint32_t bytes(const struct ref *r, const struct packet *p)
{
	return p->cnp ? r->c->cnp : payload(r, p->flow) + r->c->header;
}

static inline uint64_t time_of(uint32_t n_bytes, uint32_t rate)
{
	return (n_bytes * 8000000ull + rate - 1) / rate;
}

static inline unsigned int n_vls(const struct ref *r)
{
	return r->c->vls ? r->c->vls : 1;
}

static inline void put(struct queue *q, struct packet *p)
{
	p->next = NULL;
	*(q->head ? &q->tail->next : &q->head) = p;
	q->tail = p;
}

static inline struct packet *take(struct queue *q)
{
	struct packet *p = q->head;

	q->head = p->next;
	return p;
}

/* reference.c */
void ref_after(struct ref *r, uint64_t delay, enum what what, unsigned int who, unsigned int blocks,
	       struct packet *p);
void *ref_memory(struct ref *r, size_t n); /* zeroed */
/* A packet leaves the buffer that it is in. */
void ref_give_back(struct ref *r, const struct packet *p, uint64_t leaves_in);
bool ref_may_send(const struct ref *r, const struct port *o, unsigned int vl,
		  const struct packet *p);
/* Puts a packet on the link; the port is free and has the credits. */
void ref_send(struct ref *r, unsigned int port, unsigned int vl, struct packet *p);
/* A port may have something to send. */
void ref_look(struct ref *r, unsigned int port);

/* reference_host.c */
void ref_flow_begin(struct ref *r, unsigned int flow);
/* Sends a host's next packet on certain VLs. Returns its bytes; 0: there is none that may go. */
uint32_t ref_host_send(struct ref *r, unsigned int port, unsigned int vls);
/* The packet that an event is about has come whole to a host. */
void ref_host_tail(struct ref *r, unsigned int port, struct packet *p);
/* Events of hosts, from ARRIVAL to NOTIFY and TAKEN. */
void ref_host_happen(struct ref *r, const struct event *e);
/* The index of a flow to one host. */
unsigned int ref_host_ccti(const struct ref *r, unsigned int flow);
/* A packet will not arrive. */
void ref_host_lost(struct ref *r, const struct packet *p);

/* reference_limiter.c, about limiters of pairs: a CNP has come to a host at a link of this rate; a
 * packet of n bytes is sent, after which the pair rests so long; events from ALPHA to GROW.
 */
void ref_limiter_cnp(struct ref *r, unsigned int pair, double link);
uint64_t ref_limiter_rest(struct ref *r, unsigned int pair, uint32_t n);
void ref_limiter_happen(struct ref *r, const struct event *e);

#endif
