/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A fabric's twin: inferred traffic on the packet engine, first under the settings that are on the
 * fabric, then under those of a plan.
 */
#ifndef IBCC_TWIN_H
#define IBCC_TWIN_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/engine.h>
#include <ibcc/settings.h>
#include <ibcc/topo.h>
#include <ibcc/traffic.h>

struct ibcc_twin_in {
	const struct ibcc_topo *t;
	const struct ibcc_traffic *traffic;
	uint32_t n_roots;
	const struct ibcc_traffic_root *root; /* with kind OUTPUT: receivers that are so slow */
	const struct ibcc_settings *now;
	/* By port, as ibcc_loads has it: pairs of which it follows that nothing blocks them have a
	 * rate in place of packets (lib/engine/involved.h). NULL: all pairs have packets.
	 */
	const double *wait;
	uint32_t packet_bytes; /* mean of what is sent, headers included; 0: full packets */
	/* NULL: the fabric has the congestion control of annex A10. Else it has DCQCN, which is off
	 * in the present, and ibcc_twin_try() turns it on with these parameters.
	 */
	const struct ibcc_dcqcn *dcqcn;
	uint32_t buffer_bytes; /* of each port and VL; 0: not known */
	/* Hops of packets and answers over links: a run is not made longer if it would need more.
	 * The result does not depend on the machine. 0: no limit.
	 */
	uint64_t most_hops;
	bool any_demand; /* what waits has any amount to send, which fills queues at once */
	/* CPU time of the thread, asked for after each simulated millisecond: it ends where another
	 * one that takes as long as the last would be over `until_ns`. UINT64_MAX: end. NULL: no
	 * limit.
	 */
	uint64_t (*cpu_ns)(void *arg);
	void *arg;
	uint64_t until_ns;
};

/* Rates in Mb/s, as counters have them; waits as shares. Owned. */
struct ibcc_twin_state {
	double *mbps, *wait; /* by port */
	double *pair_mbps;   /* by pair of the traffic: what arrives */
	double *pair_us; /* by pair: mean latency of its packets, from the first bit on the link of
			  * the source to delivery; 0 if none arrived
			  */
	uint64_t hops;   /* since the start of the twin */
	uint32_t ms;     /* length of the run */
	bool brief;      /* it was shorter than it should be: figures have more chance in them */
};
void ibcc_twin_state_fini(struct ibcc_twin_state *s);

struct ibcc_twin;

/* Nothing of *in is copied. NULL and *err: -ENOMEM, -EINVAL. */
struct ibcc_twin *ibcc_twin_new(const struct ibcc_twin_in *in, int *err);
void ibcc_twin_free(struct ibcc_twin *w);

/* The present: 12 ms of it, of which the second half is in *out. Where that takes more than half
 * of the hops it is 8 ms, with any demand 4 ms. -ECANCELED: the time is over before; -ENOMEM. *out
 * needs ibcc_twin_state_fini() after 0.
 */
int ibcc_twin_replay(struct ibcc_twin *w, struct ibcc_twin_state *out);
/* From there on under other settings: 60 ms, of which the last third is in *out; or 20, 9 or 6 ms,
 * the longest for which hops and CPU time suffice. 6 ms are made whatever hops they take. If the
 * CPU time is over before, the result is -ECANCELED. -ENOMEM. With DCQCN, whose fabrics are faster
 * by a factor of ten, it is 20 ms.
 */
int ibcc_twin_try(struct ibcc_twin *w, const struct ibcc_settings *then,
		  struct ibcc_twin_state *out);

/* Gives an engine the settings of all endports that have congestion control, at once. -EINVAL,
 * -ENOMEM.
 */
int ibcc_twin_set(struct ibcc_engine *e, const struct ibcc_topo *t, const struct ibcc_settings *s);

#endif
