/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Who is at the other end of a local socket, and what that one may. Private to jsonl*.c. */
#ifndef IBCC_IO_JSONL_PEER_H
#define IBCC_IO_JSONL_PEER_H

#include <ibcc/jsonl.h>

struct ibcc_peer {
	uid_t uid;
	pid_t pid;
	bool trusted; /* root, or our own user */
	bool welcome; /* may ask */
	bool writes;  /* may ask for changes */
};

/* By the kernel's word (SO_PEERCRED, SO_PEERGROUPS), as of when the peer connected. An abstract
 * socket has no permissions, so only who is trusted is welcome there without roles. -errno.
 */
int ibcc_peer_of(int fd, const struct ibcc_jsonl_roles *roles, bool abstract, struct ibcc_peer *p);

#endif
