/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>

#include <ibcc/table.h>

#include "perftest/bench/bench.h"
#include "perftest/bench/report.h"

struct options {
	bool json, all;
	const char *folder; /* of the files, beside the program */
	const char *plot;
	struct ibcc_words set;
	uint64_t jobs;
	struct ibcc_exp_options exp;
};

static const struct ibcc_option list_options[] = { IBCC_OPTION_JSON(struct options) };

static const struct ibcc_option options[] = {
	{ "all", 0, IBCC_OPTION_FLAG, NULL, "run all, in place of names",
	  .at = offsetof(struct options, all) },
	IBCC_OPTION_JSON(struct options),
	{ "short", 0, IBCC_OPTION_FLAG, NULL, "run the short form of each experiment",
	  .at = offsetof(struct options, exp.shortened) },
	{ "seed", 0, IBCC_OPTION_NUMBER, "N",
	  "seed of the random numbers, in place of the\nscenario's",
	  .at = offsetof(struct options, exp.seed), 1, UINT32_MAX },
	IBCC_OPTION_SET(struct options, set),
	{ "plot", 0, IBCC_OPTION_TEXT, "FILE", "plot throughput over time to this SVG file",
	  .at = offsetof(struct options, plot) },
	IBCC_OPTION_JOBS(struct options, jobs),
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

static int list(const struct ibcc_command *c, int argc, char **argv)
{
	static const struct ibcc_table_column columns[] = { { "NAME", false },
							    { "ROWS", true },
							    { "TITLE", false } };
	char folder[PATH_MAX], path[2 * PATH_MAX];
	struct dirent **d = NULL;
	struct libscols_table *t;
	struct options o = { .json = false };
	int n, at, rc = 0;
	json_t *all;

	if (ibcc_command_read(c, argc, argv, &o, &at) ||
	    ibcc_bench_folder(folder, sizeof(folder) - 16))
		return IBCC_EXIT_ERROR;
	all = json_array();
	strcat(folder, "/experiments");
	t = o.json ? NULL : ibcc_table_new(columns, 3, stdout);
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
		ibcc_command_say("there is no experiment \"%s\"; \"ibcc-bench list\" lists all",
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

static int run_named(const struct ibcc_command *c, int argc, char **argv, struct options *o)
{
	int exit = IBCC_EXIT_ERROR, first;

	if (ibcc_command_read(c, argc, argv, o, &first))
		goto out;
	if (o->all ? first < argc || o->plot : first == argc || (o->plot && first != argc - 1)) {
		ibcc_command_say("%s: want names of experiments (one with --plot), or --all",
				 c->name);
		goto out;
	}
	o->exp.threads = (unsigned int)o->jobs;
	o->exp.plot = o->plot;
	o->exp.set = &o->set;
	exit = o->all ? run_all(o) : IBCC_EXIT_OK;
	for (int i = first; i < argc; i++) {
		int one = run_one(argv[i], o);

		exit = one > exit ? one : exit;
		if (i + 1 < argc && !o->json)
			putchar('\n');
	}
out:
	ibcc_words_fini(&o->set);
	return exit;
}

static int run(const struct ibcc_command *c, int argc, char **argv)
{
	struct options o = { .folder = "experiments" };

	return run_named(c, argc, argv, &o);
}

static int tune(const struct ibcc_command *c, int argc, char **argv)
{
	struct options o = { .folder = "tune", .exp.columns = true };

	return run_named(c, argc, argv, &o);
}

const struct ibcc_command ibcc_bench_list = {
	.name = "list",
	.what = "list the experiments",
	.option = list_options,
	.n_options = sizeof(list_options) / sizeof(*list_options),
	.run = list,
};

const struct ibcc_command ibcc_bench_run = {
	.name = "run",
	.arguments = "NAME... | --all",
	.what = "reproduce published experiments",
	.most = -1,
	.option = options,
	.n_options = sizeof(options) / sizeof(*options),
	.run = run,
};

const struct ibcc_command ibcc_bench_tune = {
	.name = "tune",
	.arguments = "NAME|FILE... | --all",
	.what = "compare the daemon's control law with static settings",
	.most = -1,
	.option = options,
	.n_options = sizeof(options) / sizeof(*options),
	.run = tune,
};
