/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The plugin's socket file: stale ones are replaced, living ones and other files never. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "opensm-plugin/listener.h"

static char dir[64];
static struct ibcc_plugin_options o;

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/ibcc-listener.XXXXXX");
	assert_non_null(mkdtemp(dir));
	memset(&o, 0, sizeof(o));
	snprintf(o.socket, sizeof(o.socket), "%s/sub/sock", dir);
	o.gid = getegid(); /* one that may be given without being root */
	o.mode = 0662;
	return 0;
}

static int teardown(void **state)
{
	char sub[80];

	(void)state;
	snprintf(sub, sizeof(sub), "%s/sub", dir);
	unlink(o.socket);
	assert_int_equal(rmdir(sub), 0); /* nothing else was left */
	assert_int_equal(rmdir(dir), 0);
	return 0;
}

static int dial(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0), ret;

	strcpy(a.sun_path, o.socket);
	ret = connect(fd, (struct sockaddr *)&a, sizeof(a)) ? -errno : fd;
	if (ret < 0)
		close(fd);
	return ret;
}

static void test_life(void **state)
{
	struct ibcc_listener l;
	struct ucred peer;
	struct stat st;
	int near, far;

	(void)state;
	ibcc_listener_init(&l);
	assert_false(ibcc_listener_in_place(&l));
	ibcc_listener_close(&l);
	assert_int_equal(ibcc_listener_open(&l, &o), 0);
	assert_int_equal(stat(o.socket, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0662); /* whatever the umask */
	assert_int_equal(st.st_gid, getegid());
	assert_true(ibcc_listener_in_place(&l));
	assert_int_equal(ibcc_listener_accept(&l, &peer), -EAGAIN);
	near = dial();
	assert_true(near >= 0);
	far = ibcc_listener_accept(&l, &peer);
	assert_true(far >= 0);
	assert_int_equal(peer.pid, getpid());
	assert_int_equal(peer.uid, getuid());
	assert_true(fcntl(far, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(far, F_GETFD) & FD_CLOEXEC);
	close(near);
	close(far);
	ibcc_listener_close(&l);
	assert_int_equal(access(o.socket, F_OK), -1);
}

static void test_in_use(void **state)
{
	struct ibcc_listener first, second;
	struct ucred peer;

	(void)state;
	ibcc_listener_init(&first);
	ibcc_listener_init(&second);
	assert_int_equal(ibcc_listener_open(&first, &o), 0);
	assert_int_equal(ibcc_listener_open(&second, &o), -EADDRINUSE);
	assert_int_equal(second.fd, -1);
	ibcc_listener_close(&second);
	assert_true(ibcc_listener_in_place(&first));
	close(ibcc_listener_accept(&first, &peer)); /* the second one's question */
	ibcc_listener_close(&first);
	assert_int_equal(ibcc_listener_open(&second, &o), 0);
	ibcc_listener_close(&second);
}

/* A killed process leaves its file; closing the descriptor alone does the same. */
static void test_stale(void **state)
{
	struct ibcc_listener dead, l;
	int fd;

	(void)state;
	ibcc_listener_init(&dead);
	ibcc_listener_init(&l);
	assert_int_equal(ibcc_listener_open(&dead, &o), 0);
	close(dead.fd);
	assert_int_equal(dial(), -ECONNREFUSED);
	assert_int_equal(ibcc_listener_open(&l, &o), 0);
	assert_false(ibcc_listener_in_place(&dead));
	fd = dial();
	assert_true(fd >= 0);
	close(fd);
	/* Taking leave late must not take the new one's file along. */
	dead.fd = open("/dev/null", O_RDONLY);
	ibcc_listener_close(&dead);
	assert_true(ibcc_listener_in_place(&l));
	ibcc_listener_close(&l);
}

static void test_other_file(void **state)
{
	struct ibcc_listener l;
	char sub[80];
	int fd;

	(void)state;
	ibcc_listener_init(&l);
	snprintf(sub, sizeof(sub), "%s/sub", dir);
	assert_int_equal(mkdir(sub, 0700), 0);
	fd = open(o.socket, O_CREAT | O_WRONLY, 0600);
	assert_int_equal(write(fd, "data", 4), 4);
	close(fd);
	assert_int_equal(ibcc_listener_open(&l, &o), -EADDRINUSE);
	fd = open(o.socket, O_RDONLY);
	assert_int_equal(lseek(fd, 0, SEEK_END), 4);
	close(fd);
}

static void test_nowhere(void **state)
{
	struct ibcc_plugin_options deep = o;
	struct ibcc_listener l;
	char sub[80];

	(void)state;
	ibcc_listener_init(&l);
	snprintf(deep.socket, sizeof(deep.socket), "%s/sub/a/b", dir);
	assert_int_equal(ibcc_listener_open(&l, &deep), -ENOENT);
	assert_int_equal(l.fd, -1);
	snprintf(sub, sizeof(sub), "%s/sub", dir);
	mkdir(sub, 0700);
}

#define BOTH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(test_life),       BOTH(test_in_use),  BOTH(test_stale),
		BOTH(test_other_file), BOTH(test_nowhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
