/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Learning who contributes before anybody is held: the root marks, and tables have no delay, so
 * that BECN counters name its sources at no cost. Only while nothing else marks, since a BECN does
 * not say which root it is from; and not where settings are only recommended, since it would never
 * end.
 */
#include "tuner_state.h"

bool ibcc_tuner_probing(const struct ibcc_tuner *tn)
{
	for (uint32_t i = 0; i < tn->n_roots; i++)
		if (tn->root[i].on && tn->root[i].probe)
			return true;
	return false;
}

void ibcc_tuner_may_probe(struct ibcc_tuner *tn, bool may)
{
	tn->may_probe = may;
}

void ibcc_tuner_probe_begin(const struct ibcc_tuner *tn, struct ibcc_tuner_root *r,
			    const struct ibcc_settings *actual)
{
	for (uint32_t i = 0; i < tn->n_roots; i++)
		if (tn->root[i].on)
			return;
	r->probe = r->learned || !tn->may_probe ? 0 : ibcc_tuner_alike_probe(tn, r, actual);
}

bool ibcc_tuner_probe(struct ibcc_tuner *tn, struct ibcc_tuner_root *r,
		      const struct ibcc_tuner_sources *s, struct ibcc_text *say)
{
	r->probe--;
	if (!s->n && r->probe)
		return false;
	r->probe = 0;
	r->settle = 0;
	if (!s->n) {
		ibcc_text_say(say, "the probe named nobody: values for the %u who wait", r->n);
		return true;
	}
	/* Nobody is held: who gets more BECNs is nearer to the root, and not more demanding. */
	ibcc_tuner_number(r, s->n, s->n, r->full_mbps);
	r->learned = true;
	/* Who waits and got no BECN is a victim. */
	for (uint32_t i = 0; i < tn->n_endports; i++)
		r->member[i] = r->member[i] && r->becn[i];
	ibcc_text_say(say, "the probe's BECNs name %u contributors: values for them", r->n);
	return true;
}
