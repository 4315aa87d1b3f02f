/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <dirent.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>

#include <ibcc/table.h>

#include "perftest/bench/bench.h"
#include "perftest/bench/report.h"

struct options {
	bool json, all, random; /* random: scenarios by chance in place of files */
	const char *folder;     /* of the files, beside the program */
	const char *plot;
	struct ibcc_words set;
	struct ibcc_exp_options exp;
};

static int is_experiment(const struct dirent *d)
{
	size_t len = strlen(d->d_name);

	return len > 5 && d->d_name[0] != '.' && !strcmp(d->d_name + len - 5, ".yaml");
}

static int list_one(const char *path, json_t *all, struct libscols_table *t)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_experiment x;
	char rows[16];
	const char *cell[] = { x.name, rows, x.title };
	int rc = ibcc_experiment_load(path, &x, &e);

	if (rc) {
		ibcc_bench_fail(path, rc, &e);
		return rc;
	}
	snprintf(rows, sizeof(rows), "%zu", x.n_rows);
	if (t)
		rc = ibcc_table_add(t, cell);
	else
		rc = json_array_append_new(all, json_pack("{ss ss ss si}", "name", x.name, "title",
							  x.title, "source", x.source, "rows",
							  (int)x.n_rows));
	ibcc_experiment_fini(&x);
	return rc;
}

int ibcc_bench_list(int argc, char **argv)
{
	static const struct ibcc_table_column columns[] = { { "NAME", false },
							    { "ROWS", true },
							    { "TITLE", false } };
	static const struct option longs[] = { { "json", no_argument, NULL, 'j' },
					       { NULL, 0, NULL, 0 } };
	char folder[PATH_MAX], path[2 * PATH_MAX];
	struct dirent **d = NULL;
	struct libscols_table *t;
	json_t *all = json_array();
	bool json = false;
	int n, c, rc = 0;

	while ((c = getopt_long(argc, argv, "j", longs, NULL)) != -1) {
		if (c != 'j')
			return json_decref(all), IBCC_EXIT_ERROR;
		json = true;
	}
	if (ibcc_bench_folder(folder, sizeof(folder) - 16))
		return json_decref(all), IBCC_EXIT_ERROR;
	strcat(folder, "/experiments");
	t = json ? NULL : ibcc_table_new(columns, 3, stdout);
	n = scandir(folder, &d, is_experiment, alphasort);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, d[i]->d_name);
		if (list_one(path, all, t))
			rc = -EINVAL;
		free(d[i]);
	}
	free(d);
	if (t)
		ibcc_table_print(t);
	else
		ibcc_report_json(json_pack("{si sO}", "schema", 1, "experiments", all), false,
				 stdout);
	json_decref(all);
	return rc || n < 0 ? IBCC_EXIT_ERROR : IBCC_EXIT_OK;
}

struct plot {
	const struct ibcc_experiment *x;
	const struct ibcc_exp_result *r;
};

static int write_plot(void *arg, FILE *out)
{
	struct plot *p = arg;

	return ibcc_report_experiment_plot(p->x, p->r, out);
}

static int run_one(const char *name, const struct options *o)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_experiment x;
	struct ibcc_exp_result r;
	struct plot plot = { &x, &r };
	char path[2 * PATH_MAX];
	int rc = ibcc_bench_find(name, o->folder, path, sizeof(path)), exit = IBCC_EXIT_OK;

	if (rc == -ENODATA)
		return IBCC_EXIT_ERROR;
	if (!rc)
		rc = ibcc_experiment_load(path, &x, &e);
	if (rc == -ENOENT) {
		ibcc_yaml_errors_fini(&e);
		fprintf(stderr, "ibcc-bench: no experiment \"%s\"; `ibcc-bench list` has all\n",
			name);
		return IBCC_EXIT_ERROR;
	}
	if (rc)
		return ibcc_bench_fail(path, rc, &e);
	rc = ibcc_experiment_run(&x, &o->exp, &r, &e);
	if (rc) {
		exit = ibcc_bench_fail(name, rc, &e);
		goto out;
	}
	if (o->json) {
		json_t *j = ibcc_report_experiment(&x, &o->exp, &r);

		if (j && o->exp.columns)
			json_object_set_new(j, "variants", ibcc_report_variants_json(&x, &r));
		rc = ibcc_report_json(j, false, stdout);
	} else {
		rc = ibcc_report_rows(&x, &o->exp, &r, stdout);
		if (!rc && o->exp.columns)
			rc = ibcc_report_variants(&x, &r, stdout);
	}
	if (o->plot)
		exit = ibcc_bench_write(o->plot, write_plot, &plot);
	if (rc || !r.ok || fflush(stdout))
		exit = IBCC_EXIT_ERROR;
