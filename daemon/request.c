/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Turns a request on the control socket (request.h) into a task for the worker (worker.h), or
 * refuses it. commands[] lists the requests, and which of them need the right to change things.
 */
#include "daemon/request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/control_json.h>
#include <ibcc/json.h>
#include <ibcc/plan_file.h>

#include "daemon/service/service.h"
#include "daemon/who.h"

#define HISTORY_DEFAULT 20u
#define HISTORY_MAX     10000u

struct command {
	const char *name;
	enum ibcc_task_kind kind;
	bool changes; /* the user needs the role for it */
};

static const struct command commands[] = {
	{ "plan", IBCC_TASK_PLAN, false },        { "show", IBCC_TASK_SHOW, false },
	{ "history", IBCC_TASK_HISTORY, false },  { "apply", IBCC_TASK_APPLY, true },
	{ "rollback", IBCC_TASK_ROLLBACK, true }, { "disable", IBCC_TASK_DISABLE, true },
	{ "repair", IBCC_TASK_REPAIR, true },     { "probe", IBCC_TASK_PROBE, false },
	{ "confirm", IBCC_TASK_CONFIRM, true },   { "cancel", IBCC_TASK_CANCEL, true },
	{ "report", IBCC_TASK_REPORT, false },    { "bundle", IBCC_TASK_BUNDLE, false },
	{ "what-if", IBCC_TASK_WHAT_IF, false },  { "jobs", IBCC_TASK_JOBS, false },
	{ "advise", IBCC_TASK_ADVISE, false },
};

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

#define SINCE_DEFAULT_S 86400u
#define SINCE_MAX_S     (366u * 86400u)

/* Reads the arguments of the request for jobs; returns a sentence if they are wrong. */
static const char *read_jobs(struct ibcc_task *t, const json_t *args)
{
	const json_t *since = json_object_get(args, "since_s");
	const json_t *user = json_object_get(args, "user"), *job = json_object_get(args, "job");
	json_int_t since_s = SINCE_DEFAULT_S;

	if ((since || user || job) && t->kind != IBCC_TASK_JOBS)
		return "only jobs takes since_s, user and job";
	if (since && (!ibcc_json_read_whole(since, SINCE_MAX_S, &since_s) || !since_s))
		return "since_s must be a number in 1..31622400";
	if (user && (!json_is_string(user) || json_string_length(user) >= sizeof(t->user)))
		return "user must be a name of at most 63 bytes";
	if (job && (!json_is_string(job) || json_string_length(job) >= sizeof(t->job)))
		return "job must be a number of the batch system, of at most 63 bytes";
	t->since_s = (uint32_t)since_s;
	if (user)
		snprintf(t->user, sizeof(t->user), "%s", json_string_value(user));
	if (job)
		snprintf(t->job, sizeof(t->job), "%s", json_string_value(job));
	return NULL;
}

/* Reads the arguments into the task. Returns a sentence, which may be in *why, if they are wrong.
 */
