/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lanes: routes of a torus and of a dragonfly that take two VLs so that no outputs wait for each
 * other in a circle. The oracle follows every pair of hosts by the tables and takes lanes out of
 * the fabric that wait for no other one: none may be left. In the engine, that is a run without a
 * deadlock, and with one where the lanes are taken away.
 */
#include "tests/unit/scenarios.h"

#include <stdlib.h>

#include <ibcc/measure.h>

#include "tests/unit/engines.h"

#define ALL "traffic: [{from: all, to: all}]\n"

struct torus {
	const char *sizes;
	unsigned int n, size[4];
};

static const struct torus tori[] = {
	{ "5", 1, { 5 } },
	{ "6", 1, { 6 } },
	{ "[5, 5]", 2, { 5, 5 } },
	{ "[4, 7]", 2, { 4, 7 } },
	{ "[2, 6, 3]", 3, { 2, 6, 3 } },
	{ "[3, 2, 5, 4]", 4, { 3, 2, 5, 4 } },
};

static void load(struct ibcc_scenario *s, const char *shape, const char *more)
{
	char text[512];

	snprintf(text, sizeof(text), HEAD "topology: {%s}\n%s", shape, more);
	text_ok(text, s);
}

static void load_torus(struct ibcc_scenario *s, const struct torus *t, const char *more)
{
	char shape[128];

	snprintf(shape, sizeof(shape), "torus: {sizes: %s}, routes: datelines", t->sizes);
	load(s, shape, more);
}

/* What waits for what, by two lanes of each port. */
struct waits {
	uint32_t n;
	bool *on; /* by lane and lane */
};

/* The output of a switch, its place in the route from `from` on. */
static uint32_t lane_of(const struct ibcc_topo *t, const struct ibcc_route *r, unsigned int i,
			uint8_t sl)
{
	const struct ibcc_topo_port *out = &t->port[r->out[i]];
	uint8_t vl =
		ibcc_topo_vl(t, out->node, t->port[t->port[r->out[i - 1]].peer].num, out->num, sl);

	assert_true(vl < 2);
	return r->out[i] * 2 + vl;
}

static struct waits all_routes(const struct ibcc_scenario *s, bool lanes)
{
	const struct ibcc_topo *t = s->topo;
	struct waits w = { .n = 2 * t->n_ports };

	w.on = calloc((size_t)w.n * w.n, sizeof(*w.on));
	assert_non_null(w.on);
	for (uint32_t a = 0; a < t->n_nodes; a++)
		for (uint32_t b = 0; b < t->n_nodes; b++) {
			uint32_t from, to;
			struct ibcc_route r;
			uint8_t sl = 0;

			if (a == b || ibcc_topo_is_switch(t, a) || ibcc_topo_is_switch(t, b))
				continue;
			from = ibcc_topo_ca_port(t, a);
			to = ibcc_topo_ca_port(t, b);
			assert_int_equal(ibcc_route_follow(t, from, t->port[to].lid, &r), 0);
			if (ibcc_route_has_sls(&s->sls))
				sl = ibcc_route_sl(t, &s->sls, from, to);
			for (unsigned int i = 1; i + 1 < r.n; i++) {
				uint32_t x = lane_of(t, &r, i, sl), y = lane_of(t, &r, i + 1, sl);

				if (!lanes) {
					x &= ~1u;
					y &= ~1u;
				}
				w.on[x * w.n + y] = true;
			}
		}
	return w;
}

/* Lanes that are left when each that waits for none has been taken out, as often as there is one.
 */
static uint32_t left(struct waits w)
{
	bool *out = calloc(w.n, sizeof(*out)), again = true;
	uint32_t n = w.n;

	assert_non_null(out);
	while (again) {
		again = false;
		for (uint32_t x = 0; x < w.n; x++) {
			bool waits = false;

			for (uint32_t y = 0; y < w.n && !waits; y++)
				waits = w.on[x * w.n + y] && !out[y];
			if (out[x] || waits)
				continue;
			out[x] = again = true;
			n--;
		}
	}
	free(out);
	free(w.on);
	return n;
}

