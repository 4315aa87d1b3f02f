/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads YAML mappings into structures by a table of keys. It goes on after an error, so that a
 * user sees all errors of a file at once.
 */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/guess.h>
#include <ibcc/yaml.h>

#define PATH_BYTES 192
#define MAX_KEYS   64u
#define KEY_CHARS  48

static const char *key_candidate(const void *arg, size_t i)
{
	return ((const struct ibcc_yaml_key *)arg)[i].name;
}

static const char *name_candidate(const void *arg, size_t i)
{
	return ((const char *const *)arg)[i];
}

static const char *join(char buf[PATH_BYTES], const char *path, const char *name)
{
	snprintf(buf, PATH_BYTES, "%s%s%.*s", path ? path : "", path && *path ? "." : "", KEY_CHARS,
		 name);
	return buf;
}

static double type_max(const struct ibcc_yaml_key *k)
{
	return ldexp(1, (int)k->size * 8) - 1;
}

static int want_number(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, const char *path,
		       const struct ibcc_yaml_key *k, struct ibcc_yaml_errors *e)
{
	const char *kind = k->type == IBCC_YAML_UINT ? "a whole number" : "a number";

	if (k->want)
		return ibcc_yaml_want(y, e, n, path, "%s", k->want);
	if (k->min == 0 && k->max == 0 && k->type == IBCC_YAML_DOUBLE)
		return ibcc_yaml_want(y, e, n, path, "%s", kind);
	return ibcc_yaml_want(y, e, n, path, "%s from %.15g to %.15g", kind, k->min,
			      k->max == 0 && k->min == 0 ? type_max(k) : k->max);
}

int ibcc_yaml_parse_uint(const char *s, uint64_t *out)
{
	bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
	const char *digits = hex ? s + 2 : s;
	unsigned long long v;
	char *end;

	/* strtoull() takes signs and spaces; 010 is refused, since it could mean ten or eight. */
	if (!*digits ||
	    strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789") != strlen(digits) ||
	    (!hex && digits[0] == '0' && digits[1]))
		return -EINVAL;
	errno = 0;
	v = strtoull(digits, &end, hex ? 16 : 10);
	if (errno)
		return -ERANGE;
	*out = v;
	return 0;
}

static int read_uint(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, const char *path,
		     const struct ibcc_yaml_key *k, void *to, struct ibcc_yaml_errors *e)
{
	double max = k->min == 0 && k->max == 0 ? type_max(k) : k->max;
	uint64_t v;

	if (!ibcc_yaml_is_plain(n) || ibcc_yaml_parse_uint(ibcc_yaml_scalar(n), &v) ||
	    (double)v < k->min || (double)v > max)
		return want_number(y, n, path, k, e);
	switch (k->size) {
	case 1: *(uint8_t *)to = (uint8_t)v; break;
	case 2: *(uint16_t *)to = (uint16_t)v; break;
	case 4: *(uint32_t *)to = (uint32_t)v; break;
	case 8: *(uint64_t *)to = v; break;
	}
	return 0;
}

int ibcc_yaml_parse_double(const char *s, double *out)
{
	locale_t c, old;
	char *end;
	double v;

	/* No inf, nan or hexadecimal, and a decimal point in every locale. */
	if (!*s || strspn(s, "0123456789+-.eE") != strlen(s))
		return -EINVAL;
	c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	old = c ? uselocale(c) : (locale_t)0;
	v = strtod(s, &end);
	if (c) {
		uselocale(old);
		freelocale(c);
	}
	if (*end || end == s || !isfinite(v))
		return -EINVAL;
	*out = v;
	return 0;
}

static int read_double(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, const char *path,
		       const struct ibcc_yaml_key *k, void *to, struct ibcc_yaml_errors *e)
{
	double v;

	if (!ibcc_yaml_is_plain(n) || ibcc_yaml_parse_double(ibcc_yaml_scalar(n), &v) ||
	    ((k->min != 0 || k->max != 0) && (v < k->min || v > k->max)))
		return want_number(y, n, path, k, e);
	*(double *)to = v;
	return 0;
}

static int read_bool(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, const char *path,
		     void *to, struct ibcc_yaml_errors *e)
{
	static const char *const words[] = { "false", "true", "no", "yes", "off", "on" };
	size_t i;

	for (i = 0; ibcc_yaml_is_plain(n) && i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(ibcc_yaml_scalar(n), words[i])) {
			*(bool *)to = i % 2;
			return 0;
		}
	}
	return ibcc_yaml_want(y, e, n, path, "true or false");
}

static int read_string(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, const char *path,
		       const struct ibcc_yaml_key *k, void *to, struct ibcc_yaml_errors *e)
{
	const char *s = ibcc_yaml_scalar(n);

	if (!s || ibcc_yaml_is_null(n))
		return ibcc_yaml_want(y, e, n, path, "%s", k->want ? k->want : "text");
	if (strlen(s) >= k->size)
		return ibcc_yaml_want(y, e, n, path, "%s of at most %zu bytes",
				      k->want ? k->want : "text", k->size - 1);
	memcpy(to, s, strlen(s) + 1);
	return 0;
}

