/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the twin says of latency, against arithmetic; that large fabrics have one; and which plans
 * are recommended.
 */
#include <math.h>
#include <string.h>

#include <ibcc/prediction.h>
#include <ibcc/route.h>
#include <ibcc/twin.h>

#include "loads.h"

/* On the wire: 2048 bytes of payload and the model's 26 of headers. A packet passes three links
 * of 25 ns and two switches of 100 ns.
 */
#define WIRE_BYTES 2074.0
#define WAY_US     (3 * 0.025 + 2 * 0.1)

static double us(double bytes, double mbps)
{
	return bytes * 8 / mbps;
}

static void add(struct ibcc_traffic *tr, const struct ibcc_topo *t, uint32_t from, uint32_t to,
		double mbps, uint32_t root)
{
	int err;
	struct ibcc_traffic_pair *p =
		ibcc_traffic_add(tr, t, fabric_port(t, from, 1), fabric_port(t, to, 1), &err);

	assert_non_null(p);
	p->carried = p->demand = mbps;
	p->root = root;
}

static double near(double got, double want)
{
	return got > want * 0.98 && got < want * 1.02;
}

/* Packets of an idle fabric take the way and their own time on the wire, and a slow receiver's as
 * long as it takes for one besides.
 */
static void an_idle_fabric(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_traffic tr = { 0 };
	struct ibcc_traffic_root root = { .port = fabric_port(t, LUSTRE_SW2, 1),
					  .kind = IBCC_CONGESTION_OUTPUT,
					  .rate_mbps = 2000 };
	struct ibcc_settings now;
	struct ibcc_twin_in in = {
		.t = t, .traffic = &tr, .n_roots = 1, .root = &root, .now = &now
	};
	struct ibcc_twin_state s;
	struct ibcc_twin *w;
	double link = t->port[fabric_port(t, LUSTRE_SRC1, 1)].rate_mbps;
	int err;

	(void)state;
	assert_int_equal(ibcc_settings_init(&now, t), 0);
	add(&tr, t, LUSTRE_SRC1, LUSTRE_FAST, 30, IBCC_NONE);
	add(&tr, t, LUSTRE_SRC2, LUSTRE_SLOW, 10, root.port);
	add(&tr, t, LUSTRE_SRC3, LUSTRE_FAST, 0, IBCC_NONE); /* sends nothing */
	w = ibcc_twin_new(&in, &err);
	assert_non_null(w);
	assert_int_equal(ibcc_twin_replay(w, &s), 0);
	assert_true(near(s.pair_us[0], WAY_US + us(WIRE_BYTES, link)));
	assert_true(near(s.pair_us[1], WAY_US + us(WIRE_BYTES, link) + us(WIRE_BYTES, 2000)));
	assert_true(s.pair_us[2] == 0);
	ibcc_twin_state_fini(&s);
	ibcc_twin_free(w);
	ibcc_settings_fini(&now);
	ibcc_traffic_fini(&tr);
	ibcc_topo_free(t);
}

/* Four hosts fill the link between the switches, and wait with full buffers before it. The present
 * has no marks, whatever the parameters say. With them the adapters hold back what the link does
 * not carry, and it stays busy.
 */
static void dcqcn_empties_buffers(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_traffic tr = { 0 };
	struct ibcc_settings now;
	struct ibcc_dcqcn d = { .enabled = true,
				.cnp_sl = IBCC_DCQCN_PACKET_SL,
				.source_only = true,
				.profile[0] = { .min = 16384, .max = 65536, .percent = 5 } };
	struct ibcc_twin_in in = {
		.t = t, .traffic = &tr, .now = &now, .dcqcn = &d, .buffer_bytes = 65536
	};
	uint32_t link = fabric_port(t, LUSTRE_SW1, 5), source = fabric_port(t, LUSTRE_SRC1, 1);
	struct ibcc_twin_state was, is;
	struct ibcc_twin *w;
	int err;

	(void)state;
	memset(d.sl2profile, 1, sizeof(d.sl2profile));
	ibcc_dcqcn_rp_defaults(&d.rp);
	d.rp.rpg_ai_rate_mbps = 40; /* the paper's, for links of 40 Gb/s */
	assert_int_equal(ibcc_settings_init(&now, t), 0);
	for (uint32_t i = LUSTRE_SRC1; i <= LUSTRE_SRC4; i++)
		add(&tr, t, i, LUSTRE_FAST, 20000, IBCC_NONE);
	w = ibcc_twin_new(&in, &err);
	assert_non_null(w);
	assert_int_equal(ibcc_twin_replay(w, &was), 0);
	assert_int_equal(ibcc_twin_try(w, NULL, &is), 0);
	assert_true(was.wait[source] > 0.5);
	assert_true(is.wait[source] < 0.1);
	assert_true(is.mbps[link] > 0.85 * t->port[link].rate_mbps);
	ibcc_twin_state_fini(&was);
	ibcc_twin_state_fini(&is);
	ibcc_twin_free(w);
	ibcc_settings_fini(&now);
	ibcc_traffic_fini(&tr);
	ibcc_topo_free(t);
}

