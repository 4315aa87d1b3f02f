/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Shared by the files of the service thread: worker.c keeps the topology and serves clients,
 * worker_plans.c decides which plan is applied, and handles its outcome.
 */
#ifndef IBCC_PLUGIN_WORKER_IMPL_H
#define IBCC_PLUGIN_WORKER_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "opensm-plugin/push.h"
#include "opensm-plugin/record.h"
#include "opensm-plugin/server.h"
#include "opensm-plugin/worker.h"
#include "opensm-plugin/writer.h"

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
	/* Used by the service thread only. */
	struct ibcc_proto_state state; /* as clients were last notified of it */
	struct ibcc_shared_topo *topo;
	uint64_t generation; /* of the last topology, also before the first */
	bool due, sweeping;
	uint64_t due_since_ms, last_event_ms, sweep_since_ms;
	uint64_t trap_ms; /* when to read what a trap may have changed; 0: nothing */
	enum ibcc_proto_refusal logged_refusal;
	struct ibcc_session *writer; /* see writer.h */
	/* The client of the plan that is being applied. NULL: there is none, the plan is the
	 * plugin's own, or its client is gone.
	 */
	const struct ibcc_session *pushing;
	uint64_t cc_key; /* key of that plan */
	/* The plan of a client that has taken the writer's place. It waits until the earlier plan
	 * has stopped.
	 */
	struct {
		struct ibcc_session *session; /* NULL: none */
		struct ibcc_plan plan;
		uint64_t cc_key;
	} next;
	struct ibcc_record record;
	struct ibcc_dead_man dead_man;
};

/* Reads the topology again if an event requires it, and no sweep is running. */
void ibcc_plugin_worker_catch_up(struct ibcc_plugin_worker *w);

/* Callbacks for struct ibcc_session_host. */
void ibcc_plugin_worker_state(void *arg, struct ibcc_proto_state *s);
enum ibcc_proto_refusal ibcc_plugin_worker_submit(void *arg, struct ibcc_session *s,
						  struct ibcc_plan *plan, uint64_t cc_key,
						  struct ibcc_proto_error *why);
void ibcc_plugin_worker_gone(void *arg, struct ibcc_session *s);
/* Why nothing may be written now. A callback for struct ibcc_push_host, so the push thread calls
 * it, too.
 */
enum ibcc_proto_refusal ibcc_plugin_worker_objection(void *arg);

/* Takes the report of a finished plan, if any, and starts the plan that waits for it. */
void ibcc_plugin_worker_next(struct ibcc_plugin_worker *w);
/* Disables what clients had written, because no client looks after it any more. */
void ibcc_plugin_worker_revert(struct ibcc_plugin_worker *w);
/* Drops the plan that waits. */
void ibcc_plugin_worker_drop_next(struct ibcc_plugin_worker *w);

#endif
