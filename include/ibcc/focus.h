/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which ports are worth reading more often than all others: those where congestion starts, or may
 * start, and those that feed them. Congestion that lasts shorter than the interval between two
 * passes over the whole fabric is seen only by such looks in between.
 */
#ifndef IBCC_FOCUS_H
#define IBCC_FOCUS_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/estimate.h>
#include <ibcc/parameters.h>
#include <ibcc/snapshot.h>
#include <ibcc/topo.h>

/* Passes that a port stays in the focus after the last reason for it. */
#define IBCC_FOCUS_LINGERS 30u

/* All zero is an empty focus. It belongs to one topology. */
struct ibcc_focus {
	uint32_t n_nodes, n_ports; /* in the focus */
	bool *port;                /* by port index: it is in the focus; owned */
	uint8_t *left;             /* by port index: passes that it still stays; owned */
	uint32_t size;             /* ports of the topology */
};
void ibcc_focus_fini(struct ibcc_focus *f);

/* Chooses the ports, of at most max_nodes nodes, after a pass. In this order, it takes: of each
 * root that is controlled, of each that the estimate sees, and of each suspected one, the ports of
 * its switch and its receiver; the ports that feed these switches; the adapters that contribute or
 * are throttled; the ports that wait farther upstream; the adapters that get
 * packets marked by a controlled root; and what was in the focus lately.
 *
 * A port is suspected if it sent or waited for a good part of the interval, and at least two
 * adapters waited behind it: one interval may hold congestion and its end. Ports that do not answer
 * are left out, since each question to them costs a time-out. -ENOMEM: the focus is empty then.
 */
int ibcc_focus_run(struct ibcc_focus *f, const struct ibcc_topo *t, const struct ibcc_snapshot *s,
		   const struct ibcc_estimate *pic, const struct ibcc_parameters *p,
		   uint32_t max_nodes);

#endif
