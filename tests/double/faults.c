/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Decides which calls fail, and counts the objects that are made. */
#include "tests/double/inside.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define VERBS_MAX 64

struct double_verbs double_verbs = { .async_event = -1, .max_cqe = 65535 };

/* Guards the calls and their counts; may be taken while the lock of verbs.c is held. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	const char *verb;
	unsigned int n;
} calls[VERBS_MAX];

void double_forget_calls(void)
{
	pthread_mutex_lock(&lock);
	memset(calls, 0, sizeof(calls));
	pthread_mutex_unlock(&lock);
}

/* Counts a call; true if it is the one that must fail. Call with the lock held. */
static bool fails(const char *verb)
{
	int i = 0;

	while (i < VERBS_MAX - 1 && calls[i].verb && strcmp(calls[i].verb, verb))
		i++;
	calls[i].verb = verb;
	calls[i].n++;
	if (!double_verbs.fail_nth || !double_verbs.fail_verb ||
	    strcmp(double_verbs.fail_verb, verb) || calls[i].n != double_verbs.fail_nth)
		return false;
	double_verbs.hits++;
	return true;
}

bool double_fails(const char *verb)
{
	bool bad;

	pthread_mutex_lock(&lock);
	bad = fails(verb);
	pthread_mutex_unlock(&lock);
	return bad;
}

unsigned int double_calls(const char *verb)
{
	unsigned int n = 0;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < VERBS_MAX; i++)
		if (calls[i].verb && !strcmp(calls[i].verb, verb))
			n = calls[i].n;
	pthread_mutex_unlock(&lock);
	return n;
}

/* Makes an object unless its verb is to fail. */
void *double_make(const char *verb, size_t size)
{
	void *p = NULL;

	pthread_mutex_lock(&lock);
	if (fails(verb)) {
		errno = ENOMEM;
	} else {
		p = calloc(1, size);
		double_verbs.live++;
	}
	pthread_mutex_unlock(&lock);
	return p;
}

/* Destroys the object even if the call fails, so that nothing leaks in a test. */
int double_unmake(const char *verb, void *p)
{
	int rc;

	pthread_mutex_lock(&lock);
	rc = fails(verb) ? EBUSY : 0;
	double_verbs.live--;
	pthread_mutex_unlock(&lock);
	free(p);
	return rc;
}
