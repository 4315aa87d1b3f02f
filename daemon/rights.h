/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The user that the daemon runs as. systemd starts it as that user. If root starts it by hand or in
 * a container, it changes to that user by itself.
 */
#ifndef IBCC_DAEMON_RIGHTS_H
#define IBCC_DAEMON_RIGHTS_H

#include <ibcc/why.h>

/* What a user's name in the configuration means for a process of root. */
enum ibcc_rights {
	IBCC_RIGHTS_KEPT,    /* the process was not root, or is to stay root */
	IBCC_RIGHTS_DROPPED, /* it is that user now, in all its groups, without capabilities */
	IBCC_RIGHTS_NO_USER, /* this host has no user IBCC_CONFIG_USER, so it is still root */
};

/* Gives up root's rights for good and becomes `user`; "root" keeps them. A user of /etc/passwd has
 * the groups of /etc/group. For any other user the name service is asked, which has five seconds.
 * Call before the process has other threads. Returns an enum ibcc_rights; -EINVAL if there is no
 * such user and it is not IBCC_CONFIG_USER. Another negative errno if the rights could not be given
 * up: the process must end then. *why has the words for all errors, and for IBCC_RIGHTS_NO_USER.
 */
int ibcc_rights_drop(const char *user, struct ibcc_why *why);

#endif