static void no_circle_in_a_torus(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(tori) / sizeof(tori[0]); i++) {
		struct ibcc_scenario s;
		bool long_ring = false;

		load_torus(&s, &tori[i], "model: {vls: 2}\n" ALL);
		for (unsigned int d = 0; d < tori[i].n; d++)
			long_ring |= tori[i].size[d] > 4;
		assert_int_equal(left(all_routes(&s, true)), 0);
		/* On one lane, each ring of more than four has a circle each way around. */
		assert_int_equal(left(all_routes(&s, false)) > 0, long_ring);
		ibcc_scenario_fini(&s);
	}
}

/* Each bit of a path's SL against the switches on the path: does it go from one end of a row to the
 * other in one step?
 */
static void sls_name_the_datelines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(tori) / sizeof(tori[0]); i++) {
		const struct torus *c = &tori[i];
		struct ibcc_scenario s;
		uint32_t n = 1, seen = 0;

		load_torus(&s, c, "model: {vls: 2}\n" ALL);
		for (unsigned int d = 0; d < c->n; d++)
			n *= c->size[d];
		for (uint32_t a = 0; a < n; a++)
			for (uint32_t b = 0; b < n; b++) {
				struct ibcc_route r = { .n = 0 };
				unsigned int want = 0, step;

				if (a != b)
					assert_int_equal(
						ibcc_route_follow(
							s.topo, ibcc_topo_ca_port(s.topo, a),
							s.topo->port[ibcc_topo_ca_port(s.topo, b)]
								.lid,
							&r),
						0);
				for (unsigned int k = 1; k + 1 < r.n; k++) {
					uint32_t x = s.topo->port[r.out[k]].node - n;
					uint32_t y = s.topo->port[r.out[k + 1]].node - n;

					for (unsigned int d = 0; d < c->n; d++) {
						step = (unsigned int)abs((int)(x % c->size[d]) -
									 (int)(y % c->size[d]));
						if (step > 1 && step == c->size[d] - 1)
							want |= 1u << d;
						x /= c->size[d];
						y /= c->size[d];
					}
				}
				assert_int_equal(
					ibcc_route_dateline_sl(&s.sls.datelines, n + a, n + b),
					want);
				seen |= 1u << want;
			}
		assert_true(seen > 1);
		ibcc_scenario_fini(&s);
	}
}

/* At most one link between groups, from the source's to the destination's, and one in each of them;
 * on VL 1 is what comes from another group, and nothing else.
 */
static void check_minimal(const struct ibcc_scenario *s, unsigned int size, unsigned int *longest)
{
	const struct ibcc_topo *t = s->topo;
	uint32_t first = 0;

	while (!ibcc_topo_is_switch(t, first))
		first++;
	for (uint32_t a = 0; a < first; a++)
		for (uint32_t b = 0; b < first; b++) {
			uint32_t to = ibcc_topo_ca_port(t, b), home, away;
			struct ibcc_route r = { .n = 0 };
			bool crossed = false;
			unsigned int in[2] = { 0 };

			if (a != b)
				assert_int_equal(ibcc_route_follow(t, ibcc_topo_ca_port(t, a),
								   t->port[to].lid, &r),
						 0);
			if (r.n < 3)
				continue;
			home = (t->port[r.out[1]].node - first) / size;
			away = (t->port[r.out[r.n - 1]].node - first) / size;
			for (unsigned int i = 1; i + 1 < r.n; i++) {
				uint32_t x = (t->port[r.out[i]].node - first) / size;
				uint32_t y = (t->port[r.out[i + 1]].node - first) / size;

				if (x == y) {
					assert_int_equal(lane_of(t, &r, i, 0) % 2, crossed);
					in[crossed]++;
					continue;
				}
				assert_false(crossed);
				assert_int_equal(x, home);
				assert_int_equal(y, away);
				assert_int_equal(lane_of(t, &r, i, 5) % 2, 0);
				crossed = true;
			}
			assert_true(in[0] < 2 && in[1] < 2);
			assert_int_equal(crossed, home != away);
			*longest = r.n > *longest ? r.n : *longest;
		}
}

