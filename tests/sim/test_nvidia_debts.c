/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The marking profiles that the daemon restores at its end, and those that it owes then. */
#include "nvidia.h"

#include <ibcc/json.h>

static void set_profiles(struct scene *x, unsigned int port, const uint8_t *data)
{
	struct ibcc_mad_op op = { .lid = lid_of(x, "q2") };

	ibcc_mad_request(op.mad, IBCC_MAD_CLASS_CC, IBCC_MAD_SET, IBCC_VCC_ATTR_SW_PROFILE, port);
	memcpy(op.mad + IBCC_MAD_DATA_OFFS, data, IBCC_CC_DATA_BYTES);
	assert_int_equal(ibcc_transport_run(x->line.inner, &op, 1), 0);
	assert_int_equal(op.err, 0);
}

static int end_profiles(struct scene *x)
{
	json_t *out = NULL;
	int rc = ibcc_service_end_profiles(x->s, &out, &x->why);

	json_decref(out);
	return rc;
}

static void percent_is(struct scene *x, unsigned int port, uint8_t percent, uint8_t *data)
{
	struct ibcc_vcc_profile p;

	profiles(x, port, data);
	p = ibcc_vcc_profile_get(data, 0);
	p.percent = percent;
	ibcc_vcc_profile_set(data, 0, &p);
	set_profiles(x, port, data);
}

/* The end of the daemon writes nothing over what it cannot read. The next one makes up for it, but
 * not over what another program has written meanwhile.
 */
static void test_end_unread(void **state)
{
	uint8_t theirs[IBCC_CC_DATA_BYTES], now[IBCC_CC_DATA_BYTES];
	struct scene x;

	(void)state;
	open_end(&x, "unread.db");
	x.line.lost_gets = 1;
	assert_int_not_equal(end_profiles(&x), 0);
	assert_said(&x, "profiles of 1 port, the first at node");
	assert_said(&x, "shows what is owed");
	assert_true(is_written(&x));
	restart(&x);
	passes(&x, 2);
	assert_int_equal(x.s->debts.list.n, 1);
	assert_true(is_written(&x));
	x.line.lost_gets = 0;
	passes(&x, 60);
	assert_int_equal(x.s->debts.list.n, 0);
	assert_false(is_written(&x));
	close_scene(&x);

	open_end(&x, "unread2.db");
	x.line.lost_gets = 1;
	percent_is(&x, 1, 33, theirs);
	assert_int_not_equal(end_profiles(&x), 0);
	restart(&x);
	x.line.lost_gets = 0;
	passes(&x, 60);
	profiles(&x, 1, now);
	assert_memory_equal(now, theirs, sizeof(now));
	close_scene(&x);
}

static bool owed_says(struct scene *x, const char *words)
{
	json_t *status = ibcc_service_status(x->s);
	const char *text =
		json_string_value(json_object_get(json_object_get(status, "owed"), "text"));
	bool says = text && strstr(text, words);

	if (!says)
		print_message("# owed: %s\n", text ? text : "nothing");
	json_decref(status);
	return says;
}

static bool is_well(struct scene *x)
{
	enum ibcc_trouble none =
		ibcc_service_trouble(x->s, IBCC_TROUBLE_OWED, IBCC_TROUBLE_OWED, &x->why);

	return none == IBCC_TROUBLE_NONE;
}

/* Counts passes with news of debts. */
static unsigned int count_news(struct scene *x, unsigned int n)
{
	struct ibcc_why news;
	unsigned int count = 0;

	while (n--) {
		passes(x, 1);
		if (ibcc_service_debt_news(x->s, &news))
			count += strstr(news.text, "are another program's now, and stay") != NULL;
	}
	return count;
}

/* A switch is away when its profiles are to be restored, and another program writes to it before it
 * is back. That is said once, and what the program has written stays until it gives our values
 * back, or a person asks for the earlier ones.
 */
static void test_overwritten(void **state)
{
	uint8_t ours[IBCC_CC_DATA_BYTES], theirs[IBCC_CC_DATA_BYTES], now[IBCC_CC_DATA_BYTES];
	const struct ibcc_request r = { .who = "test" };

	(void)state;
	for (unsigned int asks = 0; asks < 2; asks++) {
		struct ibcc_metrics_service m;
		json_t *out = NULL;
		int64_t newest;
		struct scene x;

		open_end(&x, asks ? "theirs-asks.db" : "theirs.db");
		profiles(&x, 1, ours);
		x.line.lost_gets = 1;
		assert_int_not_equal(end_profiles(&x), 0);
		percent_is(&x, 1, 33, theirs);
		restart(&x);
		x.line.lost_gets = 0;
		assert_int_equal(count_news(&x, 3), 1);
		newest = ibcc_state_newest(x.s->state);
		x.line.n_sets = 0;
		assert_int_equal(count_news(&x, 150), 0);
		assert_int_equal(ibcc_state_newest(x.s->state), newest);
		assert_int_equal(x.line.n_sets, 0);
		profiles(&x, 1, now);
		assert_memory_equal(now, theirs, sizeof(now));
		assert_int_equal(x.s->debts.list.n, 1);
		assert_true(owed_says(&x, "\"ibcc-tune rollback\" restores the earlier ones"));
		assert_true(is_well(&x));
		ibcc_service_metrics(x.s, &m);
		assert_int_equal(m.owed_overwritten, 1);
		assert_int_equal(m.owed_present + m.owed_away, 0);

		if (asks)
			assert_int_equal(ibcc_service_rollback(x.s, 0, &r, &out, &x.why), 0);
		else
			set_profiles(&x, 1, ours);
		json_decref(out);
		passes(&x, 12);
		assert_int_equal(x.s->debts.list.n, 0);
		profiles(&x, 1, now);
		assert_memory_equal(now, x.before[1], sizeof(now));
		close_scene(&x);
	}
}

