/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The baseline in the state file: loads from before anybody waited. */
#ifndef IBCC_DAEMON_BASELINE_H
#define IBCC_DAEMON_BASELINE_H

#include <stdint.h>

#include <ibcc/loads.h>
#include <ibcc/topo.h>

struct ibcc_state;

/* Of links, rates and routes: other ones carry other loads. */
uint64_t ibcc_baseline_hash(const struct ibcc_topo *t);

/* `at_s`: when it was so, in seconds since 1970. -EIO, -ENOMEM. */
int ibcc_baseline_store(struct ibcc_state *s, uint64_t hash, const struct ibcc_loads *l,
			int64_t at_s);
/* Into loads of the right size; left alone where there is none, or one of another fabric, or one
 * that is damaged. -ENOMEM.
 */
int ibcc_baseline_load(struct ibcc_state *s, uint64_t hash, struct ibcc_loads *l, int64_t *at_s);

#endif
