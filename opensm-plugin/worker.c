/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "opensm-plugin/worker.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <ibcc/vendor.h>

#include "opensm-plugin/fabric.h"
#include "opensm-plugin/push.h"
#include "opensm-plugin/record.h"
#include "opensm-plugin/server.h"
#include "opensm-plugin/writer.h"

/* Events come in bursts (one for each block of each switch's table): read when they pause. */
#define PAUSE_MS 50u
#define TICK_MS  1000u
#define TRAP_MS  2000u /* OpenSM asks who sent it at once */
/* A sweep that fails midway reports nothing more; what there is then is read after this time. */
#define SWEEP_PATIENCE_MS 60000u

struct ibcc_plugin_worker {
	struct osm_opensm *osm;
	struct ibcc_plugin_options options;
	struct ibcc_plugin_log log;
	pthread_t thread;
	int wake;           /* eventfd */
	atomic_uint events; /* enum ibcc_plugin_worker_event bits since the last look */
	atomic_bool quit;
	struct ibcc_push *push;
	struct ibcc_server server;
	/* of the service thread */
	struct ibcc_proto_state state; /* as last told to the clients */
	struct ibcc_shared_topo *topo;
	uint64_t generation; /* of the last topology, also before the first */
	bool due, sweeping;
	uint64_t due_since_ms, last_event_ms, sweep_since_ms;
	uint64_t trap_ms; /* when what a trap led to is to be read; 0: nothing */
	enum ibcc_proto_refusal logged_refusal;
	const struct ibcc_session *writer; /* see writer.h */
	/* Whose plan is being applied; NULL: nobody's, or one of our own, or its client has gone.
	 */
	const struct ibcc_session *pushing;
	uint64_t cc_key; /* of that plan */
	/* The plan of a client that has taken the writer's place, until that one's has stopped. */
	struct {
		struct ibcc_session *session; /* NULL: none */
		struct ibcc_plan plan;
		uint64_t cc_key;
	} next;
	struct ibcc_record record;
	struct ibcc_dead_man dead_man;
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void wake(struct ibcc_plugin_worker *w)
{
	uint64_t one = 1;

	/* Only fails when it is full of wake-ups already. */
	(void)!write(w->wake, &one, sizeof(one));
}

void ibcc_plugin_worker_report(struct ibcc_plugin_worker *w, enum ibcc_plugin_worker_event event)
{
	/* A burst wakes the thread once. */
	if (!(atomic_fetch_or(&w->events, event) & event))
		wake(w);
}

/* Reads the topology again; a new generation only if something is different. */
static void refresh(struct ibcc_plugin_worker *w)
{
	uint64_t locked_ns;
	struct ibcc_topo *t = ibcc_plugin_fabric_read(w->osm, &locked_ns);
	struct ibcc_shared_topo *shared;

	w->due = false;
	if (!t) {
		ibcc_plugin_log(&w->log, IBCC_PLUGIN_ERROR,
				"ERR IC06: no memory for a copy of the topology");
		return;
	}
	ibcc_plugin_log(&w->log, IBCC_PLUGIN_DEBUG,
			"%u nodes copied with OpenSM's lock for reading held for %llu us",
			t->n_nodes, (unsigned long long)(locked_ns / 1000));
	if (w->topo && ibcc_topo_equal(w->topo->topo, t)) {
		ibcc_topo_free(t);
		return;
	}
	t->generation = w->generation + 1;
	shared = ibcc_shared_topo_new(t);
	if (!shared)
		return;
	ibcc_shared_topo_put(w->topo);
	w->topo = shared;
	w->generation = t->generation;
	/* LIDs may belong to other nodes now. */
	ibcc_push_stop(w->push, IBCC_REFUSAL_STALE);
	ibcc_plugin_log(&w->log, IBCC_PLUGIN_VERBOSE, "topology generation %llu: %u nodes",
			(unsigned long long)t->generation, t->n_nodes);
}

static void take_events(struct ibcc_plugin_worker *w, uint64_t now)
{
	unsigned int events = atomic_exchange(&w->events, 0);

	if (events & IBCC_WORKER_TRAP && !w->trap_ms)
		w->trap_ms = now + TRAP_MS;
	if (w->trap_ms && now >= w->trap_ms) {
		w->trap_ms = 0;
		events |= IBCC_WORKER_CHANGED;
	}
	if (!(events & ~(unsigned int)IBCC_WORKER_TRAP))
		return;
	w->last_event_ms = now;
	if (!w->due)
		w->due_since_ms = now;
	w->due = true;
	if (events & IBCC_WORKER_SETTLED) {
		w->sweeping = false;
	} else if (events & IBCC_WORKER_SWEEP_BEGAN) {
		w->sweeping = true;
		w->sweep_since_ms = now;
	}
}

static void host_state(void *arg, struct ibcc_proto_state *s)
{
	struct ibcc_plugin_worker *w = arg;

	memset(s, 0, sizeof(*s));
	ibcc_plugin_sm_read(w->osm, s);
	s->generation = w->topo ? w->topo->topo->generation : 0;
	s->n_nodes = w->topo ? w->topo->topo->n_nodes : 0;
	s->max_delay = w->options.max_delay;
	s->max_timer = w->options.max_timer;
	s->sets_per_minute = w->options.sets_per_minute;
}

static struct ibcc_shared_topo *host_topo(void *arg)
{
	struct ibcc_plugin_worker *w = arg;

