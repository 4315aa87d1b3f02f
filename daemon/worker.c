/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The thread that talks to the fabric (worker.h). work() takes one job after the other from the
 * queue and runs it; run_pass() is the most frequent one. The event loop puts jobs in and takes
 * finished ones out, under a lock.
 */
#include "daemon/worker_impl.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <ibcc/log.h>
#include <ibcc/now.h>

#include "daemon/explain.h"
#include "daemon/service/service.h"

/* Time limit in seconds to revert a trial when the daemon ends: less than systemd's limit. */
#define LAST_TRIAL_S 20

/* Publishes the state after a job, which is done (NULL: there was none). */
static void publish(struct ibcc_worker *w, struct ibcc_job *j)
{
	json_t *status = ibcc_service_status(w->service), *old;
	uint64_t due_ns = ibcc_service_trial_due_ns(w->service);

	w->on_trial = due_ns != UINT64_MAX;
	pthread_mutex_lock(&w->lock);
	w->trial_due_ns = due_ns;
	if (j)
		ibcc_queue_push(&w->done, j);
	old = w->status;
	w->status = status;
	pthread_mutex_unlock(&w->lock);
	json_decref(old);
}

void ibcc_worker_finish(struct ibcc_worker *w, struct ibcc_job *j)
{
	uint64_t one = 1;

	publish(w, j);
	/* It fails only when the counter is full, and then the loop is awake already. */
	if (write(w->done_fd, &one, sizeof(one)) < 0)
		return;
}

static void measure(struct ibcc_worker *w, struct ibcc_job *pass)
{
	const struct ibcc_cycle *c = ibcc_service_cycle(w->service);
	struct ibcc_metrics_service facts;

	ibcc_metrics_count(&w->totals, c, pass->err);
	if (!pass->want_metrics)
		return;
	ibcc_service_metrics(w->service, &facts);
	pass->metrics = ibcc_metrics_new(c, &facts, &w->totals);
}

/* Adds the trial to the answer of the job that began it. */
static void add_trial(struct ibcc_worker *w, struct ibcc_job *j)
{
	if (j->result && j->confirm_s)
		json_object_set_new(j->result, "trial", ibcc_service_trial(w->service));
}

static bool wants_the_same(const struct ibcc_job *j, const struct ibcc_request *r)
{
	return j->skip_unsupported == r->skip_unsupported && j->confirm_s == r->confirm_s;
}

/* Answers applies that cannot run now, so that they do not make the polling cycle fail. */
static void refuse_applies(struct ibcc_worker *w)
{
	struct ibcc_queue asked = w->applies;
	struct ibcc_job *j;

	if (!asked.first)
		return;
	ibcc_queue_init(&w->applies);
	while ((j = ibcc_queue_pop(&asked))) {
		struct ibcc_request r = ibcc_job_request(j);

		j->err = ibcc_service_may_apply(w->service, &r, &j->why);
		if (j->err)
			ibcc_worker_finish(w, j);
		else
			ibcc_queue_push(&w->applies, j);
	}
}

/* A polling cycle that runs before a queued apply carries out that apply, too. */
static void take_applies(struct ibcc_worker *w)
{
	struct ibcc_job *j;

	for (;;) {
		pthread_mutex_lock(&w->lock);
		j = ibcc_queue_take_kind(&w->todo, IBCC_JOB_APPLY);
		pthread_mutex_unlock(&w->lock);
		if (!j)
			return;
		ibcc_job_look_up(j, w->names);
		ibcc_queue_push(&w->applies, j);
	}
}

/* Every client that asked for such an apply since the last polling cycle gets the result of this
 * one. A client that asked for the other kind, strict or loose, gets the next cycle.
 */
