/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Keeps the figures of the last polling cycle. Makes of them the pages /metrics, /healthz and
 * /readyz for the HTTP server, and the file (metrics_out.h).
 */
#include "daemon/metrics/metrics_out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <ibcc/crowd.h>
#include <ibcc/log.h>

#include "daemon/metrics/metrics_file.h"
#include "daemon/metrics/metrics_http.h"

/* This many connections without an answer, in ten seconds, are no accident. */
#define MANY_CUT (IBCC_METRICS_CONNECTIONS / 2)

struct ibcc_metrics_out {
	sd_event *event;
	ibcc_metrics_status_fn *status;
	void *arg;
	int inherited; /* listening socket from systemd; -1: none, or in use */
	bool by_systemd;
	struct ibcc_metrics_http *http;
	char listen[sizeof(((struct ibcc_config *)0)->metrics_listen)]; /* where it listens */
	char file[IBCC_CONFIG_PATH_BYTES];
	bool compat;
	uint64_t file_us; /* CLOCK_MONOTONIC, when the file was written; 0: never */
	int file_err;     /* error of the last try to write the file */
	struct ibcc_metrics *last;
	bool last_reload_ok;
	int64_t last_pass_s;
};

static char *metrics_text(struct ibcc_metrics_out *o, size_t *len)
{
	json_t *status = o->status(o->arg);
	const json_t *trial = json_object_get(status, "trial");
	const json_t *election = json_object_get(status, "election");
	const char *elected = json_string_value(json_object_get(election, "state"));
	struct ibcc_metrics_now now = {
		.state = json_string_value(json_object_get(status, "state")),
		.last_reload_ok = o->last_reload_ok,
		.last_pass_s = o->last_pass_s,
		.compat = o->compat,
		.on_trial = json_is_object(trial),
		.trial_s = (uint64_t)json_integer_value(json_object_get(trial, "seconds_left")),
		.elects = elected,
		.leads = elected && !strcmp(elected, "leads"),
	};
	char *text = ibcc_metrics_text(o->last, &now, len);

	json_decref(status);
	return text;
}

/* "STATE", or "STATE: REASON". */
static char *health_text(struct ibcc_metrics_out *o, size_t *len, bool *ok)
{
	json_t *status = o->status(o->arg);
	const char *state = json_string_value(json_object_get(status, "state"));
	const char *reason = json_string_value(json_object_get(status, "reason"));
	char *text = NULL;
	int n = -1;

	*ok = state && (!strcmp(state, "ok") || !strcmp(state, "starting"));
	if (state)
		n = asprintf(&text, "%s%s%s\n", state, reason ? ": " : "", reason ? reason : "");
	json_decref(status);
	*len = n > 0 ? (size_t)n : 0;
	return n > 0 ? text : NULL;
}

static char *ready_text(struct ibcc_metrics_out *o, size_t *len, bool *ok)
{
	char *text;

	*ok = o->last && o->last->decided;
	text = strdup(*ok ? "ready\n" : "no pass has come to a decision yet\n");
	*len = text ? strlen(text) : 0;
	return text;
}

static char *page(void *arg, enum ibcc_metrics_page p, size_t *len, bool *ok)
{
	switch (p) {
	case IBCC_METRICS_PAGE_METRICS: return metrics_text(arg, len);
	case IBCC_METRICS_PAGE_HEALTH: return health_text(arg, len, ok);
	case IBCC_METRICS_PAGE_READY: return ready_text(arg, len, ok);
	}
	return NULL;
}

struct ibcc_metrics_out *ibcc_metrics_out_new(sd_event *event, ibcc_metrics_status_fn *status,
					      void *arg)
{
	struct ibcc_metrics_out *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	*o = (struct ibcc_metrics_out){ .event = sd_event_ref(event),
					.status = status,
					.arg = arg,
					.last_reload_ok = true,
					.inherited = ibcc_metrics_http_inherited() };
	return o;
}

