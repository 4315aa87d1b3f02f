/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The engine against the small reference simulator (reference.h), on cases by chance.
 *
 * SEED=n makes n the seed of the first case, CASES=n their number: a case that fails prints what
 * repeats it alone. Each number is a case with annex A10 and another one with DCQCN, both once more
 * on several VLs or with PAUSE, and both a third time with all that is drawn (ref_draw_all()).
 */
#include <stdlib.h>

#include "tests/unit/engines.h"

#include "reference_cases.h"
#include "reference_draw.h"

enum { DEFAULT_SEED = 1, DEFAULT_CASES = 130, SPREAD = 5 };
enum { DCQCN_SEED = 330001, DCQCN_CASES = 50 };
enum { LANES_SEED = 403001, LANES_CASES = 60 };
enum { ALL_SEED = 404001, ALL_CASES = 50 };

/* ---- The same for the engine ---- */

static struct ibcc_topo *topo_of(const struct ref_case *c, struct ibcc_cc_port_mask *mask)
{
	struct ibcc_topo *t = ibcc_topo_new();
	unsigned int used[REF_NODES] = { 0 };
	char name[16];

	assert_non_null(t);
	for (unsigned int i = 0; i < c->n_hosts + c->n_switches; i++) {
		bool host = i < c->n_hosts;

		snprintf(name, sizeof(name), host ? "h%u" : "s%u", host ? i : i - c->n_hosts);
		fabric_node(t, host ? IBCC_NODE_CA : IBCC_NODE_SWITCH, host ? 1 : REF_SWITCH_PORTS,
			    name);
	}
	for (unsigned int i = 0; i < c->n_links; i++) {
		const struct ref_link *l = &c->link[i];
		unsigned int a = ++used[l->end[0]], b = ++used[l->end[1]];

		assert_int_equal(ibcc_topo_link(t, l->end[0], a, l->end[1], b, l->rate, 4096), 0);
		ibcc_cc_mask_assign(&mask[l->end[0]], a, l->victim_mask[0]);
		ibcc_cc_mask_assign(&mask[l->end[1]], b, l->victim_mask[1]);
	}
	assert_int_equal(ibcc_route_compute(t), 0);
	return t;
}

/* The numbers of ports by the ends of links; a node's ports are in the order of its links. */
static void number(const struct ref_case *c, unsigned int num[REF_LINKS][2])
{
	unsigned int used[REF_NODES] = { 0 };

	for (unsigned int i = 0; i < 2 * c->n_links; i++)
		num[i / 2][i % 2] = ++used[c->link[i / 2].end[i % 2]];
}

static void set_lanes(struct ibcc_topo *t, const struct ref_case *c)
{
	unsigned int num[REF_LINKS][2];

	number(c, num);
	for (uint32_t i = 0; i < t->n_ports; i++)
		t->port[i].op_vls = (uint8_t)c->vls;
	for (unsigned int i = 0; i < 2 * c->n_links && c->maps; i++)
		for (unsigned int k = 0; k < 2 * c->n_links; k++) {
			unsigned int node = c->link[i / 2].end[i % 2];

			if (node >= c->n_hosts && node == c->link[k / 2].end[k % 2])
				assert_int_equal(ibcc_topo_set_sl2vl(t, node, num[i / 2][i % 2],
								     num[k / 2][k % 2],
								     c->vl[i / 2][k / 2]),
						 0);
		}
}

static struct ibcc_vlarb_table table_of(const struct ref_table *t)
{
	struct ibcc_vlarb_table to = { .n = (uint8_t)t->n };

	for (unsigned int i = 0; i < t->n; i++)
		to.entry[i] = (struct ibcc_vlarb_entry){ (uint8_t)t->entry[i].vl,
							 (uint8_t)t->entry[i].weight };
	return to;
}

static struct ibcc_model model_of(const struct draw *d)
{
	const struct ref_case *c = &d->c;
	struct ibcc_model m;

