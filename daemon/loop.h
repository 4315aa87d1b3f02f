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

/* Runs until SIGTERM or SIGINT. Returns 0, or a negative errno with *why if it could not start or
 * continue.
 */
int ibcc_loop_run(const struct ibcc_loop_options *o, struct ibcc_why *why);

/* When the polling cycle after one is due: an interval after its begin, and at least half an
 * interval after its end. A cycle that first had to discover the fabric has read it late. Counters
 * over a short time after that would show delays rather than traffic.
 */
uint64_t ibcc_loop_next_us(uint64_t began_us, uint64_t ended_us, uint64_t interval_us);

#endif
