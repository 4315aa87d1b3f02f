/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The map that ibcc-jobs keeps, and the file that it replaces. */
#ifndef IBCC_DAEMON_JOBS_MAP_H
#define IBCC_DAEMON_JOBS_MAP_H

#include <stdbool.h>

#include <ibcc/jobs.h>
#include <ibcc/why.h>

/* Clears what a site keeps back. */
void ibcc_map_hide(struct ibcc_jobs *jobs, bool users, bool names);

/* Puts a newer map, which it takes over, in place of *map. Jobs that have ended stay for five
 * minutes. A job that the newer map lacks has ended: nothing says when, so it ends when the older
 * map was made, and no later minute is taken for its. One whose start is not known begins when it
 * was seen first. Returns 0 or -ENOMEM; then *map is as it was.
 */
int ibcc_map_renew(struct ibcc_jobs *map, struct ibcc_jobs *newer);

/* Without an answer from the batch system the map stays, with its age, and says why there is none.
 * When it is older than twice its period, its jobs go.
 */
void ibcc_map_fail(struct ibcc_jobs *map, const char *trouble, int64_t now_s);

/* Whether a file may be put at this path: -EPERM with a sentence in *why if its folder is a link,
 * or another user than root and our own may write there; -errno if it cannot be looked at.
 */
int ibcc_map_check(const char *path, struct ibcc_why *why);

/* Replaces the file by this map, mode 0640. -errno with a sentence in *why; the file is as it was
 * then.
 */
int ibcc_map_put(const struct ibcc_jobs *map, const char *path, struct ibcc_why *why);

#endif
