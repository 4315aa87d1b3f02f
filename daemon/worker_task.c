/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Defines a task: its user, and its purpose. */
#include <stdlib.h>

#include "daemon/worker_impl.h"

void ibcc_task_free(struct ibcc_task *t)
{
	if (!t)
		return;
	json_decref(t->result);
	json_decref(t->set);
	ibcc_plan_fini(&t->plan);
	ibcc_control_fini(&t->control);
	ibcc_metrics_free(t->metrics);
	free(t);
}

struct ibcc_request ibcc_task_request(const struct ibcc_task *t)
{
	return (struct ibcc_request){ .who = t->who,
				      .skip_unsupported = t->skip_unsupported,
				      .confirm_s = t->confirm_s,
				      .made_s = t->made_s,
				      .shown = t->shown,
				      .warned_sm = t->warned_sm };
}

/* Do the history and the log name a person for this task? Only then is the name service asked. */
static bool changes(enum ibcc_task_kind kind)
{
	switch (kind) {
	case IBCC_TASK_APPLY:
	case IBCC_TASK_APPLY_PLAN:
	case IBCC_TASK_CONFIRM:
	case IBCC_TASK_CANCEL:
	case IBCC_TASK_ROLLBACK:
	case IBCC_TASK_DISABLE:
	case IBCC_TASK_REPAIR: return true;
	case IBCC_TASK_PASS:
	case IBCC_TASK_LOOK:
	case IBCC_TASK_PLAN:
	case IBCC_TASK_SHOW:
	case IBCC_TASK_PROBE:
	case IBCC_TASK_REPORT:
	case IBCC_TASK_BUNDLE:
	case IBCC_TASK_WHAT_IF:
	case IBCC_TASK_ADVISE:
	case IBCC_TASK_HISTORY:
	case IBCC_TASK_JOBS:
	case IBCC_TASK_RECONFIGURE:
	case IBCC_TASK_PREDICTED:
	case IBCC_TASK_GONE: break;
	}
	return false;
}

void ibcc_task_look_up(struct ibcc_task *t, struct ibcc_names *names)
{
	if (t->pid && changes(t->kind))
		ibcc_names_who(names, t->uid, t->pid, t->login, t->who, sizeof(t->who));
}
