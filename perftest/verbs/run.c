/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/verbs/run.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <ibcc/now.h>
#include <ibcc/text.h>

#define GRACE_MS    20000 /* time beyond the end, for messages under way and the results */
#define SAMPLES_MAX 20000u

struct run {
	struct ibcc_perf_hosts *hosts;
	struct ibcc_perf_result *r;
	struct ibcc_why *e;
	ibcc_perf_live_fn *live;
	void *arg;
	uint32_t shown;
	bool stopped; /* all hosts have finished, and each got the stop request */
	uint64_t window_ns;
};

void ibcc_perf_result_fini(struct ibcc_perf_result *r)
{
	free(r->flow);
	free(r->sample_ns);
	free(r->sample_bytes);
	json_decref(r->counters);
	memset(r, 0, sizeof(*r));
}

double ibcc_perf_flow_mbps(const struct ibcc_perf_result *r, uint32_t flow)
{
	return r->window_s > 0 ? (double)r->flow[flow].measured_bytes * 8e-6 / r->window_s : NAN;
}

double ibcc_perf_kind_mbps(const struct ibcc_scenario *s, const struct ibcc_perf_result *r,
			   enum ibcc_flow_kind kind)
{
	double sum = 0;

	for (uint32_t i = 0; i < s->n_flows; i++)
		if (s->flow[i].kind == kind)
			sum += ibcc_perf_flow_mbps(r, i);
	return sum;
}

double ibcc_perf_sample_mbps(const struct ibcc_perf_result *r, uint32_t sample, uint32_t flow)
{
	size_t at = (size_t)sample * r->n_flows + flow;
	uint64_t t0 = sample ? r->sample_ns[at - r->n_flows] : 0;
	uint64_t b0 = sample ? r->sample_bytes[at - r->n_flows] : 0;

	if (r->sample_ns[at] <= t0 || r->sample_bytes[at] < b0)
		return NAN;
	return (double)(r->sample_bytes[at] - b0) * 8e3 / (double)(r->sample_ns[at] - t0);
}

static int room_for(struct ibcc_perf_result *r, uint32_t sample)
{
	uint32_t cap = r->cap_samples ? 2 * r->cap_samples : 16;
	size_t n = r->n_flows ? r->n_flows : 1;
	uint64_t *t, *b;

	if (sample < r->cap_samples)
		return 0;
	t = reallocarray(r->sample_ns, cap * n, sizeof(*t));
	if (t)
		r->sample_ns = t;
	b = reallocarray(r->sample_bytes, cap * n, sizeof(*b));
	if (b)
		r->sample_bytes = b;
	if (!t || !b)
		return -ENOMEM;
	memset(t + r->cap_samples * n, 0, (cap - r->cap_samples) * n * sizeof(*t));
	memset(b + r->cap_samples * n, 0, (cap - r->cap_samples) * n * sizeof(*b));
	r->cap_samples = cap;
	return 0;
}

/* Shows the samples that all sending hosts have reported. */
static void show(struct run *run)
{
	uint32_t least = UINT32_MAX, i;

	for (i = 0; i < run->hosts->n_hosts; i++)
		if (run->hosts->host[i].sends && run->hosts->host[i].reports < least)
			least = run->hosts->host[i].reports;
	if (least == UINT32_MAX)
		return;
	run->r->n_samples = least;
	for (; run->shown < least; run->shown++)
		if (run->live)
			run->live(run->arg, run->r, run->shown);
}

static int take_report(struct run *run, struct ibcc_perf_host *m, const json_t *o)
{
	struct ibcc_perf_result *r = run->r;
	json_int_t t, id, bytes, messages;
	json_t *flows, *item;
	size_t i;

	if (json_unpack((json_t *)o, "{sI so}", "t_ns", &t, "flows", &flows) || t < 0)
		return -EPROTO;
	if (m->reports >= SAMPLES_MAX)
		return 0;
	if (room_for(r, m->reports))
		return -ENOMEM;
	json_array_foreach (flows, i, item) {
		size_t at = (size_t)m->reports * r->n_flows;

		if (json_unpack(item, "[I,I,I]", &id, &bytes, &messages) || id < 0 ||
		    id >= r->n_flows || bytes < 0)
			return -EPROTO;
		r->sample_ns[at + (size_t)id] = (uint64_t)t;
		r->sample_bytes[at + (size_t)id] = (uint64_t)bytes;
	}
	m->reports++;
	show(run);
	return 0;
}

