/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which roots the tuner follows: those that are seen again and again, can be believed, and hold up
 * somebody who could send elsewhere.
 */
#include "tuner_state.h"

#define DRAIN_PASSES     5u  /* after a change, backlog being repaid looks like new roots */
#define FOREIGN_PERMILLE 20u /* acknowledgements, which go elsewhere too, are below this */
#define MANY_SHARE       8u  /* so many adapters for each full link, */
#define MANY_MIN         2u  /* or so few links, are not many */
#define MANY_TIMES       3u
#define LEARN_PASSES     6u   /* so long a link is full that is taken up in doubt, */
#define LEARN_WAIT       50u  /* and its feeders wait so much */
#define STRICT_WAIT      250u /* feeders of a new root wait so much once something is controlled */

/* Share of what adapters send that does not go through the root, permille. Those that wait could
 * send more of it if the root's share did not stand in its way. What those in the root's own switch
 * send without waiting may go there, too: then they take more of it than those that wait, who get
 * the less. But if those that wait send just what the root carries, that is where all of it goes.
 */
static uint32_t foreign_permille(const struct ibcc_root *now)
{
	uint64_t sent = 0, waiting = 0, carried = now->rate_mbps;

	for (uint32_t i = 0; i < now->n_sources; i++) {
		sent += now->source[i].xmit_mbps;
		if (now->source[i].role != IBCC_ROLE_NEAR)
			waiting += now->source[i].xmit_mbps;
	}
	if (waiting * 1000 > carried * (1000 - FOREIGN_PERMILLE) &&
	    waiting * 1000 < carried * (1000 + FOREIGN_PERMILLE))
		return 0;
	return sent > carried ? (uint32_t)((sent - carried) * 1000 / sent) : 0;
}

/* Somebody waits behind the root who sends elsewhere: throttling the others can help. Sources that
 * all want the root only share it, and throttling would cost and help nobody (Mizero et al.,
 * DCMS, 2016, found the same for marking rates).
 */
static bool worth_acting(const struct ibcc_tuner_params *p, const struct ibcc_root *now)
{
	bool waits = false;

	for (uint32_t i = 0; i < now->n_sources; i++) {
		if (now->source[i].role == IBCC_ROLE_VICTIM &&
		    now->source[i].wait_permille > p->victim_wait_permille)
			return true;
		waits |= now->source[i].role == IBCC_ROLE_CANDIDATE;
	}
	return waits && foreign_permille(now) > FOREIGN_PERMILLE;
}

static bool controls(const struct ibcc_tuner *tn)
{
	for (uint32_t i = 0; i < tn->n_roots; i++)
		if (tn->root[i].on)
			return true;
	return false;
}

/* Backlog that is repaid after a change fills many links for a moment, but not for long. */
static bool believable(const struct ibcc_tuner *tn, const struct ibcc_tuner_root *r,
		       const struct ibcc_root *now)
{
	if (now->confidence_permille < IBCC_TUNER_CONFIDENT)
		return false;
	if (now->kind == IBCC_CONGESTION_OUTPUT)
		return true;
	if (tn->since_change < DRAIN_PASSES && r->stood < IBCC_TUNER_STOOD)
		return false;
	return now->tree_wait_permille >= STRICT_WAIT || !controls(tn);
}

/* At high load, and while backlog is repaid, many links are full now and then, each for a few
 * passes: where there are so many they must be seen for longer.
 */
uint32_t ibcc_tuner_confirm_passes(const struct ibcc_tuner *tn, const struct ibcc_estimate *e,
				   enum ibcc_congestion kind)
{
	uint32_t many = e->n_cas / MANY_SHARE > MANY_MIN ? e->n_cas / MANY_SHARE : MANY_MIN;
	uint32_t n = 0;