out:
	ibcc_experiment_result_fini(&r);
	ibcc_experiment_fini(&x);
	return exit;
}

static int parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "short", no_argument, NULL, 'q' },
		{ "plot", required_argument, NULL, 'p' },
		{ "set", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'S' },
		{ "jobs", required_argument, NULL, 'J' },
		{ "all", no_argument, NULL, 'a' },
		{ "random", required_argument, NULL, 'r' },
		{ NULL, 0, NULL, 0 },
	};
	uint64_t jobs = 0;
	int c;

	while ((c = getopt_long(argc, argv, "jJ:", longs, NULL)) != -1) {
		switch (c) {
		case 'j': o->json = true; break;
		case 'q': o->exp.shortened = true; break;
		case 'a': o->all = true; break;
		case 'p': o->plot = optarg; break;
		case 's':
			if (ibcc_words_add(&o->set, optarg))
				return -ENOMEM;
			break;
		case 'S':
			if (!ibcc_bench_number("--seed", optarg, 1, UINT32_MAX, &o->exp.seed))
				return -EINVAL;
			break;
		case 'r':
			if (!o->exp.columns)
				return -EINVAL;
			o->random = true;
			return 0; /* the rest is for whom it is handed over to */
		case 'J':
			if (!ibcc_bench_number("--jobs", optarg, 1, 1024, &jobs))
				return -EINVAL;
			break;
		default: return -EINVAL;
		}
	}
	o->exp.threads = (unsigned int)jobs;
	o->exp.plot = o->plot;
	o->exp.set = &o->set;
	if (o->all ? optind == argc && !o->plot : optind < argc && (!o->plot || optind == argc - 1))
		return 0;
	fprintf(stderr, "ibcc-bench: %s: want names of experiments (one with --plot), or --all\n",
		argv[0]);
	return -EINVAL;
}

static int run_all(const struct options *o)
{
	char folder[PATH_MAX], path[2 * PATH_MAX];
	struct dirent **d = NULL;
	int exit = IBCC_EXIT_OK, n, len;

	if (ibcc_bench_folder(folder, sizeof(folder)))
		return IBCC_EXIT_ERROR;
	len = snprintf(path, sizeof(path), "%s/%s/", folder, o->folder);
	n = scandir(path, &d, is_experiment, alphasort);
	for (int i = 0; i < n; i++) {
		int one;

		snprintf(path + len, sizeof(path) - (size_t)len, "%s", d[i]->d_name);
		one = run_one(path, o);
		exit = one > exit ? one : exit;
		if (i + 1 < n && !o->json)
			putchar('\n');
		free(d[i]);
	}
	free(d);
	return n > 0 ? exit : IBCC_EXIT_ERROR;
}

static int run_named(int argc, char **argv, struct options *o)
{
	int exit = parse(argc, argv, o) ? IBCC_EXIT_ERROR : IBCC_EXIT_OK;

	if (!exit && o->random) {
		fprintf(stderr, "ibcc-bench: --random: ibcc-research: %s\n",
			strerror(-ibcc_bench_research(argc, argv)));
		exit = IBCC_EXIT_ERROR;
	} else if (!exit && o->all) {
		exit = run_all(o);
	} else if (!exit) {
		for (int i = optind; i < argc; i++) {
			int one = run_one(argv[i], o);

			exit = one > exit ? one : exit;
			if (i + 1 < argc && !o->json)
				putchar('\n');
		}
	}
	ibcc_words_fini(&o->set);
	return exit;
}

int ibcc_bench_run(int argc, char **argv)
{
	struct options o = { .folder = "experiments" };

	return run_named(argc, argv, &o);
}

int ibcc_bench_tune(int argc, char **argv)
{
	struct options o = { .folder = "tune", .exp.columns = true };

	return run_named(argc, argv, &o);
}
