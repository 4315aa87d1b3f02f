/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/lab/grid.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
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

/* Length of the first of the keys that are joined by +. */
static size_t key_length(const char *keys)
{
	return strcspn(keys, "+");
}

/* Whether the keys before `end` have one already. */
static bool has_key(const char *keys, const char *end, const char *key, size_t len)
{
	for (; keys < end; keys += key_length(keys) + 1)
		if (key_length(keys) == len && !memcmp(keys, key, len))
			return true;
	return false;
}

/* Whether keys may be those of a new axis: none is empty or there already. */
static bool are_new(const struct ibcc_grid *g, const char *keys)
{
	for (const char *key = keys;; key++) {
		size_t len = key_length(key);

		if (!len || has_key(keys, key, key, len))
			return false;
		for (size_t i = 0; i < g->n_axes; i++) {
			const char *other = g->axis[i].key;

			if (has_key(other, other + strlen(other), key, len))
				return false;
		}
		key += len;
		if (!*key)
			return true;
	}
}

int ibcc_grid_add_axis(struct ibcc_grid *g, const char *key, const struct ibcc_words *value)
{
	struct ibcc_grid_axis a = { .key = NULL }, *bigger;
	int rc = are_new(g, key) && value->n ? 0 : -EINVAL;

	if (!rc && value->n > MAX_POINTS / g->n_points)
		rc = -E2BIG;
	if (rc)
		return rc;
	bigger = reallocarray(g->axis, g->n_axes + 1, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	g->axis = bigger;
	a.key = strdup(key);
	rc = a.key ? ibcc_words_add_all(&a.value, value) : -ENOMEM;
	if (rc) {
		free(a.key);
		ibcc_words_fini(&a.value);
		return rc;
	}
	g->axis[g->n_axes++] = a;
	g->n_points *= a.value.n;
	return 0;
}

int ibcc_grid_add(struct ibcc_grid *g, const char *text)
{
	const char *eq = strchr(text, '=');
	struct ibcc_words value = { 0 };
	char *key;
	int rc;

	if (!eq)
		return -EINVAL;
	key = strndup(text, (size_t)(eq - text));
	rc = key ? split(eq + 1, &value) : -ENOMEM;
	if (!rc)
		rc = ibcc_grid_add_axis(g, key, &value);
	free(key);
	ibcc_words_fini(&value);
	return rc;
}

const char *ibcc_grid_value(const struct ibcc_grid *g, uint64_t point, size_t axis)
{
	for (size_t i = g->n_axes - 1; i > axis; i--)
		point /= g->axis[i].value.n;
	return g->axis[axis].value.w[point % g->axis[axis].value.n];
}

static int assign(const char *keys, const char *value, struct ibcc_words *set)
{
	for (;; keys++) {
		size_t len = key_length(keys);
		char *text = NULL;
		int rc = asprintf(&text, "%.*s=%s", (int)len, keys, value) < 0
				 ? -ENOMEM
				 : ibcc_words_add(set, text);

		free(text);
		keys += len;
		if (rc || !*keys)
			return rc;
	}
}

int ibcc_grid_assign(const struct ibcc_grid *g, uint64_t point, struct ibcc_words *set)
{
	int rc = 0;

	for (size_t i = 0; i < g->n_axes && !rc; i++)
		rc = assign(g->axis[i].key, ibcc_grid_value(g, point, i), set);
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