static void minimal_in_a_dragonfly(void **state)
{
	static const struct {
		const char *shape;
		unsigned int size, longest;
	} c[] = {
		{ "switches: 4, global_links: 2, hosts: 2", 4, 5 },
		{ "switches: 3, global_links: 1", 3, 5 },
		/* Four links between any two groups, so at both ends of many paths there is one. */
		{ "switches: 4, global_links: 2, groups: 3", 4, 4 },
		{ "switches: 1, global_links: 3", 1, 3 },
		{ "switches: 5, global_links: 1, groups: 1", 5, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct ibcc_scenario s;
		char shape[128];
		unsigned int longest = 0;

		snprintf(shape, sizeof(shape), "dragonfly: {%s}, routes: minimal", c[i].shape);
		load(&s, shape, "model: {vls: 2}\n" ALL);
		check_minimal(&s, c[i].size, &longest);
		assert_int_equal(longest, c[i].longest);
		assert_int_equal(left(all_routes(&s, true)), 0);
		ibcc_scenario_fini(&s);
	}
	/* From group to group and back, on one lane: a local link waits for a global one, and that
	 * for a local one.
	 */
	{
		struct ibcc_scenario s;

		load(&s, "dragonfly: {switches: 4, global_links: 2}, routes: minimal",
		     "model: {vls: 2}\n" ALL);
		assert_true(left(all_routes(&s, false)) > 0);
		ibcc_scenario_fini(&s);
	}
}

/* Full rings with small buffers. Without the paths' SLs all goes on VL 0, and the ring closes. */
static void rings_do_not_deadlock(void **state)
{
	static const char *const model = "model: {vls: 2, buffer_bytes: 4224}\n" ALL;
	struct ibcc_scenario s;
	struct ibcc_measure m;

	(void)state;
	load(&s, "torus: {sizes: [6, 5], hosts: 2}, routes: datelines", model);
	s.duration_ps = 20 * IBCC_PS_PER_MS;
	assert_int_equal(ibcc_measure_run(&s, 0, &m, NULL), 0);
	assert_string_equal(m.deadlock, "");
	assert_int_equal(m.totals.discarded + m.totals.dropped, 0);
	ibcc_measure_fini(&m);
	s.sls.datelines.n_dims = 0;
	assert_int_equal(ibcc_measure_run(&s, 0, &m, NULL), -EDEADLK);
	print_message("%s\n", m.deadlock);
	assert_non_null(strstr(m.deadlock, " VL 0 waits for s"));
	assert_null(strstr(m.deadlock, " VL 1 "));
	ibcc_measure_fini(&m);
	ibcc_scenario_fini(&s);
}

static struct ibcc_engine *engine_of(const struct ibcc_scenario *s)
{
	struct ibcc_engine *e = engine_new(s->topo, &s->model, s->seed);

	assert_int_equal(ibcc_engine_load(e, s, NULL), 0);
	return e;
}

/* The share of a host's bytes that it sent on an SL. */
static double share_of(struct ibcc_engine *e, const struct ibcc_topo *t, uint32_t host,
		       unsigned int sl)
{
	struct ibcc_engine_port p = engine_port_read(e, ibcc_topo_ca_port(t, host));

	return (double)p.sl_xmit_bytes[sl] / (double)p.xmit_bytes;
}

/* In a ring of five, h0 reaches h3 and h4 over the dateline, and h1 and h2 not. The answers of h1
 * come the same way back. In a ring of six, h3 is as far both ways: h0's data goes down, over the
 * dateline, as the place of h3 is odd; the answer goes up, as that of h0 is even, and passes it,
 * too.
 */
static void packets_have_the_sl_of_their_path(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_engine *e;

	(void)state;
	load(&s, "torus: {sizes: 5}, routes: datelines",
	     "model: {vls: 2, acks: true}\ntraffic:\n"
	     "  - {from: h0, to: all, load_percent: 50}\n"
	     "  - {from: h2, to: h1}\n  - {from: h3, to: [h4, h0]}\n");
	e = engine_of(&s);
	engine_run(e, 20 * IBCC_PS_PER_MS);
	assert_near(share_of(e, s.topo, 0, 0) + share_of(e, s.topo, 0, 1), 1, 1e-9);
	assert_near(share_of(e, s.topo, 0, 1), 0.5, 0.02);
	assert_near(share_of(e, s.topo, 2, 0), 1, 1e-9);
	assert_near(share_of(e, s.topo, 1, 0), 1, 1e-9); /* answers alone */
	assert_near(share_of(e, s.topo, 3, 1), 0.5, 0.02);
	assert_true(share_of(e, s.topo, 4, 0) > 0 && share_of(e, s.topo, 4, 1) > 0);
	ibcc_engine_free(e);
	ibcc_scenario_fini(&s);
	load(&s, "torus: {sizes: 6}, routes: datelines",
	     "model: {vls: 2, acks: true}\ntraffic: [{from: h0, to: h3}]\n");
	e = engine_of(&s);
	engine_run(e, IBCC_PS_PER_MS);
	assert_near(share_of(e, s.topo, 0, 1), 1, 1e-9);
	assert_near(share_of(e, s.topo, 3, 1), 1, 1e-9);
	ibcc_engine_free(e);
	ibcc_scenario_fini(&s);
}

/* Two hosts at one switch send to two at another: each path has an SL of its own, also the answers'
 * path back.
 */
static void ports_at_a_switch_have_paths_of_their_own(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_engine *e;

	(void)state;
	load(&s, "torus: {sizes: 2, hosts: 2}",
	     "model: {vls: 8, acks: true}\ntraffic:\n  - {from: h0, to: [h2, h3]}\n"
	     "  - {from: h1, to: all, load_percent: 90}\n");
	for (uint32_t a = 0; a < 4; a++)
		for (uint32_t b = 0; b < 4; b++)
			assert_int_equal(
				ibcc_route_set_sl(s.topo, &s.sls, ibcc_topo_ca_port(s.topo, a),
						  ibcc_topo_ca_port(s.topo, b),
						  (uint8_t)(4 * (a / 2) + (a & 1) * 2 + (b & 1))),
				0);
	e = engine_of(&s);
	engine_run(e, 10 * IBCC_PS_PER_MS);
	assert_near(share_of(e, s.topo, 0, 0), 0.5, 0.05);
	assert_near(share_of(e, s.topo, 0, 0) + share_of(e, s.topo, 0, 1), 1, 1e-9);
	assert_near(share_of(e, s.topo, 1, 2), 0.67, 0.05);
	assert_near(share_of(e, s.topo, 1, 2) + share_of(e, s.topo, 1, 3), 1, 1e-9);
	for (uint32_t b = 2; b < 4; b++) /* answers alone */
		for (unsigned int sl = 0; sl < 8; sl++)
			assert_int_equal(share_of(e, s.topo, b, sl) > 0, sl / 2 == b);
	ibcc_engine_free(e);
	ibcc_scenario_fini(&s);
}

/* Four hosts write to one through a ring, two of them over the dateline, beside a load of all to
 * all. Marks find the queue pairs of each path's SL, of flows to one and of flows to all.
 */
static void control_acts_on_the_sl_of_a_path(void **state)
{
	static const char *const settings[] = {
		"",
		"congestion_control: {switch: {threshold: 12, marking_rate: 0}, ca: {ccti_timer: "
		"30, ccti_increase: 2}, cct: {shape: linear, max_delay_packets: 16}}\n",
		"congestion_control: {switch: {threshold: 12, marking_rate: 0}, ca: {ccti_timer: "
		"30, ccti_increase: 2, per: sl}, cct: {shape: linear, max_delay_packets: 16}}\n",
		"dcqcn: {profiles: [{min: 5000, max: 50000, percent: 50}]}\n",
	};

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct ibcc_engine_flow f;
		struct ibcc_scenario s;
		struct ibcc_engine *e;
		uint64_t becn = 0, on_sl[2] = { 0 };
		unsigned int held[2] = { 0 };
		bool was_held[16] = { false };
		char text[1024];

		snprintf(text, sizeof(text),
			 "model: {vls: 2, becn_path: %s}\ntraffic:\n"
			 "  - {from: [h1, h2, h4, h5], to: h0}\n"
			 "  - {from: all, to: all, load_percent: 30}\n%s",
			 i == 2 ? "out-of-band" : "in-band", settings[i]);
		load(&s, "torus: {sizes: 7}, routes: datelines", text);
		e = engine_of(&s);
		assert_true(s.n_flows <= 16);
		/* An index may be 0 at one moment, until the next mark. */
		for (unsigned int ms = 1; ms <= 10; ms++) {
			engine_run(e, ms * IBCC_PS_PER_MS);
			for (uint32_t k = 0; k < s.n_flows; k++) {
				f = engine_flow_read(e, k);
				was_held[k] |= i == 3 ? f.limit_mbps > 0 : f.ccti > 0;
			}
		}
		for (uint32_t k = 0; k < s.n_flows; k++) {
			becn += engine_flow_read(e, k).becn;
			held[k >= 4] += was_held[k];
		}
		for (uint32_t k = 0; k < 7; k++) {
			struct ibcc_engine_port p =
				engine_port_read(e, ibcc_topo_ca_port(s.topo, k));

			on_sl[0] += p.sl_rcv_becn[0];
			on_sl[1] += p.sl_rcv_becn[1];
		}
		assert_int_equal(on_sl[0] + on_sl[1], becn);
		assert_int_equal(i > 0, becn > 0);
		assert_int_equal(i > 0, on_sl[0] > 0);
		assert_int_equal(i > 0, on_sl[1] > 0);
		assert_int_equal(held[0], i ? 4 : 0);
		assert_int_equal(i > 0, held[1] > 0);
		ibcc_engine_free(e);
		ibcc_scenario_fini(&s);
	}
}

