/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon's end of the conversation with the OpenSM plugin (ibcc/proto.h).
 *
 * All calls but ibcc_plugin_cancel() are made by one thread and may block for as long as the
 * plugin needs, at most IBCC_PLUGIN_SILENCE_MS between two of its messages.
 */
#ifndef IBCC_PLUGIN_CLIENT_H
#define IBCC_PLUGIN_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/plan.h>
#include <ibcc/proto.h>
#include <ibcc/topo.h>
#include <ibcc/why.h>

#define IBCC_PLUGIN_SILENCE_MS  10000
#define IBCC_PLUGIN_PATIENCE_MS 1000 /* what an OpenSM that runs may take for a sign of life */

struct ibcc_plugin;

/* NULL without memory or descriptors. Does not connect yet. */
struct ibcc_plugin *ibcc_plugin_new(const char *socket_path);
void ibcc_plugin_free(struct ibcc_plugin *p);

/* Connects and says HELLO if there is no connection. Returns 0 when connected. -ENOENT or
 * -ECONNREFUSED: no process listens; -EACCES; -EPERM: the plugin refused; -EPROTO. -ETIMEDOUT: the
 * plugin has not answered yet; only the first call waits for that.
 */
int ibcc_plugin_connect(struct ibcc_plugin *p, struct ibcc_why *why);

/* Takes in what the plugin said unasked, and asks it for a sign of life, which the next call takes
 * in. Returns 0, or -ENOTCONN when the connection is gone.
 */
int ibcc_plugin_poll(struct ibcc_plugin *p);

/* Promises the plugin that ibcc_plugin_poll() is called again within this time: from then on a
 * longer silence means that we have stopped. 0, as at first: we do not look after what is written.
 */
void ibcc_plugin_promise(struct ibcc_plugin *p, uint32_t lease_ms);

/* How long the plugin owes us a sign of life, in milliseconds; 0 if it does not. An OpenSM that has
 * stopped (SIGSTOP, a deadlock, a debugger) keeps its sockets open.
 */
uint64_t ibcc_plugin_silent_ms(const struct ibcc_plugin *p);
/* -ETIMEDOUT, with a sentence about that. */
int ibcc_plugin_stopped(const struct ibcc_plugin *p, struct ibcc_why *why);

/* What the plugin last said about its SM; NULL when not connected. */
const struct ibcc_proto_state *ibcc_plugin_state(const struct ibcc_plugin *p);

/* Whether the connected plugin is of another release than we are, with a sentence about it. They
 * understand each other, or there would be no connection, but one of them was forgotten.
 */
bool ibcc_plugin_is_other_release(const struct ibcc_plugin *p, struct ibcc_why *why);

/* Fetches the topology; the caller owns it. NULL with *err and *why on failure. */
struct ibcc_topo *ibcc_plugin_topology(struct ibcc_plugin *p, int *err, struct ibcc_why *why);

/* Has a plan carried out. Returns as struct ibcc_applier_ops::run; -EPERM with the plugin's reason
 * when it refuses; -ENOTCONN when the connection broke, the outcomes of changes without an answer
 * are PENDING then.
 */
int ibcc_plugin_apply(struct ibcc_plugin *p, const struct ibcc_plan *plan, uint64_t cc_key,
		      struct ibcc_result *r, struct ibcc_why *why);

/* From any thread: makes a waiting call of the other thread return -ECANCELED, once and for all. */
void ibcc_plugin_cancel(struct ibcc_plugin *p);

#endif
