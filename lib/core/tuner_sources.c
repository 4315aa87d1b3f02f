/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Who contributes to a root, and how many of them count, by the BECNs of its sources. */
#include <math.h>
#include <string.h>

#include "tuner_state.h"

#define UNSEEN      0.0625 /* BECNs of a source that got none */
#define FADE_MAX    0.25
#define FADE_MARKS  8u
#define KNOWN_BECNS 8u  /* so many at the most marked adapter tell who contributes */
#define BECN_SHARE  50u /* 2 % of the one that is marked second most */

/* A root in a pass. */
struct counted {
	struct ibcc_tuner_root *r;
	const struct ibcc_root *now;
	double part; /* marks for each BECN counted before */
};

static uint32_t followed(struct ibcc_tuner *tn, const struct ibcc_estimate *e, struct counted *c)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < e->n_roots; k++) {
		const struct ibcc_root *now = &e->root[k];
		struct ibcc_tuner_root *r = ibcc_tuner_find(tn, now->port);
		double sum = now->n_sources * UNSEEN;

		if (!r || !now->n_sources)
			continue;
		for (uint32_t i = 0; i < tn->n_endports; i++)
			sum += r->becn[i];
		c[n++] = (struct counted){ r, now, (double)(now->fecn + 1) / sum };
	}
	return n;
}

/* BECNs that a source is expected to get from a root, up to a factor. */
static double expected(const struct counted *c, uint32_t i)
{
	return c->part * (c->r->becn[i] + UNSEEN);
}

/* A source's BECNs of the pass that are taken for the root's. A slow receiver's table ends where
 * all of its sources are held, which leads the others': to count too many costs little there.
 */
static double own(const struct ibcc_tuner *tn, const struct counted *c, const struct ibcc_source *s,
		  uint32_t i)
{
	if (c->r->kind == IBCC_CONGESTION_OUTPUT)
		return s->becn;
	return (double)s->becn * expected(c, i) / tn->expected[i];
}

/* Counts fade by a quarter in a pass, but no faster than some marks come for each source: what is
 * known about a root that hardly marks is kept.
 */
static void count(struct ibcc_tuner *tn, const struct ibcc_topo *t, const struct counted *c)
{
	double sum = 0, fade;

	for (uint32_t k = 0; k < c->now->n_sources; k++)
		sum += own(tn, c, &c->now->source[k], ibcc_tuner_endport_of(t, &c->now->source[k]));
	fade = fmin(FADE_MAX, sum / (FADE_MARKS * c->now->n_sources));
	for (uint32_t k = 0; k < c->now->n_sources; k++) {
		uint32_t i = ibcc_tuner_endport_of(t, &c->now->source[k]);

		c->r->becn[i] += own(tn, c, &c->now->source[k], i) / (1 - fade);
	}
	for (uint32_t i = 0; i < tn->n_endports; i++)
		c->r->becn[i] *= 1 - fade;
}

/* Which root a BECN is from does not show. But how many packets each root marked does, where they
 * arrived, and so does how a root's marks were spread over its sources before, best when others
 * marked little. Each source's BECNs are shared in proportion to what was to be expected.
 */
void ibcc_tuner_count_becns(struct ibcc_tuner *tn, const struct ibcc_topo *t,
			    const struct ibcc_estimate *e)
{
	struct counted c[IBCC_TUNER_MAX_ROOTS];
	uint32_t n = followed(tn, e, c);

	memset(tn->expected, 0, tn->n_endports * sizeof(*tn->expected));
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t q = 0; q < c[k].now->n_sources; q++) {
			uint32_t i = ibcc_tuner_endport_of(t, &c[k].now->source[q]);

			tn->expected[i] += expected(&c[k], i);
		}
	for (uint32_t k = 0; k < n; k++)
		count(tn, t, &c[k]);
}

bool ibcc_tuner_known(const struct ibcc_tuner *tn, const struct ibcc_tuner_root *r)
{
	for (uint32_t i = 0; i < tn->n_endports; i++)
		if (r->becn[i] >= KNOWN_BECNS)
			return true;
	return false;
}

/* Measured by the one that is marked second most: the first may be a node that has lost its
 * settings, gets nearly all marks and makes all others look like bystanders.
 */
uint32_t ibcc_tuner_contributors(const struct ibcc_tuner_root *r, uint32_t n_endports)
{
	double most = 0, second = 0;
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
		n += r->becn[i] > 0 && r->becn[i] * BECN_SHARE > second;
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
		sum += r->becn[i];
		most = r->becn[i] > most ? r->becn[i] : most;
	}
	mean = sum / n;
	most -= 2 * sqrt(most);
	return (uint32_t)lround(sum / (most > mean ? most : mean));
}

static bool is_only_one(const struct ibcc_tuner *tn)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < tn->n_roots; i++)
		n += tn->root[i].on;
	return n <= 1;
}

struct ibcc_tuner_sources ibcc_tuner_known_sources(const struct ibcc_tuner *tn,
						   const struct ibcc_topo *t,
						   const struct ibcc_tuner_root *r)
{
	struct ibcc_tuner_sources s = { .mbps = ibcc_tuner_source_mbps(tn, t, r) };
	bool shared = r->kind == IBCC_CONGESTION_OUTPUT && !is_only_one(tn);

	if (!ibcc_tuner_known(tn, r))
		return s;
	s.n = ibcc_tuner_contributors(r, tn->n_endports);
	s.n_heavy = shared ? s.n : ibcc_tuner_heavy(r, tn->n_endports);
	return s;
}
