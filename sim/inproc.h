/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The in-process transport: MADs to the agents of a packet engine, on virtual time. */
#ifndef SIM_INPROC_H
#define SIM_INPROC_H

#include <ibcc/engine.h>
#include <ibcc/topo.h>
#include <ibcc/transport.h>

#include "sim/agents.h"

/* A transport to the endports of a topology. All requests are answered at the engine's present
 * time, which stands still meanwhile. Nothing is copied or owned: all three must outlive it. NULL
 * without memory.
 */
struct ibcc_transport *ibcc_inproc_new(struct ibcc_agents *a, const struct ibcc_engine *e,
				       const struct ibcc_topo *t);

#endif