	ibcc_model_defaults(&m);
	m.packet_bytes = c->packet;
	m.header_bytes = c->header;
	m.ack_bytes = c->cnp;
	m.buffer_bytes = c->switch_buffer;
	m.hca_buffer_bytes = c->host_buffer;
	m.link_delay_ps = c->link_delay;
	m.switch_delay_ps = c->switch_delay;
	m.credit_delay_ps = c->credit_delay;
	m.becn_delay_ps = c->becn_delay;
	m.acks = c->acks;
	m.mark_reference_bytes = c->mark_reference;
	m.mark_hysteresis_permille = (uint16_t)c->hysteresis;
	m.arbitration = c->fifo ? IBCC_ARBITRATION_FIFO : IBCC_ARBITRATION_INPUT;
	m.hca_service = c->round_robin ? IBCC_HCA_ROUND_ROBIN : IBCC_HCA_ARRIVAL;
	m.dcqcn = d->d;
	m.vls = (uint8_t)(c->vls ? c->vls : 1);
	m.vlarb.high = table_of(&c->high);
	m.vlarb.low = table_of(&c->low);
	m.vlarb.high_limit = (uint8_t)c->high_limit;
	if (c->pause.on) {
		m.flow_control = IBCC_FLOW_CONTROL_PAUSE;
		m.pause_headroom_bytes = c->pause.headroom;
		m.pause_xon_permille = (uint16_t)c->pause.xon;
	}
	return m;
}

static void set_cc(struct ibcc_engine *e, const struct ibcc_topo *t, const struct ref_case *c,
		   const struct ibcc_cc_port_mask *mask)
{
	struct ibcc_cc_ca_setting ca = { .Port_Control = c->per_sl, .Control_Map = 0xffff };
	struct ibcc_cct cct = { .limit = (uint16_t)c->limit };

	for (unsigned int i = 0; i < IBCC_CC_SLS; i++)
		ca.sl[i] = (struct ibcc_cc_ca_entry){ .CCTI_Timer = (uint16_t)c->timer,
						      .CCTI_Increase = (uint8_t)c->increase,
						      .CCTI_Min = (uint8_t)c->min };
	for (unsigned int i = 0; i <= c->limit; i++)
		cct.entry[i] = ibcc_cct_entry(c->cct[i].shift, c->cct[i].multiplier);
	for (unsigned int i = 0; i < c->n_hosts; i++) {
		assert_int_equal(ibcc_engine_set_ca_cc(e, fabric_port(t, i, 1), &ca), 0);
		assert_int_equal(ibcc_engine_set_cct(e, fabric_port(t, i, 1), &cct), 0);
	}
	for (unsigned int i = c->n_hosts; i < c->n_hosts + c->n_switches; i++) {
		struct ibcc_cc_sw_setting sw = { .Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL,
						 .Victim_Mask = mask[i],
						 .Threshold = (uint8_t)c->threshold,
						 .Packet_Size = (uint8_t)c->packet_size,
						 .Marking_Rate = (uint16_t)c->marking_rate };

		assert_int_equal(ibcc_engine_set_switch_cc(e, i, &sw), 0);
	}
}

static void add_flows(struct ibcc_engine *e, const struct ibcc_topo *t, const struct ref_case *c)
{
	static const enum ibcc_arrivals arrivals[] = {
		[REF_BACKLOGGED] = IBCC_ARRIVALS_BACKLOGGED,
		[REF_PERIODIC] = IBCC_ARRIVALS_PERIODIC,
		[REF_EXPONENTIAL] = IBCC_ARRIVALS_EXPONENTIAL,
		[REF_CLOSED] = IBCC_ARRIVALS_CLOSED,
	};

	for (unsigned int i = 0; i < c->n_flows; i++) {
		const struct ref_flow *f = &c->flow[i];
		struct ibcc_flow_spec s = { .arrivals = arrivals[f->arrivals],
					    .rate_mbps = f->rate,
					    .packet_bytes = f->packet,
					    .sl = (uint8_t)f->sl,
					    .message_bytes = f->message *
							     (f->packet ? f->packet : c->packet),
					    .window = f->window,
					    .start_ps = f->start,
					    .stop_ps = f->stop,
					    .on_ps = f->on,
					    .off_ps = f->off };
		uint32_t to = f->all ? IBCC_NONE : fabric_port(t, f->to, 1);

		if (f->all && f->to != f->from)
			ibcc_topo_node_text(t, f->to, s.not_to);
		assert_int_equal(ibcc_engine_add_flow(e, &s, fabric_port(t, f->from, 1), to), i);
	}
}

