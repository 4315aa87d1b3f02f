/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* DCQCN in the engine: averages, marks, CNPs and limiters by arithmetic. Hosts a, b and c at a
 * switch; packets of 1000 bytes, 40 Gb/s, so that a packet takes 200 ns.
 */
#include <errno.h>
#include <string.h>

#include "engines.h"
#include "lib/engine/dcqcn.h"

#define US IBCC_PS_PER_US
#define MS IBCC_PS_PER_MS

enum { A, B, C, SWITCH, MBPS = 40000, PACKET = 1000 };

struct star {
	struct ibcc_topo *topo;
	struct ibcc_model model;
	struct ibcc_engine *e;
};

/* The average stands still (2^24 steps are a second), so a test may set it. */
static void star_model(struct star *x)
{
	struct ibcc_dcqcn *d = &x->model.dcqcn;

	x->topo = ibcc_topo_new();
	assert_non_null(x->topo);
	fabric_node(x->topo, IBCC_NODE_CA, 1, "a");
	fabric_node(x->topo, IBCC_NODE_CA, 1, "b");
	fabric_node(x->topo, IBCC_NODE_CA, 1, "c");
	fabric_node(x->topo, IBCC_NODE_SWITCH, 4, "switch");
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(ibcc_topo_link(x->topo, i, 1, SWITCH, i + 1, MBPS, 2048), 0);
	assert_int_equal(ibcc_route_compute(x->topo), 0);
	ibcc_model_defaults(&x->model);
	x->model.packet_bytes = PACKET;
	x->model.header_bytes = 0;
	x->model.buffer_bytes = 1 << 20;
	d->enabled = true;
	d->aqs_time = 24;
	d->aqs_weight = 15;
	d->profile[0] = (struct ibcc_dcqcn_profile){ .min = 10000, .max = 20000, .percent = 40 };
	memset(d->sl2profile, 1, sizeof(d->sl2profile));
}

static void star_start(struct star *x)
{
	x->e = engine_new(x->topo, &x->model, 1);
}

static void star_free(struct star *x)
{
	ibcc_engine_free(x->e);
	ibcc_topo_free(x->topo);
}

static uint32_t star_flow(struct star *x, uint32_t from, uint8_t sl)
{
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_BACKLOGGED, .sl = sl };
	int at = ibcc_engine_add_flow(x->e, &f, fabric_port(x->topo, from, 1),
				      fabric_port(x->topo, C, 1));

	assert_true(at >= 0);
	return (uint32_t)at;
}

static struct ibcc_engine_port star_port(struct star *x, uint32_t node, unsigned int num)
{
	return engine_port_read(x->e, fabric_port(x->topo, node, num));
}

static struct dcqcn_queue *queue_to_c(struct star *x)
{
	return &x->e->dcqcn->queue[fabric_port(x->topo, SWITCH, 3)];
}

/* The average of an output goes a quarter of the way each 128 ns: from 0 with 8000 bytes, 2000
 * after one step and 3500 after two. The last of the three backlogs had no step yet.
 */
static void averages(void **state)
{
	struct star x;
	uint32_t outq;

	(void)state;
	star_model(&x);
	x.model.dcqcn.aqs_weight = 2;
	x.model.dcqcn.aqs_time = 1;
	star_start(&x);
	outq = fabric_port(x.topo, SWITCH, 3);
	x.e->port[outq].room -= 8000;
	x.e->now_ps = 127999;
	ibcc_dcqcn_backlog(x.e, outq);
	assert_true(queue_to_c(&x)->average == 0);
	x.e->now_ps = 2 * 128000;
	ibcc_dcqcn_backlog(x.e, outq);
	assert_true(queue_to_c(&x)->average == 3500);
	x.e->port[outq].room += 8000;
	x.e->now_ps += 1000;
	ibcc_dcqcn_backlog(x.e, outq);
	assert_true(queue_to_c(&x)->average == 3500);
	x.e->now_ps = 5 * 128000;
	ibcc_dcqcn_backlog(x.e, outq);
	assert_near(queue_to_c(&x)->average, 3500 * 27 / 64.0, 1e-12);
	star_free(&x);
}

