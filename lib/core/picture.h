/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the parts of the estimator share. Internal to it. */
#ifndef IBCC_CORE_PICTURE_H
#define IBCC_CORE_PICTURE_H

#include <ibcc/parameters.h>
#include <ibcc/picture.h>

/* One port's interval in comparable terms. */
struct load {
	bool usable; /* fresh, and neither cleared nor at its end within the interval */
	bool blind;  /* an adapter's that counts no waits: `waited` is inferred */
	bool read;   /* counters are expected from it: an active external port that is believed */
	uint32_t mbps;
	uint64_t ns;     /* that it is the mean of */
	uint16_t sent;   /* share of the link's data rate, permille */
	uint16_t waited; /* share of the interval, permille */
	uint64_t fecn, becn;
};

static inline bool is_ca_port(const struct ibcc_topo *t, uint32_t port)
{
	return !ibcc_topo_is_switch(t, t->port[port].node);
}

/* A pair's packets in a root's log. */
struct pair_count {
	uint32_t src; /* port */
	uint16_t dlid;
	double logged; /* of its packets, a sample; fades */
	double marks;  /* BECNs that it got from the root, as far as is known */
	double chance; /* their relative variance */
};

/* What an endport's own counters told while a root was held; all fade. Endports are read in
 * different passes: what they have in the same time is their mean.
 */
struct endport_count {
	double n, passes;   /* BECNs that may be the root's, and of how many passes */
	double mbps, reads; /* what it sent while the root carried something: a sum, of how many */
};

/* What is remembered of a root. */
struct memory {
	uint32_t port;
	const struct ibcc_root_parameters *held; /* in this pass, by the one before; NULL: not */
	enum ibcc_congestion kind;               /* that its capacity is for */
	uint16_t present;
	double *becn; /* by endport: counts that fade; owned */
	bool *sends;  /* see struct ibcc_root; owned */
	/* Of the log while it was held; fades. */
	struct pair_count *pair; /* owned */
	uint32_t n, cap;
	struct endport_count *marked; /* by endport; owned */
	uint32_t n_endports;
	double samples, marks; /* sums over the pairs */
	double sent_mbps,
		sent_ns;      /* sums over passes: what the root sent, times the time; the time */
	double passes;        /* how many they count as */
	double capacity_mbps; /* the most that a slow receiver takes; 0: not known */
	bool untrue;          /* the last comparison of the log contradicted it */
	uint16_t unlogged;    /* passes in a row without a packet of it in the log */
};

struct ibcc_estimator {
	struct ibcc_estimator_params p;
	uint32_t n_endports;
	struct ibcc_load *load; /* by endport; owned */
	uint32_t n, cap;
	struct memory *root; /* in a pass by the picture's root; owned */
};

/* One run. */
struct job {
	struct ibcc_estimator *m;
	const struct ibcc_estimator_params *p;
	const struct ibcc_topo *t;
	const struct ibcc_snapshot *s;
	const struct ibcc_settings *actual;
	struct load *load;                  /* by port */
	const struct ibcc_parameters *last; /* may be NULL */
	struct ibcc_picture *out;
	uint32_t cap_roots;
	struct tree *tree;
};

/* What lies upstream of a switch port by routes and links. */
struct tree {
	uint8_t *flag;   /* by port index: enum tree_flag of an adapter's */
	uint32_t *stack; /* by node index: switches still to be visited */
	uint8_t *path;   /* by node index: TREE_BLOCKED and TREE_SHARED of the way from there */
	uint32_t *seen;  /* by node index: number of the walk that visited it last */
	uint32_t walk;
	uint16_t feed_wait;        /* highest wait of the ports that feed the root's switch */
	uint32_t n_read, n_usable; /* ports met, and those with usable counters */
	uint32_t n_waiting;        /* of those, each counted once */
	/* By a gap's region: number of the LID that switches lead into it, as they do with what
	 * they send to the root. NULL: there are no gaps.
	 */
	uint32_t *fed;
	uint64_t unknown_mbps; /* that silent nodes may send to the root; */
	uint32_t unknown_port; /* where most of it comes in, and how much that is */
	uint64_t unknown_most;
};

