/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "daemon/tune/jobs_of.h"

#include <string.h>

#include <ibcc/text.h>

#include "daemon/tune/tune.h"

bool tune_roots_have_jobs(const json_t *roots)
{
	const json_t *o;
	size_t i;

	json_array_foreach (roots, i, o)
		if (json_is_object(json_object_get(o, "jobs")))
			return true;
	return false;
}

const char *tune_jobs_at(const json_t *adapter, char *buf, size_t len)
{
	struct ibcc_text x = { .buf = buf, .len = len };
	const json_t *o;
	size_t i;

	buf[0] = '\0';
	json_array_foreach (json_object_get(adapter, "jobs"), i, o)
		ibcc_text_add(&x, "%s%s", i ? "," : "",
			      json_string_value(o) ? json_string_value(o) : "?");
	return buf;
}

const char *tune_first_job_at(const json_t *adapter, char *buf, size_t len)
{
	const json_t *jobs = json_object_get(adapter, "jobs");
	const char *first = json_string_value(json_array_get(jobs, 0));
	struct ibcc_text x = { .buf = buf, .len = len };

	buf[0] = '\0';
	if (first)
		ibcc_text_add(&x, "%s", first);
	if (json_array_size(jobs) > 1)
		ibcc_text_add(&x, " +%zu", json_array_size(jobs) - 1);
	return buf;
}

const char *tune_job_of_root(const json_t *root, char *buf, size_t len)
{
	const json_t *jobs = json_object_get(root, "jobs"), *o;
	const char *first = NULL;
	struct ibcc_text x = { .buf = buf, .len = len };
	size_t i, n = 0;

	buf[0] = '\0';
	json_array_foreach (json_object_get(jobs, "list"), i, o) {
		if (!strcmp(tune_str(o, "role"), "victim"))
			continue;
		first = n++ ? first : tune_str(o, "id");
	}
	if (n)
		ibcc_text_add(&x, "%s", first);
	if (n > 1)
		ibcc_text_add(&x, " +%zu", n - 1);
	return buf;
}

static const char *ending(json_int_t n)
{
	return ibcc_text_plural((uint64_t)n, "", "s");
}

/* The hosts of the map that no adapter's name matches. */
static void put_unmatched(struct ibcc_text *x, const json_t *jobs)
{
	const json_t *names = json_object_get(jobs, "unmatched_names"), *o;
	json_int_t n = tune_int(jobs, "unmatched");
	size_t i;

	if (!n)
		return;
	ibcc_text_add(x, "; no adapter has the name of %lld of %lld host%s: ", n,
		      tune_int(jobs, "hosts"), ending(tune_int(jobs, "hosts")));
	json_array_foreach (names, i, o)
		ibcc_text_add(x, "%s%s", i ? ", " : "",
			      json_string_value(o) ? json_string_value(o) : "?");
	if ((json_int_t)i < n)
		ibcc_text_add(x, " and %lld more", n - (json_int_t)i);
	ibcc_text_add(x, " (see jobs_host_pattern in ibcc-tuned.yaml(5))");
}

const char *tune_job_map_text(const json_t *status, char *buf, size_t len)
{
	const json_t *jobs = json_object_get(status, "jobs");
	struct ibcc_text x = { .buf = buf, .len = len };

	buf[0] = '\0';
	if (!json_is_object(jobs))
		return buf;
	if (tune_str(jobs, "source")[0] && tune_int(jobs, "made") > 0) {
		ibcc_text_add(&x, "%lld job%s on %lld host%s, from %s, %lld s old",
			      tune_int(jobs, "running"), ending(tune_int(jobs, "running")),
			      tune_int(jobs, "hosts"), ending(tune_int(jobs, "hosts")),
			      tune_str(jobs, "source"), tune_int(jobs, "age_s"));
		put_unmatched(&x, jobs);
	}
	if (tune_str(jobs, "text")[0])
		ibcc_text_say(&x, "%s", tune_str(jobs, "text"));
	return buf;
}
