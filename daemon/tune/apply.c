/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* apply: carries out the present plan, or one that was made earlier. */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include <ibcc/text.h>

#include "daemon/tune/plan.h"
#include "daemon/tune/progress.h"
#include "daemon/tune/prose.h"

static int ask(const struct tune *t, json_int_t writes)
{
	return tune_consent(t, "\nMake %s %lld change%s?",
			    ibcc_text_plural(writes, "this", "these"), (long long)writes,
			    ibcc_text_plural(writes, "", "s"));
}

/* The age is no reason to refuse a plan: it fits if the values that it replaces are still there. */
static void print_age(const json_t *a)
{
	json_int_t age = (json_int_t)time(NULL) - tune_int(a, "made"), n = age < 0 ? -age : age;
	const char *unit = n < 120 ? "s" : n < 7200 ? "minutes" : "hours";

	n /= n < 120 ? 1 : n < 7200 ? 60 : 3600;
	if (age < 0)
		tune_say("",
			 "By this host's clock, the plan was made %lld %s in the future: this "
			 "clock, or "
			 "that of the host that made the plan, is or was wrong. Correct the "
			 "clocks, or "
			 "make a new plan.",
			 (long long)n, unit);
	else
		printf("The plan was made %lld %s ago.\n", (long long)n, unit);
}

static void print_result(const struct tune *t, const json_t *a, int rc)
{
	const json_t *result = json_object_get(a, "result");

	if (t->json) {
		tune_print_json(a);
		return;
	}
	tune_print_plan(t, a, rc ? "Changes" : "Changes made");
	if (json_is_object(result))
		printf("\n%lld change%s verified, %lld failed, %lld Set MAD%s.\n",
		       tune_int(result, "verified"),
		       ibcc_text_plural(tune_int(result, "verified"), "", "s"),
		       tune_int(result, "failed"), tune_int(result, "set_mads"),
		       ibcc_text_plural(tune_int(result, "set_mads"), "", "s"));
	else if (!rc)
		printf("\nNothing to change%s.\n",
		       json_array_size(json_object_get(a, "roots")) ? " yet" : "");
}

/* Prints what happens next with the trial. */
static void print_trial(const struct tune *t, const json_t *a)
{
	const json_t *trial = json_object_get(a, "trial");

	if (t->json || !json_is_object(trial) || json_is_string(json_object_get(trial, "over")))
		return;
	putchar('\n');
	tune_say("",
		 "On trial: the daemon reverts the change in %lld s, or when it stops, "
		 "unless you run ibcc-tune confirm.",
		 tune_int(trial, "seconds_left"));
}

/* After the first writes: the trial, if a person is at the terminal, then the refinement. */
static int go_on(struct tune *t, json_t *a, json_int_t set_mads)
{
	int code = TUNE_OK;

	if (tune_counts_down(t, a))
		code = tune_count_down(t, a);
	else
		print_trial(t, a);
	return code == TUNE_OK ? tune_follow(t, a, set_mads) : code;
}

static json_t *with_trial(const struct tune *t, json_t *args)
{
	if (t->confirm_s)
		json_object_set_new(args, "confirm_s", json_integer(t->confirm_s));
	return args;
}

/* Applies the plan of this moment, whatever it is. */
static int apply_now(struct tune *t)
{
	struct ibcc_why why = { "" };
	json_t *a = NULL;
	json_t *args = json_pack("{sb}", "skip_unsupported", t->skip_unsupported);
	int rc = tune_do(t, "apply", with_trial(t, args), &a, &why);
	int code = TUNE_OK;

	if (a && !t->json)
		print_result(t, a, rc);
	if (!rc)
		code = go_on(t, a, tune_int(json_object_get(a, "result"), "set_mads"));
	if (a && t->json)
		print_result(t, a, rc);
	json_decref(a);
	return rc ? tune_fail("%s", why.text) : code;
}

/* Applies a plan that comes with its data. */
static int apply_this(struct tune *t, const json_t *plan)
{
	struct ibcc_why why = { "" };
	json_t *a = NULL;
	int rc, code = TUNE_OK;

	rc = tune_do(
		t, "apply",
		with_trial(t, json_pack("{sO sO* sO* sO*}", "plan", json_object_get(plan, "data"),
					"control", json_object_get(plan, "control"), "made",
					json_object_get(plan, "made"), "unchecked_sm",
					json_object_get(plan, "unchecked_sm"))),
		&a, &why);
	if (a && !t->json)
		printf("%lld of %lld change%s verified, %lld Set MAD%s.\n", tune_int(a, "verified"),
		       tune_int(a, "writes"), ibcc_text_plural(tune_int(a, "writes"), "", "s"),
		       tune_int(a, "set_mads"), ibcc_text_plural(tune_int(a, "set_mads"), "", "s"));
	if (!rc)
		code = go_on(t, a, tune_int(a, "set_mads"));
	if (a && t->json)
		tune_print_json(a);
	json_decref(a);
	return rc ? tune_fail("%s", why.text) : code;
}

/* Anyone may have written the text in a plan's file. So this shows what the program that will write
 * makes of the plan, and takes over what it warns of.
 */
static int show_writes(struct tune *t, json_t *plan)
{
	struct ibcc_why why = { "" };
	json_t *a = NULL;
	int rc = tune_do(t, "apply",
			 json_pack("{sO sO sb}", "plan", json_object_get(plan, "data"), "control",
				   json_object_get(plan, "control"), "look", 1),
			 &a, &why);

	if (!rc) {
		tune_print_writes(t, a, "Changes to make");
		json_object_set(plan, "unchecked_sm", json_object_get(a, "unchecked_sm"));
	}
	json_decref(a);
	return rc ? tune_fail("%s", why.text) : TUNE_OK;
}

static int apply_file(struct tune *t, const char *file)
{
	json_t *plan;
	int code = tune_plan_load(file, &plan);

	if (code != TUNE_OK)
		return code;
	if (!t->json) {
		print_age(plan);
		code = show_writes(t, plan);
	}
	if (code == TUNE_OK)
		code = ask(t, (json_int_t)json_array_size(json_object_get(plan, "data")));
	if (code == TUNE_OK)
		code = apply_this(t, plan);
	json_decref(plan);
	return code;
}

/* Writes what was shown, even if the daemon has changed its mind since. */
static int apply_asked(struct tune *t)
{
	struct ibcc_why why = { "" };
	json_t *plan = NULL;
	int rc = tune_do(t, "plan", json_pack("{sb}", "data", 1), &plan, &why), code = TUNE_OK;

	if (rc || !plan) {
		json_decref(plan);
		return tune_fail("%s", why.text);
	}
	tune_print_plan(t, plan, "Changes to make");
	if (tune_would_refuse(t, plan, &why))
		code = tune_fail("%s", why.text);
	else if (!tune_int(plan, "writes"))
		printf("\nNothing to change.\n");
	else
		code = ask(t, tune_int(plan, "writes"));
	if (code == TUNE_OK && tune_int(plan, "writes"))
		code = apply_this(t, plan);
	json_decref(plan);
	return code;
}

int tune_apply(struct tune *t)
{
	if (t->n_args)
		return apply_file(t, t->args[0]);
	return t->yes ? apply_now(t) : apply_asked(t);
}
