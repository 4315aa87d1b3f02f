/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which user is at the other end of a local socket, and what that user may do. Private to
 * jsonl*.c.
 */
#ifndef IBCC_TEXT_JSONL_PEER_H
#define IBCC_TEXT_JSONL_PEER_H

#include <ibcc/jsonl.h>

struct ibcc_peer {
	uid_t uid;
	pid_t pid;
	bool trusted; /* root, or our own user */
	bool welcome; /* may ask */
	bool writes;  /* may ask for changes */
};

/* Fills in a peer by what the kernel says of it (SO_PEERCRED, SO_PEERGROUPS), as of when it
 * connected. An abstract socket has no permissions, so without roles only trusted peers are welcome
 * there. -errno.
 */
int ibcc_peer_of(int fd, const struct ibcc_jsonl_roles *roles, bool abstract, struct ibcc_peer *p);

#endif
