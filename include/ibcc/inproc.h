/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A transport to a simulated fabric in the same process: no sockets, no wall time. Virtual time
 * passes while MADs are under way, and nowhere else.
 */
#ifndef IBCC_INPROC_H
#define IBCC_INPROC_H

#include <ibcc/agents.h>
#include <ibcc/engine.h>
#include <ibcc/scenario.h>
#include <ibcc/transport.h>

/* All zero: MADs take no time, the engine stands still. */
struct ibcc_inproc_options {
	uint64_t rtt_ns;          /* from request to answer */
	uint64_t timeout_ns;      /* until a request without answer is given up */
	unsigned int window;      /* requests in flight; 0: 64 */
	unsigned int node_window; /* of those to one node; 0: as many */
};

/* A transport to the endports of a topology. Nothing is copied or owned: all three must outlive it.
 * `o` NULL: all zero. NULL without memory.
 */
struct ibcc_transport *ibcc_inproc_new(struct ibcc_agents *a, struct ibcc_engine *e,
				       const struct ibcc_topo *t,
				       const struct ibcc_inproc_options *o);

/* A transport to the endports of a scenario, whose engine, agents, traffic and settings it makes at
 * time 0, and owns; the scenario may go afterwards. NULL and *err on failure: -ENOENT (`bad`, may
 * be NULL, names a node that is not there), -EINVAL, -ENOMEM.
 */
struct ibcc_transport *ibcc_inproc_open(const struct ibcc_scenario *s,
					const struct ibcc_inproc_options *o, int *err,
					const char **bad);

/* The engine behind such a transport, to run it between MADs and to look at flows. */
struct ibcc_engine *ibcc_inproc_engine(struct ibcc_transport *t);

#endif
