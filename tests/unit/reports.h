/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A state of the Lustre fabric to report on. */
#ifndef TEST_REPORTS_H
#define TEST_REPORTS_H

#include <stdlib.h>

#include "traffic.h"

#include "daemon/report/report.h"

/* A cycle after some passes over the Lustre fabric, with marking on and tables of no delay. */
struct fixture {
	struct traffic tr;
	struct ibcc_cycle c;
};

static inline void settings_of(struct ibcc_settings *s, const struct ibcc_topo *t)
{
	assert_int_equal(ibcc_settings_init(s, t), 0);
	for (uint32_t i = 0; i < s->n; i++) {
		struct ibcc_endport_cc *ep = &s->ep[i];
		bool is_switch = ibcc_topo_is_switch(t, t->port[t->endport[i]].node);

		ep->support = IBCC_CC_SUPPORTED;
		ep->info.ControlTableCap = is_switch ? 0 : 2;
		if (!is_switch)
			continue;
		ep->sw.Threshold = i == LUSTRE_SW2 ? 9 : 0;
		ibcc_cc_mask_assign(&ep->sw.Victim_Mask, 1, true);
		ep->sw_port_block = IBCC_CC_SW_PORT_BLOCK_121;
		ep->n_element = 9;
		ep->element = calloc(9, sizeof(*ep->element));
		assert_non_null(ep->element);
	}
}

static inline void becns(struct fixture *f, uint32_t n)
{
	for (unsigned int i = 0; i < 3; i++)
		traffic_at(&f->tr, LUSTRE_SRC1 + i, 1)->becn = n;
}

static inline int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct ibcc_cycle *c;

	if (!f)
		return -1;
	c = &f->c;
	c->topo = fabric_lustre();
	c->topo->generation = 42;
	traffic_init(&f->tr, c->topo);
	traffic_lustre_off(&f->tr);
	becns(f, 80);
	c->collector = ibcc_collector_new();
	settings_of(&c->actual, c->topo);
	ibcc_estimator_defaults(&c->options.estimator);
	ibcc_tuner_defaults(&c->options.tuner);
	c->estimator = ibcc_estimator_new(&c->options.estimator);
	c->tuner = ibcc_tuner_new(&c->options.tuner);
	for (unsigned int pass = 0; pass <= 1u + c->options.tuner.confirm_passes; pass++) {
		traffic_pass(&f->tr);
		ibcc_estimate_fini(&c->estimate);
		ibcc_target_fini(&c->target);
		assert_int_equal(ibcc_estimator_run(c->estimator, c->topo, &f->tr.s, &c->actual,
						    ibcc_tuner_parameters(c->tuner), &c->estimate),
				 0);
		assert_int_equal(ibcc_tuner_step(c->tuner, c->topo, &c->estimate, &c->actual,
						 &c->ledger, &c->target),
				 0);
	}
	assert_int_equal(ibcc_planner_run(c->topo, &c->actual, &c->target, &c->plan), 0);
	c->decided = true;
	*state = f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	ibcc_cycle_fini(&f->c);
	ibcc_snapshot_fini(&f->tr.s);
	free(f);
	return 0;
}

#endif
