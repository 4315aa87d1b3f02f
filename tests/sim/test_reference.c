/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The engine against the small reference simulator (reference.h), on cases by chance; and that
 * against arithmetic.
 *
 * SEED=n makes n the seed of the first case, CASES=n their number: a case that fails prints what
 * repeats it alone.
 */
#include <stdlib.h>

#include "lib/fabric/rng.h"
#include "tests/unit/engines.h"

#include "reference.h"

#define US 1000000ull

enum { DEFAULT_SEED = 1, DEFAULT_CASES = 200, SPREAD = 5, SWITCH_PORTS = 16 };

/* ---- The reference by arithmetic ---- */

/* Hosts 0 .. n - 1 at one switch. */
static struct ref_case a_star(unsigned int n, uint32_t rate)
{
	struct ref_case c = { .n_hosts = n,
			      .n_switches = 1,
			      .n_links = n,
			      .packet = 2048,
			      .header = 26,
			      .cnp = 30,
			      .switch_buffer = 32768,
			      .host_buffer = 32768,
			      .link_delay = 25000,
			      .switch_delay = 100000,
			      .credit_delay = 100000,
			      .becn_delay = US,
			      .mark_reference = 32768,
			      .hysteresis = 500 };

	for (unsigned int i = 0; i < n; i++)
		c.link[i] = (struct ref_link){ .end = { i, n }, .rate = rate };
	return c;
}

static unsigned int flow(struct ref_case *c, unsigned int from, unsigned int to)
{
	c->flow[c->n_flows] = (struct ref_flow){ .from = from, .to = to };
	return c->n_flows++;
}

/* What a flow has come to by then. */
static struct ref_count count(const struct ref_case *c, uint64_t until, unsigned int of)
{
	struct ref *r = ref_new(c);
	struct ref_count n;

	ref_run(r, until);
	n = ref_flow_count(r, of);
	ref_free(r);
	return n;
}

/* 2074 bytes at 32 Gb/s take 518.5 ns. The first packet has come after that, two links and the
 * switch.
 */
#define T     518500ull
#define FIRST (T + 2 * 25000 + 100000)

static void line_rate(void **state)
{
	struct ref_case c = a_star(2, 32000);

	(void)state;
	flow(&c, 0, 1);
	assert_int_equal(count(&c, FIRST - 1, 0).received, 0);
	assert_int_equal(count(&c, FIRST, 0).received, 1);
	assert_int_equal(count(&c, FIRST + 999 * T - 1, 0).received, 999);
	assert_int_equal(count(&c, FIRST + 999 * T, 0).received, 1000);
	/* A periodic flow of 12.5 Gb/s: a packet every 1327.36 ns. */
	c.flow[0].arrivals = REF_PERIODIC;
	c.flow[0].rate = 12500;
	assert_int_equal(count(&c, FIRST + 999 * 1327360ull - 1, 0).received, 999);
	assert_int_equal(count(&c, FIRST + 999 * 1327360ull, 0).received, 1000);
	/* 10^5 exponential packets: their number's standard deviation is 0.3 %. */
	c.flow[0].arrivals = REF_EXPONENTIAL;
	assert_near((double)count(&c, 100000 * 1327360ull, 0).received, 100000, 0.01);
}

/* A packet cuts through: its time on the slowest link, and the delays. */
static void latency_over_switches(void **state)
{
	(void)state;
	for (unsigned int k = 1; k <= 4; k++) {
		for (unsigned int slow = 0; slow <= k; slow++) {
			struct ref_case c = a_star(2, 32000);
			struct ref_count n;

			c.n_switches = k;
			for (unsigned int i = 1; i < k; i++)
				c.link[c.n_links++] =
					(struct ref_link){ .end = { i + 1, i + 2 }, .rate = 32000 };
			c.link[1].end[1] = k + 1;
			c.link[slow == k ? 1 : slow + !!slow].rate /= 4;
			flow(&c, 0, 1);
			c.flow[0].arrivals = REF_PERIODIC;
			c.flow[0].rate = 1000;
			n = count(&c, 1000 * US, 0);
			assert_int_equal(n.received, 61); /* one each 16.592 us */
			assert_int_equal(n.latency, 61 * (4 * T + (k + 1) * 25000 + k * 100000));
		}
	}
}

