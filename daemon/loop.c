/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The event loop (loop.h). A timer starts a polling cycle by giving the worker a task, and requests
 * that need the fabric become tasks, too. When the worker has done a task, the loop sends the
 * answer to the client. The loop answers status requests itself, from the worker's last report.
 * SIGHUP makes it read the configuration again. Begin with ibcc_loop_run(), at the end.
 */
#include "daemon/loop.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include <ibcc/json.h>
#include <ibcc/jsonl.h>
#include <ibcc/lock.h>
#include <ibcc/log.h>
#include <ibcc/version.h>

#include "daemon/clients.h"
#include "daemon/conf.h"
#include "daemon/metrics/metrics_out.h"
#include "daemon/names.h"
#include "daemon/request.h"
#include "daemon/worker.h"

#define LEAST_PAUSE_SHARE 2u
/* Failures in a row double the interval at most this many times. So the daemon notices the end of a
 * failure within a few intervals.
 */
#define MOST_DOUBLINGS  3u
#define LONGEST_WAIT_US 10000000u

struct loop {
	struct ibcc_config config;
	const char *config_file, *fabric;
	int log_level;
	bool last_reload_ok;
	int lock_fd; /* held from start to end; -1: there is no folder for it */
	sd_event *event;
	sd_event_source *timer, *stall_timer;
	struct ibcc_worker *worker;
	struct ibcc_names *names;
	struct ibcc_jsonl *control;
	int socket_err; /* why it could not be created again; 0 if it is there */
	struct ibcc_metrics_out *metrics;
	struct ibcc_clients clients;
	unsigned int failures; /* polling cycles in a row that failed, up to a limit */
	/* CLOCK_MONOTONIC at the start of the daemon and of the last polling cycle */
	uint64_t start_us, pass_us;
	uint64_t all_us; /* when the next one is due that reads all ports */
	bool passing;    /* that cycle is still running */
	bool fast;       /* the next one reads only the focus */
};

static uint64_t now_us(struct loop *l)
{
	uint64_t t = 0;

	sd_event_now(l->event, CLOCK_MONOTONIC, &t);
	return t;
}

/* If a polling cycle takes longer than this, the last report about the fabric is outdated. */
static uint64_t most_us(const struct loop *l)
{
	uint64_t ms = 3ull * l->config.interval_ms;

	return 1000 * (ms > l->config.pass_deadline_ms ? ms : l->config.pass_deadline_ms);
}

/* An administrator may clean up the folder of the control socket: then no command reaches the
 * daemon.
 */
static void look_at_socket(struct loop *l)
{
	int rc = ibcc_jsonl_renew(l->control);

	if (rc > 0)
		ibcc_log(LOG_NOTICE,
			 "control socket %s was gone, so no command reached the daemon; the daemon "
			 "has created it again",
			 l->config.control_socket);
	else if (rc && rc != l->socket_err)
		ibcc_log(LOG_WARNING,
			 "control socket %s is gone, so no command reaches the daemon, and it "
			 "cannot "
			 "be created again: %s; the daemon keeps trying",
			 l->config.control_socket,
			 rc == -EADDRINUSE || rc == -EEXIST ? "another file is at its path: remove "
							      "that, or change control_socket"
							    : strerror(-rc));
	l->socket_err = rc < 0 ? rc : 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *arg)
{
	struct loop *l = arg;
	struct ibcc_task *t = calloc(1, sizeof(*t));

	(void)source;
	(void)usec;
	look_at_socket(l);
	ibcc_clients_look(&l->clients, l->control, l->metrics);
	l->pass_us = now_us(l);
	if (!t) { /* try again later */
		sd_event_source_set_time(l->timer, l->pass_us + 1000000);
		sd_event_source_set_enabled(l->timer, SD_EVENT_ONESHOT);
		return 0;
	}
	t->kind = IBCC_TASK_PASS;
	t->want_metrics = ibcc_metrics_out_wanted(l->metrics);
	t->fast = l->fast;
	l->passing = true;
	sd_event_source_set_time(l->stall_timer, l->pass_us + most_us(l) + 1000);
	sd_event_source_set_enabled(l->stall_timer, SD_EVENT_ONESHOT);
	ibcc_worker_submit(l->worker, t);
	return 0;
}

