/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A name service, to be preloaded, that is silent for as long as the file exists that
 * IBCC_NSS_SILENT names. A service whose directory server has gone behaves in this way.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

static void wait_for_server(void)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	const char *path = getenv("IBCC_NSS_SILENT");
	int fd;

	while (path && (fd = open(path, O_RDONLY | O_CLOEXEC)) >= 0) {
		close(fd);
		nanosleep(&pause, NULL);
	}
}

PUBLIC int getgrnam_r(const char *restrict name, struct group *restrict gr, char *restrict buf,
		      size_t len, struct group **restrict found)
{
	__typeof__(&getgrnam_r) real = (__typeof__(&getgrnam_r))dlsym(RTLD_NEXT, "getgrnam_r");

	wait_for_server();
	return real(name, gr, buf, len, found);
}

PUBLIC int getpwnam_r(const char *restrict name, struct passwd *restrict pw, char *restrict buf,
		      size_t len, struct passwd **restrict found)
{
	__typeof__(&getpwnam_r) real = (__typeof__(&getpwnam_r))dlsym(RTLD_NEXT, "getpwnam_r");

	wait_for_server();
	return real(name, pw, buf, len, found);
}

PUBLIC int initgroups(const char *user, gid_t group)
{
	__typeof__(&initgroups) real = (__typeof__(&initgroups))dlsym(RTLD_NEXT, "initgroups");

	wait_for_server();
	return real(user, group);
}

PUBLIC int getgrouplist(const char *user, gid_t group, gid_t *groups, int *n)
{
	__typeof__(&getgrouplist) real =
		(__typeof__(&getgrouplist))dlsym(RTLD_NEXT, "getgrouplist");

	wait_for_server();
	return real(user, group, groups, n);
}

PUBLIC int getpwuid_r(uid_t uid, struct passwd *restrict pw, char *restrict buf, size_t len,
		      struct passwd **restrict found)
{
	__typeof__(&getpwuid_r) real = (__typeof__(&getpwuid_r))dlsym(RTLD_NEXT, "getpwuid_r");

	wait_for_server();
	return real(uid, pw, buf, len, found);
}
