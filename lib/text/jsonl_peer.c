/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which user is at the other end of a local socket, and what that user may do (jsonl_peer.h). */
#include "lib/text/jsonl_peer.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* The supplementary groups of a peer, to be freed; -errno. Asked without room, the kernel returns
 * how much they need. */
static int groups_of(int fd, gid_t **group, size_t *n)
{
	socklen_t len = 0;
	gid_t none;

	*n = 0;
	*group = NULL;
	if (!getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, &none, &len))
		return 0;
	if (errno != ERANGE)
		return -errno;
	*group = malloc(len);
	if (!*group)
		return -ENOMEM;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, *group, &len)) {
		free(*group);
		*group = NULL;
		return -EIO;
	}
	*n = len / sizeof(**group);
	return 0;
}

static bool is_in(gid_t wanted, gid_t own, const gid_t *group, size_t n)
{
	if (wanted == IBCC_JSONL_NOBODY)
		return false;
	for (size_t i = 0; i < n; i++)
		if (group[i] == wanted)
			return true;
	return own == wanted;
}

int ibcc_peer_of(int fd, const struct ibcc_jsonl_roles *roles, bool abstract, struct ibcc_peer *p)
{
	bool has_roles = roles->read != IBCC_JSONL_NOBODY || roles->write != IBCC_JSONL_NOBODY;
	struct ucred cred;
	socklen_t len = sizeof(cred);
	gid_t *group;
	size_t n;
	int rc;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return -errno;
	*p = (struct ibcc_peer){ .uid = cred.uid, .pid = cred.pid };
	p->trusted = cred.uid == 0 || cred.uid == geteuid();
	p->welcome = p->trusted || (!has_roles && !abstract);
	p->writes = p->trusted;
	if (p->trusted || !has_roles)
		return 0;
	rc = groups_of(fd, &group, &n);
	if (rc)
		return rc;
	p->writes = is_in(roles->write, cred.gid, group, n);
	p->welcome = p->writes || is_in(roles->read, cred.gid, group, n);
	free(group);
	return 0;
}
