/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <ibcc/file.h>
#include <ibcc/now.h>
#include <ibcc/scenario_file.h>

#include "perftest/bench/bench.h"

int ibcc_bench_fail(const char *what, int rc, struct ibcc_yaml_errors *e)
{
	bool config = e->n > 0 && rc != -ENOMEM && rc != -EDEADLK;

	if (e->text)
		fputs(e->text, stderr);
	else
		fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
			rc == -EDEADLK ? "a deadlock" : strerror(-rc));
	ibcc_yaml_errors_fini(e);
	return config ? IBCC_EXIT_CONFIG : IBCC_EXIT_ERROR;
}

static bool has_experiments(const char *folder)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/experiments", folder) < (int)sizeof(path) &&
	       !access(path, R_OK | X_OK);
}

int ibcc_bench_beside(const char *name, char *path, size_t len)
{
	char exe[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (n < 0)
		return -ENOENT;
	exe[n] = '\0';
	slash = strrchr(exe, '/');
	if (slash)
		*slash = '\0';
	return snprintf(path, len, "%s/%s", exe, name) < (int)len ? 0 : -ENAMETOOLONG;
}

int ibcc_bench_folder(char *buf, size_t len)
{
	static const char *const beside[] = { "../share/ibcc-tune", "../perftest", "../../perftest",
					      "../../../perftest" };

	for (size_t i = 0; i < sizeof(beside) / sizeof(*beside); i++)
		if (!ibcc_bench_beside(beside[i], buf, len) && has_experiments(buf))
			return 0;
	fprintf(stderr,
		"%s: found no experiments and scenarios. An installed program has them in "
		"share/ibcc-tune, beside its bin folder; one in build/ takes those of its source "
		"tree. Name files by their paths instead\n",
		program_invocation_short_name);
	return -ENODATA;
}

int ibcc_bench_find(const char *name, const char *beside, char *path, size_t len)
{
	char folder[PATH_MAX];
	int rc, n;

	if (strchr(name, '/') || (strlen(name) > 5 && !strcmp(name + strlen(name) - 5, ".yaml"))) {
		n = snprintf(path, len, "%s", name);
	} else {
		rc = ibcc_bench_folder(folder, sizeof(folder));
		if (rc)
			return rc;
		n = snprintf(path, len, "%s/%s/%s.yaml", folder, beside, name);
	}
	return n < (int)len ? 0 : -ENAMETOOLONG;
}

int ibcc_bench_write(const char *file, int (*write)(void *arg, FILE *out), void *arg)
{
	int rc;

	if (!strcmp(file, "-"))
		return write(arg, stdout) || fflush(stdout) ? IBCC_EXIT_ERROR : IBCC_EXIT_OK;
	rc = ibcc_file_write(file, write, arg);
	if (rc)
		fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, file, strerror(-rc));
	return rc ? IBCC_EXIT_ERROR : IBCC_EXIT_OK;
}

int ibcc_bench_measure(const char *file, const struct ibcc_words *set, uint32_t samples,
		       struct ibcc_exp_run *run, struct ibcc_yaml_errors *e)
{
	double start = ibcc_now_cpu_s();
	uint64_t sample_ps;
	int rc;

	memset(run, 0, sizeof(*run));
	rc = ibcc_scenario_load_set(file, (const char *const *)set->w, set->n, &run->scenario, e);
	if (rc)
		return rc;
	sample_ps = samples ? run->scenario.duration_ps / samples : 0;
	rc = ibcc_measure_run(&run->scenario, sample_ps, &run->measure, NULL);
	if (rc) {
		/* The reader accepts nothing that the engine refuses, so only memory can be short.
		 */
		if (rc == -EDEADLK)
			ibcc_yaml_errors_add(e, file, 0, 0,
					     "%s. These outputs never send again, so there is no "
					     "result. Use routes without a circle: "
					     "topology.routes up-down with model.routing static",
					     run->measure.deadlock);
		else if (rc != -ENOMEM)
			ibcc_yaml_errors_add(e, file, 0, 0, "the simulation failed: %s",
					     strerror(-rc));
		ibcc_scenario_fini(&run->scenario);
	}
	run->cpu_s = ibcc_now_cpu_s() - start;
	return rc;
}

void ibcc_bench_measure_fini(struct ibcc_exp_run *run)
{
	ibcc_scenario_fini(&run->scenario);
	ibcc_measure_fini(&run->measure);
}
