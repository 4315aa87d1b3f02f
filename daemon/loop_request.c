/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "daemon/loop_request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/conf.h"

#define HISTORY_DEFAULT 20u
#define HISTORY_MAX     10000u

static void reply_status(struct ibcc_loop *l, const struct ibcc_control_request *r)
{
	json_t *o = ibcc_worker_status(l->worker);
	uint64_t now = l->start_us;

	if (!o) {
		ibcc_control_reply(l->control, r->client, -ENOMEM, "no memory", NULL);
		return;
	}
	sd_event_now(l->event, CLOCK_MONOTONIC, &now);
	json_object_set_new(o, "pid", json_integer(getpid()));
	json_object_set_new(o, "uptime_s",
			    json_integer((json_int_t)((now - l->start_us) / 1000000)));
	json_object_set_new(o, "interval_ms", json_integer(l->config.interval_ms));
	json_object_set_new(o, "config_file", json_string(ibcc_conf_file(l->config_file)));
	json_object_set_new(o, "last_reload_ok", json_boolean(l->last_reload_ok));
	ibcc_control_reply(l->control, r->client, 0, NULL, o);
}

struct command {
	const char *name;
	enum ibcc_job_kind kind;
	bool changes; /* only for root and the daemon's own user */
};

static const struct command commands[] = {
	{ "plan", IBCC_JOB_PLAN, false },        { "show", IBCC_JOB_SHOW, false },
	{ "history", IBCC_JOB_HISTORY, false },  { "apply", IBCC_JOB_APPLY, true },
	{ "rollback", IBCC_JOB_ROLLBACK, true }, { "disable", IBCC_JOB_DISABLE, true },
	{ "repair", IBCC_JOB_REPAIR, true },
};

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

/* Reads the arguments into the job; a sentence if they are wrong. */
static const char *read_args(struct ibcc_job *j, const json_t *args)
{
	const json_t *id = json_object_get(args, "id");
	const json_t *limit = json_object_get(args, "limit");
	const json_t *filter = json_object_get(args, "node");
	const json_t *skip = json_object_get(args, "skip_unsupported");

	if (id && (!json_is_integer(id) || json_integer_value(id) < 0))
		return "id must be the number of a transaction";
	if (limit && (!json_is_integer(limit) || json_integer_value(limit) < 1 ||
		      json_integer_value(limit) > HISTORY_MAX))
		return "limit must be a number in 1..10000";
	if (filter && (!json_is_string(filter) || json_string_length(filter) >= sizeof(j->filter)))
		return "node must be a name, a GUID or a LID";
	if (skip && !json_is_boolean(skip))
		return "skip_unsupported must be true or false";
	j->id = id ? json_integer_value(id) : 0;
	j->limit = limit ? (unsigned int)json_integer_value(limit) : HISTORY_DEFAULT;
	if (filter)
		snprintf(j->filter, sizeof(j->filter), "%s", json_string_value(filter));
	j->skip_unsupported = json_is_true(skip);
	return NULL;
}

void ibcc_loop_request(void *arg, const struct ibcc_control_request *r)
{
	struct ibcc_loop *l = arg;
	const struct command *c = find_command(r->command);
	const char *error = NULL;
	struct ibcc_job *j;
	int err = -EINVAL;

	if (!strcmp(r->command, "status")) {
		reply_status(l, r);
		return;
	}
	j = calloc(1, sizeof(*j));
	if (!j) {
		err = -ENOMEM;
		error = "no memory";
	} else if (!c) {
		error = "unknown command";
	} else if (c->changes && r->uid != 0 && r->uid != geteuid()) {
		err = -EACCES;
		error = "only root and the daemon's own user may change the fabric";
	} else {
		error = read_args(j, r->args);
	}
	if (error) {
		ibcc_control_reply(l->control, r->client, err, error, NULL);
		free(j);
		return;
	}
	j->kind = c->kind;
	j->client = r->client;
	snprintf(j->who, sizeof(j->who), "uid %u (pid %d)", (unsigned int)r->uid, (int)r->pid);
	ibcc_worker_submit(l->worker, j);
}
