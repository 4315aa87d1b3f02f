/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Emptying a tree before it is held: which trees need it, when it is done, and when again. */
#include "text.h"
#include "tuner_state.h"

#define TREE_BUFFER       65536u /* of a switch port and VL, about */
#define DRAIN_SOON        3u     /* passes */
#define DRAIN_MAX         60u
#define DRAINED_PERMILLE  970u /* a root that is less busy has run out of the tree's packets */
#define DRY_PASSES        2u
#define RETURNED_PASSES   6u
#define RETURNED_PERMILLE 600u

/* How many passes at most the tree is emptied with more force than is needed to hold it: none if
 * what is taken off by holding it, an eighth of the root's rate, does it soon. A full buffer is
 * before each port that waits. While it is emptied the root stays busy with what comes out.
 */
uint16_t ibcc_tuner_drain_passes(const struct ibcc_tuner_root *r, const struct ibcc_snapshot *s,
				 const struct ibcc_root *now)
{
	uint64_t ns = (uint64_t)now->n_waiting * TREE_BUFFER * 8000 / r->full_mbps;

	if (r->kind != IBCC_CONGESTION_OUTPUT || ns * 8 <= DRAIN_SOON * s->interval_ns)
		return 0;
	ns = 2 * ns / s->interval_ns + 2;
	return (uint16_t)(ns < DRAIN_MAX ? ns : DRAIN_MAX);
}

/* The tree is empty when its root runs out of packets, or when nobody waits any more. It must do so
 * in two passes: a moment without packets may come before all sources have been marked, and those
 * that were not would fill the tree again at once.
 */
bool ibcc_tuner_drained(const struct ibcc_tuner *tn, struct ibcc_tuner_root *r,
			const struct ibcc_root *now)
{
	bool dry = now && ibcc_tuner_busy_permille(now) < DRAINED_PERMILLE;

	r->dry = dry ? r->dry + 1 : 0;
	if (!now || r->dry >= DRY_PASSES || now->tree_wait_permille < tn->p.victim_wait_permille)
		r->drain = 0;
	else
		r->drain--;
	return !r->drain;
}

/* A slow receiver's tree that stands again is emptied again. */
bool ibcc_tuner_returned(struct ibcc_tuner_root *r, const struct ibcc_snapshot *s,
			 const struct ibcc_root *now, struct ibcc_text *say)
{
	bool busy = ibcc_tuner_busy_permille(now) >= DRAINED_PERMILLE;
	bool stands = r->kind == IBCC_CONGESTION_OUTPUT && busy &&
		      now->tree_wait_permille >= RETURNED_PERMILLE;

	if (r->settle && stands)
		return false; /* too early to count, but no sign that the tree was gone */
	r->returned = stands ? r->returned + 1 : 0;
	if (r->returned < RETURNED_PASSES << r->relapses)
		return false;
	r->returned = 0;
	r->drain = ibcc_tuner_drain_passes(r, s, now);
	if (!r->drain)
		return false;
	r->relapses += r->relapses < IBCC_TUNER_RELAPSES_MAX;
	r->calm = false;
	r->turning = 0;
	ibcc_text_say(say, "the tree stands again, its sources wait %u.%u %%: empty it first",
		      now->tree_wait_permille / 10, now->tree_wait_permille % 10);
	return true;
}
