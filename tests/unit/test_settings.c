/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Settings of a fabric: deep copies and which setting counts at a port. */
#include <errno.h>
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

/* What an endport answered, and what else is against writing to it. */
static void test_support(void **state)
{
	static const struct {
		enum ibcc_cc_answer answer;
		enum ibcc_cc_support block, want;
	} c[] = {
		{ IBCC_CC_NO_ANSWER, IBCC_CC_SUPPORTED, IBCC_CC_UNKNOWN },
		{ IBCC_CC_ANSWERED, IBCC_CC_SUPPORTED, IBCC_CC_SUPPORTED },
		{ IBCC_CC_NO_CLASS, IBCC_CC_SUPPORTED, IBCC_CC_UNSUPPORTED },
		{ IBCC_CC_READ_ONLY, IBCC_CC_SUPPORTED, IBCC_CC_KEY_REFUSED },
		{ IBCC_CC_ANSWERED, IBCC_CC_FOREIGN, IBCC_CC_FOREIGN },
		{ IBCC_CC_ANSWERED, IBCC_CC_NO_EFFECT, IBCC_CC_NO_EFFECT },
		{ IBCC_CC_NO_ANSWER, IBCC_CC_FOREIGN, IBCC_CC_UNKNOWN },
		{ IBCC_CC_READ_ONLY, IBCC_CC_NO_EFFECT, IBCC_CC_KEY_REFUSED },
		{ IBCC_CC_NO_ANSWER, IBCC_CC_VENDOR_SILENT, IBCC_CC_VENDOR_SILENT },
		{ IBCC_CC_NO_CLASS, IBCC_CC_VENDOR_ON, IBCC_CC_VENDOR_ON },
		{ IBCC_CC_ANSWERED, IBCC_CC_LOG_ONLY, IBCC_CC_LOG_ONLY },
		{ IBCC_CC_NO_ANSWER, IBCC_CC_LOG_ONLY, IBCC_CC_LOG_ONLY },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct ibcc_endport_cc ep = { .answer = c[i].answer, .err = -ETIMEDOUT };

		ibcc_endport_judge(&ep, c[i].block);
		assert_int_equal(ep.support, c[i].want);
		assert_int_equal(ep.answer, c[i].answer);
		assert_int_equal(ep.err, -ETIMEDOUT);
		/* What was against it is so no more. */
		ibcc_endport_judge(&ep, IBCC_CC_SUPPORTED);
		assert_int_equal(ep.support == IBCC_CC_SUPPORTED, ep.answer == IBCC_CC_ANSWERED);
	}
}

/* A type that has only the log keeps new settings away, and nothing else; all other reasons count
 * for everything.
 */
static void test_support_back(void **state)
{
	static const struct {
		enum ibcc_cc_answer answer;
		enum ibcc_cc_support block, want;
	} c[] = {
		{ IBCC_CC_ANSWERED, IBCC_CC_LOG_ONLY, IBCC_CC_SUPPORTED },
		{ IBCC_CC_NO_ANSWER, IBCC_CC_LOG_ONLY, IBCC_CC_UNKNOWN },
		{ IBCC_CC_NO_CLASS, IBCC_CC_LOG_ONLY, IBCC_CC_UNSUPPORTED },
		{ IBCC_CC_READ_ONLY, IBCC_CC_LOG_ONLY, IBCC_CC_KEY_REFUSED },
		{ IBCC_CC_ANSWERED, IBCC_CC_VENDOR_ON, IBCC_CC_VENDOR_ON },
		{ IBCC_CC_ANSWERED, IBCC_CC_FOREIGN, IBCC_CC_FOREIGN },
		{ IBCC_CC_ANSWERED, IBCC_CC_SUPPORTED, IBCC_CC_SUPPORTED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct ibcc_endport_cc ep = { .answer = c[i].answer };

		ibcc_endport_judge(&ep, c[i].block);
		assert_int_equal(ibcc_endport_support_back(&ep), c[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copy),      cmocka_unit_test(test_support_back),
		cmocka_unit_test(test_effective), cmocka_unit_test(test_port_marks),
		cmocka_unit_test(test_support),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
