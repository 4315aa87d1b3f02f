/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The thread that talks to the fabric. It does one task at a time and signals a descriptor when one
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

enum ibcc_task_kind {
	IBCC_TASK_PASS,
	IBCC_TASK_APPLY,      /* waits for the next polling cycle and makes it an apply */
	IBCC_TASK_APPLY_PLAN, /* a plan that the client brings */
	IBCC_TASK_LOOK,       /* what such a plan would write */
	IBCC_TASK_PLAN,       /* waits for the next polling cycle if there is no plan now */
	IBCC_TASK_CONFIRM,
	IBCC_TASK_CANCEL,
	IBCC_TASK_ROLLBACK,
	IBCC_TASK_DISABLE,
	IBCC_TASK_REPAIR,
	IBCC_TASK_SHOW,
	IBCC_TASK_PROBE,
	IBCC_TASK_REPORT, /* waits like IBCC_TASK_PLAN */
	IBCC_TASK_BUNDLE, /* waits like IBCC_TASK_PLAN */
	IBCC_TASK_WHAT_IF,
	IBCC_TASK_ADVISE,
	IBCC_TASK_HISTORY,
	IBCC_TASK_JOBS, /* of the batch system */
	IBCC_TASK_RECONFIGURE,
	/* Tasks of the worker itself. */
	IBCC_TASK_PREDICTED, /* a prediction has ended */
	IBCC_TASK_GONE,      /* a client has hung up while its task runs */
};

/* Priority of tasks, first to last. */
enum ibcc_task_rank {
	IBCC_RANK_OWN,     /* the daemon's: polling cycles, a new configuration */
	IBCC_RANK_TRUSTED, /* root and the daemon's own user */
	IBCC_RANK_WRITER,  /* members of control_write_group */
	IBCC_RANK_READER,
};

struct ibcc_task {
	struct ibcc_task *next;
	enum ibcc_task_kind kind;
	enum ibcc_task_rank rank;
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
	bool shown;                   /* the same */
	uint64_t warned_sm;           /* the same */
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

void ibcc_task_free(struct ibcc_task *t);

/* Opens the state file, so that an error in it shows at the start, and starts the thread with all
 * signals blocked. The caller holds the lock beside the file. `names`, which outlives the worker,
 * may be NULL: see ibcc_names_who(). NULL with *err and *why on failure.
 */
struct ibcc_worker *ibcc_worker_new(const struct ibcc_config *config, uint64_t cc_key,
				    struct ibcc_names *names, int *err, struct ibcc_why *why);
/* Is there anything to restore when the worker is freed? */
bool ibcc_worker_restores(const struct ibcc_worker *w);
/* Ends the current task early, and then the thread. Changes of the fabric stay, except for what is
 * on trial and marking profiles of NVIDIA's switches: within a few seconds the worker reverts them.
 */
void ibcc_worker_free(struct ibcc_worker *w);

/* Readable when a task is done. */
int ibcc_worker_fd(const struct ibcc_worker *w);
/* Queues a task; see worker_queue.c for the order. */
void ibcc_worker_submit(struct ibcc_worker *w, struct ibcc_task *t);
/* Call when a client has hung up: drops its task unless that is running. An apply that has begun to
 * write is completed.
 */
void ibcc_worker_forget(struct ibcc_worker *w, uint64_t client);
/* Returns the next finished task, which the caller then owns; NULL if there is none. */
struct ibcc_task *ibcc_worker_done(struct ibcc_worker *w);
/* What the worker is busy with, in words. */
const char *ibcc_worker_stage(const struct ibcc_worker *w);
/* State of the service after the last task, a new reference. NULL without memory. */
json_t *ibcc_worker_status(struct ibcc_worker *w);

#endif
