/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/lab/best.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/grow.h>

#include "perftest/lab/sweep_file.h"

static json_t *value_of(const struct ibcc_best *b, const json_t *o)
{
	return json_object_get(json_object_get(o, "result"), b->by);
}

/* Negative if the value of x is better than that of y. */
static int compare_values(const struct ibcc_best *b, const json_t *x, const json_t *y)
{
	double v = json_number_value(value_of(b, x)), w = json_number_value(value_of(b, y));
	int sign = (v > w) - (v < w);

	return b->least ? sign : -sign;
}

/* Compares two points in a fixed order; 0 for equal points. */
static int compare_points(const json_t *x, const json_t *y)
{
	const char *const key[] = { "point", "id" };
	int sign = 0;

	for (size_t i = 0; i < 2 && !sign; i++) {
		char *a = json_dumps(json_object_get(x, key[i]), JSON_SORT_KEYS | JSON_ENCODE_ANY);
		char *c = json_dumps(json_object_get(y, key[i]), JSON_SORT_KEYS | JSON_ENCODE_ANY);

		sign = strcmp(a ? a : "", c ? c : "");
		free(a);
		free(c);
	}
	return sign;
}

/* The place of a result among those that are kept; true if the result is there. */
static bool find(const struct ibcc_best *b, const json_t *o, size_t *at)
{
	size_t low = 0, high = b->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int sign = compare_values(b, o, b->result[mid]);

		if (!sign)
			sign = compare_points(o, b->result[mid]);
		if (!sign) {
			*at = mid;
			return true;
		}
		if (sign < 0)
			high = mid;
		else
			low = mid + 1;
	}
	*at = low;
	return false;
}

/* The first result decides which kind of results the files have. */
static int check_value(struct ibcc_best *b, const char *file, unsigned int line, const json_t *o)
{
	if (!b->by) {
		b->least = json_object_get(json_object_get(o, "result"), "miss");
		b->by = b->least ? "miss" : "ideal_share";
	}
	b->fits = b->fits || json_object_get(o, "fit");
	if (value_of(b, o))
		return 0;
	ibcc_yaml_errors_add(b->e, file, line, 1, "the result has no \"%s\"", b->by);
	return -EINVAL;
}

/* Keeps a result only if it is good enough: sweeps have more points than a person can read. */
static int consider(void *arg, const char *file, unsigned int line, const json_t *o)
{
	struct ibcc_best *b = arg;
	int rc = check_value(b, file, line, o);
	json_t *own, **bigger;
	size_t at;

	if (rc)
		return rc;
	b->seen++;
	if (!json_is_number(value_of(b, o)))
		return 0; /* null: the value is unknown */
	if (find(b, o, &at) || at == b->n_keep)
		return 0;
	bigger = ibcc_grow_to(b->result, (uint32_t)b->n + 2, &b->room, sizeof(json_t *));
	if (!bigger)
		return -ENOMEM;
	b->result = bigger;
	own = json_deep_copy(o);
	if (!own)
		return -ENOMEM;
	if (b->n == b->n_keep)
		json_decref(b->result[--b->n]);
	memmove(&b->result[at + 1], &b->result[at], (b->n - at) * sizeof(*b->result));
	b->result[at] = own;
	b->n++;
	return 0;
}

static int take_given(void *arg, const char *file, unsigned int line, const json_t *o)
{
	struct ibcc_best *b = arg;
	int rc = check_value(b, file, line, o);
	json_t **bigger;

	if (rc)
		return rc;
	bigger = reallocarray(b->given, b->n_given + 1, sizeof(json_t *));
	if (!bigger)
		return -ENOMEM;
	b->given = bigger;
	b->given[b->n_given] = json_deep_copy(o);
	return b->given[b->n_given] ? (b->n_given++, 0) : -ENOMEM;
}

int ibcc_best_read(struct ibcc_best *b, const char *file, bool given)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	int rc = fd < 0 ? -errno
			: ibcc_sweep_read(file, fd, given ? take_given : consider, b, NULL, b->e);

	if (rc && !b->e->n)
		ibcc_yaml_errors_add(b->e, file, 0, 0, "%s", strerror(-rc));
	return rc;
}

void ibcc_best_fini(struct ibcc_best *b)
{
	for (size_t i = 0; i < b->n; i++)
		json_decref(b->result[i]);
	for (size_t i = 0; i < b->n_given; i++)
		json_decref(b->given[i]);
	free(b->result);
	free(b->given);
	b->result = b->given = NULL;
	b->n = b->n_given = b->room = 0;
}

size_t ibcc_best_rank(const struct ibcc_best *b, const json_t *result)
{
	size_t better = 0;

	while (better < b->n && compare_values(b, b->result[better], result) < 0)
		better++;
	return better + 1;
}

size_t ibcc_best_median(const struct ibcc_best *b)
{
	return ((b->n < IBCC_BEST_GOOD ? b->n : IBCC_BEST_GOOD) - 1) / 2;
}
