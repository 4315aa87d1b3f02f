/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The collector on simulated devices: what it asks them, and that blocked ports wait all the time
 * that they do not send, whatever they count by.
 */
#include <stdlib.h>
#include <string.h>

#include <ibcc/collect.h>
#include <ibcc/inproc.h>
#include <ibcc/pma.h>
#include <ibcc/probe.h>

#include "tests/unit/engines.h"

/* Passes requests on, and counts those of PerfMgt to hosts by attribute. */
struct counting {
	struct ibcc_transport base;
	struct ibcc_transport *inner;
	const struct ibcc_topo *t;
	unsigned int to_hosts[256];
	uint16_t other_port; /* this attribute comes back about another port */
};

static int counting_run(struct ibcc_transport *tr, struct ibcc_mad_op *op, size_t n)
{
	struct counting *c = (struct counting *)tr;
	struct ibcc_mad_header h;
	int rc;

	for (size_t i = 0; i < n; i++) {
		ibcc_mad_header_unpack(op[i].mad, &h);
		if (h.mgmt_class == IBCC_MAD_CLASS_PERF &&
		    !ibcc_topo_is_switch(c->t, c->t->port[c->t->lid_port[op[i].lid]].node))
			c->to_hosts[h.attr_id & 255]++;
	}
	rc = ibcc_transport_run(c->inner, op, n);
	for (size_t i = 0; c->other_port && i < n; i++) {
		ibcc_mad_header_unpack(op[i].mad, &h);
		if (h.mgmt_class == IBCC_MAD_CLASS_PERF && h.attr_id == c->other_port)
			op[i].mad[IBCC_MAD_DATA_OFFS + 1] = 77;
	}
	return rc;
}

static uint64_t counting_now(struct ibcc_transport *tr)
{
	return ibcc_transport_now_ns(((struct counting *)tr)->inner);
}

static const struct ibcc_transport_ops counting_ops = { .run = counting_run,
							.now_ns = counting_now };

struct fixture {
	struct ibcc_topo *t;
	struct ibcc_engine *e;
	struct ibcc_agents *a;
	struct counting tr;
	struct ibcc_collector *c;
	struct ibcc_snapshot s;
};

static const struct ibcc_profile *profile(const char *name)
{
	unsigned int i = 0;

	while (strcmp(ibcc_profile_names[i], name))
		i++;
	return ibcc_profile(i);
}

/* The Lustre fabric at a rate, congested by a slow receiver, with such devices. */
static void open_fabric(struct fixture *x, uint32_t mbps, const struct ibcc_profile *host,
			const struct ibcc_profile *sw)
{
	const struct ibcc_agents_options o = {
		.cct_blocks = 2, .wait_tick = 7, .ext_xmit_wait = true, .sw_port_block = 48
	};
	struct ibcc_model m;

	memset(x, 0, sizeof(*x));
	ibcc_model_defaults(&m);
	x->t = fabric_lustre();
	for (uint32_t i = 0; i < x->t->n_ports; i++)
		x->t->port[i].rate_mbps = x->t->port[i].peer == IBCC_NONE ? 0 : mbps;
	for (uint32_t i = 0; i < x->t->n_nodes; i++) {
		const struct ibcc_profile *p = ibcc_topo_is_switch(x->t, i) ? sw : host;

		x->t->node[i].vendor_id = p->vendor_id;
		x->t->node[i].device_id = p->device_id;
	}
	x->e = engine_new(x->t, &m, 1);
	for (uint32_t i = LUSTRE_SRC1; i <= LUSTRE_SRC3; i++)
		engine_flow(x->e, x->t, i, LUSTRE_SLOW, 0);
	assert_int_equal(
		ibcc_engine_set_sink_rate(x->e, fabric_port(x->t, LUSTRE_SLOW, 1), mbps / 3), 0);
	x->a = ibcc_agents_new(x->t, x->e, &o);
	assert_non_null(x->a);
	for (uint32_t i = 0; i < x->t->n_nodes; i++)
		assert_int_equal(
			ibcc_agents_set_profile(x->a, i, ibcc_topo_is_switch(x->t, i) ? sw : host),
			0);
	x->tr = (struct counting){ .base.ops = &counting_ops, .t = x->t };
	x->tr.inner = ibcc_inproc_new(x->a, x->e, x->t, NULL);
	x->c = ibcc_collector_new();
	assert_non_null(x->c);
	assert_int_equal(ibcc_snapshot_init(&x->s, x->t), 0);
}

