/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the daemon's work costs on a simulated fat tree (sizes.h). Begin with ibcc_size_measure(),
 * at the end.
 *
 * The congestion grows with the fabric: of each 216 hosts one is slow, and 24 others send to it.
 * Each fourth host sends to another one all the time, the senders, too, so that there are victims.
 * The first cycles come before the congestion, from which the prediction knows what hosts send.
 */
#include "perftest/lab/sizes.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <ibcc/json.h>
#include <ibcc/now.h>
#include <ibcc/proto.h>
#include <ibcc/state.h>

#include "daemon/tune/page/fabric_page.h"
#include "perftest/lab/fabric.h"

#define HOSTS_OF_ROOT 216u
#define SENDERS       24u
#define SPACING       4u  /* of hosts that send all the time */
#define QUIET         4u  /* cycles before the congestion */
#define WARM          14u /* cycles with it that do not count */
#define CYCLE_PS      (1000 * IBCC_PS_PER_US)

struct work {
	struct ibcc_lab_fabric fabric;
	struct ibcc_lab_daemon daemon;
	struct ibcc_size *out;
	uint32_t repeat, n; /* measurements so far */
	double ms[IBCC_SIZE_STEPS][IBCC_SIZE_REPEAT_MAX];
};

const char *ibcc_size_step_name(enum ibcc_size_step step)
{
	switch (step) {
	case IBCC_SIZE_TOPOLOGY: return "topology";
	case IBCC_SIZE_FIRST: return "first-cycle";
	case IBCC_SIZE_POLL: return "poll";
	case IBCC_SIZE_DECIDE: return "decide";
	case IBCC_SIZE_LOG: return "log";
	case IBCC_SIZE_METRICS: return "metrics";
	case IBCC_SIZE_STATUS: return "status";
	case IBCC_SIZE_PLAN: return "plan";
	case IBCC_SIZE_PREDICTION: return "prediction";
	case IBCC_SIZE_SHOW: return "show";
	case IBCC_SIZE_REPORT: return "report";
	case IBCC_SIZE_PAGE: return "page";
	case IBCC_SIZE_HISTORY: return "history";
	case IBCC_SIZE_STEPS: break;
	}
	return "";
}

struct plan {
	const struct ibcc_size_tree *tree;
	uint32_t n_hosts, roots;
	uint32_t senders; /* to each */
};

/* The k-th sender to a slow host: a host that sends all the time, far from the others. */
static uint32_t sender(const struct plan *p, uint32_t root, uint32_t k)
{
	uint32_t most = p->n_hosts / SPACING, step = most / (p->roots * p->senders);

	return (k * p->roots + root) * step * SPACING;
}

static int write_scenario(void *arg, FILE *out)
{
	const struct plan *p = arg;

	fprintf(out,
		"name: sizes\nduration_ms: 1000\n"
		"topology: {rate: 4x QDR, mtu_bytes: 2048, tree: {ports: %u, levels: %u}}\n"
		"traffic:\n",
		p->tree->ports, p->tree->levels);
	for (uint32_t i = 0; i < p->n_hosts; i += SPACING)
		fprintf(out,
			"  - {from: h%u, to: h%u, kind: victim, rate: 400 Mb/s, "
			"arrivals: periodic}\n",
			i, (i + p->n_hosts / 2 + 2) % p->n_hosts);
	for (uint32_t r = 0; r < p->roots; r++) {
		fprintf(out,
			"  - {name: hot%u, kind: hot, rate: 1 Gb/s, queue_packets: 200, "
			"start_ms: %u, to: h%u, from: [",
			r, QUIET, r * HOSTS_OF_ROOT + 1);
		for (uint32_t k = 0; k < p->senders; k++)
			fprintf(out, "%sh%u", k ? ", " : "", sender(p, r, k));
		fprintf(out, "]}\n");
	}
	fprintf(out, "events:\n");
	for (uint32_t r = 0; r < p->roots; r++)
		fprintf(out, "  - {sink: h%u, at_ms: 0.5, rate: 16 Gb/s}\n", r * HOSTS_OF_ROOT + 1);
	return ferror(out) ? -EIO : 0;
}

static uint32_t hosts_of(const struct ibcc_size_tree *tree)
{
	uint32_t n = tree->ports;

	for (uint32_t i = 1; i < tree->levels; i++)
		n *= tree->ports / 2;
	return n;
}

static double ms_since(uint64_t from_ns)
{
	return (double)(ibcc_now_cpu_ns() - from_ns) / 1e6;
}

static void note(struct work *w, enum ibcc_size_step step, double ms)
{
	w->ms[step][w->n] = ms;
}

