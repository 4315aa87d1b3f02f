/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The thread that talks to the fabric. It does one job at a time and tells the event loop by a
 * descriptor when one is done, so that the loop never waits for a MAD.
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
	IBCC_JOB_APPLY,      /* waits for the next pass and makes it an apply */
	IBCC_JOB_APPLY_PLAN, /* one that the client brings */
	IBCC_JOB_LOOK,       /* what that would write */
	IBCC_JOB_PLAN,       /* waits for the next pass if there is none now */
	IBCC_JOB_CONFIRM,
	IBCC_JOB_CANCEL,
	IBCC_JOB_ROLLBACK,
	IBCC_JOB_DISABLE,
	IBCC_JOB_REPAIR,
	IBCC_JOB_SHOW,
	IBCC_JOB_PROBE,
	IBCC_JOB_REPORT, /* waits as IBCC_JOB_PLAN */
	IBCC_JOB_BUNDLE, /* likewise */
	IBCC_JOB_WHAT_IF,
	IBCC_JOB_HISTORY,
	IBCC_JOB_RECONFIGURE,
	/* The worker's own: */
	IBCC_JOB_PREDICTED, /* a prediction has ended */
	IBCC_JOB_GONE,      /* a client has hung up whose job has begun */
};

/* Whose jobs come first. */
enum ibcc_job_rank {
	IBCC_RANK_OWN,     /* the daemon's: passes, a new configuration */
	IBCC_RANK_TRUSTED, /* root and the daemon's own user */
	IBCC_RANK_WRITER,  /* members of control_write_group */
	IBCC_RANK_READER,
};

struct ibcc_job {
	struct ibcc_job *next;
	enum ibcc_job_kind kind;
	enum ibcc_job_rank rank;
	uint64_t client;              /* who gets the answer */
	uid_t uid;                    /* whose request it is, */
	pid_t pid;                    /* 0: nobody's */
	char login[IBCC_LOGIN_BYTES]; /* behind sudo, as root says; or empty */
	char who[160];                /* by name, when the worker has looked it up */
	bool skip_unsupported;        /* apply */
	uint32_t confirm_s;           /* likewise; see struct ibcc_request */
	bool data;                    /* plan: with all that it needs to be carried out */
	struct ibcc_plan plan;        /* apply plan; owned, */
	struct ibcc_control control;  /* and what it is for */
	int64_t made_s;               /* likewise; see struct ibcc_request */
	bool anonymous;               /* bundle */
	int64_t id;                   /* rollback, history: transaction or 0 */
	unsigned int limit;           /* history, */
	bool series;                  /* and what was measured */
	json_t *set;                  /* what if: owned */
	char filter[128];             /* show: empty for all */
	struct ibcc_config config;    /* reconfigure */
	uint64_t cc_key;
	bool want_metrics; /* pass */
	/* the answer: */
	int err;
	struct ibcc_why why;
	json_t *result;               /* owned; may be NULL */
	struct ibcc_metrics *metrics; /* likewise */
};

void ibcc_job_free(struct ibcc_job *j);

/* Opens the state file, beside which the caller holds the lock, so that what is wrong with it shows
 * at the start, and starts the thread with all signals blocked. `names`, which outlives it, may be
 * NULL: see ibcc_names_who(). NULL with *err and *why on failure.
 */
struct ibcc_worker *ibcc_worker_new(const struct ibcc_config *config, uint64_t cc_key,
				    struct ibcc_names *names, int *err, struct ibcc_why *why);
/* Ends the job under way early, ends the thread. What it changed on the fabric stays, but for what
 * is on trial: that is taken back, for which there are some seconds.
 */
void ibcc_worker_free(struct ibcc_worker *w);

/* Readable when a job is done. */
int ibcc_worker_fd(const struct ibcc_worker *w);
/* Hands a job over; see worker_queue.c for when it is its turn. */
void ibcc_worker_submit(struct ibcc_worker *w, struct ibcc_job *j);
/* A client has hung up: its job is dropped unless it is being worked on. What an apply has begun to
 * write is written to its end.
 */
void ibcc_worker_forget(struct ibcc_worker *w, uint64_t client);
/* The next job that is done, the caller's from now on; NULL if none. */
struct ibcc_job *ibcc_worker_done(struct ibcc_worker *w);
/* What it is busy with, in words. */
const char *ibcc_worker_stage(const struct ibcc_worker *w);
/* State of the service after the last job, a new reference. NULL without memory. */
json_t *ibcc_worker_status(struct ibcc_worker *w);

#endif