static int take_flow(struct ibcc_perf_result *r, json_t *o)
{
	json_int_t id, messages, measured, bytes, due, missed;
	struct ibcc_perf_flow_result *f;
	json_t *latency;

	if (json_unpack(o, "{sI sI sI sI sI sI so}", "id", &id, "messages", &messages,
			"measured_messages", &measured, "measured_bytes", &bytes, "due", &due,
			"missed", &missed, "latency", &latency) ||
	    id < 0 || id >= r->n_flows || messages < 0 || measured < 0 || bytes < 0 || due < 0 ||
	    missed < 0)
		return -EPROTO;
	f = &r->flow[id];
	f->messages = (uint64_t)messages;
	f->measured_messages = (uint64_t)measured;
	f->measured_bytes = (uint64_t)bytes;
	f->due = (uint64_t)due;
	f->missed = (uint64_t)missed;
	return ibcc_perf_hist_read(&f->latency, latency);
}

static int take_qp(struct ibcc_perf_result *r, json_t *o)
{
	json_int_t id, received, verified, bad;

	if (json_unpack(o, "{sI sI sI sI}", "id", &id, "received", &received, "verified", &verified,
			"bad", &bad) ||
	    id < 0 || id >= r->n_flows || received < 0 || verified < 0 || bad < 0)
		return -EPROTO;
	r->flow[id].received += (uint64_t)received;
	r->flow[id].verified += (uint64_t)verified;
	r->flow[id].bad += (uint64_t)bad;
	return 0;
}

static int take_results(struct run *run, struct ibcc_perf_host *m, json_t *o)
{
	json_t *flows, *ends, *counters = NULL, *item;
	json_int_t from, to;
	int rc = 0;
	size_t i;

	if (json_unpack(o, "{sI sI so so s?o}", "from_ns", &from, "to_ns", &to, "flows", &flows,
			"ends", &ends, "counters", &counters))
		return -EPROTO;
	json_array_foreach (flows, i, item)
		rc = rc ? rc : take_flow(run->r, item);
	json_array_foreach (ends, i, item)
		rc = rc ? rc : take_qp(run->r, item);
	if (counters)
		json_object_set(run->r->counters, m->name, counters);
	/* An interrupt comes to all hosts at about the same time. */
	if (m->sends && to > from && (uint64_t)(to - from) < run->window_ns)
		run->window_ns = (uint64_t)(to - from);
	m->done = true;
	return rc;
}

/* Handles one message of a host. */
static int take(struct run *run, struct ibcc_perf_host *m, json_t *o)
{
	const json_t *report = json_object_get(o, "report");
	const char *error = json_string_value(json_object_get(o, "error"));

	if (report)
		return take_report(run, m, report);
	if (json_is_true(json_object_get(o, "finished"))) {
		m->finished = true;
		return 0;
	}
	if (json_is_true(json_object_get(o, "ok")) && run->stopped && !m->done)
		return take_results(run, m, o);
	return error ? ibcc_perf_fail(run->e, 0, "%s: %s", m->name, error) : -EPROTO;
}

static int hear(struct run *run, struct ibcc_perf_host *m)
{
	json_t *o;
	int rc;

	for (;;) {
		rc = ibcc_perf_wire_recv(&m->wire, 0, &o);
		if (rc == -ETIMEDOUT)
			return 0;
		if (rc)
			return ibcc_perf_fail(
				run->e, rc == -ECONNRESET ? 0 : -rc, "lost the connection to %s%s",
				m->name, rc == -ECONNRESET ? ": ibcc-perf serve closed it" : "");
		rc = take(run, m, o);
		json_decref(o);
		if (rc)
			return ibcc_perf_fail(run->e, -rc,
					      "%s sent a report that is not valid; is it the same "
					      "version of ibcc-perf?",
					      m->name);
	}
}

static int tell_all(struct run *run, const char *what)
{
	int rc = 0;

	for (uint32_t i = 0; i < run->hosts->n_hosts && !rc; i++) {
		struct ibcc_perf_host *m = &run->hosts->host[i];

		rc = ibcc_perf_wire_send(&m->wire, json_pack("{ss}", "do", what));
		if (rc)
			ibcc_perf_fail(run->e, -rc, "lost the connection to %s", m->name);
	}
	return rc;
}

