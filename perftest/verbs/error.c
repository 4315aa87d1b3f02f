/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/verbs/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <ibcc/clean.h>

int ibcc_perf_fail(struct ibcc_why *e, int err, const char *fmt, ...)
{
	va_list ap;
	size_t n;

	if (*e->text)
		return err ? -err : -EIO;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	n = strlen(e->text);
	if (err)
		snprintf(e->text + n, sizeof(e->text) - n, ": %s", strerror(err));
	ibcc_clean(e->text, ""); /* the text has names of peers and devices, and what these sent */
	return err ? -err : -EIO;
}