/* Events and SLs of paths as a scenario has them. */
static void load(struct ibcc_engine *e, struct ibcc_topo *t, const struct ref_case *c)
{
	static const enum ibcc_event_kind kinds[] = {
		[REF_SINK] = IBCC_EVENT_SINK_RATE,      [REF_RATE] = IBCC_EVENT_LINK_RATE,
		[REF_SEND_RATE] = IBCC_EVENT_SEND_RATE, [REF_LONGER] = IBCC_EVENT_SEND_DELAY,
		[REF_DOWN] = IBCC_EVENT_LINK_DOWN,      [REF_UP] = IBCC_EVENT_LINK_UP,
	};
	struct ibcc_event_spec event[REF_CHANGES] = { 0 };
	struct ibcc_scenario s = { .topo = t, .n_events = c->n_changes, .event = event };
	unsigned int num[REF_LINKS][2];

	number(c, num);
	for (unsigned int i = 0; i < c->n_changes; i++) {
		const struct ref_change *v = &c->change[i];
		unsigned int link = v->port / 2, end = v->port % 2;

		event[i] = (struct ibcc_event_spec){ .at_ps = v->at,
						     .kind = kinds[v->what],
						     .port = (uint8_t)num[link][end],
						     .value = (uint32_t)v->value };
		ibcc_topo_node_text(t, c->link[link].end[end], event[i].node);
	}
	for (unsigned int i = 0; c->paths && i < c->n_hosts * c->n_hosts; i++) {
		unsigned int from = i / c->n_hosts, to = i % c->n_hosts;

		assert_int_equal(ibcc_route_set_sl(t, &s.sls, fabric_port(t, from, 1),
						   fabric_port(t, to, 1), c->path_sl[from][to]),
				 0);
	}
	assert_int_equal(ibcc_engine_load(e, &s, NULL), 0);
	ibcc_route_sls_fini(&s.sls);
}

/* Packets that were received in the window, of each flow and then by each host; messages since the
 * start, and their latencies' sum.
 */
struct counts {
	uint64_t n[REF_FLOWS + REF_NODES], messages[REF_FLOWS], messages_ns[REF_FLOWS];
};

static unsigned int n_counts(const struct ref_case *c)
{
	return c->n_flows + c->n_hosts;
}

/* Data packets until now, by flow and by host. */
static void read_engine(struct ibcc_engine *e, const struct ibcc_topo *t, const struct ref_case *c,
			uint64_t n[REF_FLOWS + REF_NODES])
{
	struct ibcc_engine_port p;

	for (unsigned int i = 0; i < c->n_flows; i++)
		n[i] = engine_flow_read(e, i).received_pkts;
	for (unsigned int i = 0; i < c->n_hosts; i++) {
		assert_int_equal(ibcc_engine_port_read(e, fabric_port(t, i, 1), &p), 0);
		n[c->n_flows + i] = p.rcv_data_pkts;
	}
}

static void read_reference(const struct ref *r, const struct ref_case *c,
			   uint64_t n[REF_FLOWS + REF_NODES])
{
	for (unsigned int i = 0; i < c->n_flows; i++)
		n[i] = ref_flow_count(r, i).received;
	for (unsigned int i = 0; i < c->n_hosts; i++)
		n[c->n_flows + i] = ref_host_count(r, i);
}

static struct counts by_engine(const struct draw *d, uint64_t seed)
{
	struct ibcc_cc_port_mask mask[REF_NODES] = { 0 };
	struct ibcc_topo *t = topo_of(&d->c, mask);
	struct ibcc_model m = model_of(d);
	uint64_t before[REF_FLOWS + REF_NODES];
	struct counts n = { 0 };
	struct ibcc_engine *e;