/* Marks of 10000 packets of one sender, whose source does not react, at an average. */
static uint64_t marks_at(struct star *x, double average, uint8_t sl)
{
	uint64_t marks;

	x->model.dcqcn.min_time_between_cnps_us = 131071;
	star_start(x);
	x->e->hca[x->e->owner[fabric_port(x->topo, A, 1)]].no_cc = true;
	queue_to_c(x)->average = average;
	star_flow(x, A, sl);
	engine_run(x->e, 10000ull * 200000 + US);
	marks = star_port(x, SWITCH, 3).mark_fecn;
	ibcc_engine_free(x->e);
	x->e = NULL;
	return marks;
}

/* 40 % at 20000 bytes, 20 % halfway, so 2000 of 10000 with a deviation of 40. */
static void marks_in_proportion(void **state)
{
	struct star x;

	(void)state;
	star_model(&x);
	assert_int_equal(marks_at(&x, 10000, 0), 0);
	assert_in_range(marks_at(&x, 15000, 0), 2000 - 120, 2000 + 120);
	assert_in_range(marks_at(&x, 20000, 0), 4000 - 147, 4000 + 147);
	assert_true(marks_at(&x, 20001, 0) >= 10000);
	/* Less than a byte is what is left of an average, and no queue. */
	x.model.dcqcn.profile[0] =
		(struct ibcc_dcqcn_profile){ .min = 0, .max = 0, .percent = 100 };
	assert_int_equal(marks_at(&x, 0.9, 0), 0);
	assert_true(marks_at(&x, 1, 0) >= 10000);
	star_free(&x);
}

static void profiles_by_sl(void **state)
{
	struct star x;

	(void)state;
	star_model(&x);
	x.model.dcqcn.profile[1] =
		(struct ibcc_dcqcn_profile){ .min = 0, .max = 10000, .percent = 10 };
	x.model.dcqcn.sl2profile[3] = 2;
	x.model.dcqcn.sl2profile[4] = 0;
	assert_in_range(marks_at(&x, 5000, 3), 500 - 66, 500 + 66);
	assert_int_equal(marks_at(&x, 30000, 4), 0);
	/* Percent of the reference count with the present backlog, whatever the average is. */
	x.model.dcqcn.profile[0] =
		(struct ibcc_dcqcn_profile){ .percentage = true, .max = 1, .percent = 100 };
	assert_int_equal(marks_at(&x, 30000, 0), 0);
	star_free(&x);
}

/* Two senders, percentage mode: a backlog of a packet and more, of 10000 bytes, is marked. */
static void present_backlog(void **state)
{
	struct star x;

	(void)state;
	star_model(&x);
	x.model.mark_reference_bytes = 10000;
	x.model.dcqcn.profile[0] =
		(struct ibcc_dcqcn_profile){ .percentage = true, .min = 50, .max = 50 };
	star_start(&x);
	star_flow(&x, A, 0);
	star_flow(&x, B, 0);
	/* From 125 ns on, two packets come each 200 ns and one leaves. At 925 ns the sixth waits.
	 */
	engine_run(x.e, 925000 - 1);
	assert_int_equal(star_port(&x, SWITCH, 3).mark_fecn, 0);
	engine_run(x.e, 925000);
	assert_int_equal(star_port(&x, SWITCH, 3).mark_fecn, 1);
	star_free(&x);
}

/* The receiver is slow, so the output to it has no credits: it is no source of congestion. */
static void marks_of_victims(void **state)
{
	struct star x;

	(void)state;
	for (int only = 0; only < 2; only++) {
		star_model(&x);
		x.model.hca_buffer_bytes = 4096;
		x.model.dcqcn.source_only = only;
		star_start(&x);
		assert_int_equal(ibcc_engine_set_sink_rate(x.e, fabric_port(x.topo, C, 1), 1000),
				 0);
		queue_to_c(&x)->average = 30000;
		star_flow(&x, A, 0);
		x.e->hca[x.e->owner[fabric_port(x.topo, A, 1)]].no_cc = true;
		engine_run(x.e, 100 * US);
		engine_run(x.e, 1100 * US);
		/* 125 packets a millisecond; the first ones still had credits. */
		if (only)
			assert_in_range(star_port(&x, SWITCH, 3).mark_fecn, 1, 6);
		else
			assert_in_range(star_port(&x, SWITCH, 3).mark_fecn, 125, 150);
		star_free(&x);
	}
}