	return ibcc_shared_topo_get(w->topo);
}

static enum ibcc_proto_refusal objection(void *arg)
{
	struct ibcc_plugin_worker *w = arg;
	struct ibcc_proto_state s;

	ibcc_plugin_sm_read(w->osm, &s);
	if (s.sm_state != IBCC_SM_MASTER || ibcc_plugin_sm_exiting())
		return IBCC_REFUSAL_NOT_MASTER;
	return s.own_cc ? IBCC_REFUSAL_TWO_WRITERS : IBCC_REFUSAL_NONE;
}

/* MADs go to LIDs, but plans mean nodes: the first change whose LID is another's, or NULL. */
static const struct ibcc_change *find_misdirected(const struct ibcc_topo *t,
						  const struct ibcc_plan *plan)
{
	for (uint32_t i = 0; i < plan->n; i++) {
		const struct ibcc_change *c = &plan->change[i];
		uint32_t p = ibcc_topo_port_of_lid(t, c->lid);

		if (p == IBCC_NONE || t->node[t->port[p].node].guid != c->node_guid ||
		    t->port[p].num != c->port)
			return c;
	}
	return NULL;
}

static enum ibcc_proto_refusal judge(struct ibcc_plugin_worker *w, const struct ibcc_plan *plan,
				     struct ibcc_proto_error *why)
{
	enum ibcc_proto_refusal refusal;
	const struct ibcc_change *lost;

	/* The plan may be for a topology that has gone just now, told in this very round. */
	take_events(w, now_ms());
	if (w->due && !w->sweeping)
		refresh(w);
	refusal = objection(w);
	if (refusal != IBCC_REFUSAL_NONE) {
		struct ibcc_proto_state s;

		host_state(w, &s);
		snprintf(why->text, sizeof(why->text),
			 refusal == IBCC_REFUSAL_TWO_WRITERS
				 ? "OpenSM's own congestion_control is TRUE (SM state %s); set it "
				   "to FALSE in opensm.conf and send OpenSM a SIGHUP"
				 : "this SM is %s, only a MASTER may write",
			 ibcc_proto_sm_state_name(s.sm_state));
		return refusal;
	}
	if (!w->topo || plan->generation != w->topo->topo->generation) {
		snprintf(why->text, sizeof(why->text),
			 "the plan is for topology generation %llu, now it is %llu",
			 (unsigned long long)plan->generation,
			 (unsigned long long)(w->topo ? w->topo->topo->generation : 0));
		return IBCC_REFUSAL_STALE;
	}
	lost = find_misdirected(w->topo->topo, plan);
	if (lost) {
		snprintf(why->text, sizeof(why->text),
			 "the plan has LID %u for port %u of node 0x%016llx, which is not so",
			 lost->lid, lost->port, (unsigned long long)lost->node_guid);
		return IBCC_REFUSAL_STALE;
	}
	return IBCC_REFUSAL_NONE;
}

static enum ibcc_proto_refusal start(struct ibcc_plugin_worker *w, struct ibcc_session *s,
				     struct ibcc_plan *plan, uint64_t cc_key,
				     struct ibcc_proto_error *why)
{
	enum ibcc_proto_refusal refusal = judge(w, plan, why);
	struct ibcc_proto_state state;
	uint32_t n = plan->n;

