/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Where congestion starts (roots) and which adapters contribute or suffer (sources), as tables. */
#ifndef IBCC_TUNE_ROOTS_H
#define IBCC_TUNE_ROOTS_H

#include <jansson.h>

#include "daemon/tune/tune.h"

struct tune_source {
	const json_t *o;
	const char *role;
};
/* All sources of a root with a name that matches `glob` (NULL: all), most blocked first. The caller
 * owns the array; NULL without memory.
 */
struct tune_source *tune_sources_of(const json_t *root, const char *glob, size_t *n);
/* What makes this root: "slow receiver" or "oversubscribed link", and for a column of a table
 * "receiver" or "link".
 */
const char *tune_root_kind(const json_t *root);
const char *tune_root_kind_short(const json_t *root);
#define TUNE_KIND_LEGEND "receiver: a slow receiver; link: an oversubscribed link"
/* The prediction for a port; -1 if there is none. */
json_int_t tune_expected_mbps(const json_t *prediction, const json_t *port);

/* Prints the "roots" of a plan: the first ones, which are the worst, in a table, and below it the
 * most blocked senders. Prints only sources with a name that matches `glob` (NULL: all).
 */
void tune_print_roots(const json_t *roots, const char *glob, const json_t *prediction);

/* Prints one of the roots with its reason and all its sources. */
void tune_print_root(const json_t *root, size_t number, const char *glob, const json_t *prediction);

#endif
