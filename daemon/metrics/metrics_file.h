/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The metrics as a file for node_exporter's textfile collector. */
#ifndef IBCC_DAEMON_METRICS_FILE_H
#define IBCC_DAEMON_METRICS_FILE_H

#include <stddef.h>

#include <ibcc/why.h>

/* Writes a text to a path so that readers see the old or the new text as a whole. Any user may read
 * the file. Writes to PATH.tmp first, which the collector ignores. Returns 0, or a negative errno
 * with *why.
 */
int ibcc_metrics_file_write(const char *path, const char *text, size_t len, struct ibcc_why *why);

#endif
