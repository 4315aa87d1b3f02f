/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/bench/pool.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

struct pool {
	pthread_mutex_t lock;
	uint64_t next, n;
	int stop;
	int (*work)(void *arg, uint64_t i);
	int (*done)(void *arg, uint64_t i, int rc);
	void *arg;
};

unsigned int ibcc_pool_cores(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : (unsigned int)CPU_COUNT(&set);
}

static void *loop(void *arg)
{
	struct pool *p = arg;

	pthread_mutex_lock(&p->lock);
	while (!p->stop && p->next < p->n) {
		uint64_t i = p->next++;
		int rc;

		pthread_mutex_unlock(&p->lock);
		rc = p->work(p->arg, i);
		pthread_mutex_lock(&p->lock);
		if (!p->stop)
			p->stop = p->done(p->arg, i, rc);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

int ibcc_pool_run(uint64_t n, unsigned int threads, int (*work)(void *arg, uint64_t i),
		  int (*done)(void *arg, uint64_t i, int rc), void *arg)
{
	struct pool p = { .n = n, .work = work, .done = done, .arg = arg };
	pthread_t *t;
	unsigned int started, i;

	if (!threads)
		threads = ibcc_pool_cores();
	if (threads > n)
		threads = n ? (unsigned int)n : 1;
	t = calloc(threads, sizeof(*t));
	if (!t || pthread_mutex_init(&p.lock, NULL)) {
		free(t);
		return -ENOMEM;
	}
	for (started = 1; started < threads; started++)
		if (pthread_create(&t[started], NULL, loop, &p))
			break; /* fewer threads also do all the work */
	loop(&p);
	for (i = 1; i < started; i++)
		pthread_join(t[i], NULL);
	pthread_mutex_destroy(&p.lock);
	free(t);
	return p.stop;
}
