/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The fault transport, and a machine without a device. */
#include "tests/unit/fake_fabric.h"

static void ask(struct ibcc_mad_op *op, const struct ibcc_topo *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		op[i] = (struct ibcc_mad_op){ .lid = t->port[t->endport[i % t->n_endports]].lid };
		ibcc_mad_request(op[i].mad, IBCC_MAD_CLASS_PERF, IBCC_MAD_GET, 0x01, 0);
	}
}

static void test_fault_rates(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_fault_options o = { .seed = 3, .loss_permille = 250, .corrupt_permille = 500 };
	static struct ibcc_mad_op op[4000], again[4000];
	unsigned int lost = 0, corrupt = 0;

	(void)state;
	for (int round = 0; round < 2; round++) {
		struct ibcc_transport *tr = ibcc_fault_new(&fake_fabric(t)->base, &o);

		ask(round ? again : op, t, 4000);
		assert_int_equal(ibcc_transport_run(tr, round ? again : op, 4000), 0);
		assert_int_equal(tr->stats.sent, 4000);
		ibcc_transport_free(tr);
	}
	for (size_t i = 0; i < 4000; i++) {
		struct ibcc_pma_class_port_info cpi;
		uint8_t rest = 0;

		assert_int_equal(op[i].err, again[i].err);
		assert_memory_equal(op[i].mad, again[i].mad, IBCC_MAD_BYTES);
		if (op[i].err) {
			assert_int_equal(op[i].err, -ETIMEDOUT);
			lost++;
			continue;
		}
		ibcc_pma_class_port_info_unpack(op[i].mad, &cpi);
		for (size_t k = 64 + 8; k < IBCC_MAD_BYTES; k++)
			rest |= op[i].mad[k];
		corrupt += rest || cpi.base_version != 1 || cpi.class_version != 1 ||
			   cpi.cap_mask != 0x1300 || cpi.cap_mask2 != 2 || cpi.resp_time != 0;
	}
	/* Five standard deviations around the means. */
	assert_in_range(lost, 1000 - 137, 1000 + 137);
	assert_in_range(corrupt, 1500 - 137, 1500 + 137);
	ibcc_topo_free(t);
}

static void test_fault_one_lid_and_end(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	uint16_t lid = t->port[t->endport[2]].lid;
	struct ibcc_fault_options o = { .loss_permille = 1000, .lid = lid, .fail_after = 100 };
	struct ibcc_transport *tr = ibcc_fault_new(&fake_fabric(t)->base, &o);
	struct ibcc_mad_op op[120];

	(void)state;
	ask(op, t, 120);
	assert_int_equal(ibcc_transport_run(tr, op, 120), -EIO);
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(op[i].err, op[i].lid == lid ? -ETIMEDOUT : 0);
	for (size_t i = 100; i < 120; i++)
		assert_int_equal(op[i].err, -EIO);
	ibcc_transport_free(tr);
	assert_null(ibcc_fault_new(NULL, &o));
	ibcc_topo_free(t);
}

/* Without a device: words, no port. */
static void test_no_device(void **state)
{
	struct ibcc_umad_options o = { .ca = "no_such_device" };
	char why[100] = "";
	int err = 0;

	(void)state;
	assert_null(ibcc_umad_open(&o, &err, why, sizeof(why)));
	assert_int_equal(err, -ENODEV);
	assert_true(strlen(why) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fault_rates),
		cmocka_unit_test(test_fault_one_lid_and_end),
		cmocka_unit_test(test_no_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
