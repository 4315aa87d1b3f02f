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

/* State is by endport, so it belongs to one topology: starts anew for another size. */
static int prepare(struct ibcc_tuner *tn, const struct ibcc_topo *t)
{
	if (tn->laying.touched && tn->laying.baseline.n == t->n_endports)
		return 0;
	ibcc_tuner_reset(tn);
	tn->controller.par.n_endports = t->n_endports;
	return ibcc_laying_init(&tn->laying, t);
}

/* What of the last parameters is not on the fabric the controller has to know before it decides. */
int ibcc_tuner_step(struct ibcc_tuner *tn, const struct ibcc_topo *t, const struct ibcc_picture *p,
		    const struct ibcc_settings *actual, struct ibcc_target *out)
{
	struct pass pass = { .c = &tn->controller, .t = t, .pic = p, .actual = actual };
	const struct ibcc_parameters *par = &tn->controller.par;
	struct ibcc_target unset;
	int ret = prepare(tn, t);

	tn->laying.spared_sls = tn->spared_sls;
	tn->laying.max_delay = tn->max_delay;
	tn->laying.max_timer = tn->controller.par.max_timer = tn->max_timer;
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
