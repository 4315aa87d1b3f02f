/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The thread that talks to the fabric. It does one job at a time and signals a descriptor when one
 * is done, so that the event loop never waits for a MAD.
 */
#ifndef IBCC_DAEMON_WORKER_H
#define IBCC_DAEMON_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <jansson.h>

#include <ibcc/config.h>
#include <ibcc/control.h>
#include <ibcc/plan.h>
#include <ibcc/why.h>

#include "daemon/metrics/metrics.h"
#include "daemon/names.h"
#include "daemon/who.h"

struct ibcc_worker;

enum ibcc_job_kind {
	IBCC_JOB_PASS,
	IBCC_JOB_APPLY,      /* waits for the next polling cycle and makes it an apply */
	IBCC_JOB_APPLY_PLAN, /* a plan that the client brings */
	IBCC_JOB_LOOK,       /* what such a plan would write */
	IBCC_JOB_PLAN,       /* waits for the next polling cycle if there is no plan now */
	IBCC_JOB_CONFIRM,
	IBCC_JOB_CANCEL,
	IBCC_JOB_ROLLBACK,
	IBCC_JOB_DISABLE,
	IBCC_JOB_REPAIR,
	IBCC_JOB_SHOW,
	IBCC_JOB_PROBE,
	IBCC_JOB_REPORT, /* waits like IBCC_JOB_PLAN */
	IBCC_JOB_BUNDLE, /* waits like IBCC_JOB_PLAN */
	IBCC_JOB_WHAT_IF,
	IBCC_JOB_HISTORY,
	IBCC_JOB_JOBS, /* of the batch system */
	IBCC_JOB_RECONFIGURE,
	/* Jobs of the worker itself. */
	IBCC_JOB_PREDICTED, /* a prediction has ended */
	IBCC_JOB_GONE,      /* a client has hung up while its job runs */
};

/* Priority of jobs, first to last. */
enum ibcc_job_rank {
	IBCC_RANK_OWN,     /* the daemon's: polling cycles, a new configuration */
	IBCC_RANK_TRUSTED, /* root and the daemon's own user */
	IBCC_RANK_WRITER,  /* members of control_write_group */
	IBCC_RANK_READER,
};

struct ibcc_job {
	struct ibcc_job *next;
	enum ibcc_job_kind kind;
	enum ibcc_job_rank rank;
	uint64_t client;              /* the client that gets the answer */
	uid_t uid;                    /* the user that made the request */
	pid_t pid;                    /* 0: not a user's request */
	char login[IBCC_LOGIN_BYTES]; /* login behind sudo, as root states it; may be empty */
	char who[160];                /* the user by name, once the worker has looked it up */
	bool skip_unsupported;        /* apply */
	uint32_t confirm_s;           /* apply; see struct ibcc_request */
	bool data;                    /* plan: with all data that an apply needs */
	struct ibcc_plan plan;        /* apply plan: the changes; owned */
	struct ibcc_control control;  /* apply plan: its roots */
	int64_t made_s;               /* apply plan; see struct ibcc_request */
	bool anonymous;               /* bundle */
	int64_t id;                   /* rollback, history: transaction or 0 */
	unsigned int limit;           /* history */
	bool series;                  /* history: with the measurements */
	json_t *set;                  /* what if: owned */
	char filter[128];             /* show: empty for all */
	uint32_t since_s;             /* jobs: seen within this time */
	char user[64], job[64];       /* jobs: of this user, with this number; empty: any */
	struct ibcc_config config;    /* reconfigure */
	uint64_t cc_key;
	bool want_metrics; /* polling cycle */
	bool fast;         /* polling cycle: read the focus alone */
	/* The answer. */
	int err;
	struct ibcc_why why;
	bool has_focus;               /* polling cycle: the next one may be fast */
	json_t *result;               /* owned; may be NULL */
	struct ibcc_metrics *metrics; /* owned; may be NULL */
};

void ibcc_job_free(struct ibcc_job *j);

/* Opens the state file, so that an error in it shows at the start, and starts the thread with all
 * signals blocked. The caller holds the lock beside the file. `names`, which outlives the worker,
 * may be NULL: see ibcc_names_who(). NULL with *err and *why on failure.
 */
struct ibcc_worker *ibcc_worker_new(const struct ibcc_config *config, uint64_t cc_key,
				    struct ibcc_names *names, int *err, struct ibcc_why *why);
/* Ends the current job early, and then the thread. Changes of the fabric stay, except for what is
 * on trial: within a few seconds the worker reverts it.
 */
void ibcc_worker_free(struct ibcc_worker *w);

/* Readable when a job is done. */
int ibcc_worker_fd(const struct ibcc_worker *w);
/* Queues a job; see worker_queue.c for the order. */
void ibcc_worker_submit(struct ibcc_worker *w, struct ibcc_job *j);
/* Call when a client has hung up: drops its job unless that is running. An apply that has begun to
 * write is completed.
 */
void ibcc_worker_forget(struct ibcc_worker *w, uint64_t client);
/* Returns the next finished job, which the caller then owns; NULL if there is none. */
struct ibcc_job *ibcc_worker_done(struct ibcc_worker *w);
/* What the worker is busy with, in words. */
const char *ibcc_worker_stage(const struct ibcc_worker *w);
/* State of the service after the last job, a new reference. NULL without memory. */
json_t *ibcc_worker_status(struct ibcc_worker *w);

#endif
