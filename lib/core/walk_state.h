/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a walk knows. Private to walk*.c. */
#ifndef IBCC_CORE_WALK_STATE_H
#define IBCC_CORE_WALK_STATE_H

#include <stddef.h>

#include <ibcc/smp.h>
#include <ibcc/walk.h>

/* Kinds of questions for the rate of a link; see walk_rates.c. */
enum walk_rate { WALK_RATE_EXT, WALK_RATE_FDR10, WALK_RATES };

/* How a node has taken a kind of question. */
enum walk_answers { WALK_NEW, WALK_ASKED, WALK_YES, WALK_MUTE };

/* The same of all nodes of one type of device. */
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
	bool told[WALK_RATES]; /* it has answered such a question */
};

struct walk_map {
	uint8_t in, out, vl[16];
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
	size_t head, n_todo, cap_todo;
	size_t n_busy;
	unsigned int n_odd;
	struct walk_type *type;
	uint32_t n_types, cap_types;
	struct ibcc_walk_get *gap; /* given up */
	size_t n_gaps, cap_gaps;
};

/* walk.c: puts a Get into the queue. -ENOMEM. */
int ibcc_walk_ask(struct ibcc_walk *w, struct ibcc_walk_node *n, uint16_t attr_id,
		  uint32_t attr_mod, uint8_t out_port);

/* walk_rates.c: when everything that was asked is answered, asks for links that may be faster than
 * they read. Asks nothing when there is nothing left to ask. -ENOMEM.
 */
int ibcc_walk_ask_rates(struct ibcc_walk *w);
/* Takes the answer to such a question; NULL: it was refused. */
void ibcc_walk_take_rate(struct ibcc_walk *w, const struct ibcc_walk_get *g, const uint8_t *mad);
/* Such a question got no answer. */
void ibcc_walk_no_rate(struct ibcc_walk *w, const struct ibcc_walk_get *g);
/* Links that nobody could decide lose their rate. */
void ibcc_walk_settle_rates(struct ibcc_walk *w);
/* Is the Get one of those? A node that does not answer it lacks nothing. */
static inline bool ibcc_walk_is_rate(const struct ibcc_walk_get *g)
{
	return g->attr_id == IBCC_SMP_ATTR_EXT_PORT_INFO ||
	       (g->attr_id == IBCC_SMP_ATTR_PORT_INFO && g->attr_mod & IBCC_SMP_EXT_SPEEDS);
}

#endif
