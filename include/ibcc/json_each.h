/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A JSON object with one long list, read element by element: a tree of all takes twenty times the
 * memory of its text.
 */
#ifndef IBCC_JSON_EACH_H
#define IBCC_JSON_EACH_H

#include <stddef.h>

#include <jansson.h>

#include <ibcc/why.h>

/* Takes the element at place i of the list, borrowed for the call; -errno ends the reading. */
typedef int ibcc_json_each_fn(void *arg, size_t i, const json_t *element);

/* Reads `len` bytes, which come from outside: an object that has the array `list`. Calls take() for
 * each element, in order, also if an error comes behind it. Bytes that are no UTF-8, and what a
 * terminal obeys, become '?' first, as ibcc_clean() does it: a batch system writes the names of
 * jobs as their users gave them. An element, and all other members together, have at most
 * `most_bytes`. *rest has the other members; a new reference. Returns 0, what take() returned,
 * -EINVAL with the reason in *why, or -ENOMEM; *rest is NULL then.
 */
int ibcc_json_each(const char *text, size_t len, const char *list, size_t most_bytes,
		   ibcc_json_each_fn *take, void *arg, json_t **rest, struct ibcc_why *why);

#endif
