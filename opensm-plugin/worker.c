/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The service thread (worker.h): run() waits for events of OpenSM, for clients and for the push
 * thread. It reads the topology again when that may have changed, and checks time limits once a
 * second. Plans are in worker_plans.c.
 */
#include "opensm-plugin/worker_impl.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <ibcc/now.h>
#include <ibcc/text.h>
#include <ibcc/thread.h>

#include "opensm-plugin/fabric.h"

/* Events come in bursts (one for each block of each switch's table), so the topology is read when
 * they pause.
 */
#define PAUSE_MS 50u
#define TICK_MS  1000u
#define TRAP_MS  2000u /* after a trap: OpenSM asks the trap's sender at once */
/* A sweep that fails midway reports nothing more; after this time the topology is read as it is. */
#define SWEEP_PATIENCE_MS 60000u

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
				"ERR IC06: no memory for a copy of the topology; clients get the "
				"older one");
		return;
	}
	ibcc_plugin_log(&w->log, IBCC_PLUGIN_DEBUG,
			"%u node%s copied with OpenSM's lock for reading held for %llu us",
			t->n_nodes, ibcc_text_plural(t->n_nodes, "", "s"),
			(unsigned long long)(locked_ns / 1000));
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
	ibcc_plugin_log(&w->log, IBCC_PLUGIN_VERBOSE, "topology generation %llu: %u node%s",
			(unsigned long long)t->generation, t->n_nodes,
			ibcc_text_plural(t->n_nodes, "", "s"));
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

void ibcc_plugin_worker_catch_up(struct ibcc_plugin_worker *w)
{
	take_events(w, ibcc_now_ms());
	if (w->due && !w->sweeping)
		refresh(w);
}

void ibcc_plugin_worker_state(void *arg, struct ibcc_proto_state *s)
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

/* Detects changes that have no event (MASTER to STANDBY, promotion, options read again), and
 * notifies clients of them.
 */
static void look_at_state(struct ibcc_plugin_worker *w)
{
	struct ibcc_proto_state s;

	ibcc_plugin_worker_state(w, &s);
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

/* How long the topology may stay unread; 0: read it now. */
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
	uint64_t now = ibcc_now_ms(), tick_ms = now, wait, count;
	unsigned int n;

	while (!atomic_load(&w->quit)) {
		take_events(w, now);
		if (w->due && !pause_left_ms(w, now))
			refresh(w);
		ibcc_plugin_worker_next(w);
		look_at_state(w);
		if (now >= tick_ms) {
			ibcc_server_tick(&w->server, now);
			if (ibcc_dead_man_is_due(&w->dead_man, w->record.left.n != 0,
						 ibcc_server_is_kept(&w->server, now), now))
				ibcc_plugin_worker_revert(w);
			tick_ms = now + TICK_MS;
		}
		wait = tick_ms - now;
		if (w->due && pause_left_ms(w, now) < wait)
			wait = pause_left_ms(w, now);
		pfd[0] = (struct pollfd){ .fd = w->wake, .events = POLLIN };
		n = ibcc_server_pollfds(&w->server, pfd + 1);
		if (poll(pfd, n + 1, (int)wait) < 0)
			n = 0; /* no memory in the kernel: treat it as a time-out */
		now = ibcc_now_ms();
		if (n && pfd[0].revents)
			(void)!read(w->wake, &count, sizeof(count));
		if (n)
			ibcc_server_serve(&w->server, pfd + 1, n, now);
	}
	return NULL;
}

static uint64_t first_generation(void)
{
	/* So that no plan for a topology of an earlier OpenSM process fits accidentally. */
	return ibcc_now_of_ns(CLOCK_REALTIME) / 1000u;
}

static int start_thread(struct ibcc_plugin_worker *w)
{
	int ret = ibcc_thread_start(&w->thread, run, w);

	if (!ret)
		pthread_setname_np(w->thread, "ibcc-serve");
	return ret;
}

struct ibcc_plugin_worker *ibcc_plugin_worker_new(struct osm_opensm *osm,
						  const struct ibcc_plugin_options *o,
						  const struct ibcc_plugin_log *log)
{
	struct ibcc_plugin_worker *w = calloc(1, sizeof(*w));
	struct ibcc_session_host host = {
		.state = ibcc_plugin_worker_state,
		.topo = host_topo,
		.submit = ibcc_plugin_worker_submit,
		.gone = ibcc_plugin_worker_gone,
		.arg = w,
	};
	struct ibcc_push_host push = {
		.open = push_open,
		.objection = ibcc_plugin_worker_objection,
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
	ibcc_plugin_log(log, IBCC_PLUGIN_ERROR,
			"ERR IC03: cannot start: %s; OpenSM runs without the plugin, so the "
			"daemon cannot write",
			strerror(-ret));
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
	ibcc_server_fini(&w->server); /* abandons the plan that a client waits for */
	ibcc_push_free(w->push);
	ibcc_plugin_worker_drop_next(w);
	ibcc_record_fini(&w->record);
	ibcc_shared_topo_put(w->topo);
	close(w->wake);
	free(w);
}
