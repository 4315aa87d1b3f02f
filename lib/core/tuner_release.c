/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Letting go: what control takes back by itself, whole roots or a part of what they hold. */
#include <ibcc/snapshot.h>

#include "tuner_state.h"

/* By then first values have been corrected for what was seen too early. */
#define STEADY_PASSES 20u
/* A hot port that could be some hundredths busier is worth no more unrest than that. */
#define REST_PASSES 20u

bool ibcc_tuner_rests(const struct ibcc_tuner *tn)
{
	return tn->since_event >= STEADY_PASSES && tn->since_change < REST_PASSES;
}

void ibcc_tuner_changed(struct ibcc_tuner *tn)
{
	for (uint32_t i = 0; i < tn->n_roots; i++) {
		if (!tn->root[i].on)
			continue;
		tn->root[i].settle = tn->p.settle_passes;
		tn->root[i].win = (struct ibcc_tuner_window){ 0 };
		tn->root[i].last_tree_wait = 1000;
	}
	tn->since_change = 0;
}

static struct ibcc_tuner_port port_of(const struct ibcc_topo *t, const struct ibcc_tuner_root *r,
				      const struct ibcc_port_sample *s,
				      const struct ibcc_estimate *e, const struct ibcc_root *now)
{
	struct ibcc_tuner_port p = {
		.rate_mbps = ibcc_delta_xmit_mbps(&s->delta),
		.link_mbps = t->port[r->port].rate_mbps,
		.wait_permille = (uint16_t)ibcc_delta_wait_permille(&s->delta, s->tick_ps),
		.tree_wait_permille = now ? now->tree_wait_permille : 0,
		.marks = now ? ibcc_tuner_marks(e, now) : 0,
	};

	return p;
}

void ibcc_tuner_give_up(struct ibcc_tuner *tn, const struct ibcc_topo *t, struct ibcc_tuner_root *r,
			const char *why, struct ibcc_text *say)
{
	char name[IBCC_DESC_BYTES + 16];

	ibcc_topo_port_name(t, r->port, name, sizeof(name));
	ibcc_text_say(say, "%s %s: control taken back, and not tried again for a while", why, name);
	ibcc_tuner_bar(tn, r->port);
	ibcc_tuner_drop(tn, r);
	ibcc_tuner_changed(tn);
}

void ibcc_tuner_release(struct ibcc_tuner *tn, const struct ibcc_topo *t,
			const struct ibcc_snapshot *snap, const struct ibcc_estimate *e,
			const struct ibcc_settings *actual, struct ibcc_text *say)
{
	for (uint32_t i = tn->n_roots; i-- > 0;) {
		struct ibcc_tuner_root *r = &tn->root[i];
		const struct ibcc_port_sample *s = &snap->port[r->port];
		struct ibcc_tuner_port now;

		if (!r->on || !r->in_force || r->lost)
			continue;
		if (ibcc_tuner_frees_nobody(tn, r, actual)) {
			ibcc_tuner_give_up(tn, t, r, "nobody would be freed by control of", say);
			return;
		}
		if (r->drain || r->probe)
			continue;
		if (s->state == IBCC_SAMPLE_FRESH &&
		    ibcc_tuner_guard(tn, r, ibcc_delta_xmit_mbps(&s->delta))) {
			ibcc_tuner_give_up(tn, t, r, "adapters send less than before control of",
					   say);
			return;
		}
		if (r->told.on || r->leader != i || tn->since_change < 2 ||
		    s->state != IBCC_SAMPLE_FRESH ||
		    !ibcc_delta_valid(&s->delta, IBCC_CTR_XMIT_DATA) ||
		    !ibcc_delta_valid(&s->delta, IBCC_CTR_XMIT_WAIT))
			continue;
		now = port_of(t, r, s, e, ibcc_tuner_in_estimate(e, r->port));
		switch (ibcc_tuner_idle(&tn->p, r, &now, ibcc_tuner_source_mbps(tn, t, r), say)) {
		case IBCC_TUNER_BUSY: continue;
		case IBCC_TUNER_OVER: ibcc_tuner_drop(tn, r); break;
		case IBCC_TUNER_RELEASED: break;
		}
		ibcc_tuner_changed(tn);
		return; /* the others' values may be others now */
	}
}
