/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Who contributes to a root, and how many of them count, by the BECNs of its sources. */
#include <math.h>

#include "tuner_state.h"

#define KNOWN_BECNS 8u  /* so many at the most marked adapter tell who contributes */
#define KNOWN_EACH  4u  /* ... or so many in the mean of many sources, of whom none gets as many */
#define KNOWN_ALL   128u
#define BECN_SHARE  50u /* 2 % of the one that is marked second most */
#define GROWS_SHARE 8u  /* one in so many more than a pass before: not all have been marked yet */

bool ibcc_tuner_known(const struct ibcc_tuner *tn, const struct ibcc_tuner_root *r)
{
	for (uint32_t i = 0; i < tn->n_endports; i++)
		if (r->becn[i] >= KNOWN_BECNS * IBCC_TUNER_COUNT_ONE)
			return true;
	return r->becns >= KNOWN_ALL &&
	       r->becns >= KNOWN_EACH * ibcc_tuner_contributors(r, tn->n_endports);
}

/* Measured by the one that is marked second most: the first may be a node that has lost its
 * settings, gets nearly all marks and makes all others look like bystanders.
 */
uint32_t ibcc_tuner_contributors(const struct ibcc_tuner_root *r, uint32_t n_endports)
{
	uint64_t most = 0, second = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_endports; i++) {
		if (r->becn[i] > most) {
			second = most;
			most = r->becn[i];
		} else if (r->becn[i] > second) {
			second = r->becn[i];
		}
	}
	for (uint32_t i = 0; i < n_endports; i++)
		n += r->becn[i] && r->becn[i] * BECN_SHARE > second;
	return n;
}

/* The most marked one's count is the largest of many that vary by chance: twice its standard
 * deviation is taken off, as far as the mean.
 */
uint32_t ibcc_tuner_heavy(const struct ibcc_tuner_root *r, uint32_t n_endports)
{
	uint32_t n = ibcc_tuner_contributors(r, n_endports);
	double sum = 0, most = 0, mean;

	if (!n)
		return 1;
	for (uint32_t i = 0; i < n_endports; i++) {
		double b = (double)r->becn[i] / IBCC_TUNER_COUNT_ONE;

		sum += b;
		most = b > most ? b : most;
	}
	mean = sum / n;
	most -= 2 * sqrt(most);
	return (uint32_t)lround(sum / (most > mean ? most : mean));
}

/* So many as heavy as the heaviest. Which root a BECN is from does not show, so what was seen while
 * there was but one root is remembered; but not from passes in which still more sources came to be
 * marked, where those that came first look heavy.
 */
static uint32_t known_heavy(const struct ibcc_tuner *tn, struct ibcc_tuner_root *r, uint32_t n)
{
	uint32_t n_on = 0, heavy;
	bool grows;

	for (uint32_t i = 0; i < tn->n_roots; i++)
		n_on += tn->root[i].on;
	if (n_on > 1)
		return r->heavy_alone && r->heavy_alone < n ? r->heavy_alone : n;
	heavy = ibcc_tuner_heavy(r, tn->n_endports);
	grows = n * GROWS_SHARE > r->n_alone * (GROWS_SHARE + 1);
	r->n_alone = n;
	r->heavy_alone = grows || r->mixed ? 0 : heavy;
	return heavy;
}

struct ibcc_tuner_sources ibcc_tuner_known_sources(const struct ibcc_tuner *tn,
						   const struct ibcc_topo *t,
						   struct ibcc_tuner_root *r)
{
	struct ibcc_tuner_sources s = { .mbps = ibcc_tuner_source_mbps(tn, t, r) };

	if (!ibcc_tuner_known(tn, r))
		return s;
	s.n = ibcc_tuner_contributors(r, tn->n_endports);
	if (r->mixed && s.n < r->n)
		s.n = r->n;
	s.n_heavy = known_heavy(tn, r, s.n);
	return s;
}
