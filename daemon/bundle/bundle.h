/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads a support bundle, where there is no fabric: see ibcc_report_bundle(). */
#ifndef IBCC_DAEMON_BUNDLE_H
#define IBCC_DAEMON_BUNDLE_H

#include <jansson.h>

#include "daemon/predict/evidence.h"

#define IBCC_BUNDLE_FORMAT "ibcc-tune bundle 1"

struct ibcc_bundle {
	struct ibcc_evidence e;
	const json_t *plan; /* the recorded plan of the counters' bundle */
	bool anonymous;
	int64_t made; /* time of the counters, in seconds since 1970 */
};

/* Combines topology, tables and settings of one bundle with loads, roots and plan of another one,
 * or of that one again. Both must have the same nodes. Trusts neither; both must outlive *b.
 * -EINVAL with a sentence that names the place; -ENOMEM. Call ibcc_bundle_fini() on *b whatever it
 * returns.
 */
int ibcc_bundle_read(const json_t *cache, const json_t *counters, struct ibcc_bundle *b,
		     struct ibcc_why *why);
void ibcc_bundle_fini(struct ibcc_bundle *b);

/* Builds a topology from the nodes of a bundle. The caller frees it whatever this returns. -EINVAL,
 * -ENOMEM.
 */
int ibcc_bundle_topology(const json_t *nodes, struct ibcc_topo *t, struct ibcc_why *why);
/* Reads settings as ibcc_report_settings() writes them. *s must be unknown settings of the
 * topology's size.
 */
int ibcc_bundle_settings(const json_t *list, const struct ibcc_topo *t, struct ibcc_settings *s,
			 struct ibcc_why *why);

#endif