enum tree_flag {
	TREE_REACHES = 1 << 0, /* a usable one: routes from it to a destination behind the root pass
				* the root */
	TREE_BLOCKED = 1 << 1, /* all switch ports on such a route wait */
	TREE_SHARED = 1 << 2,  /* ... and there is one: its packets queue with those of others */
	TREE_COUNTED = 1 << 3, /* a port (of a switch, too) that waits */
	TREE_UNKNOWN = 1 << 4, /* a port by which packets of silent nodes come, counted */
};

int ibcc_tree_init(struct tree *tr, const struct ibcc_topo *t);
void ibcc_tree_fini(struct tree *tr);
/* Walks upstream from a switch's output port along the forwarding tables of all destinations
 * behind it, and leaves flags, feed_wait and the counts in *j->tree.
 */
void ibcc_tree_walk(const struct job *j, uint32_t root);

/* A switch port that passes on the congestion of a port further on. */
static inline bool load_blocked(const struct ibcc_estimator_params *p, const struct load *l)
{
	return l->usable && l->sent + l->waited >= p->full_permille &&
	       l->waited >= p->fed_wait_permille;
}

/* Settings of a port's switch; NULL: not known. */
static inline const struct ibcc_endport_cc *switch_cc(const struct job *j, uint32_t port)
{
	uint32_t ep = ibcc_topo_switch_endport(j->t, port);

	return j->actual && ep < j->actual->n ? &j->actual->ep[ep] : NULL;
}

/* For qsort(). */
static inline int order(uint64_t x, uint64_t y)
{
	return (x > y) - (x < y);
}

/* Marked packets of an interval, by a sample whose counter has them: one that was not read for a
 * while tells those of several at once.
 */
static inline uint64_t marks_in_interval(const struct ibcc_snapshot *s,
					 const struct ibcc_port_sample *p, enum ibcc_ctr c)
{
	uint64_t n = s->interval_ns ? (p->delta.dt_ns + s->interval_ns / 2) / s->interval_ns : 1;

	return p->delta.v[c] / (n ? n : 1);
}

/* Are a port's BECNs counted? Not where the last comparison found more of them than packets, though
 * it takes several to doubt the port.
 */
static inline bool tells_becns(const struct ibcc_port_sample *s)
{
	return s->trust.doubt == IBCC_DOUBT_NONE && !s->trust.becn.finding.run;
}

/* picture_blind.c: waits of adapters that count none, once all loads are there. */
void ibcc_picture_infer_waits(const struct job *j);
/* The same for marks: those that were logged, where an adapter cannot be asked what it got. */
void ibcc_picture_infer_marks(const struct job *j);

/* picture_log.c: sorts what switches logged to ports, into out->pair. What no adapter of the
 * topology sent, or whose route does not pass the switch, is left out. -ENOMEM.
 */
int ibcc_picture_sort_log(struct job *j);

/* picture_roots.c: appends a port to the roots with what can be said of any port. NULL without
 * memory.
 */
struct ibcc_root *ibcc_picture_append(struct job *j, uint32_t port, enum ibcc_congestion kind);
/* The roots of this pass. -ENOMEM. */
int ibcc_picture_roots(struct job *j);

/* picture_log.c again: packets of a root's log that a port sent. */
double ibcc_picture_logged(const struct memory *m, uint32_t src);
/* Has another root at least a packet of a port in its log? */
bool ibcc_picture_logged_elsewhere(const struct ibcc_estimator *m, const struct memory *r,
				   uint32_t src);
/* Counts a root's pairs if it is held, or else forgets them. -ENOMEM. */
int ibcc_picture_count_pairs(struct memory *m, const struct job *j, const struct ibcc_root *now);
/* Then gives each pair its marks. */
void ibcc_picture_weigh_pairs(const struct job *j);
/* Passes in a row without a packet in the log: what was counted is not so any more. */
#define IBCC_UNLOGGED_MAX 8u

/* Does no other port of a root's switch mark, as those do that have one setting with it? */
bool ibcc_picture_marks_alone(const struct job *j, uint32_t port);

/* picture_log_check.c: holds what the log of a root's switch said of it against the adapters'
 * counters. What is contradicted is forgotten, so that the next comparison has new packets.
 */
enum ibcc_log_verdict ibcc_picture_check_log(const struct job *j, struct memory *m);

/* picture_shares.c: tells the roots whom they limit. -ENOMEM. */
int ibcc_picture_shares(const struct job *j);

#endif
