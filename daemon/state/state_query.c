/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <string.h>

#include <ibcc/json.h>

#include "daemon/state/state_db.h"

int ibcc_state_read_change(sqlite3_stmt *st, struct ibcc_change *c)
{
	const void *old_data = sqlite3_column_blob(st, 5), *new_data = sqlite3_column_blob(st, 6);

	if (sqlite3_column_bytes(st, 5) != (int)sizeof(c->old_data) ||
	    sqlite3_column_bytes(st, 6) != (int)sizeof(c->new_data))
		return -EIO;
	memset(c, 0, sizeof(*c));
	c->node_guid = (uint64_t)sqlite3_column_int64(st, 0);
	c->port = (uint8_t)sqlite3_column_int(st, 1);
	c->attr_id = (uint16_t)sqlite3_column_int(st, 2);
	c->attr_mod = (uint32_t)sqlite3_column_int64(st, 3);
	c->lid = (uint16_t)sqlite3_column_int(st, 4);
	c->port_block = (uint8_t)sqlite3_column_int(st, 7);
	memcpy(c->old_data, old_data, sizeof(c->old_data));
	memcpy(c->new_data, new_data, sizeof(c->new_data));
	return 0;
}

static bool same_attribute(const struct ibcc_change *a, const struct ibcc_change *b)
{
	return a->node_guid == b->node_guid && a->port == b->port && a->attr_id == b->attr_id &&
	       a->attr_mod == b->attr_mod;
}

/* The table that blocks are being joined for: the transaction that wrote it first, and its limit
 * before that, from the highest block seen.
 */
struct table {
	int64_t txn;
	uint16_t limit;
};

/* A node takes its CCTI_Limit (the first word of a block) from the block written last. A block that
 * only a later transaction wrote has the limit of that time as its old one: it gets the oldest.
 */
static void agree_on_limit(const struct ibcc_plan *plan, struct ibcc_change *c, int64_t txn,
			   struct table *table)
{
	const struct ibcc_change *prev = plan->n ? &plan->change[plan->n - 1] : NULL;
	uint16_t limit = (uint16_t)(c->old_data[0] << 8 | c->old_data[1]);

	if (c->attr_id != IBCC_CC_ATTR_CCT)
		return;
	if (!prev || prev->attr_id != IBCC_CC_ATTR_CCT || prev->node_guid != c->node_guid ||
	    prev->port != c->port)
		*table = (struct table){ txn, limit };
	else if (txn == table->txn)
		table->limit = limit;
	limit = ibcc_cct_block_limit(table->limit, c->attr_mod);
	if (txn == table->txn)
		return;
	c->old_data[0] = (uint8_t)(limit >> 8);
	c->old_data[1] = (uint8_t)limit;
}

/* Rows come by attribute, and for each by time: the first old value and the last new one stay. */
static int join(struct ibcc_plan *plan, struct ibcc_change *c, int64_t txn, struct table *table)
{
	if (plan->n && same_attribute(&plan->change[plan->n - 1], c)) {
		memcpy(plan->change[plan->n - 1].new_data, c->new_data, sizeof(c->new_data));
		return 0;
	}
	agree_on_limit(plan, c, txn, table);
	return ibcc_plan_append(plan, c);
}

int ibcc_state_undo(struct ibcc_state *s, int64_t from, struct ibcc_plan *joined, int64_t *first,
		    struct ibcc_why *why)
{
	struct ibcc_plan plan = { 0 };
	struct ibcc_change c;
	sqlite3_stmt *st = NULL;
	struct table table = { 0 };
	int64_t oldest = 0;
	bool found = from <= 0;
	int rc, step;

	/* Attribute identifiers happen to rise in the order in which a node wants them. */
	if (sqlite3_prepare_v2(s->db,
			       "SELECT c.node_guid, c.port, c.attr_id, c.attr_mod, c.lid, c.old,"
			       " c.new, c.port_block, t.id" IBCC_STATE_LIVE_CHANGES
			       " ORDER BY c.node_guid, c.port, c.attr_id, c.attr_mod, t.id, c.seq",
			       -1, &st, NULL) ||
	    sqlite3_bind_int64(st, 1, from)) {
		sqlite3_finalize(st);
		return ibcc_state_failed(s, why);
	}
	rc = 0;
	while (!rc && (step = sqlite3_step(st)) == SQLITE_ROW) {
		int64_t id = sqlite3_column_int64(st, 8);

		rc = ibcc_state_read_change(st, &c);
		if (rc)
			break;
		if (!oldest || id < oldest)
			oldest = id;
		found = found || id == from;
		rc = join(&plan, &c, id, &table);
	}
	if (!rc && step != SQLITE_DONE)
		rc = -EIO;
	if (rc)
		rc = rc == -ENOMEM ? ibcc_why_set(why, rc, "no memory") : ibcc_state_failed(s, why);
	else if (!found)
		rc = ibcc_why_set(why, -ENOENT,
				  "there is no transaction %lld that could be taken back",
				  (long long)from);
	sqlite3_finalize(st);
	if (rc) {
		ibcc_plan_fini(&plan);
		return rc;
	}
	*joined = plan;
	*first = oldest;
	return 0;
}

