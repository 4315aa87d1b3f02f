/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A growing list of strings, such as assignments KEY=VALUE. */
#ifndef PERFTEST_BENCH_WORDS_H
#define PERFTEST_BENCH_WORDS_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ibcc_words {
	char **w;
	size_t n;
};

/* Appends a copy; -ENOMEM. */
static inline int ibcc_words_add(struct ibcc_words *l, const char *s)
{
	char **bigger = reallocarray(l->w, l->n + 1, sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	l->w = bigger;
	l->w[l->n] = strdup(s);
	return l->w[l->n] ? (l->n++, 0) : -ENOMEM;
}

/* Appends a copy, as the callback of an option that may be given several times. */
static inline int ibcc_words_read(void *words, const char *s)
{
	return ibcc_words_add(words, s);
}

static inline int ibcc_words_add_all(struct ibcc_words *l, const struct ibcc_words *more)
{
	int rc = 0;

	for (size_t i = 0; i < more->n && !rc; i++)
		rc = ibcc_words_add(l, more->w[i]);
	return rc;
}

static inline void ibcc_words_fini(struct ibcc_words *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->w[i]);
	free(l->w);
	*l = (struct ibcc_words){ 0 };
}

#endif
