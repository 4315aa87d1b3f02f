/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include <ibcc/cct.h>
#include <ibcc/command.h>
#include <ibcc/scenario_file.h>

#include "perftest/lab/demo_system.h"

#define ANSWER_MS 10000
#define START_MS  30000
#define STOP_MS   10000

static int complain(const char *what, int err)
{
	ibcc_command_say("demo: %s: %s", what, strerror(-err));
	return err;
}

/* Prints the last line of the output of a program that has ended too early. Returns `err`. */
static int complain_of(const struct ibcc_proc *p, const char *what, int err)
{
	char line[512], last[512] = "";
	FILE *f = fopen(p->log, "r");

	while (f && fgets(line, sizeof(line), f))
		if (strcspn(line, "\n"))
			snprintf(last, sizeof(last), "%.*s", (int)strcspn(line, "\n"), line);
	if (f)
		fclose(f);
	ibcc_command_say("demo: %s: %s %s; the last line of its output, in %s: %s", what, p->name,
			 err == -ESRCH ? "has ended" : strerror(-err), p->log,
			 *last ? last : "nothing");
	return err;
}

/* Path of one of our programs, valid until the next four calls. */
static const char *program(const struct demo_system *s, const char *name)
{
	static char path[4][512];
	static unsigned int turn;
	char *p = path[turn++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", s->build, name);
	return p;
}

static char *file(char *buf, size_t len, const char *dir, const char *name)
{
	snprintf(buf, len, "%s/%s", dir, name);
	return buf;
}

/* What the slow receiver can take, from the scenario: its drain rate counts payload. */
static int read_scenario(struct demo_system *s)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_scenario sc;
	uint32_t i;
	int ret;

	ret = ibcc_scenario_load(s->scenario, &sc, &e);
	if (ret) {
		fputs(e.text ? e.text : "", stderr);
		ibcc_yaml_errors_fini(&e);
		return complain(s->scenario, ret);
	}
	for (i = 0; i < sc.n_events; i++)
		if (sc.event[i].kind == IBCC_EVENT_SINK_RATE)
			s->sink_MBps = sc.event[i].value / 8.0;
	ibcc_scenario_fini(&sc);
	return s->sink_MBps > 0 ? 0 : complain("the scenario has no slow receiver", -EINVAL);
}

static int write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f)
		return -errno;
	fputs(text, f);
	return fclose(f) ? -errno : 0;
}

static int start_sim(struct demo_system *s)
{
	char speed[32], log[512];
	const char *argv[] = { program(s, "ibcc-sim"),
			       "run",
			       "--scenario",
			       s->scenario,
			       "--name",
			       s->name,
			       "--speed",
			       speed,
			       NULL };
	int ret;

	snprintf(speed, sizeof(speed), "%g", s->speed);
	ret = ibcc_proc_start(&s->sim, "ibcc-sim", file(log, sizeof(log), s->out, "ibcc-sim.log"),
			      argv);
	if (!ret)
		ret = ibcc_proc_wait_log(&s->sim, log, "ready ", START_MS);
	return ret ? complain_of(&s->sim, "the simulated fabric did not start", ret) : 0;
}

static int start_opensm(struct demo_system *s)
{
	char conf[128], osm_log[512], log[512], text[1024], path[128];
	const char *argv[] = { program(s, "ibcc-sim"),
			       "exec",
			       "--name",
			       s->name,
			       "--",
			       "opensm",
			       "-F",
			       conf,
			       "-f",
			       osm_log,
			       NULL };
	char *build = realpath(s->build, NULL);
	int ret;

	if (!build)
		return complain(s->build, -errno);
	setenv("LD_LIBRARY_PATH", build, 1);
	free(build);
	setenv("OSM_CACHE_DIR", s->dir, 1);
	setenv("OSM_TMP_DIR", s->dir, 1);
	file(conf, sizeof(conf), s->dir, "opensm.conf");
	file(osm_log, sizeof(osm_log), s->out, "opensm.log");
	snprintf(text, sizeof(text),
		 "force_log_flush TRUE\nevent_plugin_name ibcc_opensm\nevent_plugin_options "
		 "ibcc.socket=%s\n",
		 file(path, sizeof(path), s->dir, "opensm.sock"));
	ret = write_text(conf, text);
	unlink(osm_log);
	if (!ret)
		ret = ibcc_proc_start(&s->opensm, "opensm",
				      file(log, sizeof(log), s->out, "opensm.out"), argv);
	if (!ret)
		ret = ibcc_proc_wait_log(&s->opensm, osm_log, "SUBNET UP", START_MS);
	return ret ? complain_of(&s->opensm, "the subnet manager did not start", ret) : 0;
}

