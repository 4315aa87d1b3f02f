/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* VL arbitration tables: shares by weight, priority and its limit, at a switch's output and at a
 * host's. A flow on each of two VLs; a packet is 33 blocks.
 */
#include <errno.h>

#include "ether.h"

/* From two hosts to a third, whose link they share, or from one to both others. */
static void shares_at(bool at_host, const struct ibcc_vlarb *a, double out[2])
{
	struct engine_rates r;
	struct ether x;

	ether_model(&x, ETHER_MBPS);
	x.model.flow_control = IBCC_FLOW_CONTROL_CREDITS;
	x.model.buffer_bytes = x.model.hca_buffer_bytes = 64 * 1024;
	x.model.packet_bytes = 2048;
	x.model.header_bytes = 26;
	x.model.vls = 2;
	x.model.vlarb = *a;
	for (uint32_t i = 0; i < x.topo->n_ports; i++)
		x.topo->port[i].op_vls = 2;
	ether_start(&x);
	engine_flow(x.e, x.topo, ETHER_A, ETHER_C, 0);
	engine_flow(x.e, x.topo, at_host ? ETHER_A : ETHER_B, at_host ? ETHER_B : ETHER_C, 1);
	engine_rates(x.e, 1000 * US, 20000 * US, &r);
	for (int i = 0; i < 2; i++)
		out[i] = r.mbytes[i] / (r.mbytes[0] + r.mbytes[1]);
	assert_near(r.mbytes[0] + r.mbytes[1], 1250 * 2048.0 / 2074, 0.005);
	ether_free(&x);
}

/* Both do the same; with tables, that is: without, a host serves its queues, here in turn, too. */
static void shares(const struct ibcc_vlarb *a, double out[2])
{
	double host[2];

	shares_at(true, a, host);
	shares_at(false, a, out);
	assert_near(host[1], out[1], 0.01);
}

/* In the low table: shares by whole packets, weights of 33 and 99 blocks being one and three. A
 * weight of 34 is two packets, for the second may be begun.
 */
static void test_weights(void **state)
{
	double s[2];

	(void)state;
	shares(&(struct ibcc_vlarb){ .low = { 2, { { 0, 33 }, { 1, 99 } } } }, s);
	assert_near(s[1], 0.75, 0.01);
	shares(&(struct ibcc_vlarb){ .low = { 2, { { 0, 33 }, { 1, 34 } } } }, s);
	assert_near(s[1], 2.0 / 3, 0.01);
	/* More entries of a VL add up. */
	shares(&(struct ibcc_vlarb){ .low = { 4, { { 0, 1 }, { 1, 1 }, { 0, 1 }, { 0, 1 } } } }, s);
	assert_near(s[1], 0.25, 0.01);
	shares(&(struct ibcc_vlarb){ .low = { 0 } }, s);
	assert_near(s[1], 0.5, 0.01);
}

/* The high table goes first: always; or until it has sent so much, and then the low one has a
 * packet. Packets of 2074 bytes: a limit of 0 lets one go, 1 two (4096 bytes), 2 four (8192).
 */
static void test_priority(void **state)
{
	static const struct {
		uint8_t limit;
		double high;
	} want[] = { { 255, 1 }, { 0, 1.0 / 2 }, { 1, 2.0 / 3 }, { 2, 4.0 / 5 } };
	double s[2];

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		shares(&(struct ibcc_vlarb){ .high = { 1, { { 1, 255 } } },
					     .low = { 1, { { 0, 255 } } },
					     .high_limit = want[i].limit },
		       s);
		print_message("limit %u: %.3f\n", want[i].limit, s[1]);
		assert_near(s[1], want[i].high, 0.01);
	}
}

static void test_tables(void **state)
{
	static const struct ibcc_vlarb bad[] = {
		{ .low = { 1, { { 0, 1 } } } },                    /* VL 1 not served */
		{ .low = { 2, { { 0, 1 }, { 1, 0 } } } },          /* without weight */
		{ .low = { 3, { { 0, 1 }, { 1, 1 }, { 2, 1 } } } } /* no such VL */
	};
	struct ether x;
	int err = 0;

	(void)state;
	ether_model(&x, ETHER_MBPS);
	x.model.flow_control = IBCC_FLOW_CONTROL_CREDITS;
	x.model.vls = 2;
	for (unsigned int i = 0; i < 3; i++) {
		x.model.vlarb = bad[i];
		assert_null(ibcc_engine_new(x.topo, &x.model, 1, &err));
		assert_int_equal(err, -EINVAL);
	}
	ibcc_topo_free(x.topo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_priority),
		cmocka_unit_test(test_tables),
	};

	return cmocka_run_group_tests_name("engine_vlarb", tests, NULL, NULL);
}
