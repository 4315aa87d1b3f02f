/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds settings that several nodes share (equal.h). On a large fabric these are a few rows instead
 * of thousands.
 */
#include "daemon/tune/equal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/tune/tune.h"

#define NAMED 5u

/* The cells as one text, each with a tab behind it, without the port. No cell has a tab. */
static char *key_of(const char *const *cell, size_t n)
{
	size_t len = 1;
	char *key, *at;

	for (size_t i = 1; i < n; i++)
		len += strlen(cell[i]) + 1;
	key = at = malloc(len);
	if (!key)
		return NULL;
	*at = '\0';
	for (size_t i = 1; i < n; i++)
		at += sprintf(at, "%s\t", cell[i]);
	return key;
}

/* The row owns the key, which becomes its cells. */
static struct tune_equal *add_row(struct tune_equals *all, char *key)
{
	struct tune_equal *grown = reallocarray(all->row, all->n + 1, sizeof(*grown));

	if (!grown)
		return NULL;
	all->row = grown;
	if (!all->index)
		all->index = json_object();
	if (json_object_set_new(all->index, key, json_integer((json_int_t)all->n)))
		return NULL;
	grown = &all->row[all->n++];
	*grown = (struct tune_equal){ .cells = key };
	for (size_t i = 1; i < all->n_cells; i++) {
		grown->cell[i] = key;
		key += strcspn(key, "\t");
		*key++ = '\0';
	}
	return grown;
}

static struct tune_equal *find(struct tune_equals *all, const char *const *cell)
{
	char *key = key_of(cell, all->n_cells);
	struct tune_equal *r = NULL;
	const json_t *at;

	if (!key)
		return NULL;
	at = json_object_get(all->index, key);
	r = at ? &all->row[json_integer_value(at)] : add_row(all, key);
	if (!r || r->cells != key)
		free(key);
	return r;
}

/* The port is part of the place, not of the setting. */
void tune_equals_take(void *arg, const json_t *node, const char *const *cell)
{
	struct tune_equals *all = arg;
	struct tune_equal *r = find(all, cell);
	size_t len;

	if (!r) {
		all->n_left++;
		return;
	}
	if (++r->n > NAMED)
		return;
	len = strlen(r->where);
	snprintf(r->where + len, sizeof(r->where) - len, "%s%.36s%s%s", len ? ", " : "",
		 tune_str(node, "node"), strcmp(cell[0], "all") && cell[0][0] ? "/" : "",
		 strcmp(cell[0], "all") ? cell[0] : "");
}

void tune_equals_fini(struct tune_equals *all)
{
	for (size_t i = 0; i < all->n; i++)
		free(all->row[i].cells);
	free(all->row);
	json_decref(all->index);
	*all = (struct tune_equals){ .n_cells = all->n_cells };
}

const char *tune_equal_where(const struct tune_equal *r, char *buf, size_t len)
{
	if (r->n > NAMED)
		snprintf(buf, len, "%s and %u more", r->where, r->n - NAMED);
	else
		snprintf(buf, len, "%s", r->where);
	return buf;
}
