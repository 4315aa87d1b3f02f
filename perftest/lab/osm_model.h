/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How many subnet management packets (SMPs) OpenSM sends to bring up an m-port n-tree, and how long
 * that takes. The model is that of A. Vishnu, A. Mamidala, H.-W. Jin, D. Panda: Performance
 * modeling of subnet management on fat tree InfiniBand networks using OpenSM (OSU-CISRC-1/05-TR05,
 * 2005), with what OpenSM 3.3 does.
 */
#ifndef PERFTEST_LAB_OSM_MODEL_H
#define PERFTEST_LAB_OSM_MODEL_H

#include <stddef.h>
#include <stdint.h>

enum ibcc_osm_smp {
	IBCC_OSM_GET_NODE_INFO,
	IBCC_OSM_GET_NODE_DESC,
	IBCC_OSM_GET_PORT_INFO,
	IBCC_OSM_GET_SWITCH_INFO,
	IBCC_OSM_GET_PKEY,
	IBCC_OSM_SET_PORT_INFO,
	IBCC_OSM_SET_SWITCH_INFO,
	IBCC_OSM_SET_LFT,
	IBCC_OSM_OTHER, /* any other attribute: not in the model */
	IBCC_OSM_N_SMPS,
};

struct ibcc_osm_tree {
	uint32_t m, n;            /* ports of a switch, levels */
	uint64_t hosts, switches; /* 2 (m/2)^n and (2n - 1) (m/2)^(n-1) */
};
struct ibcc_osm_tree ibcc_osm_tree(uint32_t m, uint32_t n);

/* A name such as "Get NodeInfo". */
const char *ibcc_osm_name(enum ibcc_osm_smp smp);
/* How the paper's count differs from OpenSM's, and why; NULL if it does not say anything. */
const char *ibcc_osm_difference(enum ibcc_osm_smp smp);

/* The paper's equations (3), (4), (5), (7): 0 for attributes that it has no equation for. */
uint64_t ibcc_osm_paper(const struct ibcc_osm_tree *t, enum ibcc_osm_smp smp);
/* The counts of OpenSM 3.3.23, first sweep of a tree with all ports linked, LMC 0, no QoS, one SM
 * at a host.
 */
uint64_t ibcc_osm_count(const struct ibcc_osm_tree *t, enum ibcc_osm_smp smp);
/* Sum over all attributes. */
uint64_t ibcc_osm_total(const struct ibcc_osm_tree *t);

/* MADs of one pass over all port counters: two for each port (data and XmitWait), one more at hosts
 * (FECN and BECN). The second function counts MADs to give each node settings of its own, each read
 * back: a channel adapter's setting and two blocks of its table, a switch's setting and its ports',
 * 48 in a block.
 */
uint64_t ibcc_osm_poll_mads(const struct ibcc_osm_tree *t);
uint64_t ibcc_osm_push_mads(const struct ibcc_osm_tree *t);

/* Seconds for a sweep with one SMP in flight: the paper's (8) to (10) with one time for each SMP.
 * In the paper, paths take their time by hosts alone. But for each LID, OpenSM looks at the
 * neighbours behind all ports of a switch, as often as the tree has levels to cross. And a part of
 * the time does not depend on the tree.
 */
struct ibcc_osm_times {
	double base_s;
	double smp_s;   /* for an SMP */
	double route_s; /* for a LID at a port of a switch, times the levels minus one */
};
double ibcc_osm_sweep_s(const struct ibcc_osm_tree *t, const struct ibcc_osm_times *x);

/* Fits the times, none of them negative, to measured sweeps without that of index `but` (n: to
 * all). The time for routing comes from the measured one. The others are those that fit the rest
 * best (least squares of relative errors).
 */
struct ibcc_osm_times ibcc_osm_fit(const struct ibcc_osm_tree *t, const double *sweep_s,
				   const double *path_s, size_t n, size_t but);

/* Seconds for a number of MADs with a window of them in flight. */
struct ibcc_osm_rate {
	double base_s, mad_s;
};
static inline double ibcc_osm_mads_s(double mads, const struct ibcc_osm_rate *x)
{
	return x->base_s + x->mad_s * mads;
}
/* Fits a rate to measured times; trees without a time (0) do not count. */
struct ibcc_osm_rate ibcc_osm_fit_rate(const double *mads, const double *s, size_t n, size_t but);

/* The command osm-model, see struct ibcc_command. */

#endif
