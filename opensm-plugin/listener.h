/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The socket file that clients connect to. */
#ifndef IBCC_PLUGIN_LISTENER_H
#define IBCC_PLUGIN_LISTENER_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "opensm-plugin/options.h"

struct ibcc_listener {
	int fd; /* -1: not listening */
	char path[sizeof(((struct ibcc_plugin_options *)NULL)->socket)];
	dev_t dev;
	ino_t ino;
};

void ibcc_listener_init(struct ibcc_listener *l);

/* Listens at o->socket. Makes its directory if only that is missing. Replaces a socket on which no
 * process listens, such as one of a killed process. Returns 0; -EADDRINUSE if a process listens
 * there, or if something other than a socket is there; another -errno. Leaves no trace after an
 * error.
 */
int ibcc_listener_open(struct ibcc_listener *l, const struct ibcc_plugin_options *o);

/* False if the socket file is not this one any more: another process has deleted or replaced it. */
bool ibcc_listener_in_place(const struct ibcc_listener *l);

/* Takes the next connection, non-blocking; returns its descriptor or -errno. */
int ibcc_listener_accept(struct ibcc_listener *l, struct ucred *peer);

/* Removes the socket file if it is still this one. */
void ibcc_listener_close(struct ibcc_listener *l);

#endif
