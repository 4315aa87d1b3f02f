/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "daemon/rights.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include <ibcc/config.h>

#define PASSWD_BYTES 16384 /* of an entry, with directories behind it */

static int become(const struct passwd *pw)
{
	/* The groups first: without root's user they could not be changed any more. */
	if (initgroups(pw->pw_name, pw->pw_gid) || setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) ||
	    setresuid(pw->pw_uid, pw->pw_uid, pw->pw_uid))
		return -errno;
	/* The kernel has taken the capabilities away with the last of the three user IDs. */
	return setresuid(0, 0, 0) == 0 ? -EPERM : 0;
}

int ibcc_rights_drop(const char *user, struct ibcc_why *why)
{
	struct passwd entry, *pw = NULL;
	char buf[PASSWD_BYTES];
	int rc;

	if (geteuid() != 0 || !strcmp(user, "root"))
		return IBCC_RIGHTS_KEPT;
	rc = getpwnam_r(user, &entry, buf, sizeof(buf), &pw);
	if (rc)
		return ibcc_why_set(why, -rc,
				    "user: \"%s\" cannot be looked up, so the daemon does not "
				    "start: %s",
				    user, strerror(rc));
	if (!pw && !strcmp(user, IBCC_CONFIG_USER))
		return ibcc_why_set(why, IBCC_RIGHTS_NO_USER,
				    "the daemon runs as root, since this host has no user \"%s\": "
				    "make one, or name another by user in the configuration",
				    user);
	if (!pw)
		return ibcc_why_set(why, -EINVAL,
				    "user: there is no user \"%s\" on this host, so the daemon "
				    "does not start: make one, or name another (getent passwd)",
				    user);
	if (!pw->pw_uid)
		return ibcc_why_set(why, -EINVAL,
				    "user: \"%s\" is root by another name, so the daemon does not "
				    "start: say root, if it is to keep root's rights",
				    user);
	rc = become(pw);
	if (rc)
		return ibcc_why_set(
			why, rc, "the daemon cannot become user \"%s\", so it does not start: %s",
			user, strerror(-rc));
	return IBCC_RIGHTS_DROPPED;
}
