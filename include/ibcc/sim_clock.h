/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The time of a simulated fabric. ibcc-sim may run slower or faster than the host's clock, or be
 * paused, so rates of what its ports count must be computed with the time of its engine. It writes
 * that time to a small file whenever the engine has run, before it answers anything. An answer with
 * counters also has the time at which they were so: it may be delayed on its way, and its reader
 * may get no processor for a while.
 */
#ifndef IBCC_SIM_CLOCK_H
#define IBCC_SIM_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ibcc/why.h>

/* The environment variable that names the file. `ibcc-sim exec` sets it. */
#define IBCC_SIM_CLOCK_ENV "IBCC_SIM_CLOCK"

/* The file of the simulator with this name, into buf. Returns the length as snprintf() does. */
int ibcc_sim_clock_path(const char *name, char *buf, size_t len);

/* For the simulator: makes the file, in place of one that a simulator of this name left behind when
 * it was killed. Returns a descriptor, or -errno: -EEXIST if another user has such a file.
 */
int ibcc_sim_clock_create(const char *path);
/* Writes that the engine is at engine_ns, and that CLOCK_MONOTONIC says host_ns. 0 or -errno. */
int ibcc_sim_clock_write(int fd, uint64_t engine_ns, uint64_t host_ns);

/* Writes the engine's time into an answer of class PerfMgt: into bytes 24 to 39 of its 256, which
 * are reserved in this class (IBA vol. 1, 16.1.1). On other answers, nothing is written.
 */
void ibcc_sim_clock_stamp(uint8_t *mad, uint64_t engine_ns);
/* The engine's time in an answer. False, and *engine_ns is left alone, if there is none. */
bool ibcc_sim_clock_stamped(const uint8_t *mad, uint64_t *engine_ns);

struct ibcc_sim_clock;

/* For programs on the fabric: opens the file at `path`, which must be a regular file, and be
 * written to at this moment. host_ns is what CLOCK_MONOTONIC says. NULL on failure: *err is -ENOENT
 * if there is none, -EPERM if it is no regular file, -EPROTO if it is no clock of this version,
 * -ESTALE if it was not written to for half a minute, or another -errno, and *why says it in words
 * that begin with the path.
 */
struct ibcc_sim_clock *ibcc_sim_clock_open(const char *path, uint64_t host_ns, int *err,
					   struct ibcc_why *why);
void ibcc_sim_clock_close(struct ibcc_sim_clock *c);

/* Now, in nanoseconds of the engine's time. It never goes back. When the file cannot be read any
 * more, or the simulator has ended, time stands still.
 */
uint64_t ibcc_sim_clock_ns(struct ibcc_sim_clock *c);

#endif
