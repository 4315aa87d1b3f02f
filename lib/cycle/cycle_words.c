/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The decisions of a polling cycle, in words. */
#include <ibcc/cycle.h>

#include <stdio.h>
#include <stdlib.h>

#include <ibcc/refusal.h>

char *ibcc_cycle_words(const struct ibcc_cycle *c)
{
	struct ibcc_why why;
	char *text;

	if (c->refused == IBCC_REFUSED_NOT)
		return ibcc_words_decisions(c->topo, &c->target.decisions);
	ibcc_refusal_text(c, c->refused, &why);
	return asprintf(&text, "observing only: %s", why.text) < 0 ? NULL : text;
}

char *ibcc_cycle_verdict(const struct ibcc_cycle *c)
{
	return ibcc_words_verdict(c->topo, &c->estimate,
				  c->tuner ? ibcc_tuner_parameters(c->tuner) : NULL);
}
