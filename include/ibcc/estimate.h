/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Where congestion starts, which adapters cause it and which suffer: from counters, routes and the
 * switches' logs alone. The only stage that reads them; those after it see this estimate.
 */
#ifndef IBCC_ESTIMATE_H
#define IBCC_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ibcc/formula.h>
#include <ibcc/settings.h>
#include <ibcc/snapshot.h>
#include <ibcc/topo.h>

/* Limits that estimator and controller share. */
#define IBCC_JUDGE_PASSES  4u   /* passes in the mean by which something is judged */
#define IBCC_TELLING_BECNS 8u   /* BECNs of an adapter: fewer may be a coincidence */
#define IBCC_JAM_PERMILLE  200u /* of waiting: what a port sends then is what its receiver takes */
#define IBCC_FAST_PERMILLE 900u /* of its link: a receiver that takes this much is not slow */
/* One part in this many (2 %) is next to nothing. It has two uses. A port that sends less than this
 * share of its earlier rate is idle: its rate says nothing about what it can carry. An adapter that
 * gets less than this share of the BECNs of the most marked one contributes no more: these are late
 * marks of a flow that has ended.
 */
#define IBCC_TRACE_SHARE 50u

enum ibcc_role {
	IBCC_ROLE_NONE,
	IBCC_ROLE_CONTRIBUTOR, /* sends to the root: its BECN counter says so */
	IBCC_ROLE_CANDIDATE,   /* waits behind the tree; no marks yet that show which it is */
	IBCC_ROLE_VICTIM,      /* waits behind the tree while marks name others */
	IBCC_ROLE_NEAR, /* sends into the root's own switch without waiting; no marks yet that show
			 * where to: it may well be that it takes the others' share of the root */
};

/* Whether an adapter of a role sends to the root, as far as is known. */
static inline bool ibcc_role_takes_part(enum ibcc_role role)
{
	return role == IBCC_ROLE_CONTRIBUTOR || role == IBCC_ROLE_CANDIDATE;
}

/* A channel adapter's port in the tree of a root. */
struct ibcc_source {
	uint32_t port; /* fabric-wide index */
	enum ibcc_role role;
	uint32_t xmit_mbps;
	uint16_t wait_permille;
	uint64_t becn; /* in the interval */
};

/* A pair of source and destination, by packets that a port marked. */
struct ibcc_pair {
	uint32_t port;    /* of the switch that logged them: their route's */
	uint32_t src;     /* port of a channel adapter */
	uint16_t dlid;    /* of an endport */
	uint32_t packets; /* of those logged in the interval: a sample */
};

/* What a switch's CongestionLog says of a root, held against the adapters' BECNs and bytes. */
enum ibcc_log_verdict {
	IBCC_LOG_OPEN, /* too little is logged */
	IBCC_LOG_AGREES,
	IBCC_LOG_CONTRADICTED,
};

struct ibcc_root {
	uint32_t port; /* switch output port (fabric-wide index) where congestion starts */
	enum ibcc_congestion kind;
	uint32_t link_mbps;           /* its data rate; a part of it if it carries no more */
	uint32_t rate_mbps;           /* what it sends */
	uint16_t wait_permille;       /* PortXmitWait of the port itself */
	uint16_t tree_wait_permille;  /* highest wait among the ports that feed it */
	uint16_t confidence_permille; /* share of the ports on the way to it that were read */
	uint32_t n_contributors; /* with role CONTRIBUTOR, or CANDIDATE where nothing is marked */
	uint32_t n_victims;
	uint32_t n_waiting; /* ports of the tree that wait: each has a full buffer before it */
	uint64_t fecn;      /* marked packets that came to the adapters behind it */
	uint64_t becn;      /* that its sources got: some may be another root's */
	uint32_t n_sources;
	struct ibcc_source *source; /* owned; in order of the port index */
	uint32_t n_pairs;
	const struct ibcc_pair *pair; /* the estimate's; most packets first */
	/* What comes into the tree from nodes that do not answer, and may be sent to the root, at
	 * most; and the port where most of it comes from (IBCC_NONE: none does).
	 */
	uint64_t unknown_mbps;
	uint32_t unknown_port;
	bool hidden; /* congestion starts behind the port, in a part of the fabric that is silent */

	bool fed_freely; /* adapters that do not wait send all that it carries, and no switch's port
			    waits for it */

	/* Of this pass, whether or not it is a root in it: */
	bool fresh; /* its port's counters were read */
	/* Its port was left out of this pass: all is of the last pass that read it, and nothing is
	 * counted or decided again.
	 */
	bool kept;
	uint64_t interval_ns;  /* between the last two passes that were to read its port */
	bool doubted;          /* they are not believed: it is no root, whatever they say */
	uint32_t packet_bytes; /* mean of what it sends, 64..8192 */

	/* From the passes before: */
	uint16_t present; /* passes in a row as a root */
	/* Adapters that contribute, by BECN counts that fade, and how many those would be if all
	 * sent as much as the heaviest: 1..n_marked. 0: too few were counted.
	 */
	uint32_t n_marked, n_heavy;
	const double *becns; /* by endport: those counts; the estimator's until its next run */
	/* Pairs that find their bottleneck here, by the log, and what they get of it together; 0
	 * with `logged`: there is no such pair.
	 */
	enum ibcc_log_verdict log; /* of this pass */
	bool log_untrue; /* whether the last verdict that was not open contradicted the log */
	bool logged;
	uint32_t n_limited;
	double limited_mbps;
	double samples;       /* packets in the log that this rests on */
	double capacity_mbps; /* the most that a slow receiver takes; 0: not known */
	uint32_t n_senders;   /* adapters that send limited pairs through it, here or elsewhere */
	const bool *sends;    /* by endport: these adapters; as becns */
};

