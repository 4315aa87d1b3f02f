/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A simulated fabric and services of the daemon in one process, to measure these: no sockets, and
 * MADs take no time but that of the agents which answer them.
 */
#ifndef PERFTEST_LAB_FABRIC_H
#define PERFTEST_LAB_FABRIC_H

#include <limits.h>
#include <stdio.h>

#include <ibcc/agents.h>
#include <ibcc/engine.h>
#include <ibcc/inproc.h>
#include <ibcc/scenario_file.h>

#include "daemon/explain.h"
#include "daemon/service/service.h"

#define IBCC_LAB_PATH_ROOM (PATH_MAX + 32)

struct ibcc_lab_fabric {
	struct ibcc_scenario sc;
	struct ibcc_engine *engine;
	struct ibcc_agents *agents;
	char folder[PATH_MAX]; /* of files, removed at the end; "": there is none */
};

/* Simulates the scenario that write() writes. The caller closes it, also after an error: 0 or a
 * negative errno, for a bad scenario with *e.
 */
int ibcc_lab_fabric_open(struct ibcc_lab_fabric *f, int (*write)(void *arg, FILE *out), void *arg,
			 struct ibcc_yaml_errors *e);
/* After the services on it. All zero is closed. */
void ibcc_lab_fabric_close(struct ibcc_lab_fabric *f);

/* The path of a file in the fabric's folder. -ENAMETOOLONG. */
int ibcc_lab_fabric_file(const struct ibcc_lab_fabric *f, const char *name, char *path, size_t len);

/* A daemon that observes. */
struct ibcc_lab_daemon {
	struct ibcc_service *service;
	struct ibcc_explain *explain;
	struct ibcc_transport *transport; /* the service's */
	struct ibcc_metrics_totals totals;
};

/* Opens a daemon on the fabric, with a topology that it owns from now on, also on failure, and a
 * state file of this name. `jobs_file` is the path of a map of jobs, or "". The caller closes it,
 * also after an error: 0 or a negative errno.
 */
int ibcc_lab_daemon_open(struct ibcc_lab_daemon *d, struct ibcc_lab_fabric *f,
			 struct ibcc_topo *topo, const char *name, const char *jobs_file);
/* Returns how much memory it had, in MiB. All zero is closed. */
double ibcc_lab_daemon_close(struct ibcc_lab_daemon *d);

/* Memory that the process has allocated, in MiB, without threads' own. */
double ibcc_lab_heap_mib(void);

#endif
