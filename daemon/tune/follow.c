/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Waits until the daemon has refined an apply, and then shows its effect (progress.h). */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <ibcc/text.h>

#include "daemon/tune/look.h"
#include "daemon/tune/progress.h"
#include "daemon/tune/prose.h"
#include "daemon/tune/senders.h"

#define LOOK_MS   500
#define SILENCE_S 120 /* a daemon that restarts is back by then */

/* The status of a daemon that may restart meanwhile. */
static int ask_status(const struct tune *t, json_t **status, struct ibcc_why *why)
{
	const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000l };
	int rc;

	for (int ms = 0; ms <= SILENCE_S * 1000; ms += LOOK_MS) {
		rc = tune_ask_status(t, status, why);
		if (!rc)
			return 0;
		json_decref(*status);
		*status = NULL;
		nanosleep(&pause, NULL);
	}
	return rc;
}

json_t *tune_ask_transaction(struct tune *t, json_int_t id)
{
	struct ibcc_why why = { "" };
	json_t *a = NULL, *txn;
	int rc = tune_do(t, "history", json_pack("{sI si}", "id", id, "limit", 1), &a, &why);

	txn = rc ? NULL : json_incref(json_object_get(a, "transaction"));
	json_decref(a);
	return txn;
}

static void print_change(const char *what, double before, double after, const char *unit)
{
	printf("  %-22s%9.1f -> %9.1f %s", what, before, after, unit);
	if (before > 0)
		printf("  (%+.1f %%)", 100 * (after - before) / before);
	putchar('\n');
}

static double in_unit(const json_t *sample, const char *key)
{
	double mbps = (double)tune_int(sample, key);

	return strcmp(tune_rate_unit(), "MB/s") ? mbps / 1000 : mbps / 8;
}

static void print_effect(const json_t *effect)
{
	const json_t *b = json_object_get(effect, "before"), *a = json_object_get(effect, "after");

	if (!json_is_object(b) || !json_is_object(a)) {
		printf("The effect was not measured.\n");
		return;
	}
	tune_say("", "Measured before the first change, and %lld polling cycle%s after the last:",
		 tune_int(effect, "passes"), ibcc_text_plural(tune_int(effect, "passes"), "", "s"));
	print_change("all adapters send", in_unit(b, "total_mbps"), in_unit(a, "total_mbps"),
		     tune_rate_unit());
	print_change("longest blocked time", (double)tune_int(b, "wait_permille") / 10,
		     (double)tune_int(a, "wait_permille") / 10, "%");
	printf("  %-22s%9lld -> %9lld\n", "blocked adapters", tune_int(b, "waiting"),
	       tune_int(a, "waiting"));
	tune_print_senders(json_object_get(effect, "senders"));
}

static void print_end(const json_t *status, const json_t *apply, const json_t *txn)
{
	char text[TUNE_SENTENCE_BYTES];

	if (!strcmp(tune_str(apply, "stage"), "settled")) {
		putchar('\n');
		tune_say("Complete: ",
			 "transaction %lld, %lld change%s in %lld step%s. Its roots hold, so "
			 "nothing more is written for it.",
			 tune_int(apply, "transaction"), tune_int(apply, "writes"),
			 ibcc_text_plural(tune_int(apply, "writes"), "", "s"),
			 tune_int(apply, "steps"),
			 ibcc_text_plural(tune_int(apply, "steps"), "", "s"));
	}
	if (txn)
		print_effect(json_object_get(txn, "effect"));
	if (tune_trial_text(status, text, sizeof(text))[0])
		tune_say("Trial: ", "%s", text);
}

static int watch_daemon(const struct tune *t, json_t **status, struct ibcc_why *why)
{
	const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000l };
	int rc;

	if (!t->json) {
		putchar('\n');
		tune_say("", "The daemon refines these settings until their roots hold. It "
			     "continues when you end this command (Ctrl-C).");
	}
	while (!(rc = ask_status(t, status, why)) &&
	       tune_is_refined(json_object_get(*status, "apply"))) {
		tune_show_progress(t, json_object_get(*status, "apply"));
		json_decref(*status);
		*status = NULL;
		nanosleep(&pause, NULL);
	}
	return rc;
}

int tune_follow(struct tune *t, json_t *answer, json_int_t set_mads)
{
	json_t *apply = json_object_get(answer, "apply"), *status = NULL, *txn;
	struct ibcc_why why = { "" };
	int rc = 0, code = TUNE_OK;

	if (t->no_wait || !set_mads)
		return TUNE_OK;
	/* Without a daemon the apply is refined already. */
	if (!apply)
		rc = watch_daemon(t, &status, &why);
	if (rc)
		return tune_fail("the first changes are made, but the daemon does not say whether "
				 "they hold: %s. Ask again with 'ibcc-tune status'",
				 why.text);
	if (status)
		apply = json_object_get(status, "apply");
	txn = tune_ask_transaction(t, tune_int(apply, "transaction"));
	if (t->json) {
		json_object_set(answer, "apply", apply ? apply : json_null());
		json_object_set(answer, "effect",
				txn ? json_object_get(txn, "effect") : json_null());
	} else if (json_is_object(apply)) {
		print_end(status, apply, txn);
	}
	if (json_is_object(apply) && strcmp(tune_str(apply, "stage"), "settled"))
		code = tune_fail(
			"the apply has ended before its roots hold: %s; 'ibcc-tune history' lists "
			"its changes, 'ibcc-tune rollback' reverts them",
			tune_str(apply, "text"));
	json_decref(txn);
	json_decref(status);
	return code;
}
