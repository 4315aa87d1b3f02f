/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the parts of the estimator (estimate*.c) share. Private to them. <ibcc/estimate.h> is the
 * contract: what an estimate is, and what the estimator decides.
 *
 * ibcc_estimator_run() in estimate.c runs the parts in order: loads of all ports from their
 * counters; waits and marks of adapters that do not count them (estimate_blind.c); the switches'
 * logs by pair (estimate_log.c); roots with their contributors and victims (estimate_roots.c, on
 * the tree walked by estimate_tree.c); at last, from what is remembered of earlier passes, which
 * pairs a root limits (estimate_shares.c) and whether its log is believed (estimate_log_check.c).
 */
#ifndef IBCC_LAW_ESTIMATE_H
#define IBCC_LAW_ESTIMATE_H

#include <ibcc/estimate.h>
#include <ibcc/parameters.h>

#include "port_set.h"

/* One port's interval in comparable terms. */
struct load {
	bool usable;   /* known, and its counters were neither cleared nor at their end */
	bool kept;     /* left out of this pass: all is of an earlier one, and was counted then */
	bool blind;    /* counts no waits; an adapter's `waited` is inferred then */
	bool read;     /* counters are expected from it: an active external port that is believed */
	uint32_t mbps; /* sent */
	uint64_t ns;   /* the interval that the figures are means of */
	uint16_t sent; /* share of the link's data rate, permille; of a part of it if */
	uint8_t narrow;  /* the link turned out to carry no more: a half (2) or a quarter (4) */
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
	double logged; /* how many of its packets were logged, a sample; fades */
	double marks;  /* BECNs that it got from the root, as far as is known */
	double chance; /* relative variance of `marks` */
};

/* What an endport's own counters said while a root was held. All sums fade. Endports are read in
 * different passes, so only their means by pass can be compared.
 */
struct endport_count {
	double n, passes;   /* BECNs that may be the root's; passes that were summed */
	double mbps, reads; /* rates while the root carried traffic; readings that were summed */
};

/* What is remembered of a root. */
struct root_history {
	uint32_t port;
	const struct ibcc_root_parameters *held; /* its parameters since the last pass, or NULL */
	enum ibcc_congestion kind;               /* the kind that capacity_mbps is for */
	uint16_t present;                        /* passes in a row as a root */
	double *becn;                            /* by endport: BECN counts that fade; owned */
	bool *sends;                             /* see struct ibcc_root; owned */
	/* Counted from the log while the root was held; fades. */
	struct pair_count *pair; /* owned */
	uint32_t n, cap;
	struct endport_count *marked; /* by endport; owned; NULL: the root is not held */
	uint32_t n_endports;
	double samples, marks; /* sums over the pairs */
	double sent_mbps,
		sent_ns;      /* sums over passes: what the root sent, times the time; the time */
	double passes;        /* how many they count as */
	double capacity_mbps; /* the most that a slow receiver takes; 0: not known */
	bool untrue;          /* the last comparison contradicted the log */
	uint16_t unlogged;    /* passes in a row without a packet of the root in the log */
};

/* The part of its link's rate that a port sends, and for how many passes it has. */
struct narrow {
	uint8_t part, passes;
};

/* What the estimator remembers between passes. */
struct ibcc_estimator {
	struct ibcc_estimator_params p;
	uint32_t n_endports, n_ports;
	struct ibcc_load *load; /* by endport; owned */
	struct narrow *narrow;  /* by port: see note_narrow(); owned */
	uint32_t n, cap;
	struct root_history *root; /* during a run in the order of the estimate's roots; owned */
};

/* All that one run of the estimator works on. */
struct estimation {
	struct ibcc_estimator *m;
	const struct ibcc_estimator_params *p;
	const struct ibcc_topo *t;
	const struct ibcc_snapshot *s;
	const struct ibcc_settings *actual;
	struct load *load;                  /* by port */
	const struct ibcc_parameters *last; /* of the pass before; may be NULL */
	struct ibcc_estimate *out;
	uint32_t cap_roots;
	/* Both while roots are looked for: */
	struct tree *tree;
	bool *takes_part; /* by port, of an adapter: see note_parts() */
};