static void run_pass(struct ibcc_worker *w, struct ibcc_job *pass)
{
	struct ibcc_job *first, *j;
	const struct ibcc_cycle *now;
	struct ibcc_request r = { 0 };
	struct ibcc_queue others;

	ibcc_queue_init(&others);
	take_applies(w);
	refuse_applies(w);
	first = w->applies.first;
	if (first)
		r = ibcc_job_request(first);
	if (pass->fast && !first)
		pass->err = ibcc_service_pass_fast(w->service, &pass->why);
	else
		pass->err = ibcc_service_pass(w->service, first ? &r : NULL, &pass->why);
	now = ibcc_service_cycle(w->service);
	pass->fast &= now && now->fast;
	pass->has_focus = !pass->err && now && ibcc_cycle_has_focus(now);
	ibcc_explain_pass(w->explain, w->service, pass->err, &pass->why);
	measure(w, pass);
	while ((j = ibcc_queue_pop(&w->applies))) {
		const struct ibcc_cycle *c = ibcc_service_cycle(w->service);

		if (!wants_the_same(j, &r)) {
			ibcc_queue_push(&others, j);
			continue;
		}
		j->err = pass->err;
		j->why = pass->why;
		if (!j->err)
			j->err = ibcc_service_plan(w->service, j->data, &j->result, &j->why);
		if (!j->err && c->act_err) {
			j->err = c->act_err;
			j->why = c->blocked;
		}
		add_trial(w, j);
		ibcc_worker_finish(w, j);
	}
	ibcc_service_answered(w->service);
	while ((j = ibcc_queue_pop(&others)))
		ibcc_queue_push(&w->applies, j);
}

static void run_job(struct ibcc_worker *w, struct ibcc_job *j)
{
	struct ibcc_request r = ibcc_job_request(j);

	ibcc_job_look_up(j, w->names);
	switch (j->kind) {
	case IBCC_JOB_PASS:
		run_pass(w, j);
		ibcc_worker_tell_plans(w, !j->err);
		break;
	case IBCC_JOB_APPLY: ibcc_queue_push(&w->applies, j); return;
	case IBCC_JOB_APPLY_PLAN:
		j->err = ibcc_service_apply_plan(w->service, &j->plan, &j->control, &r, &j->result,
						 &j->why);
		ibcc_explain_request(w->explain, "apply", &r, j->err, &j->why, j->result);
		add_trial(w, j);
		break;
	case IBCC_JOB_LOOK:
		j->err = ibcc_service_look_at_plan(w->service, &j->plan, &j->control, &r,
						   &j->result, &j->why);
		break;
	case IBCC_JOB_CONFIRM:
		j->err = ibcc_service_confirm(w->service, &r, &j->result, &j->why);
		if (!j->err)
			ibcc_log(LOG_NOTICE, "transaction %lld confirmed by %s",
				 (long long)json_integer_value(
					 json_object_get(j->result, "transaction")),
				 r.who);
		break;
	case IBCC_JOB_CANCEL:
		j->err = ibcc_service_cancel_trial(w->service, &r, &j->result, &j->why);
		ibcc_explain_request(w->explain, "cancel", &r, j->err, &j->why, j->result);
		break;
	case IBCC_JOB_REPORT:
	case IBCC_JOB_BUNDLE:
	case IBCC_JOB_PLAN: ibcc_worker_tell_plan(w, j, true); return;
	case IBCC_JOB_ROLLBACK:
		j->err = ibcc_service_rollback(w->service, j->id, &r, &j->result, &j->why);
		ibcc_explain_request(w->explain, "rollback", &r, j->err, &j->why, j->result);
		break;
	case IBCC_JOB_DISABLE:
		j->err = ibcc_service_disable(w->service, &r, &j->result, &j->why);
		ibcc_explain_request(w->explain, "disable", &r, j->err, &j->why, j->result);
		break;
	case IBCC_JOB_REPAIR:
		j->err = ibcc_service_repair(w->service, &r, &j->result, &j->why);
		ibcc_explain_request(w->explain, "repair", &r, j->err, &j->why, j->result);
		break;
	case IBCC_JOB_SHOW:
		j->err = ibcc_service_show(w->service, j->filter[0] ? j->filter : NULL, &j->result,
					   &j->why);
		break;
	case IBCC_JOB_PROBE: j->err = ibcc_service_probe(w->service, &j->result, &j->why); break;
	case IBCC_JOB_HISTORY:
		j->err = ibcc_service_history(w->service, j->id, j->limit, j->series, &j->result,
					      &j->why);
		break;
	case IBCC_JOB_JOBS:
		j->err = ibcc_service_jobs(w->service, j->since_s, j->user, j->job, &j->result,
					   &j->why);
		break;
	case IBCC_JOB_RECONFIGURE:
		j->err = ibcc_service_reconfigure(w->service, &j->config, j->cc_key);
		if (j->err)
			ibcc_why_set(&j->why, j->err, "no memory");
		break;
	case IBCC_JOB_WHAT_IF: ibcc_worker_tell_what_if(w, j); return;
	case IBCC_JOB_PREDICTED:
		ibcc_worker_tell_predicted(w);
		ibcc_job_free(j);
		ibcc_worker_run_later(w);
		return;
	case IBCC_JOB_GONE:
		ibcc_job_free(ibcc_queue_take_client(&w->applies, j->client));
		ibcc_worker_drop_waiting(w, j->client);
		ibcc_job_free(j);
		return;
	}
	ibcc_worker_finish(w, j);
}

