/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Messages of the plugin, to OpenSM's log. Error codes are ones that OpenSM itself does not use. */
#ifndef IBCC_PLUGIN_LOG_H
#define IBCC_PLUGIN_LOG_H

enum ibcc_plugin_level {
	IBCC_PLUGIN_ERROR,
	IBCC_PLUGIN_INFO,
	IBCC_PLUGIN_VERBOSE,
	IBCC_PLUGIN_DEBUG,
};

/* Where messages go; replaced in tests. `line` ends without a newline. */
struct ibcc_plugin_log {
	void (*write)(void *arg, enum ibcc_plugin_level level, const char *line);
	void *arg;
};

void ibcc_plugin_log(const struct ibcc_plugin_log *log, enum ibcc_plugin_level level,
		     const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