/* All packets are marked. A CNP each 50 us for each queue pair, or for the port. */
static void times_between_cnps(void **state)
{
	struct star x;

	(void)state;
	for (int per_port = 0; per_port < 2; per_port++) {
		star_model(&x);
		x.model.dcqcn.min_time_between_cnps_us = 50;
		x.model.dcqcn.cnp_per_port = per_port;
		x.model.dcqcn.rp.rpg_min_rate_mbps = 10000;
		star_start(&x);
		queue_to_c(&x)->average = 30000;
		star_flow(&x, A, 0);
		star_flow(&x, B, 0);
		engine_run(x.e, 1001 * US);
		assert_in_range(star_port(&x, A, 1).rcv_becn + star_port(&x, B, 1).rcv_becn,
				per_port ? 19 : 38, per_port ? 20 : 40);
		star_free(&x);
	}
}

static void sl_of_cnps(void **state)
{
	struct ibcc_engine_port p;
	struct star x;

	(void)state;
	star_model(&x);
	x.model.vls = 2;
	x.model.dcqcn.cnp_sl = 5;
	star_start(&x);
	x.e->dcqcn->queue[fabric_port(x.topo, SWITCH, 3) * 2].average = 30000;
	star_flow(&x, A, 0);
	engine_run(x.e, 100 * US);
	p = star_port(&x, A, 1);
	assert_true(p.rcv_becn > 0);
	assert_int_equal(p.sl_rcv_becn[5], p.rcv_becn);
	star_free(&x);
}

/* The first CNP comes, and 4 us later the cut, to half. From then on the sender's packets are 400
 * ns apart: 5 in 2 us, not 10. The other SL is not held, unless the limiter is that of the LID.
 */
static void limiters(void **state)
{
	struct ibcc_engine_flow was[2], is[2];
	struct star x;

	(void)state;
	for (int per_lid = 0; per_lid < 2; per_lid++) {
		star_model(&x);
		x.model.dcqcn.min_time_between_cnps_us = 131071;
		x.model.dcqcn.shaper_per_lid = per_lid;
		x.model.dcqcn.sl2profile[1] = 0;
		x.model.dcqcn.rp.initial_alpha_value = 1023;
		x.model.dcqcn.rp.dce_tcp_g = 1024;
		x.model.dcqcn.rp.rpg_byte_reset_bytes = 0;
		x.model.hca_service = IBCC_HCA_ROUND_ROBIN;
		star_start(&x);
		queue_to_c(&x)->average = 30000;
		star_flow(&x, A, 0);
		star_flow(&x, A, 1);
		engine_run(x.e, 20 * US);
		for (uint32_t i = 0; i < 2; i++)
			was[i] = engine_flow_read(x.e, i);
		assert_int_equal(was[0].limit_mbps, 20020); /* 40000 (1 - 1023 / 2048) */
		assert_int_equal(was[1].limit_mbps, per_lid ? 20020 : 0);
		engine_run(x.e, 220 * US);
		for (uint32_t i = 0; i < 2; i++)
			is[i] = engine_flow_read(x.e, i);
		/* 200 us are 1000 packet times. */
		assert_near((double)(is[0].sent_pkts - was[0].sent_pkts), per_lid ? 250 : 500,
			    0.01);
		assert_near((double)(is[1].sent_pkts - was[1].sent_pkts), per_lid ? 250 : 500,
			    0.01);
		star_free(&x);
	}
}

/* After the first CNP a packet goes each 200 us at most, to the LID. A flow to all hosts that are
 * left, of which there is one, begins in such a time on another SL: its first packet waits, too.
 */
