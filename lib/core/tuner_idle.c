/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A root that could carry more: its sources are held too much, or have nothing more for it.
 *
 * Without marks sources take their delay back by their timer alone, and where the root is slow
 * that takes hundreds of milliseconds. A shorter table gives it back at once: an adapter's index
 * never exceeds its table. n sources at a delay of E packet times send n C / (1 + E); if that is
 * the share s of what the root carries, 1 + E is to be s times what it is. Some may have
 * recovered already, so that this is the most cautious step. Where the sources have nothing more
 * to send the steps soon lead to no delay at all, and the congestion is over.
 */
#include <math.h>

#include "text.h"
#include "tuner_state.h"

#define IDLE_PERMILLE  900u  /* of what the root carries; what is above is feedback's business */
#define IDLE_PASSES    2u    /* one may be the pause of a saw tooth */
#define SPARE_MIN      250u  /* no step takes more: what is sent in two passes may be by chance */
#define OVER_MILLI     500u  /* a delay of half a packet at the table's end holds nobody */
#define FAST_PERMILLE  1100u /* of what the receiver took when it was slow */
#define FAST_PASSES    4u
#define RECEIVE_BUFFER 131072u /* bytes, about twice what adapters have */
#define WAIT_MAX       64u
#define JAM_PERMILLE   200u
#define TREE_PERMILLE  250u
#define LOOP_MIN       250u

static uint32_t end_milli(const struct ibcc_tuner_root *r, uint32_t source_mbps)
{
	struct ibcc_law_out law;

	return ibcc_tuner_law(r, source_mbps, IBCC_CCT_MAX_ENTRIES, &law) ? 0 : law.end_milli;
}

/* A slow receiver that takes more than it did while its port waited for it, and lets nobody wait,
 * is slow no more. Marks that are left then come from bursts. While a slow one's buffer fills again
 * it takes more than it works off, too, but not more than the buffer has room for.
 */
static bool receiver_is_fast(struct ibcc_tuner_root *r, const struct ibcc_tuner_port *now,
			     uint32_t free_permille)
{
	uint64_t slow = r->jam_mbps > r->full_mbps ? r->jam_mbps : r->full_mbps;
	bool fast = r->kind == IBCC_CONGESTION_OUTPUT && now->wait_permille < free_permille &&
		    now->tree_wait_permille < free_permille;

	if (now->wait_permille >= JAM_PERMILLE && now->rate_mbps > r->jam_mbps)
		r->jam_mbps = now->rate_mbps;
	if (!fast) {
		r->fast = 0;
		r->fast_mbps = 0;
		return false;
	}
	r->fast++;
	r->fast_mbps += now->rate_mbps;
	if (r->fast < FAST_PASSES * r->patience)
		return false;
	fast = r->fast_mbps * 1000 > (uint64_t)r->fast * slow * FAST_PERMILLE;
	if (fast && (r->fast_mbps - r->fast * slow) * r->interval_ns / 8000 <= RECEIVE_BUFFER)
		return false;
	r->fast = 0;
	r->fast_mbps = 0;
	return fast;
}

/* Sources have a backlog from the time when they were held: let go at once they would fill the
 * fabric with it. So they go on under control, for all that the link can carry.
 */
static void let_link_limit(struct ibcc_tuner_root *r, uint32_t link_mbps)
{
	r->kind = IBCC_CONGESTION_INPUT;
	ibcc_tuner_number(r, r->n_adapters, r->n_adapters, link_mbps);
	r->threshold = ibcc_law_threshold(r->kind);
	r->calm = false;
	ibcc_tuner_begin_anew(r);
}

static bool is_idle(struct ibcc_tuner_root *r, const struct ibcc_tuner_port *now)
{
	uint64_t most = (uint64_t)r->full_mbps * IDLE_PERMILLE;

	if (now->marks || now->rate_mbps * IBCC_TUNER_PAUSE_SHARE < r->full_mbps ||
	    now->rate_mbps * 1000ull >= most || now->wait_permille >= 1000 - IDLE_PERMILLE) {
		r->was_marked |= now->marks > 0;
		r->idle = 0;
		r->idle_mbps = 0;
		return false;
	}
	r->idle++;
	r->idle_mbps += now->rate_mbps;
	return r->idle >= IDLE_PASSES * (r->idle_wait ? r->idle_wait : 1u) * r->patience;
}

