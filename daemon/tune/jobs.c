/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The command jobs: what jobs of the batch system did to others, and what they suffered. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/tune/history.h"
#include "daemon/tune/jobs_of.h"
#include "daemon/tune/prose.h"
#include "daemon/tune/table.h"
#include "daemon/tune/tune.h"

#define SINCE_S     86400u
#define SINCE_MAX_S (366u * 86400u)

/* "90", "90s", "90m", "24h", "7d". */
static bool read_since(const char *text, uint32_t *s)
{
	size_t n = strspn(text, "0123456789");
	const char *unit = text + n;
	uint64_t one = !*unit || !strcmp(unit, "s") ? 1
		       : !strcmp(unit, "m")         ? 60
		       : !strcmp(unit, "h")         ? 3600
		       : !strcmp(unit, "d")         ? 86400
						    : 0;
	uint64_t v = n && n < 9 ? strtoull(text, NULL, 10) * one : 0;

	if (!v || v > SINCE_MAX_S)
		return false;
	*s = (uint32_t)v;
	return true;
}

void tune_job_time(const json_t *o, const char *key, const char *shared, char *buf, size_t len)
{
	double s = (double)tune_int(o, key) / 1000;
	double more = shared ? (double)tune_int(o, shared) / 1000 : 0;
	char part[2][32] = { "", "" };

	for (int i = 0; i < 2; i++) {
		double v = i ? more : s;

		if (v >= 3600)
			snprintf(part[i], sizeof(part[i]), "%.1f h", v / 3600);
		else if (v >= 60)
			snprintf(part[i], sizeof(part[i]), "%.0f min", v / 60);
		else if (v > 0)
			snprintf(part[i], sizeof(part[i]), "%.0f s", v);
	}
	snprintf(buf, len, "%s%s%s%s", part[0], part[0][0] && part[1][0] ? " " : "",
		 part[1][0] ? "+" : "", part[1]);
}

void tune_job_bytes(json_int_t bytes, char *buf, size_t len)
{
	static const char *const unit[] = { "B", "kB", "MB", "GB", "TB", "PB" };
	double v = (double)bytes;
	size_t i = 0;

	while (v >= 1000 && i + 1 < sizeof(unit) / sizeof(unit[0])) {
		v /= 1000;
		i++;
	}
	buf[0] = '\0';
	if (bytes)
		snprintf(buf, len, v < 10 && i ? "%.1f %s" : "%.0f %s", v, unit[i]);
}

/* A batch system may run a job again: then its runs are lines of their own. */
static bool has_other_run(const json_t *list, const json_t *job)
{
	const json_t *o;
	size_t i;

	json_array_foreach (list, i, o)
		if (o != job && !strcmp(tune_str(o, "id"), tune_str(job, "id")))
			return true;
	return false;
}

static void add_job(struct libscols_table *t, const json_t *list, const json_t *o)
{
	char start[32] = "", harm[32], caused[80], suspect[32], suffered[80], sent[32];
	const char *row[] = { tune_str(o, "id"),
			      start,
			      tune_str(o, "user"),
			      tune_str(o, "name"),
			      harm,
			      caused,
			      suspect,
			      suffered,
			      sent,
			      tune_str(o, "worst_root") };

	if (tune_table_is_csv() || has_other_run(list, o))
		tune_minute_text(tune_int(o, "start"), start, sizeof(start));
	tune_job_time(o, "harm_ms", NULL, harm, sizeof(harm));
	tune_job_time(o, "contributor_ms", "shared_contributor_ms", caused, sizeof(caused));
	tune_job_time(o, "suspect_ms", NULL, suspect, sizeof(suspect));
	tune_job_time(o, "victim_ms", "shared_victim_ms", suffered, sizeof(suffered));
	tune_job_bytes(tune_int(o, "sent_bytes"), sent, sizeof(sent));
	ibcc_table_add(t, row);
}

static void print_jobs(const json_t *a)
{
	const struct tune_column columns[] = {
		{ "JOB", IBCC_LEFT, "number of the job in the batch system" },
		{ "START", IBCC_LEFT, "when this run began, of a job that ran several times" },
		{ "USER", IBCC_LEFT, "its user" },
		{ "NAME", IBCC_WRAP, "its name" },
		{ "HARM", IBCC_RIGHT,
		  "its share of the congestion times the time, summed over the congestion roots" },
		{ "CAUSED", IBCC_RIGHT,
		  "how long it contributed to congestion; + on hosts that it shared" },
		{ "SUSPECT", IBCC_RIGHT,
		  "how long it was blocked while no mark showed which senders contribute" },
		{ "SUFFERED", IBCC_RIGHT, "how long it was a victim; + on hosts that it shared" },
		{ "SENT", IBCC_RIGHT, "what its contributors sent" },
		{ "WORST ROOT", IBCC_SPARE, "the root in which it took part longest" },
	};
	const json_t *list = json_object_get(a, "jobs"), *o;
	struct libscols_table *t = tune_table_new(columns, 10);
	size_t i;

	json_array_foreach (list, i, o)
		add_job(t, list, o);
	if (!json_array_size(list) && !tune_table_is_csv())
		tune_say("",
			 "No job took part in congestion in this time, as far as is known. Jobs "
			 "are known if ibcc-jobs runs: see jobs_file in ibcc-tuned.yaml(5).");
	tune_table_print_under(t, "Jobs");
}

int tune_jobs(struct tune *t)
{
	uint32_t since_s = SINCE_S;

	if (t->since && !read_since(t->since, &since_s))
		return tune_fail("--since: got '%s', want a time of 1 s to 366 d, as 90m, 24h or "
				 "7d",
				 t->since);
	return tune_do_and_print(t, "jobs",
				 json_pack("{si ss ss}", "since_s", (int)since_s, "user",
					   t->user ? t->user : "", "job",
					   t->n_args ? t->args[0] : ""),
				 print_jobs);
}
