/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A client that asks for a plan waits until there is one, and until its prediction is ready.
 * Polling cycles wait for neither.
 */
#include <errno.h>
#include <stdlib.h>

#include "daemon/worker_impl.h"

void ibcc_worker_on_predicted(void *arg)
{
	struct ibcc_task *t = calloc(1, sizeof(*t));

	if (!t)
		return;
	t->kind = IBCC_TASK_PREDICTED;
	ibcc_worker_submit(arg, t);
}

void ibcc_worker_tell_predicted(struct ibcc_worker *w)
{
	struct ibcc_task *t;
	bool abandoned = w->abandoned;

	w->abandoned = false;
	while ((t = ibcc_queue_pop(&w->predicting))) {
		if (abandoned) {
			ibcc_queue_push(&w->later, t);
			continue;
		}
		t->err = ibcc_service_predicted(w->service, t->data, &t->result, &t->why);
		ibcc_worker_finish(w, t);
	}
	ibcc_service_predicted_all(w->service);
}

/* A what-if for clients of a lower rank is stopped for a client of a higher rank, and restarted
 * after it.
 */
static void overtake(struct ibcc_worker *w, const struct ibcc_task *next)
{
	for (const struct ibcc_task *t = w->predicting.first; t; t = t->next)
		if (t->rank <= next->rank)
			return;
	if (!w->abandoned && w->predicting.first)
		w->abandoned = ibcc_service_abandon_prediction(w->service);
}

static void wait_for_end(struct ibcc_worker *w, struct ibcc_task *t)
{
	overtake(w, t);
	ibcc_queue_push(&w->later, t);
}

void ibcc_worker_drop_waiting(struct ibcc_worker *w, uint64_t client)
{
	struct ibcc_task *t = ibcc_queue_take_client(&w->predicting, client);

	ibcc_task_free(ibcc_queue_take_client(&w->plans, client));
	ibcc_task_free(ibcc_queue_take_client(&w->later, client));
	if (t && !w->predicting.first && !w->abandoned)
		w->abandoned = ibcc_service_abandon_prediction(w->service);
	ibcc_task_free(t);
}

void ibcc_worker_tell_what_if(struct ibcc_worker *w, struct ibcc_task *t)
{
	t->err = t->kind == IBCC_TASK_ADVISE
			 ? ibcc_service_advise(w->service, ibcc_worker_on_predicted, w, &t->why)
			 : ibcc_service_what_if(w->service, t->set, ibcc_worker_on_predicted, w,
						&t->why);
	if (t->err == -EBUSY)
		wait_for_end(w, t);
	else if (t->err == -EINPROGRESS)
		ibcc_queue_push(&w->predicting, t);
	else
		ibcc_worker_finish(w, t);
}

/* A missing plan is waited for as long as polling cycles succeed. A present plan waits for its
 * prediction, which polling cycles do not wait for.
 */
void ibcc_worker_tell_plan(struct ibcc_worker *w, struct ibcc_task *t, bool may_wait)
{
	/* A report shows what is there now, with the last prediction if there is one. */
	int rc = t->kind == IBCC_TASK_PLAN
			 ? ibcc_service_predict(w->service, ibcc_worker_on_predicted, w)
			 : 0;

	if (rc == -EBUSY) {
		wait_for_end(w, t);
		return;
	}
	if (rc == -EINPROGRESS) {
		ibcc_queue_push(&w->predicting, t);
		return;
	}
	if (t->kind == IBCC_TASK_REPORT)
		t->err = ibcc_service_report(w->service, &t->result, &t->why);
	else if (t->kind == IBCC_TASK_BUNDLE)
		t->err = ibcc_service_bundle(w->service, t->anonymous, &t->result, &t->why);
	else
		t->err = ibcc_service_plan(w->service, t->data, &t->result, &t->why);
	if (t->err == -EAGAIN && may_wait)
		ibcc_queue_push(&w->plans, t);
	else
		ibcc_worker_finish(w, t);
}

void ibcc_worker_tell_plans(struct ibcc_worker *w, bool may_wait)
{
	struct ibcc_queue asked = w->plans;
	struct ibcc_task *t;

	if (!asked.first)
		return;
	ibcc_queue_init(&w->plans);
	while ((t = ibcc_queue_pop(&asked)))
		ibcc_worker_tell_plan(w, t, may_wait);
}

void ibcc_worker_run_later(struct ibcc_worker *w)
{
	struct ibcc_queue waited = w->later;
	struct ibcc_task *t;

	if (!waited.first)
		return;
	ibcc_queue_init(&w->later);
	while ((t = ibcc_queue_pick(&waited, w->last_uid)))
		if (t->kind == IBCC_TASK_WHAT_IF || t->kind == IBCC_TASK_ADVISE)
			ibcc_worker_tell_what_if(w, t);
		else
			ibcc_worker_tell_plan(w, t, true);
}