static void first_packet_of_a_pair(void **state)
{
	const enum ibcc_arrivals arrivals[] = { IBCC_ARRIVALS_BACKLOGGED, IBCC_ARRIVALS_PERIODIC };
	struct star x;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct ibcc_flow_spec f = { .arrivals = arrivals[i],
					    .rate_mbps = 4000,
					    .sl = 1,
					    .not_to = "b",
					    .start_ps = 20 * US };

		star_model(&x);
		x.model.dcqcn.shaper_per_lid = true;
		x.model.dcqcn.rp.rate_to_set_on_first_cnp_mbps = 40;
		star_start(&x);
		queue_to_c(&x)->average = 30000;
		star_flow(&x, A, 0);
		assert_int_equal(
			ibcc_engine_add_flow(x.e, &f, fabric_port(x.topo, A, 1), IBCC_NONE), 1);
		engine_run(x.e, 20 * US);
		assert_in_range(engine_flow_read(x.e, 0).limit_mbps, 1, 40);
		engine_run(x.e, 100 * US);
		assert_int_equal(engine_flow_read(x.e, 1).sent_pkts, 0);
		engine_run(x.e, 100 * MS);
		assert_true(engine_flow_read(x.e, 1).sent_pkts > 0);
		star_free(&x);
	}
}

/* A limiter of a LID holds a flow that is added while it makes that LID rest, whether the flow has
 * one destination or goes to all, and also if a pair without packets was made in between. A flow to
 * all that has another host to go to does so.
 */
static void flows_that_come_later(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct ibcc_flow_spec one = { .arrivals = IBCC_ARRIVALS_BACKLOGGED,
					      .sl = 1,
					      .start_ps = i ? 200 * MS : 21 * US };
		struct ibcc_flow_spec all = { .arrivals = IBCC_ARRIVALS_BACKLOGGED,
					      .sl = 3,
					      .start_ps = 22 * US };
		struct star x;
		uint32_t from, to;

		if (i < 2)
			snprintf(all.not_to, sizeof(all.not_to), "b");
		star_model(&x);
		x.model.dcqcn.shaper_per_lid = true;
		x.model.dcqcn.rp.rate_to_set_on_first_cnp_mbps = 40;
		star_start(&x);
		from = fabric_port(x.topo, A, 1);
		to = fabric_port(x.topo, C, 1);
		queue_to_c(&x)->average = 30000;
		star_flow(&x, A, 2);
		engine_run(x.e, 20 * US);
		assert_in_range(engine_flow_read(x.e, 0).limit_mbps, 1, 40);
		assert_int_equal(ibcc_engine_add_flow(x.e, &one, from, to), 1);
		for (uint32_t k = 2; k < 10; k++)
			assert_int_equal(ibcc_engine_add_flow(x.e, &all, from, IBCC_NONE), k);
		engine_run(x.e, 100 * US);
		assert_int_equal(engine_flow_read(x.e, 1).sent_pkts, 0);
		assert_int_equal(star_port(&x, C, 1).rcv_data_pkts,
				 engine_flow_read(x.e, 0).received_pkts);
		for (uint32_t k = 2; k < 10; k++)
			assert_int_equal(engine_flow_read(x.e, k).sent_pkts > 0, i == 2);
		star_free(&x);
	}
}

/* A port's own profile from now on, and none. The switch's other ports keep the model's. */
static void marks_of_one_port(void **state)
{
	struct ibcc_dcqcn own;
	struct star x;
	uint64_t marks;

	(void)state;
	star_model(&x);
	x.model.dcqcn.min_time_between_cnps_us = 131071;
	star_start(&x);
	x.e->hca[x.e->owner[fabric_port(x.topo, A, 1)]].no_cc = true;
	queue_to_c(&x)->average = 5000;
	star_flow(&x, A, 0);
	engine_run(x.e, 1000ull * 200000);
	assert_int_equal(star_port(&x, SWITCH, 3).mark_fecn, 0);
	own = *ibcc_engine_dcqcn(x.e, fabric_port(x.topo, SWITCH, 3));
	assert_int_equal(own.profile[0].min, 10000);
	own.profile[0] = (struct ibcc_dcqcn_profile){ .min = 0, .max = 10000, .percent = 20 };
	assert_int_equal(ibcc_engine_set_dcqcn(x.e, fabric_port(x.topo, SWITCH, 3), &own), 0);
	assert_int_equal(ibcc_engine_dcqcn(x.e, fabric_port(x.topo, SWITCH, 1))->profile[0].min,
			 10000);
	/* Halfway between 0 and max: 10 % of 10000 packets, with a deviation of 30. */
	engine_run(x.e, 11000ull * 200000);
	marks = star_port(&x, SWITCH, 3).mark_fecn;
	assert_in_range(marks, 1000 - 110, 1000 + 110);
	own.enabled = false;
	assert_int_equal(ibcc_engine_set_dcqcn(x.e, fabric_port(x.topo, SWITCH, 3), &own), 0);
	engine_run(x.e, 12000ull * 200000);
	assert_int_equal(star_port(&x, SWITCH, 3).mark_fecn, marks);
	star_free(&x);
}

