/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A client that asks for a plan waits until there is one, and until its prediction is ready.
 * Polling cycles wait for neither.
 */
#include <errno.h>
#include <stdlib.h>

#include "daemon/worker_impl.h"

void ibcc_worker_on_predicted(void *arg)
{
	struct ibcc_job *j = calloc(1, sizeof(*j));

	if (!j)
		return;
	j->kind = IBCC_JOB_PREDICTED;
	ibcc_worker_submit(arg, j);
}

void ibcc_worker_tell_predicted(struct ibcc_worker *w)
{
	struct ibcc_job *j;
	bool abandoned = w->abandoned;

	w->abandoned = false;
	while ((j = ibcc_queue_pop(&w->predicting))) {
		if (abandoned) {
			ibcc_queue_push(&w->later, j);
			continue;
		}
		j->err = ibcc_service_predicted(w->service, j->data, &j->result, &j->why);
		ibcc_worker_finish(w, j);
	}
	ibcc_service_predicted_all(w->service);
}

/* A what-if for clients of a lower rank is stopped for a client of a higher rank, and restarted
 * after it.
 */
static void overtake(struct ibcc_worker *w, const struct ibcc_job *next)
{
	for (const struct ibcc_job *j = w->predicting.first; j; j = j->next)
		if (j->rank <= next->rank)
			return;
	if (!w->abandoned && w->predicting.first)
		w->abandoned = ibcc_service_abandon_prediction(w->service);
}

static void wait_for_end(struct ibcc_worker *w, struct ibcc_job *j)
{
	overtake(w, j);
	ibcc_queue_push(&w->later, j);
}

void ibcc_worker_drop_waiting(struct ibcc_worker *w, uint64_t client)
{
	struct ibcc_job *j = ibcc_queue_take_client(&w->predicting, client);

	ibcc_job_free(ibcc_queue_take_client(&w->plans, client));
	ibcc_job_free(ibcc_queue_take_client(&w->later, client));
	if (j && !w->predicting.first && !w->abandoned)
		w->abandoned = ibcc_service_abandon_prediction(w->service);
	ibcc_job_free(j);
}

void ibcc_worker_tell_what_if(struct ibcc_worker *w, struct ibcc_job *j)
{
	j->err = ibcc_service_what_if(w->service, j->set, ibcc_worker_on_predicted, w, &j->why);
	if (j->err == -EBUSY)
		wait_for_end(w, j);
	else if (j->err == -EINPROGRESS)
		ibcc_queue_push(&w->predicting, j);
	else
		ibcc_worker_finish(w, j);
}

/* A missing plan is waited for as long as polling cycles succeed. A present plan waits for its
 * prediction, which polling cycles do not wait for.
 */
void ibcc_worker_tell_plan(struct ibcc_worker *w, struct ibcc_job *j, bool may_wait)
{
	/* A report shows what is there now, with the last prediction if there is one. */
	int rc = j->kind == IBCC_JOB_PLAN
			 ? ibcc_service_predict(w->service, ibcc_worker_on_predicted, w)
			 : 0;

	if (rc == -EBUSY) {
		wait_for_end(w, j);
		return;
	}
	if (rc == -EINPROGRESS) {
		ibcc_queue_push(&w->predicting, j);
		return;
	}
	if (j->kind == IBCC_JOB_REPORT)
		j->err = ibcc_service_report(w->service, &j->result, &j->why);
	else if (j->kind == IBCC_JOB_BUNDLE)
		j->err = ibcc_service_bundle(w->service, j->anonymous, &j->result, &j->why);
	else
		j->err = ibcc_service_plan(w->service, j->data, &j->result, &j->why);
	if (j->err == -EAGAIN && may_wait)
		ibcc_queue_push(&w->plans, j);
	else
		ibcc_worker_finish(w, j);
}

void ibcc_worker_tell_plans(struct ibcc_worker *w, bool may_wait)
{
	struct ibcc_queue asked = w->plans;
	struct ibcc_job *j;

	if (!asked.first)
		return;
	ibcc_queue_init(&w->plans);
	while ((j = ibcc_queue_pop(&asked)))
		ibcc_worker_tell_plan(w, j, may_wait);
}

void ibcc_worker_run_later(struct ibcc_worker *w)
{
	struct ibcc_queue waited = w->later;
	struct ibcc_job *j;

	if (!waited.first)
		return;
	ibcc_queue_init(&w->later);
	while ((j = ibcc_queue_pick(&waited, w->last_uid)))
		if (j->kind == IBCC_JOB_WHAT_IF)
			ibcc_worker_tell_what_if(w, j);
		else
			ibcc_worker_tell_plan(w, j, true);
}