/* n sources share a sink packet by packet. */
static void equal_shares(void **state)
{
	struct ref_case c = a_star(9, 32000);

	(void)state;
	for (unsigned int i = 1; i < 9; i++)
		flow(&c, i, 0);
	for (unsigned int i = 0; i < 8; i++)
		assert_in_range(count(&c, FIRST + 799 * T, i).received, 99, 101);
}

/* Credits for a buffer of n packets, 33 blocks each, come back in a round trip. */
static void buffer_by_round_trip(void **state)
{
	(void)state;
	for (unsigned int n = 1; n <= 16; n++) {
		struct ref_case c = a_star(2, 32000);
		uint64_t link = 10 * US, trip = 2 * link + 100000 + 100000 + T;

		c.link_delay = link;
		c.switch_buffer = n * 33 * 64 + 63;
		c.host_buffer = 1000000;
		flow(&c, 0, 1);
		/* The last of the 100th buffer. */
		link = T + 2 * link + 100000 + (n - 1) * T + 99 * trip;
		assert_int_equal(count(&c, link - 1, 0).received, 100 * n - 1);
		assert_int_equal(count(&c, link, 0).received, 100 * n);
	}
}

/* A host that takes 4 Gb/s of payload: a packet each 4.096 us. */
static void slow_sink(void **state)
{
	struct ref_case c = a_star(2, 32000);

	(void)state;
	flow(&c, 0, 1);
	c.sink[1] = 4000;
	assert_int_equal(count(&c, FIRST + 500 * 4096000ull - 1, 0).received, 499);
	assert_int_equal(count(&c, FIRST + 500 * 4096000ull, 0).received, 500);
}

/* With an entry S:M, a packet each (1 + M / 2^S) T: of each flow, or of all of a service level. */
static void throttled(void **state)
{
	struct ref_case c = a_star(3, 32000);
	uint64_t period = T + T / 4 * 6; /* 2.5 T */

	(void)state;
	flow(&c, 0, 1);
	c.min = c.limit = 1;
	c.cct[1] = (struct ref_entry){ 2, 6 };
	assert_int_equal(count(&c, FIRST + 999 * period - 1, 0).received, 999);
	assert_int_equal(count(&c, FIRST + 999 * period, 0).received, 1000);
	flow(&c, 0, 2);
	assert_int_equal(count(&c, FIRST + 999 * period, 0).received, 1000);
	assert_int_equal(count(&c, FIRST + 999 * period + T, 1).received, 1000);
	c.per_sl = true;
	for (unsigned int i = 0; i < 2; i++)
		assert_in_range(count(&c, FIRST + 999 * period, i).received, 499, 501);
	assert_int_equal(count(&c, FIRST + 999 * period, 0).received +
				 count(&c, FIRST + 999 * period, 1).received,
			 1000);
	c.flow[1].sl = 1;
	assert_int_equal(count(&c, FIRST + 999 * period, 0).received, 1000);
}

/* Two backlogged flows of a host have half of its link each, in either order. */
static void turns_at_a_host(void **state)
{
	struct ref_case c = a_star(3, 32000);

	(void)state;
	flow(&c, 0, 1);
	flow(&c, 0, 2);
	for (unsigned int i = 0; i < 2; i++) {
		c.round_robin = i;
		assert_in_range(count(&c, FIRST + 999 * T, 0).received, 499, 501);
		assert_in_range(count(&c, FIRST + 999 * T, 1).received, 499, 501);
	}
}

/* Eight sources fill a sink's output, which marks one packet of n + 1; a CNP for each lifts the
 * index by 3, to the limit at most.
 */
static void marks_and_notifications(void **state)
{
	struct ref_case c = a_star(9, 32000);

	(void)state;
	for (unsigned int i = 1; i < 9; i++)
		flow(&c, i, 0);
	c.threshold = 15;
	c.increase = 3;
	c.limit = 100;
	for (unsigned int n = 0; n < 20; n++) {
		uint64_t fecn = 0, becn = 0, packets = 0;

		c.marking_rate = n;
		for (unsigned int i = 0; i < 8; i++) {
			struct ref_count v = count(&c, FIRST + 999 * T, i);

			packets += v.received;
			fecn += v.fecn;
			becn += v.becn;
			assert_int_equal(v.ccti, v.becn * 3 < 100 ? v.becn * 3 : 100);
		}
		assert_int_equal(packets, 1000);
		assert_in_range(fecn, 1000 / (n + 1) - 1, 1000 / (n + 1) + 1);
		assert_in_range(becn, fecn - 4, fecn); /* some are under way, for 1.6 us */
	}
	c.packet_size = 34; /* a packet has 33 blocks */
	assert_int_equal(count(&c, FIRST + 999 * T, 0).fecn, 0);
}

