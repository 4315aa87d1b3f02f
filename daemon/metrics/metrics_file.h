/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The metrics as a file for node_exporter's textfile collector. */
#ifndef IBCC_DAEMON_METRICS_FILE_H
#define IBCC_DAEMON_METRICS_FILE_H

#include <stddef.h>

#include <ibcc/why.h>

/* Puts a text to a path so that readers see the old or the new one as a whole, readable by all. It
 * is written beside it first, to PATH.tmp, which the collector does not take. A negative errno with
 * *why.
 */
int ibcc_metrics_file_write(const char *path, const char *text, size_t len, struct ibcc_why *why);

#endif
