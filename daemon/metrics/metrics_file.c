/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The metrics as a file, for a collector that reads files (metrics_file.h). It is replaced as a
 * whole, so that no reader sees half of it.
 */
#include "daemon/metrics/metrics_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <ibcc/file.h>

int ibcc_metrics_file_write(const char *path, const char *text, size_t len, struct ibcc_why *why)
{
	char tmp[PATH_MAX];
	int rc;

	if (snprintf(tmp, sizeof(tmp), "%s.tmp", path) >= (int)sizeof(tmp))
		return ibcc_why_set(why, -ENAMETOOLONG, "metrics_file: %s: too long", path);
	/* A file of an earlier process may be in the way. */
	unlink(tmp);
	rc = ibcc_file_put(path, tmp, text, len, 0644);
	if (rc)
		return ibcc_why_set(why, rc, "metrics_file: %s: %s", path, strerror(-rc));
	return 0;
}
