/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon's configuration file, /etc/ibcc-tune/ibcc-tuned.yaml. */
#ifndef IBCC_CONFIG_H
#define IBCC_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/bounds.h>
#include <ibcc/collect.h>
#include <ibcc/estimate.h>
#include <ibcc/tuner.h>
#include <ibcc/yaml.h>

#ifndef IBCC_SYSCONFDIR
#define IBCC_SYSCONFDIR "/etc" /* the Makefile's SYSCONFDIR */
#endif
#define IBCC_CONFIG_FILE        IBCC_SYSCONFDIR "/ibcc-tune/ibcc-tuned.yaml"
#define IBCC_CONFIG_PATH_BYTES  256u
#define IBCC_CONFIG_USER        "ibcc" /* the packages make it */
#define IBCC_CONFIG_EXIT_STATUS 78     /* EX_CONFIG of sysexits.h */

enum ibcc_mode {
	IBCC_MODE_OBSERVE, /* watch and recommend, write nothing */
	IBCC_MODE_APPLY,
};

enum ibcc_via {
	IBCC_VIA_PLUGIN, /* through the OpenSM plugin's socket */
	IBCC_VIA_DIRECT, /* through the daemon's own umad port */
};

/* What to do about settings that another program changed, or that a node lost when it rebooted. */
enum ibcc_drift {
	IBCC_DRIFT_REPORT,
	IBCC_DRIFT_REPAIR, /* written again, in mode apply */
};

/* Whether marking profiles of NVIDIA's switches may be written. */
enum ibcc_vendor_writes {
	IBCC_VENDOR_WRITES_NEVER,
	IBCC_VENDOR_WRITES_EXPERIMENTAL, /* untried on hardware */
};

/* Whether a plan is recommended that costs throughput and reduces latency. */
enum ibcc_prefer {
	IBCC_PREFER_THROUGHPUT, /* it is not */
	IBCC_PREFER_LATENCY,    /* it is */
};

/* A plan for many nodes. */
enum ibcc_rollout_way {
	IBCC_ROLLOUT_WAY_CANARY, /* is begun with a few: <ibcc/rollout.h> */
	IBCC_ROLLOUT_WAY_ALL,
};

/* Which names of the batch system are kept. */
enum ibcc_jobs_names {
	IBCC_JOBS_NAMES_ALL,
	IBCC_JOBS_NAMES_USERS, /* users, and no names of jobs */
	IBCC_JOBS_NAMES_JOBS,  /* names of jobs, and no users */
	IBCC_JOBS_NAMES_NONE,  /* the jobs' numbers alone */
};

struct ibcc_config {
	int mode;      /* enum ibcc_mode */
	int drift;     /* enum ibcc_drift */
	int apply_via; /* enum ibcc_via */
	char ca[32];   /* empty: first active */
	uint8_t port;
	uint32_t interval_ms;      /* between passes, host time */
	uint32_t fast_interval_ms; /* the same for the ports that are looked at more often, */
	uint32_t fast_nodes;       /* the most nodes with such ports; 0: none */
	uint32_t pass_deadline_ms; /* what was not read by then is stale */
	uint32_t timeout_ms;       /* of a MAD */
	bool clear_counters;       /* of 32 bits, before they stop at their end */
	bool trust_lft;    /* tune where packets need not go by the forwarding tables, too */
	int vendor_writes; /* enum ibcc_vendor_writes */
	/* OpenSM's configuration, if the subnet manager runs on this host; empty: the usual places
	 */
	char vendor_opensm_conf[IBCC_CONFIG_PATH_BYTES];
	int rollout; /* enum ibcc_rollout_way */
	uint8_t retries;
	uint8_t window;       /* MADs in flight, */
	uint8_t node_window;  /* of those to one node, */
	uint32_t node_gap_us; /* and from one to it to the next */
	char plugin_socket[IBCC_CONFIG_PATH_BYTES];
	char control_socket[IBCC_CONFIG_PATH_BYTES];
	/* user that a daemon started by root switches to; "root": it does not switch */
	char user[33];
	/* Groups: members of the first may query the daemon, members of the second may also request
	 * changes. Empty: no group.
	 */
	char control_read_group[33], control_write_group[33];
	char state_file[IBCC_CONFIG_PATH_BYTES];  /* last good settings and undo */
	uint32_t history_mb;                      /* of that, at most */
	char cc_key_file[IBCC_CONFIG_PATH_BYTES]; /* empty: key 0 */
	char key_dir[IBCC_CONFIG_PATH_BYTES]; /* of OpenSM's guid2cckey; empty: one key for all */
	char node_name_map[IBCC_CONFIG_PATH_BYTES]; /* empty: as the diagnostics read it */
	char jobs_file[IBCC_CONFIG_PATH_BYTES];     /* see <ibcc/jobs.h>; empty: none */
	/* A POSIX extended regular expression; its first group is the host name in an adapter's
	 * description. Empty: the first word.
	 */
	char jobs_host_pattern[128];
	int jobs_names;          /* enum ibcc_jobs_names */
	uint32_t predict_cpu_s;  /* CPU time that a prediction may take; 0: none is made */
	int prefer;              /* enum ibcc_prefer */
	char metrics_listen[64]; /* see ibcc_listen_parse(); empty: nowhere */
	char metrics_file[IBCC_CONFIG_PATH_BYTES]; /* empty: none */
	bool compat_names; /* counters also by infiniband_exporter's names */
	int log_target;    /* enum ibcc_log_target */
	int log_level;     /* syslog level: err, warning, notice, info, debug as 3, 4, 5, 6, 7 */
	struct ibcc_estimator_params estimator;
	struct ibcc_tuner_params tuner;
	struct ibcc_bounds bounds; /* of what we write by our own port; the plugin has its own */
};

/* Characters allowed in the name of a fabric: letters, digits, "_", "-", and "." except at the
 * beginning. The size includes the terminating NUL.
 */
#define IBCC_FABRIC_BYTES 33u
bool ibcc_config_is_fabric(const char *name);

/* With the name of a fabric (NULL: the only one) sockets and state file are its own:
 * /run/ibcc-tune/NAME.control.sock, NAME.opensm.sock, /var/lib/ibcc-tune/NAME/state.db.
 */
void ibcc_config_defaults(struct ibcc_config *c, const char *fabric);

/* Reads a file over the defaults. All errors are in *e; *c is complete only with 0. -EINVAL for
 * errors in the file. -ENOENT, -EACCES and so on if the file cannot be read; *e has this error,
 * too.
 */
int ibcc_config_load(const char *file, const char *fabric, struct ibcc_config *c,
		     struct ibcc_yaml_errors *e);
/* control_socket of a file with mistakes, where that much of it can be read; else *c stays as it
 * is. */
void ibcc_config_find_socket(const char *file, const char *fabric, struct ibcc_config *c);

/* Writes the effective configuration as YAML, one key a line; returns 0 or -EIO. */
int ibcc_config_dump(const struct ibcc_config *c, FILE *out);

/* Reads a CC_Key (hex with 0x, one line) from a file that others cannot read. -EACCES when its
 * mode allows others, -EINVAL when it is no number; why says it in words.
 */
int ibcc_config_read_key(const char *file, uint64_t *key, char *why, size_t len);

#endif
