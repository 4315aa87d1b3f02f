/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* An apply is complete when the roots of its plan hold. Until then the daemon refines it; this
 * shows how far that has come, and in the end what it brought.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "daemon/tune/look.h"
#include "daemon/tune/progress.h"
#include "daemon/tune/prose.h"

#define LOOK_MS   500
#define SILENCE_S 120 /* a daemon that is started anew is back by then */

/* One line for each thing that is new. */
struct shown {
	bool any;
	json_int_t news, writes;
	bool refined;
};

void tune_show_progress(const struct tune *t, const json_t *apply)
{
	static struct shown last;
	struct shown now;
	char text[TUNE_SENTENCE_BYTES], label[64];

	if (t->json || !json_is_object(apply))
		return;
	now = (struct shown){ true, tune_int(apply, "news"), tune_int(apply, "writes"),
			      tune_is_refined(apply) };
	if (last.any && now.news == last.news && now.writes == last.writes &&
	    now.refined == last.refined)
		return;
	last = now;
	tune_rates_in(tune_str(apply, "text"), text, sizeof(text));
	if (!text[0])
		return;
	snprintf(label, sizeof(label), "Cycle %3lld, %lld writes: ", tune_int(apply, "passes"),
		 last.writes);
	tune_say(label, "%s", text);
	fflush(stdout);
}

bool tune_is_refined(const json_t *apply)
{
	return json_is_object(apply) && !strcmp(tune_str(apply, "stage"), "refining");
}

const char *tune_apply_text(const json_t *status, char *buf, size_t len)
{
	const json_t *a = json_object_get(status, "apply");

	buf[0] = '\0';
	if (tune_is_refined(a))
		snprintf(buf, len,
			 "transaction %lld is refined until its roots hold: %lld writes, polling "
			 "cycle %lld",
			 tune_int(a, "transaction"), tune_int(a, "writes"), tune_int(a, "passes"));
	else if (json_is_object(a) && !strcmp(tune_str(a, "stage"), "settled"))
		snprintf(buf, len, "transaction %lld is complete: its roots hold",
			 tune_int(a, "transaction"));
	else if (json_is_object(a))
		snprintf(buf, len, "transaction %lld ended before its roots held: %s",
			 tune_int(a, "transaction"), tune_str(a, "text"));
	return buf;
}

/* In mode observe nobody makes them, but for an apply that is under way. */
bool tune_will_write(const json_t *status)
{
	return strcmp(tune_str(status, "mode"), "observe") ||
	       tune_is_refined(json_object_get(status, "apply"));
}

const char *tune_writes_text(const json_t *status, char *buf, size_t len)
{
	json_int_t n = tune_int(status, "writes_pending");

	if (tune_will_write(status))
		snprintf(buf, len, "%lld writes", (long long)n);
	else
		snprintf(buf, len, "%lld writes recommended%s", (long long)n,
			 n ? "; ibcc-tune plan shows them" : "");
	return buf;
}

/* The status of a daemon that may be started anew meanwhile. */
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

/* The transaction with its effect; NULL if nobody can tell. */
static json_t *ask_transaction(struct tune *t, json_int_t id)
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
		printf("What it brought was not measured.\n");
		return;
	}
	printf("Measured before the first write, and %lld polling cycles after the last:\n",
	       tune_int(effect, "passes"));
	print_change("all adapters send", in_unit(b, "total_mbps"), in_unit(a, "total_mbps"),
		     tune_rate_unit());
	print_change("the longest wait", (double)tune_int(b, "wait_permille") / 10,
		     (double)tune_int(a, "wait_permille") / 10, "%");
	printf("  %-22s%9lld -> %9lld\n", "adapters that wait", tune_int(b, "waiting"),
	       tune_int(a, "waiting"));
}

static void print_end(const json_t *status, const json_t *apply, const json_t *txn)
{
	char text[TUNE_SENTENCE_BYTES];

	if (!strcmp(tune_str(apply, "stage"), "settled"))
		printf("\nComplete: transaction %lld, %lld writes in %lld steps. Its roots hold, "
		       "so nothing more is written for it.\n",
		       tune_int(apply, "transaction"), tune_int(apply, "writes"),
		       tune_int(apply, "steps"));
	if (txn)
		print_effect(json_object_get(txn, "effect"));
	if (tune_trial_text(status, text, sizeof(text))[0])
		tune_say("Trial: ", "%s", text);
}

static int watch_daemon(const struct tune *t, json_t **status, struct ibcc_why *why)
{
	const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000l };
	int rc;

	if (!t->json)
		printf("\nThe daemon refines these settings until their roots hold; it goes on "
		       "when "
		       "this command is ended (Ctrl-C).\n");
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
	/* Without a daemon it has been refined already. */
	if (!apply)
		rc = watch_daemon(t, &status, &why);
	if (rc)
		return tune_fail("the settings are made, but nobody tells whether they hold: %s",
				 why.text);
	if (status)
		apply = json_object_get(status, "apply");
	txn = ask_transaction(t, tune_int(apply, "transaction"));
	if (t->json) {
		json_object_set(answer, "apply", apply ? apply : json_null());
		json_object_set(answer, "effect",
				txn ? json_object_get(txn, "effect") : json_null());
	} else if (json_is_object(apply)) {
		print_end(status, apply, txn);
	}
	if (json_is_object(apply) && strcmp(tune_str(apply, "stage"), "settled"))
		code = tune_fail("the apply has ended before its roots hold: %s",
				 tune_str(apply, "text"));
	json_decref(txn);
	json_decref(status);
	return code;
}
