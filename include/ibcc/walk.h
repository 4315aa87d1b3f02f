/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Walking a fabric by directed routes: which Gets to send, and what their answers mean for the
 * topology. The caller carries the datagrams, in any order and as many at once as it likes.
 */
#ifndef IBCC_WALK_H
#define IBCC_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/topo.h>

struct ibcc_walk;
struct ibcc_walk_node;

struct ibcc_walk_options {
	/* Read SL to VL maps: one Get for each pair of ports that has VLs to choose from. */
	bool sl2vl;
	/* SMPs leave the node where the walk begins by all its ports, as at ibsim's, not only by
	 * that which we are at.
	 */
	bool leave_by_all;
};

/* A Get under way; private to the walk. */
struct ibcc_walk_get {
	struct ibcc_walk_node *node; /* asked, or where the way to the one asked begins */
	uint32_t attr_mod;
	uint16_t attr_id;
	uint8_t out_port; /* NodeInfo: of the node behind this port; 0: the first node of all */
	uint8_t tries;    /* how often it was given up before */
};

/* NULL without memory. */
struct ibcc_walk *ibcc_walk_new(const struct ibcc_walk_options *o);
/* NULL is fine. */
void ibcc_walk_free(struct ibcc_walk *w);

/* The next Get: 1, or 0: none as long as those under way have no answer, and when there are none
 * the walk is over. -ENOMEM.
 */
int ibcc_walk_next(struct ibcc_walk *w, struct ibcc_walk_get *g);
/* Its datagram, to the permissive LID. */
void ibcc_walk_request(const struct ibcc_walk_get *g, uint8_t *mad);

/* To be called once for each Get: with its answer, or NULL if it was refused, and the node may well
 * be without. -ENOMEM.
 */
int ibcc_walk_answer(struct ibcc_walk *w, const struct ibcc_walk_get *g, const uint8_t *mad);
/* The same for one that is given up: what it asked for is missing. */
void ibcc_walk_give_up(struct ibcc_walk *w, const struct ibcc_walk_get *g);

/* Is this what every node has, so that one that refuses it does so for the moment, or lies? */
bool ibcc_walk_needs(const struct ibcc_walk_get *g);

/* Puts the Gets that were given up into the queue again, and no others. A walk that was over goes
 * on, and finds what lies behind a node that answers now. Returns the number of these Gets.
 */
uint32_t ibcc_walk_retry(struct ibcc_walk *w);
/* Before a walk's first Get: what an earlier walk gave up counts as tried as often. -ENOMEM. */
int ibcc_walk_follow(struct ibcc_walk *w, const struct ibcc_walk *earlier);

/* GUIDs that more than one node seems to have. */
struct ibcc_walk_shared {
	uint32_t n;       /* number of such GUIDs */
	uint64_t guid[8]; /* the first of them */
};

/* What is missing at the end of a walk, and what made no sense together. */
struct ibcc_walk_gaps {
	uint32_t n;         /* Gets without an answer */
	uint32_t n_odd;     /* contradictions */
	unsigned int tries; /* how often the Get was given up that was given up least often */
	uint64_t odd_sum;   /* equal if the same contradicts itself again; 0: nothing does */
	uint32_t n_partial; /* of the Gets: those of nodes that have answered others */
	char partial[72];   /* name of the first of those nodes; empty: none */
	bool local;         /* what the local port is linked to is missing */
	char odd[400];      /* the first contradiction, in words; empty: none */
	struct ibcc_walk_shared shared;
	/* The first of the shared GUIDs and the two places where it was found, in words; empty:
	 * there is none.
	 */
	char shared_text[320];
	/* The first LID that two ports have, or that can be none; empty: there is none. */
	char lid_text[240];
};
/* Of more than are kept any GUID may be one. */
bool ibcc_walk_is_shared(const struct ibcc_walk_shared *s, uint64_t guid);
void ibcc_walk_gaps(const struct ibcc_walk *w, struct ibcc_walk_gaps *gaps);

/* The topology found so far, with nodes in ascending order of their GUIDs. A link needs both its
 * ports up. A port that did not report its state has port state 0. An adapter that did not report
 * its LIDs has no link: it can be neither read nor the end of a route. Notes contradictions for
 * ibcc_walk_gaps(). May be called again when the walk has gone on. NULL without memory.
 */
struct ibcc_topo *ibcc_walk_topo(struct ibcc_walk *w);

#endif
