/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* All about the roots that the controller follows, one struct for each. The first part is what is
 * decided for a root: its phase, the numbers for the law, and which endports get values. The
 * overlay makes settings from this part alone. The rest is what the controller remembers of the
 * root from pass to pass.
 */
#ifndef IBCC_PARAMETERS_H
#define IBCC_PARAMETERS_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/formula.h>
#include <ibcc/topo.h>

struct ibcc_load; /* <ibcc/estimate.h> */
struct ibcc_root;

#define IBCC_ROOTS_MAX  32u
#define IBCC_OTHERS_MAX 128u

enum ibcc_phase {
	IBCC_PHASE_WATCH,  /* seen, to be confirmed: nothing is set */
	IBCC_PHASE_LEARN,  /* marks, with tables of no delay: BECNs name the contributors */
	IBCC_PHASE_DRAIN,  /* its tree is emptied */
	IBCC_PHASE_HOLD,   /* its sources are held at their shares */
	IBCC_PHASE_BARRED, /* control did harm, or can free no sender: not tried for a while */
};

/* What n counts, and by what it is known. */
enum ibcc_basis {
	IBCC_BASIS_WAITING, /* adapters that wait (PortXmitWait) */
	IBCC_BASIS_MARKED,  /* adapters that contribute (BECN) */
	IBCC_BASIS_LOGGED,  /* pairs that the root limits (CongestionLog) */
};

/* Why a root is acted on, or is not, in this pass. The part of the controller that finds the reason
 * sets it.
 */
enum ibcc_root_status {
	IBCC_STATUS_NO_ROOT, /* no congestion starts at the port, as far as is known */

	/* Nothing is decided on it: */
	IBCC_STATUS_UNREADABLE, /* too many ports of the fabric report nothing in this pass */
	IBCC_STATUS_NOT_READ,   /* too few of the ports on the way to this root were read */
	IBCC_STATUS_NO_ROOM,    /* IBCC_ROOTS_MAX others are followed already */

	/* It is seen, and its sources are left alone: */
	IBCC_STATUS_HELPS_NOBODY,   /* no sender that is blocked behind it sends elsewhere */
	IBCC_STATUS_BACKLOG,        /* backlog that is repaid after a change may fill its link */
	IBCC_STATUS_FEEDERS_FREE,   /* its feeders wait too little, while others are controlled */
	IBCC_STATUS_NOT_CONFIRMED,  /* it has been seen in too few passes */
	IBCC_STATUS_WAITS,          /* it is confirmed; settings of other roots come first */
	IBCC_STATUS_WAITS_TO_LEARN, /* contributors can be learnt once no other root marks */
	IBCC_STATUS_NO_SUPPORT,     /* its switch has no congestion control */
	IBCC_STATUS_OUTSIDE,        /* a plan's nodes alone may get settings */
	IBCC_STATUS_BARRED_HARM,    /* control did harm, and is not tried for a while */
	IBCC_STATUS_BARRED_IN_VAIN, /* control freed no sender, and is not tried for a while */

	/* Settings for it are wanted: */
	IBCC_STATUS_RECOMMENDED,  /* they are not written, only recommended */
	IBCC_STATUS_NOT_IN_FORCE, /* they are not on the fabric, or not yet */
	IBCC_STATUS_CHANGED,      /* they are new in this pass */
	IBCC_STATUS_LEARNING,     /* marks show the contributors; none is throttled */
	IBCC_STATUS_DRAINING,     /* its tree is emptied */
	IBCC_STATUS_SETTLING,     /* the last change has not had time to show */
	IBCC_STATUS_HOLDING,  /* its sources are held, and feedback leaves the formulas as they are
			       */
	IBCC_STATUS_ADJUSTED, /* its sources are held, by feedback less than by the formulas */
	IBCC_STATUS_OUTLIER,  /* one source is marked far more than the others: nothing is judged */
	IBCC_STATUS_ABSENT,   /* it is no root in this pass: held well, or gone */

	/* It is let go in this pass: */
	IBCC_STATUS_DOUBTED, /* the counters of its port are not believed any more */
	IBCC_STATUS_GONE,    /* its congestion is over */
};

struct ibcc_root_parameters {
	uint32_t port;
	enum ibcc_root_status status;
	enum ibcc_congestion kind;
	enum ibcc_phase phase;
	enum ibcc_basis basis;
	bool in_force;      /* its settings are on the fabric */
	bool limits_known;  /* the log shows which senders it limits */
	bool tree_gone;     /* it marks less */
	uint32_t n;         /* see enum ibcc_basis */
	uint32_t n_heavy;   /* senders it would take if all sent as much as the heaviest; 1..n */
	uint32_t rate_mbps; /* what they get in all */
	uint32_t packet_bytes;
	uint8_t threshold; /* register */
	/* Feedback on the end of the table, or with NVIDIA's control on a profile's percent: 1000
	 * is the formula's.
	 */
	uint32_t table_scale_permille;
	uint32_t timer_scale_permille; /* feedback on increase * timer */
	uint64_t interval_ns;          /* between two decisions */
	bool *member;                  /* by endport: gets this root's values; owned */
	bool *lacking;                 /* by endport: ought to, but cannot; owned */

	/* Evidence when it was decided on: */
	uint32_t link_mbps, seen_mbps; /* seen: what the port sent then */
	uint16_t wait_permille, tree_wait_permille;

