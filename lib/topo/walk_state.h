/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a walk over the fabric has learnt so far. Private to walk*.c. walk.c explains the walk. */
#ifndef IBCC_TOPO_WALK_STATE_H
#define IBCC_TOPO_WALK_STATE_H

#include <stddef.h>

#include <ibcc/smp.h>
#include <ibcc/walk.h>

/* Kinds of questions for the rate of a link; see walk_rates.c. */
enum walk_rate { WALK_RATE_EXT, WALK_RATE_FDR10, WALK_RATES };

/* Whether a node answers a kind of question: not asked yet, asked, it does, it does not. */
enum walk_answers { WALK_NEW, WALK_ASKED, WALK_YES, WALK_MUTE };

/* Whether the nodes of one type of device answer each kind of question. */
struct walk_type {
	uint32_t vendor_id;
	uint16_t device_id;
	bool answered[WALK_RATES];
	uint32_t n_asked[WALK_RATES]; /* nodes that are WALK_ASKED, and WALK_MUTE */
	uint32_t n_mute[WALK_RATES];
};

struct walk_port {
	struct ibcc_smp_port_info info; /* state 0: no answer yet */
	uint64_t guid;
	struct ibcc_walk_node *peer;
	uint8_t peer_port;
	bool told[WALK_RATES]; /* it has answered this kind of question */
};

/* An SL to VL map of a switch, for a pair of ports. */
struct walk_map {
	uint8_t in, out, vl[16];
};

/* A port of a node, as a contradiction names it. */
struct walk_place {
	const struct ibcc_walk_node *node;
	uint8_t port;
};

enum walk_odd_kind {
	WALK_ODD_NODE, /* the node behind `at` says impossible things of itself */
	WALK_ODD_LINK, /* `at` leads to `one` and to `other` */
	WALK_ODD_GUID, /* one GUID answers behind `one` and behind `other`; `at` is its port */
	WALK_ODD_LID,  /* `one` and `other` have the same LID */
};

/* A contradiction between answers: things that cannot be true together. */
struct walk_odd {
	enum walk_odd_kind kind;
	struct walk_place at, one, other;
	uint16_t lid;
};

struct walk_oddities {
	uint32_t n;
	uint64_t sum; /* hash of all of them, which does not depend on their order */
	struct walk_odd first, first_shared;
	struct ibcc_walk_shared shared;
};

struct ibcc_walk_node {
	struct ibcc_smp_node_info info;
	struct ibcc_smp_path path;
	char desc[IBCC_DESC_BYTES];
	bool enhanced_port0;
	enum walk_answers answers[WALK_RATES];
	struct walk_port *port; /* 0 .. num_ports */
	uint8_t *lft;
	uint32_t lft_len;
	struct walk_map *map;
	uint32_t n_maps, cap_maps;
	uint32_t index; /* in the topology */
};

struct ibcc_walk {
	struct ibcc_walk_options o;
	struct ibcc_walk_node **node; /* in the order of their GUIDs */
	uint32_t n, cap;
	struct ibcc_walk_node *first;
	uint8_t local_port; /* of the first node */
	struct ibcc_walk_get *todo;
	uint32_t head, n_todo, cap_todo;
	size_t n_busy;
	/* Contradictions between answers, and in the topology that was last made of them, which are
	 * all of kind WALK_ODD_LID.
	 */
	struct walk_oddities odd, odd_topo;
	struct walk_type *type;
	uint32_t n_types, cap_types;
	struct ibcc_walk_get *gap; /* Gets that were given up */
	uint32_t n_gaps, cap_gaps;
	uint64_t *tried; /* what an earlier walk gave up: pairs of a hash and a number of times */
	size_t n_tried;
	bool lost_count; /* there was no memory to note a gap: something is missing */
};

/* walk.c. Puts a Get into the queue. -ENOMEM. */
int ibcc_walk_ask(struct ibcc_walk *w, struct ibcc_walk_node *n, uint16_t attr_id,
		  uint32_t attr_mod, uint8_t out_port);

/* walk_gaps.c. The Get that is given up, with the number of times that this has happened to it. */
struct ibcc_walk_get ibcc_walk_tried(const struct ibcc_walk *w, const struct ibcc_walk_get *g);
/* Notes a contradiction. */
void ibcc_walk_odd(struct walk_oddities *odd, const struct walk_odd *what);

/* walk_rates.c. Asks for links that may be faster than they read; to be called when all other Gets
 * are answered. Puts nothing into the queue if nothing is left to ask. -ENOMEM.
 */
int ibcc_walk_ask_rates(struct ibcc_walk *w);
/* Takes the answer to such a question; NULL: it was refused. */
void ibcc_walk_take_rate(struct ibcc_walk *w, const struct ibcc_walk_get *g, const uint8_t *mad);
/* A question for a rate got no answer. */
void ibcc_walk_no_rate(struct ibcc_walk *w, const struct ibcc_walk_get *g);
/* Links whose rate is still undecided get the rate 0, which means not known. */
void ibcc_walk_settle_rates(struct ibcc_walk *w);
/* Whether a Get is a question for a rate. If it is not answered, nothing of the node is missing. */
static inline bool ibcc_walk_is_rate(const struct ibcc_walk_get *g)
{
	return g->attr_id == IBCC_SMP_ATTR_EXT_PORT_INFO ||
	       (g->attr_id == IBCC_SMP_ATTR_PORT_INFO && g->attr_mod & IBCC_SMP_EXT_SPEEDS);
}

#endif
