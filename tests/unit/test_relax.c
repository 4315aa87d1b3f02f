/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which changes only take congestion control back. */
#include <stdlib.h>

#include "tests/unit/fabrics.h"

#include <ibcc/plan.h>
#include <ibcc/settings.h>

static struct ibcc_endport_cc adapter(void)
{
	struct ibcc_endport_cc ep = { .support = IBCC_CC_SUPPORTED };

	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++)
		ep.ca.sl[sl] = (struct ibcc_cc_ca_entry){ .CCTI_Timer = 30, .CCTI_Increase = 2 };
	assert_int_equal(ibcc_cct_build(&ep.cct, IBCC_CCT_LINEAR, 32, 8000), 0);
	return ep;
}

static void test_adapter(void **state)
{
	const struct ibcc_endport_cc off = { .support = IBCC_CC_SUPPORTED };
	struct ibcc_endport_cc from = adapter(), to = from;

	(void)state;
	assert_true(ibcc_settings_relax(&from, &from));
	assert_true(ibcc_settings_relax(&from, &off));
	assert_false(ibcc_settings_relax(&off, &from));
	to.ca.sl[3].CCTI_Timer = 20;
	to.ca.sl[4].CCTI_Increase = 1;
	assert_true(ibcc_settings_relax(&from, &to));
	assert_false(ibcc_settings_relax(&to, &from));
	to.ca.sl[5].CCTI_Min = 1;
	assert_false(ibcc_settings_relax(&from, &to));
	to = from;
	to.ca.Port_Control ^= IBCC_CC_PORT_CONTROL_SL;
	assert_false(ibcc_settings_relax(&from, &to));
	/* A table that ends nearer holds back less, whatever lies behind its end; a steeper more.
	 */
	to = from;
	to.cct.limit = 20;
	to.cct.entry[25] = 0xffff;
	assert_true(ibcc_settings_relax(&from, &to));
	assert_false(ibcc_settings_relax(&to, &from));
	to = from;
	to.cct.entry[10] = ibcc_cct_entry_encode(9000);
	assert_false(ibcc_settings_relax(&from, &to));
	/* But where no index can rise any table will do. */
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++)
		to.ca.sl[sl].CCTI_Increase = 0;
	assert_true(ibcc_settings_relax(&from, &to));
}

static void test_switch(void **state)
{
	struct ibcc_cc_sw_port_element a[4] = { 0 }, b[4] = { 0 };
	struct ibcc_endport_cc from = { .support = IBCC_CC_SUPPORTED,
					.n_element = 4,
					.element = a };
	struct ibcc_endport_cc to = { .support = IBCC_CC_SUPPORTED, .n_element = 4, .element = b };

	(void)state;
	a[2] = (struct ibcc_cc_sw_port_element){ .Valid = true,
						 .Threshold = 12,
						 .Cong_Parm_Marking_Rate = 3 };
	assert_true(ibcc_settings_relax(&from, &to));
	assert_false(ibcc_settings_relax(&to, &from));
	b[2] = a[2];
	b[2].Threshold = 8;
	b[2].Cong_Parm_Marking_Rate = 9;
	assert_true(ibcc_settings_relax(&from, &to));
	b[2].Cong_Parm_Marking_Rate = 1;
	assert_false(ibcc_settings_relax(&from, &to));
	/* A port without a setting of its own has the switch's. */
	b[2] = (struct ibcc_cc_sw_port_element){ 0 };
	from.sw.Threshold = to.sw.Threshold = 15;
	assert_false(ibcc_settings_relax(&from, &to));
	from.sw.Threshold = to.sw.Threshold = 12;
	to.sw.Marking_Rate = from.sw.Marking_Rate = 3;
	assert_true(ibcc_settings_relax(&from, &to));
	to.sw.Threshold = 13;
	b[2] = a[2];
	assert_false(ibcc_settings_relax(&from, &to)); /* all others mark sooner */
	to.sw.Threshold = 0;
	ibcc_cc_mask_assign(&to.sw.Victim_Mask, 3, true);
	assert_false(ibcc_settings_relax(&from, &to));
	assert_true(ibcc_settings_relax(&to, &(struct ibcc_endport_cc){ 0 }));
}

static void test_part(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_settings actual, wanted;
	struct ibcc_plan plan = { .generation = 5, .n_unreachable = 1 }, part;
	struct ibcc_change c = { .attr_id = IBCC_CC_ATTR_CA_SETTING };

	(void)state;
	assert_int_equal(ibcc_settings_init(&actual, t), 0);
	assert_int_equal(ibcc_settings_init(&wanted, t), 0);
	actual.ep[0] = adapter();
	wanted.ep[1] = adapter();
	for (uint32_t i = 0; i < 2; i++) {
		c.lid = t->port[t->endport[i]].lid;
		assert_int_equal(ibcc_plan_append(&plan, &c), 0);
		assert_int_equal(ibcc_plan_append(&plan, &c), 0);
	}
	c.lid = 4711; /* no port's */
	assert_int_equal(ibcc_plan_append(&plan, &c), 0);
	assert_int_equal(ibcc_plan_relaxing(t, &actual, &wanted, &plan, &part), 0);
	assert_int_equal(part.n, 2);
	assert_int_equal(part.change[1].lid, t->port[t->endport[0]].lid);
	assert_int_equal(part.generation, 5);
	assert_int_equal(part.n_unreachable, 1);
	ibcc_plan_fini(&part);
	ibcc_plan_fini(&plan);
	ibcc_settings_fini(&actual);
	ibcc_settings_fini(&wanted);
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_adapter),
		cmocka_unit_test(test_switch),
		cmocka_unit_test(test_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