	if (d->c.vls)
		set_lanes(t, &d->c);
	e = engine_new(t, &m, seed);
	for (unsigned int i = 0; i < d->c.n_hosts + d->c.n_switches; i++)
		if (d->c.buffer[i])
			assert_int_equal(ibcc_engine_set_buffer(e, i, d->c.buffer[i]), 0);
	set_cc(e, t, &d->c, mask);
	for (unsigned int i = 0; i < d->c.n_hosts; i++)
		if (d->c.sink[i])
			assert_int_equal(
				ibcc_engine_set_sink_rate(e, fabric_port(t, i, 1), d->c.sink[i]),
				0);
	load(e, t, &d->c);
	add_flows(e, t, &d->c);
	engine_run(e, d->from);
	read_engine(e, t, &d->c, before);
	engine_run(e, d->until);
	read_engine(e, t, &d->c, n.n);
	for (unsigned int i = 0; i < n_counts(&d->c); i++)
		n.n[i] -= before[i];
	for (unsigned int i = 0; i < d->c.n_flows; i++) {
		struct ibcc_engine_flow f = engine_flow_read(e, i);

		n.messages[i] = f.received_messages;
		n.messages_ns[i] = f.message_latency_sum_ps / 1000;
	}
	ibcc_engine_free(e);
	ibcc_topo_free(t);
	return n;
}

static struct counts by_reference(const struct draw *d)
{
	struct ref *r = ref_new(&d->c);
	uint64_t before[REF_FLOWS + REF_NODES];
	struct counts n = { 0 };

	ref_run(r, d->from);
	read_reference(r, &d->c, before);
	ref_run(r, d->until);
	read_reference(r, &d->c, n.n);
	for (unsigned int i = 0; i < n_counts(&d->c); i++)
		n.n[i] -= before[i];
	for (unsigned int i = 0; i < d->c.n_flows; i++) {
		struct ref_count f = ref_flow_count(r, i);

		n.messages[i] = f.messages;
		n.messages_ns[i] = f.message_latency / 1000;
	}
	ref_free(r);
	return n;
}

/* Two flows into one sink start at once, so that headers of both come when the sink's port has just
 * sent a packet: it is to choose with both of them in its backlog, 6222 bytes, and to mark.
 */