/* Reverts what is on trial; see ibcc_service_end_trial() for `reason`. A failure is tried again and
 * logged once.
 */
static void end_trial(struct ibcc_worker *w, const char *reason)
{
	struct ibcc_request r = { .who = "ibcc-tuned" };
	struct ibcc_why why = { "" };
	json_t *result = NULL;
	int err = ibcc_service_end_trial(w->service, reason, &result, &why);

	if (!err || err != w->trial_err)
		ibcc_explain_request(w->explain, "taking back what was on trial", &r, err, &why,
				     result);
	w->trial_err = err;
	json_decref(result);
	publish(w, NULL);
}

/* Returns the next job. NULL with *due: something on trial must be reverted first. NULL otherwise:
 * the thread must end.
 */
static struct ibcc_job *wait_for_job(struct ibcc_worker *w, bool *due)
{
	uint64_t due_ns = ibcc_service_trial_due_ns(w->service);
	struct timespec until = { (time_t)(due_ns / 1000000000u), (long)(due_ns % 1000000000u) };
	struct ibcc_job *j = NULL;

	*due = false;
	pthread_mutex_lock(&w->lock);
	while (!w->stop && !(*due = ibcc_now_ns() >= due_ns) && !w->todo.first) {
		if (due_ns == UINT64_MAX)
			pthread_cond_wait(&w->wake, &w->lock);
		else
			pthread_cond_timedwait(&w->wake, &w->lock, &until);
	}
	if (!w->stop && !*due)
		j = ibcc_queue_pick(&w->todo, w->last_uid);
	pthread_mutex_unlock(&w->lock);
	if (j && j->rank != IBCC_RANK_OWN)
		w->last_uid = j->uid;
	return j;
}

static void *work(void *arg)
{
	struct ibcc_worker *w = arg;
	struct ibcc_job *j;
	bool due;

	while ((j = wait_for_job(w, &due)) || due) {
		if (due)
			end_trial(w, NULL);
		else
			run_job(w, j);
	}
	if (w->on_trial)
		end_trial(w, "ibcc-tuned ends");
	return NULL;
}

/* Only the event loop handles signals. */
static int start_thread(struct ibcc_worker *w)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = -pthread_create(&w->thread, NULL, work, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	w->started = !rc;
	return rc;
}

struct ibcc_worker *ibcc_worker_new(const struct ibcc_config *config, uint64_t cc_key,
				    struct ibcc_names *names, int *err, struct ibcc_why *why)
{
	struct ibcc_worker *w = calloc(1, sizeof(*w));
	pthread_condattr_t attr;
	int rc = -ENOMEM;