static const char *read_args(struct ibcc_task *t, const json_t *args, struct ibcc_why *why)
{
	const json_t *plan = json_object_get(args, "plan");
	const json_t *control = json_object_get(args, "control");
	const json_t *data = json_object_get(args, "data");
	const json_t *id = json_object_get(args, "id");
	const json_t *limit = json_object_get(args, "limit");
	const json_t *filter = json_object_get(args, "node");
	const json_t *skip = json_object_get(args, "skip_unsupported");
	const json_t *series = json_object_get(args, "series");
	const json_t *confirm = json_object_get(args, "confirm_s");
	const json_t *anonymous = json_object_get(args, "anonymous");
	const json_t *look = json_object_get(args, "look");
	const json_t *made = json_object_get(args, "made");
	const json_t *sm = json_object_get(args, "unchecked_sm");
	json_t *set = json_object_get(args, "set");
	json_int_t made_s = 0;

	if (id && (!json_is_integer(id) || json_integer_value(id) < 0))
		return "id must be the number of a transaction";
	if (limit && (!json_is_integer(limit) || json_integer_value(limit) < 1 ||
		      json_integer_value(limit) > HISTORY_MAX))
		return "limit must be a number in 1..10000";
	if (filter && (!json_is_string(filter) || json_string_length(filter) >= sizeof(t->filter)))
		return "node must be a name, a GUID or a LID";
	if (skip && !json_is_boolean(skip))
		return "skip_unsupported must be true or false";
	if (confirm && (!json_is_integer(confirm) || json_integer_value(confirm) < 1 ||
			json_integer_value(confirm) > IBCC_CONFIRM_MAX_S))
		return "confirm_s must be a number in 1..86400";
	if (confirm && t->kind != IBCC_TASK_APPLY)
		return "only apply takes confirm_s";
	if (series && !json_is_boolean(series))
		return "series must be true or false";
	if (data && !json_is_boolean(data))
		return "data must be true or false";
	if (anonymous && (!json_is_boolean(anonymous) || t->kind != IBCC_TASK_BUNDLE))
		return "bundle, and nothing else, takes anonymous, true or false";
	if ((t->kind == IBCC_TASK_WHAT_IF) != (set != NULL) || (set && !json_is_object(set)))
		return "what-if, and nothing else, takes set, an object";
	if (plan && t->kind != IBCC_TASK_APPLY)
		return "only apply takes a plan";
	if (plan && ibcc_plan_file_read(plan, &t->plan, why))
		return why->text;
	if (control && (!plan || ibcc_control_read(control, &t->control, why)))
		return plan ? why->text : "only an apply of a plan takes control";
	if ((look || made || sm) && !plan)
		return "only an apply of a plan takes look, made and unchecked_sm";
	if (sm && !ibcc_service_read_warned(sm, &t->warned_sm))
		return "unchecked_sm must be a GUID, or null";
	t->shown = sm;
	if (look && !json_is_boolean(look))
		return "look must be true or false";
	if (made && !ibcc_json_read_whole(made, INT64_MAX, &made_s))
		return "made must be a time in seconds since 1970";
	if (plan)
		t->kind = json_is_true(look) ? IBCC_TASK_LOOK : IBCC_TASK_APPLY_PLAN;
	t->made_s = made_s;
	t->set = json_incref(set);
	t->data = json_is_true(data);
	t->anonymous = json_is_true(anonymous);
	t->series = json_is_true(series);
	t->id = id ? json_integer_value(id) : 0;
	t->limit = limit ? (unsigned int)json_integer_value(limit) : HISTORY_DEFAULT;
	if (filter)
		snprintf(t->filter, sizeof(t->filter), "%s", json_string_value(filter));
	t->skip_unsupported = json_is_true(skip);
	t->confirm_s = confirm ? (uint32_t)json_integer_value(confirm) : 0;
	return NULL;
}

bool ibcc_request_is_status(const struct ibcc_jsonl_request *r)
{
	const char *name = json_string_value(json_object_get(r->object, "command"));

	return name && !strcmp(name, "status");
}

json_t *ibcc_request_answer(int err, const char *error, json_t *result)
{
	json_t *o = err ? ibcc_jsonl_error(err, "%s", error) : json_pack("{sb}", "ok", 1);

	json_object_set_new(o, "result", result ? result : json_null());
	return o;
}

struct ibcc_task *ibcc_request_task(const struct ibcc_jsonl_request *r, json_t **refusal)
{
	const char *name = json_string_value(json_object_get(r->object, "command"));
	const json_t *args = json_object_get(r->object, "args");
	const json_t *sudo = json_object_get(r->object, "sudo_user");
	const char *login = json_string_value(sudo);
	const struct command *c = name ? find_command(name) : NULL;
	struct ibcc_task *t = calloc(1, sizeof(*t));
	struct ibcc_why why = { "" };
	const char *error;
	int err = -EINVAL;

	if (!t) {
		err = -ENOMEM;
		error = "no memory";
	} else if (!name || (args && !json_is_object(args))) {
		error = "a request is {\"command\": NAME, \"args\": {...}}";
	} else if (sudo && (!login || !ibcc_who_is_login(login))) {
		error = "sudo_user must be a login of letters, digits and . _ - @ +";
	} else if (!c) {
		error = "unknown command";
	} else if (c->changes && !r->may_change) {
		err = -EACCES;
		error = "only root, the daemon's own user and control_write_group may change "
			"the fabric";
	} else {
		t->kind = c->kind;
		error = read_args(t, args, &why);
		error = error ? error : read_jobs(t, args);
	}
	if (!t || error) {
		ibcc_task_free(t);
		*refusal = ibcc_request_answer(err, error, NULL);
		return NULL;
	}
	t->rank = r->trusted      ? IBCC_RANK_TRUSTED
		  : r->may_change ? IBCC_RANK_WRITER
				  : IBCC_RANK_READER;
	t->client = r->client;
	t->uid = r->uid;
	t->pid = r->pid;
	/* Only root can speak for another user. */
	if (login && !r->uid)
		snprintf(t->login, sizeof(t->login), "%s", login);
	return t;
}
