/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The file by which a simulator tells its time: written and read, and what else may be there. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <ibcc/mad.h>
#include <ibcc/sim_clock.h>

#include "tests/unit/files.h"

#define SECOND_NS UINT64_C(1000000000)
#define NOW_NS    (1000 * SECOND_NS)

/* A file with a time in it, at "clock" in the test's folder. */
static int made(uint64_t engine_ns)
{
	int fd = ibcc_sim_clock_create(files_path("clock"));

	assert_true(fd >= 0);
	assert_int_equal(ibcc_sim_clock_write(fd, engine_ns, NOW_NS), 0);
	return fd;
}

static void assert_refused(const char *path, uint64_t now_ns, int want, const char *words)
{
	struct ibcc_why why = { "" };
	int err = 0;

	assert_null(ibcc_sim_clock_open(path, now_ns, &err, &why));
	assert_int_equal(err, want);
	if (strncmp(why.text, path, strlen(path)) != 0 || !strstr(why.text, words))
		fail_msg("%s", why.text);
}

static struct ibcc_sim_clock *opened(void)
{
	struct ibcc_why why = { "" };
	int err = 0;
	struct ibcc_sim_clock *c = ibcc_sim_clock_open(files_path("clock"), NOW_NS, &err, &why);

	if (!c)
		fail_msg("%s", why.text);
	assert_int_equal(err, 0);
	return c;
}

static void test_time_goes_on(void **state)
{
	int fd = made(7);
	struct ibcc_sim_clock *c = opened();

	(void)state;
	assert_int_equal(ibcc_sim_clock_ns(c), 7);
	assert_int_equal(ibcc_sim_clock_write(fd, 12 * SECOND_NS, NOW_NS), 0);
	assert_int_equal(ibcc_sim_clock_ns(c), 12 * SECOND_NS);
	/* It never goes back, */
	assert_int_equal(ibcc_sim_clock_write(fd, 3, NOW_NS), 0);
	assert_int_equal(ibcc_sim_clock_ns(c), 12 * SECOND_NS);
	/* and stands still where there is nothing to read any more. */
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(ibcc_sim_clock_ns(c), 12 * SECOND_NS);
	ibcc_sim_clock_close(c);
	close(fd);
}

/* A simulator that was killed has left a file. Every user may read the new one. */
static void test_left_behind(void **state)
{
	int old = made(1), fd;
	struct ibcc_sim_clock *c;
	mode_t mask = umask(077);
	struct stat st;

	(void)state;
	fd = made(2);
	umask(mask);
	c = opened();
	assert_int_equal(ibcc_sim_clock_ns(c), 2);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	ibcc_sim_clock_close(c);
	close(fd);
	close(old);
}

static void test_stale(void **state)
{
	int fd = made(1);

	(void)state;
	assert_refused(files_path("clock"), NOW_NS + 31 * SECOND_NS, -ESTALE, "stopped");
	/* Of a host that has booted since. */
	assert_refused(files_path("clock"), SECOND_NS, -ESTALE, "stopped");
	close(fd);
}

static void test_foreign(void **state)
{
	char path[512];

	(void)state;
	assert_refused(files_path("none"), NOW_NS, -ENOENT, "No such file");
	files_write("short", "ibsim");
	assert_refused(files_path("short"), NOW_NS, -EPROTO, "is damaged, or another version");
	files_write("text", "This is a long text, and certainly no time of a simulator.");
	assert_refused(files_path("text"), NOW_NS, -EPROTO, "is damaged, or another version");
	close(made(1));
	snprintf(path, sizeof(path), "%s", files_path("clock"));
	assert_int_equal(symlink(path, files_path("link")), 0);
	assert_refused(files_path("link"), NOW_NS, -EPERM, "symbolic link");
	assert_int_equal(mkfifo(files_path("fifo"), 0644), 0);
	assert_refused(files_path("fifo"), NOW_NS, -EPERM, "not a regular file");
	assert_refused("/dev/null", NOW_NS, -EPERM, "not a regular file");
	/* Root's programs may be on another user's fabric. */
	if (geteuid() == 0)
		assert_int_equal(chown(path, 65534, 65534), 0);
	ibcc_sim_clock_close(opened());
}