static void close_fabric(struct fixture *x)
{
	ibcc_snapshot_fini(&x->s);
	ibcc_collector_free(x->c);
	ibcc_transport_free(x->tr.inner);
	ibcc_agents_free(x->a);
	ibcc_engine_free(x->e);
	ibcc_topo_free(x->t);
}

static void passes(struct fixture *x, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		engine_run(x->e, ibcc_engine_now_ps(x->e) + IBCC_PS_PER_MS);
		assert_int_equal(ibcc_collector_pass(x->c, &x->tr.base, x->t, &x->s, 0, NULL), 0);
	}
}

/* Share of the time that a port sent or waited, permille. */
static uint32_t busy(const struct fixture *x, uint32_t node, unsigned int num)
{
	uint32_t port = fabric_port(x->t, node, num);
	const struct ibcc_port_sample *p = &x->s.port[port];

	return ibcc_delta_wait_permille(&p->delta, p->tick_ps) +
	       1000 * ibcc_delta_xmit_mbps(&p->delta) / x->t->port[port].rate_mbps;
}

static bool says(const struct fixture *x, const char *what)
{
	const struct ibcc_units *u = ibcc_collector_units(x->c);
	char text[256];

	for (uint32_t i = 0; ibcc_units_say(u, i, text, sizeof(text)); i++)
		if (strstr(text, what))
			return true;
	return false;
}

/* Tick 31 on 4x QDR, FDR and EDR, and Tick 7 of Quantum's ports. */
static void test_blocked_ports(void **state)
{
	static const uint32_t rates[] = { QDR_MBPS, 54545, 100000 };
	static const char *const switches[] = { "switch-ib2", "quantum2", "plain" };

	(void)state;
	for (int r = 0; r < 3; r++)
		for (int k = 0; k < 3; k++) {
			struct fixture x;

			open_fabric(&x, rates[r], profile("connectx-3"), profile(switches[k]));
			passes(&x, 4);
			assert_in_range(busy(&x, LUSTRE_SW2, 1), 985, 1002);
			assert_in_range(busy(&x, LUSTRE_SW1, 5), 985, 1002);
			assert_in_range(busy(&x, LUSTRE_SRC1, 1), 985, 1002);
			assert_false(says(&x, "PortXmitWait"));
			close_fabric(&x);
		}
}

/* Hosts whose PerfMgt the mlx5 kernel answers: asked for counters alone, their waits read though
 * the mask does not claim them, and used once they are measured.
 */
static void test_kernel_pma(void **state)
{
	struct fixture x;

	(void)state;
	open_fabric(&x, QDR_MBPS, profile("connectx-6"), profile("quantum2"));
	passes(&x, 3);
	assert_int_equal(x.s.port[fabric_port(x.t, LUSTRE_SRC1, 1)].tick_ps, 0);
	assert_true(says(&x, "PortXmitWait of ConnectX-6 at 32000 Mb/s is not used"));
	assert_true(x.s.port[fabric_port(x.t, LUSTRE_SRC1, 1)].delta.v[IBCC_CTR_XMIT_WAIT] > 0);
	passes(&x, 10);
	/* They have all waited for the same share of their time, until now. */
	assert_true(says(&x, "PortXmitWait of ConnectX-6 at 32000 Mb/s is not used"));
	assert_int_equal(
		ibcc_engine_set_sink_rate(x.e, fabric_port(x.t, LUSTRE_SLOW, 1), QDR_MBPS * 4 / 5),
		0);
	passes(&x, 10);
	for (unsigned int attr = 0; attr < 256; attr++) {
		bool asked = attr == IBCC_PMA_ATTR_CLASS_PORT_INFO ||
			     attr == IBCC_PMA_ATTR_COUNTERS || attr == IBCC_PMA_ATTR_COUNTERS_EXT;

		assert_int_equal(x.tr.to_hosts[attr] > 0, asked);
	}
	assert_true(says(&x, "PortXmitWait of ConnectX-6 at 32000 Mb/s: a tick is about"));
	assert_in_range(busy(&x, LUSTRE_SRC2, 1), 950, 1050);
	close_fabric(&x);
}