/* Flows to all whose pairs are on five SLs, by numbers that fit no order, and an incast that holds
 * some pairs back: a flow whose next packet is on another SL makes its adapter send there.
 * engine_run() sees an adapter that has a packet and credits and is idle.
 */
static void no_adapter_is_idle_between_sls(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_engine *e;

	(void)state;
	load(&s, "torus: {sizes: 3, hosts: 2}",
	     "model: {vls: 1}\ntraffic:\n  - {from: [h1, h2, h3], to: h0}\n"
	     "  - {name: more, from: all, to: all, load_percent: 60}\n  - {from: all, to: all, load_percent: "
	     "30}\n"
	     "congestion_control: {switch: {threshold: 12, marking_rate: 0}, ca: {ccti_timer: 10, "
	     "ccti_increase: 2}, cct: {shape: linear, max_delay_packets: 16}}\n");
	for (uint32_t a = 0; a < 6; a++)
		for (uint32_t b = 0; b < 6; b++)
			assert_int_equal(ibcc_route_set_sl(s.topo, &s.sls,
							   ibcc_topo_ca_port(s.topo, a),
							   ibcc_topo_ca_port(s.topo, b),
							   (uint8_t)((7 * a + 3 * b) % 5)),
					 0);
	e = engine_of(&s);
	for (unsigned int us = 1; us <= 2000; us++)
		engine_run(e, us * IBCC_PS_PER_US);
	ibcc_engine_free(e);
	ibcc_scenario_fini(&s);
}