/* The adapters at a switch, summed up: all of them are in the same trees, by the same way. */
struct adapters {
	uint32_t n;
	/* Of those with usable counters: */
	uint32_t n_usable;
	uint32_t n_waiting;
	uint32_t n_held_up; /* by load_held_up() */
	uint16_t wait;      /* highest */
	uint64_t free_mbps; /* what those send that do not wait */
	uint64_t becn;      /* of the most marked one */
};

/* An adapter's port with usable counters that is held up, by load_held_up(). */
struct held_up {
	uint32_t port, sw;
};

/* Ports of a switch by which packets come. */
struct feeders {
	uint32_t walk;       /* that `in` is of */
	struct port_set in;  /* other switches forward packets of its LID to them */
	struct port_set odd; /* nodes that are silent, or not known completely, may do so */
};

/* What lies upstream of a switch port by routes and links. */
struct tree {
	uint32_t *sw; /* the switches; n_switches of them */
	uint32_t n_switches;
	struct adapters *adapters; /* by node index, of a switch */
	struct feeders *feeders;   /* the same */
	struct held_up *held_up;   /* in order of the port; n_held_up of them */
	uint32_t n_held_up;
	uint32_t start;           /* the root's switch */
	struct adapters at_start; /* its adapters without one that the root leads to */
	uint8_t *flag;            /* by port index: enum tree_flag of a switch's */
	uint32_t *flagged;        /* ports that have flags; n_flagged of them */
	uint32_t n_flagged;
	/* By node index: enum tree_flag of a switch's adapters; and the switches that have any. */
	uint8_t *below;
	uint32_t *reached;
	uint32_t n_reached;
	uint32_t *stack; /* by node index: switches still to be visited */
	/* By node index: TREE_BLOCKED, TREE_SHARED of its way to the root; of a switch that
	 * ibcc_tree_holds_up() has looked at: TREE_FEEDS, if it does.
	 */
	uint8_t *path;
	uint32_t *seen; /* by node index: number of the walk that visited it last */
	uint32_t walk;
	uint32_t n_ports;          /* all ports of the switches that the walk visited */
	uint16_t feed_wait;        /* highest wait of the ports that feed the root's switch */
	uint32_t n_read, n_usable; /* ports met, and those with usable counters */
	uint32_t n_waiting;        /* of those, each counted once */
	/* By region of silent nodes: the last LID behind the root for which known switches send
	 * packets into the region. NULL: there are no gaps.
	 */
	uint32_t *fed;
	uint64_t unknown_mbps; /* the most that silent nodes may send to the root */
	uint32_t unknown_port; /* the port where most of it comes in */
	uint64_t unknown_most; /* how much comes in there, Mb/s */
};

enum tree_flag {
	TREE_REACHES = 1 << 0, /* its route to a destination behind the root passes the root */
	TREE_BLOCKED = 1 << 1, /* all switch ports on such a route wait */
	TREE_SHARED = 1 << 2,  /* there is a switch port on it: its packets queue with others' */
	TREE_COUNTED = 1 << 3, /* a port that waits was counted */
	TREE_UNKNOWN = 1 << 4, /* a port by which packets of silent nodes come was counted */
	TREE_FEEDS = 1 << 5,   /* of a switch's port: it waits, as do all on its way to the root */
};

/* Makes *j->tree for this pass's loads. -ENOMEM. */
int ibcc_tree_init(const struct estimation *j);
void ibcc_tree_fini(struct tree *tr);
/* Walks upstream from a switch's output port along the forwarding tables of all destinations
 * behind it, and leaves in *j->tree what its members say of the last walk.
 */
void ibcc_tree_walk(const struct estimation *j, uint32_t root);
/* The adapters of a switch in the tree just walked. */
static inline const struct adapters *ibcc_tree_adapters(const struct tree *tr, uint32_t sw)
{
	return sw == tr->start ? &tr->at_start : &tr->adapters[sw];
}

/* Whether the tree just walked holds up packets that come into a switch for any destination: they
 * queue at one of its ports, or at ports that all wait for one.
 */
