/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A support bundle, read where there is no fabric: see ibcc_report_bundle(). */
#ifndef IBCC_DAEMON_BUNDLE_H
#define IBCC_DAEMON_BUNDLE_H

#include <jansson.h>

#include "daemon/predict/evidence.h"

#define IBCC_BUNDLE_FORMAT "ibcc-tune bundle 1"

struct ibcc_bundle {
	struct ibcc_evidence e;
	const json_t *plan; /* as it was told, of the counters' bundle */
	bool anonymous;
	int64_t made; /* of the counters, in seconds since 1970 */
};

/* Topology, tables and settings of one bundle with loads, roots and plan of another, or the same;
 * their nodes have to be the same ones. Nothing of either is trusted; both are to outlive *b.
 * -EINVAL with a sentence that names the place; -ENOMEM. *b needs ibcc_bundle_fini() whatever it
 * returns.
 */
int ibcc_bundle_read(const json_t *cache, const json_t *counters, struct ibcc_bundle *b,
		     struct ibcc_why *why);
void ibcc_bundle_fini(struct ibcc_bundle *b);

/* Nodes of a bundle into a topology; freed by the caller whatever it returns. -EINVAL, -ENOMEM. */
int ibcc_bundle_topology(const json_t *nodes, struct ibcc_topo *t, struct ibcc_why *why);
/* Settings as ibcc_report_settings() tells them, into unknown ones of the topology's size. */
int ibcc_bundle_settings(const json_t *list, const struct ibcc_topo *t, struct ibcc_settings *s,
			 struct ibcc_why *why);

#endif
