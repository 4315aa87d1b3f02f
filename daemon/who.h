/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The user behind a request, as the log and the history name it. */
#ifndef IBCC_DAEMON_WHO_H
#define IBCC_DAEMON_WHO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Size of a login name from a client. */
#define IBCC_LOGIN_BYTES 33

/* Formats the user behind a request: "alice (uid 1000, pid 123)", without the name if it is not
 * known (empty). `login` (may be empty) is the user behind sudo, which only root may give: "root
 * (sudo: alice, uid 0, pid 123)".
 */
void ibcc_who_text(const char *name, uid_t uid, pid_t pid, const char *login, char *buf,
		   size_t len);

/* Can this be a login: letters, digits, '.', '_', '-', '@', '+' and a '$' at the end, and short
 * enough?
 */
bool ibcc_who_is_login(const char *text);

/* The login behind sudo, if root runs this program; otherwise "". */
const char *ibcc_who_sudo(void);

#endif
