/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Inside of the worker, shared by its files: worker.c runs jobs, worker_plans.c those that wait for
 * a plan, or for its prediction, and worker_job.c knows what a job is.
 */
#ifndef IBCC_DAEMON_WORKER_IMPL_H
#define IBCC_DAEMON_WORKER_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "daemon/explain.h"
#include "daemon/service/service.h"
#include "daemon/worker.h"

/* worker_job.c */
struct ibcc_request ibcc_job_request(const struct ibcc_job *j);
/* Finds out who asks, by name, where the history and the log say so. */
void ibcc_job_look_up(struct ibcc_job *j, struct ibcc_names *names);

struct ibcc_queue {
	struct ibcc_job *first, **last;
};

/* worker_queue.c, which says in which order jobs are taken. */
void ibcc_queue_init(struct ibcc_queue *q);
void ibcc_queue_push(struct ibcc_queue *q, struct ibcc_job *j);
/* The first one; NULL if there is none. */
struct ibcc_job *ibcc_queue_pop(struct ibcc_queue *q);
/* The one whose turn it is after a job of this user; NULL if there is none. */
struct ibcc_job *ibcc_queue_pick(struct ibcc_queue *q, uid_t last_uid);
/* The first one of a kind; NULL if there is none. */
struct ibcc_job *ibcc_queue_take_kind(struct ibcc_queue *q, enum ibcc_job_kind kind);
/* The one of a client; NULL if it has none here. */
struct ibcc_job *ibcc_queue_take_client(struct ibcc_queue *q, uint64_t client);

struct ibcc_worker {
	pthread_t thread;
	bool started;
	atomic_bool on_trial; /* something is, after the last job */
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t wake;
	bool stop;
	struct ibcc_queue todo, done;
	json_t *status;
	uint64_t trial_due_ns; /* of its "trial" */
	int done_fd;
	/* The thread's own: */
	uid_t last_uid;           /* whose job was taken last */
	struct ibcc_names *names; /* borrowed */
	struct ibcc_service *service;
	struct ibcc_explain *explain;
	struct ibcc_queue applies;    /* waiting for the next pass */
	struct ibcc_queue plans;      /* likewise, since there is no plan now */
	struct ibcc_queue predicting; /* who waits for the prediction under way, */
	struct ibcc_queue later;      /* and for it to end */
	bool abandoned;               /* the prediction under way is not finished for them */
	int trial_err;                /* of the last try to end a trial, as it was told */
	struct ibcc_metrics_totals totals;
};

/* The job is done, and everybody sees how things are after it. */
void ibcc_worker_finish(struct ibcc_worker *w, struct ibcc_job *j);

/* From the predictor's thread, with the worker: a prediction has ended. Without memory who waits
 * for it waits for the next one.
 */
void ibcc_worker_on_predicted(void *arg);
/* Jobs that wait. All of the worker's thread. */
void ibcc_worker_tell_plan(struct ibcc_worker *w, struct ibcc_job *j, bool may_wait);
void ibcc_worker_tell_plans(struct ibcc_worker *w, bool may_wait); /* that wait for one */
void ibcc_worker_tell_what_if(struct ibcc_worker *w, struct ibcc_job *j);
void ibcc_worker_tell_predicted(struct ibcc_worker *w); /* those that waited for that */
/* A client whose job may be waiting here has hung up. */
void ibcc_worker_drop_waiting(struct ibcc_worker *w, uint64_t client);
void ibcc_worker_run_later(struct ibcc_worker *w); /* and those that waited for its end */

#endif
