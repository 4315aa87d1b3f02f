/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The estimator on synthetic counters and logs, pass by pass. On the tree of 4-port switches,
 * adapters are 0..7, leaves 8..11 (two adapters at ports 1 and 2 of each), roots 12 and 13. Packets
 * for adapter d go up by port 3 + d % 2.
 */
#ifndef TEST_ESTIMATES_H
#define TEST_ESTIMATES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

#include <ibcc/estimate.h>
#include <ibcc/parameters.h>

struct fixture {
	struct ibcc_topo *t;
	struct ibcc_settings actual;
	struct traffic tr;
	struct ibcc_estimator *m;
	struct ibcc_parameters last;
	struct ibcc_mark log[256]; /* of each pass */
	unsigned int n_log;
	struct ibcc_estimate e; /* of the last pass */
};

static inline struct traffic_port load(uint32_t mbps, uint16_t wait_permille, uint32_t becn)
{
	return (struct traffic_port){ .mbps = mbps, .wait_permille = wait_permille, .becn = becn };
}

/* The estimate of the present snapshot. */
static inline const struct ibcc_estimate *look(struct fixture *f)
{
	ibcc_estimate_fini(&f->e);
	assert_int_equal(ibcc_estimator_run(f->m, f->t, &f->tr.s, &f->actual, &f->last, &f->e), 0);
	return &f->e;
}

/* Makes a pass with the present loads and log. */
static inline const struct ibcc_estimate *pass(struct fixture *f)
{
	traffic_pass(&f->tr);
	for (unsigned int i = 0; i < f->n_log; i++)
		assert_int_equal(ibcc_snapshot_mark(&f->tr.s, &f->log[i]), 0);
	return look(f);
}

static inline void passes(struct fixture *f, unsigned int n)
{
	while (n--)
		pass(f);
}

/* A root of the last estimate; the test fails if it is missing. */
static inline const struct ibcc_root *at(const struct fixture *f, uint32_t port)
{
	const struct ibcc_root *r = ibcc_estimate_find(&f->e, port);

	assert_non_null(r);
	return r;
}

static inline enum ibcc_role role(const struct ibcc_root *r, uint32_t port)
{
	for (uint32_t i = 0; i < r->n_sources; i++)
		if (r->source[i].port == port)
			return r->source[i].role;
	return IBCC_ROLE_NONE;
}

static inline uint32_t endport_of(const struct fixture *f, uint32_t node)
{
	return f->t->port[fabric_port(f->t, node, 1)].endport;
}

static inline void assert_about(double got, double want)
{
	if (!(fabs(got - want) <= 1e-6 * fabs(want)))
		fail_msg("%.9g instead of %.9g", got, want);
}

/* Settings of a port are in force that throttle its sources. */
static inline uint32_t hold(struct fixture *f, uint32_t node, unsigned int num,
			    enum ibcc_congestion kind, uint32_t mbps)
{
	uint32_t port = fabric_port(f->t, node, num);
	struct ibcc_root_state *s = ibcc_parameters_add(&f->last, port);
	struct ibcc_root_parameters *r;

	assert_non_null(s);
	r = &s->r;
	r->kind = kind;
	r->phase = IBCC_PHASE_HOLD;
	r->in_force = true;
	r->rate_mbps = mbps;
	return port;
}

/* In each pass the switch of a port logs a number of an adapter's packets. The adapter sends at its
 * link's rate unless the test sets another one.
 */
static inline void log_pair(struct fixture *f, uint32_t port, uint32_t src, uint32_t dst,
			    unsigned int packets)
{
	struct traffic_port *sender = traffic_at(&f->tr, src, 1);

	if (packets && !sender->mbps)
		sender->mbps = f->t->port[fabric_port(f->t, src, 1)].rate_mbps;
	while (packets--) {
		assert_true(f->n_log < 256);
		f->log[f->n_log++] = (struct ibcc_mark){ .node = f->t->port[port].node,
							 .slid = traffic_lid(&f->tr, src),
							 .dlid = traffic_lid(&f->tr, dst) };
	}
}

static inline struct ibcc_endport_cc *sw_cc(struct fixture *f, uint32_t node)
{
	return &f->actual.ep[f->t->port[fabric_port(f->t, node, 0)].endport];
}

/* Turns marking on at one port of a switch. */
static inline struct ibcc_cc_sw_port_element *mark_at(struct fixture *f, uint32_t node,
						      unsigned int num)
{
	struct ibcc_endport_cc *sw = sw_cc(f, node);

	if (!sw->element) {
		sw->n_element = (uint16_t)(f->t->node[node].n_ports + 1u);
		sw->element = calloc(sw->n_element, sizeof(*sw->element));
		assert_non_null(sw->element);
	}
	sw->element[num] = (struct ibcc_cc_sw_port_element){ .Valid = true, .Threshold = 9 };
	return &sw->element[num];
}

static inline int setup_for(void **state, struct ibcc_topo *t)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct ibcc_estimator_params p;

	f->t = t;
	assert_int_equal(ibcc_settings_init(&f->actual, t), 0);
	for (uint32_t i = 0; i < f->actual.n; i++)
		f->actual.ep[i].support = IBCC_CC_SUPPORTED;
	traffic_init(&f->tr, t);
	traffic_pass(&f->tr);
	ibcc_estimator_defaults(&p);
	f->m = ibcc_estimator_new(&p);
	assert_non_null(f->m);
	f->last.n_endports = t->n_endports;
	*state = f;
	return 0;
}

static inline int setup(void **state)
{
	return setup_for(state, fabric_lustre());
}

static inline int setup_tree(void **state)
{
	return setup_for(state, fabric_tree2(4));
}

static inline int setup_tree8(void **state)
{
	return setup_for(state, fabric_tree2(8));
}

/* Clears all counts and logs; roots stay throttled. */
static inline void begin_anew(struct fixture *f)
{
	ibcc_estimator_reset(f->m);
	f->n_log = 0;
	memset(f->tr.port, 0, sizeof(f->tr.port));
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	ibcc_estimate_fini(&f->e);
	ibcc_estimator_free(f->m);
	ibcc_parameters_fini(&f->last);
	ibcc_snapshot_fini(&f->tr.s);
	ibcc_settings_fini(&f->actual);
	ibcc_topo_free(f->t);
	free(f);
	return 0;
}

#define LUSTRE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
#define TREE(test)   cmocka_unit_test_setup_teardown(test, setup_tree, teardown)
#define TREE8(test)  cmocka_unit_test_setup_teardown(test, setup_tree8, teardown)

/* The Lustre fabric, whose slow receiver's port marks. */
static inline int setup_marked(void **state)
{
	struct fixture *f;

	setup(state);
	f = *state;
	traffic_lustre_off(&f->tr);
	mark_at(f, LUSTRE_SW2, 1);
	return 0;
}

#endif