uint64_t ibcc_loop_next_us(uint64_t began_us, uint64_t ended_us, uint64_t interval_us)
{
	uint64_t next = began_us + interval_us, least = ended_us + interval_us / LEAST_PAUSE_SHARE;

	return next > least ? next : least;
}

/* A fabric that cannot be reached is polled less and less often. While something is worth it, fast
 * polling cycles come between the others, but not just before one of these.
 */
static void schedule_pass(struct loop *l, const struct ibcc_task *pass)
{
	uint64_t wait = l->config.interval_ms * 1000ull, now = now_us(l), fast;
	uint64_t fast_wait = l->config.fast_interval_ms * 1000ull;

	l->failures = !pass->err ? 0 : l->failures < MOST_DOUBLINGS ? l->failures + 1 : l->failures;
	if (wait << l->failures < LONGEST_WAIT_US)
		wait <<= l->failures;
	else if (l->failures && wait < LONGEST_WAIT_US)
		wait = LONGEST_WAIT_US;
	if (!pass->fast || pass->err)
		l->all_us = ibcc_loop_next_us(l->pass_us, now, wait);
	else if (l->all_us < now + fast_wait / LEAST_PAUSE_SHARE)
		l->all_us = now + fast_wait / LEAST_PAUSE_SHARE;
	fast = ibcc_loop_next_us(l->pass_us, now, fast_wait);
	l->fast = pass->has_focus && fast + fast_wait / LEAST_PAUSE_SHARE < l->all_us;
	sd_event_source_set_time(l->timer, l->fast ? fast : l->all_us);
	sd_event_source_set_enabled(l->timer, SD_EVENT_ONESHOT);
}

/* The worker's last report is worthless if the worker has been silent for long, in a polling cycle
 * or in a request before it.
 */
static json_t *current_status(void *arg)
{
	struct loop *l = arg;
	json_t *s = ibcc_worker_status(l->worker);
	uint64_t took_us = now_us(l) - l->pass_us;
	char text[200];

	if (!s || !l->passing || took_us <= most_us(l))
		return s;
	snprintf(text, sizeof(text),
		 "no polling cycle has ended for %.1f s, so nothing is decided. The daemon is busy "
		 "with: %s",
		 (double)took_us / 1e6, ibcc_worker_stage(l->worker));
	json_object_set_new(s, "state", json_string("stalled"));
	json_object_set_new(s, "reason", json_string(text));
	return s;
}

static void notify_status(struct loop *l)
{
	json_t *s = current_status(l);
	const json_t *fabric = json_object_get(s, "fabric");
	const char *reason = json_string_value(json_object_get(s, "reason"));

	sd_notifyf(0,
		   "STATUS=mode=%s%s ports=%" JSON_INTEGER_FORMAT " roots=%" JSON_INTEGER_FORMAT
		   " writes %s=%" JSON_INTEGER_FORMAT "%s%s",
		   l->config.mode == IBCC_MODE_APPLY ? "apply" : "observe",
		   json_is_string(json_object_get(s, "paused")) ? " (paused)" : "",
		   json_integer_value(json_object_get(fabric, "endports")),
		   json_integer_value(json_object_get(s, "roots")),
		   l->config.mode == IBCC_MODE_APPLY ? "pending" : "recommended",
		   json_integer_value(json_object_get(s, "writes_pending")), reason ? ": " : "",
		   reason ? reason : "");
	json_decref(s);
}

static int on_stall(sd_event_source *source, uint64_t usec, void *arg)
{
	struct loop *l = arg;

	(void)source;
	(void)usec;
	if (!l->passing)
		return 0;
	ibcc_log_of(IBCC_LOG_STALLED, LOG_WARNING,
		    "the polling cycle takes long, so decisions are late; the daemon is busy "
		    "with: %s",
		    ibcc_worker_stage(l->worker));
	notify_status(l);
	return 0;
}

