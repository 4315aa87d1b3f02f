/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the state file has of transactions on trial, whatever is killed when. */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "states.h"

#define WITHIN_S 120

static struct ibcc_execution carry(struct ibcc_state *s, struct fake_applier *f)
{
	return (struct ibcc_execution){
		.applier = &f->base,
		.state = s,
		.all_or_nothing = true,
		.txn = { .who = "me", .action = "apply", .summary = "", .confirm_s = WITHIN_S },
	};
}

/* Two changes on trial; a negative errno as ibcc_execute_plan(). */
static int try(struct ibcc_state *s, struct fake_applier *f)
{
	struct ibcc_execution c = carry(s, f);
	struct ibcc_plan p = { 0 };
	struct ibcc_result r = { 0 };
	int rc;

	plan_add(&p, GUID_A, CA, 0, 1, 2);
	plan_add(&p, GUID_B, CA, 0, 11, 12);
	rc = ibcc_execute_plan(&c, &p, &r, NULL);
	ibcc_result_fini(&r);
	ibcc_plan_fini(&p);
	return rc;
}

static int take_back(struct ibcc_state *s, struct fake_applier *f, int64_t txn)
{
	struct ibcc_execution c = carry(s, f);
	struct ibcc_plan joined = { 0 }, undo = { 0 };
	struct ibcc_result r = { 0 };
	int64_t first = 0;
	int rc;

	assert_int_equal(ibcc_state_undo(s, txn, &joined, &first, NULL, NULL), 0);
	assert_int_equal(ibcc_plan_reverse(&joined, &undo), 0);
	c.back = true;
	c.all_or_nothing = false;
	c.txn = (struct ibcc_txn){
		.who = "clock", .action = "rollback", .summary = "", .undoes_from = first
	};
	rc = ibcc_execute_plan(&c, &undo, &r, NULL);
	ibcc_result_fini(&r);
	ibcc_plan_fini(&undo);
	ibcc_plan_fini(&joined);
	return rc;
}

static void assert_trial(struct ibcc_state *s, int64_t txn, const char *outcome)
{
	struct ibcc_trial t;
	json_t *o;
	int err = 0;

	assert_int_equal(ibcc_state_trial(s, &t), 0);
	assert_int_equal(t.txn, txn);
	if (!txn)
		return;
	assert_int_equal(t.within_s, WITHIN_S);
	assert_int_equal(t.pending, !strcmp(outcome, "pending"));
	assert_int_equal(t.confirmed, !strcmp(outcome, "confirmed"));
	o = ibcc_state_transaction(s, txn, &err);
	assert_non_null(o);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(o, "trial"), "outcome")),
		outcome);
	json_decref(o);
}

static void test_confirmed(void **state)
{
	struct ibcc_state *s = open_state("confirmed.db");
	struct fake_applier f = fake_applier();
	struct ibcc_trial t;
	int64_t began = time(NULL);

	(void)state;
	assert_trial(s, 0, NULL);
	assert_int_equal(try(s, &f), 0);
	assert_trial(s, 1, "pending");
	assert_int_equal(ibcc_state_trial(s, &t), 0);
	assert_true(t.until_s >= began + WITHIN_S);
	assert_int_equal(ibcc_state_trial_end(s, 1, "confirmed", "me", NULL), 0);
	ibcc_state_close(s);
	s = open_state("confirmed.db");
	assert_trial(s, 1, "confirmed");
	/* What stands is no trial's matter any more, though it can be taken back. */
	assert_int_equal(take_back(s, &f, 1), 0);
	assert_trial(s, 1, "confirmed");
	ibcc_plan_fini(&f.applied);
	ibcc_state_close(s);
}

static void test_taken_back(void **state)
{
	struct ibcc_state *s = open_state("back.db");
	struct fake_applier f = fake_applier();

	(void)state;
	one_change(s, GUID_A, 0, 1, 0); /* stands, and stays */
	assert_int_equal(try(s, &f), 0);
	f.fail_guid = GUID_B;
	f.fail_err = -ETIMEDOUT;
	assert_int_equal(take_back(s, &f, 2), -EIO);
	assert_trial(s, 2, "pending"); /* not altogether */
	f.fail_guid = 0;
	assert_int_equal(take_back(s, &f, 2), 0);
	assert_trial(s, 2, "taken back");
	assert_int_equal(fake_value(&f, GUID_A, CA, 0), 1);
	assert_int_equal(fake_value(&f, GUID_B, CA, 0), 11);
	assert_undo(s, 0, 1, 1);
	/* It cannot be confirmed afterwards. */
	assert_int_equal(ibcc_state_trial_end(s, 2, "confirmed", "me", NULL), 0);
	assert_trial(s, 2, "taken back");
	ibcc_plan_fini(&f.applied);
	ibcc_state_close(s);
}