/* Frees the text, or returns -ENOMEM without one. */
static int note_text(struct work *w, enum ibcc_size_step step, char *text)
{
	w->out->step[step].bytes = text ? strlen(text) : 0;
	free(text);
	return text ? 0 : -ENOMEM;
}

/* Also takes `o` over. */
static int note_json(struct work *w, enum ibcc_size_step step, uint64_t from_ns, json_t *o)
{
	char *text = o ? ibcc_json_dump(o) : NULL;

	json_decref(o);
	note(w, step, ms_since(from_ns));
	return note_text(w, step, text);
}

/* The topology by the plugin's messages; the time of receiving them goes to *ns. */
static struct ibcc_topo *receive(const struct ibcc_topo *from, uint64_t *ns, int *rc)
{
	struct ibcc_proto_topo *p = ibcc_proto_topo_new();
	void *buf = malloc(IBCC_PROTO_MAX_BYTES);
	struct ibcc_topo *t = NULL;
	uint64_t then;

	*rc = p && buf ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < from->n_nodes && !*rc; i++) {
		int64_t len = ibcc_proto_node_encode(from, i, buf);

		then = ibcc_now_cpu_ns();
		*rc = len < 0 ? (int)len : ibcc_proto_topo_add(p, buf, (size_t)len);
		*ns += ibcc_now_cpu_ns() - then;
	}
	free(buf);
	then = ibcc_now_cpu_ns();
	if (*rc)
		ibcc_proto_topo_free(p);
	else
		t = ibcc_proto_topo_finish(p, 1, rc);
	*ns += ibcc_now_cpu_ns() - then;
	return t;
}

/* Opens a daemon as with a topology from the plugin. */
static int open_daemon(struct work *w)
{
	uint64_t ns = 0, from;
	int rc;
	struct ibcc_topo *t = receive(w->fabric.sc.topo, &ns, &rc);

	if (!t)
		return rc;
	from = ibcc_now_cpu_ns();
	ibcc_topo_leave_planes(t);
	rc = ibcc_topo_find_virtual(t);
	if (!rc)
		rc = ibcc_topo_find_gaps(t);
	if (!rc)
		rc = ibcc_topo_label(t, NULL, NULL);
	if (rc)
		ibcc_topo_free(t);
	else
		rc = ibcc_lab_daemon_open(&w->daemon, &w->fabric, t, "state.db", "");
	note(w, IBCC_SIZE_TOPOLOGY, (double)ns / 1e6 + ms_since(from));
	return rc;
}

static int fail(const char *what, int rc, const struct ibcc_why *why)
{
	if (rc)
		fprintf(stderr, "%s: sizes: %s: %s\n", program_invocation_short_name, what,
			why->text);
	return rc;
}

static uint64_t sent(const struct work *w)
{
	return w->daemon.transport->stats.sent;
}

static int poll(struct work *w, enum ibcc_size_step step)
{
	struct ibcc_lab_daemon *d = &w->daemon;
	uint64_t before = sent(w), from;
	struct ibcc_why why = { "" };
	const struct ibcc_cycle *c;
	double ms, decide_ms;
	int rc = ibcc_engine_run(w->fabric.engine, ibcc_engine_now_ps(w->fabric.engine) + CYCLE_PS);

	from = ibcc_now_cpu_ns();
	if (!rc)
		rc = fail("polling cycle", ibcc_service_pass(d->service, NULL, &why), &why);
	ms = ms_since(from);
	c = ibcc_service_cycle(d->service);
	if (rc)
		return rc;
	decide_ms = c->decided ? (double)c->decide_ns / 1e6 : 0;
	note(w, step, ms - decide_ms);
	note(w, IBCC_SIZE_DECIDE, decide_ms);
	w->out->step[step].mads = sent(w) - before;
	from = ibcc_now_cpu_ns();
	ibcc_explain_pass(d->explain, d->service, 0, &why);
	note(w, IBCC_SIZE_LOG, ms_since(from));
	ibcc_metrics_count(&d->totals, c, 0);
	return 0;
}

static int scrape(struct work *w)
{
	static const struct ibcc_metrics_now now = { .state = "ok" };
	struct ibcc_lab_daemon *d = &w->daemon;
	struct ibcc_metrics_service facts;
	uint64_t from = ibcc_now_cpu_ns();
	struct ibcc_metrics *m;
	size_t len = 0;
	char *text;

	ibcc_service_metrics(d->service, &facts);
	m = ibcc_metrics_new(ibcc_service_cycle(d->service), &facts, &d->totals);
	text = m ? ibcc_metrics_text(m, &now, &len) : NULL;
	ibcc_metrics_free(m);
	note(w, IBCC_SIZE_METRICS, ms_since(from));
	return note_text(w, IBCC_SIZE_METRICS, text);
}