/* The port to a slow sink waits for credits and is a victim but for its first packets. */
static void victims(void **state)
{
	struct ref_case c = a_star(3, 32000);
	struct ref_count n;

	(void)state;
	flow(&c, 1, 0);
	flow(&c, 2, 0);
	c.sink[0] = 8000;
	c.threshold = 8;
	n = count(&c, 4000 * US, 0);
	assert_in_range(n.received, 970, 980); /* half of one each 2.048 us */
	assert_in_range(n.fecn, 0, 20);
	c.link[0].victim_mask[1] = true;
	n = count(&c, 4000 * US, 0);
	assert_in_range(n.fecn, n.received - 30, n.received);
}

/* A lone BECN: the index falls by one each 7 * 1.024 us. Of packets of three sources that come at
 * once, one leaves, the other two are more than 3000 bytes, and the last one is not.
 */
static void timer_lowers_the_index(void **state)
{
	struct ref_case c = a_star(4, 32000);
	/* The packet that is marked is the second one; then it is taken, answered, and the
	 * CNP of 7.5 ns crosses both links.
	 */
	uint64_t at = FIRST + T + US + 7500 + 2 * 25000 + 100000, fall = 7 * 1024000;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		flow(&c, i + 1, 0);
		c.flow[i].arrivals = REF_PERIODIC;
		c.flow[i].rate = 10; /* the next ones come after 1.66 ms */
	}
	c.threshold = 15;
	c.mark_reference = 16 * 3000;
	c.hysteresis = 1000;
	c.increase = 3;
	c.limit = 100;
	c.timer = 7;
	assert_int_equal(count(&c, at - 1, 1).ccti, 0);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(count(&c, at + i * fall, 1).ccti, 3 - i);
		assert_int_equal(count(&c, at + (i + 1) * fall - 1, 1).ccti, 3 - i);
	}
	assert_int_equal(count(&c, 100 * US, 0).becn, 0);
	assert_int_equal(count(&c, 100 * US, 2).becn, 0);
}

/* ---- Cases by chance ---- */

struct draw {
	struct ref_case c;
	uint64_t from, until; /* of the window in which packets are counted */
};

static unsigned int among(uint64_t *rng, unsigned int low, unsigned int high)
{
	return low + rng_below(rng, high - low + 1);
}

static bool percent(uint64_t *rng, unsigned int p)
{
	return rng_below(rng, 100) < p;
}

/* Hosts at switches in a line, or at the two leaves of a tree. */
static void draw_fabric(struct ref_case *c, uint64_t *rng)
{
	static const uint32_t rates[] = { 8000, 16000, 32000, 54545, 96969 };
	uint32_t rate = rates[rng_below(rng, 5)];
	bool mixed = percent(rng, 30), tree;
	unsigned int masked = rng_below(rng, 3), at;

	c->n_hosts = among(rng, 2, 9);
	c->n_switches = among(rng, 1, 3);
	tree = c->n_switches == 3 && percent(rng, 50);
	for (unsigned int i = 0; i < c->n_hosts; i++) {
		at = tree ? among(rng, 1, 2) : rng_below(rng, c->n_switches);
		c->link[c->n_links++] =
			(struct ref_link){ .end = { i, c->n_hosts + at },
					   .rate = mixed && percent(rng, 40) ? rate / 4 : rate,
					   .victim_mask[1] = masked > 0 };
	}
	for (unsigned int i = 1; i < c->n_switches; i++)
		c->link[c->n_links++] =
			(struct ref_link){ .end = { c->n_hosts + (tree ? 0 : i - 1),
						    c->n_hosts + i },
					   .rate = percent(rng, 70) ? rate : rate * 2,
					   .victim_mask = { masked > 1, masked > 1 } };
}

