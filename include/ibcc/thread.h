/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Threads that leave signals alone: for the daemon, the OpenSM plugin and lib/mad. */
#ifndef IBCC_THREAD_H
#define IBCC_THREAD_H

#include <pthread.h>
#include <signal.h>

/* Starts a thread with all signals blocked, so that the program's signal handlers run in its other
 * threads alone: the daemon's event loop handles its signals, and OpenSM handles its own. The
 * caller's mask is the same afterwards. Returns 0 or what pthread_create() fails with, negative.
 */
static inline int ibcc_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -rc;
}

#endif
