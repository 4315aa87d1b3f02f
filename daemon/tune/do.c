/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Carries out commands, through the daemon or in this process. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <ibcc/control_json.h>
#include <ibcc/json.h>
#include <ibcc/lock.h>
#include <ibcc/plan_file.h>
#include <ibcc/refusal.h>

#include "daemon/service/service.h"
#include "daemon/tune/offline.h"
#include "daemon/tune/pager.h"
#include "daemon/tune/progress.h"
#include "daemon/tune/tune.h"
#include "daemon/who.h"

/* Extra polling cycles for an undecided tuner. */
#define MORE_PASSES 4u

static void sleep_ms(uint32_t ms)
{
	struct timespec ts = { ms / 1000, (long)(ms % 1000) * 1000000 };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* Rates need two readings, and the tuner acts only after it has seen congestion more than once.
 * While there is congestion that it has not decided about, it gets more polling cycles.
 */
static int watch(const struct tune *t, struct ibcc_service *s, struct ibcc_why *why)
{
	unsigned int confirm = t->config.tuner.confirm_passes, n = 0;
	unsigned int least = 1 + (confirm ? confirm : 1), most = least + MORE_PASSES;
	const struct ibcc_cycle *c;
	bool seen = false;
	int rc;

	for (;;) {
		rc = ibcc_service_pass_dry(s, why);
		if (rc)
			return rc;
		c = ibcc_service_cycle(s);
		seen = seen || (c->decided && c->estimate.n_roots);
		n++;
		if (n == most || (n >= least && (c->plan.n || !seen)))
			return 0;
		sleep_ms(t->config.interval_ms);
	}
}

/* No other client's polling cycles wait for us. */
static int plan_local(struct ibcc_service *s, bool data, json_t **out, struct ibcc_why *why)
{
	if (ibcc_service_predict(s, NULL, NULL) == -EINPROGRESS)
		return ibcc_service_predicted(s, data, out, why);
	return ibcc_service_plan(s, data, out, why);
}

/* Refines until the roots hold, as a daemon would. If something fails before that, the next daemon
 * continues.
 */
static int refine_local(const struct tune *t, struct ibcc_service *s, json_t *out,
			struct ibcc_why *why)
{
	json_t *status = NULL;
	int rc = 0;

	if (t->no_wait || !ibcc_service_refines(s))
		return 0;
	while (!rc && ibcc_service_refines(s)) {
		sleep_ms(t->config.interval_ms);
		rc = ibcc_service_pass(s, NULL, why);
		json_decref(status);
		status = ibcc_service_status(s);
		tune_show_progress(t, json_object_get(status, "apply"));
	}
	if (json_is_object(json_object_get(status, "apply")))
		json_object_set(out, "apply", json_object_get(status, "apply"));
	json_decref(status);
	return rc;
}

static int apply_plan_local(struct ibcc_service *s, const json_t *args,
			    const struct ibcc_request *r, json_t **out, struct ibcc_why *why)
{
	const json_t *o = json_object_get(args, "control");
	bool look = json_is_true(json_object_get(args, "look"));
	struct ibcc_control control = { 0 };
	struct ibcc_plan plan;
	int rc = ibcc_plan_file_read(json_object_get(args, "plan"), &plan, why);

	if (!rc && o)
		rc = ibcc_control_read(o, &control, why);
	if (!rc && look)
		rc = ibcc_service_look_at_plan(s, &plan, &control, r, out, why);
	else if (!rc)
		rc = ibcc_service_apply_plan(s, &plan, &control, r, out, why);
	ibcc_control_fini(&control);
	ibcc_plan_fini(&plan);
	return rc;
}

static int apply_local(const struct tune *t, struct ibcc_service *s, const struct ibcc_request *r,
		       json_t **out, struct ibcc_why *why)
{
	const struct ibcc_cycle *c;
	int rc = watch(t, s, why);

	if (rc)
		return rc;
	c = ibcc_service_cycle(s);
	if (c->plan.n) {
		sleep_ms(t->config.interval_ms);
		rc = ibcc_service_pass(s, r, why);
	}
	if (!rc)
		rc = ibcc_service_plan(s, false, out, why);
	if (rc)
		return rc;
	c = ibcc_service_cycle(s);
	if (c->refused != IBCC_REFUSED_NOT && !c->acted) {
		ibcc_refusal_text(c, c->refused, why);
		return -EPERM;
	}
	return c->act_err ? ibcc_why_set(why, c->act_err, "%s", c->blocked.text) : 0;
}

static void say_mads(const struct tune *t, const struct ibcc_service *s)
{
	json_t *status = t->errors ? ibcc_service_status(s) : NULL;
	const json_t *m = json_object_get(status, "mads");

	if (json_is_object(m))
		fprintf(stderr,
			"MADs: %lld sent, %lld answered, %lld sent again, %lld without answer\n",
			tune_int(m, "sent"), tune_int(m, "answered"), tune_int(m, "retried"),
			tune_int(m, "timed_out"));
	json_decref(status);
}

int tune_do_local(const struct tune *t, const char *command, const json_t *args, json_t **out,
		  struct ibcc_why *why)
{
	struct ibcc_service *s = ibcc_service_new(&t->config, t->cc_key);
	const char *login = ibcc_who_sudo();
	char who[96];
	struct ibcc_request r = { .who = who, .skip_unsupported = t->skip_unsupported };
	const char *node = json_string_value(json_object_get(args, "node"));
	const json_t *plan = json_object_get(args, "plan");
	int rc = -EINVAL;

	*out = NULL;
	if (json_object_get(args, "confirm_s") || !strcmp(command, "confirm")) {
		ibcc_service_free(s);
		return ibcc_why_set(why, -EOPNOTSUPP,
				    "a trial needs ibcc-tuned, which reverts a change without a "
				    "confirmation, and it is not running. If a change is on trial, "
				    "the daemon reverts it when it starts");
	}
	if (!s)
		return ibcc_why_set(why, -ENOMEM, "no memory");
	snprintf(who, sizeof(who), "ibcc-tune uid %u (%s%s%spid %d)", (unsigned int)getuid(),
		 login[0] ? "sudo: " : "", login, login[0] ? ", " : "", (int)getpid());
	if (!strcmp(command, "plan")) {
		rc = watch(t, s, why);
		if (!rc)
			rc = plan_local(s, json_is_true(json_object_get(args, "data")), out, why);
	} else if (!strcmp(command, "what-if")) {
		rc = watch(t, s, why);
		if (!rc)
			rc = ibcc_service_what_if(s, json_object_get(args, "set"), NULL, NULL, why);
		if (rc == -EINPROGRESS)
			rc = ibcc_service_predicted(s, false, out, why);
	} else if (!strcmp(command, "advise")) {
		rc = watch(t, s, why);
		if (!rc)
			rc = ibcc_service_advise(s, NULL, NULL, why);
		if (rc == -EINPROGRESS)
			rc = ibcc_service_predicted(s, false, out, why);
	} else if (!strcmp(command, "report")) {
		rc = watch(t, s, why);
		if (!rc)
			rc = ibcc_service_report(s, out, why);
	} else if (!strcmp(command, "bundle")) {
		rc = watch(t, s, why);
		if (!rc)
			rc = ibcc_service_bundle(s, t->anonymous, out, why);
	} else if (!strcmp(command, "apply") && plan) {
		r.made_s = tune_int(args, "made");
		r.shown = ibcc_service_read_warned(json_object_get(args, "unchecked_sm"),
						   &r.warned_sm);
		rc = apply_plan_local(s, args, &r, out, why);
		if (!rc && !json_is_true(json_object_get(args, "look")))
			rc = refine_local(t, s, *out, why);
	} else if (!strcmp(command, "apply")) {
		rc = apply_local(t, s, &r, out, why);
		if (!rc)
			rc = refine_local(t, s, *out, why);
	} else if (!strcmp(command, "rollback")) {
		rc = ibcc_service_rollback(s, tune_int(args, "id"), &r, out, why);
	} else if (!strcmp(command, "cancel")) {
		rc = ibcc_service_cancel_trial(s, &r, out, why);
	} else if (!strcmp(command, "disable")) {
		rc = ibcc_service_disable(s, &r, out, why);
	} else if (!strcmp(command, "repair")) {
		rc = ibcc_service_repair(s, &r, out, why);
	} else if (!strcmp(command, "key")) {
		const struct ibcc_cc_key_info key = { .CC_Key = t->new_key,
						      .CC_KeyProtectBit = t->protect,
						      .CC_KeyLeasePeriod = t->lease };

		rc = ibcc_service_set_key(s, &key, &r, out, why);
	} else if (!strcmp(command, "show")) {
		rc = ibcc_service_show(s, node, out, why);
	} else if (!strcmp(command, "probe")) {
		rc = ibcc_service_probe(s, out, why);
	} else if (!strcmp(command, "history")) {
		rc = ibcc_service_history(s, tune_int(args, "id"), t->limit,
					  json_is_true(json_object_get(args, "series")), out, why);
	} else if (!strcmp(command, "jobs")) {
		rc = ibcc_service_jobs(s, (uint32_t)tune_int(args, "since_s"),
				       tune_str(args, "user"), tune_str(args, "job"), out, why);
	} else {
		rc = ibcc_why_set(why, -EOPNOTSUPP,
				  "%s needs ibcc-tuned, which is not running: start it", command);
	}
	if (*out && !(*out = ibcc_json_unfold(*out)) && !rc)
		rc = ibcc_why_set(why, -ENOMEM, "no memory");
	say_mads(t, s);
	ibcc_service_free(s);
	return rc;
}

static bool changes_fabric(const char *command)
{
	return !strcmp(command, "apply") || !strcmp(command, "rollback") ||
	       !strcmp(command, "disable") || !strcmp(command, "repair") ||
	       !strcmp(command, "cancel");
}

/* A daemon with a stopped process does nothing beside us, and its plugin accepts root's plans
 * instead of its own. But a daemon that writes through its own port would later continue.
 */
static bool may_take_over(const struct tune *t, const char *command)
{
	return !geteuid() && !t->no_config && !t->no_key.text[0] &&
	       t->config.apply_via == IBCC_VIA_PLUGIN && ibcc_lock_holder(t->config.state_file) &&
	       (!strcmp(command, "rollback") || !strcmp(command, "disable"));
}

/* Writes beside a stopped daemon, which holds the writer's lock. */
static int take_over(struct tune *t, const char *command, json_t *args, json_t **out,
		     struct ibcc_why *why)
{
	struct ibcc_why failed = { "" };
	int lock, rc = ibcc_lock_take_over(t->config.state_file, &lock, why);

	if (rc)
		return rc;
	fprintf(stderr,
		"ibcc-tune: ibcc-tuned (pid %d) does not answer: its process is stopped. As root, "
		"ibcc-tune writes in its place; when the daemon goes on, it finds that in the "
		"history\n",
		(int)ibcc_lock_holder(t->config.state_file));
	rc = tune_do_local(t, command, args, out, why);
	close(lock);
	if (rc != -EPERM)
		return rc;
	failed = *why;
	/* A daemon of root may also be such a case, until the time that it has promised the plugin
	 * is over.
	 */
	return ibcc_why_set(why, rc,
			    "%s; end the daemon with \"systemctl kill -s KILL ibcc-tuned%s%s\" "
			    "and repeat this command",
			    failed.text, t->fabric ? "@" : "", t->fabric ? t->fabric : "");
}

static int do_on_fabric(struct tune *t, const char *command, json_t *args, json_t **out,
			struct ibcc_why *why)
{
	int rc = -ENOENT, lock = -1;

	if (!t->own_port || t->no_config)
		rc = tune_ask(t, command, args, out, why);
	if (rc == -EOWNERDEAD && may_take_over(t, command))
		return take_over(t, command, args, out, why);
	if (rc != -ENOENT && rc != -ECONNREFUSED)
		return rc;
	if (t->no_config)
		return rc;
	if (t->no_key.text[0])
		return ibcc_why_set(
			why, -EACCES, "%s%s%s", t->own_port ? "" : why->text,
			t->own_port ? "" : "; without the daemon, this command needs the key: ",
			t->no_key.text);
	if (t->verbose && !t->own_port)
		fprintf(stderr, "%s; ibcc-tune does it without the daemon\n", why->text);
	/* There is one writer only: if there is a daemon, the fabric is the daemon's. */
	rc = changes_fabric(command) ? tune_alone(t, &lock, why) : 0;
	if (rc && t->own_port)
		rc = ibcc_why_set(why, rc,
				  "%s; a daemon does this with its own port and key: leave "
				  "-C, -P, -t, -c and --via out",
				  why->text);
	if (!rc)
		rc = tune_do_local(t, command, args, out, why);
	if (lock >= 0)
		close(lock);
	return rc;
}

int tune_do(struct tune *t, const char *command, json_t *args, json_t **out, struct ibcc_why *why)
{
	bool anonymous = t->anonymous;
	int rc;

	*out = NULL;
	rc = tune_is_offline(t) ? tune_do_offline(t, command, args, out, &anonymous, why)
				: do_on_fabric(t, command, args, out, why);
	json_decref(args);
	if (*out && !anonymous)
		tune_rename(t, *out);
	/* Names are from nodes and files, reasons are from the state file. */
	if (*out && ibcc_json_clean(*out))
		rc = ibcc_why_set(why, -ENOMEM, "no memory");
	return rc;
}

int tune_do_and_print(struct tune *t, const char *command, json_t *args,
		      void (*print)(const json_t *answer))
{
	struct ibcc_why why = { "" };
	json_t *a = NULL;
	int rc = tune_do(t, command, args, &a, &why), code = TUNE_OK;

	if (a && t->json) {
		code = tune_print_json(a);
	} else if (a) {
		tune_pager_begin();
		print(a);
	}
	json_decref(a);
	return rc ? tune_fail("%s", why.text) : code;
}
