/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/bench/grid.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define MAX_POINTS (1ull << 30)

void ibcc_grid_init(struct ibcc_grid *g)
{
	*g = (struct ibcc_grid){ .n_points = 1 };
}

void ibcc_grid_fini(struct ibcc_grid *g)
{
	for (size_t i = 0; i < g->n_axes; i++) {
		free(g->axis[i].key);
		ibcc_words_fini(&g->axis[i].value);
	}
	free(g->axis);
	ibcc_grid_init(g);
}

/* Length of the first value in a list. */
static size_t value_length(const char *s)
{
	int depth = 0;
	char quote = 0;
	size_t i;

	for (i = 0; s[i] && (s[i] != ',' || depth > 0 || quote); i++) {
		if (quote)
			quote = s[i] == quote ? 0 : quote;
		else if (s[i] == '"' || s[i] == '\'')
			quote = s[i];
		else
			depth += (s[i] == '[' || s[i] == '{') - (s[i] == ']' || s[i] == '}');
	}
	return i;
}

static bool has_word(const struct ibcc_words *l, const char *s)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->w[i], s))
			return true;
	return false;
}

static int split(const char *s, struct ibcc_words *out)
{
	for (;; s++) {
		size_t len = value_length(s);
		char *value = strndup(s, len);
		int rc;

		if (!value)
			return -ENOMEM;
		rc = !len || has_word(out, value) ? -EINVAL : ibcc_words_add(out, value);
		free(value);
		s += len;
		if (rc || !*s)
			return rc;
	}
}

int ibcc_grid_add(struct ibcc_grid *g, const char *text)
{
	const char *eq = strchr(text, '=');
	struct ibcc_grid_axis a = { .key = NULL }, *bigger;
	int rc;

	if (!eq || eq == text)
		return -EINVAL;
	a.key = strndup(text, (size_t)(eq - text));
	rc = a.key ? split(eq + 1, &a.value) : -ENOMEM;
	for (size_t i = 0; i < g->n_axes && !rc; i++)
		if (!strcmp(g->axis[i].key, a.key))
			rc = -EINVAL;
	if (!rc && a.value.n > MAX_POINTS / g->n_points)
		rc = -E2BIG;
	bigger = rc ? NULL : reallocarray(g->axis, g->n_axes + 1, sizeof(*bigger));
	if (!bigger) {
		free(a.key);
		ibcc_words_fini(&a.value);
		return rc ? rc : -ENOMEM;
	}
	g->axis = bigger;
	g->axis[g->n_axes++] = a;
	g->n_points *= a.value.n;
	return 0;
}

const char *ibcc_grid_value(const struct ibcc_grid *g, uint64_t point, size_t axis)
{
	for (size_t i = g->n_axes - 1; i > axis; i--)
		point /= g->axis[i].value.n;
	return g->axis[axis].value.w[point % g->axis[axis].value.n];
}

int ibcc_grid_assign(const struct ibcc_grid *g, uint64_t point, struct ibcc_words *set)
{
	int rc = 0;

	for (size_t i = 0; i < g->n_axes && !rc; i++) {
		const char *key = g->axis[i].key, *value = ibcc_grid_value(g, point, i);
		size_t len = strlen(key) + strlen(value) + 2;
		char *text = malloc(len);

		if (!text)
			return -ENOMEM;
		memcpy(text, key, strlen(key));
		text[strlen(key)] = '=';
		memcpy(text + strlen(key) + 1, value, strlen(value) + 1);
		rc = ibcc_words_add(set, text);
		free(text);
	}
	return rc;
}

json_t *ibcc_grid_json(const struct ibcc_grid *g, uint64_t point)
{
	json_t *o = json_object();

	for (size_t i = 0; i < g->n_axes; i++)
		json_object_set_new(o, g->axis[i].key, json_string(ibcc_grid_value(g, point, i)));
	return o;
}

int ibcc_grid_find(const struct ibcc_grid *g, const json_t *o, uint64_t *point)
{
	uint64_t at = 0;

	if (json_object_size(o) != g->n_axes)
		return -ENOENT;
	for (size_t i = 0; i < g->n_axes; i++) {
		const char *s = json_string_value(json_object_get(o, g->axis[i].key));
		const struct ibcc_words *v = &g->axis[i].value;
		size_t k = 0;

		while (s && k < v->n && strcmp(v->w[k], s))
			k++;
		if (!s || k == v->n)
			return -ENOENT;
		at = at * v->n + k;
	}
	*point = at;
	return 0;
}
