/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the map of hosts and jobs beside the polling cycles.
 *
 * The file may be on a file system that does not answer. Then a thread waits for it, which does
 * nothing else, and all other work goes on.
 */
#ifndef IBCC_DAEMON_SERVICE_MAP_READER_H
#define IBCC_DAEMON_SERVICE_MAP_READER_H

#include <ibcc/jobs.h>
#include <ibcc/why.h>

struct ibcc_map_reader;

/* The reader of this file. NULL without memory. */
struct ibcc_map_reader *ibcc_map_reader_new(const char *file);
/* Accepts NULL. It waits for no file: a thread that waits for one ends when the file answers. */
void ibcc_map_reader_free(struct ibcc_map_reader *r);

/* Has the thread look at the file, unless it does so, or what it found was not taken yet. 0, or a
 * negative errno without a thread.
 */
int ibcc_map_reader_begin(struct ibcc_map_reader *r);

enum ibcc_map_news {
	IBCC_MAP_NO_NEWS, /* the file is as it was, or the thread looks at it */
	IBCC_MAP_READ,    /* *map is the new map, which the caller owns */
	IBCC_MAP_GONE,    /* there is no file */
	IBCC_MAP_UNREAD,  /* it cannot be read, for the reason in *why */
	IBCC_MAP_LATE,    /* the thread has been looking at it for *waited_s, longer than usual */
};

/* Takes what the thread has found since the last call. Never waits. */
enum ibcc_map_news ibcc_map_reader_take(struct ibcc_map_reader *r, struct ibcc_jobs *map,
					struct ibcc_why *why, uint64_t *waited_s);

#endif