/* The daemon also writes port 2 of q2. */
static void write_port_2(struct scene *x)
{
	struct ibcc_execution apply = { .txn = { .who = "test", .action = "apply" } };
	struct ibcc_change c = { .attr_id = IBCC_VCC_ATTR_SW_PROFILE, .attr_mod = 2 };
	struct ibcc_result res = { 0 };
	struct ibcc_vcc_profile p;
	struct ibcc_plan plan = { 0 };

	c.node_guid = x->l.sc.topo->node[ibcc_topo_find_desc(x->l.sc.topo, "q2")].guid;
	c.lid = lid_of(x, "q2");
	profiles(x, 2, c.old_data);
	memcpy(c.new_data, c.old_data, sizeof(c.new_data));
	p = ibcc_vcc_profile_get(c.new_data, 0);
	p.percent = 44;
	ibcc_vcc_profile_set(c.new_data, 0, &p);
	assert_int_equal(ibcc_plan_append(&plan, &c), 0);
	if (ibcc_service_execute(x->s, apply, &plan, &res, &x->why))
		fail_msg("%s", x->why.text);
	ibcc_result_fini(&res);
	ibcc_plan_fini(&plan);
}

/* Of a switch with two ports to restore one is another program's, or has a value in the state file
 * that no port may be given. The other one is restored, once.
 */
static void test_one_port(void **state)
{
	uint8_t theirs[IBCC_CC_DATA_BYTES], now[IBCC_CC_DATA_BYTES];

	(void)state;
	for (unsigned int bad = 0; bad < 2; bad++) {
		struct scene x;
		int64_t newest;

		open_end(&x, bad ? "bad.db" : "one.db");
		write_port_2(&x);
		x.line.away = lid_of(&x, "q2");
		assert_int_not_equal(end_profiles(&x), 0);
		x.line.away = 0;
		if (bad) /* a percent of 255 */
			assert_int_equal(
				sqlite3_exec(
					x.s->state->db,
					"UPDATE change AS c SET old = CAST(substr(old, 1, 8) ||"
					" x'ffffffff' || substr(old, 13) AS BLOB)"
					" WHERE attr_mod = 1 AND attr_id = 65289;"
					"UPDATE change AS c SET sum = " IBCC_STATE_CHANGE_SUM(
						"c.outcome"),
					NULL, NULL, NULL),
				SQLITE_OK);
		else
			percent_is(&x, 1, 33, theirs);
		restart(&x);
		passes(&x, 4);
		profiles(&x, 2, now);
		assert_memory_equal(now, x.before[2], sizeof(now));
		assert_int_equal(x.s->debts.list.n, 1);
		newest = ibcc_state_newest(x.s->state);
		x.line.n_sets = 0;
		passes(&x, 80);
		assert_int_equal(x.line.n_sets, 0);
		assert_int_equal(ibcc_state_newest(x.s->state), newest);
		assert_int_equal(x.s->debts.list.n, 1);
		assert_true(owed_says(&x, bad ? "beyond the bounds" : "written since"));
		assert_int_equal(is_well(&x), !bad);
		close_scene(&x);
	}
}

/* Both ports of a switch are another program's. An answer that is lost is no change of that
 * program's, nor is the silence of the switch: nothing is tried, said or degraded. What the program
 * gives back at one port is restored, while the other port is not read.
 */
