/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* An apply is complete when the roots of its plan hold. Until then the daemon refines it; this
 * shows the progress (progress.h).
 */
#include <stdio.h>
#include <string.h>

#include <ibcc/text.h>

#include "daemon/tune/look.h"
#include "daemon/tune/progress.h"
#include "daemon/tune/prose.h"

/* What was shown: one line for each thing that is new. */
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
	snprintf(label, sizeof(label), "Cycle %3lld, %lld change%s: ", tune_int(apply, "passes"),
		 last.writes, ibcc_text_plural(last.writes, "", "s"));
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
			 "transaction %lld is refined until its roots hold: %lld change%s, polling "
			 "cycle %lld",
			 tune_int(a, "transaction"), tune_int(a, "writes"),
			 ibcc_text_plural(tune_int(a, "writes"), "", "s"), tune_int(a, "passes"));
	else if (json_is_object(a) && !strcmp(tune_str(a, "stage"), "settled"))
		snprintf(buf, len, "transaction %lld is complete: its roots hold",
			 tune_int(a, "transaction"));
	else if (json_is_object(a))
		snprintf(buf, len, "transaction %lld ended before its roots held: %s",
			 tune_int(a, "transaction"), tune_str(a, "text"));
	return buf;
}

/* In mode observe the daemon does not make them, except for an apply in progress. */
bool tune_will_write(const json_t *status)
{
	return strcmp(tune_str(status, "mode"), "observe") ||
	       tune_is_refined(json_object_get(status, "apply"));
}

const char *tune_writes_text(const json_t *status, char *buf, size_t len)
{
	json_int_t n = tune_int(status, "writes_pending");
	const char *s = ibcc_text_plural(n, "", "s");

	if (tune_will_write(status))
		snprintf(buf, len, "%lld change%s", (long long)n, s);
	else
		snprintf(buf, len, "%lld change%s recommended%s", (long long)n, s,
			 !n       ? ""
			 : n == 1 ? "; ibcc-tune plan shows it"
				  : "; ibcc-tune plan shows them");
	return buf;
}
