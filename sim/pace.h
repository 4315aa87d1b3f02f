/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lets the engine run at a chosen speed beside everything else in the loop. */
#ifndef SIM_PACE_H
#define SIM_PACE_H

#include <stdint.h>
#include <systemd/sd-event.h>

#include "sim/fabric.h"

struct ibcc_pace;

/* Writes the engine's time to clock_fd, of ibcc_sim_clock_create(), each time that the engine has
 * run, and every millisecond. `failed` is called once if the engine cannot go on. NULL and *err on
 * failure.
 */
typedef void ibcc_pace_failed(void *arg, int err);
struct ibcc_pace *ibcc_pace_new(sd_event *ev, struct ibcc_sim_fabric *w, double speed, int clock_fd,
				ibcc_pace_failed *failed, void *arg, int *err);
void ibcc_pace_free(struct ibcc_pace *p);

/* Engine time by wall time; 0 stops the engine. */
void ibcc_pace_set_speed(struct ibcc_pace *p, double speed);
double ibcc_pace_speed(const struct ibcc_pace *p);
/* Runs the engine up to where it should be by now, so that values read from it are current. An
 * engine that does not keep up with its speed stays where it is.
 */
void ibcc_pace_catch_up(struct ibcc_pace *p);
/* The speed that was reached over the last second or so. */
double ibcc_pace_reached(const struct ibcc_pace *p);

#endif
