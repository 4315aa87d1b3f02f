/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "sim/simulator.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "sim/control.h"
#include "sim/ibsim.h"
#include "sim/proxy.h"
#include "sim/upstream.h"

#define START_TIMEOUT_US 30000000u

struct simulator {
	const struct ibcc_simulator_options *o;
	sd_event *ev;
	struct ibcc_ibsim *ibsim;
	struct ibcc_upstream *up;
	struct ibcc_proxy *proxy;
	struct ibcc_control *control;
	struct ibcc_upstream_slot *observer;
	sd_event_source *start_timer;
};

static int answer(void *arg, uint64_t node_guid, const struct ibcc_wire_mad *rq,
		  struct ibcc_wire_mad *reply)
{
	(void)arg;
	(void)node_guid;
	(void)rq;
	(void)reply;
	return -ETIMEDOUT;
}

static void changed(void *arg)
{
	(void)arg;
}

static void on_died(void *arg, const char *why)
{
	struct simulator *s = arg;

	fprintf(stderr, "ibcc-sim: %s\n", why);
	sd_event_exit(s->ev, 1);
}

static json_t *stats(const struct simulator *s)
{
	const struct ibcc_proxy_stats *st = ibcc_proxy_stats(s->proxy);
	json_t *mads = json_array();
	uint32_t i;

	for (i = 0; i < st->mads.n; i++)
		json_array_append_new(mads, json_pack("{s:i,s:i,s:i,s:I}", "class",
						      st->mads.row[i].mgmt_class, "method",
						      st->mads.row[i].method, "attr",
						      st->mads.row[i].attr_id, "count",
						      (json_int_t)st->mads.row[i].count));
	return json_pack("{s:b,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o}", "ok", 1, "total",
			 (json_int_t)st->mads.total, "sets", (json_int_t)st->mads.sets, "lost",
			 (json_int_t)st->lost, "overflow", (json_int_t)st->overflow, "clients",
			 (json_int_t)st->clients_now, "clients_total",
			 (json_int_t)st->clients_total, "clients_killed",
			 (json_int_t)st->clients_killed, "mads", mads);
}

static void on_printed(void *arg, const char *text)
{
	ibcc_control_reply(arg, json_pack("{s:b,s:s}", "ok", 1, "text", text));
}

static json_t *on_request(void *arg, struct ibcc_control_conn *c, const json_t *rq)
{
	const char *cmd = json_string_value(json_object_get(rq, "cmd"));
	struct simulator *s = arg;
	const char *line;
	int err;

	if (!cmd)
		return ibcc_control_error("no cmd");
	if (!strcmp(cmd, "stats"))
		return stats(s);
	if (!strcmp(cmd, "console")) {
		line = json_string_value(json_object_get(rq, "line"));
		err = ibcc_ibsim_console(s->ibsim, line ? line : "", on_printed, c);
		return err ? ibcc_control_error("console: %s", strerror(-err)) : NULL;
	}
	return ibcc_control_error("%s: no such command", cmd);
}

static void on_gone(void *arg, struct ibcc_control_conn *c)
{
	struct simulator *s = arg;

	ibcc_ibsim_cancel(s->ibsim, c);
}

static void on_observer(void *arg, struct ibcc_upstream_slot *slot)
{
	struct simulator *s = arg;

	if (!slot) {
		fprintf(stderr, "ibcc-sim: ibsim does not let us attach\n");
		sd_event_exit(s->ev, 1);
		return;
	}
	s->observer = slot;
	sd_event_source_set_enabled(s->start_timer, SD_EVENT_OFF);
	printf("ready %s\n", s->o->name);
	fflush(stdout);
}

static int on_start_timeout(sd_event_source *src, uint64_t usec, void *arg)
{
	struct simulator *s = arg;

	(void)src;
	(void)usec;
	fprintf(stderr, "ibcc-sim: ibsim does not answer\n");
	return sd_event_exit(s->ev, 1);
}

static int start(struct simulator *s)
{
	const struct ibcc_proxy_ops ops = { .answer = answer, .changed = changed, .arg = s };
	const struct ibcc_ibsim_limits limits = { 0 };
	uint64_t now;
	sigset_t set;
	char up[64];
	int err = sd_event_new(&s->ev);

	if (err < 0)
		return err;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	err = sd_event_add_signal(s->ev, NULL, SIGINT, NULL, NULL);
	if (err >= 0)
		err = sd_event_add_signal(s->ev, NULL, SIGTERM, NULL, NULL);
	if (err >= 0)
		err = sd_event_now(s->ev, CLOCK_MONOTONIC, &now);
	if (err >= 0)
		err = sd_event_add_time(s->ev, &s->start_timer, CLOCK_MONOTONIC,
					now + START_TIMEOUT_US, 1000, on_start_timeout, s);
	if (err < 0)
		return err;
	snprintf(up, sizeof(up), "%s.ibsim", s->o->name);
	s->up = ibcc_upstream_new(s->ev, up, &err);
	if (!s->up)
		return err;
	s->control = ibcc_control_new(s->ev, s->o->name, on_request, on_gone, s, &err);
	if (!s->control)
		return err;
	s->proxy = ibcc_proxy_new(s->ev, s->up, s->o->name, &ops, &err);
	if (!s->proxy)
		return err;
	ibcc_proxy_knobs(s->proxy)->mad_loss_permille = s->o->mad_loss_permille;
	ibcc_proxy_knobs(s->proxy)->mad_delay_us = s->o->mad_delay_us;
	s->ibsim = ibcc_ibsim_start(s->ev, s->o->netfile, up, &limits, on_died, s, &err);
	if (!s->ibsim)
		return err;
	return ibcc_upstream_attach(s->up, "", on_observer, s);
}

int ibcc_simulator_run(const struct ibcc_simulator_options *o)
{
	struct simulator s = { .o = o };
	int r = start(&s);

	if (r < 0)
		fprintf(stderr, "ibcc-sim: %s: %s\n", o->name, strerror(-r));
	else
		r = sd_event_loop(s.ev);
	ibcc_control_free(s.control);
	ibcc_proxy_free(s.proxy);
	if (s.observer)
		ibcc_upstream_release(s.observer);
	ibcc_upstream_free(s.up);
	ibcc_ibsim_free(s.ibsim);
	sd_event_source_disable_unref(s.start_timer);
	sd_event_unref(s.ev);
	return r ? 1 : 0;
}