bool ibcc_tree_holds_up(const struct estimation *j, uint32_t sw);

/* A switch port that passes on the congestion of a port further on. */
static inline bool load_blocked(const struct ibcc_estimator_params *p, const struct load *l)
{
	return l->usable && l->sent + l->waited >= p->full_permille &&
	       l->waited >= p->fed_wait_permille;
}

/* Whether an adapter is held up: it waits or gets BECNs. */
static inline bool load_held_up(const struct ibcc_estimator_params *p, const struct load *l)
{
	return l->becn || l->waited >= p->ca_wait_permille;
}

/* Settings of a port's switch; NULL: not known. */
static inline const struct ibcc_endport_cc *switch_cc(const struct estimation *j, uint32_t port)
{
	uint32_t ep = ibcc_topo_switch_endport(j->t, port);

	return j->actual && ep < j->actual->n ? &j->actual->ep[ep] : NULL;
}

/* For qsort(). */
static inline int order(uint64_t x, uint64_t y)
{
	return (x > y) - (x < y);
}

/* Marked packets in one interval, from a port's difference. A port that was not read for a while
 * has the marks of several intervals, which are divided by their number.
 */
static inline uint64_t marks_in_interval(const struct ibcc_snapshot *s,
					 const struct ibcc_port_sample *p, enum ibcc_ctr c)
{
	uint64_t n = s->interval_ns ? (p->delta.dt_ns + s->interval_ns / 2) / s->interval_ns : 1;

	return p->delta.v[c] / (n ? n : 1);
}

/* Whether a port's BECN counter is used. It is not if the last comparison found more BECNs than
 * packets, although it takes several such comparisons to distrust the port.
 */
static inline bool tells_becns(const struct ibcc_port_sample *s)
{
	return s->trust.doubt == IBCC_DOUBT_NONE && !s->trust.becn.finding.run;
}

/* estimate_blind.c. Infers the waits of adapters that count none, once all loads are known. */
void ibcc_estimate_infer_waits(const struct estimation *j);
/* Takes marks from the switches' logs if adapters do not count them. */
void ibcc_estimate_infer_marks(const struct estimation *j);

/* estimate_log.c. Sorts what switches logged into out->pair, by the port that marked it. A packet
 * that no adapter of the topology sent, or whose route does not pass the switch, is left out.
 * -ENOMEM.
 */
int ibcc_estimate_sort_log(struct estimation *j);

/* estimate_roots.c. Appends a port to the roots, with what is known of any port. NULL: out of
 * memory.
 */
struct ibcc_root *ibcc_estimate_append(struct estimation *j, uint32_t port,
				       enum ibcc_congestion kind);
/* Finds the roots of this pass. -ENOMEM. */
int ibcc_estimate_roots(struct estimation *j);

/* estimate_log.c. How many packets of an adapter's port a root's log counts. */
double ibcc_estimate_logged(const struct root_history *m, uint32_t src);
/* Whether another root has at least one packet of the port in its log. */
bool ibcc_estimate_logged_elsewhere(const struct ibcc_estimator *m, const struct root_history *r,
				    uint32_t src);
/* Counts a root's pairs if it is held; otherwise forgets them. -ENOMEM. */
int ibcc_estimate_count_pairs(struct root_history *m, const struct estimation *j,
			      const struct ibcc_root *now);
/* Gives each counted pair its marks. */
void ibcc_estimate_weigh_pairs(const struct estimation *j);
/* After this many passes in a row without a packet in the log, old counts are too old to use. */
#define IBCC_UNLOGGED_MAX 8u

/* Whether a root is the only port of its switch that marks, because its setting is its own. */
bool ibcc_estimate_marks_alone(const struct estimation *j, uint32_t port);

/* estimate_log_check.c. Compares what the log of a root's switch says with the adapters' counters.
 * Counts of a contradicted log are forgotten, so that the next comparison has new packets.
 */
enum ibcc_log_verdict ibcc_estimate_check_log(const struct estimation *j, struct root_history *m);

/* estimate_shares.c. Finds which pairs each root limits. -ENOMEM. */
int ibcc_estimate_shares(const struct estimation *j);

#endif
