/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/lab/probe.h"

#include <errno.h>
#include <stdlib.h>

#include <ibcc/route.h>

#define MS IBCC_PS_PER_MS
/* Two intervals, as long as the daemon's. Shorter ones have too few BECNs to tell shares. */
#define PROBE_MS 20u
/* A quarter of the queue is full. */
#define THRESHOLD 12u

/* Turns marking on or off at those of the roots that are in a switch. */
static int mark(struct ibcc_engine *e, const struct ibcc_topo *t, uint32_t n, const uint32_t *root,
		bool on)
{
	for (uint32_t i = 0; i < n; i++) {
		struct ibcc_cc_sw_setting sw = { .Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL };
		struct ibcc_cc_sw_port_element el = { .Valid = true };
		uint32_t node = t->port[root[i]].node;
		int rc;

		/* A slow receiver's port has no credits, and marks only as a victim. */
		for (uint32_t k = 0; k < n && on; k++)
			if (t->port[root[k]].node == node)
				ibcc_cc_mask_assign(&sw.Victim_Mask, t->port[root[k]].num, true);
		el.Threshold = on ? THRESHOLD : 0;
		rc = ibcc_engine_set_switch_cc(e, node, &sw);
		if (!rc)
			rc = ibcc_engine_set_switch_port_cc(e, node, t->port[root[i]].num, &el);
		if (rc)
			return rc;
	}
	return 0;
}

static int count_becns(struct ibcc_engine *e, const struct ibcc_topo *t, double sign, double *sum)
{
	for (uint32_t i = 0; i < t->n_endports; i++) {
		struct ibcc_engine_port p;
		int rc = ibcc_engine_port_read(e, t->endport[i], &p);

		if (rc)
			return rc;
		sum[i] += sign * (double)p.rcv_becn;
	}
	return 0;
}

static int by_becns(struct ibcc_engine *e, const struct ibcc_topo *t, uint32_t root, double *weight)
{
	int rc = mark(e, t, 1, &root, true);

	if (!rc)
		rc = count_becns(e, t, -1, weight);
	if (!rc)
		rc = ibcc_engine_run(e, ibcc_engine_now_ps(e) + PROBE_MS * MS);
	if (!rc)
		rc = count_becns(e, t, 1, weight);
	return rc ? rc : mark(e, t, 1, &root, false);
}

/* Counts an entry of the root switch's log if its route leads through the root. */
static void count_entry(const struct ibcc_topo *t, uint32_t root, uint16_t slid, uint16_t dlid,
			double *weight)
{
	uint32_t src = ibcc_topo_port_of_lid(t, slid);
	struct ibcc_route r;

	if (src == IBCC_NONE || t->port[src].endport == IBCC_NONE ||
	    ibcc_route_follow(t, src, dlid, &r))
		return;
	for (unsigned int i = 0; i < r.n; i++)
		if (r.out[i] == root) {
			weight[t->port[src].endport]++;
			return;
		}
}

/* Reading clears a log, so for several roots in one switch the first one reads it for all. */
static int read_logs(struct ibcc_engine *e, const struct ibcc_topo *t, uint32_t n,
		     const uint32_t *root, double *weight)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = t->port[root[i]].node;
		struct ibcc_cc_log log;
		bool again = false;
		int rc;

		for (uint32_t k = 0; k < i; k++)
			again |= t->port[root[k]].node == node;
		if (again)
			continue;
		rc = ibcc_engine_log_read(e, t->node[node].first_port, &log);
		if (rc)
			return rc;
		for (uint32_t k = i; k < n; k++)
			for (unsigned int x = 0; x < IBCC_CC_LOG_SWITCH_ENTRIES; x++)
				if (t->port[root[k]].node == node && x < log.u.sw.LogEventsCounter)
					count_entry(t, root[k], log.u.sw.entry[x].SLID,
						    log.u.sw.entry[x].DLID,
						    weight + (size_t)k * t->n_endports);
	}
	return 0;
}

static int by_logs(struct ibcc_engine *e, const struct ibcc_topo *t, uint32_t n,
		   const uint32_t *root, double *weight)
{
	int rc = mark(e, t, n, root, true);

	for (unsigned int ms = 0; ms < PROBE_MS && !rc; ms++) {
		rc = ibcc_engine_run(e, ibcc_engine_now_ps(e) + MS);
		if (!rc)
			rc = read_logs(e, t, n, root, weight);
	}
	return rc ? rc : mark(e, t, n, root, false);
}

int ibcc_predict_probe_run(struct ibcc_engine *e, const struct ibcc_topo *t,
			   enum ibcc_predict_probe probe, uint32_t n_roots, const uint32_t *root,
			   double *weight)
{
	int rc = 0;

	if (probe == IBCC_PROBE_LOGS)
		return by_logs(e, t, n_roots, root, weight);
	for (uint32_t i = 0; i < n_roots && !rc && probe == IBCC_PROBE_BECNS; i++)
		rc = by_becns(e, t, root[i], weight + (size_t)i * t->n_endports);
	return rc;
}