static bool all(const struct ibcc_perf_hosts *hosts, bool done)
{
	for (uint32_t i = 0; i < hosts->n_hosts; i++)
		if (!(done ? hosts->host[i].done : hosts->host[i].finished))
			return false;
	return true;
}

static int interrupt(struct run *run, int signal_fd)
{
	struct signalfd_siginfo info;

	if (read(signal_fd, &info, sizeof(info)) != sizeof(info) || run->r->interrupted)
		return 0;
	run->r->interrupted = true;
	return tell_all(run, "finish");
}

static int wait_for(struct run *run, struct pollfd *fd, int signal_fd, int64_t end_ms)
{
	struct ibcc_perf_hosts *hosts = run->hosts;
	uint32_t n = hosts->n_hosts, i;
	int64_t left = end_ms - ibcc_now_ms();
	int rc = 0;

	for (i = 0; i < n; i++)
		fd[i] = (struct pollfd){ .fd = hosts->host[i].wire.fd, .events = POLLIN };
	fd[n] = (struct pollfd){ .fd = signal_fd, .events = POLLIN };
	if (left <= 0)
		return ibcc_perf_fail(run->e, ETIMEDOUT, "not all hosts ended the traffic in time");
	if (poll(fd, n + 1, left > 1000 ? 1000 : (int)left) < 0 && errno != EINTR)
		return -errno;
	if (fd[n].revents & POLLIN)
		rc = interrupt(run, signal_fd);
	for (i = 0; i < n && !rc; i++)
		if (fd[i].revents)
			rc = hear(run, &hosts->host[i]);
	if (!rc && !run->stopped && all(hosts, false)) {
		run->stopped = true;
		rc = tell_all(run, "stop");
	}
	return rc;
}

static int begin(struct run *run, uint64_t from_ns, uint64_t to_ns)
{
	struct ibcc_perf_hosts *hosts = run->hosts;
	json_int_t report_ns = (json_int_t)hosts->s->verbs.report_ms * 1000000;
	int rc = 0;

	for (uint32_t i = 0; i < hosts->n_hosts && !rc; i++) {
		struct ibcc_perf_host *m = &hosts->host[i];

		m->finished = m->done = false;
		m->reports = 0;
		rc = ibcc_perf_wire_send(&m->wire,
					 json_pack("{ss sI sI sI}", "do", "start", "from_ns",
						   (json_int_t)from_ns, "to_ns", (json_int_t)to_ns,
						   "report_ns", report_ns));
		if (rc)
			ibcc_perf_fail(run->e, -rc, "lost the connection to %s", m->name);
	}
	return rc;
}

int ibcc_perf_run_once(struct ibcc_perf_hosts *hosts, int signal_fd, ibcc_perf_live_fn *live,
		       void *arg, struct ibcc_perf_result *r, struct ibcc_why *e)
{
	uint64_t from_ns = hosts->s->measure_from_ps / 1000, to_ns = hosts->s->duration_ps / 1000;
	struct run run = { .hosts = hosts, .r = r, .e = e, .live = live, .arg = arg };
	struct pollfd *fd = calloc(hosts->n_hosts + 1u, sizeof(*fd));
	int64_t end_ms = ibcc_now_ms() + (int64_t)(to_ns / 1000000) + GRACE_MS;
	int rc;

	memset(r, 0, sizeof(*r));
	r->n_flows = hosts->s->n_flows;
	r->flow = calloc(r->n_flows ? r->n_flows : 1, sizeof(*r->flow));
	r->counters = json_object();
	run.window_ns = to_ns - from_ns;
	rc = r->flow && r->counters && fd
		     ? begin(&run, from_ns, to_ns)
		     : ibcc_perf_fail(e, ENOMEM, "memory for %u flow%s", r->n_flows,
				      ibcc_text_plural(r->n_flows, "", "s"));
	while (!rc && !(run.stopped && all(hosts, true)))
		rc = wait_for(&run, fd, signal_fd, end_ms);
	r->window_s = (double)run.window_ns / 1e9;
	free(fd);
	return rc;
}