	host_state(w, &state);
	if (refusal == IBCC_REFUSAL_NONE) {
		ibcc_vendor_mark(w->topo->topo, plan);
		why->err = ibcc_record_mark(&w->record, plan);
		if (!why->err)
			why->err = ibcc_push_start(w->push, plan, cc_key, state.port_guid);
		if (why->err) {
			refusal = why->err == -EBUSY ? IBCC_REFUSAL_BUSY : IBCC_REFUSAL_INTERNAL;
			snprintf(why->text, sizeof(why->text), "%s",
				 why->err == -EBUSY ? "another plan is being applied"
						    : "OpenSM has no memory for this plan");
		}
	}
	if (refusal == IBCC_REFUSAL_NONE) {
		w->cc_key = cc_key;
		w->pushing = s;
		if (n) /* a plan of nothing takes nobody's place */
			w->writer = s;
		ibcc_plugin_log(&w->log, IBCC_PLUGIN_VERBOSE, "applying a plan of %u changes", n);
	}
	return refusal;
}

/* Its client waits until the plan that is being applied has stopped. */
static enum ibcc_proto_refusal park(struct ibcc_plugin_worker *w, struct ibcc_session *s,
				    struct ibcc_plan *plan, uint64_t cc_key,
				    struct ibcc_proto_error *why)
{
	if (w->next.session) {
		snprintf(why->text, sizeof(why->text), "another plan waits for its turn");
		return IBCC_REFUSAL_BUSY;
	}
	ibcc_push_stop(w->push, IBCC_REFUSAL_BUSY);
	w->next.session = s;
	w->next.plan = *plan;
	w->next.cc_key = cc_key;
	memset(plan, 0, sizeof(*plan));
	return IBCC_REFUSAL_NONE;
}

static enum ibcc_proto_refusal take_turn(struct ibcc_plugin_worker *w, struct ibcc_session *s,
					 struct ibcc_plan *plan, uint64_t cc_key,
					 struct ibcc_proto_error *why)
{
	const struct ibcc_session *present = w->writer;

	switch (plan->n ? ibcc_writer_turn(present, s, now_ms()) : IBCC_WRITER_MAY) {
	case IBCC_WRITER_MAY: break;
	case IBCC_WRITER_WAITS:
		snprintf(why->text, sizeof(why->text), "%s client %ld (uid %ld)%s",
			 ibcc_push_busy(w->push) ? "another plan is being applied, of"
						 : "another daemon writes through this plugin,",
			 (long)present->pid, (long)present->uid,
			 present->uid ? "; a plan of root would take its place" : "");
		return IBCC_REFUSAL_BUSY;
	case IBCC_WRITER_TAKES:
		ibcc_plugin_log(&w->log, IBCC_PLUGIN_ERROR,
				"ERR IC11: client %ld (uid %ld) writes from now on in place of "
				"client %ld (uid %ld)%s",
				(long)s->pid, (long)s->uid, (long)present->pid, (long)present->uid,
				ibcc_writer_lives(present, now_ms()) ? "" : ", which has stopped");
		w->writer = s;
		if (ibcc_push_busy(w->push))
			return park(w, s, plan, cc_key, why);
		break;
	}
	return start(w, s, plan, cc_key, why);
}

static enum ibcc_proto_refusal host_submit(void *arg, struct ibcc_session *s,
					   struct ibcc_plan *plan, uint64_t cc_key,
					   struct ibcc_proto_error *why)
{
	struct ibcc_plugin_worker *w = arg;
	enum ibcc_proto_refusal refusal = take_turn(w, s, plan, cc_key, why);

