/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which client writes, and until when; and for how long no client has looked after what was
 * written. This module has no threads, clocks or I/O.
 *
 * One client writes at a time, because two would undo each other's work. It has the writer's place
 * from its first plan with a change on, for as long as it is connected and lives. It lives while
 * its plan is applied, and after each message for its lease: the time that it has promised last
 * (STATE_GET), or IBCC_WRITER_LEASE_MS. Root takes the place from another user's client at once, so
 * that an operator can revert settings without the help of a daemon that has stopped.
 */
#ifndef IBCC_PLUGIN_WRITER_H
#define IBCC_PLUGIN_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "opensm-plugin/session.h"

/* Lease of a client that has promised nothing. */
#define IBCC_WRITER_LEASE_MS 10000u

/* Does a client live? */
bool ibcc_writer_lives(const struct ibcc_session *s, uint64_t now_ms);

enum ibcc_writer_turn {
	IBCC_WRITER_MAY,   /* no other client writes */
	IBCC_WRITER_TAKES, /* it replaces the present writer */
	IBCC_WRITER_WAITS, /* the present writer lives */
};

/* May `next` write? `present` is the client that has written last, or NULL. */
enum ibcc_writer_turn ibcc_writer_turn(const struct ibcc_session *present,
				       const struct ibcc_session *next, uint64_t now_ms);

/* The auto-revert timeout: what clients had written is disabled when no client has looked after it
 * for this time.
 */
struct ibcc_dead_man {
	uint64_t after_ms; /* 0: never */
	uint64_t alive_ms; /* when there last was such a client, or the last try */
};

/* Call about once a second: is it time to disable what was written? If that fails, it is due again
 * after the same time. `left`: there is something to disable; `kept`: ibcc_server_is_kept().
 */
bool ibcc_dead_man_is_due(struct ibcc_dead_man *d, bool left, bool kept, uint64_t now_ms);

#endif
