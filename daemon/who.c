/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "daemon/who.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ibcc/clean.h>
#include <ibcc/log.h>

#define ENTRY_BYTES 16384u

bool ibcc_who_is_login(const char *text)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "._-@+";
	size_t n = strspn(text, good);

	n += n && text[n] == '$'; /* as machines have in Samba */
	return n && n < IBCC_LOGIN_BYTES && !text[n];
}

const char *ibcc_who_sudo(void)
{
	const char *login = geteuid() ? NULL : secure_getenv("SUDO_USER");

	return login && ibcc_who_is_login(login) ? login : "";
}

void ibcc_who_text(uid_t uid, pid_t pid, const char *login, char *buf, size_t len)
{
	const char *sudo = login[0] ? "sudo: " : "", *comma = login[0] ? ", " : "";
	char entry[ENTRY_BYTES];
	struct passwd pw, *found = NULL;

	if (getpwuid_r(uid, &pw, entry, sizeof(entry), &found) || !found || !found->pw_name[0]) {
		snprintf(buf, len, "uid %u (%s%s%spid %d)", (unsigned int)uid, sudo, login, comma,
			 (int)pid);
		return;
	}
	ibcc_clean(found->pw_name, "");
	snprintf(buf, len, "%.32s (%s%s%suid %u, pid %d)", found->pw_name, sudo, login, comma,
		 (unsigned int)uid, (int)pid);
}

static gid_t group(const char *key, const char *name)
{
	char entry[ENTRY_BYTES];
	struct group gr, *found = NULL;

	if (!name[0])
		return IBCC_JSONL_NOBODY;
	if (!getgrnam_r(name, &gr, entry, sizeof(entry), &found) && found)
		return found->gr_gid;
	ibcc_log(LOG_WARNING, "%s: there is no group %s, so nobody has that right", key, name);
	return IBCC_JSONL_NOBODY;
}

struct ibcc_jsonl_roles ibcc_who_roles(const struct ibcc_config *c)
{
	return (struct ibcc_jsonl_roles){
		.read = group("control_read_group", c->control_read_group),
		.write = group("control_write_group", c->control_write_group),
	};
}
