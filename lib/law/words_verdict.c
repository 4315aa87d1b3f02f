/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The verdict: one sentence that says what is wrong with the fabric, and names the machines. It is
 * the first line of whatever the command line shows.
 */
#include <stdlib.h>

#include <ibcc/decision.h>
#include <ibcc/estimate.h>

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
		ibcc_text_add(x, "%u slow receiver%s", slow, slow > 1 ? "s" : "");
	if (links)
		ibcc_text_add(x, "%s%u oversubscribed link%s", slow ? " and " : "", links,
			      links > 1 ? "s" : "");
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
		ibcc_text_add(x, " waits for nodes that do not answer");
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

static void say_verdict(struct ibcc_text *x, const struct ibcc_topo *t,
			const struct ibcc_estimate *pic, const struct ibcc_parameters *par)
{
	if (!pic->trustworthy) {
		ibcc_text_add(x, "unknown: of %u of %u ports there are no counters to judge by",
			      pic->n_expected - pic->n_usable, pic->n_expected);
		return;
	}
	if (!pic->n_roots) {
		say_held(x, t, par);
		return;
	}
	say_kinds(x, pic);
	for (uint32_t k = 0; k < pic->n_roots && k < ROOTS_NAMED; k++) {
		ibcc_text_add(x, k ? ". Then " : "");
		say_root(x, t, &pic->root[k], is_throttled(par, pic->root[k].port));
	}
}

char *ibcc_words_verdict(const struct ibcc_topo *t, const struct ibcc_estimate *pic,
			 const struct ibcc_parameters *par)
{
	struct ibcc_text x = { .buf = NULL };
	char *text;

	/* Once for its length, and once more into the room for it. */
	say_verdict(&x, t, pic, par);
	text = malloc(x.n + 1);
	if (!text)
		return NULL;
	text[0] = '\0';
	x = (struct ibcc_text){ .buf = text, .len = x.n + 1 };
	say_verdict(&x, t, pic, par);
	return text;
}
