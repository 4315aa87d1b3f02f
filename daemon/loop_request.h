/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Inside of the loop: its state, and what it does with requests from the control socket. */
#ifndef IBCC_DAEMON_LOOP_REQUEST_H
#define IBCC_DAEMON_LOOP_REQUEST_H

#include <stdbool.h>

#include <systemd/sd-event.h>

#include "daemon/control.h"
#include "daemon/worker.h"

struct ibcc_loop {
	struct ibcc_config config;
	const char *config_file;
	int log_level;
	bool last_reload_ok;
	sd_event *event;
	sd_event_source *timer;
	struct ibcc_worker *worker;
	struct ibcc_control *control;
	unsigned int failures;      /* passes in a row that failed, as far as it matters */
	uint64_t start_us, pass_us; /* CLOCK_MONOTONIC: of the daemon, of the last pass */
};

/* An ibcc_control_fn; arg is the loop. */
void ibcc_loop_request(void *arg, const struct ibcc_control_request *r);

#endif