	if (!w) {
		*err = ibcc_why_set(why, rc, "no memory");
		return NULL;
	}
	w->names = names;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->wake, &attr);
	pthread_condattr_destroy(&attr);
	ibcc_queue_init(&w->todo);
	ibcc_queue_init(&w->done);
	ibcc_queue_init(&w->applies);
	ibcc_queue_init(&w->plans);
	ibcc_queue_init(&w->predicting);
	ibcc_queue_init(&w->later);
	w->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->service = ibcc_service_new(config, cc_key);
	if (w->service) {
		ibcc_service_claim(w->service);
		ibcc_service_listen(w->service);
		ibcc_service_on_predicted(w->service, ibcc_worker_on_predicted, w);
	}
	w->explain = ibcc_explain_new();
	if (w->done_fd < 0 || !w->service || !w->explain) {
		ibcc_why_set(why, rc, "no memory");
	} else {
		rc = ibcc_service_open_state(w->service, why);
		if (!rc)
			publish(w, NULL);
		if (!rc && (rc = start_thread(w)))
			ibcc_why_set(why, rc, "cannot start a thread: %s", strerror(-rc));
	}
	if (!rc) {
		return w;
	}
	*err = rc;
	ibcc_worker_free(w);
	return NULL;
}

static void free_jobs(struct ibcc_queue *q)
{
	struct ibcc_job *j;

	while ((j = ibcc_queue_pop(q)))
		ibcc_job_free(j);
}

/* A job is a sequence of MAD runs, and a cancel ends only the current one. So it is repeated until
 * the thread ends.
 */
static void end_thread(struct ibcc_worker *w)
{
	struct timespec until;

	if (w->on_trial) {
		until = ibcc_now_in_ms(1000u * LAST_TRIAL_S);
		if (!pthread_clockjoin_np(w->thread, NULL, CLOCK_MONOTONIC, &until))
			return;
	}
	do {
		ibcc_service_cancel(w->service);
		until = ibcc_now_in_ms(50);
	} while (pthread_clockjoin_np(w->thread, NULL, CLOCK_MONOTONIC, &until));
}

void ibcc_worker_free(struct ibcc_worker *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	if (w->started)
		end_thread(w);
	ibcc_service_free(w->service); /* also ends the predictor's thread, which submits a job */
	free_jobs(&w->todo);
	free_jobs(&w->done);
	free_jobs(&w->applies);
	free_jobs(&w->plans);
	free_jobs(&w->predicting);
	free_jobs(&w->later);
	json_decref(w->status);
	ibcc_explain_free(w->explain);
	if (w->done_fd >= 0)
		close(w->done_fd);
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

void ibcc_worker_forget(struct ibcc_worker *w, uint64_t client)
{
	struct ibcc_job *j, *gone = NULL;

	pthread_mutex_lock(&w->lock);
	j = ibcc_queue_take_client(&w->todo, client);
	if (!j && (gone = calloc(1, sizeof(*gone)))) {
		*gone = (struct ibcc_job){ .kind = IBCC_JOB_GONE, .client = client };
		ibcc_queue_push(&w->todo, gone);
		pthread_cond_signal(&w->wake);
	}
	pthread_mutex_unlock(&w->lock);
	ibcc_job_free(j);
}

int ibcc_worker_fd(const struct ibcc_worker *w)
{
	return w->done_fd;
}

void ibcc_worker_submit(struct ibcc_worker *w, struct ibcc_job *j)
{
	pthread_mutex_lock(&w->lock);
	ibcc_queue_push(&w->todo, j);
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
}

struct ibcc_job *ibcc_worker_done(struct ibcc_worker *w)
{
	struct ibcc_job *j;
	uint64_t count;

	pthread_mutex_lock(&w->lock);
	j = ibcc_queue_pop(&w->done);
	if (!j && read(w->done_fd, &count, sizeof(count)) < 0)
		j = NULL; /* there was none: that is fine */
	pthread_mutex_unlock(&w->lock);
	return j;
}

const char *ibcc_worker_stage(const struct ibcc_worker *w)
{
	return ibcc_service_stage(w->service);
}

json_t *ibcc_worker_status(struct ibcc_worker *w)
{
	json_t *copy, *trial;
	uint64_t due_ns;

	pthread_mutex_lock(&w->lock);
	copy = json_deep_copy(w->status);
	due_ns = w->trial_due_ns;
	pthread_mutex_unlock(&w->lock);
	trial = json_object_get(copy, "trial");
	if (json_is_object(trial)) /* this time runs, all else is as old as the last job */
		ibcc_service_trial_left(trial, due_ns);
	return copy;
}
