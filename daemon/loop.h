/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon's event loop: signals, timer, watchdog, control socket. It never touches the fabric;
 * see worker.h.
 */
#ifndef IBCC_DAEMON_LOOP_H
#define IBCC_DAEMON_LOOP_H

#include <stdint.h>

#include <ibcc/config.h>
#include <ibcc/why.h>

struct ibcc_loop_options {
	struct ibcc_config config;
	uint64_t cc_key;
	const char *config_file; /* read again at SIGHUP; NULL: the installed one */
	const char *fabric;      /* see ibcc_config_defaults() */
	int log_level;           /* from the command line; -1: as configured */
};

/* Runs until SIGTERM or SIGINT. Returns 0, or a negative errno with *why when it could not start or
 * go on.
 */
int ibcc_loop_run(const struct ibcc_loop_options *o, struct ibcc_why *why);

/* When the pass after one is due: an interval after its begin, and half of one after its end. A
 * pass that had to find out first what there is has read it late, and what is counted from then on
 * in a moment tells more of delays than of traffic.
 */
uint64_t ibcc_loop_next_us(uint64_t began_us, uint64_t ended_us, uint64_t interval_us);

#endif