/* A plan of which a part fails is taken back at once, and its trial with it. */
static void test_failed(void **state)
{
	struct ibcc_state *s = open_state("failed.db");
	struct fake_applier f = fake_applier();
	struct ibcc_state_end refused = { .err = -EPERM };
	struct ibcc_trial t;

	(void)state;
	f.fail_guid = GUID_B;
	f.fail_err = -EREMOTEIO;
	assert_int_equal(try(s, &f), -EIO);
	assert_trial(s, 1, "taken back");
	assert_int_equal(ibcc_state_insert_trial(s, 1, 1), -EIO); /* one for each transaction */

	/* What was refused was not written. */
	refused.id = one_change(s, GUID_A, 1, 2, -EPERM);
	assert_int_equal(ibcc_state_insert_trial(s, refused.id, WITHIN_S), 0);
	assert_int_equal(ibcc_state_update_trials(s, &refused), 0);
	assert_int_equal(ibcc_state_trial(s, &t), 0);
	assert_false(t.pending);
	ibcc_plan_fini(&f.applied);
	ibcc_state_close(s);
}

/* What is on trial is not forgotten, when the clock jumps or each try to take it back is written
 * down: it could not be gone back to.
 */
static void test_not_pruned(void **state)
{
	struct ibcc_state *s = open_state("pruned.db");
	struct fake_applier f = fake_applier();
	json_t *list;
	int err = 0;

	(void)state;
	one_change(s, GUID_A, 0, 1, 0);
	assert_int_equal(try(s, &f), 0);
	f.fail_guid = GUID_B;
	f.fail_err = -ETIMEDOUT;
	for (int i = 0; i < 5; i++)
		assert_int_equal(take_back(s, &f, 2), -EIO);
	assert_int_equal(sqlite3_exec(s->db, "UPDATE txn SET ended = 60", NULL, NULL, NULL), 0);
	assert_int_equal(ibcc_state_prune(s, time(NULL), UINT64_MAX), 0);
	assert_undo(s, 2, 2, 2);
	assert_int_equal(ibcc_state_prune(s, 0, 0), 0);
	assert_undo(s, 2, 2, 2);
	/* The tries are. */
	list = ibcc_state_history(s, 100, &err);
	assert_true(json_array_size(list) <= 4);
	json_decref(list);
	f.fail_guid = 0;
	assert_int_equal(take_back(s, &f, 2), 0);
	assert_trial(s, 2, "taken back");
	assert_int_equal(fake_value(&f, GUID_A, CA, 0), 1);
	assert_int_equal(fake_value(&f, GUID_B, CA, 0), 11);
	ibcc_plan_fini(&f.applied);
	ibcc_state_close(s);
}

static int killer_run(struct ibcc_applier *a, const struct ibcc_plan *plan, struct ibcc_result *r,
		      struct ibcc_why *why)
{
	(void)a;
	(void)plan;
	(void)r;
	(void)why;
	return -kill(getpid(), SIGKILL);
}

static const struct ibcc_applier_ops killer_ops = { fake_ready, killer_run, NULL };

/* Where a process is when it is killed. */
enum step { IN_PUSH, BEFORE_OUTCOME, ON_TRIAL, IN_WAY_BACK, BEFORE_END, AFTER_END };

static void die_at(enum step step, const char *file)
{
	static const char abort_sql[] = "CREATE TEMP TRIGGER t BEFORE UPDATE ON trial BEGIN"
					" SELECT RAISE(ABORT, 'no'); END";
	struct fake_applier f = fake_applier();
	int err;
	struct ibcc_state *s = ibcc_state_open(file, &err, NULL);

	if (step == IN_PUSH)
		f.base.ops = &killer_ops;
	if (step == BEFORE_OUTCOME)
		sqlite3_exec(s->db, abort_sql, NULL, NULL, NULL);
	try(s, &f);
	if (step == IN_WAY_BACK)
		f.base.ops = &killer_ops;
	if (step == BEFORE_END)
		sqlite3_exec(s->db, abort_sql, NULL, NULL, NULL);
	if (step >= IN_WAY_BACK)
		take_back(s, &f, 1);
	kill(getpid(), SIGKILL);
}

/* From the first Set to the commit that ends it, it is on trial, and can be taken back as a whole.
 */
static void test_killed(void **state)
{
	(void)state;
	for (enum step step = IN_PUSH; step <= AFTER_END; step++) {
		struct fake_applier f = fake_applier();
		struct ibcc_state *s;
		char name[32];
		int status;
		pid_t child;

		snprintf(name, sizeof(name), "killed%d.db", (int)step);
		child = fork();
		assert_true(child >= 0);
		if (!child)
			die_at(step, files_path(name));
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		s = open_state(name);
		assert_trial(s, 1, step == AFTER_END ? "taken back" : "pending");
		if (step != AFTER_END) {
			assert_int_equal(take_back(s, &f, 1), 0);
			assert_int_equal(fake_value(&f, GUID_A, CA, 0), 1);
			assert_int_equal(fake_value(&f, GUID_B, CA, 0), 11);
			assert_trial(s, 1, "taken back");
		}
		assert_undo(s, 0, 0, 0);
		ibcc_plan_fini(&f.applied);
		ibcc_state_close(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_confirmed), cmocka_unit_test(test_taken_back),
		cmocka_unit_test(test_failed),    cmocka_unit_test(test_not_pruned),
		cmocka_unit_test(test_killed),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
