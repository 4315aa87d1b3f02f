/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which hotspots are controlled, from when, for how long and how firmly: from a picture to
 * parameters. It sees no counters and no registers.
 */
#ifndef IBCC_CONTROLLER_H
#define IBCC_CONTROLLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ibcc/parameters.h>
#include <ibcc/picture.h>
#include <ibcc/settings.h>
#include <ibcc/target.h>

/* Rules that can be left out, to see what they are worth. */
enum ibcc_rule {
	IBCC_RULE_NONE,
	IBCC_RULE_GUARD,
	IBCC_RULE_LOG,    /* sizes by who is limited */
	IBCC_RULE_BECNS,  /* sizes by who contributes */
	IBCC_RULE_DRAIN,  /* emptying a tree first */
	IBCC_RULE_NEARER, /* hot ports that are idle */
	IBCC_RULE_CALM,   /* fewer marks once the tree is gone */
	IBCC_RULE_DOUBT,  /* full links admitted in doubt */
	IBCC_RULE_RATES,  /* marking rates of each root's own */
};

struct ibcc_tuner_params {
	uint8_t confirm_passes;      /* congestion must be seen in so many passes before acting */
	uint8_t settle_passes;       /* passes to wait after a change before judging it */
	uint16_t sink_busy_permille; /* hot port at least so busy, else its sources are held less */
	uint16_t victim_wait_permille; /* who waits more is held up */
	uint16_t quiet_passes;         /* passes without congestion before settings are removed */
	uint16_t guard_passes; /* passes after a change in which harm is taken back; 0: never */
	int without;           /* enum ibcc_rule: left out; no configuration has it */
};
void ibcc_tuner_defaults(struct ibcc_tuner_params *p);

enum ibcc_decision_code {
	IBCC_DECISION_ADMIT,       /* values by the formulas; a: sources */
	IBCC_DECISION_LEARN,       /* marks alone, to learn who contributes */
	IBCC_DECISION_NO_SUPPORT,  /* the root's switch has no congestion control */
	IBCC_DECISION_LEARNT,      /* a: contributors, who get values */
	IBCC_DECISION_MORE,        /* a: more contributors than were seen to wait */
	IBCC_DECISION_DRAINED,     /* the tree is empty */
	IBCC_DECISION_DRAIN_AGAIN, /* a: permille that its sources wait */
	IBCC_DECISION_CALM,        /* the tree is gone: fewer marks */
	IBCC_DECISION_NOT_CALM,    /* it is back: more marks */
	IBCC_DECISION_TURNED,  /* a: what the root carries or can carry, now of the other kind */
	IBCC_DECISION_NUMBERS, /* BECNs: a contributors, b as equal ones, c what is carried; d, e,
				* f: before */
	IBCC_DECISION_PAIRS,   /* log: a pairs, b Mb/s in all; c, d: before */
	IBCC_DECISION_NEARER,  /* a: permille that the hot port is busy */
	IBCC_DECISION_FARTHER, /* likewise: what NEARER gave is taken back */
	IBCC_DECISION_ENLIST,  /* a: adapters more */
	IBCC_DECISION_HARM,    /* barred: adapters send less */
	IBCC_DECISION_IN_VAIN, /* barred: nobody would be freed */
	IBCC_DECISION_DOUBTED, /* let go: its port's counters are not believed any more */
};

struct ibcc_decision {
	enum ibcc_decision_code code;
	struct ibcc_root_parameters root; /* its arrays are not there */
	uint32_t a, b, c, d, e, f;
};

#define IBCC_DECISIONS_MAX 8u

struct ibcc_controller; /* state between steps */

/* NULL without memory. */
struct ibcc_controller *ibcc_controller_new(const struct ibcc_tuner_params *p);
void ibcc_controller_free(struct ibcc_controller *c);

/* Forgets all state about the fabric. */
void ibcc_controller_reset(struct ibcc_controller *c);

/* One decision. `unset`: what of the last parameters is not on the fabric (see ibcc_laying_run()).
 * Writes up to IBCC_DECISIONS_MAX decisions to `said`, their number to *n_said. -ENOMEM.
 */
int ibcc_controller_step(struct ibcc_controller *c, const struct ibcc_topo *t,
			 const struct ibcc_picture *p, const struct ibcc_settings *actual,
			 const struct ibcc_target *unset, struct ibcc_decision *said,
			 uint32_t *n_said);

/* Those decided on last; the controller's until its next step. */
const struct ibcc_parameters *ibcc_controller_parameters(const struct ibcc_controller *c);

/* Do counters look as if settings were not on the fabric any more? Asked once in each pass: doubts
 * that prove wrong come back ever later.
 */
bool ibcc_controller_suspects(struct ibcc_controller *c, const struct ibcc_picture *p);

/* Are settings that the next steps want carried out? Learning only begins if they are; at first
 * they are not.
 */
void ibcc_controller_may_learn(struct ibcc_controller *c, bool may);

#endif
