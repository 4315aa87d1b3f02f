/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The baseline in the state file: loads from before any sender was blocked. */
#ifndef IBCC_DAEMON_BASELINE_H
#define IBCC_DAEMON_BASELINE_H

#include <stdint.h>

#include <ibcc/loads.h>
#include <ibcc/topo.h>

struct ibcc_state;

/* Hash of links, rates and routes: with other ones the loads differ. */
uint64_t ibcc_baseline_hash(const struct ibcc_topo *t);

/* `at_s`: the time of the loads, in seconds since 1970. -EIO, -ENOMEM. */
int ibcc_baseline_store(struct ibcc_state *s, uint64_t hash, const struct ibcc_loads *l,
			int64_t at_s);
/* Reads into loads of the right size. Leaves them alone if there is no baseline, if it is from
 * another fabric, or if it is damaged. -ENOMEM.
 */
int ibcc_baseline_load(struct ibcc_state *s, uint64_t hash, struct ibcc_loads *l, int64_t *at_s);

#endif