/* Half of one record and half of another. */
static void test_torn(void **state)
{
	int fd = made(5);
	struct ibcc_sim_clock *c = opened();
	uint64_t word[4];

	(void)state;
	assert_int_equal(pread(fd, word, sizeof(word), 0), sizeof(word));
	for (unsigned int bytes = sizeof(word[0]) + 1; bytes < sizeof(word); bytes++) {
		assert_int_equal(ibcc_sim_clock_write(fd, 0x1122334455667788, NOW_NS + 99), 0);
		assert_int_equal(pwrite(fd, word, bytes, 0), bytes);
		assert_int_equal(ibcc_sim_clock_ns(c), 5);
		assert_refused(files_path("clock"), NOW_NS, -EPROTO,
			       "is damaged, or another version");
	}
	ibcc_sim_clock_close(c);
	close(fd);
}

struct writer {
	int fd;
	atomic_bool ends;
};

/* Both halves of the time are equal, until it ends. */
static void *write_on(void *arg)
{
	struct writer *w = arg;

	for (uint64_t i = 1; !atomic_load(&w->ends); i++)
		if (ibcc_sim_clock_write(w->fd, i << 32 | i, NOW_NS + i))
			break;
	return NULL;
}

static void test_beside(void **state)
{
	struct writer w = { .fd = made(0) };
	struct ibcc_sim_clock *c = opened();
	uint64_t last = 0, t, steps = 0;
	pthread_t id;

	(void)state;
	assert_int_equal(pthread_create(&id, NULL, write_on, &w), 0);
	for (uint64_t i = 0; i < 10000000 && (i < 200000 || steps < 100); i++) {
		t = ibcc_sim_clock_ns(c);
		assert_int_equal(t >> 32, t & UINT32_MAX);
		assert_true(t >= last);
		steps += t > last;
		last = t;
	}
	atomic_store(&w.ends, true);
	assert_int_equal(pthread_join(id, NULL), 0);
	assert_true(steps >= 100);
	ibcc_sim_clock_close(c);
	close(w.fd);
}

static void test_path(void **state)
{
	char path[64];

	(void)state;
	assert_true(ibcc_sim_clock_path("demo", path, sizeof(path)) < (int)sizeof(path));
	assert_string_equal(path, "/dev/shm/ibcc-sim.demo.clock");
}

/* An answer with counters has the time at which they were so; no other one has. */
static void test_stamp(void **state)
{
	uint8_t mad[IBCC_MAD_BYTES] = { 1, IBCC_MAD_CLASS_PERF }, other[IBCC_MAD_BYTES];
	uint64_t ns = 1;

	(void)state;
	assert_false(ibcc_sim_clock_stamped(mad, &ns));
	ibcc_sim_clock_stamp(mad, 4711);
	assert_true(ibcc_sim_clock_stamped(mad, &ns));
	assert_int_equal(ns, 4711);
	for (int i = 0; i < 24; i++)
		assert_int_equal(mad[i], i == 0 ? 1 : i == 1 ? IBCC_MAD_CLASS_PERF : 0);
	for (size_t i = 40; i < sizeof(mad); i++)
		assert_int_equal(mad[i], 0);
	memcpy(other, mad, sizeof(other));
	mad[1] = IBCC_MAD_CLASS_CC;
	assert_false(ibcc_sim_clock_stamped(mad, &ns));
	ibcc_sim_clock_stamp(mad, 4712);
	other[1] = IBCC_MAD_CLASS_CC;
	assert_memory_equal(mad, other, sizeof(mad));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time_goes_on), cmocka_unit_test(test_left_behind),
		cmocka_unit_test(test_stale),        cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_torn),         cmocka_unit_test(test_beside),
		cmocka_unit_test(test_path),         cmocka_unit_test(test_stamp),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
