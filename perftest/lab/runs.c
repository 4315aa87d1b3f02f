/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/lab/runs.h"

#include <stdio.h>

#include "perftest/bench/pool.h"
#include "perftest/lab/progress.h"

struct work {
	const struct ibcc_runs *r;
	struct ibcc_progress progress;
};

static int work(void *arg, uint64_t i)
{
	const struct work *w = arg;
	struct ibcc_yaml_errors e = { 0 };
	int rc = w->r->one(w->r->arg, i, &e);

	if (e.text)
		fputs(e.text, stderr);
	ibcc_yaml_errors_fini(&e);
	return rc;
}

static int done(void *arg, uint64_t i, int rc)
{
	struct work *w = arg;

	if (!rc && w->r->took)
		w->r->took(w->r->arg, i);
	ibcc_progress_step(&w->progress);
	return rc;
}

int ibcc_runs_all(const struct ibcc_runs *r)
{
	struct work w = { .r = r };
	int rc;

	ibcc_progress_begin(&w.progress, r->n);
	rc = ibcc_pool_run(r->n, r->threads, work, done, &w);
	ibcc_progress_end(&w.progress);
	return rc;
}
