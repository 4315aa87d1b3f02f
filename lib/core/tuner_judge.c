/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Feedback: does what was set do what it should, and if not, which parameter moves.
 *
 * The hot port must stay busy and nobody may wait behind its tree. Means over several passes decide
 * since single passes swing with the sources' saw teeth; a tree that still drains is left alone
 * since strengthening then runs away; each reversal of direction doubles the time to the next
 * change, so that two settings that are both a little wrong do not alternate for ever.
 */
#include "text.h"
#include "tuner_state.h"

#define JUDGE_PASSES    4u
#define BACKOFF_MAX     1024u
#define DRAINS_PERMILLE 900u  /* below this share of the wait before, the tree is draining */
#define LEARN_PERMILLE  150u  /* formula again when contributors become known and x moves so much */
#define HELPED_PERMILLE 950u  /* of the victims' wait before, at most, or it did not help */
#define GROWN_PERMILLE  1150u /* more than that, and the table ends too early for them all */
#define SHRUNK_PERMILLE 600u
#define LOOP_GROWN      2000u /* of the time between a source's packets: marks adapt to less */
#define LOOP_SHRUNK     500u
#define IN_VAIN_SHARE   2u /* one packet in so many is marked, four times what control needs */

/* How far feedback may go from the formulas. */
#define END_MIN  900u
#define END_MAX  4000u
#define LOOP_MIN 250u
#define LOOP_MAX 6000u

#define THRESHOLD_STEP 3u
#define THRESHOLD_MAX  15u

/* A port that waits for credits keeps its sink busy, and so does one that carries what it carried
 * when it was jammed: the sink then works on what is in its buffer while the port is idle. A full
 * link can carry what it is made for, whatever it carried when it was looked at.
 */
static uint32_t busy_permille(const struct ibcc_tuner_root *r, const struct ibcc_root *now)
{
	uint64_t port = ibcc_tuner_busy_permille(now);
	uint64_t sink = 1000ull * now->rate_mbps / r->full_mbps;
	uint64_t busy = r->kind == IBCC_CONGESTION_OUTPUT && sink > port ? sink : port;

	return busy < 1000 ? (uint32_t)busy : 1000;
}

static void add(struct ibcc_tuner_root *r, const struct ibcc_root *now, uint64_t marks)
{
	struct ibcc_tuner_window *w = &r->win;
	uint64_t wait = 0;

	w->n++;
	w->busy += busy_permille(r, now);
	w->rate_mbps += now->rate_mbps;
	w->tree_wait += now->tree_wait_permille;
	w->marks += marks;
	for (uint32_t i = 0; i < now->n_sources; i++)
		if (now->source[i].role == IBCC_ROLE_VICTIM)
			wait += now->source[i].wait_permille;
	if (now->n_victims)
		w->victim_wait += wait / now->n_victims;
}

/* A reversal doubles the pause, another step in the same direction does not. */
static void moved(struct ibcc_tuner_root *r, int8_t direction)
{
	if (r->direction && r->direction != direction)
		r->backoff = r->backoff ? r->backoff * 2u : JUDGE_PASSES;
	if (r->backoff > BACKOFF_MAX)
		r->backoff = BACKOFF_MAX;
	r->direction = direction;
}

static uint32_t scale(uint32_t v, uint32_t num, uint32_t den, uint32_t low, uint32_t high)
{
	v = v * num / den;
	return v < low ? low : v > high ? high : v;
}

/* The end of the table first: it is too near if sources at it still send too much. A parameter that
 * did not help is not tried again.
 */
static bool strengthen(struct ibcc_tuner_root *r, bool leads, uint32_t victim_wait)
{
	uint32_t end = scale(r->end_permille, 5, 4, END_MIN, END_MAX);
	uint32_t loop = scale(r->loop_permille, 3, 2, LOOP_MIN, LOOP_MAX);
	bool can_end = leads && end != r->end_permille && !(r->failed & IBCC_TUNER_END);
	bool can_loop = loop != r->loop_permille && !(r->failed & IBCC_TUNER_LOOP);
	bool even = r->end_permille <= r->loop_permille;

	if (!can_end && !can_loop)
		return false;
	r->old_end_permille = r->end_permille;
	r->old_loop_permille = r->loop_permille;
	r->trial_wait = (uint16_t)victim_wait;
	if (can_end && (even || !can_loop)) {
		r->trial = IBCC_TUNER_END;
		r->end_permille = end;
	} else {
		r->trial = IBCC_TUNER_LOOP;
		r->loop_permille = loop;
	}
	moved(r, 1);
	return true;
}

