/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/lab/osm_run.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include <ibcc/hex.h>
#include <ibcc/mad.h>
#include <ibcc/smp.h>

#include "perftest/bench/bench.h"
#include "perftest/lab/proc.h"

#define READY_MS     300000
#define SWEEP_MS     600000
#define END_MS       5000
#define MAX_CHILDREN 4  /* children of the simulator, which has one */
#define SEEN_TRIES   60 /* seconds for the simulator to see the last LIDs */

/* A temporary folder that has all files of a run. */
struct place {
	char dir[64], lab[PATH_MAX], sim[PATH_MAX], name[64];
};

static int place_init(struct place *p)
{
	int rc = ibcc_bench_beside("ibcc-sim", p->sim, sizeof(p->sim));

	if (!rc)
		rc = ibcc_bench_beside("ibcc-lab", p->lab, sizeof(p->lab));
	if (rc)
		return rc;
	snprintf(p->dir, sizeof(p->dir), "/tmp/ibcc-lab.XXXXXX");
	if (!mkdtemp(p->dir))
		return -errno;
	snprintf(p->name, sizeof(p->name), "%s", p->dir + strlen("/tmp/"));
	return 0;
}

/* Writes a file in the folder. */
static int put(const struct place *p, const char *file, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static int put(const struct place *p, const char *file, const char *fmt, ...)
{
	char path[128];
	va_list ap;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", p->dir, file);
	f = fopen(path, "we");
	if (!f)
		return -errno;
	va_start(ap, fmt);
	vfprintf(f, fmt, ap);
	va_end(ap);
	return fclose(f) ? -errno : 0;
}

static int start_sim(const struct place *p, const struct ibcc_osm_tree *t, struct ibcc_proc *sim)
{
	char scenario[128], log[128];
	const char *argv[] = { p->sim, "run", "--scenario", scenario, "--name", p->name, NULL };
	int rc;

	rc = put(p, "tree.yaml",
		 "name: tree\ntitle: a tree\nduration_ms: 100\n"
		 "topology:\n  tree: {ports: %u, levels: %u}\ntraffic: []\n",
		 t->m, t->n);
	snprintf(scenario, sizeof(scenario), "%s/tree.yaml", p->dir);
	snprintf(log, sizeof(log), "%s/sim.log", p->dir);
	if (!rc)
		rc = ibcc_proc_start(sim, "ibcc-sim", log, argv);
	return rc ? rc : ibcc_proc_wait_log(sim, log, "ready", READY_MS);
}

/* Sets where the simulator, its ibsim and what this process starts run, and whether they run before
 * all other programs.
 */
static void run_on(const struct ibcc_proc *sim, const cpu_set_t *cpus, bool first)
{
	const struct sched_param p = { .sched_priority = first };
	int pid[MAX_CHILDREN + 2] = { 0, sim->pid }, n = 2;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", sim->pid, sim->pid);
	f = fopen(path, "re");
	while (f && n < MAX_CHILDREN + 2 && fscanf(f, "%d", &pid[n]) == 1)
		n++;
	if (f)
		fclose(f);
	for (int i = 0; i < n; i++) {
		sched_setaffinity(pid[i], sizeof(*cpus), cpus);
		/* Only some users may do that, and it helps only if other programs run. */
		sched_setscheduler(pid[i], first ? SCHED_RR : SCHED_OTHER, &p);
	}
}

/* With -o opensm ends after its first sweep. */
static int sweep(const struct place *p, const struct ibcc_proc *sim)
{
	int cpu = sched_getcpu();
	cpu_set_t all, one;
	char conf[128], cache[128], tmp[128];
	const char *argv[] = { p->sim, "exec", "--name", p->name, "--", "env", "-C", p->dir,
			       cache,  tmp,    "opensm", "-o",    "-F", conf,  NULL };
	int rc;

	snprintf(conf, sizeof(conf), "%s/opensm.conf", p->dir);
	snprintf(cache, sizeof(cache), "OSM_CACHE_DIR=%s", p->dir);
	snprintf(tmp, sizeof(tmp), "OSM_TMP_DIR=%s", p->dir);
	rc = put(p, "opensm.conf",
		 "log_file %s/opensm.log\nper_module_logging_file %s/modules.conf\n"
		 "max_wire_smps 1\n",
		 p->dir, p->dir);
	/* The log says when routing begins. */
	if (!rc)
		rc = put(p, "modules.conf", "osm_ucast_mgr.c 0x07\n");
	if (rc)
		return rc;
	if (cpu >= 0 && sched_getaffinity(0, sizeof(all), &all))
		cpu = -1;
	CPU_ZERO(&one);
	if (cpu >= 0) {
		CPU_SET((size_t)cpu, &one);
		run_on(sim, &one, true);
	}
	free(ibcc_proc_output(argv, SWEEP_MS, &rc));
	if (cpu >= 0)
		run_on(sim, &all, false);
	return rc;
}

/* The output of a benchmark that runs on a host of the fabric. libumad2sim leaves files in its
 * working folder, so the benchmark runs in the temporary one.
 */
static json_t *ask_bench(const struct place *p, const char *command, const char *option)
{
	const char *argv[] = { p->sim, "exec", "--name", p->name, "--",   "env", "-C",
			       p->dir, p->lab, command,  "-j",    option, NULL };
	int rc;

	return ibcc_proc_json(argv, SWEEP_MS, &rc);
}

static json_int_t int_of(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static int measure_poll(const struct place *p, struct ibcc_osm_run *r)
{
	for (int i = 0; i < SEEN_TRIES; i++) {
		json_t *o = ask_bench(p, "poll", "--alone");
		const json_t *own = json_array_get(json_object_get(o, "pollers"), 0);

		r->poll_mads = (uint64_t)int_of(o, "mads");
		r->poll_s = json_real_value(json_object_get(own, "seconds"));
		if (own && int_of(o, "fresh") == int_of(o, "ports")) {
			json_decref(o);
			return 0;
		}
		json_decref(o);
		sleep(1);
	}
	return -ETIMEDOUT;
}

static int measure_push(const struct place *p, struct ibcc_osm_run *r)
{
	json_t *o = ask_bench(p, "push", NULL);
	const json_t *step = json_array_get(json_object_get(o, "steps"), 0);
	bool ok = step && json_is_true(json_object_get(o, "ok"));

	r->push_mads = (uint64_t)int_of(step, "mads");
	r->push_s = json_real_value(json_object_get(step, "seconds"));
	json_decref(o);
	return ok ? 0 : -EIO;
}

/* "Nov 21 03:11:24 850194 [...", seconds of the day. */
static bool line_time(const char *line, double *s)
{
	unsigned int h, m, sec, us;

	if (sscanf(line, "%*s %*u %u:%u:%u %u", &h, &m, &sec, &us) != 4)
		return false;
	*s = h * 3600.0 + m * 60.0 + sec + us / 1e6;
	return true;
}

static int read_times(const struct place *p, struct ibcc_osm_run *r)
{
	double from = -1, up = -1, route = -1, routed = -1;
	char path[128], *line = NULL;
	size_t cap = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/opensm.log", p->dir);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (getline(&line, &cap, f) > 0) {
		double s;

		if (!line_time(line, &s))
			continue;
		if (strstr(line, "Entering DISCOVERING"))
			from = s;
		else if (strstr(line, "building routing with"))
			route = s;
		else if (strstr(line, "tables configured on all switches"))
			routed = s;
		else if (strstr(line, "SUBNET UP"))
			up = s;
	}
	free(line);
	fclose(f);
	if (from < 0 || up < from || route < from || routed < route)
		return -EPROTO; /* also when midnight came in between */
	r->sweep_s = up - from;
	r->path_s = routed - route;
	return 0;
}

static enum ibcc_osm_smp kind_of(bool set, unsigned int attr)
{
	switch (attr) {
	case IBCC_SMP_ATTR_NODE_INFO: return set ? IBCC_OSM_OTHER : IBCC_OSM_GET_NODE_INFO;
	case IBCC_SMP_ATTR_NODE_DESC: return set ? IBCC_OSM_OTHER : IBCC_OSM_GET_NODE_DESC;
	case IBCC_SMP_ATTR_PORT_INFO: return set ? IBCC_OSM_SET_PORT_INFO : IBCC_OSM_GET_PORT_INFO;
	case IBCC_SMP_ATTR_SWITCH_INFO:
		return set ? IBCC_OSM_SET_SWITCH_INFO : IBCC_OSM_GET_SWITCH_INFO;
	case IBCC_SMP_ATTR_PKEY_TABLE: return set ? IBCC_OSM_OTHER : IBCC_OSM_GET_PKEY;
	case IBCC_SMP_ATTR_LFT: return set ? IBCC_OSM_SET_LFT : IBCC_OSM_OTHER;
	}
	return IBCC_OSM_OTHER;
}

static unsigned int hex_of(const json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));
	uint64_t v;

	return text && ibcc_hex_read_0x(text, &v) ? (unsigned int)v : 0;
}

