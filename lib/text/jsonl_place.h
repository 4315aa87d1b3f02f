/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Where a local stream socket is: at a path, or at a name in the abstract namespace. Private to
 * jsonl*.c.
 */
#ifndef IBCC_TEXT_JSONL_PLACE_H
#define IBCC_TEXT_JSONL_PLACE_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

struct ibcc_place {
	struct sockaddr_un sa;
	socklen_t len;
	/* Identity of the socket that we made at a path. */
	dev_t dev;
	ino_t ino;
};

/* Reads an address, "@" begins an abstract one. -ENAMETOOLONG. */
int ibcc_place_of(const char *text, struct ibcc_place *p);
bool ibcc_place_is_abstract(const struct ibcc_place *p);

/* Connects; connecting, sending and each reading take `limit` at most. A descriptor or -errno. */
int ibcc_place_dial(const struct ibcc_place *p, const struct timeval *limit);

/* Makes a listening, non-blocking socket, of mode 0660 if it is at a path. A socket that a dead
 * process left there is replaced, nothing else ever is. A descriptor or -errno: -EADDRINUSE: a
 * process listens there; -EEXIST: something else is there.
 */
int ibcc_place_listen(struct ibcc_place *p);
/* Whether the socket at the path is still the one that was made there. True for abstract names. */
bool ibcc_place_is_ours(const struct ibcc_place *p);
/* Mode 0666 or 0660 for the socket that we made at a path. */
void ibcc_place_open_to_all(const struct ibcc_place *p, bool all);
/* Closes it, and removes it from its path if it is still there. */
void ibcc_place_leave(const struct ibcc_place *p, int fd);

#endif
