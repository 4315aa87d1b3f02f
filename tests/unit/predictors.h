/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon's predictor on synthetic counters of the Lustre fabric. */
#ifndef TEST_PREDICTORS_H
#define TEST_PREDICTORS_H

#include <stdlib.h>
#include <string.h>

#include "states.h"
#include "traffic.h"

#include "daemon/predict/predictor.h"

#define SLOW_MBPS   14960u
#define VICTIM_MBPS 12000u

struct fixture {
	struct traffic tr;
	struct ibcc_cycle c;
	struct ibcc_predictor *p;
};

static inline void settings_of(struct ibcc_settings *s, const struct ibcc_topo *t)
{
	assert_int_equal(ibcc_settings_init(s, t), 0);
	for (uint32_t i = 0; i < s->n; i++) {
		struct ibcc_endport_cc *ep = &s->ep[i];

		ep->support = IBCC_CC_SUPPORTED;
		if (!ibcc_topo_is_switch(t, t->port[t->endport[i]].node)) {
			ep->info.ControlTableCap = 2;
			continue;
		}
		ep->sw_port_block = IBCC_CC_SW_PORT_BLOCK_121;
		ep->n_element = 9;
		ep->element = calloc(9, sizeof(*ep->element));
		assert_non_null(ep->element);
	}
}

static inline int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct ibcc_cycle *c;

	if (!f)
		return -1;
	c = &f->c;
	c->topo = fabric_lustre();
	traffic_init(&f->tr, c->topo);
	c->collector = ibcc_collector_new();
	settings_of(&c->actual, c->topo);
	ibcc_estimator_defaults(&c->options.estimator);
	ibcc_tuner_defaults(&c->options.tuner);
	c->estimator = ibcc_estimator_new(&c->options.estimator);
	c->tuner = ibcc_tuner_new(&c->options.tuner);
	c->decided = true;
	f->p = ibcc_predictor_new(60);
	assert_non_null(f->p);
	*state = f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	ibcc_predictor_free(f->p);
	memset(&f->c.snapshot, 0, sizeof(f->c.snapshot));
	ibcc_cycle_fini(&f->c);
	ibcc_snapshot_fini(&f->tr.s);
	free(f);
	return 0;
}

static inline void passes(struct fixture *f, unsigned int n, struct ibcc_state *state)
{
	struct ibcc_cycle *c = &f->c;

	while (n--) {
		traffic_pass(&f->tr);
		ibcc_estimate_fini(&c->estimate);
		ibcc_target_fini(&c->target);
		ibcc_plan_fini(&c->plan);
		assert_int_equal(ibcc_estimator_run(c->estimator, c->topo, &f->tr.s, &c->actual,
						    ibcc_tuner_parameters(c->tuner), &c->estimate),
				 0);
		assert_int_equal(ibcc_tuner_step(c->tuner, c->topo, &c->estimate, &c->actual,
						 &c->ledger, &c->target),
				 0);
		assert_int_equal(ibcc_planner_run(c->topo, &c->actual, &c->target, &c->plan), 0);
		c->snapshot = f->tr.s; /* borrowed */
		assert_int_equal(ibcc_predictor_look(f->p, c, state), 0);
	}
}

static inline void send(struct fixture *f, uint32_t mbps, uint32_t victim, uint16_t wait)
{
	struct traffic *tr = &f->tr;

	for (unsigned int i = 0; i < 3; i++)
		*traffic_at(tr, LUSTRE_SRC1 + i, 1) =
			(struct traffic_port){ .mbps = mbps, .wait_permille = wait };
	*traffic_at(tr, LUSTRE_SRC4, 1) =
		(struct traffic_port){ .mbps = victim, .wait_permille = wait };
	*traffic_at(tr, LUSTRE_SW1, 5) =
		(struct traffic_port){ .mbps = 3 * mbps + victim, .wait_permille = wait ? 377 : 0 };
	*traffic_at(tr, LUSTRE_SW2, 1) =
		(struct traffic_port){ .mbps = 3 * mbps, .wait_permille = wait ? 532 : 0 };
	*traffic_at(tr, LUSTRE_SW2, 2) = (struct traffic_port){ .mbps = victim };
}

static inline void at_rest(struct fixture *f, unsigned int n, struct ibcc_state *state)
{
	send(f, 6000, VICTIM_MBPS, 0);
	passes(f, n, state);
	assert_int_equal(f->c.estimate.n_roots, 0);
}

/* The slow sink's flows and the victim's take turns: each has a third of the sink's rate. */
static inline void congested(struct fixture *f, unsigned int n, struct ibcc_state *state)
{
	send(f, SLOW_MBPS / 3, SLOW_MBPS / 3, 844);
	passes(f, n, state);
	assert_int_equal(f->c.estimate.n_roots, 1);
}

static inline json_t *predict(struct fixture *f)
{
	assert_int_equal(ibcc_predictor_begin(f->p, &f->c, NULL, NULL, NULL), 0);
	ibcc_predictor_wait(f->p);
	return ibcc_predictor_tell(f->p, f->c.estimate.pass);
}

static inline double number(const json_t *o, const char *a, const char *b)
{
	return json_number_value(json_object_get(json_object_get(o, a), b));
}

static inline void assert_cannot(struct fixture *f, const char *why)
{
	json_t *o = predict(f);

	assert_true(json_is_false(json_object_get(o, "known")));
	if (!strstr(json_string_value(json_object_get(o, "why")), why))
		fail_msg("%s", json_string_value(json_object_get(o, "why")));
	json_decref(o);
}

#endif
