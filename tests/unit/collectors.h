/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A collector over a fake fabric that lets a known rate flow by its own clock. Whatever that clock
 * does, the rates must come out right.
 */
#ifndef TEST_COLLECTORS_H
#define TEST_COLLECTORS_H

#include "tests/unit/fake_fabric.h"

#include <ibcc/collect.h>
#include <ibcc/link.h>

#define MS         1000000ull
#define FLOW_MBPS  16000.0 /* half of a 4X QDR link */
#define WAIT_SHARE 300     /* permille */
#define QDR_TICK   2000.0  /* ps: 8 bytes at 32 Gb/s */

struct fixture {
	struct ibcc_topo *t;
	struct fake_fabric *f;
	struct ibcc_transport *tr; /* owns f */
	struct ibcc_collector *c;
	struct ibcc_snapshot s;
};

static inline struct fixture setup_on(struct ibcc_topo *t)
{
	struct fixture x = { .t = t, .f = fake_fabric(t), .c = ibcc_collector_new() };

	x.tr = &x.f->base;
	assert_non_null(x.c);
	assert_int_equal(ibcc_snapshot_init(&x.s, t), 0);
	for (uint32_t i = 0; i < t->n_ports; i++) {
		x.f->counters[i].words_per_us = FLOW_MBPS / 32;
		x.f->counters[i].ticks_per_us = 1e6 / QDR_TICK * WAIT_SHARE / 1000;
	}
	for (uint32_t i = 0; i < t->n_endports; i++)
		x.f->node[i].clock_base = 0xffff0000u + 77777u * i; /* some wrap around soon */
	return x;
}

static inline struct fixture setup(void)
{
	return setup_on(fabric_lustre());
}

/* As setup(), on a simulated fabric, whose time runs at a rate against the host's clock. */
static inline struct fixture setup_simulated(double rate)
{
	struct fixture x = setup();

	x.f->base.simulated = true;
	x.f->clock_rate = rate;
	return x;
}

static inline void teardown(struct fixture *x)
{
	ibcc_snapshot_fini(&x->s);
	ibcc_collector_free(x->c);
	ibcc_transport_free(x->tr);
	ibcc_topo_free(x->t);
}

static inline void pass_with(struct fixture *x, const struct ibcc_settings *actual)
{
	memset(x->f->n_class, 0, sizeof(x->f->n_class));
	x->f->n_plain = 0;
	assert_int_equal(ibcc_collector_pass(x->c, x->tr, x->t, &x->s, 0, actual), 0);
	assert_int_equal(x->f->base.stats.sets, 0);
}

/* A pass without known settings. */
static inline void pass(struct fixture *x)
{
	pass_with(x, NULL);
}

static inline const struct ibcc_port_sample *sample(const struct fixture *x, uint32_t node,
						    unsigned int num)
{
	return &x->s.port[fabric_port(x->t, node, num)];
}

/* Asserts that all fresh ports have the right rates, and that `many` ports are fresh. Errors in
 * permille.
 */
static inline void assert_rates(const struct fixture *x, uint32_t many, uint32_t permille)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->s.n_ports; i++) {
		const struct ibcc_port_sample *p = &x->s.port[i];
		uint32_t off = (uint32_t)FLOW_MBPS * permille / 1000;

		if (p->state != IBCC_SAMPLE_FRESH)
			continue;
		n++;
		assert_in_range(ibcc_delta_xmit_mbps(&p->delta), FLOW_MBPS - off, FLOW_MBPS + off);
		if (p->delta.flags[IBCC_CTR_XMIT_WAIT])
			assert_in_range(ibcc_delta_wait_permille(&p->delta, p->tick_ps),
					WAIT_SHARE - 1 - permille, WAIT_SHARE + 1 + permille);
	}
	assert_int_equal(n, many);
	assert_int_equal(x->s.n_fresh, many);
}

#define LUSTRE_PORTS 14 /* both ends of seven links */

#endif
