/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <ibcc/hostlist.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define DIGITS_MAX 9u /* of a number: so it fits into 32 bits */

struct expansion {
	ibcc_hostlist_fn *take;
	void *arg;
	uint32_t left; /* hosts that may still come */
	char name[IBCC_HOST_NAME_BYTES + 1];
};

struct range {
	uint32_t first, last;
	int digits;
};

/* Behind the name at s: at a comma outside of brackets, or at the end. */
static const char *end_of_name(const char *s)
{
	bool inside = false;

	for (; *s && (inside || *s != ','); s++)
		inside = *s == '[' || (inside && *s != ']');
	return s;
}

/* Reads the digits at *s, up to `end`; their number is 0 if there are none or too many. */
static unsigned int read_number(const char **s, const char *end, uint32_t *n)
{
	unsigned int digits = 0;

	for (*n = 0; *s < end && **s >= '0' && **s <= '9'; (*s)++, digits++)
		if (digits < DIGITS_MAX)
			*n = 10 * *n + (uint32_t)(**s - '0');
	return digits <= DIGITS_MAX ? digits : 0;
}

/* Reads "7" or "01-03" and the comma behind it. */
static bool read_range(const char **s, const char *end, struct range *r)
{
	r->digits = (int)read_number(s, end, &r->first);
	r->last = r->first;
	if (!r->digits)
		return false;
	if (*s < end && **s == '-') {
		(*s)++;
		if (!read_number(s, end, &r->last) || r->last < r->first)
			return false;
	}
	if (*s == end)
		return true;
	return *(*s)++ == ',' && *s < end;
}

static bool put(struct expansion *e, size_t *len, const char *s, size_t n)
{
	if (n > IBCC_HOST_NAME_BYTES - *len)
		return false;
	memcpy(e->name + *len, s, n);
	*len += n;
	return true;
}

static const char *find(const char *s, const char *end, char c)
{
	while (s < end && *s != c)
		s++;
	return s < end ? s : NULL;
}

/* Expands what is from s up to `end`, behind the `len` bytes of the name that are known. Goes as
 * deep as the name has brackets, of which each puts a byte into the name at least.
 */
static int expand(struct expansion *e, size_t len, const char *s, const char *end)
{
	const char *open = find(s, end, '[');
	const char *close = open ? find(open, end, ']') : NULL;
	struct range r;
	char text[16];
	int rc = 0;

	if (!put(e, &len, s, (size_t)((open ? open : end) - s)) || (open && !close))
		return -EINVAL;
	if (!open) {
		if (!len || find(e->name, e->name + len, ']') || !e->left)
			return -EINVAL;
		e->left--;
		e->name[len] = '\0';
		return e->take(e->arg, e->name);
	}
	s = open + 1;
	do {
		if (!read_range(&s, close, &r))
			return -EINVAL;
		for (uint32_t i = r.first; i <= r.last && !rc; i++) {
			size_t with = len;
			int n = snprintf(text, sizeof(text), "%0*u", r.digits, i);

			rc = put(e, &with, text, (size_t)n) ? expand(e, with, close + 1, end)
							    : -EINVAL;
		}
	} while (!rc && s < close);
	return rc;
}

int ibcc_hostlist_expand(const char *list, uint32_t most, ibcc_hostlist_fn *take, void *arg)
{
	struct expansion e = { .take = take, .arg = arg, .left = most };
	int rc = 0;

	while (*list && !rc) {
		const char *end = end_of_name(list);

		rc = expand(&e, 0, list, end);
		list = *end ? end + 1 : end;
		if (*end && !*list)
			return -EINVAL;
	}
	return rc;
}