static void test_lost_at_rest(void **state)
{
	uint8_t ours[IBCC_CC_DATA_BYTES], theirs[IBCC_CC_DATA_BYTES], now[IBCC_CC_DATA_BYTES];
	struct ibcc_debt away = { .node_guid = 0x77, .port = 1 };
	struct scene x;
	int64_t newest;

	(void)state;
	open_end(&x, "rest.db");
	write_port_2(&x);
	profiles(&x, 1, ours);
	x.line.away = lid_of(&x, "q2");
	assert_int_not_equal(end_profiles(&x), 0);
	x.line.away = 0;
	percent_is(&x, 1, 33, theirs);
	percent_is(&x, 2, 35, theirs);
	restart(&x);
	assert_int_equal(count_news(&x, 10), 1);
	newest = ibcc_state_newest(x.s->state);
	x.line.n_sets = 0;
	for (unsigned int i = 0; i < 12; i++) {
		x.s->cycle.actual_known = false;
		x.line.lost_gets = i % 3 == 1 ? 2 : 0;
		assert_int_equal(count_news(&x, 1), 0);
		assert_true(is_well(&x));
		assert_true(owed_says(&x, "written since"));
	}
	assert_int_equal(ibcc_state_newest(x.s->state), newest);
	assert_int_equal(x.line.n_sets, 0);

	x.line.lost_gets = 2;
	set_profiles(&x, 1, ours);
	x.s->cycle.actual_known = false;
	assert_int_equal(count_news(&x, 3), 0);
	profiles(&x, 1, now);
	assert_memory_equal(now, x.before[1], sizeof(now));
	profiles(&x, 2, now);
	assert_memory_equal(now, theirs, sizeof(now));
	assert_int_equal(x.s->debts.list.n, 1);
	assert_true(is_well(&x));
	assert_int_equal(x.s->debts.next_wait, 0);

	x.line.away = lid_of(&x, "q2");
	for (unsigned int i = 0; i < 4; i++) {
		x.s->cycle.actual_known = false;
		assert_int_equal(count_news(&x, 1), 0);
		assert_true(is_well(&x));
		assert_true(owed_says(&x, "written since"));
	}

	away.txn = x.s->debts.list.debt[0].txn;
	assert_int_equal(ibcc_state_owe(x.s->state, &away), 0);
	passes(&x, 1);
	assert_true(owed_says(&x, " (rollback) was not done in full at 2 nodes: "));
	close_scene(&x);
}

/* The next daemon restores what was owed. */
static void next_daemon_pays(struct scene *x)
{
	restart(x);
	passes(x, 3);
	assert_int_equal(x->s->debts.list.n, 0);
	assert_false(is_written(x));
	close_scene(x);
}

/* The switch is not on the fabric, and a Set gets lost: this is said, and owed. */
static void test_end_unreached(void **state)
{
	struct scene x;
	uint32_t port0;

	(void)state;
	open_end(&x, "gone.db");
	port0 = x.s->cycle.topo->node[ibcc_topo_find_desc(x.s->cycle.topo, "q2")].first_port;
	x.s->cycle.topo->port[port0].lid = 0;
	assert_int_equal(end_profiles(&x), -EHOSTUNREACH);
	assert_said(&x, "not on the fabric");
	assert_int_equal(x.s->debts.list.n, 1);
	next_daemon_pays(&x);

	open_end(&x, "lost.db");
	x.line.lost_sets = 1;
	assert_int_equal(end_profiles(&x), -EIO);
	assert_int_equal(x.s->debts.list.n, 1);
	restart(&x);
	passes(&x, 3);
	assert_int_equal(x.s->debts.list.n, 1);
	x.line.lost_sets = 0;
	passes(&x, 60);
	assert_false(is_written(&x));
	assert_int_equal(x.s->debts.list.n, 0);
	close_scene(&x);
}

/* The fabric cannot be reached when the daemon ends: its time is over, or its port is gone. The
 * next daemon makes up for it. Without a topology only the person can.
 */
static void test_end_unprepared(void **state)
{
	struct scene x;

	(void)state;
	open_end(&x, "canceled2.db");
	x.s->canceled = true;
	assert_int_equal(end_profiles(&x), -ECANCELED);
	assert_said(&x, "profiles of 1 port, the first at node");
	assert_said(&x, "were not restored: canceled; ibcc-tuned restores them");
	assert_int_equal(x.s->debts.list.n, 1);
	next_daemon_pays(&x);

	open_end(&x, "noport.db");
	x.s->transport = NULL;
	ibcc_service_drop(x.s);
	x.s->canceled = true;
	assert_int_equal(end_profiles(&x), -ECANCELED);
	assert_said(&x, "run \"ibcc-tune rollback\" when the switches answer");
	restart(&x);
	assert_int_equal(x.s->debts.list.n, 0);
	assert_true(is_written(&x));
	close_scene(&x);
}

/* What another program has written is its choice: it stays, and nothing is owed. */
static void test_end_other(void **state)
{
	uint8_t theirs[IBCC_CC_DATA_BYTES], now[IBCC_CC_DATA_BYTES];
	struct scene x;

	(void)state;
	open_end(&x, "other.db");
	percent_is(&x, 1, 33, theirs);
	assert_int_equal(end_profiles(&x), -EBUSY);
	assert_said(&x, "profiles of 1 port stay");
	assert_int_equal(x.s->debts.list.n, 0);
	profiles(&x, 1, now);
	assert_memory_equal(now, theirs, sizeof(now));
	/* A value that is back already is no other program's. */
	set_profiles(&x, 1, x.before[1]);
	assert_int_equal(end_profiles(&x), 0);
	assert_false(is_written(&x));
	close_scene(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_end_unread),    cmocka_unit_test(test_overwritten),
		cmocka_unit_test(test_one_port),      cmocka_unit_test(test_lost_at_rest),
		cmocka_unit_test(test_end_unreached), cmocka_unit_test(test_end_unprepared),
		cmocka_unit_test(test_end_other),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