int ibcc_demo_start(struct demo_system *s)
{
	int ret = read_scenario(s);

	if (ret)
		return ret;
	snprintf(s->name, sizeof(s->name), "ibcc-demo-%d", (int)getpid());
	snprintf(s->dir, sizeof(s->dir), "/tmp/ibcc-demo-XXXXXX");
	if (!mkdtemp(s->dir)) {
		s->dir[0] = '\0';
		return complain("cannot make a folder in /tmp", -errno);
	}
	ret = start_sim(s);
	return ret ? ret : start_opensm(s);
}

static json_t *ask(const struct demo_system *s, const char *what, int *err)
{
	const char *argv[] = { program(s, "ibcc-sim"), what, "-j", "--name", s->name, NULL };

	return ibcc_proc_json(argv, ANSWER_MS, err);
}

static double number(const json_t *j, const char *key)
{
	return json_number_value(json_object_get(j, key));
}

static int read_flows(const struct demo_system *s, struct totals *t)
{
	int err = 0;
	json_t *j = ask(s, "flows", &err), *f;
	size_t i;

	if (!j)
		return complain("ibcc-sim flows failed", err);
	*t = (struct totals){ .t_ms = number(j, "engine_ns") / 1e6 };
	json_array_foreach (json_object_get(j, "rows"), i, f) {
		const char *kind = json_string_value(json_object_get(f, "kind"));

		if (kind && !strcmp(kind, "hot"))
			t->hot_bytes += number(f, "received_bytes");
		else if (kind && !strcmp(kind, "victim"))
			t->victim_bytes += number(f, "received_bytes");
		t->fecn += number(f, "fecn");
	}
	json_decref(j);
	return 0;
}

/* Finds the strongest values of all nodes, which the plots show. */
static void strongest(const json_t *row, struct sample *sample)
{
	const json_t *sw = json_object_get(row, "switch"), *ca = json_object_get(row, "ca"), *v;
	const json_t *table = json_object_get(ca, "cct");
	double own = number(sw, "Threshold");
	size_t i;

	sample->threshold = fmax(sample->threshold, own);
	json_array_foreach (json_object_get(sw, "ports"), i, v) {
		double t = number(v, "Threshold");

		sample->threshold = fmax(sample->threshold, t);
		sample->marking_ports += t > 0;
	}
	json_array_foreach (json_object_get(ca, "sl"), i, v) {
		sample->ccti_timer_us =
			fmax(sample->ccti_timer_us, number(v, "CCTI_Timer") * 1.024);
		sample->ccti_increase = fmax(sample->ccti_increase, number(v, "CCTI_Increase"));
	}
	json_array_foreach (table, i, v)
		sample->last_delay =
			fmax(sample->last_delay,
			     ibcc_cct_entry_delay_milli((uint16_t)json_integer_value(v)) / 1e3);
}

static int read_settings(const struct demo_system *s, struct sample *sample)
{
	int err = 0;
	json_t *j = ask(s, "settings", &err), *row;
	size_t i;

	if (!j)
		return complain("ibcc-sim settings failed", err);
	json_array_foreach (json_object_get(j, "rows"), i, row)
		strongest(row, sample);
	json_decref(j);
	return 0;
}

int ibcc_demo_sample(struct demo_system *s, struct sample *sample, struct totals *t)
{
	double dt_ms;
	int ret;

	if (!ibcc_proc_alive(&s->sim) || !ibcc_proc_alive(&s->opensm))
		return complain("ibcc-sim, opensm or ibcc-tuned ended too early; see their logs",
				-ESRCH);
	ret = read_flows(s, t);
	if (ret)
		return ret;
	memset(sample, 0, sizeof(*sample));
	dt_ms = t->t_ms - s->last.t_ms;
	sample->t_ms = t->t_ms;
	if (dt_ms > 0) {
		sample->hot_MBps = (t->hot_bytes - s->last.hot_bytes) / dt_ms / 1e3;
		sample->victim_MBps = (t->victim_bytes - s->last.victim_bytes) / dt_ms / 1e3;
		sample->fecn_per_ms = (t->fecn - s->last.fecn) / dt_ms;
	}
	s->last = *t;
	return read_settings(s, sample);
}

void ibcc_demo_rate(const struct demo_system *s, const struct totals *from, const struct totals *to,
		    struct phase *p)
{
	double ms = to->t_ms - from->t_ms;

