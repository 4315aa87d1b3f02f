/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the address of a TCP socket to listen on: PORT, ADDRESS:PORT or [ADDRESS]:PORT, in
 * numbers only, so that no name service is asked.
 */
#include <ibcc/listen.h>

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#define ADDRESS_BYTES 128u

/* Splits host and port, in place. Without a host it is the loopback address. */
static void split(char *text, const char **host, const char **port)
{
	char *colon = strrchr(text, ':');

	*host = "127.0.0.1";
	*port = text;
	if (!colon)
		return;
	*colon = '\0';
	*host = text;
	*port = colon + 1;
	if (text[0] == '[' && colon > text + 1 && colon[-1] == ']') {
		colon[-1] = '\0';
		*host = text + 1;
	}
}

int ibcc_listen_parse(const char *text, struct sockaddr_storage *sa, socklen_t *len)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
					.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
	char buf[ADDRESS_BYTES];
	const char *host, *port;
	struct addrinfo *ai = NULL;

	if (snprintf(buf, sizeof(buf), "%s", text) >= (int)sizeof(buf))
		return -EINVAL;
	split(buf, &host, &port);
	/* More than five digits would be taken modulo 65536. */
	if (!*host || !*port || strlen(port) > 5 || strspn(port, "0123456789") != strlen(port) ||
	    (strlen(port) == 5 && strcmp(port, "65535") > 0))
		return -EINVAL;
	if (getaddrinfo(host, port, &hints, &ai))
		return -EINVAL;
	memcpy(sa, ai->ai_addr, ai->ai_addrlen);
	*len = ai->ai_addrlen;
	freeaddrinfo(ai);
	return 0;
}
