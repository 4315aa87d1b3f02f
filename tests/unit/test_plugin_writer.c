/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which of several clients of the plugin writes, and when the dead man's switch falls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "opensm-plugin/writer.h"

#define DAEMON 998u
#define T0     1000000u

static struct ibcc_session client(uid_t uid, uint64_t heard_ms, uint32_t lease_ms)
{
	return (struct ibcc_session){
		.phase = IBCC_SESSION_IDLE, .uid = uid, .heard_ms = heard_ms, .lease_ms = lease_ms
	};
}

static void test_turns(void **state)
{
	struct ibcc_session daemon = client(DAEMON, T0, 50000), other = client(DAEMON, T0, 0),
			    root = client(0, T0, 0), root2 = client(0, T0, 0);

	(void)state;
	assert_int_equal(ibcc_writer_turn(NULL, &daemon, T0), IBCC_WRITER_MAY);
	assert_int_equal(ibcc_writer_turn(&daemon, &daemon, T0 + 90000), IBCC_WRITER_MAY);
	/* While it lives, no other of its user; root at once. */
	assert_int_equal(ibcc_writer_turn(&daemon, &other, T0 + 49999), IBCC_WRITER_WAITS);
	assert_int_equal(ibcc_writer_turn(&daemon, &root, T0), IBCC_WRITER_TAKES);
	assert_int_equal(ibcc_writer_turn(&root, &daemon, T0), IBCC_WRITER_WAITS);
	assert_int_equal(ibcc_writer_turn(&root, &root2, T0), IBCC_WRITER_WAITS);
	/* It has stopped. */
	assert_int_equal(ibcc_writer_turn(&daemon, &other, T0 + 50000), IBCC_WRITER_TAKES);
	/* One that promises nothing has some seconds. */
	assert_int_equal(ibcc_writer_turn(&other, &daemon, T0 + IBCC_WRITER_LEASE_MS - 1),
			 IBCC_WRITER_WAITS);
	assert_int_equal(ibcc_writer_turn(&other, &daemon, T0 + IBCC_WRITER_LEASE_MS),
			 IBCC_WRITER_TAKES);
	/* It cannot speak while its plan is applied. */
	daemon.phase = IBCC_SESSION_PUSH;
	assert_int_equal(ibcc_writer_turn(&daemon, &other, T0 + 900000), IBCC_WRITER_WAITS);
	assert_int_equal(ibcc_writer_turn(&daemon, &root, T0 + 900000), IBCC_WRITER_TAKES);
}

static void test_dead_man(void **state)
{
	struct ibcc_dead_man d = { .after_ms = 5000 };

	(void)state;
	assert_false(ibcc_dead_man_is_due(&d, false, false, 100000)); /* nothing to take off */
	assert_false(ibcc_dead_man_is_due(&d, true, true, 200000));
	assert_false(ibcc_dead_man_is_due(&d, true, false, 204999));
	assert_false(ibcc_dead_man_is_due(&d, true, true, 205000)); /* there is one again */
	assert_false(ibcc_dead_man_is_due(&d, true, false, 209999));
	assert_true(ibcc_dead_man_is_due(&d, true, false, 210000));
	/* Until it has worked. */
	assert_false(ibcc_dead_man_is_due(&d, true, false, 211000));
	assert_true(ibcc_dead_man_is_due(&d, true, false, 215000));
	assert_false(ibcc_dead_man_is_due(&d, false, false, UINT64_MAX));
	d = (struct ibcc_dead_man){ 0 }; /* not configured */
	assert_false(ibcc_dead_man_is_due(&d, true, false, UINT64_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_dead_man),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
