/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The columns of inferred traffic against the packet engine's own counts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ibcc/loads.h>
#include <ibcc/traffic.h>

#include "perftest/bench/truth.h"
#include "perftest/lab/draw.h"
#include "perftest/lab/predict.h"

#define MS IBCC_PS_PER_MS
/* Draws that decided nothing. */
#define SEED 89001u

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Hotspots last. */
static void load(uint64_t seed, struct ibcc_scenario *s)
{
	struct ibcc_yaml_errors e = { 0 };

	assert_int_equal(ibcc_draw_load(seed, s, &e), 0);
	for (uint32_t i = 0; i < s->n_flows; i++)
		s->flow[i].stop_ps = 0;
	for (uint32_t i = 0; i < s->n_events; i++)
		if (s->event[i].kind == IBCC_EVENT_SINK_RATE && !s->event[i].value)
			s->event[i].at_ps = UINT64_MAX;
}

/* Bytes so far on each port and of each flow. */
struct counts {
	double *xmit, *wait, *flow;
};

static void counts_take(struct ibcc_engine *e, const struct ibcc_scenario *s, struct counts *c)
{
	c->xmit = calloc(s->topo->n_ports, sizeof(double));
	c->wait = calloc(s->topo->n_ports, sizeof(double));
	c->flow = calloc(s->n_flows, sizeof(double));
	assert_true(c->xmit && c->wait && c->flow);
	for (uint32_t i = 0; i < s->topo->n_ports; i++) {
		struct ibcc_engine_port p;

		assert_int_equal(ibcc_engine_port_read(e, i, &p), 0);
		c->xmit[i] = (double)p.xmit_bytes;
		c->wait[i] = (double)p.xmit_wait_ps;
	}
	for (uint32_t i = 0; i < s->n_flows; i++) {
		struct ibcc_engine_flow f;

		assert_int_equal(ibcc_engine_flow_read(e, i, &f), 0);
		c->flow[i] = (double)f.received_bytes;
	}
}

static void counts_free(struct counts *c)
{
	free(c->xmit);
	free(c->wait);
	free(c->flow);
}

static void run_over(struct ibcc_engine *e, const struct ibcc_scenario *s, uint64_t from_ms,
		     uint64_t to_ms, struct ibcc_loads *l)
{
	double span = (double)((to_ms - from_ms) * MS);
	struct counts a, b;

	assert_int_equal(ibcc_engine_run(e, from_ms * MS), 0);
	counts_take(e, s, &a);
	assert_int_equal(ibcc_engine_run(e, to_ms * MS), 0);
	counts_take(e, s, &b);
	assert_int_equal(ibcc_loads_init(l, s->topo->n_ports), 0);
	l->n = 3;
	for (uint32_t i = 0; i < l->n_ports; i++) {
		l->mbps[i] = (b.xmit[i] - a.xmit[i]) * 8e6 / span;
		l->wait[i] = (b.wait[i] - a.wait[i]) / span;
	}
	counts_free(&a);
	counts_free(&b);
}

/* What is sent to a root's receiver, by source: sum of differences over their sum. */
static double column_off(const struct ibcc_scenario *s, const struct ibcc_traffic *t, uint32_t port,
			 const struct counts *a, const struct counts *b, double span)
{
	uint32_t dst = s->topo->port[port].peer, node = s->topo->port[dst].node;
	double *truth = calloc(s->topo->n_ports, sizeof(double)), off = 0, all = 0;

	assert_non_null(truth);
	for (uint32_t i = 0; i < s->n_flows; i++)
		if (!strcmp(s->flow[i].to, s->topo->node[node].desc))
			truth[s->topo->node[ibcc_topo_find_desc(s->topo, s->flow[i].from)]
				      .first_port +
			      1] += (b->flow[i] - a->flow[i]) * 8e6 / span *
				    (s->model.packet_bytes + s->model.header_bytes) /
				    s->model.packet_bytes;
	for (uint32_t i = 0; i < s->topo->n_ports; i++) {
		double is = 0;

		for (uint32_t k = 0; k < t->n_pairs; k++)
			if (t->pair[k].src == i && t->pair[k].dst == dst)
				is += t->pair[k].carried;
		off += fabs(is - truth[i]);
		all += truth[i];
	}
	free(truth);
	return off / all;
}

static unsigned int columns(uint64_t seed, double *off, unsigned int most)
{
	struct ibcc_scenario s;
	struct ibcc_truth truth;
	struct ibcc_loads before, now;
	struct ibcc_traffic_root root[16] = { { 0 } };
	struct ibcc_traffic t;
	struct ibcc_traffic_in in = { .before = &before, .now = &now, .root = root };
	struct counts a, b;
	struct ibcc_engine *e;
	unsigned int n = 0;
	uint32_t port[16];
	double *becns;
	int rc = 0;

	load(seed, &s);
	assert_int_equal(ibcc_predict_vary(&s, IBCC_PREDICT_V1), 0);
	assert_int_equal(ibcc_truth_find(&s, 20 * MS, &truth), 0);
	e = ibcc_engine_new(s.topo, &s.model, s.seed, &rc);
	assert_non_null(e);
	assert_int_equal(ibcc_engine_load(e, &s, NULL), 0);
	run_over(e, &s, 1, 6, &before);
	assert_int_equal(ibcc_engine_run(e, 22 * MS), 0);
	counts_take(e, &s, &a);
	run_over(e, &s, 22, 30, &now);
	counts_take(e, &s, &b);
	in.t = s.topo;
	becns = calloc((size_t)s.topo->n_endports * 16, sizeof(*becns));
	assert_non_null(becns);
	while (in.n_roots < truth.n_roots && in.n_roots < 16) {
		const struct ibcc_truth_root *r = &truth.root[in.n_roots];

		port[in.n_roots] = r->port;
		root[in.n_roots] = (struct ibcc_traffic_root){
			.port = r->port,
			.kind = r->kind,
			.becns = becns + (size_t)in.n_roots * s.topo->n_endports,
		};
		in.n_roots++;
	}
	assert_int_equal(
		ibcc_predict_probe_run(e, s.topo, IBCC_PROBE_BECNS, in.n_roots, port, becns), 0);
	assert_int_equal(ibcc_traffic_infer(&in, &t), 0);
	for (uint32_t i = 0; i < in.n_roots; i++) {
		if (n < most && !ibcc_topo_is_switch(
					s.topo, s.topo->port[s.topo->port[root[i].port].peer].node))
			off[n++] = column_off(&s, &t, root[i].port, &a, &b, 8.0 * MS);
	}
	free(becns);
	ibcc_traffic_fini(&t);
	counts_free(&a);
	counts_free(&b);
	ibcc_loads_fini(&before);
	ibcc_loads_fini(&now);
	ibcc_engine_free(e);
	ibcc_truth_fini(&truth);
	ibcc_scenario_fini(&s);
	return n;
}

/* After each root has marked for two intervals: what each source sends to its receiver, to 0.10 of
 * what it gets, in the median.
 */
static void columns_of_roots(void **state)
{
	double off[64];
	unsigned int n = 0;

	(void)state;
	for (uint64_t seed = SEED; seed < SEED + 24; seed++)
		n += columns(seed, off + n, 64 - n);
	qsort(off, n, sizeof(*off), by_value);
	print_message("%u columns off by %.3f in the median, %.3f in nine of ten\n", n, off[n / 2],
		      off[n * 9 / 10]);
	assert_true(off[n / 2] <= 0.10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_of_roots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
