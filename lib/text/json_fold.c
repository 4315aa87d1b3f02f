/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Folded JSON: an element of a long list is kept as its text, which takes far less memory than
 * jansson's objects. A folded value is a string that begins with a zero byte, followed by the
 * text; no string that was read has one. ibcc_json_dump() writes folded values as they are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/json.h>

#define FIRST_ROOM 4096u

struct text {
	char *at;
	size_t n, room;
};

/* Appends to a text, as a callback of jansson: 0, or -1 if out of memory. */
static int put(const char *data, size_t n, void *arg)
{
	struct text *t = arg;
	size_t room = t->room ? t->room : FIRST_ROOM;
	char *more;

	while (room - t->n < n + 1)
		room *= 2;
	if (room != t->room) {
		more = realloc(t->at, room);
		if (!more)
			return -1;
		t->at = more;
		t->room = room;
	}
	memcpy(t->at + t->n, data, n);
	t->n += n;
	t->at[t->n] = '\0';
	return 0;
}

static bool is_folded(const json_t *v)
{
	return json_is_string(v) && json_string_length(v) && !json_string_value(v)[0];
}

static int put_leaf(struct text *t, const json_t *v)
{
	if (is_folded(v))
		return put(json_string_value(v) + 1, json_string_length(v) - 1, t);
	return json_dump_callback(v, put, t, JSON_COMPACT | JSON_ENCODE_ANY);
}

static int put_key(struct text *t, const char *key)
{
	json_t *s = json_string(key);
	int rc = s ? put_leaf(t, s) : -1;

	json_decref(s);
	return rc ? rc : put(":", 1, t);
}

static int put_value(struct text *t, json_t *v);

static int put_elements(struct text *t, json_t *list)
{
	json_t *v;
	size_t i;
	int rc = 0;

	json_array_foreach (list, i, v) {
		if (!rc && i)
			rc = put(",", 1, t);
		if (!rc)
			rc = put_value(t, v);
	}
	return rc;
}

static int put_members(struct text *t, json_t *o)
{
	bool first = true;
	const char *key;
	json_t *v;
	int rc = 0;

	json_object_foreach (o, key, v) {
		if (!rc && !first)
			rc = put(",", 1, t);
		if (!rc)
			rc = put_key(t, key);
		if (!rc)
			rc = put_value(t, v);
		first = false;
	}
	return rc;
}

static int put_value(struct text *t, json_t *v)
{
	bool list = json_is_array(v);
	int rc;

	if (!list && !json_is_object(v))
		return put_leaf(t, v);
	rc = put(list ? "[" : "{", 1, t);
	if (!rc)
		rc = list ? put_elements(t, v) : put_members(t, v);
	return rc ? rc : put(list ? "]" : "}", 1, t);
}

char *ibcc_json_dump(const json_t *o)
{
	struct text t = { NULL, 0, 0 };

	if (o && !put_value(&t, (json_t *)o))
		return t.at;
	free(t.at);
	return NULL;
}

int ibcc_json_fold(json_t *list, json_t *part)
{
	struct text t = { NULL, 0, 0 };
	int rc = part ? put("", 1, &t) : -1;

	if (!rc)
		rc = json_is_array(part) ? put_elements(&t, part) : put_value(&t, part);
	if (!rc && t.n > 1)
		rc = json_array_append_new(list, json_stringn_nocheck(t.at, t.n));
	free(t.at);
	json_decref(part);
	return rc ? -ENOMEM : 0;
}

json_t *ibcc_json_unfold(json_t *o)
{
	char *text = ibcc_json_dump(o);
	json_t *plain = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;

	free(text);
	json_decref(o);
	return plain;
}