static int read_enum(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, const char *path,
		     const struct ibcc_yaml_key *k, void *to, struct ibcc_yaml_errors *e)
{
	const char *s = ibcc_yaml_scalar(n), *guess;
	char list[160] = "";
	size_t i, len = 0;

	for (i = 0; k->names[i]; i++) {
		if (s && !strcmp(s, k->names[i])) {
			*(int *)to = (int)k->min + (int)i;
			return 0;
		}
		if (len < sizeof(list))
			len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s",
						!i                ? ""
						: k->names[i + 1] ? ", "
								  : " or ",
						k->names[i]);
	}
	guess = s ? ibcc_guess_word(s, name_candidate, k->names, i) : NULL;
	if (guess)
		return ibcc_yaml_want(y, e, n, path, "%s (did you mean %s?)", list, guess);
	return ibcc_yaml_want(y, e, n, path, "%s", list);
}

static int read_value(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, const char *path,
		      const struct ibcc_yaml_key *k, void *base, struct ibcc_yaml_errors *e)
{
	void *to = (char *)base + k->offset;

	switch (k->type) {
	case IBCC_YAML_UINT: return read_uint(y, n, path, k, to, e);
	case IBCC_YAML_DOUBLE: return read_double(y, n, path, k, to, e);
	case IBCC_YAML_BOOL: return read_bool(y, n, path, to, e);
	case IBCC_YAML_STRING: return read_string(y, n, path, k, to, e);
	case IBCC_YAML_ENUM: return read_enum(y, n, path, k, to, e);
	case IBCC_YAML_MAP: return ibcc_yaml_read(y, n, path, k->keys, to, e);
	case IBCC_YAML_NODE: *(const struct ibcc_yaml_node **)to = n; return 0;
	case IBCC_YAML_CUSTOM: return k->parse(y, n, path, base, e);
	}
	return -EINVAL;
}

static void unknown_key(const struct ibcc_yaml *y, const struct ibcc_yaml_node *key,
			const char *path, const struct ibcc_yaml_key *keys, size_t n_keys,
			struct ibcc_yaml_errors *e)
{
	const char *name = ibcc_yaml_scalar(key), *guess;
	char full[PATH_BYTES];

	if (!name) {
		ibcc_yaml_want(y, e, key, path && *path ? path : NULL, "a key");
		return;
	}
	guess = ibcc_guess_word(name, key_candidate, keys, n_keys);
	if (guess)
		ibcc_yaml_error(y, e, key, join(full, path, name),
				"unknown key, did you mean \"%s\"?", guess);
	else
		ibcc_yaml_error(y, e, key, join(full, path, name), "unknown key");
}

int ibcc_yaml_read(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, const char *path,
		   const struct ibcc_yaml_key *keys, void *base, struct ibcc_yaml_errors *e)
{
	const struct ibcc_yaml_node *first[MAX_KEYS] = { NULL };
	unsigned int errors = e->n;
	char full[PATH_BYTES];
	size_t n_keys = 0, i, k;

	while (keys[n_keys].name)
		n_keys++;
	if (n_keys > MAX_KEYS)
		return -E2BIG;
	if (n && !ibcc_yaml_is_map(n) && !ibcc_yaml_is_null(n))
		return ibcc_yaml_want(y, e, n, path && *path ? path : NULL, "a mapping of keys");
	for (i = 0; i < ibcc_yaml_length(n); i++) {
		const struct ibcc_yaml_node *key, *value = ibcc_yaml_item(y, n, i, &key);
		const char *name = ibcc_yaml_scalar(key);

		for (k = 0; k < n_keys; k++)
			if (name && !strcmp(name, keys[k].name))
				break;
		if (k == n_keys) {
			unknown_key(y, key, path, keys, n_keys, e);
			continue;
		}
		join(full, path, name);
		if (first[k]) {
			ibcc_yaml_error(y, e, key, full,
					"got the key again, want it once (line %u has it)",
					ibcc_yaml_line(first[k]));
			continue;
		}
		first[k] = key;
		if (read_value(y, value, full, &keys[k], base, e) && e->n == errors)
			/* a key that failed is never success, even if memory is too short to report
			 * it
			 */
			e->n++;
	}
	for (k = 0; k < n_keys; k++)
		if (keys[k].required && !first[k])
			ibcc_yaml_error(y, e, n, join(full, path, keys[k].name), "missing%s%s",
					keys[k].want ? ", want " : "",
					keys[k].want ? keys[k].want : "");
	return e->n == errors ? 0 : -EINVAL;
}

int ibcc_yaml_each(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, const char *path,
		   int (*fn)(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			     unsigned int index, void *arg, struct ibcc_yaml_errors *e),
		   void *arg, struct ibcc_yaml_errors *e)
{
	size_t i;
	int rc = 0;

	if (!ibcc_yaml_is_seq(n))
		return ibcc_yaml_want(y, e, n, path, "a list");
	for (i = 0; i < ibcc_yaml_length(n); i++) {
		int r = fn(y, ibcc_yaml_item(y, n, i, NULL), (unsigned int)i, arg, e);

		if (r == -ENOMEM || r == -E2BIG)
			return r;
		if (r)
			rc = r;
	}
	return rc;
}

const struct ibcc_yaml_node *ibcc_yaml_get(const struct ibcc_yaml *y,
					   const struct ibcc_yaml_node *n, const char *key)
{
	size_t i;

	for (i = 0; ibcc_yaml_is_map(n) && i < ibcc_yaml_length(n); i++) {
		const struct ibcc_yaml_node *k, *value = ibcc_yaml_item(y, n, i, &k);
		const char *name = ibcc_yaml_scalar(k);

		if (name && !strcmp(name, key))
			return value;
	}
	return NULL;
}
