/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Helpers: messages, numbers on the command line, members of answers. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/clean.h>
#include <ibcc/json.h>
#include <ibcc/text.h>

#include "daemon/report/report.h"
#include "daemon/tune/pager.h"
#include "daemon/tune/tune.h"

/* With -j stdout gets one object: the answer, or else the first error. */
static bool error_is_owed;

void tune_owe_error(void)
{
	error_is_owed = true;
}

void tune_error_object(const char *text)
{
	size_t len = strlen(text);
	char line[4096];
	json_t *o;

	if (!error_is_owed)
		return;
	error_is_owed = false;
	while (len && text[len - 1] == '\n')
		len--;
	snprintf(line, sizeof(line), "%.*s", (int)len, text);
	o = json_pack("{si so}", "schema", IBCC_REPORT_SCHEMA, "error", ibcc_json_text(line));
	if (o)
		tune_print_json(o);
	json_decref(o);
}

int tune_fail(const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ibcc_clean(text, "");
	/* The user reads earlier output first. */
	tune_pager_end();
	fprintf(stderr, "ibcc-tune: %s\n", text);
	tune_error_object(text);
	return TUNE_ERROR;
}

bool tune_number(const char *text, uint64_t min, uint64_t max, const char *what, uint64_t *out)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || v < min || v > max) {
		tune_fail("%s: got '%s', want a number in %llu..%llu", what, text,
			  (unsigned long long)min, (unsigned long long)max);
		return false;
	}
	*out = v;
	return true;
}

const char *tune_str(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

json_int_t tune_int(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

int tune_print_json(const json_t *o)
{
	error_is_owed = false;
	return json_dumpf(o, stdout, JSON_INDENT(2)) || putchar('\n') == EOF || fflush(stdout)
		       ? tune_fail("cannot write to stdout")
		       : TUNE_OK;
}

const char *tune_trial_text(const json_t *status, char *buf, size_t len)
{
	const json_t *trial = json_object_get(status, "trial");

	buf[0] = '\0';
	if (tune_str(trial, "over")[0])
		snprintf(buf, len, "the daemon reverts transaction %lld: %s",
			 tune_int(trial, "transaction"), tune_str(trial, "over"));
	else if (json_is_object(trial))
		snprintf(buf, len, "transaction %lld, %lld s left to confirm it",
			 tune_int(trial, "transaction"), tune_int(trial, "seconds_left"));
	return buf;
}

const char *tune_leader_text(const json_t *status)
{
	const json_t *election = json_object_get(status, "election");
	const char *text = tune_str(election, "text");

	if (!json_is_object(election) || text[0])
		return text;
	return !strcmp(tune_str(election, "state"), "leads") ? "this daemon" : "none";
}

const char *tune_rollout_text(const json_t *status, char *buf, size_t len)
{
	json_int_t left = tune_int(json_object_get(status, "rollout"), "nodes_left");

	buf[0] = '\0';
	if (left)
		snprintf(buf, len, "%lld node%s wait%s until counters show an effect at the first",
			 (long long)left, ibcc_text_plural(left, "", "s"),
			 ibcc_text_plural(left, "s", ""));
	return buf;
}
