/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A client of ibsim's protocol that sends all its requests before it reads an answer, as no sane
 * one does, and then counts: each must be answered once, with the transaction ID that was sent.
 *
 * usage: flood_client NAME REQUESTS [stall]      stall: never reads, until it is killed
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ibcc/smp.h>

#include "sim/wire.h"

#define LIMIT_MS 20000
#define TID      0x1234567800000000ull /* all 64 bits must come back */

static void die(const char *what)
{
	fprintf(stderr, "flood_client: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int bound(const char *name, const char *part)
{
	int fd = ibcc_wire_bind("%s:%s%d", name, part, (int)getpid());

	if (fd < 0 || fcntl(fd, F_SETFL, 0))
		die("bind");
	return fd;
}

static void join(int fd, const struct sockaddr_un *sa, socklen_t len)
{
	if (connect(fd, (const struct sockaddr *)sa, len))
		die("connect");
}

static ssize_t receive(int fd, void *buf, size_t len)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, LIMIT_MS) == 1 ? recv(fd, buf, len, 0) : -1;
}

/* Attaches, and returns the socket for MADs. */
static int attach(const char *name)
{
	struct ibcc_wire_connect info = { .id = (uint32_t)getpid() };
	struct ibcc_wire_ctl c = { .magic = IBCC_WIRE_MAGIC,
				   .type = IBCC_WIRE_CONNECT,
				   .len = sizeof(info) };
	int ctl = bound(name, "ctl"), fd = bound(name, "in");
	struct sockaddr_un sa;
	socklen_t len;

	if (ibcc_wire_addr(&sa, &len, "%s:ctl", name))
		die(name);
	join(ctl, &sa, len);
	memcpy(c.data, &info, sizeof(info));
	if (send(ctl, &c, sizeof(c), 0) != sizeof(c) || receive(ctl, &c, sizeof(c)) != sizeof(c) ||
	    c.type != IBCC_WIRE_CONNECT)
		die("attach");
	memcpy(&info, c.data, sizeof(info));
	if (ibcc_wire_addr(&sa, &len, "%s:out%u", name, info.id))
		die(name);
	join(fd, &sa, len);
	return fd;
}

/* Every other one is for ibsim, the others for the proxy: LID 1 by class PerfMgt. */
static void make(struct ibcc_wire_mad *m, unsigned long i)
{
	static const struct ibcc_smp_path here;
	struct ibcc_mad_header h;

	memset(m, 0, sizeof(*m));
	m->dlid = m->slid = 0xffff;
	ibcc_smp_direct_get(m->mad, &here, IBCC_SMP_ATTR_NODE_INFO, 0);
	if (i & 1) {
		m->dlid = htons(1);
		m->slid = 0;
		ibcc_mad_request(m->mad, IBCC_MAD_CLASS_PERF, IBCC_MAD_GET, 1, 0);
	}
	ibcc_mad_header_unpack(m->mad, &h);
	h.tid = TID | i;
	ibcc_mad_header_pack(m->mad, &h);
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0, i, answers = 0;
	struct ibcc_wire_mad m;
	struct ibcc_mad_header h;
	char *seen = calloc(n + 1, 1);
	int fd;

	if (!n || !seen) {
		fprintf(stderr, "usage: flood_client NAME REQUESTS [stall]\n");
		return 1;
	}
	fd = attach(argv[1]);
	for (i = 0; i < n; i++) {
		make(&m, i);
		if (send(fd, &m, sizeof(m), 0) != sizeof(m))
			die("send");
	}
	if (argc > 3) {
		puts("stalled");
		fflush(stdout);
		for (;;)
			pause();
	}
	for (i = 0; i < n; i++) {
		if (receive(fd, &m, sizeof(m)) != sizeof(m))
			die("receive");
		ibcc_mad_header_unpack(m.mad, &h);
		if ((h.tid & ~0xffffffffull) != TID || (h.tid & 0xffffffff) >= n ||
		    seen[h.tid & 0xffffffff]++) {
			fprintf(stderr, "flood_client: answer to nothing: %llx\n",
				(unsigned long long)h.tid);
			return 1;
		}
		answers += !m.status && h.method == IBCC_MAD_GET_RESP;
	}
	printf("%lu requests, %lu answers\n", n, answers);
	free(seen);
	return 0;
}
