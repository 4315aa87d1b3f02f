/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Settles changes of which the state file does not know whether they were made. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/state/state_db.h"

/* Whether it is unknown that a change was made: the program did not see the end of the transaction,
 * or the node did not answer. (A transaction that is being carried out is open.)
 */
#define UNSETTLED                                                                                  \
	IBCC_STATE_SOUND                                                                           \
	" AND t.outcome IN ('interrupted', 'broken', 'partial') AND"                               \
	" c.attr_id <> 18 AND (c.outcome = 'pending' OR"                                           \
	" (c.outcome = 'failed' AND c.err <> ?1))"

struct unsettled {
	struct ibcc_change change;
	int64_t txn, seq;
};

struct list {
	struct unsettled *item;
	size_t n;
};

static int add(struct list *l, sqlite3_stmt *st)
{
	struct unsettled *item = reallocarray(l->item, l->n + 1, sizeof(*item));

	if (!item)
		return -ENOMEM;
	l->item = item;
	item += l->n;
	item->txn = sqlite3_column_int64(st, 8);
	item->seq = sqlite3_column_int64(st, 9);
	if (!ibcc_state_read_change(st, &item->change))
		l->n++;
	return 0;
}

static int find_unsettled(struct ibcc_state *s, struct list *l)
{
	sqlite3_stmt *st = NULL;
	int rc = 0, step = SQLITE_ERROR;

	if (!sqlite3_prepare_v2(s->db,
				"SELECT c.node_guid, c.port, c.attr_id, c.attr_mod, c.lid, c.old,"
				" c.new, c.port_block, c.txn, c.seq"
				" FROM change AS c JOIN txn AS t ON t.id = c.txn WHERE " UNSETTLED,
				-1, &st, NULL) &&
	    !sqlite3_bind_int(st, 1, IBCC_CHANGE_REFUSED))
		while (!rc && (step = sqlite3_step(st)) == SQLITE_ROW)
			rc = add(l, st);
	sqlite3_finalize(st);
	return rc ? rc : step == SQLITE_DONE ? 0 : -EIO;
}

static int store(struct ibcc_state *s, const struct unsettled *u, const char *outcome)
{
	const int64_t number[] = { u->txn, u->seq };

	return ibcc_state_run(
		s,
		"UPDATE change AS c SET outcome = ?3,"
		" sum = " IBCC_STATE_CHANGE_RESUM("?3") " WHERE txn = ?1 AND seq = ?2",
		number, 2, &outcome, 1);
}

int ibcc_state_settle(struct ibcc_state *s, ibcc_state_settle_fn *fn, void *arg,
		      struct ibcc_why *why)
{
	struct list l = { 0 };
	bool begun = false;
	size_t i;
	int rc = s->writable ? find_unsettled(s, &l) : 0;

	for (i = 0; !rc && i < l.n; i++) {
		const char *outcome = fn(arg, &l.item[i].change);

		if (!outcome)
			continue;
		if (!begun && sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL))
			rc = -EIO;
		begun = !rc;
		if (!rc)
			rc = store(s, &l.item[i], outcome);
	}
	if (begun && !rc && sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL))
		rc = -EIO;
	free(l.item);
	if (begun)
		s->book_fresh = false;
	if (rc == -ENOMEM)
		ibcc_why_set(why, rc, "no memory");
	else if (rc)
		rc = ibcc_state_failed(s, why);
	if (rc && !sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

/* What is compared with the state file. */
struct look {
	const struct ibcc_topo *t;
	const struct ibcc_settings *actual;
	struct ibcc_audit *a;
};

static const char *settle(void *arg, struct ibcc_change *c)
{
	const struct look *x = arg;

	switch (ibcc_audit_look(x->t, x->actual, c)) {
	case IBCC_AUDIT_NOTHING: break;
	case IBCC_AUDIT_NEW: x->a->n_made++; return "verified";
	case IBCC_AUDIT_OLD: x->a->n_unmade++; return "unmade";
	case IBCC_AUDIT_OTHER: x->a->n_other++; return "differs";
	}
	return NULL;
}

int ibcc_state_audit(struct ibcc_state *s, const struct ibcc_topo *t,
		     const struct ibcc_settings *actual, struct ibcc_audit *a, struct ibcc_why *why)
{
	struct look x = { t, actual, a };
	const struct ibcc_book *book;
	int rc;

	*a = (struct ibcc_audit){ 0 };
	rc = ibcc_state_settle(s, settle, &x, why);
	/* A change that cannot be settled now is settled another time. */
	if (!rc || rc == -EIO)
		rc = ibcc_state_book(s, &book, why);
	if (!rc && ibcc_audit_run(book, t, actual, a))
		rc = ibcc_why_set(why, -ENOMEM, "no memory");
	if (rc)
		ibcc_audit_fini(a);
	return rc;
}
