/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon's cycle on a simulated fabric, on virtual time: the same code as on hardware with
 * another transport. Requests take time and some get lost.
 */
#ifndef PERFTEST_BENCH_LIVE_H
#define PERFTEST_BENCH_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/estimate.h>
#include <ibcc/measure.h>
#include <ibcc/scenario.h>
#include <ibcc/tuner.h>

struct ibcc_cycle;
struct ibcc_applier;

/* What happens to the fabric without the daemon's knowledge, from a pass on. */
enum ibcc_live_fault {
	IBCC_LIVE_FAULT_NONE,
	IBCC_LIVE_FAULT_SILENT, /* the node answers no more */
	IBCC_LIVE_FAULT_RESET,  /* another program clears all counters every third pass */
	IBCC_LIVE_FAULT_REBOOT, /* the node forgets its settings, once */
};

struct ibcc_live_options {
	double poll_ms;      /* from the beginning of one pass to that of the next */
	double fast_ms;      /* the same of passes that read the focus alone; 0: there are none */
	uint32_t fast_nodes; /* the most nodes in these, see struct ibcc_cycle_options */
	double rtt_us;       /* of a request and its answer */
	double lose_percent; /* of all requests */
	bool whole_switch_marks; /* switches have no settings for single ports */
	bool no_logs;            /* switches have no CongestionLog */
	bool no_waits;           /* adapters' PortXmitWait stays zero */
	bool per_sl; /* adapters hold all flows of a service level alike, as the qib driver's do */
	int fault;   /* enum ibcc_live_fault */
	uint32_t fault_pass;
	char fault_node[IBCC_NAME_BYTES];
	bool dry; /* nothing is set */
	/* Called after each pass, numbered from 1. It may look at the cycle, or set something by
	 * the applier. A value other than 0 ends the run and is its result. NULL: not called.
	 */
	int (*each)(void *arg, uint32_t pass, struct ibcc_cycle *c, struct ibcc_applier *a);
	void *arg;
	uint64_t (*cpu_ns)(void); /* see struct ibcc_cycle_options */
	struct ibcc_estimator_params estimator;
	struct ibcc_tuner_params tuner;
};
void ibcc_live_defaults(struct ibcc_live_options *o);

/* A pass that carried out a plan. */
struct ibcc_live_round {
	uint64_t t_ps;
	uint32_t pass, changes, failed;
	char *summary; /* owned */
};

struct ibcc_live_result {
	uint32_t passes, n_rounds;
	struct ibcc_live_round *round; /* owned */
	uint64_t sets;                 /* MADs */
};
void ibcc_live_result_fini(struct ibcc_live_result *r);

/* Works as ibcc_measure_run(), with the loop closed. An additional error is -EIO. *r needs
 * ibcc_live_result_fini() in any case.
 */
int ibcc_live_run(const struct ibcc_scenario *s, const struct ibcc_live_options *o,
		  uint64_t sample_ps, struct ibcc_measure *out, struct ibcc_live_result *r);

#endif
