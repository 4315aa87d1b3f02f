/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Subscriptions to traps and their reports, byte by byte (IBA vol. 1, 13.4.8.2, 13.4.8.3, 15.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <ibcc/notice.h>

static void test_subscribe(void **state)
{
	static const uint8_t inform[36] = {
		[16] = 0xff, 0xff,             /* LIDRangeBegin: all */
		[22] = 1,    1,    0xff, 0xff, /* IsGeneric, Subscribe, Type: all */
		[26] = 0,    128,              /* TrapNumber */
		[31] = 18,                     /* RespTimeValue */
		[33] = 0xff, 0xff, 0xff,       /* ProducerType: all */
	};
	static const uint8_t mask[8] = { [6] = 0x10, 0xf2 };
	uint8_t mad[IBCC_MAD_BYTES];

	(void)state;
	memset(mad, 0xee, sizeof(mad));
	ibcc_notice_subscribe(mad, IBCC_TRAP_LINK_STATE, true);
	assert_int_equal(mad[1], 0x03);
	assert_int_equal(mad[2], 2); /* class version */
	assert_int_equal(mad[3], 0x02);
	assert_int_equal(mad[16] << 8 | mad[17], 0x0003);
	assert_memory_equal(mad + 48, mask, sizeof(mask));
	assert_memory_equal(mad + 56, inform, sizeof(inform));
	ibcc_notice_subscribe(mad, IBCC_TRAP_LOCAL_CHANGES, false);
	assert_int_equal(mad[56 + 23], 0);
	assert_int_equal(mad[56 + 27], 144);
	assert_int_equal(mad[56 + 30], 1); /* whose: QP 1's */
	assert_false(ibcc_notice_is_subscribed(mad));
	mad[3] = 0x81;
	assert_true(ibcc_notice_is_subscribed(mad));
	mad[5] = 0x04;
	assert_false(ibcc_notice_is_subscribed(mad));
}

static void test_report(void **state)
{
	uint8_t mad[IBCC_MAD_BYTES] = { 1, 0x03, 2, 0x06, [12] = 0xde, 0xad, 0xbe, 0xef, [17] = 2 };
	uint8_t body[IBCC_MAD_BYTES];
	uint16_t trap = 0;

	(void)state;
	mad[56] = 0x81; /* generic, urgent */
	mad[59] = 2;    /* a switch */
	mad[61] = 128;
	assert_true(ibcc_notice_report(mad, &trap));
	assert_int_equal(trap, 128);
	memcpy(body, mad, sizeof(body));
	ibcc_notice_respond(mad);
	assert_int_equal(mad[3], 0x86);
	body[3] = 0x86;
	assert_memory_equal(mad, body, sizeof(body));
	/* Answers, traps and vendors' notices are none. */
	assert_false(ibcc_notice_report(mad, &trap));
	mad[3] = 0x06;
	mad[56] = 0x01;
	assert_false(ibcc_notice_report(mad, &trap));
	mad[56] = 0x81;
	mad[1] = 0x04;
	assert_false(ibcc_notice_report(mad, &trap));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_subscribe),
		cmocka_unit_test(test_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
