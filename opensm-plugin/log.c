/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Formats a message as a line and passes it to the log (log.h). */
#include "opensm-plugin/log.h"

#include <stdarg.h>
#include <stdio.h>

void ibcc_plugin_log(const struct ibcc_plugin_log *log, enum ibcc_plugin_level level,
		     const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	log->write(log->arg, level, line);
}
