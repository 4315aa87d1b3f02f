/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The real length of a tick of PortXmitWait, found out from the counters themselves.
 *
 * A port that always has something to send either sends or waits: the two shares of its time make
 * 100 %. Other ports come to less, and none to more. For each type of device and rate of its links,
 * take the share of a port's time in which it does not send. Divide it by the share that its waits
 * come to by the table of devices (<ibcc/device.h>). The quotient is never below the factor by
 * which the table is wrong. If ports of several nodes that wait for different shares of their time
 * come to one least value, that is the factor. If it is close to 1, the table is right.
 */
#ifndef IBCC_UNITS_H
#define IBCC_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ibcc/snapshot.h>
#include <ibcc/topo.h>

enum ibcc_unit_state {
	IBCC_UNIT_ASSUMED, /* as the table says, or the specification; nothing speaks against it */
	IBCC_UNIT_UNKNOWN, /* not documented, or it cannot be what was assumed: not believed */
	IBCC_UNIT_CONFIRMED,  /* as the table says, and the counters agree */
	IBCC_UNIT_CALIBRATED, /* measured: the counters agree on another value */
};

struct ibcc_units; /* what is known of all types */

/* NULL without memory; accepts NULL. */
struct ibcc_units *ibcc_units_new(void);
void ibcc_units_free(struct ibcc_units *u);

/* Length of a port's tick in picoseconds, where it counts by `tick` of PortSamplesControl (-1: not
 * known); 0: its waits are not to be believed yet. -ENOMEM makes it 0, too.
 */
uint64_t ibcc_units_tick_ps(struct ibcc_units *u, const struct ibcc_topo *t, uint32_t port,
			    int tick);

/* Learns from an interval of a port: the counters' difference, and the tick as before. */
void ibcc_units_look(struct ibcc_units *u, const struct ibcc_topo *t, uint32_t port, int tick,
		     const struct ibcc_delta *d);

/* Draws the conclusions of a pass. True if a unit is another now. */
bool ibcc_units_conclude(struct ibcc_units *u);

/* A type in words, for all i from 0 on: "PortXmitWait of ConnectX-6 at 200000 Mb/s: a tick is about
 * 32 bytes, measured (8 were assumed)". Those about which nothing is odd make an empty text. False:
 * there is no such type.
 */
bool ibcc_units_say(const struct ibcc_units *u, uint32_t i, char *buf, size_t len);

#endif