static int plan(struct work *w)
{
	struct ibcc_why why = { "" };
	uint64_t from = ibcc_now_cpu_ns();
	json_t *o = NULL;
	int rc = fail("plan", ibcc_service_plan(w->daemon.service, true, &o, &why), &why);

	return rc ? rc : note_json(w, IBCC_SIZE_PLAN, from, o);
}

static int show(struct work *w)
{
	struct ibcc_why why = { "" };
	uint64_t from = ibcc_now_cpu_ns(), before = sent(w);
	json_t *o = NULL;
	int rc = fail("show", ibcc_service_show(w->daemon.service, NULL, &o, &why), &why);

	w->out->step[IBCC_SIZE_SHOW].mads = sent(w) - before;
	return rc ? rc : note_json(w, IBCC_SIZE_SHOW, from, o);
}

/* The client makes a page of the answer. */
static int page(struct work *w, const char *answer)
{
	uint64_t from = ibcc_now_cpu_ns();
	json_t *o = json_loads(answer, 0, NULL);
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (o && f)
		ibcc_fabric_page(f, o);
	if (f)
		fclose(f);
	json_decref(o);
	note(w, IBCC_SIZE_PAGE, ms_since(from));
	if (o && f)
		return note_text(w, IBCC_SIZE_PAGE, text);
	free(text);
	return -ENOMEM;
}

static int report(struct work *w)
{
	struct ibcc_why why = { "" };
	uint64_t from = ibcc_now_cpu_ns();
	char *text = NULL;
	json_t *o = NULL;
	int rc = fail("report", ibcc_service_report(w->daemon.service, &o, &why), &why);

	if (!rc)
		text = ibcc_json_dump(o);
	json_decref(o);
	note(w, IBCC_SIZE_REPORT, ms_since(from));
	if (!rc)
		rc = text ? page(w, text) : -ENOMEM;
	return rc ? rc : note_text(w, IBCC_SIZE_REPORT, text);
}

/* Stores the plan as if all of it had been written, and reads that. */
static int store(struct work *w, struct ibcc_state *s, const struct ibcc_cycle *c)
{
	const struct ibcc_txn txn = {
		.who = "ibcc-lab", .action = "apply", .via = "direct", .summary = "measured"
	};
	uint64_t from = ibcc_now_cpu_ns();
	struct ibcc_why why = { "" };
	struct ibcc_result r;
	int64_t id = 0;
	json_t *o = NULL;
	int rc = ibcc_result_init(&r, c->plan.n);

	for (uint32_t i = 0; i < r.n; i++)
		r.change[i].outcome = IBCC_OUTCOME_VERIFIED;
	r.n_verified = r.set_mads = r.n;
	if (!rc)
		rc = ibcc_state_begin(s, &txn, &c->plan, c->topo, &id, &why);
	if (!rc)
		rc = ibcc_state_end(s, id, &r, 0, "", &why);
	if (!rc)
		o = ibcc_state_transaction(s, id, &rc);
	ibcc_result_fini(&r);
	return rc ? fail("history", rc, &why) : note_json(w, IBCC_SIZE_HISTORY, from, o);
}

static int history(struct work *w)
{
	char path[IBCC_LAB_PATH_ROOM];
	struct ibcc_why why = { "" };
	struct ibcc_state *s = NULL;
	int rc = ibcc_lab_fabric_file(&w->fabric, "history.db", path, sizeof(path));

	if (!rc) {
		s = ibcc_state_open(path, &rc, &why);
		rc = s ? 0 : fail("history", rc, &why);
	}
	for (w->n = 0; w->n < w->repeat && !rc; w->n++)
		rc = store(w, s, ibcc_service_cycle(w->daemon.service));
	ibcc_state_close(s);
	return rc;
}

static void done(void *arg)
{
	(void)arg; /* ibcc_service_predicted() waits */
}

static int predict(struct work *w)
{
	uint64_t from = ibcc_now_of_ns(CLOCK_PROCESS_CPUTIME_ID);
	struct ibcc_why why = { "" };
	json_t *o = NULL, *p;
	int rc = ibcc_service_predict(w->daemon.service, done, NULL);

	if (rc && rc != -EINPROGRESS)
		return rc;
	rc = rc ? ibcc_service_predicted(w->daemon.service, false, &o, &why) : 0;
	w->out->step[IBCC_SIZE_PREDICTION].cpu_ms =
		(double)(ibcc_now_of_ns(CLOCK_PROCESS_CPUTIME_ID) - from) / 1e6;
	p = json_object_get(o, "prediction");
	w->out->predicted = json_is_true(json_object_get(p, "known"));
	snprintf(w->out->why_not, sizeof(w->out->why_not), "%s",
		 json_is_string(json_object_get(p, "why"))
			 ? json_string_value(json_object_get(p, "why"))
			 : "");
	json_decref(o);
	return fail("prediction", rc, &why);
}

