/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One decision: parameters by the controller, settings by laying, words last. */
#include <stdlib.h>

#include "rules.h"

struct ibcc_tuner {
	struct ibcc_controller controller;
	struct ibcc_laying laying;
	uint16_t spared_sls;
	uint32_t max_delay;
	uint16_t max_timer;
};

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
	ibcc_tuner_bound(tn, IBCC_CCT_MAX_MULT, UINT16_MAX);
	tn->controller.p = *p;
	ibcc_tuner_reset(tn);
	return tn;
}

void ibcc_tuner_reset(struct ibcc_tuner *tn)
{
	ibcc_controller_reset(&tn->controller);
	ibcc_laying_fini(&tn->laying);
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
	return &tn->controller.par;
}

int ibcc_tuner_held(const struct ibcc_tuner *tn, bool *which)
{
	int n = 0;

	for (uint32_t i = 0; i < tn->laying.baseline.n; i++) {
		n += tn->laying.touched[i] && !which[i];
		which[i] |= tn->laying.touched[i];
	}
	return n;
}

void ibcc_tuner_spare(struct ibcc_tuner *tn, uint16_t sls)
{
	tn->spared_sls = sls;
}

void ibcc_tuner_bound(struct ibcc_tuner *tn, uint32_t max_delay, uint16_t max_timer)
{
	tn->max_delay = max_delay;
	tn->max_timer = max_timer;
}

void ibcc_tuner_may_learn(struct ibcc_tuner *tn, bool may)
{
	tn->controller.may_learn = may;
}

void ibcc_tuner_recommends(struct ibcc_tuner *tn, bool only)
{
	tn->controller.recommends = only;
}

void ibcc_tuner_confine(struct ibcc_tuner *tn, const bool *within)
{
	tn->controller.within = within;
}

bool ibcc_tuner_is_settled(const struct ibcc_tuner *tn)
{
	return ibcc_controller_is_settled(&tn->controller);
}

int ibcc_tuner_save(const struct ibcc_tuner *tn, const struct ibcc_topo *t,
		    struct ibcc_control *out)
{
	return ibcc_controller_save(&tn->controller, t, out);
}

/* State is by endport, so it belongs to one topology: starts anew for another size. */
static int prepare(struct ibcc_tuner *tn, const struct ibcc_topo *t)
{
	if (tn->laying.touched && tn->laying.baseline.n == t->n_endports)
		return 0;
	ibcc_tuner_reset(tn);
	tn->controller.par.n_endports = t->n_endports;
	return ibcc_laying_init(&tn->laying, t);
}

static void limit_laying(struct ibcc_tuner *tn)
{
	tn->laying.spared_sls = tn->spared_sls;
	tn->laying.max_delay = tn->max_delay;
	tn->laying.max_timer = tn->controller.par.max_timer = tn->max_timer;
}

int ibcc_tuner_lay(struct ibcc_tuner *tn, const struct ibcc_topo *t,
		   const struct ibcc_settings *actual, struct ibcc_target *out)
{
	int ret = prepare(tn, t);

	limit_laying(tn);
	ibcc_parameters_group(&tn->controller.par, t);
	return ret ? ret : ibcc_laying_run(&tn->laying, t, &tn->controller.par, actual, out);
}

/* Is what a saved root wants on the fabric, and ours? It may have changed less than was wanted: a
 * root that only learns who contributes need not have set an adapter.
 */
static bool is_there(const struct ibcc_topo *t, const struct ibcc_control_root *root, uint32_t sw,
		     const struct ibcc_settings *actual, const bool *ours)
{
	bool any = root->r.phase == IBCC_PHASE_LEARN;

	for (uint32_t i = 0; i < root->n_nodes && !any; i++) {
		uint32_t e = ibcc_topo_find_endport(t, root->node[i].guid, root->node[i].port);

		any = root->node[i].member && e != IBCC_NONE && ours[e];
	}
	return any && ours[sw] && ibcc_settings_port_marks(&actual->ep[sw], root->port);
}

static int take_baseline(struct ibcc_tuner *tn, const struct ibcc_settings *without, uint32_t e,
			 bool *taken)
{
	taken[e] = true;
	if (tn->laying.touched[e])
		return 0;
	tn->laying.touched[e] = true;
	return ibcc_endport_cc_copy(&tn->laying.baseline.ep[e], &without->ep[e]);
}

static int take_root(struct ibcc_tuner *tn, const struct ibcc_topo *t,
		     const struct ibcc_control_root *root, uint32_t sw,
		     const struct ibcc_settings *actual, const struct ibcc_settings *without,
		     bool *taken)
{
	struct ibcc_controller *c = &tn->controller;
	uint32_t n = c->par.n_roots;
	int ret = ibcc_controller_take(c, t, root, actual);

	if (ret || c->par.n_roots == n)
		return ret;
	ret = take_baseline(tn, without, sw, taken);
	for (uint32_t e = 0; e < t->n_endports && !ret; e++)
		if (c->par.root[n].member[e])
			ret = take_baseline(tn, without, e, taken);
	return ret;
}

int ibcc_tuner_resume(struct ibcc_tuner *tn, const struct ibcc_topo *t, struct ibcc_control *c,
		      const struct ibcc_settings *actual, const struct ibcc_settings *without,
		      const bool *ours, bool *taken)
{
	int ret = prepare(tn, t);

	for (uint32_t k = c->n_roots; !ret && k-- > 0;) {
		const struct ibcc_control_root *root = &c->root[k];
		uint32_t sw = ibcc_topo_find_endport(t, root->guid, 0);

		if (sw == IBCC_NONE || actual->ep[sw].support != IBCC_CC_SUPPORTED)
			continue;
		if (!ours || is_there(t, root, sw, actual, ours))
			ret = take_root(tn, t, root, sw, actual, without, taken);
		if (!ret)
			ibcc_control_remove(c, k);
	}
	limit_laying(tn);
	ibcc_parameters_group(&tn->controller.par, t);
	return ret;
}

/* What of the last parameters is not on the fabric the controller has to know before it decides. */
int ibcc_tuner_step(struct ibcc_tuner *tn, const struct ibcc_topo *t, const struct ibcc_picture *p,
		    const struct ibcc_settings *actual, struct ibcc_target *out)
{
	struct pass pass = { .c = &tn->controller, .t = t, .pic = p, .actual = actual };
	const struct ibcc_parameters *par = &tn->controller.par;
	struct ibcc_target unset;
	int ret = prepare(tn, t);

	limit_laying(tn);
	if (!ret)
		ret = ibcc_laying_run(&tn->laying, t, par, actual, &unset);
	if (ret)
		return ret;
	ret = ibcc_controller_step(&pass, &unset);
	ibcc_target_fini(&unset);
	if (!ret)
		ret = ibcc_laying_run(&tn->laying, t, par, actual, out);
	if (ret)
		return ret;
	out->suspect = p->trustworthy && ibcc_controller_suspects(&pass);
	ret = ibcc_words_summary(&pass, out);
	if (ret)
		ibcc_target_fini(out);
	return ret;
}