/* Judges what was made stronger: it stays if it helped. Returns true if it was taken back. */
static bool take_back(struct ibcc_tuner_root *r, uint32_t victim_wait, bool busy)
{
	uint8_t trial = r->trial;

	r->trial = 0;
	if (!trial)
		return false;
	if (busy && (uint64_t)victim_wait * 1000 < (uint64_t)r->trial_wait * HELPED_PERMILLE) {
		r->failed = 0;
		return false;
	}
	r->failed |= trial;
	r->end_permille = r->old_end_permille;
	r->loop_permille = r->old_loop_permille;
	return true;
}

/* Roots that share sources are idle for one another's sake, too. One that is told whom it limits
 * has the values that these need, and a slow receiver whose sources are only counted would lose
 * control of all of them for a few hundredths of what it takes, and of the others' with them.
 */
static bool may_relax(const struct ibcc_tuner_root *r)
{
	return r->alone || (r->kind == IBCC_CONGESTION_INPUT && !r->told.on);
}

/* Where a slow receiver's table ends has no more margin than its many sources need who were not
 * counted: nearer, and control of all of them is lost at once.
 */
static bool relax(struct ibcc_tuner_root *r, bool leads)
{
	uint32_t least = r->kind == IBCC_CONGESTION_OUTPUT ? 1000 : END_MIN;
	uint32_t end = scale(r->end_permille, 10, 11, least, END_MAX);
	uint32_t loop = scale(r->loop_permille, 5, 7, LOOP_MIN, LOOP_MAX);

	if (leads && end < r->end_permille)
		r->end_permille = end;
	else if (loop != r->loop_permille)
		r->loop_permille = loop;
	else
		return false;
	moved(r, -1);
	return true;
}

/* What keeps this root's port idle may be another root's tree, in which its packets wait. Less
 * delay for the sources, which have the same values for both, would only feed that tree.
 */
static bool hold_as_computed(struct ibcc_tuner_root *r)
{
	if (r->end_permille >= 1000 && r->loop_permille >= 1000)
		return false;
	r->end_permille = r->end_permille < 1000 ? 1000 : r->end_permille;
	r->loop_permille = r->loop_permille < 1000 ? 1000 : r->loop_permille;
	moved(r, 1);
	return true;
}

/* A full link marks most of its packets, and its sources wait all the same: at the end of the table
 * they still send too much. The formulas count adapters, each of which may have many queue pairs
 * for the link; how many, no counter tells.
 */
static bool marks_in_vain(const struct ibcc_tuner_root *r, const struct ibcc_tuner_window *w)
{
	return r->kind == IBCC_CONGESTION_INPUT &&
	       w->marks * 8000 * r->packet_bytes * IN_VAIN_SHARE > w->rate_mbps * r->interval_ns;
}

static bool end_later(struct ibcc_tuner_root *r)
{
	uint32_t end = scale(r->end_permille, 2, 1, END_MIN, END_MAX);

	if (end == r->end_permille)
		return false;
	r->end_permille = end;
	r->trial = 0;
	moved(r, 1);
	return true;
}

/* Nobody was marked while sources wait: the queue never gets to the threshold. */
static bool mark_earlier(struct ibcc_tuner_root *r)
{
	if (r->threshold >= THRESHOLD_MAX)
		return false;
	r->threshold = r->threshold + THRESHOLD_STEP < THRESHOLD_MAX
			       ? (uint8_t)(r->threshold + THRESHOLD_STEP)
			       : THRESHOLD_MAX;
	return true;
}

static uint64_t permille(uint64_t now, uint64_t old)
{
	return now * 1000 / (old ? old : 1);
}

/* Do the contributors and the root's rate still fit the numbers that the formulas were given? Where
 * the table ends is the leader's business; how often its sources are marked is each root's.
 */
