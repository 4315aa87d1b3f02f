/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What was repaired lately. A repair happens in the polling cycle that finds the drift, so only
 * this shows a program that changes settings again and again.
 */
#include <stdio.h>

#include <ibcc/json.h>
#include <ibcc/now.h>

#include "daemon/service/service_impl.h"

/* The status shows a repair for this long. Repairs count as one row if they follow each other
 * within that time.
 */
#define REPAIRS_TOLD_NS 600000000000ull

void ibcc_service_note_repair(struct ibcc_service *s)
{
	struct ibcc_repairs *r = &s->repairs;
	uint64_t now_ns = ibcc_now_ns();
	bool any = s->cycle.mended;

	if (s->cycle.fast) /* it reads no settings, so it finds nothing to repair */
		return;
	ibcc_repair_counts_note(&r->counts, any ? &s->cycle.repaired : NULL);
	if (!any)
		return;
	if (!r->n || now_ns - r->last_ns > REPAIRS_TOLD_NS) {
		r->first_ns = now_ns;
		r->n = 0;
	}
	r->what = s->cycle.drifted;
	r->last_ns = now_ns;
	r->n++;
}

json_t *ibcc_service_repairs(const struct ibcc_service *s)
{
	const struct ibcc_repairs *r = &s->repairs;
	uint64_t age_ns = ibcc_now_ns() - r->last_ns;
	struct ibcc_why text;
	char often[64] = "once";

	if (!r->n || age_ns > REPAIRS_TOLD_NS)
		return json_null();
	if (r->n > 1)
		snprintf(often, sizeof(often), "%u times in %.0f s", r->n,
			 (double)(r->last_ns - r->first_ns) / 1e9);
	ibcc_why_set(&text, 0,
		     "%s; repaired %s, last %.0f s ago. A node has restarted, or another program "
		     "sets congestion control: find it and stop it",
		     r->what.text, often, (double)age_ns / 1e9);
	return ibcc_json_text(text.text);
}
