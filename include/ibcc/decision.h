/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a polling cycle decided, as codes with figures, or what it found where it decided nothing.
 *
 * A program compares codes. A person reads the sentence that ibcc_words_decisions() makes of them,
 * which only the code that shows it asks for: the report, the log, the history.
 */
#ifndef IBCC_DECISION_H
#define IBCC_DECISION_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/parameters.h>
#include <ibcc/topo.h>

enum ibcc_decision_code {
	IBCC_DECISION_ADMIT,       /* values by the formulas */
	IBCC_DECISION_LEARN,       /* only marking is on, to learn which adapters contribute */
	IBCC_DECISION_NO_SUPPORT,  /* the root's switch has no congestion control */
	IBCC_DECISION_LEARNT,      /* its n contributors get values */
	IBCC_DECISION_MORE,        /* n contribute, more than were seen to wait */
	IBCC_DECISION_DRAINED,     /* the tree is empty */
	IBCC_DECISION_DRAIN_AGAIN, /* a: permille that its sources wait */
	IBCC_DECISION_TREE_GONE,   /* the tree is gone: fewer marks */
	IBCC_DECISION_TREE_BACK,   /* it is back: more marks */
	IBCC_DECISION_TURNED,      /* it is of the other kind now */
	IBCC_DECISION_NUMBERS,     /* BECNs: a contributors, b as equal ones, c Mb/s carried */
	IBCC_DECISION_PAIRS,       /* log: a pairs, b Mb/s in all */
	IBCC_DECISION_LOOSEN,      /* a: permille that the hot port is busy */
	IBCC_DECISION_TIGHTEN,     /* the opposite; a as there */
	/* The last steps of a profile are reverted; a, b: Mb/s that the adapters behind the root
	 * sent before them and with them.
	 */
	IBCC_DECISION_STEP_BACK,
	IBCC_DECISION_ENLIST,  /* a: adapters more */
	IBCC_DECISION_HARM,    /* barred: adapters send less */
	IBCC_DECISION_IN_VAIN, /* barred: control would free no sender */
	IBCC_DECISION_DOUBTED, /* let go: its port's counters are not believed any more */
};
#define IBCC_DECISION_CODES   (IBCC_DECISION_DOUBTED + 1u)
#define IBCC_DECISION_FIGURES 3u

struct ibcc_decision {
	enum ibcc_decision_code code;
	/* The root as it was when this was decided: NUMBERS and PAIRS find the old numbers there.
	 * Its arrays are not there.
	 */
	struct ibcc_root_parameters root;
	uint32_t a, b, c; /* see the code */
};

/* What a polling cycle found that decided nothing. */
enum ibcc_situation_code {
	IBCC_SITUATION_NOTHING_YET,   /* no cycle has decided yet */
	IBCC_SITUATION_NO_COUNTERS,   /* there are no counters to read */
	IBCC_SITUATION_BLIND,         /* too few ports were read: ports, usable, unsure */
	IBCC_SITUATION_NOT_SET,       /* none of a root's settings are on the fabric */
	IBCC_SITUATION_PARTLY_SET,    /* its port marks, but other settings are lacking */
	IBCC_SITUATION_CONTROLLED,    /* roots are under control */
	IBCC_SITUATION_UNCONFIRMED,   /* congestion that has not lasted long enough */
	IBCC_SITUATION_OVER,          /* settings from before the congestion come back */
	IBCC_SITUATION_UNKNOWN_NODES, /* silent nodes may cause the congestion of this many ports */
	IBCC_SITUATION_HARMLESS,      /* congestion that affects no other traffic */
	IBCC_SITUATION_NO_CONGESTION,
};
#define IBCC_SITUATION_CODES (IBCC_SITUATION_NO_CONGESTION + 1u)

struct ibcc_situation {
	enum ibcc_situation_code code;
	struct ibcc_root_parameters root; /* NOT_SET, PARTLY_SET: which; no arrays */
	uint32_t roots;                   /* CONTROLLED: how many */
	bool lacking;                     /* CONTROLLED: some nodes lack settings */
	/* BLIND: adapters that should report, that do report, and whose counters saturated or were
	 * cleared. UNKNOWN_NODES: `ports` alone.
	 */
	uint32_t ports, usable, unsure;
};

/* How a plan for many nodes is carried out, see <ibcc/rollout.h>. */
enum ibcc_rollout_step {
	IBCC_STEP_ALL,     /* all nodes at once */
	IBCC_STEP_FIRST,   /* a few nodes */
	IBCC_STEP_WAIT,    /* nothing: the first nodes show no effect yet */
	IBCC_STEP_THE_REST /* the other nodes: the first ones have shown an effect */
};
#define IBCC_ROLLOUT_STEPS (IBCC_STEP_THE_REST + 1u)

/* How many enum ibcc_phase and enum ibcc_root_status have. */
#define IBCC_PHASES   (IBCC_PHASE_BARRED + 1u)
#define IBCC_STATUSES (IBCC_STATUS_GONE + 1u)

struct ibcc_decisions {
	uint32_t n, cap;
	struct ibcc_decision *decision;  /* owned; in the order in which they were taken */
	struct ibcc_situation situation; /* where n is 0 */
	bool recommended;                /* nothing of it is carried out */
	/* Endports with settings of an earlier run that no root has, and whether they are removed
	 * now.
	 */
	uint32_t n_left;
	bool left_goes;
	enum ibcc_rollout_step step;
	uint32_t step_nodes, nodes_left; /* of the step, and after it */
};

/* Appends a decision about a root, without the root's arrays. NULL without memory. */
struct ibcc_decision *ibcc_decisions_add(struct ibcc_decisions *d, enum ibcc_decision_code code,
					 const struct ibcc_root_parameters *root);
void ibcc_decisions_fini(struct ibcc_decisions *d);

/* Words for programs, as in JSON and in labels of metrics: lower case, with underscores. */
const char *ibcc_decision_name(enum ibcc_decision_code code);
const char *ibcc_situation_name(enum ibcc_situation_code code);
const char *ibcc_rollout_step_name(enum ibcc_rollout_step step);
const char *ibcc_phase_name(enum ibcc_phase phase);
const char *ibcc_basis_name(enum ibcc_basis basis);
const char *ibcc_root_status_name(enum ibcc_root_status status);

/* What the k-th of a decision's figures a, b and c is, with its unit; NULL: it has no such figure.
 */
const char *ibcc_decision_figure(enum ibcc_decision_code code, unsigned int k);

/* Equal for equal codes at equal ports of one topology, whatever their figures are. */
uint64_t ibcc_decisions_key(const struct ibcc_decisions *d);

/* The decisions, or the situation, as a sentence for people, "" before there is either: the
 * caller's. NULL without memory.
 */
char *ibcc_words_decisions(const struct ibcc_topo *t, const struct ibcc_decisions *d);

struct ibcc_estimate;
/* What is wrong with the fabric, as one sentence for people that names the machines, worst root
 * first: "1 slow receiver: destination1 (leaf2 port 2) takes 47 % of its link; source1, source2
 * blocked". `par` (may be NULL) has the throttled senders, and roots that are controlled so well
 * that they are no longer in the estimate. The caller frees the text; NULL without memory.
 */
char *ibcc_words_verdict(const struct ibcc_topo *t, const struct ibcc_estimate *pic,
			 const struct ibcc_parameters *par);

#endif
