/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Jobs of the batch system that caused congestion, and jobs that suffered from it. */
#include <stdlib.h>

#include <ibcc/page.h>
#include <ibcc/text.h>

#include "daemon/tune/jobs_of.h"
#include "daemon/tune/page/page.h"
#include "daemon/tune/tune.h"

#define ROWS 10u /* of each table; of more, only the number is shown */

static json_int_t causes_ms(const json_t *o)
{
	return tune_int(o, "contributor_ms") + tune_int(o, "shared_contributor_ms") +
	       tune_int(o, "suspect_ms");
}

static json_int_t suffers_ms(const json_t *o)
{
	return tune_int(o, "victim_ms") + tune_int(o, "shared_victim_ms");
}

static int by_suffering(const void *a, const void *b)
{
	const json_t *x = *(const json_t *const *)a, *y = *(const json_t *const *)b;
	json_int_t dx = tune_int(x, "blocked_ms"), dy = tune_int(y, "blocked_ms");

	if (dx == dy) {
		dx = suffers_ms(x);
		dy = suffers_ms(y);
	}
	return (dx < dy) - (dx > dy);
}

static void write_job(struct ibcc_page_table *t, const json_t *o)
{
	ibcc_page_cell(t, tune_str(o, "id"));
	ibcc_page_cell(t, tune_str(o, "user"));
	ibcc_page_cell(t, tune_str(o, "name"));
}

static void write_time(struct ibcc_page_table *t, const json_t *o, const char *key,
		       const char *shared)
{
	char text[80];

	tune_job_time(o, key, shared, text, sizeof(text));
	ibcc_page_cell(t, text);
}

static void end_table(struct ibcc_page_table *t, FILE *out, size_t n)
{
	char text[48];

	ibcc_page_table_end(t);
	if (n <= ROWS)
		return;
	snprintf(text, sizeof(text), "and %zu more", n - ROWS);
	ibcc_page_paragraph(out, text);
}

/* The jobs come in the order of the harm that they did. */
static void write_causes(FILE *out, const json_t *const *job, size_t n)
{
	static const char *const columns[] = { "Job",     "User",     "~Name", ">Harm",
					       ">Caused", ">Suspect", ">Sent", "~Worst root" };
	struct ibcc_page_table t;
	char text[32];

	if (!n)
		return;
	fputs("<h3>Jobs that caused congestion</h3>\n", out);
	ibcc_page_table_begin(&t, out, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < n && i < ROWS; i++) {
		write_job(&t, job[i]);
		write_time(&t, job[i], "harm_ms", NULL);
		write_time(&t, job[i], "contributor_ms", "shared_contributor_ms");
		write_time(&t, job[i], "suspect_ms", NULL);
		tune_job_bytes(tune_int(job[i], "sent_bytes"), text, sizeof(text));
		ibcc_page_cell(&t, text);
		ibcc_page_cell(&t, tune_str(job[i], "worst_root"));
	}
	end_table(&t, out, n);
}

static void write_sufferers(FILE *out, const json_t **job, size_t n)
{
	static const char *const columns[] = { "Job",       "User",     "~Name",
					       ">Suffered", ">Blocked", "~Worst root" };
	struct ibcc_page_table t;

	if (!n)
		return;
	qsort(job, n, sizeof(*job), by_suffering);
	fputs("<h3>Jobs that suffered from congestion</h3>\n", out);
	ibcc_page_table_begin(&t, out, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < n && i < ROWS; i++) {
		write_job(&t, job[i]);
		write_time(&t, job[i], "victim_ms", "shared_victim_ms");
		write_time(&t, job[i], "blocked_ms", NULL);
		ibcc_page_cell(&t, tune_str(job[i], "worst_root"));
	}
	end_table(&t, out, n);
}

void tune_page_jobs(FILE *out, const json_t *report)
{
	const json_t *list = json_object_get(report, "jobs"), *o;
	const json_t **causes = calloc(2 * json_array_size(list) + 1, sizeof(json_t *));
	const json_t **sufferers = causes ? causes + json_array_size(list) : NULL;
	size_t n_causes = 0, n_sufferers = 0, i;

	if (!json_is_array(list) || !causes) {
		free(causes);
		return;
	}
	json_array_foreach (list, i, o) {
		if (causes_ms(o) > 0)
			causes[n_causes++] = o;
		if (suffers_ms(o) > 0)
			sufferers[n_sufferers++] = o;
	}
	ibcc_page_heading(out, "Jobs of the last 24 hours");
	write_causes(out, causes, n_causes);
	write_sufferers(out, sufferers, n_sufferers);
	if (n_causes || n_sufferers)
		fputs("<p class=\"lead\">Figures are of a job's whole life. Harm is its share of "
		      "the "
		      "congestion times the time. Suspect is the time in which it was blocked "
		      "while "
		      "no mark showed which senders contribute. Blocked is summed over its "
		      "adapters. "
		      "A time with + is of hosts that it shared with other jobs.</p>\n",
		      out);
	else
		ibcc_page_paragraph(out, "No job took part in congestion.");
	free(causes);
}
