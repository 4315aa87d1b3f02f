/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A whole simulated fabric: ibsim, proxy, engine and control socket in one event loop. */
#ifndef SIM_SIMULATOR_H
#define SIM_SIMULATOR_H

#include <stdint.h>

struct ibcc_simulator_options {
	const char *scenario; /* file, or NULL */
	const char *netfile;  /* file, or NULL */
	const char *name;     /* of the clients' sockets */
	uint32_t mad_loss_permille, mad_delay_us;
	double speed; /* engine time by wall time */
};

/* Runs until SIGINT or SIGTERM. Prints "ready NAME" on standard output once clients may attach.
 * Returns the exit code; failures are logged.
 */
int ibcc_simulator_run(const struct ibcc_simulator_options *o);

#endif
