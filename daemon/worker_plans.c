/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Who asks for a plan waits until there is one, and for its prediction; passes wait for neither. */
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

	while ((j = ibcc_queue_pop(&w->predicting))) {
		j->err = ibcc_service_predicted(w->service, j->data, &j->result, &j->why);
		ibcc_worker_finish(w, j);
	}
	ibcc_service_predicted_all(w->service);
}

void ibcc_worker_tell_what_if(struct ibcc_worker *w, struct ibcc_job *j)
{
	j->err = ibcc_service_what_if(w->service, j->set, ibcc_worker_on_predicted, w, &j->why);
	if (j->err == -EINPROGRESS || j->err == -EBUSY)
		ibcc_queue_push(j->err == -EBUSY ? &w->later : &w->predicting, j);
	else
		ibcc_worker_finish(w, j);
}

/* A plan that is not there yet is waited for, as long as passes come to an end; and one that is,
 * for its prediction, which passes do not wait for.
 */
void ibcc_worker_tell_plan(struct ibcc_worker *w, struct ibcc_job *j, bool may_wait)
{
	/* A report is of what is there: it has the last prediction, if any. */
	int rc = j->kind == IBCC_JOB_PLAN
			 ? ibcc_service_predict(w->service, ibcc_worker_on_predicted, w)
			 : 0;

	if (rc == -EINPROGRESS || rc == -EBUSY) {
		ibcc_queue_push(rc == -EBUSY ? &w->later : &w->predicting, j);
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
	while ((j = ibcc_queue_pop(&waited)))
		if (j->kind == IBCC_JOB_WHAT_IF)
			ibcc_worker_tell_what_if(w, j);
		else
			ibcc_worker_tell_plan(w, j, true);
}
