/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/mpa/pair.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Buffers for ping and pong: one message is finished before the other is sent. */
#define BUFFERS 4u

void ibcc_mpa_cpus_choose(bool alone, struct ibcc_mpa_cpus *out)
{
	int cpu[4], n = 0;
	cpu_set_t set;

	*out = (struct ibcc_mpa_cpus){ { -1, -1 }, { -1, -1 } };
	if (sched_getaffinity(0, sizeof(set), &set))
		return;
	for (int i = 0; i < CPU_SETSIZE && n < 4; i++)
		if (CPU_ISSET((size_t)i, &set))
			cpu[n++] = i;
	if (n == 4)
		*out = (struct ibcc_mpa_cpus){ { cpu[0], cpu[2] }, { cpu[1], cpu[3] } };
	else if (n > 1)
		*out = (struct ibcc_mpa_cpus){ { cpu[0], cpu[alone] }, { cpu[1], cpu[1] } };
}

void ibcc_mpa_cpus_tie(int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

static int connect_tcp(int fd[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, rc = 0;

	fd[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || fd[0] < 0 || bind(listener, (struct sockaddr *)&a, sizeof(a)) ||
	    listen(listener, 1) || getsockname(listener, (struct sockaddr *)&a, &len) ||
	    connect(fd[0], (struct sockaddr *)&a, sizeof(a)))
		rc = -errno;
	else
		fd[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (!rc && fd[1] < 0)
		rc = -errno;
	if (listener >= 0)
		close(listener);
	for (int i = 0; i < 2 && !rc; i++)
		if (setsockopt(fd[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
			rc = -errno;
	return rc;
}

/* Passes one startup frame from one end to the other. */
static int pass_startup(int from, int to, struct ibcc_mpa_startup *s)
{
	uint8_t frame[IBCC_MPA_MAX_STARTUP];
	size_t len = ibcc_mpa_startup_encode(s, frame), bytes;

	if (send(from, frame, len, MSG_NOSIGNAL) != (ssize_t)len ||
	    recv(to, frame, len, MSG_WAITALL) != (ssize_t)len)
		return -EIO;
	if (ibcc_mpa_startup_decode(frame, len, s->reply, s, &bytes) || bytes != len)
		return -EPROTO;
	return 0;
}

static int start(const int fd[2], const struct ibcc_mpa_subject *u)
{
	struct ibcc_mpa_startup s = { .markers = u->spacing, .crc = u->crc != IBCC_CRC32C_NONE };
	int rc = pass_startup(fd[0], fd[1], &s);

	s.reply = true;
	return rc ? rc : pass_startup(fd[1], fd[0], &s);
}

static int memory(struct ibcc_mpa_pair *p, size_t region_bytes, uint32_t buffer_bytes)
{
	uint32_t v = 1;

	p->bytes = region_bytes;
	p->source = malloc(region_bytes);
	if (!p->source)
		return -ENOMEM;
	for (size_t i = 0; i < region_bytes; i++) {
		v = v * 1664525u + 1013904223u;
		p->source[i] = (uint8_t)(v >> 24);
	}
	for (int i = 0; i < 2; i++) {
		p->region[i] = malloc(region_bytes);
		p->sink[i].buffer = calloc(BUFFERS, buffer_bytes);
		if (!p->region[i] || !p->sink[i].buffer)
			return -ENOMEM;
		/* Writes all pages once, so that none is allocated while time is measured. */
		memset(p->region[i], 0, region_bytes);
		p->sink[i].n_buffers = BUFFERS;
		p->sink[i].buffer_bytes = buffer_bytes;
		p->sink[i].n_regions = 1;
		p->sink[i].region[0] = (struct ibcc_mpa_region){ .stag = IBCC_MPA_PAIR_STAG,
								 .write = true,
								 .base = p->region[i],
								 .len = region_bytes };
	}
	return 0;
}

int ibcc_mpa_pair_init(struct ibcc_mpa_pair *p, const struct ibcc_mpa_settings *s,
		       const struct ibcc_mpa_subject *u, const struct ibcc_mpa_cpus *cpus,
		       size_t region_bytes, uint32_t buffer_bytes)
{
	int fd[2] = { -1, -1 }, rc;

	memset(p, 0, sizeof(*p));
	rc = memory(p, region_bytes, buffer_bytes);
	if (!rc && s->transport == IBCC_MPA_TCP)
		rc = connect_tcp(fd);
	else if (!rc && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		rc = -errno;
	if (!rc)
		rc = start(fd, u);
	for (int i = 0; i < 2 && !rc; i++) {
		struct ibcc_mpa_node_options o = {
			.design = u->design,
			.rules = { u->spacing, (enum ibcc_crc32c)u->crc },
			.payload_bytes = s->payload_bytes,
			.decoupled = u->decoupled,
			.nic_cpu = cpus->nic[i],
		};

		rc = ibcc_mpa_node_new(&o, fd[i], &p->sink[i], &p->node[i]);
		fd[i] = -1;
	}
	for (int i = 0; i < 2; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	return rc;
}

void ibcc_mpa_pair_fini(struct ibcc_mpa_pair *p)
{
	for (int i = 0; i < 2; i++)
		ibcc_mpa_node_free(p->node[i]);
	for (int i = 0; i < 2; i++) {
		free(p->region[i]);
		free(p->sink[i].buffer);
	}
	free(p->source);
	memset(p, 0, sizeof(*p));
}