	p->congested_MBps = (to->hot_bytes - from->hot_bytes) / ms / 1e3;
	p->victim_MBps = (to->victim_bytes - from->victim_bytes) / ms / 1e3;
	p->aggregate_MBps = p->congested_MBps + p->victim_MBps;
	p->sink_utilisation = p->congested_MBps / s->sink_MBps;
}

int ibcc_demo_tune(struct demo_system *s, double *engine_ms)
{
	char conf[128], control[128], plugin[128], state[128], log[512], text[1024];
	const char *argv[] = { program(s, "ibcc-sim"),   "exec",     "--name", s->name, "--",
			       program(s, "ibcc-tuned"), "--config", conf,     NULL };
	int ret;

	*engine_ms = s->last.t_ms;
	snprintf(text, sizeof(text),
		 "mode: apply\ninterval_ms: 500\nnode_gap_us: 200\nplugin_socket: "
		 "%s\ncontrol_socket: %s\n"
		 "state_file: %s\nuser: root\nlog: {target: stderr, level: notice}\n",
		 file(plugin, sizeof(plugin), s->dir, "opensm.sock"),
		 file(control, sizeof(control), s->dir, "control.sock"),
		 file(state, sizeof(state), s->dir, "state.db"));
	ret = write_text(file(conf, sizeof(conf), s->dir, "ibcc-tuned.yaml"), text);
	if (!ret)
		ret = ibcc_proc_start(&s->tuned, "ibcc-tuned",
				      file(log, sizeof(log), s->out, "ibcc-tuned.log"), argv);
	return ret ? complain("ibcc-tuned did not start", ret) : 0;
}

static char *read_file(const char *path)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = fopen(path, "r");

	if (f) {
		if (getdelim(&text, &len, '\0', f) < 0) {
			free(text);
			text = NULL;
		}
		fclose(f);
	}
	return text;
}

/* Removes the journal's level, such as "<5>", from the beginning of a log's lines. */
static void drop_levels(char *text)
{
	char *to = text;

	for (const char *from = text; from && *from;) {
		size_t len = strcspn(from, "\n");

		if (from[0] == '<' && isdigit((unsigned char)from[1]) && from[2] == '>') {
			from += 3;
			len -= 3;
		}
		len += from[len] == '\n';
		memmove(to, from, len);
		to += len;
		from += len;
	}
	if (to)
		*to = '\0';
}

/* Set MADs of the Congestion Control class, by the simulator's own count. */
static unsigned long long count_sets(const json_t *stats)
{
	unsigned long long n = 0;
	const json_t *row;
	size_t i;

	json_array_foreach (json_object_get(stats, "rows"), i, row) {
		const char *class = json_string_value(json_object_get(row, "class"));
		const char *method = json_string_value(json_object_get(row, "method"));

		if (class && method && !strcmp(class, "0x21") && !strcmp(method, "0x02"))
			n += (unsigned long long)number(row, "count");
	}
	return n;
}

int ibcc_demo_words(struct demo_system *s, struct demo *d)
{
	char conf[128];
	const char *argv[] = { program(s, "ibcc-sim"),
			       "exec",
			       "--name",
			       s->name,
			       "--",
			       program(s, "ibcc-tune"),
			       "-z",
			       conf,
			       "report",
			       "-j",
			       NULL };
	json_t *j;
	int err = 0;

	if (!ibcc_proc_alive(&s->tuned))
		return complain("ibcc-tuned ended too early; see its log", -ESRCH);
	file(conf, sizeof(conf), s->dir, "ibcc-tuned.yaml");
	d->report = ibcc_proc_json(argv, ANSWER_MS, &err);
	if (!d->report)
		return complain("ibcc-tune report failed", err);
	d->decisions = read_file(s->tuned.log);
	drop_levels(d->decisions);
	j = ask(s, "stats", &err);
	if (!j)
		return complain("ibcc-sim stats failed", err);
	d->set_mads = count_sets(j);
	json_decref(j);
	return 0;
}

int ibcc_demo_stop(struct demo_system *s)
{
	struct ibcc_proc *const order[] = { &s->tuned, &s->opensm, &s->sim };
	int ret = 0;
	size_t i;

	for (i = 0; i < sizeof(order) / sizeof(*order); i++)
		if (ibcc_proc_stop(order[i], STOP_MS)) {
			ibcc_command_say("demo: %s did not stop, so the demo killed it",
					 order[i]->name);
			ret = -ETIMEDOUT;
		}
	return ret;
}

void ibcc_demo_free(struct demo_system *s)
{
	if (s->dir[0])
		ibcc_proc_remove(s->dir);
	s->dir[0] = '\0';
}
