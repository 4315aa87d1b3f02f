/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Counters that say that settings are not on the fabric any more. */
#include "tuner_state.h"

#define DOUBT_BECNS  32u
#define CHANCE_BECNS 8u /* fewer may be by chance, however little time it had to send */
#define DOUBT_RATIO  8u
#define DOUBT_MAX    63u

/* One of several sources is marked far more than the others, for the time that it can send, and
 * goes on: it may have lost its settings.
 */
bool ibcc_tuner_has_outlier(const struct ibcc_tuner_root *r, const struct ibcc_root *now)
{
	uint64_t sum = 0, most = 0;

	for (uint32_t i = 0; i < now->n_sources; i++) {
		const struct ibcc_source *s = &now->source[i];
		uint64_t rate = s->becn * 1000 / (1001u - s->wait_permille);

		sum += rate;
		if (s->becn >= CHANCE_BECNS && rate > most)
			most = rate;
	}
	return most >= DOUBT_BECNS && most * (r->n_adapters - 1) > DOUBT_RATIO * (sum - most);
}

/* Counters as if a node had started anew, without its settings: the root's switch, which marks no
 * more, or a source. Reading all settings takes time, so doubts that prove wrong come back ever
 * later. */
bool ibcc_tuner_doubt(struct ibcc_tuner *tn, const struct ibcc_estimate *e)
{
	bool now = false;

	for (uint32_t i = 0; i < tn->n_roots; i++) {
		const struct ibcc_tuner_root *r = &tn->root[i];
		const struct ibcc_root *seen = ibcc_tuner_in_estimate(e, r->port);

		now |= r->on && r->in_force && !r->drain && !r->settle && seen &&
		       (ibcc_tuner_has_outlier(r, seen) ||
			(!ibcc_tuner_becns(seen) &&
			 seen->tree_wait_permille > tn->p.victim_wait_permille));
	}
	if (tn->doubt_wait)
		tn->doubt_wait--;
	if (!now || tn->doubt_wait)
		return false;
	tn->doubt_pause = tn->doubt_pause < DOUBT_MAX ? tn->doubt_pause * 2u + 1u : DOUBT_MAX;
	tn->doubt_wait = tn->doubt_pause;
	return true;
}