/* An average goes on where it was when the length of its steps changes. */
static void average_of_one_port(void **state)
{
	struct ibcc_dcqcn own;
	struct star x;
	uint32_t port;

	(void)state;
	star_model(&x);
	x.model.dcqcn.aqs_weight = 2;
	x.model.dcqcn.aqs_time = 1;
	star_start(&x);
	port = fabric_port(x.topo, SWITCH, 3);
	x.e->port[port].room -= 8000;
	x.e->now_ps = 128000;
	own = *ibcc_engine_dcqcn(x.e, port);
	own.aqs_weight = 1;
	own.aqs_time = 0;
	assert_int_equal(ibcc_engine_set_dcqcn(x.e, port, &own), 0);
	assert_true(queue_to_c(&x)->average == 2000);
	x.e->now_ps = 128000 + 64000;
	ibcc_dcqcn_backlog(x.e, port);
	assert_true(queue_to_c(&x)->average == 5000);
	star_free(&x);
}

/* All packets are marked. CNPs are counted where they are sent and where they come; a sender that
 * does not react ignores them, and a receiver that does not notify sends none.
 */
static void adapters_of_their_own(void **state)
{
	struct ibcc_engine_port sender, receiver;
	struct ibcc_dcqcn own;
	struct star x;

	(void)state;
	star_model(&x);
	x.model.dcqcn.rp.rpg_min_rate_mbps = 10000;
	star_start(&x);
	queue_to_c(&x)->average = 30000;
	star_flow(&x, A, 0);
	engine_run(x.e, 100 * US);
	sender = star_port(&x, A, 1);
	receiver = star_port(&x, C, 1);
	assert_true(sender.cnp_handled > 0 && sender.cnp_handled == sender.rcv_becn);
	assert_int_equal(sender.cnp_ignored, 0);
	/* One or two are on their way. */
	assert_in_range(receiver.cnp_sent - sender.cnp_handled, 0, 2);
	assert_true(engine_flow_read(x.e, 0).limit_mbps > 0);
	own = *ibcc_engine_dcqcn(x.e, fabric_port(x.topo, A, 1));
	own.no_react = true;
	assert_int_equal(ibcc_engine_set_dcqcn(x.e, fabric_port(x.topo, A, 1), &own), 0);
	assert_int_equal(engine_flow_read(x.e, 0).limit_mbps, 0);
	/* The limiter is gone, also if the adapter soon reacts again. */
	own.no_react = false;
	assert_int_equal(ibcc_engine_set_dcqcn(x.e, fabric_port(x.topo, A, 1), &own), 0);
	assert_int_equal(engine_flow_read(x.e, 0).limit_mbps, 0);
	own.no_react = true;
	assert_int_equal(ibcc_engine_set_dcqcn(x.e, fabric_port(x.topo, A, 1), &own), 0);
	engine_run(x.e, 200 * US);
	assert_int_equal(star_port(&x, A, 1).cnp_handled, sender.cnp_handled);
	/* At the whole rate of the link there are 500 packets, and CNPs, in 100 us. */
	assert_in_range(star_port(&x, A, 1).cnp_ignored, 480, 500);
	own.no_react = false;
	own.rp.rpg_min_rate_mbps = 20000;
	assert_int_equal(ibcc_engine_set_dcqcn(x.e, fabric_port(x.topo, A, 1), &own), 0);
	engine_run(x.e, 400 * US);
	assert_int_equal(engine_flow_read(x.e, 0).limit_mbps, 20000);
	own = *ibcc_engine_dcqcn(x.e, fabric_port(x.topo, C, 1));
	own.no_notify = true;
	assert_int_equal(ibcc_engine_set_dcqcn(x.e, fabric_port(x.topo, C, 1), &own), 0);
	receiver = star_port(&x, C, 1);
	engine_run(x.e, 500 * US);
	assert_int_equal(star_port(&x, C, 1).cnp_sent, receiver.cnp_sent);
	assert_true(star_port(&x, C, 1).rcv_fecn > receiver.rcv_fecn);
	star_free(&x);
}