/* An answer about another port says nothing of this one. */
static void test_genuine(void **state)
{
	struct fixture x;
	const struct ibcc_counters *c;

	(void)state;
	open_fabric(&x, QDR_MBPS, profile("connectx-3"), profile("plain"));
	x.tr.other_port = IBCC_PMA_ATTR_RCV_CON_CTRL;
	passes(&x, 2);
	c = &x.s.port[fabric_port(x.t, LUSTRE_SRC1, 1)].now;
	assert_true(x.tr.to_hosts[IBCC_PMA_ATTR_RCV_CON_CTRL] > 0);
	assert_int_equal(c->width[IBCC_CTR_RCV_BECN], 0);
	assert_int_equal(c->width[IBCC_CTR_XMIT_WAIT], 64);
	close_fabric(&x);
}

/* An inventory: an adapter that is newer than the table is known for one whose PerfMgt its kernel
 * answers, and what would come in place of PortSamplesControl is not asked for; nor does it count
 * where a device answers about another port than was asked for.
 */
static void test_inventory(void **state)
{
	struct ibcc_profile newer = *profile("connectx-6");
	struct ibcc_settings none = { 0 };
	struct ibcc_probe p;
	struct fixture x;

	(void)state;
	newer.device_id = 0x1fff;
	open_fabric(&x, QDR_MBPS, &newer, profile("plain"));
	for (int k = 0; k < 2; k++) {
		x.tr.other_port = k ? IBCC_PMA_ATTR_SAMPLES_CONTROL : 0;
		assert_int_equal(ibcc_probe_run(&x.tr.base, x.t, 0, &none, &p), 0);
		for (uint32_t i = 0; i < p.n; i++) {
			bool host = !ibcc_topo_is_switch(x.t, x.t->port[x.t->endport[i]].node);

			assert_int_equal(p.ep[i].pma, IBCC_ANSWER_GOOD);
			assert_int_equal(p.ep[i].kernel_pma, host);
			assert_int_equal(p.ep[i].samples, host ? IBCC_ANSWER_UNASKED
							  : k  ? IBCC_ANSWER_REFUSED
							       : IBCC_ANSWER_GOOD);
			assert_int_equal(p.ep[i].tick, host || k ? 0 : 7);
		}
		ibcc_probe_fini(&p);
	}
	assert_int_equal(x.tr.to_hosts[IBCC_PMA_ATTR_SAMPLES_CONTROL], 0);
	close_fabric(&x);
}

/* An unknown device counts by 3 bytes where 8 are assumed. */
static void test_odd_switches(void **state)
{
	struct ibcc_profile odd = *profile("plain");
	struct fixture x;

	(void)state;
	odd.wait_bytes = 3;
	odd.tick = 7;
	open_fabric(&x, QDR_MBPS, profile("connectx-3"), &odd);
	passes(&x, 20);
	assert_true(says(&x, "switches 0000:0000: a tick is about 3 bytes, measured (8 were"));
	assert_in_range(busy(&x, LUSTRE_SW1, 5), 950, 1050);
	assert_in_range(busy(&x, LUSTRE_SW2, 1), 950, 1050);
	close_fabric(&x);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocked_ports), cmocka_unit_test(test_kernel_pma),
		cmocka_unit_test(test_genuine),       cmocka_unit_test(test_inventory),
		cmocka_unit_test(test_odd_switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