static void draw_model(struct ref_case *c, uint64_t *rng)
{
	c->packet = 256u << rng_below(rng, 5);
	c->header = 26;
	c->cnp = 30;
	/* From two packets on: with less, a link with its delays stands still most of the time. */
	c->switch_buffer = (c->packet + 64) * among(rng, 2, percent(rng, 50) ? 6 : 40);
	c->host_buffer = (c->packet + 64) * among(rng, 2, percent(rng, 50) ? 6 : 40);
	c->link_delay = percent(rng, 80) ? 25000 : rng_below(rng, 1000000);
	c->switch_delay = rng_below(rng, 200001);
	c->credit_delay = rng_below(rng, 200001);
	c->becn_delay = percent(rng, 80) ? 1000000 : rng_below(rng, 5000000);
	c->round_robin = percent(rng, 50);
	for (unsigned int i = 0; i < c->n_hosts; i++)
		if (percent(rng, 15))
			c->sink[i] = c->link[i].rate / 100 * among(rng, 20, 95);
}

static void draw_cc(struct ref_case *c, uint64_t *rng)
{
	unsigned int step = among(rng, 1, 8);

	if (percent(rng, 30))
		return;
	c->threshold = among(rng, 1, 15);
	c->mark_reference =
		percent(rng, 50) ? c->switch_buffer : (c->packet + 64) * among(rng, 4, 64);
	c->hysteresis = rng_below(rng, 1001);
	c->packet_size = percent(rng, 90) ? 0 : among(rng, 1, 64);
	c->marking_rate = percent(rng, 60) ? 0 : among(rng, 1, 10);
	c->per_sl = percent(rng, 30);
	c->increase = among(rng, 1, 6);
	c->timer = percent(rng, 90) ? among(rng, 1, 150) : 0;
	c->min = percent(rng, 80) ? 0 : among(rng, 1, 8);
	c->limit = among(rng, 1, 127);
	for (unsigned int i = 1; i <= c->limit; i++)
		c->cct[i] = (struct ref_entry){ step % 4, i * step };
}

static void draw_flow(struct ref_case *c, uint64_t *rng)
{
	struct ref_flow *f = &c->flow[c->n_flows];

	f->from = rng_below(rng, c->n_hosts);
	f->to = percent(rng, 50) ? 0 : rng_below(rng, c->n_hosts);
	f->sl = percent(rng, 80) ? 0 : among(rng, 1, 15);
	f->arrivals = rng_below(rng, 3);
	f->rate = c->link[f->from].rate / 100 * among(rng, 4, 100);
	if (f->from == f->to)
		return;
	for (unsigned int i = 0; i < c->n_flows; i++)
		if (c->flow[i].from == f->from && c->flow[i].to == f->to && c->flow[i].sl == f->sl)
			return;
	c->n_flows++;
}

static struct draw draw(uint64_t seed)
{
	struct draw d = { 0 };
	uint64_t rng = seed, packet_ps;
	unsigned int tries;

	draw_fabric(&d.c, &rng);
	draw_model(&d.c, &rng);
	draw_cc(&d.c, &rng);
	tries = among(&rng, 1, 2 * d.c.n_hosts);
	for (unsigned int i = 0; i < tries || !d.c.n_flows; i++)
		draw_flow(&d.c, &rng);
	packet_ps = (d.c.packet + d.c.header) * 8000000ull / d.c.link[d.c.n_links - 1].rate;
	d.from = 500 * packet_ps;
	d.until = d.from + 2000 * packet_ps;
	return d;
}

/* Before the first packet that a switch's port marks, as the engine draws it. */
static unsigned int first_pass(const struct ref_case *c, uint64_t engine, unsigned int node,
			       unsigned int num)
{
	uint64_t port = 2 * c->n_hosts + (SWITCH_PORTS + 1) * (node - c->n_hosts) + num;
	uint64_t rng = (engine ^ 0x6d61726b) + (port << 32);

	return rng_below(&rng, c->marking_rate + 1);
}

static uint64_t exponential(uint64_t *state, uint64_t mean)
{
	static uint32_t table[257];

	for (unsigned int i = 0; !table[256] && i <= 256; i++)
		table[i] = (uint32_t)lround(log(1 + i / 256.0) * (1 << 24));
	return rng_exponential(table, state, mean);
}

