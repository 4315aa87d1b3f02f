/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* When a port is closed, with a libibumad of the test's own. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <infiniband/umad.h>

#include <ibcc/mad.h>
#include <ibcc/notice.h>

#include "lib/mad/sa_client.h"

#define AGENT   7
#define FD      1024
#define N_SENDS 8u
#define LATE    12u /* waits after which a request comes back */

/* What was sent and has not come back, and how often was waited since the first. */
static uint8_t sent[N_SENDS][IBCC_MAD_BYTES];
static unsigned int n_open, waits, late;
static bool has_class, has_port;
/* Came when no program had the class: umad2sim's process ends there. */
static bool lost;

int ibcc_umad_port_find(const struct ibcc_umad_options *o, struct ibcc_umad_port *out, char *why,
			size_t len)
{
	(void)o;
	(void)why;
	(void)len;
	*out = (struct ibcc_umad_port){ .ca = "ibsim0", .num = 1, .lid = 2, .sm_lid = 1 };
	return 0;
}

int umad_open_port(const char *ca, int port)
{
	(void)ca;
	(void)port;
	has_port = true;
	return FD;
}

int umad_close_port(int fd)
{
	assert_int_equal(fd, FD);
	has_port = false;
	return 0;
}

int umad_register(int fd, int mgmt_class, int version, uint8_t rmpp,
		  long methods[16 / sizeof(long)])
{
	(void)version;
	(void)rmpp;
	(void)methods;
	assert_int_equal(fd, FD);
	assert_int_equal(mgmt_class, IBCC_MAD_CLASS_SA);
	has_class = true;
	return AGENT;
}

int umad_unregister(int fd, int agent)
{
	assert_int_equal(fd, FD);
	assert_int_equal(agent, AGENT);
	has_class = false;
	lost |= n_open > 0;
	return 0;
}

int umad_send(int fd, int agent, void *umad, int length, int timeout_ms, int retries)
{
	assert_int_equal(fd, FD);
	assert_int_equal(agent, AGENT);
	assert_int_equal(length, IBCC_MAD_BYTES);
	assert_int_equal(retries, 0);
	assert_true(n_open < N_SENDS);
	if (timeout_ms)
		memcpy(sent[n_open++], umad_get_mad(umad), IBCC_MAD_BYTES);
	return 0;
}

/* What was sent comes back, the first first; nothing is ever answered. */
int umad_recv(int fd, void *umad, int *length, int timeout_ms)
{
	assert_int_equal(fd, FD);
	assert_true(has_class);
	if (!n_open || waits++ < late) {
		usleep((useconds_t)timeout_ms * 1000);
		return -ETIMEDOUT;
	}
	memcpy(umad_get_mad(umad), sent[0], IBCC_MAD_BYTES);
	memmove(sent[0], sent[1], (N_SENDS - 1) * sizeof(sent[0]));
	n_open--;
	((struct ib_user_mad *)umad)->status = ETIMEDOUT;
	*length = IBCC_MAD_BYTES;
	return AGENT;
}

static void ask_and_close(unsigned int n_waits)
{
	struct ibcc_sa_client c = { 0 };
	const struct ibcc_umad_options o = { 0 };
	uint8_t mad[IBCC_MAD_BYTES];

	n_open = waits = 0;
	late = n_waits;
	lost = false;
	assert_int_equal(ibcc_sa_open(&c, &o), 0);
	assert_true(has_port && has_class);
	ibcc_notice_subscribe(mad, IBCC_TRAP_LINK_STATE, true);
	assert_int_equal(ibcc_sa_ask(&c, mad, 1), -ETIMEDOUT);
	ibcc_sa_close(&c);
	assert_int_equal(c.fd, -1);
}

static void test_one_that_comes_back_in_time(void **state)
{
	(void)state;
	ask_and_close(1);
	assert_false(has_port || has_class || lost);
	assert_int_equal(n_open, 0);
}

/* No request waits for it any more when it comes. */
static void test_one_that_comes_back_late(void **state)
{
	(void)state;
	ask_and_close(LATE);
	assert_false(lost);
	assert_int_equal(n_open, 0);
	assert_false(has_port || has_class);
}

static void test_one_that_never_comes_back(void **state)
{
	(void)state;
	ask_and_close(UINT32_MAX);
	assert_false(lost);
	assert_true(has_port && has_class);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_that_comes_back_in_time),
		cmocka_unit_test(test_one_that_comes_back_late),
		cmocka_unit_test(test_one_that_never_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