static void end_reload(struct loop *l, bool ok)
{
	l->last_reload_ok = ok;
	ibcc_metrics_out_reloaded(l->metrics, ok);
	sd_notify(0, "READY=1");
}

/* Asks for the roles. The answer may take long. */
static void ask_roles(struct loop *l)
{
	struct ibcc_jsonl_roles roles = ibcc_names_ask(l->names, &l->config);

	ibcc_jsonl_set_roles(l->control, &roles);
}

static int on_roles(sd_event_source *source, int fd, uint32_t revents, void *arg)
{
	struct loop *l = arg;
	struct ibcc_jsonl_roles roles;

	(void)source;
	(void)fd;
	(void)revents;
	if (ibcc_names_take(l->names, &roles))
		ibcc_jsonl_set_roles(l->control, &roles);
	return 0;
}

static void reconfigured(struct loop *l, const struct ibcc_task *t)
{
	if (t->err) {
		ibcc_log_of(IBCC_LOG_BAD_CONFIG, LOG_ERR,
			    "the new configuration cannot be loaded, so the daemon keeps the old "
			    "one: %s",
			    t->why.text);
	} else {
		l->config = t->config;
		if (l->log_level < 0)
			ibcc_log_set_level(l->config.log_level);
		ibcc_metrics_out_configure(l->metrics, &l->config);
		ask_roles(l);
		ibcc_log_of(IBCC_LOG_RELOADED, LOG_NOTICE, "configuration reloaded, mode %s",
			    l->config.mode == IBCC_MODE_APPLY ? "apply" : "observe");
	}
	end_reload(l, !t->err);
}

static int on_task_done(sd_event_source *source, int fd, uint32_t revents, void *arg)
{
	struct loop *l = arg;
	struct ibcc_task *t;

	(void)source;
	(void)fd;
	(void)revents;
	while ((t = ibcc_worker_done(l->worker))) {
		if (t->kind == IBCC_TASK_PASS) {
			l->passing = false;
			ibcc_metrics_out_pass(l->metrics, t->metrics, !t->err);
			t->metrics = NULL;
			schedule_pass(l, t);
			notify_status(l);
		} else if (t->kind == IBCC_TASK_RECONFIGURE) {
			reconfigured(l, t);
		} else {
			ibcc_jsonl_reply(l->control, t->client,
					 ibcc_request_answer(t->err, t->why.text, t->result));
			t->result = NULL;
		}
		ibcc_task_free(t);
	}
	return 0;
}

static json_t *status(struct loop *l)
{
	json_t *o = current_status(l);

	if (!o)
		return ibcc_request_answer(-ENOMEM, "no memory", NULL);
	json_object_set_new(o, "clients", ibcc_clients_status(l->control, l->metrics));
	json_object_set_new(o, "pid", json_integer(getpid()));
	json_object_set_new(o, "uptime_s",
			    json_integer((json_int_t)((now_us(l) - l->start_us) / 1000000)));
	json_object_set_new(o, "interval_ms", json_integer(l->config.interval_ms));
	json_object_set_new(o, "config_file", json_string(ibcc_conf_file(l->config_file)));
	json_object_set_new(o, "last_reload_ok", json_boolean(l->last_reload_ok));
	return ibcc_request_answer(0, NULL, o);
}

static void on_request(void *arg, const struct ibcc_jsonl_request *r)
{
	struct loop *l = arg;
	json_t *answer = NULL;
	struct ibcc_task *t = NULL;

	if (ibcc_request_is_status(r))
		answer = status(l);
	else
		t = ibcc_request_task(r, &answer);
	if (t)
		ibcc_worker_submit(l->worker, t);
	else
		ibcc_jsonl_reply(l->control, r->client, answer);
}

static void on_gone(void *arg, uint64_t client)
{
	struct loop *l = arg;

	/* While the daemon starts there is no worker, and no request has arrived yet. */
	if (l->worker)
		ibcc_worker_forget(l->worker, client);
}

