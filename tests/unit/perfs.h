/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* ibcc-perf in one process: hosts that are threads, on the double of libibverbs. */
#ifndef TESTS_UNIT_PERFS_H
#define TESTS_UNIT_PERFS_H

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "perftest/verbs/run.h"
#include "perftest/verbs/session.h"
#include "tests/double/verbs.h"
#include "tests/unit/scenarios.h"

#define PERF_HOSTS 4

struct perf_host {
	pthread_t thread;
	int listen_fd;
	char address[160];
	int rc;
	struct ibcc_why e;
};

struct perf {
	struct perf_host host[PERF_HOSTS];
	struct ibcc_scenario s;
	struct ibcc_perf_hosts hosts;
	struct ibcc_perf_result result;
	struct ibcc_why e; /* error of the coordinator */
	const char *token; /* token of the hosts */
	/* all that host b sends, whatever the request; NULL: b is a real host */
	const char *script;
};

static struct perf *perf_now; /* the state for the threads */

static void *perf_serve(void *arg)
{
	struct perf_host *h = arg;
	struct ibcc_perf_session_options o = { perf_now->token, "/nonexistent" };
	const char *script = h == &perf_now->host[1] ? perf_now->script : NULL;
	int fd = accept(h->listen_fd, NULL, NULL);
	char heard[256];

	if (fd >= 0 && script) {
		send(fd, script, strlen(script), MSG_NOSIGNAL);
		shutdown(fd, SHUT_WR);
		while (recv(fd, heard, sizeof(heard), 0) > 0)
			;
		close(fd);
		return NULL;
	}
	/* If no client came, shutdown() of the listening socket ends the thread. */
	if (fd >= 0)
		h->rc = ibcc_perf_session(fd, &o, &h->e);
	return NULL;
}

/* Starts the hosts a, b, c, d and reads a plan whose `hosts` are they. */
static inline void perf_start(struct perf *p, const char *plan)
{
	char text[8192];
	int n = snprintf(text, sizeof(text), "name: test\nhosts:\n");

	perf_now = p;
	for (int i = 0; i < PERF_HOSTS; i++) {
		struct perf_host *h = &p->host[i];

		memset(h, 0, sizeof(*h));
		h->listen_fd =
			ibcc_perf_wire_listen("127.0.0.1:0", h->address, sizeof(h->address), &h->e);
		assert_true(h->listen_fd >= 0);
		n += snprintf(text + n, sizeof(text) - (size_t)n, "- {name: %c, address: \"%s\"}\n",
			      'a' + i, h->address);
	}
	snprintf(text + n, sizeof(text) - (size_t)n, "%s", plan);
	text_ok(text, &p->s);
	p->e = (struct ibcc_why){ "" };
	memset(&p->result, 0, sizeof(p->result));
	for (int i = 0; i < PERF_HOSTS; i++)
		assert_int_equal(pthread_create(&p->host[i].thread, NULL, perf_serve, &p->host[i]),
				 0);
}

static inline void perf_end(struct perf *p)
{
	ibcc_perf_hosts_fini(&p->hosts);
	for (int i = 0; i < PERF_HOSTS; i++) {
		shutdown(p->host[i].listen_fd, SHUT_RDWR);
		pthread_join(p->host[i].thread, NULL);
		close(p->host[i].listen_fd);
	}
	ibcc_perf_result_fini(&p->result);
	ibcc_scenario_fini(&p->s);
}

/* Connects and runs once, with a host's token. */
static inline int perf_run(struct perf *p, const char *token)
{
	int rc = ibcc_perf_hosts_plan(&p->hosts, &p->s, &p->e);

	if (!rc)
		rc = ibcc_perf_hosts_connect(&p->hosts, token, &p->e);
	if (!rc)
		rc = ibcc_perf_run_once(&p->hosts, -1, NULL, NULL, &p->result, &p->e);
	return rc;
}

/* Starts, connects and runs; checks that nothing is left afterwards. */
static inline int perf_whole(struct perf *p, const char *plan)
{
	int rc;

	perf_start(p, plan);
	rc = perf_run(p, NULL);
	ibcc_perf_hosts_fini(&p->hosts); /* hangs up */
	for (int i = 0; i < PERF_HOSTS; i++)
		shutdown(p->host[i].listen_fd, SHUT_RDWR);
	for (int i = 0; i < PERF_HOSTS; i++) {
		pthread_join(p->host[i].thread, NULL);
		close(p->host[i].listen_fd);
	}
	assert_int_equal(double_verbs.live, 0);
	assert_int_equal(double_verbs.overflows, 0);
	return rc;
}

static inline void perf_forget(struct perf *p)
{
	ibcc_perf_result_fini(&p->result);
	ibcc_scenario_fini(&p->s);
}

static inline int perf_setup(void **state)
{
	(void)state;
	double_reset();
	return 0;
}

#endif
