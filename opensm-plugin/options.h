/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* event_plugin_options of opensm.conf. All plugins share that one line; this one takes the words
 * that begin with "ibcc." and leaves all others to other plugins.
 */
#ifndef IBCC_PLUGIN_OPTIONS_H
#define IBCC_PLUGIN_OPTIONS_H

#include <sys/types.h>
#include <sys/un.h>

#include "opensm-plugin/log.h"

/* An installed daemon is a member of this group. */
#define IBCC_PLUGIN_GROUP "ibcc"

struct ibcc_plugin_options {
	char socket[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	gid_t gid;               /* owning group of the socket, (gid_t)-1: leave it. Default for
				  * root: IBCC_PLUGIN_GROUP where there is one
				  */
	mode_t mode;             /* permissions of the socket */
	unsigned int window;     /* MADs in flight, 1..128 */
	unsigned int timeout_ms; /* for each attempt, 1..60000 */
	unsigned int retries;    /* further attempts, 0..20 */
	unsigned int max_delay, max_timer, sets_per_minute; /* see struct ibcc_bounds */
	/* Seconds without a client after which the plugin disables what clients had written; 0:
	 * never
	 */
	unsigned int revert_after_s;
};

/* Reads the line (NULL: none). Logs a value out of range or an unknown ibcc.* word, and keeps the
 * default. Returns -EINVAL, also logged, if a default would open the socket at another place or to
 * other users than configured: then the plugin has to stay idle.
 */
int ibcc_plugin_options_parse(const char *line, struct ibcc_plugin_options *o,
			      const struct ibcc_plugin_log *log);

#endif
