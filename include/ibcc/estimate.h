/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Where congestion starts, who causes it and who suffers, from counters and routes alone. */
#ifndef IBCC_ESTIMATE_H
#define IBCC_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ibcc/formula.h>
#include <ibcc/settings.h>
#include <ibcc/snapshot.h>
#include <ibcc/topo.h>

enum ibcc_role {
	IBCC_ROLE_NONE,
	IBCC_ROLE_CONTRIBUTOR, /* sends to the root: its BECN counter says so */
	IBCC_ROLE_CANDIDATE,   /* waits behind the tree; no marks yet that tell which it is */
	IBCC_ROLE_VICTIM,      /* waits behind the tree while marks name others */
	IBCC_ROLE_NEAR, /* sends into the root's own switch without waiting; no marks yet that tell
			 * where to: it may well be that it takes the others' share of the root */
};

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

struct ibcc_root {
	uint32_t port; /* switch output port (fabric-wide index) where congestion starts */
	enum ibcc_congestion kind;
	uint32_t link_mbps;           /* its data rate */
	uint32_t rate_mbps;           /* what it sends */
	uint16_t wait_permille;       /* PortXmitWait of the port itself */
	uint16_t tree_wait_permille;  /* highest wait among the ports that feed it */
	uint16_t confidence_permille; /* share of the ports on the way to it that were read */
	uint32_t n_contributors; /* with role CONTRIBUTOR, or CANDIDATE where nothing is marked */
	uint32_t n_victims;
	uint32_t n_waiting; /* ports of the tree that wait: each has a full buffer before it */
	uint64_t fecn;      /* marked packets that came to the adapters behind it */
	uint32_t n_sources;
	struct ibcc_source *source; /* owned; in order of the port index */
	uint32_t n_pairs;
	const struct ibcc_pair *pair; /* the estimate's; most packets first */
};

struct ibcc_estimate {
	uint64_t pass;       /* of the snapshot */
	uint32_t n_cas;      /* active channel adapter ports: N of the formulas */
	uint64_t fecn, becn; /* fabric-wide in the interval */
	bool trustworthy;    /* false: too many ports stale to act on it */
	uint32_t n_roots;
	struct ibcc_root *root; /* owned; most severe first */
	uint32_t n_pairs;
	struct ibcc_pair *pair; /* owned; port by port, also of those that are no roots now */
};

/* Limits of the detection, in permille; see ibcc_estimator_defaults(). */
struct ibcc_estimator_params {
	uint16_t full_permille;     /* a link is full when it sends or waits this share */
	uint16_t fed_wait_permille; /* a switch port upstream is blocked when it waits this share */
	uint16_t ca_wait_permille;  /* a channel adapter is blocked when it waits this share */
	uint16_t slow_wait_permille; /* an output-generated root waits at least this share itself */
	uint16_t stale_permille;     /* with more ports stale than this, do not act */
};
void ibcc_estimator_defaults(struct ibcc_estimator_params *p);

/* Works out an estimate from one interval. A root is a switch port that is busy, behind which at
 * least two channel adapters wait; or one that marks, by `actual` (may be NULL), while marked
 * packets come to adapters behind it and those whose routes pass it get BECNs: so it stays a root
 * while control holds its tree small. Packets that switches logged as marked (CongestionLog) are
 * sorted to the roots on their routes. *e is initialised by the call and freed by
 * ibcc_estimate_fini(). -ENOMEM.
 */
int ibcc_estimator_run(const struct ibcc_estimator_params *p, const struct ibcc_topo *t,
		       const struct ibcc_snapshot *s, const struct ibcc_settings *actual,
		       struct ibcc_estimate *e);
void ibcc_estimate_fini(struct ibcc_estimate *e);

/* The pairs whose packets a port marked, most packets first, and how many they are. */
const struct ibcc_pair *ibcc_estimate_pairs_of(const struct ibcc_estimate *e, uint32_t port,
					       uint32_t *n);

/* A sentence about a root in plain words: port by name, kind, evidence by counter, who. Returns
 * the length as snprintf() does.
 */
int ibcc_estimate_explain(const struct ibcc_topo *t, const struct ibcc_root *r, char *buf,
			  size_t len);

#endif