/* Whether it is known where congestion starts, and all that send there can be known. What silent
 * nodes may add is next to nothing.
 */
static inline bool ibcc_root_is_known(const struct ibcc_root *r)
{
	return !r->hidden && r->unknown_mbps * IBCC_TRACE_SHARE <= r->rate_mbps;
}

/* What an adapter sends and waits: means over about two passes. */
struct ibcc_load {
	uint32_t mbps;
	uint16_t wait_permille;
	bool known; /* has been read */
	bool blind; /* it counts no waits: inferred from its switch */
};

struct ibcc_estimate {
	uint64_t pass;        /* of the snapshot */
	uint64_t interval_ns; /* since the pass before */
	uint64_t fecn, becn;  /* fabric-wide in the interval */
	uint32_t n_blind;     /* active channel adapter ports whose waits are inferred */
	/* Active ports that are believed: all; those with counters that are good for the interval;
	 * and those with counters that were read but are not, since they are at their end, may have
	 * wrapped, or were cleared.
	 */
	uint32_t n_expected, n_usable, n_unsure;
	bool partial;     /* some ports were left out of this pass: see struct ibcc_root:kept */
	bool trustworthy; /* false: of too many of these nothing is known to act on it */
	/* n_known in all: first n_roots that are roots in this pass, most severe first, then others
	 * that have parameters.
	 */
	uint32_t n_roots, n_known;
	uint32_t n_unknown;     /* roots that are not decided on: see ibcc_root_is_known() */
	struct ibcc_root *root; /* owned */
	uint32_t n_pairs;
	struct ibcc_pair *pair; /* owned; port by port, also of those that are no roots now */
	uint32_t n_loads;
	const struct ibcc_load *load; /* by endport; the estimator's until its next run */
};
void ibcc_estimate_fini(struct ibcc_estimate *p);

/* Passes the results of this pass's comparisons on to the trust in each switch's log (its port 0).
 */
void ibcc_estimate_tell_logs(const struct ibcc_estimate *p, const struct ibcc_topo *t,
			     struct ibcc_snapshot *s);

/* The estimate's root at a port, seen now or only known; NULL: neither. */
const struct ibcc_root *ibcc_estimate_find(const struct ibcc_estimate *p, uint32_t port);
/* Whether it is a root in this pass. */
bool ibcc_estimate_sees(const struct ibcc_estimate *p, const struct ibcc_root *r);

/* Sets on[port] for the root's port, and for each port through which packets of its contributors,
 * suspected ones too, leave on their way to it. Leaves the others.
 */
void ibcc_estimate_mark_tree(const struct ibcc_topo *t, const struct ibcc_root *root, bool *on);

/* Room for the words about a root, whatever its names and numbers are. */
#define IBCC_ROOT_WORDS_BYTES 2048u
/* A sentence about a root in plain words: port by name, kind, evidence by counter, adapters.
 * Returns the length as snprintf() does.
 */
int ibcc_estimate_explain(const struct ibcc_topo *t, const struct ibcc_root *r, char *buf,
			  size_t len);

/* Limits of the detection, in permille; see ibcc_estimator_defaults(). */
struct ibcc_estimator_params {
	uint16_t full_permille;     /* a link is full when it sends or waits this share */
	uint16_t fed_wait_permille; /* a switch port upstream is blocked when it waits this share */
	uint16_t ca_wait_permille;  /* a channel adapter is blocked when it waits this share */
	uint16_t slow_wait_permille; /* an output-generated root waits at least this share itself */
	uint16_t stale_permille;     /* with more ports stale than this, do not act */
};
void ibcc_estimator_defaults(struct ibcc_estimator_params *p);

struct ibcc_estimator; /* what it remembers of the passes before */
struct ibcc_parameters;

/* NULL without memory. */
struct ibcc_estimator *ibcc_estimator_new(const struct ibcc_estimator_params *p);
void ibcc_estimator_free(struct ibcc_estimator *m);
/* Forgets all about the fabric: after a new topology. */
void ibcc_estimator_reset(struct ibcc_estimator *m);
/* Takes other limits. Its next run starts from nothing; until then estimates keep their loads. */
void ibcc_estimator_retune(struct ibcc_estimator *m, const struct ibcc_estimator_params *p);

/* Works out an estimate from one interval and what is remembered. A root is a busy switch port with
 * at least two channel adapters that wait behind it. A port that marks, by `actual` (may be NULL),
 * is also a root while marked packets come to adapters behind it, and adapters with routes through
 * it get BECNs. So it stays a root while control keeps its tree small.
 *
 * Packets that switches logged as marked (CongestionLog) are assigned to the roots on their routes.
 * They count while a root is held by `last`, the parameters of the pass before (may be NULL), but
 * not while its tree is emptied: what is logged then says nothing. All arguments must be of one
 * topology. *out is initialised by the call and freed by ibcc_estimate_fini(). -ENOMEM.
 */
int ibcc_estimator_run(struct ibcc_estimator *m, const struct ibcc_topo *t,
		       const struct ibcc_snapshot *s, const struct ibcc_settings *actual,
		       const struct ibcc_parameters *last, struct ibcc_estimate *out);

#endif