bool ibcc_tuner_hold_again(struct ibcc_tuner_root *r)
{
	if (!r->released_from ||
	    (r->end_permille >= r->released_from && r->loop_permille >= r->released_loop))
		return false;
	r->end_permille = r->released_from;
	r->loop_permille = r->released_loop;
	r->released_from = 0;
	r->idle_wait = r->idle_wait ? r->idle_wait * 2u : 2u;
	if (r->idle_wait > WAIT_MAX)
		r->idle_wait = WAIT_MAX;
	return true;
}

/* The tree of a root whose sources were let go. */
static bool stands_again(struct ibcc_tuner_root *r, const struct ibcc_tuner_port *now)
{
	bool stands = r->released_from && now->tree_wait_permille >= TREE_PERMILLE &&
		      now->rate_mbps * 1000ull >= (uint64_t)r->full_mbps * IDLE_PERMILLE;

	r->stands = stands ? r->stands + 1 : 0;
	return r->stands >= IDLE_PASSES;
}

enum ibcc_tuner_idle ibcc_tuner_idle(const struct ibcc_tuner_params *p, struct ibcc_tuner_root *r,
				     const struct ibcc_tuner_port *now, uint32_t source_mbps,
				     struct ibcc_text *say)
{
	uint64_t share, end, next;

	if (stands_again(r, now) && ibcc_tuner_hold_again(r)) {
		ibcc_text_say(say, "sources wait %u.%u %% for the root again: held as before",
			      now->tree_wait_permille / 10, now->tree_wait_permille % 10);
		return IBCC_TUNER_RELEASED;
	}

	if (receiver_is_fast(r, now, p->victim_wait_permille)) {
		let_link_limit(r, now->link_mbps);
		ibcc_text_say(say,
			      "the receiver takes more than when it was slow, and nobody waits: "
			      "formulas again, for the link's %u Mb/s",
			      now->link_mbps);
		return IBCC_TUNER_RELEASED;
	}
	if (!is_idle(r, now))
		return IBCC_TUNER_BUSY;
	share = r->idle_mbps * 1000 / ((uint64_t)r->idle * r->full_mbps);
	r->idle = 0;
	r->idle_mbps = 0;
	end = end_milli(r, source_mbps);
	if (share < SPARE_MIN)
		share = SPARE_MIN;
	next = (end + 1000) * share / 1000;
	next = next > 1000 ? next - 1000 : 0;
	if (next < OVER_MILLI && !r->was_marked) {
		ibcc_text_say(say,
			      "nobody is marked and the root carries %u of %u Mb/s: its "
			      "sources need no delay, the congestion is over",
			      now->rate_mbps, r->full_mbps);
		return IBCC_TUNER_OVER;
	}
	if (!r->released_from) {
		r->released_from = r->end_permille;
		r->released_loop = r->loop_permille;
	}
	r->trial = r->failed = 0;
	if (r->was_marked) {
		r->was_marked = false;
		if (r->loop_permille <= LOOP_MIN)
			return IBCC_TUNER_BUSY;
		r->loop_permille = r->loop_permille * (uint32_t)share / 1000;
		if (r->loop_permille < LOOP_MIN)
			r->loop_permille = LOOP_MIN;
		ibcc_text_say(say,
			      "nobody is marked any more and the root carries %u of %u Mb/s: let "
			      "sources recover sooner",
			      now->rate_mbps, r->full_mbps);
		return IBCC_TUNER_RELEASED;
	}
	r->end_permille = (uint32_t)(r->end_permille * next / end);
	ibcc_text_say(say,
		      "nobody is marked and the root carries %u of %u Mb/s: sources are held too "
		      "much, let them go",
		      now->rate_mbps, r->full_mbps);
	return IBCC_TUNER_RELEASED;
}
