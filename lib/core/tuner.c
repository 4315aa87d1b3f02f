/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One decision: parameters by the controller, settings by laying, words last. */
#include <ibcc/tuner.h>

#include <stdlib.h>

#include <ibcc/target.h>

#include "rules.h"

struct ibcc_tuner {
	struct ibcc_controller *controller;
	struct ibcc_laying laying;
	uint32_t n_endports; /* that the laying is for */
	uint16_t spared_sls;
	uint32_t max_delay;
	uint16_t max_timer;
};

struct ibcc_tuner *ibcc_tuner_new(const struct ibcc_tuner_params *p)
{
	struct ibcc_tuner *tn = calloc(1, sizeof(*tn));

	if (!tn)
		return NULL;
	ibcc_tuner_bound(tn, IBCC_CCT_MAX_MULT, UINT16_MAX);
	tn->controller = ibcc_controller_new(p);
	if (!tn->controller) {
		free(tn);
		return NULL;
	}
	return tn;
}

void ibcc_tuner_reset(struct ibcc_tuner *tn)
{
	ibcc_controller_reset(tn->controller);
	ibcc_laying_fini(&tn->laying);
}

void ibcc_tuner_free(struct ibcc_tuner *tn)
{
	if (!tn)
		return;
	ibcc_tuner_reset(tn);
	ibcc_controller_free(tn->controller);
	free(tn);
}

const struct ibcc_parameters *ibcc_tuner_parameters(const struct ibcc_tuner *tn)
{
	return ibcc_controller_parameters(tn->controller);
}

int ibcc_tuner_held(const struct ibcc_tuner *tn, bool *which)
{
	int n = 0;

	for (uint32_t i = 0; tn->laying.touched && i < tn->n_endports; i++) {
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
	ibcc_controller_may_learn(tn->controller, may);
}

/* State is by endport, so it belongs to one topology: starts anew for another size. */
static int prepare(struct ibcc_tuner *tn, const struct ibcc_topo *t)
{
	int ret;

	if (tn->laying.touched && tn->n_endports == t->n_endports)
		return 0;
	ibcc_tuner_reset(tn);
	ret = ibcc_laying_init(&tn->laying, t);
	tn->n_endports = t->n_endports;
	return ret;
}

/* What of the last parameters is not on the fabric the controller has to know before it decides. */
int ibcc_tuner_step(struct ibcc_tuner *tn, const struct ibcc_topo *t, const struct ibcc_picture *p,
		    const struct ibcc_settings *actual, struct ibcc_target *out)
{
	const struct ibcc_parameters *par = ibcc_tuner_parameters(tn);
	struct ibcc_decision said[IBCC_DECISIONS_MAX];
	struct ibcc_target unset;
	uint32_t n_said;
	int ret = prepare(tn, t);

	tn->laying.spared_sls = tn->spared_sls;
	tn->laying.max_delay = tn->max_delay;
	tn->laying.max_timer = tn->max_timer;
	if (!ret)
		ret = ibcc_laying_run(&tn->laying, t, par, actual, &unset);
	if (ret)
		return ret;
	ret = ibcc_controller_step(tn->controller, t, p, actual, &unset, said, &n_said);
	ibcc_target_fini(&unset);
	if (!ret)
		ret = ibcc_laying_run(&tn->laying, t, par, actual, out);
	if (ret)
		return ret;
	out->suspect = p->trustworthy && ibcc_controller_suspects(tn->controller, p);
	ibcc_words_summary(t, said, n_said, par, p, out);
	return 0;
}