	if (kind == IBCC_CONGESTION_OUTPUT)
		return tn->p.confirm_passes;
	for (uint32_t i = 0; i < e->n_roots; i++)
		n += e->root[i].kind == IBCC_CONGESTION_INPUT;
	return tn->p.confirm_passes * (n > many ? MANY_TIMES : 1u);
}

uint64_t ibcc_tuner_becns(const struct ibcc_root *now)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < now->n_sources; i++)
		sum += now->source[i].becn;
	return sum;
}

uint64_t ibcc_tuner_marks(const struct ibcc_estimate *e, const struct ibcc_root *now)
{
	return e->fecn ? now->fecn : ibcc_tuner_becns(now);
}

const struct ibcc_root *ibcc_tuner_in_estimate(const struct ibcc_estimate *e, uint32_t port)
{
	for (uint32_t i = 0; i < e->n_roots; i++)
		if (e->root[i].port == port)
			return &e->root[i];
	return NULL;
}

static bool is_told(const struct ibcc_tuner *tn)
{
	for (uint32_t i = 0; i < tn->n_roots; i++)
		if (tn->root[i].told.on)
			return true;
	return false;
}

/* Roots that are only to be learned must leave room for those that are worth acting on. */
static bool has_room_to_learn(const struct ibcc_tuner *tn)
{
	return is_told(tn) && tn->n_roots < IBCC_TUNER_MAX_ROOTS / 2;
}

/* Where switches log what they mark, a full link may be taken up in doubt: the pairs that it limits
 * will show, or that there are none.
 */
bool ibcc_tuner_may_learn(const struct ibcc_tuner *tn, const struct ibcc_tuner_root *r,
			  const struct ibcc_root *now)
{
	return is_told(tn) && r->kind == IBCC_CONGESTION_INPUT && r->kind == now->kind &&
	       r->present >= LEARN_PASSES && now->tree_wait_permille >= LEARN_WAIT &&
	       now->confidence_permille >= IBCC_TUNER_CONFIDENT;
}

/* Brings the list of roots up to date with an estimate. */
void ibcc_tuner_observe(struct ibcc_tuner *tn, const struct ibcc_topo *t,
			const struct ibcc_estimate *e)
{
	for (uint32_t i = 0; i < e->n_roots; i++) {
		const struct ibcc_root *now = &e->root[i];
		struct ibcc_tuner_root *r = ibcc_tuner_find(tn, now->port);

		if (!r && ibcc_tuner_barred(tn, now->port))
			continue;
		if (!r && ((!worth_acting(&tn->p, now) && !has_room_to_learn(tn)) ||
			   now->confidence_permille < IBCC_TUNER_CONFIDENT))
			continue;
		if (!r)
			r = ibcc_tuner_add(tn, now->port);
		if (!r)
			continue;
		r->absent = 0;
		if (r->on)
			continue;
		r->present += r->present < UINT16_MAX;
		r->stood = worth_acting(&tn->p, now) && r->kind == now->kind ? r->stood + 1 : 0;
		if (!worth_acting(&tn->p, now) || !believable(tn, r, now) ||
		    (r->seen && r->kind != now->kind)) {
			r->kind = now->kind;
			r->seen = 0;
			r->win = (struct ibcc_tuner_window){ 0 };
			continue;
		}
		r->kind = now->kind;
		r->seen++;
		r->win.n++;
		r->win.rate_mbps += now->rate_mbps;
	}
	ibcc_tuner_count_becns(tn, t, e);
	for (uint32_t i = tn->n_roots; i-- > 0;) {
		struct ibcc_tuner_root *r = &tn->root[i];
		uint32_t patience = r->begun ? tn->p.quiet_passes * (uint32_t)r->patience
					     : tn->p.confirm_passes;

		if (ibcc_tuner_in_estimate(e, r->port))
			continue;
		/* Held back too much looks the same until the sources have recovered. */
		if (r->begun && patience < r->recover)
			patience = r->recover;
		r->absent++;
		if (!r->on || r->absent >= patience)
			ibcc_tuner_drop(tn, r);
	}
}
