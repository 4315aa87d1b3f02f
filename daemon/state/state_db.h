/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Inside of the state: the database handle, shared by state.c (writes) and state_query.c (reads).
 */
#ifndef IBCC_DAEMON_STATE_DB_H
#define IBCC_DAEMON_STATE_DB_H

#include <sqlite3.h>

#include "daemon/state/state.h"

struct ibcc_state {
	sqlite3 *db;
	uint32_t interrupted;
};

/* -EIO or -ENOMEM with the database's own words. */
int ibcc_state_failed(struct ibcc_state *s, struct ibcc_why *why);

/* Changes that may be on the fabric because of us and are not taken back. Keys (attribute 0x12) are
 * not stored, and are no settings.
 */
#define IBCC_STATE_LIVE_CHANGES                                                                    \
	" FROM change AS c JOIN txn AS t ON t.id = c.txn"                                          \
	" WHERE t.undone_by IS NULL AND t.action <> 'rollback' AND t.outcome <> 'refused'"         \
	" AND c.outcome NOT IN ('skipped', 'dry', 'unmade') AND c.attr_id <> 18 AND t.id >= ?1"

/* The first eight columns of a row: node_guid, port, attr_id, attr_mod, lid, old, new, port_block.
 * -EIO: no change of ours looks like that.
 */
int ibcc_state_read_change(sqlite3_stmt *st, struct ibcc_change *c);

#endif
