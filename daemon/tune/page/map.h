/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A picture of a fabric: switches by level, the adapters of a switch in a column below it, and the
 * ways that lead to where congestion starts. What has nothing to do with it is folded where there
 * is no room for all.
 */
#ifndef IBCC_TUNE_MAP_H
#define IBCC_TUNE_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

/* In the order in which they count when there is no room. */
enum tune_map_role {
	TUNE_MAP_OTHER,
	TUNE_MAP_CANDIDATE,
	TUNE_MAP_VICTIM,
	TUNE_MAP_CONTRIBUTOR,
	TUNE_MAP_SINK, /* what a root sends to */
};

struct tune_map_node {
	const char *name, *guid;
	bool is_switch;
	unsigned int level; /* links to the next adapter; 0: is one */
	enum tune_map_role role;
	unsigned int
		root;  /* number of the first root that it is a source or the sink of; 0: none */
	uint32_t home; /* of an adapter: its switch, n_nodes if none */
	double mbps;   /* that an adapter sends, or a sink gets; below zero: not known */
	unsigned int weight; /* what it has to do with roots: the most are shown */
	unsigned int n_hosts;
	bool shown;
	double x, y; /* middle of its upper edge */
};

struct tune_map_link {
	uint32_t a, b; /* nodes */
	unsigned int port_a, port_b;
	double from_a, from_b;       /* Mb/s; below zero: not known */
	unsigned int hot_a, hot_b;   /* first root that a way leads to by this end; 0: none does */
	unsigned int root_a, root_b; /* number of the root that is at this end; 0: none */
};

/* Switches of a level that are not shown. */
struct tune_map_fold {
	unsigned int n_switches, n_hosts;
	double x, y;
};

#define TUNE_MAP_LEVELS 6u

struct tune_map {
	uint32_t n_nodes, n_links;
	struct tune_map_node *node; /* owned */
	struct tune_map_link *link; /* owned */
	unsigned int n_levels;      /* of switches, from 1 */
	struct tune_map_fold fold[TUNE_MAP_LEVELS + 1];
	double width, height;
};

/* Sizes in the picture. */
#define TUNE_MAP_BOX   170.0 /* a switch's width */
#define TUNE_MAP_GAP   18.0
#define TUNE_MAP_HEAD  30.0 /* a switch's height */
#define TUNE_MAP_ROW   21.0 /* an adapter's */
#define TUNE_MAP_HOSTS 8u   /* shown of a switch */

/* Lays a report's "map" out, with the roots of its "plan". Anything that is not as it should be is
 * left out. -ENOMEM; -ENODATA if there is no switch to draw. The report is to outlive the map.
 */
int tune_map_init(struct tune_map *m, const json_t *report);
void tune_map_fini(struct tune_map *m);

/* Adapters of a switch, most to do with roots first, at most `most`; returns how many there are. */
unsigned int tune_map_hosts(const struct tune_map *m, uint32_t sw, uint32_t *host,
			    unsigned int most);

/* One <svg> element. */
void tune_map_draw(const struct tune_map *m, FILE *out);

#endif
