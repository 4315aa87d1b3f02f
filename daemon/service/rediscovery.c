/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Decides when to discover the fabric again (rediscovery.h). The pauses grow with the time that
 * discoveries take, and with the number of discoveries that find nothing new.
 */
#include "daemon/service/rediscovery.h"

#define SECOND_NS   1000000000ull
#define LEAST_NS    (2 * SECOND_NS)
#define HINTED_NS   (60 * SECOND_NS)
#define REGULAR_NS  (900 * SECOND_NS)
#define QUIET_NS    (1 * SECOND_NS)  /* the subnet manager is at work as long as traps come */
#define PATIENCE_NS (10 * SECOND_NS) /* longest wait while hints keep coming */
#define SHARE       4u               /* discovery takes at most 1/SHARE of the time */
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

/* The pause from one discovery to the next, if there is a reason for one. */
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
	/* A discovery may miss a change that was reported while it ran. And if it found a change,
	 * the subnet manager may not have finished with that change.
	 */
	if (changed && r->first_ns)
		r->first_ns = r->hint_ns = now_ns;
	else if (r->hint_ns < from_ns)
		r->first_ns = r->hint_ns = 0;
}
