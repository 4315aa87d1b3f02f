/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Would other ways help a congested port? The experiments ooo-collision, ooo-endpoint and ooo-cc
 * have the figures behind these answers (ibcc-bench run).
 */
#ifndef IBCC_WAYS_H
#define IBCC_WAYS_H

#include <ibcc/estimate.h>
#include <ibcc/snapshot.h>
#include <ibcc/vendor.h>
#include <ibcc/why.h>

enum ibcc_ways {
	IBCC_WAYS_UNKNOWN,  /* no other way is known to have room */
	IBCC_WAYS_ENDPOINT, /* it leads to an adapter: there is no other way */
	IBCC_WAYS_FREE, /* another output leads there as soon, and sends less than half its rate */
};

/* Of a congested switch output, by tables, links and what other outputs sent in the interval of the
 * snapshot. *other, where it is IBCC_WAYS_FREE, becomes that output; the one that sends least of
 * its rate. Looks at a few of the LIDs behind the port, so it may miss a way, but names none that
 * leads elsewhere.
 */
enum ibcc_ways ibcc_ways_of(const struct ibcc_topo *t, const struct ibcc_snapshot *s, uint32_t port,
			    uint32_t *other);

/* Text about several paths for the estimate's most severe root, and about service levels that may
 * take several paths, as NVIDIA's switches report: "path collision: ...", "endpoint
 * congestion: ...", "reordering on RC endpoints: ...". Empty if there is nothing to report.
 */
void ibcc_ways_text(const struct ibcc_topo *t, const struct ibcc_snapshot *s,
		    const struct ibcc_estimate *p, const struct ibcc_vendor *v,
		    struct ibcc_why *text);

#endif
