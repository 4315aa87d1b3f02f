/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which of a root's pairs it limits. Those have about the same of it, and would take more if they
 * were let. The others send all that they have, which is less.
 */
#include <math.h>

#include "tuner_state.h"

#define AT_LEVEL     0.65 /* of the level: a pair with more may be limited */
#define DOUBT        0.5  /* deviations */
#define ROUNDS       8u
#define CHANCE_MAX   0.5
#define MIN_SAMPLES  60.0
#define TOLD_SAMPLES 30.0 /* ... of a root that was told before: few logged packets come and go */
#define MIN_PASSES   4.0
#define MIN_LEVEL    4.0  /* packets of each pair: what is less tells nothing */
#define LIMITED_MIN  0.4  /* of all marks */
#define BELOW_FROM   0.35 /* of the level: those between there and AT_LEVEL could be either, */
#define BELOW_MAX    0.5  /* and have at most so much of what those at the level have; */
#define ABOVE_FROM   1.5  /* those above it (and chance) are not held, */
#define ABOVE_MAX    0.1  /* and have so much at most */

bool ibcc_tuner_at_level(double marks, double level)
{
	return marks >= AT_LEVEL * level;
}

double ibcc_tuner_most_marks(const struct ibcc_tuner_pair *p)
{
	return p->marks * (1 + DOUBT * sqrt(p->chance));
}

/* Taken over marks instead of pairs the mean leans to those who have most; who is far below it is
 * left out of the next. What chance adds to the squares is taken off.
 */
double ibcc_tuner_level(const struct ibcc_tuner_pairs *p)
{
	double level = 0;

	for (unsigned int round = 0; round < ROUNDS; round++) {
		double sum = 0, squares = 0;

		for (uint32_t i = 0; i < p->n; i++) {
			double marks = p->pair[i].marks;

			if (marks <= AT_LEVEL * level)
				continue;
			sum += marks;
			squares += marks * marks * (1 - fmin(p->pair[i].chance, CHANCE_MAX));
		}
		if (!(sum > 0) || squares / sum <= level)
			break;
		level = squares / sum;
	}
	return level;
}

/* Do the pairs fall into those at the level and those well below it? While a root's first values
 * are far from what they ought to be they do not.
 */
static bool stand_out(const struct ibcc_tuner_pairs *p, double level)
{
	double limited = 0, below = 0, above = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct ibcc_tuner_pair *q = &p->pair[i];

		if (q->marks > AT_LEVEL * level)
			limited += q->marks;
		else if (q->marks > BELOW_FROM * level)
			below += q->marks;
		if (q->marks > ABOVE_FROM * level * (1 + sqrt(q->chance)))
			above += q->marks;
	}
	return limited >= LIMITED_MIN * p->marks && below < BELOW_MAX * limited &&
	       above < ABOVE_MAX * limited;
}

bool ibcc_tuner_pairs_known(const struct ibcc_tuner_root *r)
{
	const struct ibcc_tuner_pairs *p = &r->pairs;
	double level;

	if (!r->on || p->samples < (r->told.on ? TOLD_SAMPLES : MIN_SAMPLES) ||
	    p->passes < MIN_PASSES || p->unlogged >= IBCC_TUNER_UNLOGGED_MAX)
		return false;
	level = ibcc_tuner_level(p);
	return level >= MIN_LEVEL * p->marks / p->samples && (r->told.on || stand_out(p, level));
}