/* From h0, h3 alone is behind the dateline and slow. So marks come for SL 1, and SL 0 is free: in
 * SL mode they find the SL of the path that they are about, though most packets of h0 are on SL 0.
 */
static void marks_find_the_sl(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_engine *e;

	(void)state;
	load(&s, "torus: {sizes: 4}, routes: datelines",
	     "model: {vls: 2}\ntraffic:\n"
	     "  - {from: h0, to: all, load_percent: 3}\n"
	     "  - {from: h0, to: [h1, h3], load_percent: 1}\n"
	     "  - {from: [h1, h2], to: h3}\n"
	     "events: [{sink: h3, rate: 2 Gb/s}]\n"
	     "congestion_control: {switch: {threshold: 15, victim_mask: [1]}, ca: {ccti_timer: "
	     "65535, "
	     "ccti_increase: 1, per: sl}, cct: {shape: linear, max_delay_packets: 16}}\n");
	e = engine_of(&s);
	engine_run(e, 5 * IBCC_PS_PER_MS);
	assert_true(engine_flow_read(e, 0).becn > 2);
	assert_int_equal(engine_flow_read(e, 1).ccti, 0);
	assert_true(engine_flow_read(e, 2).ccti > 0);
	ibcc_engine_free(e);
	ibcc_scenario_fini(&s);
}