/* Values that no model may have are refused, and without DCQCN right ones have no effect. */
static void wrong_values_of_a_port(void **state)
{
	struct ibcc_dcqcn own;
	struct star x;

	(void)state;
	star_model(&x);
	star_start(&x);
	own = x.model.dcqcn;
	assert_int_equal(ibcc_engine_set_dcqcn(x.e, 9999, &own), -EINVAL);
	own.profile[2].percent = 101;
	assert_int_equal(ibcc_engine_set_dcqcn(x.e, 0, &own), -EINVAL);
	ibcc_engine_free(x.e);
	x.model.dcqcn.enabled = false;
	star_start(&x);
	assert_null(ibcc_engine_dcqcn(x.e, 0));
	assert_int_equal(ibcc_engine_set_dcqcn(x.e, 0, &own), -EINVAL);
	own.profile[2].percent = 100;
	assert_int_equal(ibcc_engine_set_dcqcn(x.e, 0, &own), 0);
	star_free(&x);
}

/* The loop closes, with the parameters of the paper: two senders share the link, it stays busy, and
 * buffers never run full. */
static void the_loop(void **state)
{
	struct ibcc_engine_flow was[2], is[2];
	struct ibcc_dcqcn_rp *p;
	struct star x;

	(void)state;
	star_model(&x);
	p = &x.model.dcqcn.rp;
	x.model.dcqcn.aqs_weight = 0;
	x.model.dcqcn.aqs_time = 0;
	x.model.dcqcn.profile[0] =
		(struct ibcc_dcqcn_profile){ .min = 5000, .max = 200000, .percent = 1 };
	x.model.dcqcn.min_time_between_cnps_us = 50;
	p->rpg_time_reset_us = p->dce_tcp_rtt_us = 55;
	p->rpg_byte_reset_bytes = 10000000;
	p->rpg_threshold = 5;
	p->rpg_ai_rate_mbps = 40;
	p->dce_tcp_g = 1020;
	p->rate_reduce_monitor_period_us = 50;
	p->clamp_tgt_rate = true;
	star_start(&x);
	for (uint32_t i = 0; i < 2; i++)
		star_flow(&x, i, 0);
	engine_run(x.e, 20 * MS);
	for (uint32_t i = 0; i < 2; i++)
		was[i] = engine_flow_read(x.e, i);
	engine_run(x.e, 60 * MS);
	for (uint32_t i = 0; i < 2; i++)
		is[i] = engine_flow_read(x.e, i);
	assert_near((double)(is[0].sent_pkts - was[0].sent_pkts), 100000, 0.1);
	assert_near(
		(double)(is[0].sent_pkts - was[0].sent_pkts + is[1].sent_pkts - was[1].sent_pkts),
		200000, 0.01);
	assert_int_equal(star_port(&x, A, 1).xmit_wait_ps, 0);
	star_free(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(averages),
		cmocka_unit_test(marks_in_proportion),
		cmocka_unit_test(profiles_by_sl),
		cmocka_unit_test(present_backlog),
		cmocka_unit_test(marks_of_victims),
		cmocka_unit_test(times_between_cnps),
		cmocka_unit_test(sl_of_cnps),
		cmocka_unit_test(limiters),
		cmocka_unit_test(first_packet_of_a_pair),
		cmocka_unit_test(flows_that_come_later),
		cmocka_unit_test(the_loop),
		cmocka_unit_test(marks_of_one_port),
		cmocka_unit_test(average_of_one_port),
		cmocka_unit_test(adapters_of_their_own),
		cmocka_unit_test(wrong_values_of_a_port),
	};

	return cmocka_run_group_tests_name("dcqcn", tests, NULL, NULL);
}
