/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the local port's PortInfo says of its link and its subnet manager, packed by libibmad. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <infiniband/mad.h>

#include "daemon/service/sm.h"

static struct {
	struct ibcc_transport base;
	unsigned int state, phys_state, sm_lid;
	int err, rc;
} port;

static int run(struct ibcc_transport *t, struct ibcc_mad_op *op, size_t n)
{
	uint8_t *data = op->mad + IB_SMP_DATA_OFFS;

	(void)t;
	assert_int_equal(n, 1);
	assert_int_equal(op->mad[3], IBCC_MAD_GET);
	mad_set_field(data, 0, IB_PORT_STATE_F, port.state);
	mad_set_field(data, 0, IB_PORT_PHYS_STATE_F, port.phys_state);
	mad_set_field(data, 0, IB_PORT_SMLID_F, port.sm_lid);
	op->err = port.err;
	return port.rc;
}

static const struct ibcc_transport_ops ops = { .run = run };

static int check(unsigned int state, unsigned int phys_state, unsigned int sm_lid,
		 struct ibcc_why *why)
{
	struct ibcc_smp_port_info info;

	*why = (struct ibcc_why){ "" };
	port.base.ops = &ops;
	port.state = state;
	port.phys_state = phys_state;
	port.sm_lid = sm_lid;
	return ibcc_sm_check(&port.base, &info, why);
}

/* PortState 1 Down, 2 Initialize, 4 Active; PortPhysicalState 2 Polling, 3 Disabled, 5 LinkUp. */
static void test_states(void **state)
{
	struct ibcc_why why;

	(void)state;
	assert_int_equal(check(4, 5, 1, &why), 0);
	assert_string_equal(why.text, "");

	assert_int_equal(check(2, 5, 0, &why), -ENETDOWN);
	assert_non_null(strstr(why.text, "no subnet manager has set this port up"));

	/* Without a link it is not the subnet manager that is missing, even if there once was one.
	 */
	for (unsigned int sm = 0; sm < 2; sm++) {
		assert_int_equal(check(1, 2, sm, &why), -ENETDOWN);
		assert_non_null(strstr(why.text, "the local port is down (Polling)"));
		assert_null(strstr(why.text, "subnet manager"));
		assert_int_equal(check(1, 3, sm, &why), -ENETDOWN);
		assert_non_null(strstr(why.text, "the local port is down (Disabled)"));
		assert_non_null(strstr(why.text, "another port by ca and port"));
	}
	assert_int_equal(check(1, 15, 0, &why), -ENETDOWN);
	assert_non_null(strstr(why.text, "(unknown)"));
}

static void test_no_answer(void **state)
{
	struct ibcc_why why;

	(void)state;
	port.err = -ETIMEDOUT;
	assert_int_equal(check(4, 5, 1, &why), -EHOSTUNREACH);
	assert_non_null(strstr(why.text, "does not answer"));
	port.err = -ECANCELED;
	assert_int_equal(check(4, 5, 1, &why), -ECANCELED);
	port.err = 0;
	port.rc = -EIO;
	assert_int_equal(check(4, 5, 1, &why), -EIO);
	port.rc = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_no_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