static void a_port_chooses_last(void **state)
{
	struct draw d = { .c = a_star(3, 32000), .until = FIRST + T };
	struct ibcc_cc_port_mask mask[REF_NODES] = { 0 };
	struct ibcc_engine *e;
	struct ibcc_topo *t;
	struct ibcc_model m;

	(void)state;
	flow(&d.c, 1, 0);
	flow(&d.c, 2, 0);
	d.c.threshold = 8;
	d.c.mark_reference = 10000;
	t = topo_of(&d.c, mask);
	m = model_of(&d);
	e = engine_new(t, &m, 1);
	set_cc(e, t, &d.c, mask);
	add_flows(e, t, &d.c);
	engine_run(e, d.until);
	assert_int_equal(count(&d.c, d.until, 1).fecn, 1);
	assert_int_equal(engine_flow_read(e, 1).fecn, 1);
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

/* ---- Both ---- */

/* Within 1 %, but for two packets: one at each end of the window. */
static double tolerance(uint64_t n)
{
	return n * 0.01 > 2 ? n * 0.01 : 2;
}

static bool is_near(uint64_t a, uint64_t b)
{
	return fabs((double)a - (double)b) <= tolerance(b);
}

static bool is_within(uint64_t n, uint64_t least, uint64_t most)
{
	return (double)n >= (double)least - tolerance(least) &&
	       (double)n <= (double)most + tolerance(most);
}

static void print_case(const struct draw *d)
{
	static const char *const arrivals[] = { "backlogged", "periodic", "exponential", "closed" };
	static const char *const changes[] = { "sink rate", "link rate", "rate",
					       "delay",     "link down", "link up" };
	const struct ref_case *c = &d->c;

	print_message("  %u hosts, %u switches; packets %u + %u, CNPs %u; buffers %u, hosts' %u\n",
		      c->n_hosts, c->n_switches, c->packet, c->header, c->cnp, c->switch_buffer,
		      c->host_buffer);
	print_message("  delays %llu, switch %llu, credit %llu, BECN %llu ps; %s, %s; window %llu "
		      "to %llu ps\n",
		      (unsigned long long)c->link_delay, (unsigned long long)c->switch_delay,
		      (unsigned long long)c->credit_delay, (unsigned long long)c->becn_delay,
		      c->round_robin ? "round robin" : "by arrival", c->acks ? "ACKs" : "no ACKs",
		      (unsigned long long)d->from, (unsigned long long)d->until);
	print_message("  %u VLs%s, tables of %u and %u, limit %u; PAUSE %d, headroom %u, XON %u\n",
		      c->vls, c->maps ? " by input and output" : "", c->high.n, c->low.n,
		      (unsigned int)c->high_limit, c->pause.on, c->pause.headroom, c->pause.xon);
	print_message("  outputs serve %s\n", c->fifo ? "in order of arrival" : "inputs in turn");
	for (unsigned int i = 0; i < c->n_changes; i++)
		print_message("  at %llu ps %s of the port of %u on link %u-%u: %llu\n",
			      (unsigned long long)c->change[i].at, changes[c->change[i].what],
			      c->link[c->change[i].port / 2].end[c->change[i].port % 2],
			      c->link[c->change[i].port / 2].end[0],
			      c->link[c->change[i].port / 2].end[1],
			      (unsigned long long)c->change[i].value);
	for (unsigned int i = 0; c->paths && i < c->n_hosts * c->n_hosts; i++)
		print_message("%s%u%s", i ? i % c->n_hosts ? " " : "; " : "  SLs of paths: ",
			      c->path_sl[i / c->n_hosts][i % c->n_hosts],
			      i == c->n_hosts * c->n_hosts - 1 ? "\n" : "");
	for (unsigned int i = 0; i < c->n_links; i++)
		print_message("  link %u-%u %u Mb/s, Victim_Mask %d %d, sink %u\n",
			      c->link[i].end[0], c->link[i].end[1], c->link[i].rate,
			      c->link[i].victim_mask[0], c->link[i].victim_mask[1],
			      i < c->n_hosts ? c->sink[i] : 0);
	print_message("  threshold %u of %u, hysteresis %u, size %u, rate %u; per %s: increase %u, "
		      "timer %u, min %u, limit %u, entry 1 %u:%u\n",
		      c->threshold, c->mark_reference, c->hysteresis, c->packet_size,
		      c->marking_rate, c->per_sl ? "SL" : "QP", c->increase, c->timer, c->min,
		      c->limit, c->cct[1].shift, c->cct[1].multiplier);
	if (c->dcqcn.on) {
		const struct ibcc_dcqcn *q = &d->d;
		const struct ibcc_dcqcn_rp *p = &q->rp;

		print_message(
			"  DCQCN: average %u %u, source only %d, profiles %d %u %u %u and %d %u "
			"%u %u, CNPs each %u us per %s, limiters per %s\n",
			q->aqs_weight, q->aqs_time, q->source_only, q->profile[0].percentage,
			q->profile[0].min, q->profile[0].max, q->profile[0].percent,
			q->profile[1].percentage, q->profile[1].min, q->profile[1].max,
			q->profile[1].percent, q->min_time_between_cnps_us,
			q->cnp_per_port ? "port" : "QP", q->shaper_per_lid ? "LID" : "QP");
		print_message("  time %u us, bytes %u, threshold %u, rates %u %u %u, increases %u "
			      "%u, gd %u, least %u %%, g %u, periods %u %u us, alpha %u, clamps %d "
			      "%d\n",
			      p->rpg_time_reset_us, p->rpg_byte_reset_bytes, p->rpg_threshold,
			      p->rpg_max_rate_mbps, p->rpg_min_rate_mbps,
			      p->rate_to_set_on_first_cnp_mbps, p->rpg_ai_rate_mbps,
			      p->rpg_hai_rate_mbps, p->rpg_gd, p->rpg_min_dec_fac, p->dce_tcp_g,
			      p->dce_tcp_rtt_us, p->rate_reduce_monitor_period_us,
			      p->initial_alpha_value, p->clamp_tgt_rate,
			      p->clamp_tgt_rate_after_time_inc);
	}
	for (unsigned int i = 0; i < c->n_flows; i++)
		print_message(
			"  flow %u: %u to %s%u, SL %u, %s, %u Mb/s, packets %u, messages %u x %u, "
			"from %llu to %llu ps, on %llu, off %llu\n",
			i, c->flow[i].from, c->flow[i].all ? "all but " : "", c->flow[i].to,
			c->flow[i].sl, arrivals[c->flow[i].arrivals], c->flow[i].rate,
			c->flow[i].packet, c->flow[i].window, c->flow[i].message,
			(unsigned long long)c->flow[i].start, (unsigned long long)c->flow[i].stop,
			(unsigned long long)c->flow[i].on, (unsigned long long)c->flow[i].off);
}

/* Closed flows of the same packets whose messages differ in number, or in latency by more than 1 %
 * and 1 us: chance may have the packets of other flows come in another order.
 */
static unsigned int late(const struct draw *d, uint64_t seed, const struct counts *e,
			 const struct counts *r)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < d->c.n_flows; i++) {
		double ns = (double)r->messages_ns[i];

		if (e->messages[i] == r->messages[i] &&
		    fabs((double)e->messages_ns[i] - ns) <= 0.01 * ns + 1000)
			continue;
		print_message("seed %llu flow %u: %llu messages, %llu ns, by the reference %llu, "
			      "%llu ns\n",
			      (unsigned long long)seed, i, (unsigned long long)e->messages[i],
			      (unsigned long long)e->messages_ns[i],
			      (unsigned long long)r->messages[i],
			      (unsigned long long)r->messages_ns[i]);
		n++;
	}
	return n;
}

