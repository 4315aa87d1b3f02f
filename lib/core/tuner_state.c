/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The tuner's memory: roots it follows, and what endports had before it touched them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tuner_state.h"

#define BACK_SOON    2u /* times the quiet passes */
#define PATIENCE_MAX 64u

void ibcc_tuner_defaults(struct ibcc_tuner_params *p)
{
	*p = (struct ibcc_tuner_params){
		.confirm_passes = 2,
		.settle_passes = 3,
		.sink_busy_permille = 970,
		.victim_wait_permille = 100,
		.quiet_passes = 30,
		.guard_passes = 16,
	};
}

static struct ibcc_tuner fresh(const struct ibcc_tuner_params *p)
{
	return (struct ibcc_tuner){
		.p = *p,
		.since_change = UINT16_MAX,
		.gone_port = IBCC_NONE,
	};
}

struct ibcc_tuner *ibcc_tuner_new(const struct ibcc_tuner_params *p)
{
	struct ibcc_tuner *tn = calloc(1, sizeof(*tn));

	if (!tn)
		return NULL;
	*tn = fresh(p);
	return tn;
}

static void root_fini(struct ibcc_tuner_root *r)
{
	ibcc_tuner_pairs_fini(&r->pairs);
	free(r->becn);
	free(r->member);
	free(r->lacking);
	free(r->before);
	*r = (struct ibcc_tuner_root){ 0 };
}

void ibcc_tuner_reset(struct ibcc_tuner *tn)
{
	bool may_probe;

	for (uint32_t i = 0; i < tn->n_roots; i++)
		root_fini(&tn->root[i]);
	free(tn->touched);
	free(tn->load);
	free(tn->expected);
	ibcc_settings_fini(&tn->baseline);
	may_probe = tn->may_probe;
	*tn = fresh(&tn->p);
	tn->may_probe = may_probe;
}

void ibcc_tuner_free(struct ibcc_tuner *tn)
{
	if (!tn)
		return;
	ibcc_tuner_reset(tn);
	free(tn);
}

int ibcc_tuner_prepare(struct ibcc_tuner *tn, const struct ibcc_topo *t)
{
	if (tn->touched && tn->n_endports == t->n_endports)
		return 0;
	ibcc_tuner_reset(tn);
	tn->touched = calloc(t->n_endports ? t->n_endports : 1, sizeof(*tn->touched));
	tn->load = calloc(t->n_endports ? t->n_endports : 1, sizeof(*tn->load));
	tn->expected = calloc(t->n_endports ? t->n_endports : 1, sizeof(*tn->expected));
	if (!tn->touched || !tn->load || !tn->expected || ibcc_settings_init(&tn->baseline, t)) {
		ibcc_tuner_reset(tn);
		return -ENOMEM;
	}
	tn->n_endports = t->n_endports;
	return 0;
}

int ibcc_tuner_touch(struct ibcc_tuner *tn, const struct ibcc_settings *actual, uint32_t i)
{
	const struct ibcc_endport_cc *from = &actual->ep[i];
	struct ibcc_endport_cc *to = &tn->baseline.ep[i];
	struct ibcc_cc_sw_port_element *element = NULL;

	if (tn->touched[i])
		return 0;
	if (from->n_element) {
		element = calloc(from->n_element, sizeof(*element));
		if (!element)
			return -ENOMEM;
		memcpy(element, from->element, from->n_element * sizeof(*element));
	}
	free(to->element);
	*to = *from;
	to->element = element;
	tn->touched[i] = true;
	return 0;
}

int ibcc_tuner_enlist(struct ibcc_tuner *tn, struct ibcc_tuner_root *r,
		      const struct ibcc_settings *actual, uint32_t i)
{
	if (r->member[i])
		return 0;
	r->lacking[i] = actual->ep[i].support != IBCC_CC_SUPPORTED;
	if (!ibcc_tuner_usable_ca(&actual->ep[i]))
		return 0;
	if (ibcc_tuner_touch(tn, actual, i))
		return -ENOMEM;
	r->member[i] = true;
	return 1;
}