/* Flows on SLs of their own are on lanes of their own, which cannot wait for each other. */
static void sls_part_a_circle(void **state)
{
	static const char ring[] =
		HEAD "topology: {torus: {sizes: 5}}\nmodel: {vls: %u}\ntraffic:\n"
		     "  - {from: [h0, h1, h2], to: all}\n"
		     "  - {from: [h3, h4], to: all, sl: 1}\n";
	struct ibcc_scenario s;
	char text[512];

	(void)state;
	snprintf(text, sizeof(text), ring, 2);
	text_ok(text, &s);
	ibcc_scenario_fini(&s);
	snprintf(text, sizeof(text), ring, 1);
	text_has(text,
		 "3:11: topology: got flows whose routes make a circle of 5 outputs that can "
		 "block each other for ever (s0 port 2, s1 port 2, s2 port 2, s3 port 2 ...), "
		 "want routes: up-down, datelines (torus) or minimal (dragonfly), other flows, "
		 "or links whose shortest paths make no circle, such as a tree\n");
	snprintf(text, sizeof(text),
		 HEAD "topology: {torus: {sizes: 5}}\nmodel: {vls: 3}\n"
		      "traffic: [{from: all, to: all, sl: 4}]\n");
	text_has(text,
		 "3:11: topology: got flows whose routes make a circle of 5 outputs that can "
		 "block each other for ever (s0 port 2 VL 1, s1 port 2 VL 1, s2 port 2 VL 1, s3 "
		 "port 2 VL 1 ...), want routes: up-down, datelines (torus) or minimal "
		 "(dragonfly), other flows, or links whose shortest paths make no circle, such "
		 "as a tree\n");
}

static void mistakes(void **state)
{
	(void)state;
	text_has(HEAD "topology: {torus: {sizes: 5}, routes: datelines}\n" ALL,
		 "3:39: topology.routes: got \"datelines\", want model.vls: 2 or more with it\n");
	text_has(HEAD
		 "topology: {dragonfly: {switches: 2, global_links: 1}, routes: minimal}\n" ALL,
		 "3:63: topology.routes: got \"minimal\", want model.vls: 2 or more with it\n");
	text_has(HEAD "topology: {mesh: {sizes: 5}, routes: datelines}\nmodel: {vls: 2}\n" ALL,
		 "3:38: topology.routes: got \"datelines\", want it with a torus of at most 4 "
		 "dimensions\n");
	text_has(HEAD "topology: {torus: {sizes: [2, 2, 2, 2, 2]}, routes: datelines}\n"
		      "model: {vls: 2}\n" ALL,
		 "3:53: topology.routes: got \"datelines\", want it with a torus of at most 4 "
		 "dimensions\n");
	text_has(HEAD "topology: {torus: {sizes: 5}, routes: minimal}\nmodel: {vls: 2}\n" ALL,
		 "3:39: topology.routes: got \"minimal\", want it with a dragonfly\n");
	text_has(HEAD "topology: {torus: {sizes: 5}, routes: datelines}\n"
		      "model: {vls: 2, routing: random}\n" ALL,
		 "4:26: model.routing: got \"random\", want static with topology.routes "
		 "datelines\n");
	text_has(HEAD "topology: {torus: {sizes: 5}, routes: datelines}\nmodel: {vls: 2}\n"
		      "traffic: [{from: h0, to: h1, sl: 0}]\n",
		 "5:34: traffic.sl: got \"0\", want no sl with topology.routes datelines, by which "
		 "each path has an SL\n");
	text_has(HEAD "topology: {torus: {sizes: 5}, routes: datelines}\nmodel: {vls: 2}\n" ALL
		      "dcqcn: {profiles: [{min: 1, max: 2, percent: 3}], cnp_sl: 1}\n",
		 "6:59: dcqcn.cnp_sl: got \"1\", want no cnp_sl with topology.routes datelines, by "
		 "which each path has an SL\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_circle_in_a_torus),
		cmocka_unit_test(sls_name_the_datelines),
		cmocka_unit_test(minimal_in_a_dragonfly),
		cmocka_unit_test(rings_do_not_deadlock),
		cmocka_unit_test(packets_have_the_sl_of_their_path),
		cmocka_unit_test(ports_at_a_switch_have_paths_of_their_own),
		cmocka_unit_test(control_acts_on_the_sl_of_a_path),
		cmocka_unit_test(no_adapter_is_idle_between_sls),
		cmocka_unit_test(marks_find_the_sl),
		cmocka_unit_test(sls_part_a_circle),
		cmocka_unit_test(mistakes),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
