/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Applies plans in a separate thread (push.h): run() is the thread, and the service thread calls
 * ibcc_push_*(). The port stays open between plans, because opening it looks through all ports and
 * registers the class again. After an error of the port itself it is closed and opened again.
 */
#include "opensm-plugin/push.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ibcc/apply.h>
#include <ibcc/now.h>
#include <ibcc/thread.h>

#define CANCEL_AGAIN_MS 20

enum push_state {
	PUSH_IDLE,
	PUSH_RUNNING,
	PUSH_DONE, /* the report is ready */
};

struct ibcc_push {
	struct ibcc_push_host host;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* for state and quit */
	/* protected by the lock */
	enum push_state state;
	bool quit, ended;
	enum ibcc_proto_refusal stop; /* why the running plan must stop */
	struct ibcc_plan plan;
	uint64_t cc_key, port_guid, took_ms;
	struct ibcc_plan_report *report;
	struct ibcc_transport *transport; /* only the thread changes it */
	uint64_t open_guid;               /* the port that it was opened for */
	struct ibcc_set_budget budget;    /* used by the thread only */
};

static bool may_continue(void *arg)
{
	struct ibcc_push *p = arg;
	enum ibcc_proto_refusal objection = p->host.objection(p->host.arg);
	bool go_on;

	pthread_mutex_lock(&p->lock);
	if (objection != IBCC_REFUSAL_NONE && p->stop == IBCC_REFUSAL_NONE)
		p->stop = objection;
	go_on = p->stop == IBCC_REFUSAL_NONE && !p->quit;
	pthread_mutex_unlock(&p->lock);
	return go_on;
}

static void close_transport(struct ibcc_push *p)
{
	struct ibcc_transport *t = p->transport;

	/* Unpublish it first: ibcc_push_free() may want to cancel it. */
	pthread_mutex_lock(&p->lock);
	p->transport = NULL;
	pthread_mutex_unlock(&p->lock);
	ibcc_transport_free(t);
}

static int open_transport(struct ibcc_push *p, char *why, size_t len)
{
	struct ibcc_transport *t;
	int err = -EIO;

	if (p->transport && p->open_guid == p->port_guid)
		return 0;
	close_transport(p);
	t = p->host.open(p->host.arg, p->port_guid, &err, why, len);
	if (!t)
		return err;
	pthread_mutex_lock(&p->lock);
	p->transport = t;
	p->open_guid = p->port_guid;
	pthread_mutex_unlock(&p->lock);
	return 0;
}

static bool port_failed(const struct ibcc_result *r)
{
	uint32_t i;

	for (i = 0; i < r->n; i++)
		if (r->change[i].err == -EIO)
			return true;
	return false;
}

static void apply(struct ibcc_push *p, struct ibcc_plan_report *report)
{
	struct ibcc_why left_out = { "" };
	struct ibcc_apply_options o = { .cc_key = p->cc_key,
					.bounds = &p->host.bounds,
					.budget = &p->budget,
					.left_out = &left_out,
					.may_continue = may_continue,
					.arg = p };
	struct ibcc_proto_error *end = &report->end;
	char why[sizeof(end->text) - 32] = "";

	end->err = open_transport(p, why, sizeof(why));
	if (end->err) {
		end->refusal = IBCC_REFUSAL_NO_PORT;
		snprintf(end->text, sizeof(end->text), "no port for MADs: %s", why);
		return;
	}
	end->err = ibcc_result_init(&report->result, p->plan.n);
	if (end->err) {
		end->refusal = IBCC_REFUSAL_INTERNAL;
		snprintf(end->text, sizeof(end->text), "OpenSM has no memory for this plan");
		return;
	}
	end->err = ibcc_apply_run(p->transport, &p->plan, &o, &report->result);
	end->set_mads = report->result.set_mads;
	if (port_failed(&report->result))
		close_transport(p);
	if (left_out.text[0])
		snprintf(end->text, sizeof(end->text), "left out: %.180s", left_out.text);
	if (end->err != -ECANCELED)
		return;
	pthread_mutex_lock(&p->lock);
	end->refusal = p->quit ? IBCC_REFUSAL_NOT_MASTER : p->stop;
	pthread_mutex_unlock(&p->lock);
	snprintf(end->text, sizeof(end->text), "stopped on the way: %s",
		 p->quit ? "OpenSM is ending" : ibcc_proto_refusal_text(end->refusal));
}

