/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The best points of sweeps, from any number of files: shards, or parts of one. */
#include <errno.h>
#include <stdio.h>

#include "perftest/bench/bench.h"
#include "perftest/bench/report.h"
#include "perftest/lab/best.h"
#include "perftest/lab/lab.h"

struct options {
	struct ibcc_best b;
	struct ibcc_words given; /* files */
	bool json;
};

static int read_by(void *place, const char *text)
{
	struct ibcc_best *b = place;

	b->least = *text == '-';
	b->by = text + b->least;
	return 0;
}

static const struct ibcc_option options[] = {
	{ "by", 0, IBCC_OPTION_READ, "NAME",
	  "rank by this number, the largest first, or with -\nin front the smallest",
	  .at = offsetof(struct options, b), .read = read_by },
	{ "given", 0, IBCC_OPTION_READ, "FILE", "also rank the results in this file",
	  .at = offsetof(struct options, given), .read = ibcc_words_read, .many = true },
	{ NULL, 'n', IBCC_OPTION_NUMBER, "N", "number of points to show",
	  .at = offsetof(struct options, b.n_show), 1, 1000000 },
	IBCC_OPTION_JSON(struct options),
};

static int run(const struct ibcc_command *c, int argc, char **argv)
{
	struct ibcc_yaml_errors e = { 0 };
	struct options o = { .b = { .n_show = 10, .e = &e } };
	int rc, first, exit = IBCC_EXIT_ERROR;

	if (ibcc_command_read(c, argc, argv, &o, &first))
		goto out;
	o.b.n_keep = o.b.n_show > IBCC_BEST_GOOD ? o.b.n_show : IBCC_BEST_GOOD;
	if (o.given.n)
		o.b.n_keep = UINT64_MAX;
	rc = 0;
	for (int i = first; i < argc && !rc; i++)
		rc = ibcc_best_read(&o.b, argv[i], false);
	for (size_t i = 0; i < o.given.n && !rc; i++)
		rc = ibcc_best_read(&o.b, o.given.w[i], true);
	if (!rc && o.json)
		rc = ibcc_report_json(ibcc_best_json(&o.b), false, stdout);
	else if (!rc)
		rc = ibcc_best_table(&o.b, stdout);
	exit = rc ? ibcc_bench_fail("best", rc, &e) : IBCC_EXIT_OK;
out:
	ibcc_best_fini(&o.b);
	ibcc_words_fini(&o.given);
	return exit;
}

const struct ibcc_command ibcc_lab_best = {
	.name = "best",
	.arguments = "FILE...",
	.what = "show the best points of sweeps",
	.want = "files",
	.least = 1,
	.most = -1,
	.option = options,
	.n_options = sizeof(options) / sizeof(*options),
	.run = run,
};
