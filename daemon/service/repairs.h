/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Settings that the daemon repairs and that change again each time: another program writes them, or
 * a node keeps restarting. A repair ends the drift in the polling cycle that finds it, so the
 * settings alone never show that two programs fight over them.
 */
#ifndef IBCC_DAEMON_REPAIRS_H
#define IBCC_DAEMON_REPAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/plan.h>
#include <ibcc/topo.h>
#include <ibcc/why.h>

/* An attribute counts as fought over after this many repairs. A node that restarts needs one
 * repair, and a node that restarts again needs two.
 */
#define IBCC_REPAIRS_MANY 4u
/* Two repairs belong together if at most this many polling cycles lie between them: 100 minutes at
 * the default interval, so a job that runs every hour is noticed, too.
 */
#define IBCC_REPAIRS_TOGETHER 600u
/* The state is degraded for this many polling cycles after the last repair. The daemon reads its
 * own settings every eight cycles, so a program that writes all the time keeps the state degraded
 * all the time.
 */
#define IBCC_REPAIRS_HOLD 10u

/* Repairs of one attribute. */
struct ibcc_repaired {
	uint64_t node_guid;
	uint8_t port;
	uint16_t attr_id;
	uint32_t n; /* number of repairs that belong together */
	uint64_t first_pass, last_pass;
};

/* All zero at the start. */
struct ibcc_repair_counts {
	uint64_t pass;
	uint32_t n, cap;
	struct ibcc_repaired *attr; /* owned */
};
void ibcc_repair_counts_fini(struct ibcc_repair_counts *r);

/* Call in each polling cycle with the changes that it repaired (NULL: none). If there is no memory,
 * a repair is not counted.
 */
void ibcc_repair_counts_note(struct ibcc_repair_counts *r, const struct ibcc_plan *repaired);

/* Are attributes fought over now? If so, *why names the one that was repaired most often and says
 * what the operator can do; otherwise *why is left alone. `t` may be NULL.
 */
bool ibcc_repair_counts_trouble(const struct ibcc_repair_counts *r, const struct ibcc_topo *t,
				struct ibcc_why *why);

#endif
