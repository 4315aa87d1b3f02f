/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/io/jsonl_peer.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define FIRST_GROUPS 64u

/* Supplementary groups, to be freed; -errno. */
static int groups_of(int fd, gid_t **group, size_t *n)
{
	socklen_t len = FIRST_GROUPS * sizeof(**group);
	gid_t *g = malloc(len), *more;

	/* Too many for it: then it says how many there are. */
	if (g && getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, g, &len)) {
		more = errno == ERANGE ? realloc(g, len) : NULL;
		if (!more || getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, more, &len)) {
			free(more ? more : g);
			return -EIO;
		}
		g = more;
	}
	*group = g;
	*n = len / sizeof(*g);
	return g ? 0 : -ENOMEM;
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
