/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Clearing 32-bit counters before they stop: which, by libibmad's fields, and that differences go
 * on right afterwards.
 */
#include <errno.h>
#include <string.h>

#include "traffic.h"

#include <infiniband/mad.h>

#include <ibcc/collect.h>
#include <ibcc/pma.h>

/* A transport that keeps what it is asked, and answers or not. */
static struct {
	struct ibcc_transport base;
	struct ibcc_mad_op seen[16];
	size_t n;
	int err, rc;
} fake;

static int fake_run(struct ibcc_transport *t, struct ibcc_mad_op *op, size_t n)
{
	(void)t;
	for (size_t i = 0; i < n; i++) {
		assert_true(fake.n < 16);
		fake.seen[fake.n++] = op[i];
		op[i].err = fake.rc ? fake.rc : fake.err;
	}
	return fake.rc;
}

static const struct ibcc_transport_ops fake_ops = { .run = fake_run };

struct fixture {
	struct ibcc_topo *t;
	struct traffic tr;
	struct ibcc_collector *c; /* that knows of no redirection */
	uint32_t port;            /* of sw2 to the slow sink */
};

static int setup(void **state)
{
	struct fixture *f = test_calloc(1, sizeof(*f));

	memset(&fake, 0, sizeof(fake));
	fake.base.ops = &fake_ops;
	f->t = fabric_lustre();
	traffic_init(&f->tr, f->t);
	traffic_lustre_off(&f->tr);
	f->c = ibcc_collector_new();
	assert_non_null(f->c);
	f->port = fabric_port(f->t, LUSTRE_SW2, 1);
	for (uint32_t i = 0; i < f->t->n_ports; i++)
		memset(f->tr.ctr[i].width, 32, sizeof(f->tr.ctr[i].width));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	ibcc_snapshot_fini(&f->tr.s);
	ibcc_collector_free(f->c);
	ibcc_topo_free(f->t);
	test_free(f);
	return 0;
}

static uint32_t clear(struct fixture *f)
{
	uint32_t n = 99;

	assert_int_equal(ibcc_collector_clear_full(f->c, &fake.base, f->t, &f->tr.s, &n), 0);
	return n;
}

static void test_nothing_to_do(void **state)
{
	struct fixture *f = *state;

	traffic_pass(&f->tr);
	traffic_pass(&f->tr);
	f->tr.s.port[f->port].now.v[IBCC_CTR_XMIT_WAIT] = (UINT64_C(1) << 31) - 1;
	assert_int_equal(clear(f), 0);
	assert_int_equal(fake.n, 0);
	/* Counters of 64 bits never come to their end. */
	f->tr.s.port[f->port].now.v[IBCC_CTR_XMIT_WAIT] = UINT64_C(1) << 40;
	f->tr.s.port[f->port].now.width[IBCC_CTR_XMIT_WAIT] = 64;
	assert_int_equal(clear(f), 0);
	assert_int_equal(fake.n, 0);
}

static void test_only_the_full_ones(void **state)
{
	struct fixture *f = *state;
	uint8_t *mad;

	f->tr.ctr[f->port].v[IBCC_CTR_XMIT_WAIT] = UINT64_C(1) << 31;
	f->tr.ctr[f->port].v[IBCC_CTR_XMIT_PKTS] = UINT64_C(3) << 30;
	f->tr.ctr[f->port].v[IBCC_CTR_RCV_BECN] = UINT64_C(3) << 30;
	traffic_pass(&f->tr);
	traffic_pass(&f->tr);
	assert_int_equal(clear(f), 2);
	assert_int_equal(fake.n, 2);
	mad = fake.seen[0].mad;
	assert_int_equal(fake.seen[0].lid, f->t->port[fabric_port(f->t, LUSTRE_SW2, 0)].lid);
	assert_int_equal(mad_get_field(mad, 0, IB_MAD_METHOD_F), IB_MAD_METHOD_SET);
	assert_int_equal(mad_get_field(mad, 0, IB_MAD_ATTRID_F), IB_GSI_PORT_COUNTERS);
	assert_int_equal(mad_get_field(mad + IB_PC_DATA_OFFS, 0, IB_PC_PORT_SELECT_F), 1);
	assert_int_equal(mad_get_field(mad + IB_PC_DATA_OFFS, 0, IB_PC_COUNTER_SELECT_F), 1 << 14);
	assert_int_equal(mad_get_field(mad + IB_PC_DATA_OFFS, 0, IB_PC_COUNTER_SELECT2_F), 1);
	mad = fake.seen[1].mad;
	assert_int_equal(mad_get_field(mad, 0, IB_MAD_ATTRID_F), IB_GSI_PORT_RCV_CON_CTRL);
	assert_int_equal(mad_get_field(mad + IB_PC_DATA_OFFS, 0, IB_PC_COUNTER_SELECT_F), 1 << 1);
}

/* The port starts from zero, and the interval's difference is what it counted, exactly. */
static void test_counting_goes_on(void **state)
{
	struct fixture *f = *state;
	struct ibcc_port_sample *s = &f->tr.s.port[f->port];
	uint64_t wait;

	f->tr.ctr[f->port].v[IBCC_CTR_XMIT_WAIT] = UINT64_C(1) << 31;
	traffic_pass(&f->tr);
	traffic_pass(&f->tr);
	wait = s->delta.v[IBCC_CTR_XMIT_WAIT];
	assert_true(wait > 0);
	assert_int_equal(clear(f), 1);
	f->tr.ctr[f->port].v[IBCC_CTR_XMIT_WAIT] = 0;
	traffic_pass(&f->tr);
	assert_int_equal(s->delta.v[IBCC_CTR_XMIT_WAIT], wait);
	assert_int_equal(s->delta.flags[IBCC_CTR_XMIT_WAIT], IBCC_DELTA_VALID);
}

static void test_no_answer(void **state)
{
	struct fixture *f = *state;
	uint32_t n = 99;

	f->tr.ctr[f->port].v[IBCC_CTR_XMIT_WAIT] = UINT64_C(1) << 31;
	traffic_pass(&f->tr);
	traffic_pass(&f->tr);
	fake.err = -ETIMEDOUT;
	assert_int_equal(clear(f), 0);
	assert_true(f->tr.s.port[f->port].now.v[IBCC_CTR_XMIT_WAIT] > UINT64_C(1) << 31);
	fake.rc = -EIO;
	assert_int_equal(ibcc_collector_clear_full(f->c, &fake.base, f->t, &f->tr.s, &n), -EIO);
	assert_int_equal(n, 99);
	assert_true(f->tr.s.port[f->port].now.v[IBCC_CTR_XMIT_WAIT] > UINT64_C(1) << 31);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing_to_do, setup, teardown),
		cmocka_unit_test_setup_teardown(test_only_the_full_ones, setup, teardown),
		cmocka_unit_test_setup_teardown(test_counting_goes_on, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_answer, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