	if (refusal != IBCC_REFUSAL_NONE &&
	    refusal != w->logged_refusal) /* a daemon asks again and again */
		ibcc_plugin_log(&w->log, IBCC_PLUGIN_ERROR, "ERR IC07: plan refused (%s): %s",
				ibcc_proto_refusal_text(refusal), why->text);
	w->logged_refusal = refusal;
	return refusal;
}

static void drop_next(struct ibcc_plugin_worker *w)
{
	ibcc_plan_fini(&w->next.plan);
	memset(&w->next, 0, sizeof(w->next));
}

/* The turn of a plan that has waited, which is judged now: the fabric may be another one. */
static void start_next(struct ibcc_plugin_worker *w)
{
	struct ibcc_session *s = w->next.session;
	struct ibcc_proto_error why = { 0 };
	struct ibcc_plan_report *report;

	if (!s || ibcc_push_busy(w->push))
		return;
	why.refusal = start(w, s, &w->next.plan, w->next.cc_key, &why);
	drop_next(w);
	if (why.refusal == IBCC_REFUSAL_NONE)
		return;
	report = calloc(1, sizeof(*report));
	if (report)
		report->end = why;
	ibcc_server_finish(&w->server, s, report);
}

/* Its plan stops where it is: whoever comes next reads the fabric, and must not see it move. */
static void host_gone(void *arg, struct ibcc_session *s)
{
	struct ibcc_plugin_worker *w = arg;

	if (w->writer == s)
		w->writer = NULL;
	if (w->next.session == s)
		drop_next(w);
	if (w->pushing == s) {
		ibcc_push_abandon(w->push);
		w->pushing = NULL;
	}
}

static struct ibcc_transport *push_open(void *arg, uint64_t port_guid, int *err, char *why,
					size_t len)
{
	struct ibcc_plugin_worker *w = arg;
	struct ibcc_umad_options o = {
		.port_guid = port_guid,
		.window = w->options.window,
		.timeout_ms = w->options.timeout_ms,
		.retries = w->options.retries,
	};

	return ibcc_umad_open(&o, err, why, len);
}

static void push_done(void *arg)
{
	wake(arg);
}

static void take_report(struct ibcc_plugin_worker *w)
{
	struct ibcc_plan_report *r;
	uint64_t ms = 0;

	r = ibcc_push_take(w->push, &ms);
	if (!r)
		return;
	if (r->end.refusal != IBCC_REFUSAL_NONE)
		ibcc_plugin_log(&w->log, IBCC_PLUGIN_ERROR,
				"ERR IC08: plan ended early: %s; %u of %u changes verified",
				r->end.text, r->result.n_verified, r->result.n);
	else
		ibcc_plugin_log(
			&w->log, r->end.err ? IBCC_PLUGIN_ERROR : IBCC_PLUGIN_INFO,
			"%splan applied: %u of %u changes verified, %u failed, %u Set MADs, "
			"%llu ms",
			r->end.err ? "ERR IC09: " : "", r->result.n_verified, r->result.n,
			r->result.n_failed, r->result.set_mads, (unsigned long long)ms);
	ibcc_record_note(&w->record, &r->plan, &r->result, w->cc_key);
	ibcc_server_finish(&w->server, w->pushing, r);
	w->pushing = NULL;
}

/* Nobody is left who looks after what was written. */
static void revert(struct ibcc_plugin_worker *w)
{
	struct ibcc_proto_state s;
	struct ibcc_plan plan;

	if (!w->topo || objection(w) != IBCC_REFUSAL_NONE || ibcc_push_busy(w->push) ||
	    ibcc_record_plan(&w->record, w->topo->topo, &plan))
		return;
	host_state(w, &s);
	w->cc_key = w->record.cc_key;
	ibcc_vendor_mark(w->topo->topo, &plan);
	if (plan.n && !ibcc_record_mark(&w->record, &plan) &&
	    !ibcc_push_start(w->push, &plan, w->cc_key, s.port_guid)) {
		w->pushing = NULL;
		ibcc_plugin_log(&w->log, IBCC_PLUGIN_ERROR,
				"ERR IC10: no daemon has looked after %u settings for %u s: they "
				"are taken off",
				w->record.left.n, w->options.revert_after_s);
	}
	ibcc_plan_fini(&plan);
}

/* Notices what has no event (MASTER to STANDBY, promotion, options read again); tells clients. */
static void look_at_state(struct ibcc_plugin_worker *w)
{
	struct ibcc_proto_state s;

	host_state(w, &s);
	if (!memcmp(&s, &w->state, sizeof(s)))
		return;
	if (s.sm_state != w->state.sm_state) {
		w->sweeping = false;
		ibcc_plugin_log(&w->log, IBCC_PLUGIN_VERBOSE, "SM state is %s",
				ibcc_proto_sm_state_name(s.sm_state));
	}
	w->state = s;
	ibcc_server_notify(&w->server);
}

/* How long the topology may be left unread still; 0: read it now. */
static uint64_t pause_left_ms(const struct ibcc_plugin_worker *w, uint64_t now)
{
	uint64_t calm = w->last_event_ms + PAUSE_MS, latest = w->due_since_ms + TICK_MS;
	uint64_t at = calm < latest ? calm : latest;

	if (w->sweeping)
		at = w->sweep_since_ms + SWEEP_PATIENCE_MS;
	return now < at ? at - now : 0;
}

static void *run(void *arg)
{
	struct ibcc_plugin_worker *w = arg;
	struct pollfd pfd[1 + 1 + IBCC_SERVER_CLIENTS];
	uint64_t now = now_ms(), tick_ms = now, wait, count;
	unsigned int n;

	while (!atomic_load(&w->quit)) {
		take_events(w, now);
		if (w->due && !pause_left_ms(w, now))
			refresh(w);
		take_report(w);
		start_next(w);
		look_at_state(w);
		if (now >= tick_ms) {
			ibcc_server_tick(&w->server, now);
			if (ibcc_dead_man_is_due(&w->dead_man, w->record.left.n != 0,
						 ibcc_server_is_kept(&w->server, now), now))
				revert(w);
			tick_ms = now + TICK_MS;
		}
		wait = tick_ms - now;
		if (w->due && pause_left_ms(w, now) < wait)
			wait = pause_left_ms(w, now);
		pfd[0] = (struct pollfd){ .fd = w->wake, .events = POLLIN };
		n = ibcc_server_pollfds(&w->server, pfd + 1);
		if (poll(pfd, n + 1, (int)wait) < 0)
			n = 0; /* no memory in the kernel: as after a time-out */
		now = now_ms();
		if (n && pfd[0].revents)
			(void)!read(w->wake, &count, sizeof(count));
		if (n)
			ibcc_server_serve(&w->server, pfd + 1, n, now);
	}
	return NULL;
}

static uint64_t first_generation(void)
{
	struct timespec t;

	/* No plan for a topology of an earlier OpenSM process may fit by chance. */
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Threads inherit the signal mask, and OpenSM's handlers must not run in ours. */
static int start_thread(struct ibcc_plugin_worker *w)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&w->thread, NULL, run, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!ret)
		pthread_setname_np(w->thread, "ibcc-serve");
	return -ret;
}

