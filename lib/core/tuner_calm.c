/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether a root's tree stands decides how many packets it marks: see tuner_group.c. */
#include "text.h"
#include "tuner_state.h"

#define CALM_PASSES 4u /* so long a tree must be seen gone, doubled each time it comes back, */
#define BACK_PASSES 2u /* or back: it spreads fast */
#define CALM_SHARE  8u /* gone: at most one port waits for so many contributors */
#define BUSY_FADE   0.1
#define IDLE        950.0 /* permille of the time that a full link is busy on the mean */
#define IDLE_STILL  970.0

/* A tree that stands keeps its root busy. A full link that is idle by turns, though sources wait
 * for it, marks them all at once: they slow down and come back together. That is known only if its
 * values are for those that it limits; a link whose sources are held too much is idle, too.
 */
static bool is_idle(struct ibcc_tuner_root *r, const struct ibcc_root *now)
{
	uint32_t busy = ibcc_tuner_busy_permille(now);

	r->busy_permille += BUSY_FADE * ((busy < 1000 ? busy : 1000) - r->busy_permille);
	return r->kind == IBCC_CONGESTION_INPUT && r->told.on &&
	       r->busy_permille < (r->calm ? IDLE_STILL : IDLE);
}

static bool tree_is_gone(const struct ibcc_tuner_root *r, const struct ibcc_root *now,
			 uint32_t free_permille)
{
	uint32_t share = r->calm ? IBCC_TUNER_STANDS_SHARE : CALM_SHARE;

	return (uint64_t)now->n_waiting * share <= r->n_adapters ||
	       (now->tree_wait_permille < free_permille && now->n_waiting <= r->n_adapters);
}

void ibcc_tuner_calm(struct ibcc_tuner_root *r, const struct ibcc_root *now, uint32_t free_permille,
		     struct ibcc_text *say)
{
	bool idle = is_idle(r, now), calm = idle || tree_is_gone(r, now, free_permille);

	if (calm == r->calm)
		r->turning = 0;
	else if (r->turning < UINT8_MAX)
		r->turning++;
	if (r->turning < (calm ? CALM_PASSES << (idle ? 0 : r->relapses) : BACK_PASSES) ||
	    (r->kind == IBCC_CONGESTION_OUTPUT && calm && (!r->told.on || r->alone)))
		return;
	r->turning = 0;
	if (!calm)
		r->busy_permille = 1000;
	r->calm = calm;
	r->relapses += !calm && r->relapses < IBCC_TUNER_RELAPSES_MAX;
	if (idle)
		ibcc_text_say(say, "sources wait for the hot port, which is idle by turns: mark "
				   "fewer packets");
	else if (calm)
		ibcc_text_say(say, "nobody waits for the hot port: mark fewer packets");
	else
		ibcc_text_say(say, "sources wait for the hot port again: mark more packets");
}
