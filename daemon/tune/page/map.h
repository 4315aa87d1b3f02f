/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A picture of a fabric: switches by level, the adapters of a switch in a column below it, and the
 * paths that lead to where congestion starts. If there is not enough room, switches that have
 * nothing to do with it are folded.
 */
#ifndef IBCC_TUNE_MAP_H
#define IBCC_TUNE_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

/* In the order of importance when room is short. */
enum tune_map_role {
	TUNE_MAP_OTHER,
	TUNE_MAP_CANDIDATE,
	TUNE_MAP_VICTIM,
	TUNE_MAP_CONTRIBUTOR,
	TUNE_MAP_SINK, /* the receiver that a root sends to */
};

struct tune_map_node {
	const char *name, *guid;
	bool is_switch;
	unsigned int level; /* number of links to the next adapter; 0: this is an adapter */
	enum tune_map_role role;
	unsigned int
		root; /* number of the first root that it is a source or the receiver of; 0: none */
	const json_t *adapter; /* as that root has it, with its jobs; NULL: in no role */
	uint32_t home; /* for an adapter: its switch, n_nodes if none */
	double mbps;   /* sent by an adapter, or received by a receiver; below zero: unknown */
	unsigned int weight; /* part in roots: the nodes with the most are shown */
	unsigned int n_hosts;
	bool shown;
	double x, y; /* middle of the upper edge */
};

struct tune_map_link {
	uint32_t a, b; /* nodes */
	unsigned int port_a, port_b;
	double from_a, from_b;       /* Mb/s; below zero: unknown */
	unsigned int hot_a, hot_b;   /* first root that a path leads to through this end; 0: none */
	unsigned int root_a, root_b; /* number of the root at this end; 0: none */
};

/* An end of a link, by which the link is found. */
struct tune_map_end {
	uint32_t node, link;
	unsigned int port;
	bool is_a;
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
	struct tune_map_end *end;   /* two of each link, by node and port; owned */
	json_t *by_guid;            /* number of a node; owned */
	unsigned int n_levels;      /* number of switch levels, from 1 */
	struct tune_map_fold fold[TUNE_MAP_LEVELS + 1];
	double width, height;
};

/* Sizes in the picture. */
#define TUNE_MAP_BOX   170.0 /* a switch's width */
#define TUNE_MAP_GAP   18.0
#define TUNE_MAP_HEAD  30.0 /* a switch's height */
#define TUNE_MAP_ROW   21.0 /* an adapter's height */
#define TUNE_MAP_HOSTS 8u   /* adapters shown for a switch */

/* Lays out a report's "map", with the roots of its "plan". Skips anything malformed. -ENOMEM;
 * -ENODATA if there is no switch to draw. The report must outlive the map.
 */
int tune_map_init(struct tune_map *m, const json_t *report);
void tune_map_fini(struct tune_map *m);

/* Adapters of a switch, at most `most`; those with the largest part in roots first. Returns the
 * number of all of them.
 */
unsigned int tune_map_hosts(const struct tune_map *m, uint32_t sw, uint32_t *host,
			    unsigned int most);

/* Draws one <svg> element. */
void tune_map_draw(const struct tune_map *m, FILE *out);

#endif
