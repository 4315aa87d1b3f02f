/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Texts like "alice (uid 1000, pid 123)" (who.h). Names come from outside, so they are checked or
 * cleaned before they are printed.
 */
#include "daemon/who.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ibcc/clean.h>

bool ibcc_who_is_login(const char *text)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "._-@+";
	size_t n = strspn(text, good);

	n += n && text[n] == '$'; /* as machine accounts of Samba have */
	return n && n < IBCC_LOGIN_BYTES && !text[n];
}

const char *ibcc_who_sudo(void)
{
	const char *login = geteuid() ? NULL : secure_getenv("SUDO_USER");

	return login && ibcc_who_is_login(login) ? login : "";
}

void ibcc_who_text(const char *name, uid_t uid, pid_t pid, const char *login, char *buf, size_t len)
{
	const char *sudo = login[0] ? "sudo: " : "", *comma = login[0] ? ", " : "";
	char clean[IBCC_LOGIN_BYTES];

	if (!name[0]) {
		snprintf(buf, len, "uid %u (%s%s%spid %d)", (unsigned int)uid, sudo, login, comma,
			 (int)pid);
		return;
	}
	snprintf(clean, sizeof(clean), "%s", name);
	ibcc_clean(clean, "");
	snprintf(buf, len, "%s (%s%s%suid %u, pid %d)", clean, sudo, login, comma,
		 (unsigned int)uid, (int)pid);
}
