/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Inside of the state: the database handle, shared by state.c (writes) and state_query.c (reads).
 */
#ifndef IBCC_DAEMON_STATE_DB_H
#define IBCC_DAEMON_STATE_DB_H

#include <sqlite3.h>

#include "daemon/state.h"

struct ibcc_state {
	sqlite3 *db;
	uint32_t interrupted;
};

/* -EIO or -ENOMEM with the database's own words. */
int ibcc_state_failed(struct ibcc_state *s, struct ibcc_why *why);

#endif
