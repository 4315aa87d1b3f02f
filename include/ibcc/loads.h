/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Mean loads of all ports: over the intervals in which no adapter waited (the baseline), and over
 * the last ones.
 */
#ifndef IBCC_LOADS_H
#define IBCC_LOADS_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/estimate.h>
#include <ibcc/settings.h>
#include <ibcc/snapshot.h>
#include <ibcc/topo.h>

/* An adapter that waits longer holds something back: what it sends says "at least this". */
#define IBCC_LOADS_WAIT 0.05

struct ibcc_loads {
	uint32_t n_ports, n; /* n: intervals in the mean; 0: none */
	double *mbps;        /* by port: what it sends, as PortXmitData has it */
	double *wait;        /* by port: PortXmitWait, share of the time */
};

/* All zero. -ENOMEM. */
int ibcc_loads_init(struct ibcc_loads *l, uint32_t n_ports);
void ibcc_loads_fini(struct ibcc_loads *l);
/* Takes an interval into the mean, with weight 1 / (n + 1) but no less than 1 / `most`. Where a
 * port was not read, it is what its peer received, or else as it was.
 */
void ibcc_loads_add(struct ibcc_loads *l, const struct ibcc_topo *t, const struct ibcc_snapshot *s,
		    uint32_t most);
/* Sum over the adapters' ports. */
double ibcc_loads_sent(const struct ibcc_loads *l, const struct ibcc_topo *t);

/* Whether congestion control holds back what some adapter sends. Marks alone do not. */
bool ibcc_loads_held(const struct ibcc_topo *t, const struct ibcc_settings *actual);

#define IBCC_RECENT 8u

/* What is known of before and of now. */
struct ibcc_memory {
	struct ibcc_loads quiet;               /* the baseline */
	uint64_t quiet_ns;                     /* when it was last so, by the snapshots' clock */
	struct ibcc_loads recent[IBCC_RECENT]; /* an interval each, used in turn */
	uint32_t at, n_recent;                 /* since it was quiet, or since it was reset */
};

/* -ENOMEM. ibcc_memory_fini() accepts one of zeros. */
int ibcc_memory_init(struct ibcc_memory *m, uint32_t n_ports);
void ibcc_memory_fini(struct ibcc_memory *m);

/* Takes an interval in: into the baseline where there is no root, no adapter waits above
 * IBCC_LOADS_WAIT or fills its link, no adapter is held by congestion control and at least nine
 * ports in ten were read; else among the recent ones. True: it was quiet.
 */
bool ibcc_memory_add(struct ibcc_memory *m, const struct ibcc_topo *t,
		     const struct ibcc_snapshot *s, const struct ibcc_estimate *p,
		     const struct ibcc_settings *actual);
/* Forgets the recent intervals, when settings have changed since. */
void ibcc_memory_reset_recent(struct ibcc_memory *m);
/* Mean of the recent intervals; 0 or -ENOMEM. *moved is by what share the sum of what adapters send
 * differs between their earlier and their later half; 0 with fewer than four.
 */
int ibcc_memory_now(const struct ibcc_memory *m, const struct ibcc_topo *t, struct ibcc_loads *out,
		    double *moved);

#endif