static void *run(void *arg)
{
	struct ibcc_push *p = arg;
	struct ibcc_plan_report *report;
	uint64_t began_ms;

	pthread_mutex_lock(&p->lock);
	while (!p->quit) {
		if (p->state != PUSH_RUNNING) {
			pthread_cond_wait(&p->changed, &p->lock);
			continue;
		}
		report = p->report;
		pthread_mutex_unlock(&p->lock);
		began_ms = ibcc_now_ms();
		apply(p, report);
		pthread_mutex_lock(&p->lock);
		p->took_ms = ibcc_now_ms() - began_ms;
		report->plan = p->plan;
		memset(&p->plan, 0, sizeof(p->plan));
		p->state = PUSH_DONE;
		p->host.done(p->host.arg);
	}
	pthread_mutex_unlock(&p->lock);
	close_transport(p);
	pthread_mutex_lock(&p->lock);
	p->ended = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

struct ibcc_push *ibcc_push_new(const struct ibcc_push_host *host)
{
	struct ibcc_push *p = calloc(1, sizeof(*p));
	pthread_condattr_t attr;
	int ret;

	if (!p)
		return NULL;
	p->host = *host;
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->changed, &attr);
	pthread_condattr_destroy(&attr);
	ret = ibcc_thread_start(&p->thread, run, p);
	if (!ret) {
		pthread_setname_np(p->thread, "ibcc-push");
		return p;
	}
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p);
	return NULL;
}

/* A cancel only ends what is in flight, and it may come just before the thread's next batch. So
 * cancel until the thread has seen `quit`.
 */
static void cancel_until_ended(struct ibcc_push *p)
{
	struct timespec until;

	pthread_mutex_lock(&p->lock);
	p->quit = true;
	pthread_cond_broadcast(&p->changed);
	while (!p->ended) {
		if (p->transport)
			ibcc_transport_cancel(p->transport);
		until = ibcc_now_in_ms(CANCEL_AGAIN_MS);
		pthread_cond_timedwait(&p->changed, &p->lock, &until);
	}
	pthread_mutex_unlock(&p->lock);
}

void ibcc_push_free(struct ibcc_push *p)
{
	if (!p)
		return;
	cancel_until_ended(p);
	pthread_join(p->thread, NULL);
	ibcc_plan_fini(&p->plan);
	ibcc_plan_report_free(p->report);
	ibcc_set_budget_fini(&p->budget);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

int ibcc_push_start(struct ibcc_push *p, struct ibcc_plan *plan, uint64_t cc_key,
		    uint64_t port_guid)
{
	struct ibcc_plan_report *report = calloc(1, sizeof(*report));
	int ret = -EBUSY;

	if (!report)
		return -ENOMEM;
	pthread_mutex_lock(&p->lock);
	if (p->state == PUSH_IDLE) {
		p->state = PUSH_RUNNING;
		p->stop = IBCC_REFUSAL_NONE;
		p->plan = *plan;
		p->cc_key = cc_key;
		p->port_guid = port_guid;
		p->report = report;
		report = NULL;
		memset(plan, 0, sizeof(*plan));
		pthread_cond_broadcast(&p->changed);
		ret = 0;
	}
	pthread_mutex_unlock(&p->lock);
	free(report);
	return ret;
}

void ibcc_push_abandon(struct ibcc_push *p)
{
	pthread_mutex_lock(&p->lock);
	if (p->state == PUSH_RUNNING) {
		if (p->stop == IBCC_REFUSAL_NONE)
			p->stop = IBCC_REFUSAL_GONE;
		if (p->transport)
			ibcc_transport_cancel(p->transport);
	}
	pthread_mutex_unlock(&p->lock);
}

bool ibcc_push_busy(struct ibcc_push *p)
{
	bool busy;

	pthread_mutex_lock(&p->lock);
	busy = p->state != PUSH_IDLE;
	pthread_mutex_unlock(&p->lock);
	return busy;
}

void ibcc_push_stop(struct ibcc_push *p, enum ibcc_proto_refusal reason)
{
	pthread_mutex_lock(&p->lock);
	if (p->state == PUSH_RUNNING && p->stop == IBCC_REFUSAL_NONE)
		p->stop = reason;
	pthread_mutex_unlock(&p->lock);
}

struct ibcc_plan_report *ibcc_push_take(struct ibcc_push *p, uint64_t *took_ms)
{
	struct ibcc_plan_report *report = NULL;

	pthread_mutex_lock(&p->lock);
	if (p->state == PUSH_DONE) {
		report = p->report;
		p->report = NULL;
		p->state = PUSH_IDLE;
		*took_ms = p->took_ms;
	}
	pthread_mutex_unlock(&p->lock);
	return report;
}
