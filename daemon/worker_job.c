/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Defines a job: its user, and its purpose. */
#include <stdlib.h>

#include "daemon/worker_impl.h"

void ibcc_job_free(struct ibcc_job *j)
{
	if (!j)
		return;
	json_decref(j->result);
	json_decref(j->set);
	ibcc_plan_fini(&j->plan);
	ibcc_control_fini(&j->control);
	ibcc_metrics_free(j->metrics);
	free(j);
}

struct ibcc_request ibcc_job_request(const struct ibcc_job *j)
{
	return (struct ibcc_request){ .who = j->who,
				      .skip_unsupported = j->skip_unsupported,
				      .confirm_s = j->confirm_s,
				      .made_s = j->made_s };
}

/* Do the history and the log name a person for this job? Only then is the name service asked. */
static bool changes(enum ibcc_job_kind kind)
{
	switch (kind) {
	case IBCC_JOB_APPLY:
	case IBCC_JOB_APPLY_PLAN:
	case IBCC_JOB_CONFIRM:
	case IBCC_JOB_CANCEL:
	case IBCC_JOB_ROLLBACK:
	case IBCC_JOB_DISABLE:
	case IBCC_JOB_REPAIR: return true;
	case IBCC_JOB_PASS:
	case IBCC_JOB_LOOK:
	case IBCC_JOB_PLAN:
	case IBCC_JOB_SHOW:
	case IBCC_JOB_PROBE:
	case IBCC_JOB_REPORT:
	case IBCC_JOB_BUNDLE:
	case IBCC_JOB_WHAT_IF:
	case IBCC_JOB_HISTORY:
	case IBCC_JOB_JOBS:
	case IBCC_JOB_RECONFIGURE:
	case IBCC_JOB_PREDICTED:
	case IBCC_JOB_GONE: break;
	}
	return false;
}

void ibcc_job_look_up(struct ibcc_job *j, struct ibcc_names *names)
{
	if (j->pid && changes(j->kind))
		ibcc_names_who(names, j->uid, j->pid, j->login, j->who, sizeof(j->who));
}
