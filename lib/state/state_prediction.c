/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Stores what was predicted for a transaction, for comparison with what was measured after it. */
#include <errno.h>
#include <stdlib.h>

#include "lib/state/state_db.h"

int ibcc_state_predicted(struct ibcc_state *s, int64_t id, const json_t *prediction)
{
	static const char sql[] = "INSERT OR REPLACE INTO prediction (txn, text)"
				  " SELECT id, ?2 FROM txn WHERE id = ?1";
	char *text = json_dumps(prediction, JSON_COMPACT);
	const char *const value = text;
	int rc = text ? ibcc_state_run(s, sql, &id, 1, &value, 1) : -ENOMEM;

	free(text);
	return rc;
}

/* The file may be anyone's, so a value that is not an object is treated as missing. */
json_t *ibcc_state_read_object(sqlite3_stmt *st, int column)
{
	const char *text = (const char *)sqlite3_column_text(st, column);
	json_t *o = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;

	if (json_is_object(o))
		return o;
	json_decref(o);
	return json_null();
}

static bool tells(const json_t *prediction, double *low, double *high)
{
	const json_t *total = json_object_get(prediction, "total");

	*low = json_number_value(json_object_get(total, "low_mbps"));
	*high = json_number_value(json_object_get(total, "high_mbps"));
	return json_is_true(json_object_get(prediction, "known")) && *high > 0;
}

void ibcc_state_hits(struct ibcc_state *s, uint32_t *held, uint32_t *of)
{
	static const char sql[] = "SELECT text, after FROM prediction JOIN effect"
				  " ON effect.txn = prediction.txn WHERE after IS NOT NULL";
	sqlite3_stmt *st = NULL;

	*held = *of = 0;
	if (!s->db || sqlite3_prepare_v2(s->db, sql, -1, &st, NULL))
		return;
	while (sqlite3_step(st) == SQLITE_ROW) {
		json_t *p = ibcc_state_read_object(st, 0);
		json_t *after = ibcc_state_read_sample(st, 1);
		double mbps = json_number_value(json_object_get(after, "total_mbps")), low, high;

		if (json_is_object(after) && tells(p, &low, &high)) {
			*held += mbps >= low && mbps <= high;
			++*of;
		}
		json_decref(p);
		json_decref(after);
	}
	sqlite3_finalize(st);
}
