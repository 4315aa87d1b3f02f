/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Settings of a fabric: deep copies and which setting counts at a port. */
#include <stdlib.h>
#include <string.h>

#include "fabrics.h"

#include <ibcc/settings.h>

static void test_copy(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_settings a, b;

	(void)state;
	assert_int_equal(ibcc_settings_init(&a, t), 0);
	assert_int_equal(a.n, t->n_endports);
	assert_int_equal(a.ep[7].support, IBCC_CC_UNKNOWN);
	a.ep[7].element = calloc(9, sizeof(*a.ep[7].element));
	a.ep[7].n_element = 9;
	a.ep[7].element[3].Threshold = 5;
	a.ep[0].cct.entry[100] = 17;
	assert_int_equal(ibcc_settings_copy(&b, &a), 0);
	a.ep[7].element[3].Threshold = 6;
	ibcc_settings_fini(&a);
	ibcc_settings_fini(&a);
	ibcc_settings_fini(NULL);
	assert_int_equal(b.n, t->n_endports);
	assert_int_equal(b.ep[7].n_element, 9);
	assert_int_equal(b.ep[7].element[3].Threshold, 5);
	assert_int_equal(b.ep[0].cct.entry[100], 17);
	ibcc_settings_fini(&b);
	ibcc_topo_free(t);
}

static void test_effective(void **state)
{
	struct ibcc_cc_sw_port_element el[3] = {
		[1] = { .Valid = true, .Threshold = 4, .Cong_Parm_Marking_Rate = 2 },
		[2] = { .Valid = false, .Threshold = 4 },
	};
	struct ibcc_endport_cc sw = {
		.sw = { .Threshold = 9, .Packet_Size = 8, .Marking_Rate = 1 },
		.n_element = 3,
		.element = el,
	};

	(void)state;
	assert_int_equal(ibcc_settings_effective(&sw, 1).Threshold, 4);
	assert_int_equal(ibcc_settings_effective(&sw, 1).Packet_Size, 0);
	assert_int_equal(ibcc_settings_effective(&sw, 1).Cong_Parm_Marking_Rate, 2);
	assert_int_equal(ibcc_settings_effective(&sw, 2).Threshold, 9);
	assert_int_equal(ibcc_settings_effective(&sw, 2).Packet_Size, 8);
	assert_int_equal(ibcc_settings_effective(&sw, 200).Cong_Parm_Marking_Rate, 1);
	assert_false(ibcc_settings_effective(&sw, 200).Control_Type);
}

static void test_port_marks(void **state)
{
	struct ibcc_cc_sw_port_element el[5] = {
		[1] = { .Valid = true, .Threshold = 4 },
		[2] = { .Valid = true, .Threshold = 0 },
		[3] = { .Valid = true, .Threshold = 4, .Control_Type = true },
		[4] = { .Valid = false, .Threshold = 4 },
	};
	struct ibcc_endport_cc sw = {
		.support = IBCC_CC_SUPPORTED,
		.n_element = 5,
		.element = el,
	};

	(void)state;
	for (unsigned int all = 0; all < 2; all++) {
		sw.sw.Threshold = all ? 9 : 0;
		assert_true(ibcc_settings_port_marks(&sw, 1));
		assert_false(ibcc_settings_port_marks(&sw, 2));
		assert_false(ibcc_settings_port_marks(&sw, 3));
		assert_int_equal(ibcc_settings_port_marks(&sw, 4), all);
		assert_int_equal(ibcc_settings_port_marks(&sw, 200), all);
	}
	sw.support = IBCC_CC_KEY_REFUSED;
	assert_false(ibcc_settings_port_marks(&sw, 1));
	assert_false(ibcc_settings_port_marks(&sw, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_effective),
		cmocka_unit_test(test_port_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
