/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Pieces of JSON that all programs share: GUIDs, data in hexadecimal, settings, changes by field,
 * and making strings from outside safe.
 */
#include <ibcc/json.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/clean.h>
#include <ibcc/hex.h>

static const char digits[] = "0123456789abcdef";

json_t *ibcc_json_text(const char *text)
{
	json_t *s = json_string(text);
	char plain[1024];
	size_t i;

	if (s)
		return s;
	snprintf(plain, sizeof(plain), "%s", text);
	for (i = 0; plain[i]; i++)
		if (plain[i] & 0x80)
			plain[i] = '?';
	return json_string(plain);
}

static int clean_string(json_t *s)
{
	char *text = strdup(json_string_value(s));
	int rc = -ENOMEM;

	if (text) {
		ibcc_clean(text, "");
		rc = strcmp(text, json_string_value(s)) && json_string_set(s, text) ? -ENOMEM : 0;
	}
	free(text);
	return rc;
}

/* Whether cleaning would leave a key as it is. All that we make are so, and short. */
static bool is_clean(const char *key)
{
	char text[64];

	if (strlen(key) >= sizeof(text))
		return false;
	strcpy(text, key);
	ibcc_clean(text, "");
	return !strcmp(text, key);
}

/* Gives an object clean keys. The members keep their order. */
static int clean_keys(json_t *o)
{
	json_t *fresh = json_object(), *value;
	const char *key;
	int rc = fresh ? 0 : -ENOMEM;

	json_object_foreach (o, key, value) {
		char *text = rc ? NULL : strdup(key);

		if (text)
			ibcc_clean(text, "");
		if (!rc && (!text || json_object_set(fresh, text, value)))
			rc = -ENOMEM;
		free(text);
	}
	if (!rc && (json_object_clear(o) || json_object_update(o, fresh)))
		rc = -ENOMEM;
	json_decref(fresh);
	return rc;
}

/* An answer about a large fabric has a million objects: none is made anew without need. */
static int clean_object(json_t *o)
{
	bool clean = true;
	const char *key;
	json_t *value;
	int rc = 0;

	json_object_foreach (o, key, value) {
		clean = clean && is_clean(key);
		if (!rc)
			rc = ibcc_json_clean(value);
	}
	return rc || clean ? rc : clean_keys(o);
}

int ibcc_json_clean(json_t *o)
{
	json_t *value;
	size_t i;
	int rc = 0;

	if (json_is_string(o))
		return clean_string(o);
	if (json_is_object(o))
		return clean_object(o);
	json_array_foreach (o, i, value)
		if (!rc)
			rc = ibcc_json_clean(value);
	return rc;
}

json_t *ibcc_json_guid(uint64_t guid)
{
	return json_sprintf("0x%016" PRIx64, guid);
}

bool ibcc_json_read_guid(const json_t *v, uint64_t *guid)
{
	const char *s = json_string_value(v);

	if (!s || strlen(s) != 18 || strncmp(s, "0x", 2) != 0 || strspn(s + 2, digits) != 16)
		return false;
	return ibcc_hex_read_0x(s, guid);
}

json_t *ibcc_json_hex(const uint8_t *data, size_t n)
{
	char *text = malloc(n ? 2 * n : 1);
	json_t *v = NULL;

	for (size_t i = 0; text && i < n; i++) {
		text[2 * i] = digits[data[i] >> 4];
		text[2 * i + 1] = digits[data[i] & 15];
	}
	if (text)
		v = json_stringn(text, 2 * n);
	free(text);
	return v;
}

bool ibcc_json_read_hex(const json_t *v, uint8_t *data, size_t n)
{
	const char *s = json_string_value(v);

	if (!s || json_string_length(v) != 2 * n || strspn(s, digits) != 2 * n)
		return false;
	return ibcc_hex_read_bytes(s, data, n);
}

bool ibcc_json_read_whole(const json_t *v, json_int_t max, json_int_t *out)
{
	*out = json_integer_value(v);
	return json_is_integer(v) && *out >= 0 && *out <= max;
}
