/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Results of a sweep: a JSON object on each line, in the order in which points were done.
 *
 * A line is written by one write() and counts once its newline is there. After a kill the last
 * line may be torn: it is cut off and its point run again.
 */
#ifndef PERFTEST_LAB_SWEEP_FILE_H
#define PERFTEST_LAB_SWEEP_FILE_H

#include <stdint.h>
#include <stdio.h>

#include <ibcc/yaml.h>

#include "perftest/lab/grid.h"

struct ibcc_sweep_file {
	int fd;
	char id[17];   /* identifies the scenario and grid of the points */
	uint8_t *done; /* a bit for each point of the grid */
	uint64_t n_done;
};

/* Hash of the scenario's text, the assignments on top of it, and the keys that vary, as 16 digits.
 * -errno of reading.
 */
int ibcc_sweep_id(const char *scenario, const struct ibcc_words *set, const struct ibcc_grid *g,
		  char id[17]);

/* Opens (or creates) a file, "-" for stdout, and reads which points it has. Errors in *e: a line in
 * the middle that is no result, or one of another id or grid (-EINVAL); -EWOULDBLOCK: another sweep
 * writes to it; -errno.
 */
int ibcc_sweep_open(struct ibcc_sweep_file *f, const char *file, const char id[17],
		    const struct ibcc_grid *g, struct ibcc_yaml_errors *e);
void ibcc_sweep_close(struct ibcc_sweep_file *f);

static inline int ibcc_sweep_has(const struct ibcc_sweep_file *f, uint64_t point)
{
	return f->done[point / 8] >> point % 8 & 1;
}

/* Appends a result, which is freed (NULL: -ENOMEM); -errno. */
int ibcc_sweep_put(struct ibcc_sweep_file *f, uint64_t point, json_t *result);

/* Calls fn with each result of a file except a torn last line. The object stays the caller's.
 * Returns the first value of fn that is not 0; -EINVAL for other lines, with an error in *e. *end
 * (may be NULL) is where the last whole line ends.
 */
int ibcc_sweep_read(const char *file, int fd,
		    int (*fn)(void *arg, const char *file, unsigned int line, const json_t *o),
		    void *arg, long long *end, struct ibcc_yaml_errors *e);

#endif
