/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads files of GUIDs and keys, as OpenSM writes them (keyfile.h). Keys are secrets: memory that
 * held them is cleared, and errors name lines, never contents.
 */
#include "lib/mad/keyfile.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/hex.h>

#define LINE_BYTES 128u
#define MAX_KEYS   (4u * 65536u) /* more than there are LIDs */

void ibcc_keyfile_fini(struct ibcc_keyfile *f)
{
	if (f->entry)
		explicit_bzero(f->entry, f->cap * sizeof(*f->entry));
	free(f->entry);
	*f = (struct ibcc_keyfile){ 0 };
}

static bool parse_hex(const char **p, uint64_t *v)
{
	size_t n;

	while (isblank((unsigned char)**p))
		(*p)++;
	n = ibcc_hex_read_0x(*p, v);
	*p += n;
	return n;
}

static bool is_rest_empty(const char *p)
{
	while (isspace((unsigned char)*p))
		p++;
	return !*p;
}

static int add(struct ibcc_keyfile *f, const struct ibcc_keyfile_entry *e)
{
	uint32_t cap = f->cap ? 2 * f->cap : 64;
	struct ibcc_keyfile_entry *more;

	if (f->n == f->cap) {
		/* Not realloc(): memory that is given back must not hold keys. */
		more = calloc(cap, sizeof(*more));
		if (!more)
			return -ENOMEM;
		if (f->n)
			memcpy(more, f->entry, f->n * sizeof(*more));
		if (f->entry)
			explicit_bzero(f->entry, f->n * sizeof(*more));
		free(f->entry);
		f->entry = more;
		f->cap = cap;
	}
	f->entry[f->n++] = *e;
	return 0;
}

static int by_guid(const void *x, const void *y)
{
	uint64_t a = ((const struct ibcc_keyfile_entry *)x)->guid,
		 b = ((const struct ibcc_keyfile_entry *)y)->guid;

	return (a > b) - (a < b);
}

/* Sorts the entries by GUID, and keeps one of those that are equal. */
static void sort(struct ibcc_keyfile *f)
{
	uint32_t n = 0;

	if (f->n)
		qsort(f->entry, f->n, sizeof(*f->entry), by_guid);
	for (uint32_t i = 0; i < f->n; i++) {
		if (n && f->entry[n - 1].guid == f->entry[i].guid)
			n--;
		f->entry[n++] = f->entry[i];
	}
	f->n = n;
}

static int read_lines(FILE *in, const char *path, struct ibcc_keyfile *f, struct ibcc_why *why)
{
	char line[LINE_BYTES];
	unsigned int number = 0;
	int rc = 0;

	while (!rc && fgets(line, sizeof(line), in)) {
		struct ibcc_keyfile_entry e;
		const char *p = line;

		number++;
		if (is_rest_empty(line))
			continue;
		if (!parse_hex(&p, &e.guid) || !isblank((unsigned char)*p) ||
		    !parse_hex(&p, &e.key) || !is_rest_empty(p) || f->n == MAX_KEYS)
			rc = ibcc_why_set(why, -EINVAL,
					  "%s:%u: want a GUID and a key, both as 0x...", path,
					  number);
		else
			rc = add(f, &e);
		explicit_bzero(&e, sizeof(e));
	}
	explicit_bzero(line, sizeof(line));
	if (!rc && ferror(in))
		rc = ibcc_why_set(why, -EIO, "%s: cannot be read", path);
	return rc;
}

int ibcc_keyfile_read(const char *path, struct ibcc_keyfile *f, struct ibcc_why *why)
{
	struct ibcc_keyfile fresh = { 0 };
	FILE *in = fopen(path, "re");
	int rc;

	if (!in) {
		rc = -errno;
		return ibcc_why_set(why, rc, "%s: cannot be read: %s", path, strerror(-rc));
	}
	rc = read_lines(in, path, &fresh, why);
	fclose(in);
	if (rc) {
		ibcc_keyfile_fini(&fresh);
		return rc;
	}
	sort(&fresh);
	ibcc_keyfile_fini(f);
	*f = fresh;
	return 0;
}

bool ibcc_keyfile_find(const struct ibcc_keyfile *f, uint64_t guid, uint64_t *key)
{
	const struct ibcc_keyfile_entry want = { .guid = guid };
	const struct ibcc_keyfile_entry *e =
		f->n ? bsearch(&want, f->entry, f->n, sizeof(want), by_guid) : NULL;

	if (e)
		*key = e->key;
	return e;
}