	/* By ibcc_parameters_group(): */
	uint32_t leader;       /* index of the root whose timer and increase its sources have */
	bool alone;            /* no other root has that leader */
	uint16_t marking_rate; /* register: one packet in marking_rate + 1 is marked */
	uint32_t recover;      /* passes from the table's end to its beginning */
};

/* Sums over passes since the last change of parameters. */
struct ibcc_window {
	uint32_t n; /* passes */
	uint64_t busy, rate_mbps, marks;
	uint64_t own_busy;  /* what the port itself sent and waited, permille */
	uint64_t sent_mbps; /* what the adapters behind the root sent */
};

/* A root that is followed. Only the controller reads and writes what comes after `r`. */
struct ibcc_root_state {
	struct ibcc_root_parameters r;

	uint16_t seen;     /* passes in a row with reason to act, before it is admitted */
	uint16_t stood;    /* passes as `seen`, not reset by other changes */
	uint16_t absent;   /* passes in a row in which it was no root */
	uint16_t left;     /* passes at most of phases LEARN, DRAIN and BARRED */
	uint16_t settle;   /* passes to wait before judging */
	uint16_t patience; /* times quiet_passes: it came back soon after it went */
	uint16_t barred;   /* length of the last bar, passes; 0: never was */
	uint8_t backoff;   /* waits of its rules are doubled this many times: its tree came back */
	bool begun;        /* some of its settings have been on the fabric */
	bool unmarked;     /* its settings were gone while it was held: no packet was marked */
	bool disturbed;    /* some of them were changed from outside: ibcc_tuner_disturb() */
	uint32_t n_adapters; /* that are limited and send through it */
	uint32_t full_mbps;  /* what the port carries while it is busy, to any receiver */
	struct ibcc_window win;
	/* With profiles: the scale that stays if the last step is reverted, and what the
	 * adapters behind it sent with it; 0: nothing is to be compared. See rule_feedback.c.
	 */
	uint32_t kept_permille;
	uint64_t kept_mbps;            /* more than 32 bits on large fabrics */
	bool *behind;                  /* by endport: waited for it when it was seen first; owned */
	struct ibcc_load *before;      /* by endport: when it was admitted; owned */
	uint16_t guarded, harmed;      /* passes: see rule_guard.c */
	uint8_t dry, turning;          /* passes in a row: see rule_drain.c, rule_feedback.c */
	uint16_t other_kind, returned; /* passes in a row: see rule_size.c, rule_drain.c */
	struct ibcc_window fast; /* passes in a row, and what was carried in them: rule_size.c */
	uint32_t jam_mbps;       /* the most that it carried while it waited for its receiver */
	uint16_t pause;          /* passes until the log may change its numbers again */

	/* In this pass: */
	const struct ibcc_root *known; /* the estimate's; NULL: it does not know it */
	const struct ibcc_root *root;  /* as `known`; NULL: it is no root now */
	const struct ibcc_root *now;   /* as `known`; NULL: nothing can be judged by it, either */
	bool done;                     /* a rule has changed it */
};

/* A root that is not followed, or no more. */
struct ibcc_root_other {
	uint32_t port;
	enum ibcc_root_status status;
};

struct ibcc_parameters {
	uint32_t n_roots;
	struct ibcc_root_state root[IBCC_ROOTS_MAX];
	/* Roots of this pass's estimate that are not followed, and roots that were let go. If there
	 * are more than IBCC_OTHERS_MAX, the others are left out.
	 */
	uint32_t n_others;
	struct ibcc_root_other other[IBCC_OTHERS_MAX];
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

/* All roots whose settings are wanted, by a pointer of the caller's to their parameters. */
#define ibcc_parameters_each(one, p)                                                               \
	for (uint32_t root_k = 0; root_k < (p)->n_roots; root_k++)                                 \
		if ((one) = &(p)->root[root_k].r, !ibcc_phase_sets((one)->phase)) {                \
		} else

/* NULL if the port has none. */
struct ibcc_root_state *ibcc_parameters_find(struct ibcc_parameters *p, uint32_t port);

/* Appends a root in phase WATCH without members; NULL without memory or with IBCC_ROOTS_MAX. */
struct ibcc_root_state *ibcc_parameters_add(struct ibcc_parameters *p, uint32_t port);

/* The status of a port in the last pass, whether or not it is followed. */
enum ibcc_root_status ibcc_parameters_status(const struct ibcc_parameters *p, uint32_t port);

/* Notes why a root is not followed in this pass, or no more. */
void ibcc_parameters_pass_over(struct ibcc_parameters *p, uint32_t port,
			       enum ibcc_root_status status);

/* Removes the root with an index; the last one gets it. */
void ibcc_parameters_remove(struct ibcc_parameters *p, uint32_t k);
void ibcc_parameters_fini(struct ibcc_parameters *p);

/* The only way to change a phase. The new phase lasts at most `passes` passes; 0: no limit. Resets
 * what was counted for the phase that the root leaves. With BARRED it resets all that is remembered
 * of control. Only transitions of the state diagram in controller.c are allowed.
 */
void ibcc_root_enter(struct ibcc_root_state *s, enum ibcc_phase phase, uint16_t passes);

/* Roots that share contributors share their values, those of the most demanding one, and the others
 * mark less: sets leader, alone, marking_rate and recover. IBA vol. 1, Annex A10: an adapter has
 * one table and one pair of CCTI_Increase and CCTI_Timer for an SL.
 */
void ibcc_parameters_group(struct ibcc_parameters *p, const struct ibcc_topo *t);

#endif
