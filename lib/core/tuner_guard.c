/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Do no harm: what adapters send under a root's control is compared with what they sent before it.
 *
 * Demand may have changed meanwhile. It shows at adapters that are not controlled and that wait
 * neither before nor now: they send what they have to. By as much as they send less, the others
 * are expected to, too. Less than that in several passes in a row, and the settings go and are not
 * tried again for a while, which doubles each time. Later on too much has changed to compare, and
 * feedback judges by the root alone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tuner_state.h"

#define FREE_WAIT     50u  /* permille: such an adapter sends what it has to */
#define KNOWN_SHARE   8u   /* so large a part of the traffic tells how demand changed */
#define HARM_PERMILLE 850u /* at its onset congestion has not yet taken all that it will */
#define LESS_PERMILLE 900u
#define HARM_PASSES   4u
#define BAR_PASSES    32u
#define BAR_MAX       1024u
#define DRIFT_LOW     500u
#define DRIFT_HIGH    1000u

/* Means over about two passes. A port that was not read keeps what it had. */
void ibcc_tuner_note_load(struct ibcc_tuner *tn, const struct ibcc_topo *t,
			  const struct ibcc_snapshot *s)
{
	for (uint32_t i = 0; i < tn->n_endports; i++) {
		uint32_t port = t->endport[i];
		const struct ibcc_port_sample *p = &s->port[port];
		struct ibcc_tuner_load *l = &tn->load[i];
		uint32_t mbps, wait;

		if (ibcc_topo_is_switch(t, t->port[port].node) || p->state != IBCC_SAMPLE_FRESH ||
		    !ibcc_delta_valid(&p->delta, IBCC_CTR_XMIT_DATA) ||
		    !ibcc_delta_valid(&p->delta, IBCC_CTR_XMIT_WAIT))
			continue;
		mbps = ibcc_delta_xmit_mbps(&p->delta);
		wait = ibcc_delta_wait_permille(&p->delta, p->tick_ps);
		l->mbps = l->known ? (l->mbps + mbps) / 2 : mbps;
		l->wait_permille = (uint16_t)(l->known ? (l->wait_permille + wait) / 2 : wait);
		l->known = true;
	}
	for (uint32_t i = 0; i < IBCC_TUNER_MAX_ROOTS; i++)
		tn->bar[i].passes -= tn->bar[i].passes > 0;
}

int ibcc_tuner_guard_begin(const struct ibcc_tuner *tn, struct ibcc_tuner_root *r)
{
	r->before = calloc(tn->n_endports ? tn->n_endports : 1, sizeof(*r->before));
	if (!r->before)
		return -ENOMEM;
	memcpy(r->before, tn->load, tn->n_endports * sizeof(*r->before));
	return 0;
}

static bool harmed(const struct ibcc_tuner *tn, const struct ibcc_tuner_root *r)
{
	uint64_t before = 0, now = 0, free_before = 0, free_now = 0, drift = 1000;

	for (uint32_t i = 0; i < tn->n_endports; i++) {
		const struct ibcc_tuner_load *b = &r->before[i], *n = &tn->load[i];

		before += b->mbps;
		now += n->mbps;
		if (r->member[i] || b->wait_permille > FREE_WAIT || n->wait_permille > FREE_WAIT)
			continue;
		free_before += b->mbps;
		free_now += n->mbps;
	}
	if (free_before && free_before * KNOWN_SHARE >= before)
		drift = free_now * 1000 / free_before;
	drift = drift < DRIFT_LOW ? DRIFT_LOW : drift > DRIFT_HIGH ? DRIFT_HIGH : drift;
	return now * 1000 < before * drift / 1000 * HARM_PERMILLE;
}

/* While any tree is still being emptied, what is lost is lost to that. */
static bool in_between(const struct ibcc_tuner *tn)
{
	for (uint32_t i = 0; i < tn->n_roots; i++) {
		const struct ibcc_tuner_root *r = &tn->root[i];

		if (r->on && (r->drain || r->probe || !r->in_force))
			return true;
	}
	return false;
}

bool ibcc_tuner_guard(const struct ibcc_tuner *tn, struct ibcc_tuner_root *r, uint32_t rate_mbps)
{
	bool less;

	if (!r->before || r->guarded >= tn->p.guard_passes ||
	    tn->since_change <= tn->p.settle_passes || in_between(tn))
		return false;
	r->guarded++;
	less = rate_mbps * 1000ull < (uint64_t)r->full_mbps * LESS_PERMILLE &&
	       rate_mbps * IBCC_TUNER_PAUSE_SHARE >= r->full_mbps;
	r->harmed = less && harmed(tn, r) ? r->harmed + 1 : 0;
	return r->harmed >= HARM_PASSES;
}

void ibcc_tuner_bar(struct ibcc_tuner *tn, uint32_t port)
{
	struct ibcc_tuner_bar *b = NULL;

	for (uint32_t i = 0; i < IBCC_TUNER_MAX_ROOTS; i++)
		if (tn->bar[i].length && tn->bar[i].port == port)
			b = &tn->bar[i];
	for (uint32_t i = 0; i < IBCC_TUNER_MAX_ROOTS && !b; i++)
		if (!tn->bar[i].passes)
			b = &tn->bar[i];
	if (!b)
		b = &tn->bar[0];
	if (b->port != port || !b->length)
		*b = (struct ibcc_tuner_bar){ .port = port, .length = BAR_PASSES / 2 };
	b->length = b->length * 2 < BAR_MAX ? b->length * 2 : BAR_MAX;
	b->passes = b->length;
}

bool ibcc_tuner_barred(const struct ibcc_tuner *tn, uint32_t port)
{
	for (uint32_t i = 0; i < IBCC_TUNER_MAX_ROOTS; i++)
		if (tn->bar[i].passes && tn->bar[i].port == port)
			return true;
	return false;
}
