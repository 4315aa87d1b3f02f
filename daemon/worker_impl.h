/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Internals of the worker, shared by its files: worker.c runs tasks, worker_plans.c has those that
 * wait for a plan or its prediction, worker_task.c defines what a task is.
 */
#ifndef IBCC_DAEMON_WORKER_IMPL_H
#define IBCC_DAEMON_WORKER_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "daemon/explain.h"
#include "daemon/service/service.h"
#include "daemon/worker.h"

/* worker_task.c */
struct ibcc_request ibcc_task_request(const struct ibcc_task *t);
/* Looks up the user's name if the history and the log need it. */
void ibcc_task_look_up(struct ibcc_task *t, struct ibcc_names *names);

struct ibcc_queue {
	struct ibcc_task *first, **last;
};

/* worker_queue.c, which defines the order of tasks. */
void ibcc_queue_init(struct ibcc_queue *q);
void ibcc_queue_push(struct ibcc_queue *q, struct ibcc_task *t);
/* The first one; NULL if there is none. */
struct ibcc_task *ibcc_queue_pop(struct ibcc_queue *q);
/* The task that is next after one of user `last_uid`; NULL if there is none. */
struct ibcc_task *ibcc_queue_pick(struct ibcc_queue *q, uid_t last_uid);
/* The first one of a kind; NULL if there is none. */
struct ibcc_task *ibcc_queue_take_kind(struct ibcc_queue *q, enum ibcc_task_kind kind);
/* The task of a client; NULL if there is none in this queue. */
struct ibcc_task *ibcc_queue_take_client(struct ibcc_queue *q, uint64_t client);

struct ibcc_worker {
	pthread_t thread;
	bool started;
	/* Since the last task, there is something to restore when the daemon ends: a transaction on
	 * trial, or marking profiles.
	 */
	atomic_bool restores;
	pthread_mutex_t lock; /* protects all below */
	pthread_cond_t wake;
	bool stop;
	struct ibcc_queue todo, done;
	json_t *status;
	uint64_t trial_due_ns; /* when the trial in that status is due */
	int done_fd;
	/* Only for the worker's thread. */
	uid_t last_uid;           /* user of the last task */
	struct ibcc_names *names; /* borrowed */
	struct ibcc_service *service;
	struct ibcc_explain *explain;
	struct ibcc_queue applies; /* wait for the next polling cycle */
	struct ibcc_queue plans; /* wait for the next polling cycle, because there is no plan now */
	struct ibcc_queue predicting; /* wait for the running prediction */
	struct ibcc_queue later;      /* wait for that to end */
	bool abandoned;               /* the running prediction will not be finished for them */
	int trial_err;                /* of the last try to end a trial, as it was logged */
	struct ibcc_metrics_totals totals;
};

/* Finishes a task and publishes the state after it. */
void ibcc_worker_finish(struct ibcc_worker *w, struct ibcc_task *t);

/* Callback in the predictor's thread, with the worker as `arg`: a prediction has ended. If there is
 * no memory, waiting tasks wait for the next prediction.
 */
void ibcc_worker_on_predicted(void *arg);
/* Tasks that wait. Call all of these from the worker's thread. */
void ibcc_worker_tell_plan(struct ibcc_worker *w, struct ibcc_task *t, bool may_wait);
/* the tasks that wait for a plan */
void ibcc_worker_tell_plans(struct ibcc_worker *w, bool may_wait);
/* a what-if, or advice */
void ibcc_worker_tell_what_if(struct ibcc_worker *w, struct ibcc_task *t);
void ibcc_worker_tell_predicted(struct ibcc_worker *w); /* the tasks that wait for the prediction */
/* Call when a client has hung up that may have a task waiting here. */
void ibcc_worker_drop_waiting(struct ibcc_worker *w, uint64_t client);
void ibcc_worker_run_later(struct ibcc_worker *w); /* the tasks that wait for its end */

#endif
