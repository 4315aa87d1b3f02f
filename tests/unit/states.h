/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* State files for tests, and transactions in them. */
#ifndef TEST_STATES_H
#define TEST_STATES_H

#include <stdlib.h>

#include <ibcc/execute.h>

#include "fabrics.h"

#include "files.h"
#include "plans.h"

#include "lib/state/state_db.h"

#define GUID_A 0xa000000000000001u /* the top bit: numbers in the database are signed */
#define GUID_B 0x2u
#define CA     IBCC_CC_ATTR_CA_SETTING
#define CCT    IBCC_CC_ATTR_CCT

/* Transactions as another process left them, with the checksum that it computes. */
#define SET_OUTCOME(word)                                                                          \
	"UPDATE txn AS t SET outcome = '" word                                                     \
	"', sum = " IBCC_STATE_TXN_SUM("t.undone_by", "'" word "'")

static inline struct ibcc_state *open_state(const char *name)
{
	struct ibcc_why why = { "" };
	int err = 0;
	struct ibcc_state *s = ibcc_state_open(files_path(name), &err, &why);

	if (!s)
		fail_msg("%s", why.text);
	return s;
}

/* Has no end of a transaction stored, as if the disk were full just then. */
static inline void set_no_end(struct ibcc_state *s, bool full)
{
	const char *sql = full ? "CREATE TEMP TRIGGER no_end BEFORE UPDATE OF ended ON txn BEGIN"
				 " SELECT RAISE(ABORT, 'no'); END"
			       : "DROP TRIGGER no_end";

	assert_int_equal(sqlite3_exec(s->db, sql, NULL, NULL, NULL), 0);
}

/* Carries a plan out as a transaction and ends it with `err`. */
static inline int64_t transaction_for(struct ibcc_state *s, const char *action,
				      const struct ibcc_plan *plan, int err)
{
	struct ibcc_txn txn = { .who = "me", .action = action, .via = "none", .summary = "" };
	struct ibcc_result r;
	int64_t id = 0;
	uint32_t i;

	assert_int_equal(ibcc_state_begin(s, &txn, plan, NULL, &id, NULL), 0);
	assert_int_equal(ibcc_result_init(&r, plan->n), 0);
	for (i = 0; !err && i < plan->n; i++)
		r.change[i].outcome = IBCC_OUTCOME_VERIFIED;
	assert_int_equal(ibcc_state_end(s, id, &r, err, "as told", NULL), 0);
	ibcc_result_fini(&r);
	return id;
}

static inline int64_t transaction(struct ibcc_state *s, const struct ibcc_plan *plan, int err)
{
	return transaction_for(s, "apply", plan, err);
}

static inline int64_t one_change(struct ibcc_state *s, uint64_t guid, uint8_t from, uint8_t to,
				 int err)
{
	struct ibcc_plan p = { 0 };
	int64_t id;

	plan_add(&p, guid, CA, 0, from, to);
	id = transaction(s, &p, err);
	ibcc_plan_fini(&p);
	return id;
}

static inline void assert_undo(struct ibcc_state *s, int64_t from, uint32_t n, int64_t first)
{
	struct ibcc_plan p = { 0 };
	int64_t got = -1;

	assert_int_equal(ibcc_state_undo(s, from, &p, &got, NULL, NULL), 0);
	assert_int_equal(p.n, n);
	assert_int_equal(got, first);
	ibcc_plan_fini(&p);
}

#endif
