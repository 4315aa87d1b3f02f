/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The verdict: one sentence that says what is wrong with the fabric, and names the machines. It is
 * the first line of whatever the command line shows.
 */
#include <ibcc/decision.h>
#include <ibcc/estimate.h>
#include <ibcc/text.h>

#include "words_impl.h"

/* The text names the worst roots and counts the others. A line has room for this many names. */
#define ROOTS_NAMED 2u

/* How many roots of each kind there are. */
static void say_kinds(struct ibcc_text *x, const struct ibcc_estimate *pic)
{
	uint32_t slow = 0, links;

	for (uint32_t k = 0; k < pic->n_roots; k++)
		slow += pic->root[k].kind == IBCC_CONGESTION_OUTPUT;
	links = pic->n_roots - slow;
	if (slow)
		ibcc_text_add(x, "%u slow receiver%s", slow, ibcc_text_plural(slow, "", "s"));
	if (links)
		ibcc_text_add(x, "%s%u oversubscribed link%s", slow ? " and " : "", links,
			      ibcc_text_plural(links, "", "s"));
	ibcc_text_add(x, pic->n_roots > ROOTS_NAMED ? ", the worst: " : ": ");
}

/* Whether its settings are on the fabric, so that its senders are throttled. */
static bool is_throttled(const struct ibcc_parameters *par, uint32_t port)
{
	const struct ibcc_root_parameters *r;

	if (!par)
		return false;
	ibcc_parameters_each (r, par)
		if (r->port == port)
			return r->in_force && r->phase != IBCC_PHASE_LEARN;
	return false;
}

static void say_root(struct ibcc_text *x, const struct ibcc_topo *t, const struct ibcc_root *r,
		     bool throttled)
{
	ibcc_words_place(x, t, r->port);
	if (r->hidden)
		ibcc_text_add(x, " is blocked by nodes that do not answer");
	else if (r->kind == IBCC_CONGESTION_INPUT)
		ibcc_text_add(x, " is full");
	else
		ibcc_text_add(x, " takes %u %% of its link",
			      (uint32_t)((r->rate_mbps * 100ull + r->link_mbps / 2) /
					 (r->link_mbps ? r->link_mbps : 1)));
	ibcc_words_sources(x, t, r, IBCC_ROLE_CONTRIBUTOR,
			   throttled ? "; throttled: " : "; caused by ", "");
	ibcc_words_sources(x, t, r, IBCC_ROLE_CANDIDATE, "; ", " blocked");
	ibcc_words_sources(x, t, r, IBCC_ROLE_VICTIM, "; victims: ", "");
}

/* Roots that control holds so well that they are none in this polling cycle. */
static void say_held(struct ibcc_text *x, const struct ibcc_topo *t,
		     const struct ibcc_parameters *par)
{
	const struct ibcc_root_parameters *r;
	uint32_t n = 0;

	ibcc_text_add(x, "no congestion");
	if (!par)
		return;
	ibcc_parameters_each (r, par)
		if (r->in_force && n++ < ROOTS_NAMED) {
			ibcc_text_add(x, n > 1 ? ", " : "; under control: ");
			ibcc_words_place(x, t, r->port);
		}
	if (n > ROOTS_NAMED)
		ibcc_text_add(x, " and %u more", n - ROOTS_NAMED);
}

struct verdict {
	const struct ibcc_topo *t;
	const struct ibcc_estimate *pic;
	const struct ibcc_parameters *par;
};

static void say_verdict(struct ibcc_text *x, const void *arg)
{
	const struct verdict *v = arg;

	if (!v->pic->trustworthy) {
		ibcc_text_add(x, "unknown: of %u of %u port%s there are no counters to judge by",
			      v->pic->n_expected - v->pic->n_usable, v->pic->n_expected,
			      ibcc_text_plural(v->pic->n_expected, "", "s"));
		return;
	}
	if (!v->pic->n_roots) {
		say_held(x, v->t, v->par);
		return;
	}
	say_kinds(x, v->pic);
	for (uint32_t k = 0; k < v->pic->n_roots && k < ROOTS_NAMED; k++) {
		const struct ibcc_root *r = &v->pic->root[k];

		ibcc_text_add(x, k ? ". Then " : "");
		say_root(x, v->t, r, is_throttled(v->par, r->port));
	}
}

char *ibcc_words_verdict(const struct ibcc_topo *t, const struct ibcc_estimate *pic,
			 const struct ibcc_parameters *par)
{
	return ibcc_words_all(say_verdict, &(struct verdict){ t, pic, par });
}