enum draws { PLAIN, MORE, LANES, ALL };

static struct draw draw(uint64_t seed, bool dcqcn, enum draws draws)
{
	switch (draws) {
	case PLAIN: return ref_draw(seed, dcqcn, true);
	case MORE: return ref_draw(seed, dcqcn, false);
	case LANES: return ref_draw_lanes(seed, dcqcn);
	case ALL: break;
	}
	return ref_draw_all(seed, dcqcn);
}

/* Flows that differ by more than what chance makes of either. */
static unsigned int differ(uint64_t seed, bool dcqcn, enum draws draws, unsigned int *exact)
{
	struct counts e[SPREAD], r[SPREAD];
	struct draw d = draw(seed, dcqcn, draws);
	unsigned int n = 0, all = 0;

	for (unsigned int k = 0; k < (n ? SPREAD : 1u); k++) {
		ref_vary(&d, seed + k * 1000003ull);
		e[k] = by_engine(&d, seed + k * 1000003ull);
		r[k] = by_reference(&d);
		for (unsigned int i = 0; i < n_counts(&d.c) && !k; i++) {
			n += !is_near(e[0].n[i], r[0].n[i]);
			all += e[0].n[i] == r[0].n[i];
		}
	}
	*exact += all == n_counts(&d.c);
	if (all == n_counts(&d.c))
		return late(&d, seed, &e[0], &r[0]);
	if (!n)
		return 0;
	n = 0;
	for (unsigned int i = 0; i < n_counts(&d.c); i++) {
		bool flow = i < d.c.n_flows;
		uint64_t le = UINT64_MAX, me = 0, lr = UINT64_MAX, mr = 0;

		for (unsigned int k = 0; k < SPREAD; k++) {
			le = e[k].n[i] < le ? e[k].n[i] : le;
			me = e[k].n[i] > me ? e[k].n[i] : me;
			lr = r[k].n[i] < lr ? r[k].n[i] : lr;
			mr = r[k].n[i] > mr ? r[k].n[i] : mr;
		}
		if (is_near(e[0].n[i], r[0].n[i]))
			continue;
		print_message("seed %llu %s %u: %llu packets (%llu to %llu), by the reference "
			      "%llu (%llu to %llu)\n",
			      (unsigned long long)seed, flow ? "flow" : "host",
			      flow ? i : i - d.c.n_flows, (unsigned long long)e[0].n[i],
			      (unsigned long long)le, (unsigned long long)me,
			      (unsigned long long)r[0].n[i], (unsigned long long)lr,
			      (unsigned long long)mr);
		n += !is_within(e[0].n[i], lr, mr) && !is_within(r[0].n[i], le, me);
	}
	ref_vary(&d, seed);
	if (n || getenv("CASES"))
		print_case(&d);
	return n;
}

