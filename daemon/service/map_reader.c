/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The thread that reads the map of jobs (map_reader.h). Begin with work(). */
#include "daemon/service/map_reader.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <ibcc/file.h>
#include <ibcc/now.h>
#include <ibcc/thread.h>

/* A local file takes milliseconds. */
#define LATE_S    5u
#define SECOND_NS 1000000000u

enum stage {
	IDLE,
	LOOKING,
	FOUND, /* what was found waits for ibcc_map_reader_take() */
};

struct ibcc_map_reader {
	char *file;
	struct stat seen; /* the file as it was last read; of the thread alone; size -1: none */
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* protects those below */
	pthread_cond_t wake;
	bool stop, left; /* the thread is to end, and to destroy the reader */
	enum stage stage;
	uint64_t since_ns; /* since when it looks */
	enum ibcc_map_news news;
	struct ibcc_jobs map;
	struct ibcc_why why;
};

struct ibcc_map_reader *ibcc_map_reader_new(const char *file)
{
	struct ibcc_map_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->file = strdup(file);
	r->seen.st_size = -1;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->wake, NULL);
	if (r->file)
		return r;
	ibcc_map_reader_free(r);
	return NULL;
}

static void destroy(struct ibcc_map_reader *r)
{
	ibcc_jobs_fini(&r->map);
	pthread_cond_destroy(&r->wake);
	pthread_mutex_destroy(&r->lock);
	free(r->file);
	free(r);
}

void ibcc_map_reader_free(struct ibcc_map_reader *r)
{
	bool left;

	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->stop = true;
	r->left = left = r->has_thread && r->stage == LOOKING;
	if (left)
		pthread_detach(r->thread);
	pthread_cond_signal(&r->wake);
	pthread_mutex_unlock(&r->lock);
	if (left)
		return;
	if (r->has_thread)
		pthread_join(r->thread, NULL);
	destroy(r);
}

/* -EINVAL: the same file would be refused again. */
static int read_map(const char *file, struct ibcc_jobs *map, struct stat *st, struct ibcc_why *why)
{
	char *text;
	size_t len;
	int rc = ibcc_file_load(file, IBCC_JOBS_FILE_BYTES, st, &text, &len);

	if (rc == -EISDIR || rc == -EINVAL)
		return ibcc_why_set(why, -EINVAL, "it is not a regular file");
	if (rc == -EFBIG)
		return ibcc_why_set(why, -EIO, "it is larger than %d MiB",
				    IBCC_JOBS_FILE_BYTES >> 20);
	if (rc)
		return ibcc_why_set(why, -EIO, "%s", rc == -ENOMEM ? "no memory" : strerror(-rc));
	rc = ibcc_jobs_parse(map, text, len, why);
	free(text);
	return rc;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Reads the file if it was replaced since the last time, or could not be read then. */
static enum ibcc_map_news look(struct ibcc_map_reader *r, struct ibcc_jobs *map,
			       struct ibcc_why *why)
{
	struct stat st;
	int rc;

	if (stat(r->file, &st)) {
		r->seen.st_size = -1;
		if (errno == ENOENT || errno == ENOTDIR)
			return IBCC_MAP_GONE;
		ibcc_why_set(why, -EIO, "%s", strerror(errno));
		return IBCC_MAP_UNREAD;
	}
	if (r->seen.st_size >= 0 && is_same_file(&st, &r->seen))
		return IBCC_MAP_NO_NEWS;
	rc = read_map(r->file, map, &st, why);
	r->seen = st;
	if (rc && rc != -EINVAL)
		r->seen.st_size = -1;
	return rc ? IBCC_MAP_UNREAD : IBCC_MAP_READ;
}

static void *work(void *arg)
{
	struct ibcc_map_reader *r = arg;
	bool left;

	pthread_mutex_lock(&r->lock);
	while (!r->stop) {
		struct ibcc_jobs map = { 0 };
		struct ibcc_why why = { "" };
		enum ibcc_map_news news;

		if (r->stage != LOOKING) {
			pthread_cond_wait(&r->wake, &r->lock);
			continue;
		}
		pthread_mutex_unlock(&r->lock);
		news = look(r, &map, &why);
		pthread_mutex_lock(&r->lock);
		r->map = map;
		r->why = why;
		r->news = news;
		r->stage = FOUND;
	}
	left = r->left;
	pthread_mutex_unlock(&r->lock);
	if (left)
		destroy(r);
	return NULL;
}

static int start(struct ibcc_map_reader *r)
{
	int rc = ibcc_thread_start(&r->thread, work, r);

	r->has_thread = !rc;
	return rc;
}

int ibcc_map_reader_begin(struct ibcc_map_reader *r)
{
	int rc = r->has_thread ? 0 : start(r);

	if (rc)
		return rc;
	pthread_mutex_lock(&r->lock);
	if (r->stage == IDLE) {
		r->stage = LOOKING;
		r->since_ns = ibcc_now_ns();
		pthread_cond_signal(&r->wake);
	}
	pthread_mutex_unlock(&r->lock);
	return 0;
}

enum ibcc_map_news ibcc_map_reader_take(struct ibcc_map_reader *r, struct ibcc_jobs *map,
					struct ibcc_why *why, uint64_t *waited_s)
{
	enum ibcc_map_news news = IBCC_MAP_NO_NEWS;

	*waited_s = 0;
	pthread_mutex_lock(&r->lock);
	switch (r->stage) {
	case IDLE: break;
	case LOOKING:
		*waited_s = (ibcc_now_ns() - r->since_ns) / SECOND_NS;
		if (*waited_s >= LATE_S)
			news = IBCC_MAP_LATE;
		break;
	case FOUND:
		news = r->news;
		*map = r->map;
		*why = r->why;
		r->map = (struct ibcc_jobs){ 0 };
		r->stage = IDLE;
		break;
	}
	pthread_mutex_unlock(&r->lock);
	return news;
}
