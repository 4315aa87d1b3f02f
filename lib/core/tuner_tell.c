/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tells roots what the pairs that they limit are to get.
 *
 * Counts of a sample vary, so that numbers which differ by less than chance may are left alone, and
 * those that go up and down in turn are let go up or down ever more seldom. Whom a root does not
 * mark needs no values for it: with them the root would share the timer of all others that the
 * adapter contributes to.
 */
#include <errno.h>
#include <math.h>

#include "tuner_state.h"

/* Tables that end too early lose control, those that end too late cost a little: the former is
 * mended sooner.
 */
#define CLOSER     0.85 /* of what each pair was to get */
#define FARTHER    1.15
#define NUMBER     1.3 /* times as long is a pair's time between packets, or as short */
#define PAUSE      8u
#define PAUSE_MAX  128u
#define NONE_TIMES 5u
#define UNMARKED   0.5 /* packets in the log: who has fewer is not held, as each that is has 4 */

/* Do the numbers that a root's values were made for still fit n pairs at mbps in all? */
static bool differs(const struct ibcc_tuner_root *r, uint32_t n, double mbps)
{
	double chance = 1 / sqrt(r->pairs.samples);
	double each = mbps / n * r->n / r->rate_mbps;
	double loop = n / mbps * r->rate_mbps / r->n_heavy; /* times that between packets */

	return each < CLOSER - chance / 2 || each > FARTHER + chance || loop > NUMBER + chance ||
	       loop * (NUMBER + chance) < 1;
}

static void note_change(struct ibcc_tuner_told *told, int8_t direction)
{
	if (!told->pause)
		told->pause = PAUSE;
	else if (direction != told->direction && told->pause < PAUSE_MAX)
		told->pause *= 2u;
	told->direction = direction;
	told->age = 0;
}

/* Returns true if the root's values are to be others. */
static bool tell(struct ibcc_tuner_root *r, uint32_t n, double mbps, bool well,
		 struct ibcc_text *say)
{
	r->told.on = true;
	r->told.nobody = 0;
	if (well || !differs(r, n, mbps) || r->told.age < r->told.pause)
		return false;
	note_change(&r->told, mbps / n < (double)r->rate_mbps / r->n ? -1 : 1);
	ibcc_text_say(say,
		      "the switch's CongestionLog names %u pair%s that the root limits to %.0f "
		      "Mb/s in all: formulas for them, which had %u and %u Mb/s",
		      n, n == 1 ? "" : "s", mbps, r->n, r->rate_mbps);
	r->n = r->n_heavy = n;
	r->rate_mbps = mbps < 1 ? 1 : (uint32_t)lround(mbps);
	r->counts_pairs = r->learned = true;
	if (r->kind == IBCC_CONGESTION_OUTPUT)
		r->full_mbps = (uint32_t)lround(fmax(r->pairs.capacity_mbps, 1));
	ibcc_tuner_begin_anew(r);
	return true;
}

static bool is_only(const struct ibcc_tuner *tn, const struct ibcc_tuner_root *r)
{
	for (uint32_t i = 0; i < tn->n_roots; i++)
		if (tn->root[i].on && &tn->root[i] != r)
			return false;
	return true;
}

/* Is a full link busy while hardly anybody waits for it, and the only root? Then there is nothing
 * to be gained by better numbers.
 */
static bool is_well(const struct ibcc_tuner *tn, const struct ibcc_tuner_root *r,
		    const struct ibcc_estimate *e)
{
	const struct ibcc_root *now = ibcc_tuner_in_estimate(e, r->port);

	return is_only(tn, r) && now && r->kind == IBCC_CONGESTION_INPUT &&
	       ibcc_tuner_busy_permille(now) >= tn->p.sink_busy_permille &&
	       now->tree_wait_permille < tn->p.victim_wait_permille;
}

static bool is_marked(const struct ibcc_tuner_root *r, uint32_t endport)
{
	return r->pairs.logged[endport] >= UNMARKED;
}

/* Adapters whose pairs are limited, and marked here, get the root's values, whether or not counters
 * named them.
 */
static int enlist(struct ibcc_tuner *tn, struct ibcc_tuner_root *r, const struct ibcc_topo *t,
		  const struct ibcc_settings *actual, const struct ibcc_tuner_shares *s, uint32_t k,
		  struct ibcc_text *say)
{
	uint32_t src, n = 0, new = 0;
	size_t at = 0;

	while ((src = ibcc_tuner_next_limited(s, k, &at)) != IBCC_NONE) {
		uint32_t i = t->port[src].endport;
		int ret = is_marked(r, i) ? ibcc_tuner_enlist(tn, r, actual, i) : 0;

		if (ret < 0)
			return ret;
		new += (uint32_t)ret;
		n++;
	}
	r->n_adapters = n;
	if (new && !say->n)
		ibcc_text_say(say, "%u more adapter%s limited: settings for %s, too", new,
			      new == 1 ? " is" : "s are", new == 1 ? "it" : "them");
	return 0;
}

/* Adapters that got the root's values when nobody could tell who contributes. Where there is no
 * other root they may keep them, which is no change.
 */
static void dismiss(const struct ibcc_tuner *tn, struct ibcc_tuner_root *r, struct ibcc_text *say)
{
	uint32_t n = 0;

	if (is_only(tn, r))
		return;
	for (uint32_t i = 0; i < tn->n_endports; i++) {
		if (!r->member[i] || is_marked(r, i))
			continue;
		r->member[i] = false;
		n++;
	}
	if (n && !say->n)
		ibcc_text_say(say, "%u adapter%s not marked: no settings for that root", n,
			      n == 1 ? " is" : "s are");
}

int ibcc_tuner_tell(struct ibcc_tuner *tn, const struct ibcc_topo *t, const struct ibcc_estimate *e,
		    const struct ibcc_settings *actual, struct ibcc_text *say)
{
	struct ibcc_tuner_shares *s = ibcc_tuner_shares_find(tn, t, e, actual);
	uint32_t nobody = IBCC_NONE;
	bool changed = false;
	int ret = s ? 0 : -ENOMEM;

	for (uint32_t k = 0; k < tn->n_roots && !ret; k++) {
		struct ibcc_tuner_root *r = &tn->root[k];
		double mbps;
		uint32_t n;

		r->told.age += r->told.age < UINT16_MAX;
		if (!ibcc_tuner_pairs_known(r)) {
			r->told.on = false;
			r->told.nobody = 0;
			continue;
		}
		n = ibcc_tuner_limited_by(s, k, &mbps);
		if (n) {
			changed |= tell(r, n, mbps, is_well(tn, r, e), say);
			ret = enlist(tn, r, t, actual, s, k, say);
			dismiss(tn, r, say);
		} else if (++r->told.nobody >= NONE_TIMES) {
			nobody = r->port;
		}
	}
	if (!ret && nobody != IBCC_NONE)
		ibcc_tuner_give_up(tn, t, ibcc_tuner_find(tn, nobody),
				   "by the switch's CongestionLog nobody is limited by", say);
	else if (changed)
		ibcc_tuner_changed(tn);
	ibcc_tuner_shares_free(s);
	return ret;
}