static uint64_t given(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static void cases(uint64_t first, uint64_t n, bool dcqcn, enum draws draws)
{
	unsigned int failed = 0, exact = 0;

	print_message("SEED=%llu CASES=%llu%s\n", (unsigned long long)first, (unsigned long long)n,
		      dcqcn ? ", DCQCN" : "");
	for (uint64_t seed = first; seed < first + n; seed++) {
		if (!differ(seed, dcqcn, draws, &exact))
			continue;
		failed++;
		print_message("FAILED: SEED=%llu CASES=1\n", (unsigned long long)seed);
	}
	print_message("%u of %llu cases failed; in %u all flows and hosts have the same packets\n",
		      failed, (unsigned long long)n, exact);
	assert_int_equal(failed, 0);
	/* Few have things at one time whose order the model leaves open. A fault that lasts until
	 * the next event changes rates by less than chance does, but in many cases.
	 */
	assert_in_range(exact, n - n * 3 / 100 - (n < 2 ? n : 2), n);
}

static void cases_by_chance(void **state)
{
	(void)state;
	cases(given("SEED", DEFAULT_SEED), given("CASES", DEFAULT_CASES), false, MORE);
}

/* Cases in which the two once differed, by what they have in common. */
static void cases_that_differed(void **state)
{
	static const struct {
		uint64_t seed;
		bool dcqcn;
		enum draws draws;
	} all[] = {
		/* An ACK comes from an input whose turn is before that of a packet without credits.
		 */
		{ 400014, false, PLAIN },
		{ 400233, false, PLAIN },
		{ 400098, true, PLAIN },
		/* A host has answers on several service levels to send. */
		{ 400193, false, PLAIN },
		{ 400037, true, PLAIN },
		/* Ports look at their tables in vain: that moves no turn. */
		{ 403037, false, LANES },
		{ 403089, false, LANES },
		/* With PAUSE, packets are marked from Packet_Size on. */
		{ 403485, false, LANES },
		/* What an idle port takes is no queue, with PAUSE and with tables. */
		{ 403016, true, LANES },
		{ 403018, true, LANES },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		cases(all[i].seed, 1, all[i].dcqcn, all[i].draws);
}

static void dcqcn_by_chance(void **state)
{
	(void)state;
	cases(given("SEED", DCQCN_SEED), given("CASES", DCQCN_CASES), true, MORE);
}

static void lanes_by_chance(void **state)
{
	(void)state;
	cases(given("SEED", LANES_SEED), given("CASES", LANES_CASES), false, LANES);
	cases(given("SEED", LANES_SEED), given("CASES", LANES_CASES), true, LANES);
}

static void all_by_chance(void **state)
{
	(void)state;
	cases(given("SEED", ALL_SEED), given("CASES", ALL_CASES), false, ALL);
	cases(given("SEED", ALL_SEED), given("CASES", ALL_CASES), true, ALL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_chooses_last), cmocka_unit_test(cases_that_differed),
		cmocka_unit_test(cases_by_chance),     cmocka_unit_test(dcqcn_by_chance),
		cmocka_unit_test(lanes_by_chance),     cmocka_unit_test(all_by_chance),
	};

	return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
