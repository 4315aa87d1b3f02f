/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* CongestionLogs of switches that mark, or that have only that log: which packets they have marked
 * since the pass before.
 * Private to lib/mad and its tests.
 *
 * One pass: _begin(), _wants() for each node, _take() of what came of it for those asked, and
 * _record().
 */
#ifndef IBCC_MAD_COLLECTOR_MARKS_H
#define IBCC_MAD_COLLECTOR_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/ccmad.h>
#include <ibcc/settings.h>
#include <ibcc/snapshot.h>
#include <ibcc/topo.h>
#include <ibcc/transport.h>

#include "lib/mad/collector_ask.h"

struct ibcc_node_log {
	uint64_t guid;
	uint64_t pass;               /* the pass that last read the log; 0: none */
	uint32_t ts;                 /* CurrentTimeStamp in that pass */
	uint8_t tries;               /* tries in a row without an answer */
	struct ibcc_refusal refusal; /* the node has no log of a switch */
	bool wanted;                 /* to be read in this pass */
	bool keeps_map;              /* the node has reported ports that marked */
	/* map has the ports that marked since the log was read before */
	bool maps;
	struct ibcc_cc_port_mask map;
};

/* All zero is a valid beginning. */
struct ibcc_mark_logs {
	uint64_t pass;              /* number of the pass over all ports, from 1 */
	struct ibcc_node_log *node; /* owned; by the topology's index */
	uint32_t n_nodes;
	/* Marks of this pass; cap is what all switches can log at most. Owned. */
	struct ibcc_mark *mark;
	uint32_t n_marks, cap;
};

void ibcc_marks_fini(struct ibcc_mark_logs *m);

/* Begins a pass over t. It reads the logs of those switches that mark by `actual`, the settings of
 * t (NULL: they are not known, and no log is read), and of IBCC_CC_LOG_ONLY. If `only` is given, by
 * port, it reads those of the nodes of these ports alone. A node that was not there before begins
 * with empty state. Allocates only where nodes have come or gone. -ENOMEM.
 */
int ibcc_marks_begin(struct ibcc_mark_logs *m, const struct ibcc_topo *t,
		     const struct ibcc_settings *actual, const bool *only);
/* Whether to read the node's log in this pass. */
static inline bool ibcc_marks_wants(const struct ibcc_mark_logs *m, uint32_t node)
{
	return m->node[node].wanted;
}
/* Takes the answer to the request for a node's log, and keeps the packets that are new since the
 * log was read before. `heard`: the node answered something else in this pass, so that silence is
 * about the log.
 */
void ibcc_marks_take(struct ibcc_mark_logs *m, uint32_t node, const struct ibcc_mad_op *op,
		     bool heard);
/* Asks again in the next pass for logs that were refused or not answered. */
void ibcc_marks_ask_again(struct ibcc_mark_logs *m);
/* Puts the marks that this pass has kept into a snapshot whose pass has begun. */
void ibcc_marks_record(const struct ibcc_mark_logs *m, const struct ibcc_topo *t,
		       struct ibcc_snapshot *s);

#endif