/* The same case with other starts and other chances: those that the engine takes by its seed, so
 * that both see the same packets come.
 */
static void vary(struct draw *d, uint64_t seed)
{
	unsigned int used[REF_NODES] = { 0 }, node;
	uint64_t rng = ~seed, engine = seed, of_flow;

	engine = rng_next(&engine);
	d->c.gap = exponential;
	for (unsigned int i = 0; i < 2 * d->c.n_links; i++) {
		node = d->c.link[i / 2].end[i % 2];
		used[node]++;
		if (node >= d->c.n_hosts)
			d->c.link[i / 2].first_pass[i % 2] =
				first_pass(&d->c, engine, node, used[node]);
	}
	for (unsigned int i = 0; i < d->c.n_flows; i++) {
		of_flow = engine ^ (uint64_t)i << 32;
		d->c.flow[i].seed = rng_next(&of_flow);
		d->c.flow[i].start = rng_next(&rng) % (d->from / 10);
	}
}

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
		fabric_node(t, host ? IBCC_NODE_CA : IBCC_NODE_SWITCH, host ? 1 : SWITCH_PORTS,
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

static struct ibcc_model model_of(const struct ref_case *c)
{
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
	m.mark_reference_bytes = c->mark_reference;
	m.mark_hysteresis_permille = (uint16_t)c->hysteresis;
	m.hca_service = c->round_robin ? IBCC_HCA_ROUND_ROBIN : IBCC_HCA_ARRIVAL;
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
	};

	for (unsigned int i = 0; i < c->n_flows; i++) {
		const struct ref_flow *f = &c->flow[i];
		struct ibcc_flow_spec s = { .arrivals = arrivals[f->arrivals],
					    .rate_mbps = f->rate,
					    .sl = (uint8_t)f->sl,
					    .start_ps = f->start };

		assert_int_equal(ibcc_engine_add_flow(e, &s, fabric_port(t, f->from, 1),
						      fabric_port(t, f->to, 1)),
				 i);
	}
}

/* Packets of each flow that were received in the window. */
struct counts {
	uint64_t n[REF_FLOWS];
};

static struct counts by_engine(const struct draw *d, uint64_t seed)
{
	struct ibcc_cc_port_mask mask[REF_NODES] = { 0 };
	struct ibcc_topo *t = topo_of(&d->c, mask);
	struct ibcc_model m = model_of(&d->c);
	struct ibcc_engine *e = engine_new(t, &m, seed);
	struct counts n = { 0 };

	set_cc(e, t, &d->c, mask);
	for (unsigned int i = 0; i < d->c.n_hosts; i++)
		if (d->c.sink[i])
			assert_int_equal(
				ibcc_engine_set_sink_rate(e, fabric_port(t, i, 1), d->c.sink[i]),
				0);
	add_flows(e, t, &d->c);
	engine_run(e, d->from);
	for (unsigned int i = 0; i < d->c.n_flows; i++)
		n.n[i] = engine_flow_read(e, i).received_pkts;
	engine_run(e, d->until);
	for (unsigned int i = 0; i < d->c.n_flows; i++)
		n.n[i] = engine_flow_read(e, i).received_pkts - n.n[i];
	ibcc_engine_free(e);
	ibcc_topo_free(t);
	return n;
}

static struct counts by_reference(const struct draw *d)
{
	struct ref *r = ref_new(&d->c);
	struct counts n = { 0 };

	ref_run(r, d->from);
	for (unsigned int i = 0; i < d->c.n_flows; i++)
		n.n[i] = ref_flow_count(r, i).received;
	ref_run(r, d->until);
	for (unsigned int i = 0; i < d->c.n_flows; i++)
		n.n[i] = ref_flow_count(r, i).received - n.n[i];
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
	m = model_of(&d.c);
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
	static const char *const arrivals[] = { "backlogged", "periodic", "exponential" };
	const struct ref_case *c = &d->c;