struct ibcc_plugin_worker *ibcc_plugin_worker_new(struct osm_opensm *osm,
						  const struct ibcc_plugin_options *o,
						  const struct ibcc_plugin_log *log)
{
	struct ibcc_plugin_worker *w = calloc(1, sizeof(*w));
	struct ibcc_session_host host = {
		.state = host_state,
		.topo = host_topo,
		.submit = host_submit,
		.gone = host_gone,
		.arg = w,
	};
	struct ibcc_push_host push = {
		.open = push_open,
		.objection = objection,
		.done = push_done,
		.bounds = { .max_delay = o->max_delay,
			    .max_timer = (uint16_t)o->max_timer,
			    .sets_per_minute = o->sets_per_minute },
		.arg = w,
	};
	int ret = -ENOMEM;

	if (!w)
		goto out;
	w->osm = osm;
	w->options = *o;
	w->log = *log;
	w->generation = first_generation();
	w->dead_man.after_ms = 1000ull * o->revert_after_s;
	w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ret = w->wake < 0 ? -errno : ibcc_server_init(&w->server, o, &host, log);
	if (ret)
		goto out;
	ret = -ENOMEM;
	w->push = ibcc_push_new(&push);
	if (w->push)
		ret = start_thread(w);
	if (!ret)
		return w;
	ibcc_push_free(w->push);
	ibcc_server_fini(&w->server);
out:
	ibcc_plugin_log(log, IBCC_PLUGIN_ERROR, "ERR IC03: cannot start: %s", strerror(-ret));
	if (w && w->wake >= 0)
		close(w->wake);
	free(w);
	return NULL;
}

void ibcc_plugin_worker_free(struct ibcc_plugin_worker *w)
{
	if (!w)
		return;
	atomic_store(&w->quit, true);
	wake(w);
	pthread_join(w->thread, NULL);
	ibcc_server_fini(&w->server); /* abandons what a client waits for */
	ibcc_push_free(w->push);
	drop_next(w);
	ibcc_record_fini(&w->record);
	ibcc_shared_topo_put(w->topo);
	close(w->wake);
	free(w);
}
