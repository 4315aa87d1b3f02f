/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/bench/osm_run.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ibcc/mad.h>
#include <ibcc/smp.h>

#include "perftest/bench/proc.h"
#include "sim/control.h"

#define READY_MS 300000
#define SWEEP_MS 600000
#define END_MS   5000

/* A temporary folder that has all files of a run. */
struct place {
	char dir[64], sim[PATH_MAX], name[64];
};

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
	(void)st;
	(void)type;
	(void)f;
	return remove(path);
}

static int place_init(struct place *p)
{
	ssize_t n = readlink("/proc/self/exe", p->sim, sizeof(p->sim) - 10);
	char *slash;

	if (n < 0)
		return -errno;
	p->sim[n] = '\0';
	slash = strrchr(p->sim, '/');
	strcpy(slash ? slash + 1 : p->sim, "ibcc-sim");
	snprintf(p->dir, sizeof(p->dir), "/tmp/ibcc-bench.XXXXXX");
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

static int start_sim(const struct place *p, const struct ibcc_osm_tree *t, struct proc *sim)
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
		rc = proc_start(sim, "ibcc-sim", log, argv);
	return rc ? rc : proc_wait_log(sim, log, "ready", READY_MS);
}

/* With -o opensm ends after its first sweep. */
static int sweep(const struct place *p, unsigned int in_flight)
{
	char conf[128], cache[128], tmp[128];
	const char *argv[] = { p->sim, "exec",   "--name", p->name, "--", "env", cache,
			       tmp,    "opensm", "-o",     "-F",    conf, NULL };
	int rc;

	snprintf(conf, sizeof(conf), "%s/opensm.conf", p->dir);
	snprintf(cache, sizeof(cache), "OSM_CACHE_DIR=%s", p->dir);
	snprintf(tmp, sizeof(tmp), "OSM_TMP_DIR=%s", p->dir);
	rc = put(p, "opensm.conf", "log_file %s/opensm.log\nmax_wire_smps %u\n", p->dir, in_flight);
	if (!rc)
		free(proc_output(argv, SWEEP_MS, &rc));
	return rc;
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
	double from = -1, up = -1;
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
		else if (strstr(line, "SUBNET UP"))
			up = s;
	}
	free(line);
	fclose(f);
	if (from < 0 || up < from)
		return -EPROTO; /* midnight, too */
	r->sweep_s = up - from;
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

	return text ? (unsigned int)strtoul(text, NULL, 16) : 0;
}

static int read_counts(const struct place *p, struct ibcc_osm_run *r, char *why, size_t len)
{
	json_t *o = ibcc_control_ask(p->name, json_pack("{ss}", "cmd", "stats"), why, len);
	const json_t *row;
	size_t i;

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

int ibcc_osm_run(const struct ibcc_osm_tree *t, unsigned int in_flight, struct ibcc_osm_run *r,
		 char *why, size_t len)
{
	struct proc sim = { .pid = 0 };
	struct place p = { .dir = "" };
	int rc;

	memset(r, 0, sizeof(*r));
	snprintf(why, len, "no temporary folder");
	rc = place_init(&p);
	if (rc)
		return rc;
	snprintf(why, len, "%s does not get ready", p.sim);
	rc = start_sim(&p, t, &sim);
	if (!rc) {
		snprintf(why, len, "opensm does not bring the tree up");
		rc = sweep(&p, in_flight);
	}
	if (!rc)
		rc = read_counts(&p, r, why, len);
	if (!rc) {
		snprintf(why, len, "opensm's log tells no times");
		rc = read_times(&p, r);
	}
	proc_stop(&sim, END_MS);
	nftw(p.dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return rc;
}
