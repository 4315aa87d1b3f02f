/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Stock ibsim as a child: started, fed with console commands, supervised, ended. */
#ifndef SIM_IBSIM_H
#define SIM_IBSIM_H

#include <stdint.h>
#include <systemd/sd-event.h>

struct ibcc_ibsim;

/* How much ibsim has to have room for; 0: its own defaults. */
struct ibcc_ibsim_limits {
	uint32_t nodes, switches, ports;
};

/* Starts ibsim on a netfile, an open descriptor, under a socket name. `died` is called once if it
 * ends by itself, with its last words. NULL and *err on failure.
 */
typedef void ibcc_ibsim_died(void *arg, const char *why);
struct ibcc_ibsim *ibcc_ibsim_start(sd_event *ev, int fd, const char *name,
				    const struct ibcc_ibsim_limits *limits, ibcc_ibsim_died *died,
				    void *arg, int *err);
/* Ends ibsim and waits for its end. NULL is fine. */
void ibcc_ibsim_free(struct ibcc_ibsim *s);

/* Passes a line to the console; `done` gets what it printed, up to its next prompt. -EBUSY while
 * another line is being worked on, -EINVAL for a line too long or of several lines.
 */
typedef void ibcc_ibsim_printed(void *arg, const char *text);
int ibcc_ibsim_console(struct ibcc_ibsim *s, const char *line, ibcc_ibsim_printed *done, void *arg);

#endif