static int read_counts(const struct place *p, struct ibcc_osm_run *r)
{
	const char *argv[] = { p->sim, "stats", "-j", "--name", p->name, NULL };
	const json_t *row;
	json_t *o;
	size_t i;
	int rc;

	o = ibcc_proc_json(argv, SWEEP_MS, &rc);
	if (!o)
		return -EIO;
	json_array_foreach (json_object_get(o, "rows"), i, row) {
		unsigned int mgmt_class = hex_of(row, "class"), method = hex_of(row, "method");

		if (mgmt_class == IBCC_MAD_CLASS_SMP || mgmt_class == IBCC_MAD_CLASS_SMP_DIRECT)
			r->count[kind_of(method == IBCC_MAD_SET, hex_of(row, "attr"))] +=
				(uint64_t)json_integer_value(json_object_get(row, "count"));
	}
	json_decref(o);
	return 0;
}

int ibcc_osm_run(const struct ibcc_osm_tree *t, bool mads, struct ibcc_osm_run *r, char *why,
		 size_t len)
{
	struct ibcc_proc sim = { .pid = 0 };
	struct place p = { .dir = "" };
	int rc;

	memset(r, 0, sizeof(*r));
	snprintf(why, len, "cannot make a temporary folder");
	rc = place_init(&p);
	if (rc)
		return rc;
	snprintf(why, len, "%s did not start", p.sim);
	rc = start_sim(&p, t, &sim);
	if (!rc) {
		snprintf(why, len, "opensm did not configure the tree in time");
		rc = sweep(&p, &sim);
	}
	if (!rc) {
		snprintf(why, len, "%s did not answer the request for its statistics", p.sim);
		rc = read_counts(&p, r);
	}
	if (!rc) {
		snprintf(why, len, "the log of opensm does not have all times of the sweep");
		rc = read_times(&p, r);
	}
	if (!rc && mads) {
		snprintf(why, len, "ibcc-lab poll did not read all ports");
		rc = measure_poll(&p, r);
	}
	if (!rc && mads) {
		snprintf(why, len, "ibcc-lab push did not set all nodes");
		rc = measure_push(&p, r);
	}
	ibcc_proc_stop(&sim, END_MS);
	ibcc_proc_remove(p.dir);
	return rc;
}
