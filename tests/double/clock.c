/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Changes the wall time of one program. It is preloaded. The file that IBCC_WALL_CLOCK names has
 * the number of seconds by which the wall time is ahead. Other clocks are the machine's. So is the
 * wall time for libumad2sim, which waits until a wall time that the kernel must know.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

static time_t ahead_s(void)
{
	const char *path = getenv("IBCC_WALL_CLOCK");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	char text[32] = "";

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return (time_t)strtoll(text, NULL, 10);
}

static bool is_umad2sim(const void *caller)
{
	Dl_info in;

	return dladdr(caller, &in) && in.dli_fname && strstr(in.dli_fname, "umad2sim");
}

static long get(clockid_t id, struct timespec *ts, const void *caller)
{
	long rc = syscall(SYS_clock_gettime, id, ts);

	if (!rc && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) && !is_umad2sim(caller))
		ts->tv_sec += ahead_s();
	return rc;
}

PUBLIC int clock_gettime(clockid_t id, struct timespec *ts)
{
	return (int)get(id, ts, __builtin_return_address(0));
}

PUBLIC int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec ts;
	long rc = get(CLOCK_REALTIME, &ts, __builtin_return_address(0));

	(void)zone;
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return (int)rc;
}

PUBLIC time_t time(time_t *at)
{
	struct timespec ts = { 0 };

	get(CLOCK_REALTIME, &ts, __builtin_return_address(0));
	if (at)
		*at = ts.tv_sec;
	return ts.tv_sec;
}
