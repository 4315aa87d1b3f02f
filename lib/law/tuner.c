/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One decision: parameters by the controller, settings by overlay. */
#include <errno.h>
#include <stdlib.h>

#include <ibcc/ledger.h>

#include "rules.h"

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

struct ibcc_tuner *ibcc_tuner_new(const struct ibcc_tuner_params *p)
{
	struct ibcc_tuner *tn = calloc(1, sizeof(*tn));

	if (!tn)
		return NULL;
	tn->p = *p;
	tn->limits.overlay = (struct ibcc_overlay)IBCC_OVERLAY_UNLIMITED;
	ibcc_tuner_reset(tn);
	return tn;
}

void ibcc_tuner_reset(struct ibcc_tuner *tn)
{
	ibcc_parameters_fini(&tn->par);
	*tn = (struct ibcc_tuner){
		.p = tn->p,
		.limits = tn->limits,
		.since_change = UINT16_MAX,
		.gone_port = IBCC_NONE,
	};
}

void ibcc_tuner_free(struct ibcc_tuner *tn)
{
	if (!tn)
		return;
	ibcc_tuner_reset(tn);
	free(tn);
}

const struct ibcc_parameters *ibcc_tuner_parameters(const struct ibcc_tuner *tn)
{
	return &tn->par;
}

struct ibcc_tuner_limits *ibcc_tuner_limits(struct ibcc_tuner *tn)
{
	return &tn->limits;
}

void ibcc_tuner_disturb(struct ibcc_tuner *tn, const struct ibcc_topo *t, uint32_t endport)
{
	struct ibcc_parameters *par = &tn->par;

	for (uint32_t k = 0; k < par->n_roots && endport < par->n_endports; k++)
		par->root[k].disturbed |=
			par->root[k].r.member[endport] ||
			ibcc_topo_switch_endport(t, par->root[k].r.port) == endport;
}

/* State is by endport, so it belongs to one topology: it is reset if the size changes. */
static int prepare(struct ibcc_tuner *tn, const struct ibcc_topo *t, struct ibcc_ledger *ledger)
{
	if (tn->par.n_endports != t->n_endports)
		ibcc_tuner_reset(tn);
	tn->par.n_endports = t->n_endports;
	tn->par.max_timer = tn->limits.overlay.max_timer;
	return ibcc_ledger_fit(ledger, t);
}

int ibcc_tuner_lay(struct ibcc_tuner *tn, const struct ibcc_topo *t,
		   const struct ibcc_settings *actual, struct ibcc_ledger *ledger,
		   struct ibcc_target *out)
{
	int ret = prepare(tn, t, ledger);

	ibcc_parameters_group(&tn->par, t);
	return ret ? ret : ibcc_overlay_run(&tn->limits.overlay, t, &tn->par, actual, ledger, out);
}

/* Are the settings that a saved root wants on the fabric, and ours? Fewer settings may have been
 * written than were wanted: a root that only learns its contributors need not have set an adapter.
 */
static bool is_there(const struct ibcc_topo *t, const struct ibcc_control_root *root, uint32_t sw,
		     const struct ibcc_settings *actual, const struct ibcc_ledger *ledger)
{
	bool any = root->s.r.phase == IBCC_PHASE_LEARN;

	for (uint32_t i = 0; i < root->n_nodes && !any; i++) {
		uint32_t e = ibcc_topo_find_endport(t, root->node[i].guid, root->node[i].port);

		/* Adapters with NVIDIA's control have nothing of ours. */
		any = root->node[i].member &&
		      (ibcc_ledger_is_ours(ledger, e) ||
		       (e < actual->n && actual->ep[e].mechanism == IBCC_MECHANISM_DCQCN));
	}
	return any && ibcc_ledger_is_ours(ledger, sw) &&
	       (ibcc_settings_port_marks(&actual->ep[sw], root->port) ||
		ibcc_settings_profiles_mark(&actual->ep[sw], root->port));
}

/* The base of an endport that has not answered is found when it has. */
static int hold(const struct ibcc_settings *actual, uint32_t e, struct ibcc_ledger *ledger)
{
	if (!ibcc_overlay_gives(&actual->ep[e]))
		return 0;
	return ibcc_ledger_hold(ledger, e, &actual->ep[e]);
}

static int take_root(struct ibcc_tuner *tn, const struct ibcc_topo *t,
		     const struct ibcc_control_root *root, uint32_t sw,
		     const struct ibcc_settings *actual, struct ibcc_ledger *ledger)
{
	uint32_t n = tn->par.n_roots;
	int ret = ibcc_controller_take(tn, t, root, actual);

	if (ret || tn->par.n_roots == n)
		return ret;
	ret = hold(actual, sw, ledger);
	for (uint32_t e = 0; e < t->n_endports && !ret; e++)
		if (tn->par.root[n].r.member[e])
			ret = hold(actual, e, ledger);
	return ret;
}

int ibcc_tuner_resume(struct ibcc_tuner *tn, const struct ibcc_topo *t, struct ibcc_control *c,
		      const struct ibcc_settings *actual, struct ibcc_ledger *ledger, bool all)
{
	int ret = prepare(tn, t, ledger);

	for (uint32_t k = c->n_roots; !ret && k-- > 0;) {
		const struct ibcc_control_root *root = &c->root[k];
		uint32_t sw = ibcc_topo_find_endport(t, root->guid, 0);

		if (sw == IBCC_NONE || actual->ep[sw].support != IBCC_CC_SUPPORTED)
			continue;
		if (all || is_there(t, root, sw, actual, ledger))
			ret = take_root(tn, t, root, sw, actual, ledger);
		if (!ret)
			ibcc_control_remove(c, k);
	}
	ibcc_parameters_group(&tn->par, t);
	return ret;
}

/* What of the last parameters is not on the fabric the controller has to know before it decides. */
int ibcc_tuner_step(struct ibcc_tuner *tn, const struct ibcc_topo *t, const struct ibcc_estimate *p,
		    const struct ibcc_settings *actual, struct ibcc_ledger *ledger,
		    struct ibcc_target *out)
{
	struct pass pass = { .c = tn, .t = t, .pic = p, .actual = actual };
	const struct ibcc_parameters *par = &tn->par;
	struct ibcc_target unset = { 0 };
	int ret = prepare(tn, t, ledger);

	if (!ret)
		ret = ibcc_overlay_run(&tn->limits.overlay, t, par, actual, ledger, &unset);
	if (ret)
		return ret;
	ret = ibcc_controller_step(&pass, &unset);
	if (!ret && pass.no_memory)
		ret = -ENOMEM;
	ibcc_target_fini(&unset);
	if (!ret)
		ret = ibcc_overlay_run(&tn->limits.overlay, t, par, actual, ledger, out);
	if (ret) {
		ibcc_decisions_fini(&pass.said);
		return ret;
	}
	out->suspect = p->trustworthy && ibcc_controller_suspects(&pass);
	out->decisions = pass.said;
	out->decisions.situation = ibcc_situation_find(&pass, out);
	out->decisions.recommended = tn->limits.recommends;
	return 0;
}