/* What is open for the life of the daemon keeps its place. */
static void keep_places(const struct ibcc_config *old, struct ibcc_config *fresh)
{
	if (strcmp(old->control_socket, fresh->control_socket) ||
	    strcmp(old->state_file, fresh->state_file) || old->log_target != fresh->log_target)
		ibcc_log(LOG_WARNING, "control_socket, state_file and log.target keep their "
				      "earlier values: restart the daemon to change them");
	memcpy(fresh->control_socket, old->control_socket, sizeof(fresh->control_socket));
	memcpy(fresh->state_file, old->state_file, sizeof(fresh->state_file));
	fresh->log_target = old->log_target;
}

/* The daemon works without the map, with the names that nodes report. */
static void check_node_map(const struct ibcc_config *c)
{
	if (c->node_name_map[0] && access(c->node_name_map, R_OK))
		ibcc_log(LOG_WARNING,
			 "node_name_map: %s cannot be read: %s. Nodes keep the names that they "
			 "report; correct the file's path or rights, and reload the daemon",
			 c->node_name_map, strerror(errno));
}

static void log_lines(const struct ibcc_yaml_errors *e)
{
	const char *line = e->text;

	while (line && *line) {
		size_t len = strcspn(line, "\n");

		ibcc_log(LOG_ERR, "%.*s", (int)len, line);
		line += len + (line[len] == '\n');
	}
}

static int on_hangup(sd_event_source *source, const struct signalfd_siginfo *info, void *arg)
{
	struct loop *l = arg;
	struct ibcc_yaml_errors errors = { 0 };
	struct ibcc_task *t = calloc(1, sizeof(*t));

	(void)source;
	(void)info;
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, now_us(l));
	if (!t || ibcc_conf_load(l->config_file, l->fabric, &t->config, &t->cc_key, &errors)) {
		log_lines(&errors);
		ibcc_log_of(IBCC_LOG_BAD_CONFIG, LOG_ERR,
			    "the new configuration has mistakes, so the daemon keeps the old one: "
			    "correct it (ibcc-tuned --check-config), and reload the daemon again");
		ibcc_task_free(t);
		end_reload(l, false);
	} else {
		keep_places(&l->config, &t->config);
		check_node_map(&t->config);
		t->kind = IBCC_TASK_RECONFIGURE;
		ibcc_worker_submit(l->worker, t);
	}
	ibcc_yaml_errors_fini(&errors);
	return 0;
}

static int on_end(sd_event_source *source, const struct signalfd_siginfo *info, void *arg)
{
	struct loop *l = arg;

	(void)source;
	ibcc_log_of(IBCC_LOG_END, LOG_NOTICE, "signal %u, ending; %s", info->ssi_signo,
		    ibcc_worker_restores(l->worker)
			    ? "settings on trial and marking profiles are restored first"
			    : "settings on the fabric stay as they are");
	return sd_event_exit(l->event, 0);
}

static int block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an ordinary error */
	return sigprocmask(SIG_BLOCK, &set, NULL) ? -errno : 0;
}

