/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The thread that talks to the fabric (worker.h). work() takes one task after the other from the
 * queue and runs it; run_pass() is the most frequent one. The event loop puts tasks in and takes
 * finished ones out, under a lock.
 */
#include "daemon/worker_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <ibcc/log.h>
#include <ibcc/now.h>
#include <ibcc/thread.h>

#include "daemon/explain.h"
#include "daemon/service/service.h"

/* Time limit in seconds to revert a trial when the daemon ends: less than systemd's limit. */
#define LAST_TRIAL_S 20

/* Publishes the state after a task, which is done (NULL: there was none). */
static void publish(struct ibcc_worker *w, struct ibcc_task *t)
{
	json_t *status = ibcc_service_status(w->service), *old;
	uint64_t due_ns = ibcc_service_trial_due_ns(w->service);

	w->restores = due_ns != UINT64_MAX || ibcc_service_has_profiles(w->service);
	pthread_mutex_lock(&w->lock);
	w->trial_due_ns = due_ns;
	if (t)
		ibcc_queue_push(&w->done, t);
	old = w->status;
	w->status = status;
	pthread_mutex_unlock(&w->lock);
	json_decref(old);
}

void ibcc_worker_finish(struct ibcc_worker *w, struct ibcc_task *t)
{
	uint64_t one = 1;

	publish(w, t);
	/* It fails only when the counter is full, and then the loop is awake already. */
	if (write(w->done_fd, &one, sizeof(one)) < 0)
		return;
}

static void measure(struct ibcc_worker *w, struct ibcc_task *pass)
{
	const struct ibcc_cycle *c = ibcc_service_cycle(w->service);
	struct ibcc_metrics_service facts;

	ibcc_metrics_count(&w->totals, c, pass->err);
	if (!pass->want_metrics)
		return;
	ibcc_service_metrics(w->service, &facts);
	pass->metrics = ibcc_metrics_new(c, &facts, &w->totals);
}

/* Adds the trial to the answer of the task that began it. */
static void add_trial(struct ibcc_worker *w, struct ibcc_task *t)
{
	if (t->result && t->confirm_s)
		json_object_set_new(t->result, "trial", ibcc_service_trial(w->service));
}

static bool wants_the_same(const struct ibcc_task *t, const struct ibcc_request *r)
{
	return t->skip_unsupported == r->skip_unsupported && t->confirm_s == r->confirm_s;
}

/* Answers applies that cannot run now, so that they do not make the polling cycle fail. */
static void refuse_applies(struct ibcc_worker *w)
{
	struct ibcc_queue asked = w->applies;
	struct ibcc_task *t;

	if (!asked.first)
		return;
	ibcc_queue_init(&w->applies);
	while ((t = ibcc_queue_pop(&asked))) {
		struct ibcc_request r = ibcc_task_request(t);

		t->err = ibcc_service_may_apply(w->service, &r, &t->why);
		if (t->err)
			ibcc_worker_finish(w, t);
		else
			ibcc_queue_push(&w->applies, t);
	}
}

/* A polling cycle that runs before a queued apply carries out that apply, too. */
static void take_applies(struct ibcc_worker *w)
{
	struct ibcc_task *t;

	for (;;) {
		pthread_mutex_lock(&w->lock);
		t = ibcc_queue_take_kind(&w->todo, IBCC_TASK_APPLY);
		pthread_mutex_unlock(&w->lock);
		if (!t)
			return;
		ibcc_task_look_up(t, w->names);
		ibcc_queue_push(&w->applies, t);
	}
}

/* Every client that asked for such an apply since the last polling cycle gets the result of this
 * one. A client that asked for the other kind, strict or loose, gets the next cycle.
 */
static void run_pass(struct ibcc_worker *w, struct ibcc_task *pass)
{
	struct ibcc_task *first, *t;
	const struct ibcc_cycle *now;
	struct ibcc_request r = { 0 };
	struct ibcc_queue others;

	ibcc_queue_init(&others);
	take_applies(w);
	refuse_applies(w);
	first = w->applies.first;
	if (first)
		r = ibcc_task_request(first);
	if (pass->fast && !first)
		pass->err = ibcc_service_pass_fast(w->service, &pass->why);
	else
		pass->err = ibcc_service_pass(w->service, first ? &r : NULL, &pass->why);
	now = ibcc_service_cycle(w->service);
	pass->fast &= now && now->fast;
	pass->has_focus = !pass->err && now && ibcc_cycle_has_focus(now);
	ibcc_explain_pass(w->explain, w->service, pass->err, &pass->why);
	measure(w, pass);
	while ((t = ibcc_queue_pop(&w->applies))) {
		const struct ibcc_cycle *c = ibcc_service_cycle(w->service);

		if (!wants_the_same(t, &r)) {
			ibcc_queue_push(&others, t);
			continue;
		}
		t->err = pass->err;
		t->why = pass->why;
		if (!t->err)
			t->err = ibcc_service_plan(w->service, t->data, &t->result, &t->why);
		if (!t->err && c->act_err) {
			t->err = c->act_err;
			t->why = c->blocked;
		}
		add_trial(w, t);
		ibcc_worker_finish(w, t);
	}
	ibcc_service_answered(w->service);
	while ((t = ibcc_queue_pop(&others)))
		ibcc_queue_push(&w->applies, t);
}