	print_message("  %u hosts, %u switches; packets %u + %u, CNPs %u; buffers %u, hosts' %u\n",
		      c->n_hosts, c->n_switches, c->packet, c->header, c->cnp, c->switch_buffer,
		      c->host_buffer);
	print_message("  delays %llu, switch %llu, credit %llu, BECN %llu ps; %s; window %llu to "
		      "%llu ps\n",
		      (unsigned long long)c->link_delay, (unsigned long long)c->switch_delay,
		      (unsigned long long)c->credit_delay, (unsigned long long)c->becn_delay,
		      c->round_robin ? "round robin" : "by arrival", (unsigned long long)d->from,
		      (unsigned long long)d->until);
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
	for (unsigned int i = 0; i < c->n_flows; i++)
		print_message("  flow %u: %u to %u, SL %u, %s, %u Mb/s, from %llu ps on\n", i,
			      c->flow[i].from, c->flow[i].to, c->flow[i].sl,
			      arrivals[c->flow[i].arrivals], c->flow[i].rate,
			      (unsigned long long)c->flow[i].start);
}

/* Flows that differ by more than what chance makes of either. */
static unsigned int differ(uint64_t seed, unsigned int *exact)
{
	struct counts e[SPREAD], r[SPREAD];
	struct draw d = draw(seed);
	unsigned int n = 0, all = 0;

	for (unsigned int k = 0; k < (n ? SPREAD : 1u); k++) {
		vary(&d, seed + k * 1000003ull);
		e[k] = by_engine(&d, seed + k * 1000003ull);
		r[k] = by_reference(&d);
		for (unsigned int i = 0; i < d.c.n_flows && !k; i++) {
			n += !is_near(e[0].n[i], r[0].n[i]);
			all += e[0].n[i] == r[0].n[i];
		}
	}
	*exact += all == d.c.n_flows;
	if (!n)
		return 0;
	n = 0;
	for (unsigned int i = 0; i < d.c.n_flows; i++) {
		uint64_t le = UINT64_MAX, me = 0, lr = UINT64_MAX, mr = 0;

		for (unsigned int k = 0; k < SPREAD; k++) {
			le = e[k].n[i] < le ? e[k].n[i] : le;
			me = e[k].n[i] > me ? e[k].n[i] : me;
			lr = r[k].n[i] < lr ? r[k].n[i] : lr;
			mr = r[k].n[i] > mr ? r[k].n[i] : mr;
		}
		if (is_near(e[0].n[i], r[0].n[i]))
			continue;
		print_message("seed %llu flow %u: %llu packets (%llu to %llu), by the reference "
			      "%llu (%llu to %llu)\n",
			      (unsigned long long)seed, i, (unsigned long long)e[0].n[i],
			      (unsigned long long)le, (unsigned long long)me,
			      (unsigned long long)r[0].n[i], (unsigned long long)lr,
			      (unsigned long long)mr);
		n += !is_within(e[0].n[i], lr, mr) && !is_within(r[0].n[i], le, me);
	}
	vary(&d, seed);
	if (n || getenv("CASES"))
		print_case(&d);
	return n;
}

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static void cases_by_chance(void **state)
{
	uint64_t first = number("SEED", DEFAULT_SEED), n = number("CASES", DEFAULT_CASES);
	unsigned int failed = 0, exact = 0;

	(void)state;
	print_message("SEED=%llu CASES=%llu\n", (unsigned long long)first, (unsigned long long)n);
	for (uint64_t seed = first; seed < first + n; seed++) {
		if (!differ(seed, &exact))
			continue;
		failed++;
		print_message("FAILED: SEED=%llu CASES=1\n", (unsigned long long)seed);
	}
	print_message("%u of %llu cases failed; in %u all flows have the same packets\n", failed,
		      (unsigned long long)n, exact);
	assert_int_equal(failed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_rate),
		cmocka_unit_test(latency_over_switches),
		cmocka_unit_test(equal_shares),
		cmocka_unit_test(buffer_by_round_trip),
		cmocka_unit_test(slow_sink),
		cmocka_unit_test(throttled),
		cmocka_unit_test(turns_at_a_host),
		cmocka_unit_test(marks_and_notifications),
		cmocka_unit_test(victims),
		cmocka_unit_test(timer_lowers_the_index),
		cmocka_unit_test(a_port_chooses_last),
		cmocka_unit_test(cases_by_chance),
	};

	return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
