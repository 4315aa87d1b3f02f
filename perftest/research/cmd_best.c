/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The best points of sweeps, from any number of files: shards, or parts of one. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>

#include "perftest/bench/bench.h"
#include "perftest/bench/report.h"
#include "perftest/research/best.h"
#include "perftest/research/research.h"

struct options {
	struct ibcc_best b;
	struct ibcc_words given; /* files */
	bool json;
};

static int parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = { { "by", required_argument, NULL, 'b' },
					       { "given", required_argument, NULL, 'g' },
					       { "json", no_argument, NULL, 'j' },
					       { NULL, 0, NULL, 0 } };
	int c, rc;

	while ((c = getopt_long(argc, argv, "jn:", longs, NULL)) != -1) {
		rc = 0;
		switch (c) {
		case 'b':
			o->b.least = *optarg == '-';
			o->b.by = optarg + o->b.least;
			break;
		case 'g': rc = ibcc_words_add(&o->given, optarg); break;
		case 'j': o->json = true; break;
		case 'n':
			if (!ibcc_bench_number("-n", optarg, 1, 1000000, &o->b.n_show))
				rc = -EINVAL;
			break;
		default: rc = -EINVAL;
		}
		if (rc)
			return rc;
	}
	if (optind < argc)
		return 0;
	fputs("ibcc-bench: best: want files\n", stderr);
	return -EINVAL;
}

int ibcc_bench_best(int argc, char **argv)
{
	struct ibcc_yaml_errors e = { 0 };
	struct options o = { .b = { .n_show = 10, .e = &e } };
	int rc, exit = IBCC_EXIT_ERROR;

	if (parse(argc, argv, &o))
		goto out;
	o.b.n_keep = o.b.n_show > IBCC_BEST_GOOD ? o.b.n_show : IBCC_BEST_GOOD;
	if (o.given.n)
		o.b.n_keep = UINT64_MAX;
	rc = 0;
	for (int i = optind; i < argc && !rc; i++)
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