static int set_up(struct loop *l, const struct ibcc_loop_options *o, struct ibcc_why *why)
{
	int rc;

	/* Take the lock before the socket. Of several daemons that start at once, one gets it. So
	 * none takes over the socket of a living owner.
	 */
	rc = ibcc_lock_take(l->config.state_file, &l->lock_fd, why);
	if (rc)
		return rc;
	rc = block_signals();
	if (!rc)
		rc = sd_event_default(&l->event);
	if (rc < 0)
		return ibcc_why_set(why, rc, "no event loop: %s", strerror(-rc));
	l->control = ibcc_jsonl_listen(l->event, l->config.control_socket, on_request, l, &rc);
	if (!l->control)
		return ibcc_why_set(why, rc, "control socket %s: %s%s", l->config.control_socket,
				    rc == -EADDRINUSE ? "another ibcc-tuned is running"
				    : rc == -EEXIST   ? "another file is at its path: remove that, "
							"or change control_socket"
						      : strerror(-rc),
				    rc == -ENOENT || rc == -EACCES
					    ? "; its folder must be there and writable for the "
					      "user of this program (systemd-tmpfiles --create "
					      "makes that of the service)"
					    : "");
	ibcc_jsonl_on_gone(l->control, on_gone);
	l->names = ibcc_names_new();
	if (!l->names)
		return ibcc_why_set(why, -ENOMEM, "no memory");
	ask_roles(l);
	l->metrics = ibcc_metrics_out_new(l->event, current_status, l);
	if (!l->metrics)
		return ibcc_why_set(why, -ENOMEM, "no memory");
	ibcc_metrics_out_configure(l->metrics, &l->config);
	l->worker = ibcc_worker_new(&l->config, o->cc_key, l->names, &rc, why);
	if (!l->worker)
		return rc;
	rc = sd_event_add_signal(l->event, NULL, SIGTERM, on_end, l);
	if (rc >= 0)
		rc = sd_event_add_signal(l->event, NULL, SIGINT, on_end, l);
	if (rc >= 0)
		rc = sd_event_add_signal(l->event, NULL, SIGHUP, on_hangup, l);
	if (rc >= 0)
		rc = sd_event_add_io(l->event, NULL, ibcc_worker_fd(l->worker), EPOLLIN,
				     on_task_done, l);
	if (rc >= 0)
		rc = sd_event_add_io(l->event, NULL, ibcc_names_fd(l->names), EPOLLIN, on_roles, l);
	if (rc >= 0)
		rc = sd_event_add_time(l->event, &l->timer, CLOCK_MONOTONIC, 0, 1000, on_timer, l);
	if (rc >= 0)
		rc = sd_event_add_time(l->event, &l->stall_timer, CLOCK_MONOTONIC, UINT64_MAX, 1000,
				       on_stall, l);
	if (rc >= 0)
		rc = sd_event_set_watchdog(l->event, 1);
	return rc < 0 ? ibcc_why_set(why, rc, "no event loop: %s", strerror(-rc)) : 0;
}

/* Users with a role must be able to ask as soon as the daemon is READY. A name service that does
 * not answer delays that no longer than this.
 */
static void wait_for_roles(struct loop *l)
{
	struct pollfd p = { .fd = ibcc_names_fd(l->names), .events = POLLIN };

	if (poll(&p, 1, IBCC_NAMES_PATIENCE_MS) > 0)
		on_roles(NULL, p.fd, 0, l);
}

int ibcc_loop_run(const struct ibcc_loop_options *o, struct ibcc_why *why)
{
	struct loop l = { .config = o->config,
			  .config_file = o->config_file,
			  .fabric = o->fabric,
			  .log_level = o->log_level,
			  .last_reload_ok = true,
			  .lock_fd = -1 };
	int rc = set_up(&l, o, why);

	if (!rc) {
		wait_for_roles(&l);
		l.start_us = now_us(&l);
		ibcc_log_of(IBCC_LOG_START, LOG_NOTICE, "ibcc-tuned %s, mode %s, control socket %s",
			    IBCC_VERSION, l.config.mode == IBCC_MODE_APPLY ? "apply" : "observe",
			    l.config.control_socket);
		check_node_map(&l.config);
		sd_notify(0, "READY=1");
		rc = sd_event_loop(l.event);
		if (rc < 0)
			ibcc_why_set(why, rc, "event loop: %s", strerror(-rc));
		sd_notify(0, "STOPPING=1");
	}
	/* Free the socket first: no client should ask a daemon that is about to end. */
	ibcc_jsonl_free(l.control);
	ibcc_metrics_out_free(l.metrics);
	ibcc_worker_free(l.worker);
	ibcc_names_free(l.names);
	sd_event_source_unref(l.timer);
	sd_event_source_unref(l.stall_timer);
	sd_event_unref(l.event);
	if (l.lock_fd >= 0)
		close(l.lock_fd);
	return rc < 0 ? rc : 0;
}