void ibcc_tuner_number(struct ibcc_tuner_root *r, uint32_t n, uint32_t n_heavy, uint32_t full_mbps)
{
	r->n = r->n_adapters = n;
	r->n_heavy = n_heavy;
	r->rate_mbps = r->full_mbps = full_mbps ? full_mbps : 1;
	r->counts_pairs = false;
}

void ibcc_tuner_begin_anew(struct ibcc_tuner_root *r)
{
	r->end_permille = r->loop_permille = 1000;
	r->released_from = 0;
	r->direction = 0;
	r->trial = r->failed = 0;
}

struct ibcc_tuner_root *ibcc_tuner_find(struct ibcc_tuner *tn, uint32_t port)
{
	for (uint32_t i = 0; i < tn->n_roots; i++)
		if (tn->root[i].port == port)
			return &tn->root[i];
	return NULL;
}

void ibcc_tuner_drop(struct ibcc_tuner *tn, struct ibcc_tuner_root *r)
{
	if (r->on)
		tn->since_event = 0;
	if (r->in_force) {
		tn->gone_port = r->port;
		tn->gone_since = 0;
		tn->gone_patience = r->patience;
	}
	root_fini(r);
	*r = tn->root[--tn->n_roots];
}

/* A root that is back soon after its settings were removed was controlled, not gone: next time they
 * stay for twice as long.
 */
static uint16_t patience_for(const struct ibcc_tuner *tn, uint32_t port)
{
	if (port != tn->gone_port ||
	    tn->gone_since > BACK_SOON * tn->gone_patience * tn->p.quiet_passes)
		return 1;
	return tn->gone_patience < PATIENCE_MAX ? tn->gone_patience * 2 : PATIENCE_MAX;
}

struct ibcc_tuner_root *ibcc_tuner_add(struct ibcc_tuner *tn, uint32_t port)
{
	struct ibcc_tuner_root *r;
	size_t n = tn->n_endports ? tn->n_endports : 1;

	if (tn->n_roots == IBCC_TUNER_MAX_ROOTS)
		return NULL;
	r = &tn->root[tn->n_roots];
	*r = (struct ibcc_tuner_root){
		.port = port,
		.pairs.becn = calloc(n, sizeof(*r->pairs.becn)),
		.pairs.logged = calloc(n, sizeof(*r->pairs.logged)),
		.becn = calloc(n, sizeof(*r->becn)),
		.member = calloc(n, sizeof(*r->member)),
		.lacking = calloc(n, sizeof(*r->lacking)),
		.patience = patience_for(tn, port),
		.end_permille = 1000,
		.loop_permille = 1000,
		.busy_permille = 1000,
	};
	if (!r->pairs.becn || !r->pairs.logged || !r->becn || !r->member || !r->lacking) {
		root_fini(r);
		return NULL;
	}
	tn->n_roots++;
	return r;
}

bool ibcc_tuner_wants(const struct ibcc_tuner *tn, const struct ibcc_topo *t, uint32_t i)
{
	for (uint32_t k = 0; k < tn->n_roots; k++) {
		const struct ibcc_tuner_root *r = &tn->root[k];

		if (r->on && (r->member[i] || ibcc_tuner_switch_of(t, r) == i))
			return true;
	}
	return false;
}

void ibcc_tuner_let_go(struct ibcc_tuner *tn, const struct ibcc_topo *t,
		       const struct ibcc_target *laid)
{
	for (uint32_t i = 0; i < tn->n_endports; i++) {
		bool ours = ibcc_tuner_wants(tn, t, i);

		for (uint32_t k = 0; !ours && k < laid->n_reasons; k++)
			ours = laid->reason[k].endport == i;
		tn->touched[i] = tn->touched[i] && ours;
	}
}