/* 1058 adapters, of which one waits for a slow receiver. A prediction without a change: all goes
 * on, with packets and so with a latency, also of those that have no packets themselves.
 */
static void a_large_fabric(void **state)
{
	enum { M = 46, FROM = 0, SLOW = 500, VICTIM = 700 };
	struct ibcc_topo *t = fabric_tree2(M);
	struct ibcc_loads before, now;
	struct ibcc_settings none;
	struct ibcc_root root = { .port = t->port[fabric_port(t, SLOW, 1)].peer,
				  .kind = IBCC_CONGESTION_OUTPUT };
	struct ibcc_prediction_in in = { .t = t,
					 .before = &before,
					 .now = &now,
					 .n_roots = 1,
					 .root = &root,
					 .actual = &none,
					 .wanted = &none,
					 .budget_ns = UINT64_MAX / 2 };
	struct ibcc_prediction p;

	(void)state;
	assert_int_equal(ibcc_settings_init(&none, t), 0);
	loads_one_hotspot(&before, &now, t, FROM, SLOW, VICTIM);
	for (uint32_t i = 100; i < 200; i++) {
		loads_add(&before, t, i, i + 100, 3000);
		loads_add(&now, t, i, i + 100, 3000);
	}
	assert_int_equal(ibcc_predict(&in, &p), 0);
	assert_true(p.known);
	assert_true(near(p.total.expected_mbps, 301500));
	assert_true(p.now_us > 1 && fabs(p.expected_us / p.now_us - 1) < 0.1);
	ibcc_prediction_fini(&p);
	ibcc_loads_fini(&before);
	ibcc_loads_fini(&now);
	ibcc_settings_fini(&none);
	ibcc_topo_free(t);
}

struct lengths {
	uint32_t now_ms, then_ms;
	bool now_brief, then_brief;
	uint64_t now_hops, hops;
};

/* Twelve sources of 4 Gb/s. Asked for the CPU time for the n-th time, it is n seconds. */
static uint64_t count_calls(void *arg)
{
	uint64_t *n = arg;

	return ++*n * 1000000000u;
}

static struct lengths run_for(uint64_t most_hops, bool any_demand, uint64_t until_s)
{
	enum { M = 6 };
	struct ibcc_topo *t = fabric_tree2(M);
	struct ibcc_traffic tr = { 0 };
	struct ibcc_settings now;
	uint64_t calls = 0;
	const struct ibcc_twin_in in = { .t = t,
					 .traffic = &tr,
					 .now = &now,
					 .most_hops = most_hops,
					 .any_demand = any_demand,
					 .cpu_ns = until_s ? count_calls : NULL,
					 .arg = &calls,
					 .until_ns = until_s * 1000000000u };
	struct ibcc_twin_state a, b;
	struct ibcc_twin *w;
	struct lengths l = { 0 };
	int err;

