/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is decided for each root: its phase, the numbers that the law is given, and who gets values.
 * From these alone settings are laid.
 */
#ifndef IBCC_PARAMETERS_H
#define IBCC_PARAMETERS_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/formula.h>
#include <ibcc/topo.h>

#define IBCC_ROOTS_MAX 32u

enum ibcc_phase {
	IBCC_PHASE_WATCH,  /* seen, to be confirmed: nothing is set */
	IBCC_PHASE_LEARN,  /* marks, with tables of no delay: BECNs name who contributes */
	IBCC_PHASE_DRAIN,  /* its tree is emptied */
	IBCC_PHASE_HOLD,   /* its sources are held at their shares */
	IBCC_PHASE_BARRED, /* control did harm, or can free nobody: not for a while */
};

/* What n counts, and by what it is known. */
enum ibcc_basis {
	IBCC_BASIS_WAITING, /* adapters that wait (PortXmitWait) */
	IBCC_BASIS_MARKED,  /* adapters that contribute (BECN) */
	IBCC_BASIS_LOGGED,  /* pairs that the root limits (CongestionLog) */
};

struct ibcc_root_parameters {
	uint32_t port;
	enum ibcc_congestion kind;
	enum ibcc_phase phase;
	enum ibcc_basis basis;
	bool in_force;      /* its settings are on the fabric */
	bool limits_known;  /* whom it limits, by the log */
	bool tree_gone;     /* it marks less */
	uint32_t n;         /* see enum ibcc_basis */
	uint32_t n_heavy;   /* so many if all sent as much as the heaviest; 1..n */
	uint32_t rate_mbps; /* what they get in all */
	uint32_t packet_bytes;
	uint8_t threshold;      /* register */
	uint32_t end_permille;  /* feedback on the end of the table: 1000 is the formula's */
	uint32_t loop_permille; /* feedback on increase * timer */
	uint64_t interval_ns;   /* between two decisions */
	bool *member;           /* by endport: gets this root's values; owned */
	bool *lacking;          /* by endport: ought to, but cannot; owned */

	/* Evidence when it was decided on: */
	uint32_t link_mbps, seen_mbps; /* seen: what the port sent then */
	uint16_t wait_permille, tree_wait_permille;

	/* By ibcc_parameters_group(): */
	uint32_t leader;       /* index of the root whose timer and increase its sources have */
	bool alone;            /* no other root has that leader */
	uint16_t marking_rate; /* register: one packet in so many + 1 is marked */
	uint32_t recover;      /* passes from the table's end to its beginning */
};

struct ibcc_parameters {
	uint32_t n_roots;
	struct ibcc_root_parameters root[IBCC_ROOTS_MAX];
	uint32_t n_endports;
	uint16_t max_timer; /* that sources get, whatever the law says; 0: any */
};

/* Are settings of the root wanted on the fabric? */
static inline bool ibcc_phase_sets(enum ibcc_phase p)
{
	switch (p) {
	case IBCC_PHASE_WATCH:
	case IBCC_PHASE_BARRED: break;
	case IBCC_PHASE_LEARN:
	case IBCC_PHASE_DRAIN:
	case IBCC_PHASE_HOLD: return true;
	}
	return false;
}

/* All roots whose settings are wanted, by a pointer of the caller's. */
#define ibcc_parameters_each(r, p)                                                                 \
	for ((r) = (p)->root; (r) < (p)->root + (p)->n_roots; (r)++)                               \
		if (!ibcc_phase_sets((r)->phase)) {                                                \
		} else

/* NULL if the port has none. */
struct ibcc_root_parameters *ibcc_parameters_find(struct ibcc_parameters *p, uint32_t port);

/* Appends a root in phase WATCH without members; NULL without memory or with IBCC_ROOTS_MAX. */
struct ibcc_root_parameters *ibcc_parameters_add(struct ibcc_parameters *p, uint32_t port);

/* Removes the root with an index; the last one gets it. */
void ibcc_parameters_remove(struct ibcc_parameters *p, uint32_t k);
void ibcc_parameters_fini(struct ibcc_parameters *p);

/* Roots that share contributors share their values, those of the most demanding one, and the others
 * mark less: sets leader, alone, marking_rate and recover. IBA vol. 1, Annex A10: an adapter has
 * one table and one pair of CCTI_Increase and CCTI_Timer for an SL.
 */
void ibcc_parameters_group(struct ibcc_parameters *p, const struct ibcc_topo *t);

#endif