static int cycles(struct work *w)
{
	int rc = poll(w, IBCC_SIZE_FIRST);

	w->out->step[IBCC_SIZE_FIRST].cpu_ms = w->ms[IBCC_SIZE_FIRST][0];
	for (uint32_t i = 1; i < QUIET + WARM && !rc; i++)
		rc = poll(w, IBCC_SIZE_POLL);
	for (w->n = 0; w->n < w->repeat && !rc; w->n++) {
		json_t *o;
		uint64_t from;

		rc = poll(w, IBCC_SIZE_POLL);
		if (!rc && !ibcc_service_cycle(w->daemon.service)->decided)
			rc = -ENODATA;
		if (!rc)
			rc = scrape(w);
		if (rc)
			break;
		from = ibcc_now_cpu_ns();
		o = ibcc_service_status(w->daemon.service);
		rc = note_json(w, IBCC_SIZE_STATUS, from, o);
		if (!rc)
			rc = plan(w);
	}
	return rc;
}

static void look(struct work *w)
{
	const struct ibcc_cycle *c = ibcc_service_cycle(w->daemon.service);
	const struct ibcc_topo *t = c->topo;
	struct ibcc_size *o = w->out;

	for (uint32_t i = 0; i < t->n_nodes; i++) {
		if (ibcc_topo_is_switch(t, i))
			o->switches++;
		else
			o->hosts++;
		o->routes += t->node[i].lft_len;
	}
	for (uint32_t i = 0; i < t->n_ports; i++)
		o->links += t->port[i].peer != IBCC_NONE && t->port[i].peer > i;
	o->roots = c->estimate.n_roots;
	o->changes = c->plan.n;
}

static int by_ms(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void take_medians(struct work *w)
{
	for (int k = 0; k < IBCC_SIZE_STEPS; k++) {
		if (k == IBCC_SIZE_FIRST || k == IBCC_SIZE_PREDICTION)
			continue;
		qsort(w->ms[k], w->repeat, sizeof(w->ms[k][0]), by_ms);
		w->out->step[k].cpu_ms = w->ms[k][w->repeat / 2];
	}
}

static int measure(struct work *w, const struct ibcc_size_tree *tree, struct ibcc_yaml_errors *e)
{
	struct plan p = { tree, hosts_of(tree), 1, SENDERS };
	double before;
	int rc;

	if (p.n_hosts >= 2 * HOSTS_OF_ROOT)
		p.roots = p.n_hosts / HOSTS_OF_ROOT;
	if (p.n_hosts / SPACING < SENDERS)
		p.senders = p.n_hosts / SPACING;
	rc = ibcc_lab_fabric_open(&w->fabric, write_scenario, &p, e);
	before = ibcc_lab_heap_mib();
	for (w->n = 0; w->n < w->repeat && !rc; w->n++) {
		ibcc_lab_daemon_close(&w->daemon);
		rc = open_daemon(w);
	}
	w->n = 0;
	if (!rc)
		rc = cycles(w);
	if (!rc) {
		look(w);
		rc = predict(w);
	}
	for (w->n = 0; w->n < w->repeat && !rc; w->n++) {
		rc = show(w);
		if (!rc)
			rc = report(w);
	}
	if (!rc)
		rc = history(w);
	w->out->daemon_mib = ibcc_lab_heap_mib() - before;
	return rc;
}

int ibcc_size_measure(const struct ibcc_size_tree *tree, uint32_t repeat, struct ibcc_size *out,
		      struct ibcc_yaml_errors *e)
{
	struct work *w = calloc(1, sizeof(*w));
	struct rusage u;
	int rc;

	if (!w)
		return -ENOMEM;
	*out = (struct ibcc_size){ .hosts = 0 };
	w->out = out;
	w->repeat = repeat;
	rc = measure(w, tree, e);
	take_medians(w);
	ibcc_lab_daemon_close(&w->daemon);
	ibcc_lab_fabric_close(&w->fabric);
	free(w);
	getrusage(RUSAGE_SELF, &u);
	out->process_mib = (double)u.ru_maxrss / 1024;
	return rc;
}
