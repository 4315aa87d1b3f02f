/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The object and its list are walked through here, and each value in them is read by jansson
 * (json_each.h). To find where a value ends it is enough to count brackets outside of strings:
 * jansson then refuses what is no value.
 */
#include <ibcc/json_each.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/clean.h>

struct walk {
	const char *text, *at, *end;
	const char *list;
	size_t most_bytes, rest_bytes;
	bool listed;
	ibcc_json_each_fn *take;
	void *arg;
	json_t *rest;
	struct ibcc_why *why;
};

static int wrong(const struct walk *w, const char *want)
{
	return ibcc_why_set(w->why, -EINVAL, "byte %zu: want %s", (size_t)(w->at - w->text) + 1,
			    want);
}

static void skip_blanks(struct walk *w)
{
	while (w->at < w->end && strchr(" \t\r\n", *w->at) && *w->at)
		w->at++;
}

/* Takes a character if it comes next. */
static bool next_is(struct walk *w, char c)
{
	skip_blanks(w);
	if (w->at == w->end || *w->at != c)
		return false;
	w->at++;
	return true;
}

static const char *end_of_string(const char *s, const char *end)
{
	for (s++; s < end && *s != '"'; s++)
		if (*s == '\\' && s + 1 < end)
			s++;
	return s < end ? s + 1 : end;
}

/* Behind the value at s, or at `end` if it does not end. */
static const char *end_of_value(const char *s, const char *end)
{
	size_t depth = 0;

	while (s < end) {
		if (*s == '"') {
			s = end_of_string(s, end);
		} else if (*s == '[' || *s == '{') {
			depth++;
			s++;
		} else if (*s == ']' || *s == '}') {
			if (!depth)
				return s;
			depth--;
			s++;
		} else if (depth || !strchr(",: \t\r\n", *s) || !*s) {
			s++;
			continue; /* a number or a word may go on */
		} else {
			return s;
		}
		if (!depth)
			return s;
	}
	return end;
}

/* Takes the next value. */
static int take_value(struct walk *w, size_t most_bytes, json_t **v)
{
	json_error_t error;
	const char *end;
	size_t n;
	char *copy;

	skip_blanks(w);
	end = end_of_value(w->at, w->end);
	n = (size_t)(end - w->at);
	if (n > most_bytes)
		return wrong(w, "a value that is shorter");
	copy = malloc(n + 1);
	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		copy[i] = w->at[i] ? w->at[i] : '?';
	copy[n] = '\0';
	ibcc_clean(copy, "");
	*v = json_loadb(copy, n, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
	free(copy);
	if (!*v)
		return json_error_code(&error) == json_error_out_of_memory
			       ? -ENOMEM
			       : wrong(w, "a JSON value");
	w->at = end;
	return 0;
}

static int take_list(struct walk *w)
{
	int rc = 0;

	if (w->listed)
		return wrong(w, "the list only once");
	w->listed = true;
	if (!next_is(w, '['))
		return wrong(w, "a list");
	if (next_is(w, ']'))
		return 0;
	for (size_t i = 0; !rc; i++) {
		json_t *v = NULL;

		rc = take_value(w, w->most_bytes, &v);
		if (!rc)
			rc = w->take(w->arg, i, v);
		json_decref(v);
		if (!rc && next_is(w, ']'))
			return 0;
		if (!rc && !next_is(w, ','))
			rc = wrong(w, "a comma or the end of the list");
	}
	return rc;
}

/* A value outside the list: all of these together have most_bytes. */
static int take_rest(struct walk *w, json_t **v)
{
	const char *begin;
	int rc;

	skip_blanks(w); /* they do not count, so that rest_bytes stays within most_bytes */
	begin = w->at;
	rc = take_value(w, w->most_bytes - w->rest_bytes, v);
	w->rest_bytes += (size_t)(w->at - begin);
	return rc;
}

static int take_other(struct walk *w, const char *key)
{
	json_t *v = NULL;
	int rc = take_rest(w, &v);

	if (!rc && json_object_get(w->rest, key))
		rc = wrong(w, "each member only once");
	if (!rc && json_object_set(w->rest, key, v))
		rc = -ENOMEM;
	json_decref(v);
	return rc;
}

static int take_member(struct walk *w)
{
	json_t *k = NULL;
	int rc = take_rest(w, &k);
	const char *key = json_string_value(k);

	if (!rc && (!key || strlen(key) != json_string_length(k) || !next_is(w, ':')))
		rc = wrong(w, "a name and a colon");
	if (!rc)
		rc = strcmp(key, w->list) ? take_other(w, key) : take_list(w);
	json_decref(k);
	return rc;
}

static int take_members(struct walk *w)
{
	int rc;

	if (!next_is(w, '{'))
		return wrong(w, "an object");
	if (next_is(w, '}'))
		return 0;
	do {
		rc = take_member(w);
	} while (!rc && next_is(w, ','));
	if (!rc && !next_is(w, '}'))
		rc = wrong(w, "a comma or the end of the object");
	return rc;
}

int ibcc_json_each(const char *text, size_t len, const char *list, size_t most_bytes,
		   ibcc_json_each_fn *take, void *arg, json_t **rest, struct ibcc_why *why)
{
	struct walk w = { .text = text,
			  .at = text,
			  .end = text + len,
			  .list = list,
			  .most_bytes = most_bytes,
			  .take = take,
			  .arg = arg,
			  .rest = json_object(),
			  .why = why };
	int rc = w.rest ? take_members(&w) : -ENOMEM;

	skip_blanks(&w);
	if (!rc && w.at != w.end)
		rc = wrong(&w, "nothing behind the object");
	if (!rc && !w.listed)
		rc = ibcc_why_set(why, -EINVAL, "there is no list \"%s\"", list);
	if (rc)
		json_decref(w.rest);
	*rest = rc ? NULL : w.rest;
	return rc;
}