	assert_int_equal(ibcc_settings_init(&now, t), 0);
	for (uint32_t i = 0; i < 12; i++)
		add(&tr, t, i, i + 6, 4000, IBCC_NONE);
	w = ibcc_twin_new(&in, &err);
	assert_non_null(w);
	if (!ibcc_twin_replay(w, &a)) {
		l = (struct lengths){ .now_ms = a.ms, .now_brief = a.brief, .now_hops = a.hops };
		ibcc_twin_state_fini(&a);
		if (!ibcc_twin_try(w, &now, &b)) {
			l.then_ms = b.ms;
			l.then_brief = b.brief;
			l.hops = b.hops;
			ibcc_twin_state_fini(&b);
		}
	}
	ibcc_twin_free(w);
	ibcc_settings_fini(&now);
	ibcc_traffic_fini(&tr);
	ibcc_topo_free(t);
	return l;
}

/* Runs are as long as hops and CPU time suffice, but never shorter than the shortest; results that
 * come of shorter ones say so.
 */
static void lengths_of_runs(void **state)
{
	static const struct {
		uint32_t share; /* of the hops of the longest runs, percent; 0: no limit */
		bool any_demand;
		uint64_t until_s;
		uint32_t now_ms, then_ms;
	} c[] = {
		{ 0, false, 0, 12, 60 },  { 110, false, 0, 12, 60 }, { 90, false, 0, 12, 20 },
		{ 40, false, 0, 12, 9 },  { 28, false, 0, 8, 9 },    { 1, false, 0, 8, 6 },
		{ 1, true, 0, 4, 6 },     { 0, true, 0, 12, 60 },    { 0, false, 1000, 12, 60 },
		{ 0, false, 5, 0, 0 },    { 0, false, 17, 12, 0 },   { 0, false, 20, 12, 6 },
		{ 0, false, 34, 12, 20 }, { 0, false, 19, 12, 6 },   { 0, false, 13, 12, 0 },
		{ 0, false, 33, 12, 20 },
	};
	const struct lengths all = run_for(0, false, 0);

	(void)state;
	assert_true(all.hops > 72u * 12 * 700 && all.hops < 72u * 12 * 1100);
	for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++) {
		const uint64_t most = all.hops * c[i].share / 100;
		const struct lengths l = run_for(most, c[i].any_demand, c[i].until_s);

		if (l.now_ms != c[i].now_ms || l.then_ms != c[i].then_ms)
			fail_msg("case %zu: %u and %u ms", i, l.now_ms, l.then_ms);
		assert_int_equal(l.now_brief, l.now_ms && l.now_ms < 12);
		assert_int_equal(l.then_brief, l.then_ms && l.then_ms < 20);
		assert_true(!most || l.then_ms == 6 || l.hops < most * 105 / 100);
	}
}

/* A plan that costs more than 1 % of the total is recommended only to those who prefer latency, if
 * it reduces latency by more than 10 %. Any other plan is recommended, whatever latency does.
 */
static void what_is_recommended(void **state)
{
	static const struct {
		bool known;
		double total, now_us, then_us;
		bool costs, trades, throughput, latency;
	} c[] = {
		{ true, 989, 100, 89, true, true, false, true },
		{ true, 991, 100, 89, false, false, true, true },
		{ true, 989, 100, 91, true, false, false, false },
		{ true, 1100, 100, 20, false, false, true, true },
		{ true, 1100, 100, 300, false, false, true, true },
		{ true, 900, 100, 120, true, false, false, false },
		{ false, 989, 100, 89, false, false, true, true },
		/* No packets. */
		{ true, 989, 0, 0, true, false, false, false },
		{ true, 991, 0, 0, false, false, true, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++) {
		const struct ibcc_prediction p = {
			.known = c[i].known,
			.total = { .now_mbps = 1000, .expected_mbps = c[i].total },
			.now_us = c[i].now_us,
			.expected_us = c[i].then_us,
		};

		if (ibcc_prediction_costs(&p) != c[i].costs ||
		    ibcc_prediction_trades(&p) != c[i].trades ||
		    ibcc_prediction_is_advised(&p, false) != c[i].throughput ||
		    ibcc_prediction_is_advised(&p, true) != c[i].latency)
			fail_msg("case %zu", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_fabric),      cmocka_unit_test(dcqcn_empties_buffers),
		cmocka_unit_test(a_large_fabric),      cmocka_unit_test(lengths_of_runs),
		cmocka_unit_test(what_is_recommended),
	};

	return cmocka_run_group_tests_name("twin", tests, NULL, NULL);
}
