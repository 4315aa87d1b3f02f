/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* When the fabric is discovered again (rediscovery.h). The longer discoveries take, and the more
 * of them find nothing new, the longer are the pauses between them.
 */
#include "daemon/service/rediscovery.h"

#define SECOND_NS   1000000000ull
#define LEAST_NS    (2 * SECOND_NS)
#define HINTED_NS   (60 * SECOND_NS)
#define REGULAR_NS  (900 * SECOND_NS)
#define QUIET_NS    (1 * SECOND_NS)  /* the subnet manager is at work as long as traps come */
#define PATIENCE_NS (10 * SECOND_NS) /* with hints that do not end */
#define SHARE       4u               /* of the time at most one in so many parts is discovery's */
#define MOST_FUTILE 10u

void ibcc_rediscovery_hint(struct ibcc_rediscovery *r, uint64_t now_ns)
{
	r->hint_ns = now_ns;
	if (!r->first_ns)
		r->first_ns = now_ns;
}

void ibcc_rediscovery_unread(struct ibcc_rediscovery *r, uint32_t n, uint64_t now_ns)
{
	if (n > r->unread)
		ibcc_rediscovery_hint(r, now_ns);
	r->unread = n;
}

/* From one discovery to the next, if there is a reason. */
static uint64_t gap_ns(const struct ibcc_rediscovery *r, unsigned int doublings, uint64_t most)
{
	uint64_t least = SHARE * r->took_ns, ns = LEAST_NS << doublings;

	ns = ns < most ? ns : most;
	return ns > least ? ns : least;
}

bool ibcc_rediscovery_is_due(const struct ibcc_rediscovery *r, bool doubtful, uint64_t now_ns)
{
	uint64_t since = now_ns - r->last_ns;

	if (!r->last_ns || since >= gap_ns(r, MOST_FUTILE, REGULAR_NS))
		return true;
	if (doubtful && since >= gap_ns(r, 0, HINTED_NS))
		return true;
	if (r->unread && since >= gap_ns(r, r->futile, REGULAR_NS))
		return true;
	return r->first_ns && since >= gap_ns(r, r->futile, HINTED_NS) &&
	       (now_ns - r->hint_ns >= QUIET_NS || now_ns - r->first_ns >= PATIENCE_NS);
}

void ibcc_rediscovery_done(struct ibcc_rediscovery *r, uint64_t from_ns, uint64_t now_ns,
			   bool changed)
{
	if (changed || (!r->first_ns && !r->unread))
		r->futile = 0;
	else if (r->futile < MOST_FUTILE)
		r->futile++;
	r->last_ns = now_ns;
	r->took_ns = now_ns - from_ns;
	/* What came while it was under way may be missing in it; and where something was found, the
	 * subnet manager may not have been through with it.
	 */
	if (changed && r->first_ns)
		r->first_ns = r->hint_ns = now_ns;
	else if (r->hint_ns < from_ns)
		r->first_ns = r->hint_ns = 0;
}