static void run_task(struct ibcc_worker *w, struct ibcc_task *t)
{
	struct ibcc_request r = ibcc_task_request(t);

	ibcc_task_look_up(t, w->names);
	switch (t->kind) {
	case IBCC_TASK_PASS:
		run_pass(w, t);
		ibcc_worker_tell_plans(w, !t->err);
		break;
	case IBCC_TASK_APPLY: ibcc_queue_push(&w->applies, t); return;
	case IBCC_TASK_APPLY_PLAN:
		t->err = ibcc_service_apply_plan(w->service, &t->plan, &t->control, &r, &t->result,
						 &t->why);
		ibcc_explain_request(w->explain, "apply", &r, t->err, &t->why, t->result);
		add_trial(w, t);
		break;
	case IBCC_TASK_LOOK:
		t->err = ibcc_service_look_at_plan(w->service, &t->plan, &t->control, &r,
						   &t->result, &t->why);
		break;
	case IBCC_TASK_CONFIRM:
		t->err = ibcc_service_confirm(w->service, &r, &t->result, &t->why);
		if (!t->err)
			ibcc_log(LOG_NOTICE, "transaction %lld confirmed by %s",
				 (long long)json_integer_value(
					 json_object_get(t->result, "transaction")),
				 r.who);
		break;
	case IBCC_TASK_CANCEL:
		t->err = ibcc_service_cancel_trial(w->service, &r, &t->result, &t->why);
		ibcc_explain_request(w->explain, "cancel", &r, t->err, &t->why, t->result);
		break;
	case IBCC_TASK_REPORT:
	case IBCC_TASK_BUNDLE:
	case IBCC_TASK_PLAN: ibcc_worker_tell_plan(w, t, true); return;
	case IBCC_TASK_ROLLBACK:
		t->err = ibcc_service_rollback(w->service, t->id, &r, &t->result, &t->why);
		ibcc_explain_request(w->explain, "rollback", &r, t->err, &t->why, t->result);
		break;
	case IBCC_TASK_DISABLE:
		t->err = ibcc_service_disable(w->service, &r, &t->result, &t->why);
		ibcc_explain_request(w->explain, "disable", &r, t->err, &t->why, t->result);
		break;
	case IBCC_TASK_REPAIR:
		t->err = ibcc_service_repair(w->service, &r, &t->result, &t->why);
		ibcc_explain_request(w->explain, "repair", &r, t->err, &t->why, t->result);
		break;
	case IBCC_TASK_SHOW:
		t->err = ibcc_service_show(w->service, t->filter[0] ? t->filter : NULL, &t->result,
					   &t->why);
		break;
	case IBCC_TASK_PROBE: t->err = ibcc_service_probe(w->service, &t->result, &t->why); break;
	case IBCC_TASK_HISTORY:
		t->err = ibcc_service_history(w->service, t->id, t->limit, t->series, &t->result,
					      &t->why);
		break;
	case IBCC_TASK_JOBS:
		t->err = ibcc_service_jobs(w->service, t->since_s, t->user, t->job, &t->result,
					   &t->why);
		break;
	case IBCC_TASK_RECONFIGURE:
		t->err = ibcc_service_reconfigure(w->service, &t->config, t->cc_key);
		if (t->err)
			ibcc_why_set(&t->why, t->err, "no memory");
		break;
	case IBCC_TASK_WHAT_IF:
	case IBCC_TASK_ADVISE: ibcc_worker_tell_what_if(w, t); return;
	case IBCC_TASK_PREDICTED:
		ibcc_worker_tell_predicted(w);
		ibcc_task_free(t);
		ibcc_worker_run_later(w);
		return;
	case IBCC_TASK_GONE:
		ibcc_task_free(ibcc_queue_take_client(&w->applies, t->client));
		ibcc_worker_drop_waiting(w, t->client);
		ibcc_task_free(t);
		return;
	}
	ibcc_worker_finish(w, t);
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

/* Restores marking profiles of NVIDIA's switches: without a daemon no program would notice that
 * another program writes them, or what they do.
 */
static void end_profiles(struct ibcc_worker *w)
{
	struct ibcc_request r = { .who = "ibcc-tuned" };
	struct ibcc_why why = { "" };
	json_t *result = NULL;
	int err = ibcc_service_end_profiles(w->service, &result, &why);

	if (err || result)
		ibcc_explain_request(w->explain, "restoring marking profiles", &r, err, &why,
				     result);
	json_decref(result);
}

/* Returns the next task. NULL with *due: something on trial must be reverted first. NULL otherwise:
 * the thread must end. While there is no task, it charges jobs with congestion and stores that, so
 * that polling cycles need not take the time.
 */
static struct ibcc_task *wait_for_task(struct ibcc_worker *w, bool *due)
{
	uint64_t due_ns = ibcc_service_trial_due_ns(w->service);
	struct timespec until = { (time_t)(due_ns / 1000000000u), (long)(due_ns % 1000000000u) };
	struct ibcc_task *t = NULL;
	bool more = true;

	*due = false;
	pthread_mutex_lock(&w->lock);
	while (!w->stop && !(*due = ibcc_now_ns() >= due_ns) && !w->todo.first) {
		if (more) {
			pthread_mutex_unlock(&w->lock);
			more = ibcc_service_account_jobs(w->service);
			pthread_mutex_lock(&w->lock);
		} else if (due_ns == UINT64_MAX)
			pthread_cond_wait(&w->wake, &w->lock);
		else
			pthread_cond_timedwait(&w->wake, &w->lock, &until);
	}
	if (!w->stop && !*due)
		t = ibcc_queue_pick(&w->todo, w->last_uid);
	pthread_mutex_unlock(&w->lock);
	if (t && t->rank != IBCC_RANK_OWN)
		w->last_uid = t->uid;
	return t;
}

static void *work(void *arg)
{
	struct ibcc_worker *w = arg;
	struct ibcc_task *t;
	bool due;

	while ((t = wait_for_task(w, &due)) || due) {
		if (due)
			end_trial(w, NULL);
		else
			run_task(w, t);
	}
	if (ibcc_service_trial_due_ns(w->service) != UINT64_MAX)
		end_trial(w, "ibcc-tuned ends");
	if (w->restores)
		end_profiles(w);
	return NULL;
}

static int start_thread(struct ibcc_worker *w)
{
	int rc = ibcc_thread_start(&w->thread, work, w);

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

static void free_tasks(struct ibcc_queue *q)
{
	struct ibcc_task *t;

	while ((t = ibcc_queue_pop(q)))
		ibcc_task_free(t);
}

/* A task is a sequence of MAD runs, and a cancel ends only the current one. So it is repeated until
 * the thread ends.
 */
static void end_thread(struct ibcc_worker *w)
{
	struct timespec until;

	if (w->restores) {
		until = ibcc_now_in_ms(1000u * LAST_TRIAL_S);
		if (!pthread_clockjoin_np(w->thread, NULL, CLOCK_MONOTONIC, &until))
			return;
	}
	do {
		ibcc_service_cancel(w->service);
		until = ibcc_now_in_ms(50);
	} while (pthread_clockjoin_np(w->thread, NULL, CLOCK_MONOTONIC, &until));
}

bool ibcc_worker_restores(const struct ibcc_worker *w)
{
	return w->restores;
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
	ibcc_service_free(w->service); /* also ends the predictor's thread, which submits a task */
	free_tasks(&w->todo);
	free_tasks(&w->done);
	free_tasks(&w->applies);
	free_tasks(&w->plans);
	free_tasks(&w->predicting);
	free_tasks(&w->later);
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
	struct ibcc_task *t, *gone = NULL;

	pthread_mutex_lock(&w->lock);
	t = ibcc_queue_take_client(&w->todo, client);
	if (!t && (gone = calloc(1, sizeof(*gone)))) {
		*gone = (struct ibcc_task){ .kind = IBCC_TASK_GONE, .client = client };
		ibcc_queue_push(&w->todo, gone);
		pthread_cond_signal(&w->wake);
	}
	pthread_mutex_unlock(&w->lock);
	ibcc_task_free(t);
}

int ibcc_worker_fd(const struct ibcc_worker *w)
{
	return w->done_fd;
}

void ibcc_worker_submit(struct ibcc_worker *w, struct ibcc_task *t)
{
	pthread_mutex_lock(&w->lock);
	ibcc_queue_push(&w->todo, t);
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
}

struct ibcc_task *ibcc_worker_done(struct ibcc_worker *w)
{
	struct ibcc_task *t;
	uint64_t count;

	pthread_mutex_lock(&w->lock);
	t = ibcc_queue_pop(&w->done);
	if (!t && read(w->done_fd, &count, sizeof(count)) < 0)
		t = NULL; /* there was none: that is fine */
	pthread_mutex_unlock(&w->lock);
	return t;
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
	if (json_is_object(trial)) /* this time runs, all else is as old as the last task */
		ibcc_service_trial_left(trial, due_ns);
	return copy;
}