static bool moved_away(struct ibcc_tuner_root *r, const struct ibcc_tuner_sources *s, uint32_t rate,
		       bool leads, struct ibcc_text *say)
{
	uint64_t end = permille(ibcc_law_fair_milli(s->n, s->mbps, rate) + 1000u,
				ibcc_law_fair_milli(r->n, s->mbps, r->rate_mbps) + 1000u);
	uint64_t loop = permille((uint64_t)s->n_heavy * r->rate_mbps, (uint64_t)r->n_heavy * rate);
	bool first = !r->learned;

	if (!s->n || !rate)
		return false;
	r->learned = true;
	if ((!leads || (end <= GROWN_PERMILLE && end >= SHRUNK_PERMILLE)) && loop <= LOOP_GROWN &&
	    loop >= LOOP_SHRUNK &&
	    !(first && (end >= 1000 + LEARN_PERMILLE || end <= 1000 - LEARN_PERMILLE)))
		return false;
	ibcc_text_say(say,
		      "BECN counters name %u contributors, which count as %u equal ones, the root "
		      "carries %u Mb/s: formulas again, which had %u, %u and %u Mb/s",
		      s->n, s->n_heavy, rate, r->n, r->n_heavy, r->rate_mbps);
	ibcc_tuner_number(r, s->n, s->n_heavy, rate);
	ibcc_tuner_begin_anew(r);
	return true;
}

bool ibcc_tuner_judge(const struct ibcc_tuner_params *p, struct ibcc_tuner_root *r,
		      const struct ibcc_root *now, const struct ibcc_tuner_sources *s, bool leads,
		      struct ibcc_text *say)
{
	struct ibcc_tuner_window w;
	uint32_t busy, tree, victim, rate;
	bool draining;

	add(r, now, s->marks);
	w = r->win;
	if (w.n < JUDGE_PASSES + r->backoff)
		return false;
	r->win = (struct ibcc_tuner_window){ 0 };
	busy = (uint32_t)(w.busy / w.n);
	tree = (uint32_t)(w.tree_wait / w.n);
	victim = (uint32_t)(w.victim_wait / w.n);
	/* What an idle port sends says nothing about what it can carry. */
	rate = busy >= p->sink_busy_permille ? (uint32_t)(w.rate_mbps / w.n) : r->full_mbps;
	draining = (uint64_t)tree * 1000 < (uint64_t)r->last_tree_wait * DRAINS_PERMILLE;
	r->last_tree_wait = (uint16_t)tree;

	if (!r->told.on && moved_away(r, s, rate, leads, say))
		return true;
	if (!draining && take_back(r, victim, busy >= p->sink_busy_permille)) {
		ibcc_text_say(say, "victims wait %u.%u %% as before: the last step is taken back",
			      victim / 10, victim % 10);
		return true;
	}
	if (s->rests)
		return false;
	if (busy < p->sink_busy_permille && w.marks && s->jammed) {
		if (!leads || !hold_as_computed(r))
			return false;
		ibcc_text_say(say,
			      "the hot port is only %u.%u %% busy, but its sources wait for "
			      "another root: held as the formulas say",
			      busy / 10, busy % 10);
		return true;
	}
	if (busy < p->sink_busy_permille && w.marks) {
		if (!may_relax(r) || !relax(r, leads && s->n <= r->n_adapters))
			return false;
		ibcc_text_say(say, "the hot port is only %u.%u %% busy: relax", busy / 10,
			      busy % 10);
		return true;
	}
	if (draining)
		return false;
	if (busy >= p->sink_busy_permille && tree > p->victim_wait_permille &&
	    marks_in_vain(r, &w) && end_later(r)) {
		ibcc_text_say(
			say,
			"most packets are marked and sources still wait %u.%u %%: hold them more",
			tree / 10, tree % 10);
		return true;
	}
	if (!w.marks && tree > p->victim_wait_permille) {
		if (!mark_earlier(r))
			return false;
		ibcc_text_say(say, "sources wait but nobody is marked: mark earlier");
		return true;
	}
	if (victim > p->victim_wait_permille && busy >= p->sink_busy_permille &&
	    ibcc_tuner_hold_again(r)) {
		ibcc_text_say(say, "victims wait %u.%u %%: sources are held as before again",
			      victim / 10, victim % 10);
		return true;
	}
	if (victim > p->victim_wait_permille) {
		if (!strengthen(r, leads, victim))
			return false;
		ibcc_text_say(say, "victims still wait %u.%u %% of the time: strengthen",
			      victim / 10, victim % 10);
		return true;
	}
	return false;
}
