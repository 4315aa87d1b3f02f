/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/lab/sweep_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <ibcc/hash.h>

int ibcc_sweep_id(const char *scenario, const struct ibcc_words *set, const struct ibcc_grid *g,
		  char id[17])
{
	uint64_t h = IBCC_HASH_START;
	char buf[4096];
	size_t n;
	FILE *f = fopen(scenario, "re");
	int bad;

	if (!f)
		return -errno;
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		h = ibcc_hash(h, buf, n);
	bad = ferror(f);
	fclose(f);
	if (bad)
		return -EIO;
	/* The ends of the strings are hashed, too, so that "ab" "c" differs from "a" "bc". */
	for (size_t i = 0; i < set->n; i++)
		h = ibcc_hash(h, set->w[i], strlen(set->w[i]) + 1);
	for (size_t i = 0; i < g->n_axes; i++)
		h = ibcc_hash(h, g->axis[i].key, strlen(g->axis[i].key) + 1);
	snprintf(id, 17, "%016llx", (unsigned long long)h);
	return 0;
}

int ibcc_sweep_read(const char *file, int fd,
		    int (*fn)(void *arg, const char *file, unsigned int line, const json_t *o),
		    void *arg, long long *end, struct ibcc_yaml_errors *e)
{
	FILE *f = fdopen(fd, "r");
	char *text = NULL;
	size_t cap = 0;
	long long at = 0;
	unsigned int line = 0;
	ssize_t len;
	int rc = 0;

	if (!f) {
		rc = -errno;
		/* cppcheck-suppress doubleFree ; fdopen() leaves it open when it fails */
		close(fd);
		return rc;
	}
	while (!rc && (len = getline(&text, &cap, f)) > 0 && text[len - 1] == '\n') {
		json_t *o = json_loadb(text, (size_t)len, 0, NULL);

		line++;
		if (json_is_object(o) && json_is_object(json_object_get(o, "point"))) {
			rc = fn(arg, file, line, o);
		} else {
			ibcc_yaml_errors_add(e, file, line, 1,
					     "this line is not a result of a sweep");
			rc = -EINVAL;
		}
		json_decref(o);
		at += len;
	}
	if (!rc && ferror(f))
		rc = -EIO;
	free(text);
	fclose(f);
	if (end)
		*end = at;
	return rc;
}

struct learn {
	struct ibcc_sweep_file *f;
	const struct ibcc_grid *g;
	struct ibcc_yaml_errors *e;
};

static void set_done(struct ibcc_sweep_file *f, uint64_t point)
{
	if (ibcc_sweep_has(f, point))
		return;
	f->done[point / 8] |= (uint8_t)(1u << point % 8);
	f->n_done++;
}

static int learn(void *arg, const char *file, unsigned int line, const json_t *o)
{
	struct learn *l = arg;
	const char *id = json_string_value(json_object_get(o, "id"));
	uint64_t point;

	if (!id || strcmp(id, l->f->id)) {
		ibcc_yaml_errors_add(l->e, file, line, 1,
				     "this file has results of another scenario, other --set or "
				     "other keys: choose another file with --out");
		return -EINVAL;
	}
	/* A grid that was reduced later may lack some points. */
	if (!ibcc_grid_find(l->g, json_object_get(o, "point"), &point))
		set_done(l->f, point);
	return 0;
}

int ibcc_sweep_open(struct ibcc_sweep_file *f, const char *file, const char id[17],
		    const struct ibcc_grid *g, struct ibcc_yaml_errors *e)
{
	struct learn l = { f, g, e };
	long long end = 0;
	int fd, rc = 0;

	*f = (struct ibcc_sweep_file){ .fd = -1 };
	memcpy(f->id, id, sizeof(f->id));
	f->done = calloc(g->n_points / 8 + 1, 1);
	if (!f->done)
		return -ENOMEM;
	if (!strcmp(file, "-")) {
		f->fd = dup(STDOUT_FILENO);
		return f->fd < 0 ? -errno : 0;
	}
	f->fd = open(file, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (f->fd < 0 || flock(f->fd, LOCK_EX | LOCK_NB))
		rc = -errno;
	if (!rc) {
		fd = open(file, O_RDONLY | O_CLOEXEC);
		rc = fd < 0 ? -errno : ibcc_sweep_read(file, fd, learn, &l, &end, e);
	}
	if (!rc && ftruncate(f->fd, end))
		rc = -errno;
	if (rc)
		ibcc_sweep_close(f);
	return rc;
}

void ibcc_sweep_close(struct ibcc_sweep_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free(f->done);
	*f = (struct ibcc_sweep_file){ .fd = -1 };
}

int ibcc_sweep_put(struct ibcc_sweep_file *f, uint64_t point, json_t *result)
{
	char *text = result ? json_dumps(result, JSON_COMPACT | JSON_REAL_PRECISION(10)) : NULL;
	size_t len = text ? strlen(text) : 0, at = 0;
	int rc = text ? 0 : -ENOMEM;

	json_decref(result);
	if (text)
		/* in place of the terminating zero: the text is written by length */
		text[len++] = '\n';
	while (!rc && at < len) {
		ssize_t n = write(f->fd, text + at, len - at);

		if (n < 0 && errno != EINTR)
			rc = -errno;
		else if (n > 0)
			at += (size_t)n;
	}
	free(text);
	if (!rc)
		set_done(f, point);
	return rc;
}
