/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* An engine's time beside the host's, with an engine of the test's own, which is fast; and whether
 * the simulator tells that time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include <ibcc/now.h>
#include <ibcc/sim_clock.h>

#include "sim/pace.h"

#include "tests/unit/files.h"

#define SPEED    0.05
#define STALL_US 100000u
#define MOST_US  400000u /* a stall of more may be lost */
#define TRIES    50

static uint64_t now_ps;

int ibcc_sim_fabric_run(struct ibcc_sim_fabric *w, uint64_t until_ps)
{
	(void)w;
	now_ps = until_ps;
	return 0;
}

uint64_t ibcc_sim_fabric_now_ps(const struct ibcc_sim_fabric *w)
{
	(void)w;
	return now_ps;
}

const struct ibcc_topo *ibcc_sim_fabric_topo(const struct ibcc_sim_fabric *w)
{
	return (const void *)w;
}

int ibcc_sim_fabric_deadlock(const struct ibcc_sim_fabric *w, char *buf, size_t len)
{
	(void)w;
	(void)buf;
	(void)len;
	return 0;
}

static void failed(void *arg, int err)
{
	(void)arg;
	fail_msg("the engine fails: %d", err);
}

static uint64_t wall_us(void)
{
	return ibcc_now_ns() / 1000u;
}

/* What programs on the fabric are told. */
static void assert_told(struct ibcc_sim_clock *clock)
{
	assert_int_equal(ibcc_sim_clock_ns(clock), now_ps / 1000);
}

/* The simulator has no processor for a while; a client that asks then learns what is so by now. */
static void test_stall_is_caught_up_with(void **state)
{
	struct ibcc_sim_fabric *w = (void *)&now_ps; /* never looked at */
	uint64_t from_us = 0, took_us = UINT64_MAX, from_ps = 0;
	int fd = ibcc_sim_clock_create(files_path("clock")), err = 0;
	struct ibcc_sim_clock *clock;
	struct ibcc_pace *p;
	sd_event *ev;

	(void)state;
	assert_int_equal(ibcc_sim_clock_write(fd, 0, wall_us() * 1000), 0);
	clock = ibcc_sim_clock_open(files_path("clock"), wall_us() * 1000, &err, NULL);
	assert_non_null(clock);
	assert_true(sd_event_new(&ev) >= 0);
	p = ibcc_pace_new(ev, w, SPEED, fd, failed, NULL, &err);
	assert_non_null(p);
	for (int i = 0; i < TRIES && took_us > MOST_US; i++) {
		/* Keeps up, as is found out once in a second. */
		do {
			from_us = wall_us();
			assert_true(sd_event_run(ev, 1000000) >= 0);
			assert_told(clock);
		} while (ibcc_pace_reached(p) < 0.9 * SPEED);
		ibcc_pace_catch_up(p);
		from_ps = now_ps;
		usleep(STALL_US);
		ibcc_pace_catch_up(p);
		assert_told(clock);
		took_us = wall_us() - from_us;
	}
	assert_true(took_us <= MOST_US);
	assert_in_range((now_ps - from_ps) / 1000000, STALL_US * SPEED - 1, took_us * SPEED + 1);
	ibcc_pace_free(p);
	sd_event_unref(ev);
	ibcc_sim_clock_close(clock);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stall_is_caught_up_with),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
