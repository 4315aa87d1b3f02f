/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Addresses to listen at, as a configuration has them. */
#ifndef IBCC_LISTEN_H
#define IBCC_LISTEN_H

#include <sys/socket.h>

/* Reads "PORT" (of 127.0.0.1), "ADDRESS:PORT" or "[ADDRESS]:PORT", all in numbers: no name server
 * is asked. 0 or -EINVAL.
 */
int ibcc_listen_parse(const char *text, struct sockaddr_storage *sa, socklen_t *len);

#endif