void ibcc_metrics_out_free(struct ibcc_metrics_out *o)
{
	if (!o)
		return;
	ibcc_metrics_http_free(o->http);
	if (o->inherited >= 0)
		close(o->inherited);
	if (o->file_us)
		unlink(o->file);
	ibcc_metrics_free(o->last);
	sd_event_unref(o->event);
	free(o);
}

static void serve(struct ibcc_metrics_out *o, const char *address, int fd)
{
	struct ibcc_why why = { "" };
	int rc;

	o->http = ibcc_metrics_http_new(o->event, address, fd, page, o, &rc, &why);
	if (o->http)
		ibcc_log(LOG_NOTICE, "metrics at %s",
			 fd >= 0 ? "the socket that systemd gave" : address);
	else
		ibcc_log(LOG_ERR,
			 "no metrics by HTTP: %s; the daemon works without them: correct "
			 "metrics_listen, and reload the daemon",
			 why.text);
}

static void configure_http(struct ibcc_metrics_out *o, const char *address)
{
	/* systemd's socket needs no configuration, and stays. */
	if (o->inherited >= 0) {
		serve(o, NULL, o->inherited);
		o->inherited = -1;
		o->by_systemd = true;
	}
	if (o->by_systemd || (!strcmp(o->listen, address) && (o->http || !address[0])))
		return;
	ibcc_metrics_http_free(o->http);
	o->http = NULL;
	snprintf(o->listen, sizeof(o->listen), "%s", address);
	if (address[0])
		serve(o, address, -1);
}

void ibcc_metrics_out_configure(struct ibcc_metrics_out *o, const struct ibcc_config *config)
{
	configure_http(o, config->metrics_listen);
	o->compat = config->compat_names;
	if (!strcmp(o->file, config->metrics_file))
		return;
	if (o->file_us)
		unlink(o->file);
	o->file_us = 0;
	memcpy(o->file, config->metrics_file, sizeof(o->file));
}

void ibcc_metrics_out_reloaded(struct ibcc_metrics_out *o, bool ok)
{
	o->last_reload_ok = ok;
}

void ibcc_metrics_out_crowd(struct ibcc_metrics_out *o, struct ibcc_why *why)
{
	char from[64] = "";
	unsigned int n = o->http ? ibcc_metrics_http_crowd(o->http, from, sizeof(from)) : 0;

	why->text[0] = '\0';
	if (n >= MANY_CUT)
		ibcc_why_set(why, 0,
			     "clients keep connections to the metrics without a whole request: the "
			     "daemon closed %u within %u s, most of them from %s. It still answers "
			     "other clients. Stop that client",
			     n, IBCC_CROWD_WINDOW_US / 1000000u, from);
}

bool ibcc_metrics_out_wanted(const struct ibcc_metrics_out *o)
{
	return o->http || o->file[0];
}

static void write_file(struct ibcc_metrics_out *o)
{
	struct ibcc_why why = { "" };
	uint64_t now_us = 0;
	size_t len;
	char *text;
	int err;

	sd_event_now(o->event, CLOCK_MONOTONIC, &now_us);
	if (o->file_us && now_us - o->file_us < IBCC_METRICS_FILE_US)
		return;
	text = metrics_text(o, &len);
	err = text ? ibcc_metrics_file_write(o->file, text, len, &why) : 0;
	if (text && !err)
		o->file_us = now_us;
	free(text);
	if (err && err != o->file_err)
		ibcc_log(LOG_WARNING, "%s; the daemon keeps trying", why.text);
	o->file_err = err;
}

void ibcc_metrics_out_pass(struct ibcc_metrics_out *o, struct ibcc_metrics *m, bool well)
{
	ibcc_metrics_free(o->last);
	o->last = m;
	if (well)
		o->last_pass_s = (int64_t)time(NULL);
	if (o->file[0])
		write_file(o);
}