static json_t *text_or_null(sqlite3_stmt *st, int column)
{
	const char *text = (const char *)sqlite3_column_text(st, column);

	return text ? ibcc_json_text(text) : json_null();
}

static json_t *int_or_null(sqlite3_stmt *st, int column)
{
	return sqlite3_column_type(st, column) == SQLITE_NULL
		       ? json_null()
		       : json_integer(sqlite3_column_int64(st, column));
}

#define TXN_COLUMNS                                                                                \
	"SELECT id, started, ended, who, action, via, summary, undone_by, outcome, detail,"        \
	" (SELECT count(*) FROM change WHERE txn = id) FROM txn"

static json_t *txn_json(sqlite3_stmt *st)
{
	return json_pack(
		"{sI so so so so so so so so so so}", "id", (json_int_t)sqlite3_column_int64(st, 0),
		"started", int_or_null(st, 1), "ended", int_or_null(st, 2), "who",
		text_or_null(st, 3), "action", text_or_null(st, 4), "via", text_or_null(st, 5),
		"summary", text_or_null(st, 6), "undone_by", int_or_null(st, 7), "outcome",
		text_or_null(st, 8), "detail", text_or_null(st, 9), "changes", int_or_null(st, 10));
}

json_t *ibcc_state_history(struct ibcc_state *s, unsigned int limit, int *err)
{
	sqlite3_stmt *st = NULL;
	json_t *list = json_array();
	int rc = SQLITE_ERROR;

	if (list &&
	    !sqlite3_prepare_v2(s->db, TXN_COLUMNS " ORDER BY id DESC LIMIT ?", -1, &st, NULL) &&
	    !sqlite3_bind_int64(st, 1, limit))
		while ((rc = sqlite3_step(st)) == SQLITE_ROW &&
		       !json_array_append_new(list, txn_json(st)))
			;
	sqlite3_finalize(st);
	if (rc != SQLITE_DONE) {
		json_decref(list);
		*err = list ? -EIO : -ENOMEM;
		return NULL;
	}
	return list;
}

/* The field by field view of a stored change, with its outcome. */
static int add_changes(struct ibcc_state *s, int64_t id, json_t *list)
{
	struct ibcc_change c;
	sqlite3_stmt *st = NULL;
	int rc = SQLITE_ERROR;

	if (!sqlite3_prepare_v2(
		    s->db,
		    "SELECT node_guid, port, attr_id, attr_mod, lid, old, new, port_block,"
		    " reason, node, outcome FROM change WHERE txn = ? ORDER BY seq",
		    -1, &st, NULL) &&
	    !sqlite3_bind_int64(st, 1, id))
		while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
			const char *reason = (const char *)sqlite3_column_text(st, 8);
			const char *node = (const char *)sqlite3_column_text(st, 9);
			const char *outcome = (const char *)sqlite3_column_text(st, 10);

			if (ibcc_state_read_change(st, &c) || !reason || !node || !outcome)
				break;
			strncpy(c.reason, reason, sizeof(c.reason) - 1);
			if (ibcc_json_change(list, &c, node, outcome))
				break;
		}
	sqlite3_finalize(st);
	return rc == SQLITE_DONE ? 0 : -EIO;
}

json_t *ibcc_state_transaction(struct ibcc_state *s, int64_t id, int *err)
{
	sqlite3_stmt *st = NULL;
	json_t *txn = NULL, *changes = json_array();
	int rc = -EIO;

	if (!sqlite3_prepare_v2(s->db, TXN_COLUMNS " WHERE id = ?", -1, &st, NULL) &&
	    !sqlite3_bind_int64(st, 1, id)) {
		int step = sqlite3_step(st);

		if (step == SQLITE_ROW)
			txn = txn_json(st);
		else if (step == SQLITE_DONE)
			rc = -ENOENT;
	}
	sqlite3_finalize(st);
	if (txn && changes && !add_changes(s, id, changes) &&
	    !json_object_set_new(txn, "change_list", json_incref(changes)))
		rc = 0;
	json_decref(changes);
	if (rc) {
		json_decref(txn);
		*err = rc;
		return NULL;
	}
	return txn;
}

char *ibcc_state_note(struct ibcc_state *s, const char *key)
{
	sqlite3_stmt *st = NULL;
	char *text = NULL;

	if (!sqlite3_prepare_v2(s->db, "SELECT text FROM note WHERE key = ?", -1, &st, NULL) &&
	    !sqlite3_bind_text(st, 1, key, -1, SQLITE_TRANSIENT) &&
	    sqlite3_step(st) == SQLITE_ROW && sqlite3_column_text(st, 0))
		text = strdup((const char *)sqlite3_column_text(st, 0));
	sqlite3_finalize(st);
	return text;
}
