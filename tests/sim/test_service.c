/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the daemon says of itself while something is wrong: always that, and why. */
#include <math.h>

#include "services.h"

#include <ibcc/file.h>

#include "lib/state/state_db.h"

#define LUSTRE  "perftest/scenarios/lustre.yaml"
#define PASS_PS (1000 * IBCC_PS_PER_US)

static bool is(const json_t *status, const char *state)
{
	return !strcmp(json_string_value(json_object_get(status, "state")), state);
}

/* A plan is pending that adapters refuse: tried now and then, and degraded in between, too. Soon
 * after they take it all is well.
 */
static void test_refused(void **state)
{
	struct ibcc_why why = { "" };
	struct ibcc_config c;
	struct ibcc_service *s;
	unsigned int n_bad = 0;
	struct loop l = { 0 };
	json_t *status;

	(void)state;
	loop_open(&l, LUSTRE, &loop_hardware, NULL);
	services_config(&c);
	s = services_open(&l, &c);
	assert_int_equal(ibcc_cycle_set_topology(&s->cycle, ibcc_topo_clone(l.sc.topo)), 0);
	for (uint32_t i = 0; i < l.sc.topo->n_nodes; i++)
		ibcc_agents_quirks(l.agents, i)->set_status = IBCC_MAD_STATUS_BAD_FIELD;
	for (unsigned int i = 0; i < 40; i++) {
		assert_int_equal(services_pass(&l, s, PASS_PS, &why), 0);
		status = ibcc_service_status(s);
		if (json_integer_value(json_object_get(status, "writes_pending"))) {
			assert_true(is(status, "degraded"));
			assert_true(json_is_string(json_object_get(status, "reason")));
			n_bad++;
		}
		json_decref(status);
	}
	assert_true(n_bad > 20);
	for (uint32_t i = 0; i < l.sc.topo->n_nodes; i++)
		ibcc_agents_quirks(l.agents, i)->set_status = 0;
	for (unsigned int i = 0; i < 10; i++)
		assert_int_equal(services_pass(&l, s, PASS_PS, &why), 0);
	status = ibcc_service_status(s);
	assert_true(is(status, "ok"));
	assert_int_equal(json_integer_value(json_object_get(status, "writes_pending")), 0);
	assert_true(s->set_mads > 0);
	json_decref(status);
	services_close(&l, s);
	loop_end(&l);
}

/* What the nodes have now is what they had then. */
static void assert_fabric(struct ibcc_service *s, const struct ibcc_settings *then)
{
	struct ibcc_why why = { "" };

	assert_int_equal(ibcc_cycle_readback(&s->cycle, &why), 0);
	loop_assert_same(then, &s->cycle.actual);
}

static void passes(struct loop *l, struct ibcc_service *s, unsigned int n)
{
	struct ibcc_why why = { "" };

	while (n--)
		assert_int_equal(services_pass(l, s, PASS_PS, &why), 0);
}

/* An apply on trial, as soon as there is something to write. */
static void try(struct loop *l, struct ibcc_service *s)
{
	struct ibcc_request r = { .who = "test", .confirm_s = 3600 };
	struct ibcc_why why = { "" };

	for (unsigned int i = 0; !s->trial.txn; i++) {
		assert_true(i < 50);
		assert_int_equal(
			ibcc_engine_run(l->engine, ibcc_engine_now_ps(l->engine) + PASS_PS), 0);
		s->again.last_ns = ibcc_now_ns();
		if (ibcc_service_pass(s, &r, &why))
			fail_msg("%s", why.text);
	}
	assert_string_equal(s->trial.over.text, "");
	assert_true(ibcc_service_trial_due_ns(s) > ibcc_now_ns() + 3000 * 1000000000ull);
}

/* In mode apply: a trial stops the tuner, and when it has been taken back the tuner pauses. */
static void test_trial(void **state)
{
	struct ibcc_request r = { .who = "test", .confirm_s = 3600 };
	struct ibcc_settings before = { 0 }, tried = { 0 };
	struct ibcc_why why = { "" };
	struct ibcc_config c;
	struct ibcc_service *s;
	struct loop l = { 0 };
	json_t *out = NULL;
	uint64_t sets;

	(void)state;
	loop_open(&l, LUSTRE, &loop_hardware, NULL);
	services_config(&c);
	snprintf(c.state_file, sizeof(c.state_file), "%.200s", files_path("trial.db"));
	c.mode = IBCC_MODE_OBSERVE;
	s = services_open(&l, &c);
	assert_int_equal(ibcc_cycle_set_topology(&s->cycle, ibcc_topo_clone(l.sc.topo)), 0);
	assert_int_equal(ibcc_cycle_readback(&s->cycle, &why), 0);
	assert_int_equal(ibcc_settings_copy(&before, &s->cycle.actual), 0);
	assert_int_equal(ibcc_service_confirm(s, &r, &out, &why), -ENOENT);
	passes(&l, s, 3);
	s->config.mode = IBCC_MODE_APPLY;
	try(&l, s);
	/* What is tried is refined until it has settled. */
	for (unsigned int i = 0; ibcc_service_refines(s); i++) {
		assert_true(i < 100);
		passes(&l, s, 1);
	}
	assert_int_equal(ibcc_cycle_readback(&s->cycle, &why), 0);
	assert_int_equal(ibcc_settings_copy(&tried, &s->cycle.actual), 0);

	/* It has plans, as the queues are gone now, and carries none of them out. */
	sets = s->set_mads;
	assert_false(ibcc_service_writes(s));
	passes(&l, s, 30);
	assert_int_equal(s->set_mads, sets);
	assert_fabric(s, &tried);
	assert_int_equal(ibcc_service_pass(s, &r, &why), -EBUSY);
	assert_int_equal(ibcc_service_repair(s, &r, &out, &why), -EBUSY);
	assert_null(out);

	/* A node refuses: what can be taken back is, and the rest is tried again. */
	ibcc_agents_quirks(l.agents, ibcc_topo_find_desc(l.sc.topo, "source2"))->set_status =
		IBCC_MAD_STATUS_BAD_FIELD;
	assert_int_not_equal(ibcc_service_end_trial(s, NULL, &out, &why), 0);
	json_decref(out);
	assert_true(s->trial.txn > 0 && s->trial.over.text[0]);
	assert_int_equal(ibcc_service_confirm(s, &r, &out, &why), -ENOENT);
	assert_non_null(strstr(why.text, "too late"));
	assert_true(ibcc_service_trial_due_ns(s) > ibcc_now_ns());
	passes(&l, s, 1);
	out = ibcc_service_status(s);
	assert_true(is(out, "degraded"));
	json_decref(out);
	ibcc_agents_quirks(l.agents, ibcc_topo_find_desc(l.sc.topo, "source2"))->set_status = 0;
	out = NULL;
	assert_int_equal(ibcc_service_end_trial(s, NULL, &out, &why), 0);
	json_decref(out);
	assert_int_equal(s->trial.txn, 0);
	assert_int_equal(ibcc_service_trial_due_ns(s), UINT64_MAX);
	assert_fabric(s, &before);
	assert_non_null(s->paused);
	passes(&l, s, 10);
	assert_fabric(s, &before);

	/* Another, which is confirmed: the tuner goes on with it. */
	try(&l, s);
	out = NULL;
	assert_int_equal(ibcc_service_confirm(s, &r, &out, &why), 0);
	json_decref(out);
	assert_true(ibcc_service_writes(s));
	passes(&l, s, 30);
	assert_true(s->cycle.ledger.n_left == 0);
	assert_int_equal(s->cycle.audit.drift.n, 0);
	ibcc_settings_fini(&before);
	ibcc_settings_fini(&tried);
	services_close(&l, s);
	loop_end(&l);
}

static json_int_t age_ms(struct ibcc_service *s)
{
	struct ibcc_why why = { "" };
	json_t *plan = NULL;
	json_int_t age;

	assert_int_equal(ibcc_service_plan(s, false, &plan, &why), 0);
	assert_true(json_is_integer(json_object_get(plan, "age_ms")));
	age = json_integer_value(json_object_get(plan, "age_ms"));
	json_decref(plan);
	return age;
}

/* A plan gets older until the next pass. */
static void test_age(void **state)
{
	struct ibcc_why why = { "" };
	struct ibcc_config c;
	struct ibcc_service *s;
	struct loop l = { 0 };
	json_int_t first;

	(void)state;
	loop_open(&l, LUSTRE, &loop_hardware, NULL);
	services_config(&c);
	c.mode = IBCC_MODE_OBSERVE;
	s = services_open(&l, &c);
	assert_int_equal(ibcc_cycle_set_topology(&s->cycle, ibcc_topo_clone(l.sc.topo)), 0);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(services_pass(&l, s, PASS_PS, &why), 0);
	first = age_ms(s);
	nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	assert_true(age_ms(s) >= first + 49);
	services_close(&l, s);
	loop_end(&l);
}

/* What a pass has carried out is reported to its client; then the plan is that of the next pass.
 */
static void test_carried_out(void **state)
{
	struct ibcc_why why = { "" };
	struct ibcc_config c;
	struct ibcc_service *s;
	struct loop l = { 0 };
	json_t *plan = NULL;

	(void)state;
	loop_open(&l, LUSTRE, &loop_hardware, NULL);
	services_config(&c);
	snprintf(c.state_file, sizeof(c.state_file), "%.200s", files_path("carried.db"));
	s = services_open(&l, &c);
	assert_int_equal(ibcc_cycle_set_topology(&s->cycle, ibcc_topo_clone(l.sc.topo)), 0);
	while (!s->set_mads) {
		ibcc_service_answered(s);
		assert_int_equal(services_pass(&l, s, PASS_PS, &why), 0);
	}
	(void)age_ms(s);
	ibcc_service_answered(s);
	assert_int_equal(ibcc_service_plan(s, false, &plan, &why), -EAGAIN);
	assert_null(plan);
	assert_int_equal(services_pass(&l, s, PASS_PS, &why), 0);
	(void)age_ms(s);
	services_close(&l, s);
	loop_end(&l);
}

/* A user that applies right after a rollback learns that congestion has to be confirmed first, and
 * nothing is written. */
static void test_apply_after_rollback(void **state)
{
	struct ibcc_request me = { .who = "me" };
	struct ibcc_why why = { "" };
	struct ibcc_config c;
	struct ibcc_service *s;
	struct loop l = { 0 };
	json_t *plan = NULL, *out = NULL;
	uint64_t sets;

	(void)state;
	loop_open(&l, LUSTRE, &loop_hardware, NULL);
	services_config(&c);
	snprintf(c.state_file, sizeof(c.state_file), "%.200s", files_path("again.db"));
	s = services_open(&l, &c);
	assert_int_equal(ibcc_cycle_set_topology(&s->cycle, ibcc_topo_clone(l.sc.topo)), 0);
	while (!s->set_mads)
		assert_int_equal(services_pass(&l, s, PASS_PS, &why), 0);
	assert_int_equal(ibcc_service_rollback(s, 0, &me, &out, &why), 0);
	json_decref(out);
	sets = s->set_mads;
	assert_int_equal(ibcc_engine_run(l.engine, ibcc_engine_now_ps(l.engine) + PASS_PS), 0);
	assert_int_equal(ibcc_service_pass(s, &me, &why), 0);
	assert_int_equal(ibcc_service_plan(s, false, &plan, &why), 0);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(plan, "situation"), "code")),
		"unconfirmed");
	assert_int_equal(json_array_size(json_object_get(plan, "roots")), 1);
	assert_int_equal(json_integer_value(json_object_get(plan, "writes")), 0);
	assert_int_equal(s->set_mads, sets);
	json_decref(plan);
	services_close(&l, s);
	loop_end(&l);
}

/* Makes a change of the first block of an adapter's table say something else was there before. By
 * a program that knows of checksums: values have to be looked at all the same. Returns the endport.
 */
static uint32_t spoil(const struct loop *l, struct ibcc_service *s, const char *name,
		      const char *old)
{
	uint32_t node = ibcc_topo_find_desc(l->sc.topo, name);
	char sql[256];

	snprintf(sql, sizeof(sql),
		 "UPDATE change SET old = CAST(%s AS BLOB)"
		 " WHERE node_guid = %lld AND attr_id = %u AND attr_mod = 0",
		 old, (long long)l->sc.topo->node[node].guid, IBCC_CC_ATTR_CCT);
	assert_int_equal(sqlite3_exec(s->state->db, sql, NULL, NULL, NULL), 0);
	assert_true(sqlite3_changes(s->state->db) > 0);
	assert_int_equal(sqlite3_exec(s->state->db,
				      "UPDATE change AS c SET sum"
				      " = " IBCC_STATE_CHANGE_SUM("c.outcome"),
				      NULL, NULL, NULL),
			 0);
	s->state->book_fresh = false;
	return l->sc.topo->port[l->sc.topo->node[node].first_port + 1].endport;
}

/* A delay at index 0 of the table that the state file says one adapter had, and for another a limit
 * that is beyond its table: they are not pushed. All others get what they had, and these can be
 * switched off.
 */
static void test_spoilt_way_back(void **state)
{
	struct ibcc_request me = { .who = "me" };
	struct ibcc_why why = { "" };
	struct ibcc_settings before = { 0 }, ours = { 0 };
	struct ibcc_config c;
	struct ibcc_service *s;
	struct loop l = { 0 };
	json_t *out = NULL;
	uint32_t spoilt[2];

	(void)state;
	loop_open(&l, LUSTRE, &loop_hardware, NULL);
	services_config(&c);
	snprintf(c.state_file, sizeof(c.state_file), "%.200s", files_path("spoilt.db"));
	s = services_open(&l, &c);
	assert_int_equal(ibcc_cycle_set_topology(&s->cycle, ibcc_topo_clone(l.sc.topo)), 0);
	assert_int_equal(ibcc_cycle_readback(&s->cycle, &why), 0);
	assert_int_equal(ibcc_settings_copy(&before, &s->cycle.actual), 0);
	passes(&l, s, 15);
	assert_int_equal(ibcc_cycle_readback(&s->cycle, &why), 0);
	spoilt[0] = spoil(&l, s, "source1", "substr(old, 1, 5) || x'05' || substr(old, 7)");
	spoilt[1] = spoil(&l, s, "source2", "x'00c8' || substr(old, 3)");
	for (int i = 0; i < 2; i++)
		assert_true(s->cycle.actual.ep[spoilt[i]].cct.limit > 0);
	assert_int_equal(ibcc_settings_copy(&ours, &s->cycle.actual), 0);

	assert_int_equal(ibcc_service_rollback(s, 0, &me, &out, &why), -ERANGE);
	assert_non_null(strstr(why.text, "2 settings of the state file are not valid"));
	assert_non_null(strstr(why.text, "index 0"));
	assert_non_null(strstr(why.text, "ibcc-tune disable"));
	json_decref(out);
	out = NULL;
	assert_int_equal(ibcc_cycle_readback(&s->cycle, &why), 0);
	for (uint32_t i = 0; i < before.n; i++) {
		bool back = !memcmp(&before.ep[i].cct, &s->cycle.actual.ep[i].cct,
				    sizeof(before.ep[i].cct));

		assert_true(back == (i != spoilt[0] && i != spoilt[1]));
	}
	for (int i = 0; i < 2; i++)
		assert_true(ibcc_cct_equal(&ours.ep[spoilt[i]].cct,
					   &s->cycle.actual.ep[spoilt[i]].cct));
	assert_int_equal(ibcc_service_disable(s, &me, &out, &why), 0);
	json_decref(out);
	assert_int_equal(ibcc_cycle_readback(&s->cycle, &why), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(s->cycle.actual.ep[spoilt[i]].cct.limit, 0);
	ibcc_settings_fini(&ours);
	ibcc_settings_fini(&before);
	services_close(&l, s);
	loop_end(&l);
}

/* What all flows have brought since the last call, in Mb/s of payload. */
static double delivered(struct loop *l, uint64_t *last_bytes, uint64_t *last_ps)
{
	uint64_t bytes[4] = { 0 }, sum = 0, now = ibcc_engine_now_ps(l->engine);
	double mbps;

	loop_sum(l, bytes);
	for (int i = 0; i < 4; i++)
		sum += bytes[i];
	mbps = (double)(sum - *last_bytes) * 8e6 / (double)(now - *last_ps);
	*last_bytes = sum;
	*last_ps = now;
	return mbps;
}

static double effect(const json_t *txn, const char *when, const char *key)
{
	const json_t *sample = json_object_get(json_object_get(txn, "effect"), when);

	assert_true(json_is_object(sample));
	return (double)json_integer_value(json_object_get(sample, key));
}

/* The status compares what the blocked senders send with the moment before control was turned on.
 * source4 is the victim: the demo's headline says that it sends 3.33 times as much.
 */
static void check_gain(struct ibcc_service *s)
{
	json_t *gain = ibcc_service_gain(s), *o;
	bool found = false;
	size_t i;

	assert_int_equal(json_integer_value(json_object_get(gain, "transaction")), 1);
	assert_int_equal(json_array_size(json_object_get(gain, "senders")), 4);
	json_array_foreach (json_object_get(gain, "senders"), i, o) {
		double factor = (double)json_integer_value(json_object_get(o, "after_mbps")) /
				(double)json_integer_value(json_object_get(o, "before_mbps"));
		bool victim = !strcmp(json_string_value(json_object_get(o, "node")), "source4");

		found |= victim;
		assert_true(victim ? fabs(factor / 3.33 - 1) < 0.05 : fabs(factor - 1) < 0.05);
	}
	assert_true(found);
	json_decref(gain);
}

/* The history has what the flows of the engine got, before the first transaction and after the
 * last. */
static void test_effect(void **state)
{
	struct ibcc_why why = { "" };
	struct ibcc_config c;
	struct ibcc_service *s;
	struct loop l = { 0 };
	uint64_t bytes = 0, t_ps = 0;
	double before = 0, after;
	const json_t *list, *txn;
	json_t *out = NULL;

	(void)state;
	loop_open(&l, LUSTRE, &loop_hardware, NULL);
	services_config(&c);
	snprintf(c.state_file, sizeof(c.state_file), "%.200s", files_path("effect.db"));
	s = services_open(&l, &c);
	assert_int_equal(ibcc_cycle_set_topology(&s->cycle, ibcc_topo_clone(l.sc.topo)), 0);
	assert_int_equal(ibcc_engine_run(l.engine, 10 * PASS_PS),
			 0); /* until its queues are full */
	delivered(&l, &bytes, &t_ps);
	while (!s->set_mads) {
		assert_int_equal(services_pass(&l, s, PASS_PS, &why), 0);
		before = delivered(&l, &bytes, &t_ps);
	}
	for (unsigned int i = 0; i < 150; i++)
		assert_int_equal(services_pass(&l, s, PASS_PS, &why), 0);
	delivered(&l, &bytes, &t_ps);
	for (unsigned int i = 0; i < 10; i++)
		assert_int_equal(services_pass(&l, s, PASS_PS, &why), 0);
	after = delivered(&l, &bytes, &t_ps);

	assert_int_equal(ibcc_service_history(s, 0, 1000, true, &out, &why), 0);
	list = json_object_get(out, "transactions");
	txn = json_array_get(list, json_array_size(list) - 1);
	assert_int_equal(effect(txn, "before", "roots"), 1);
	assert_int_equal(effect(txn, "before", "adapters_on"), 0);
	assert_true(fabs(effect(txn, "before", "total_mbps") / before - 1) < 0.03);
	txn = json_array_get(list, 0);
	assert_true(fabs(effect(txn, "after", "total_mbps") / after - 1) < 0.03);
	assert_true(effect(txn, "after", "adapters_on") >= 3);
	assert_true(effect(txn, "after", "switches_on") >= 1);
	assert_true(after > 1.2 * before);
	list = json_object_get(json_object_get(out, "series"), "rows");
	assert_true(json_array_size(list) > 0);
	json_decref(out);
	check_gain(s);
	services_close(&l, s);
	loop_end(&l);
}

/* An adapter's setting, made by another program. */
static void meddle(struct loop *l, const char *name)
{
	uint32_t node = ibcc_topo_find_desc(l->sc.topo, name);
	uint32_t port = ibcc_topo_port_index(l->sc.topo, node, 1);
	struct ibcc_mad_op op = { .lid = l->sc.topo->port[port].lid };
	struct ibcc_cc_ca_setting ca =
		ibcc_agents_settings(l->agents, l->sc.topo->port[port].endport)->ca;

	ca.Control_Map = 0xffff;
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++)
		ca.sl[sl].CCTI_Timer = 9999;
	ibcc_mad_request(op.mad, IBCC_MAD_CLASS_CC, IBCC_MAD_SET, IBCC_CC_ATTR_CA_SETTING, 0);
	ibcc_cc_ca_setting_pack(op.mad, &ca);
	assert_int_equal(ibcc_transport_run(l->tr, &op, 1), 0);
	assert_int_equal(op.err, 0);
}

/* Another program sets a node again and again. Each repair is done in the polling cycle that finds
 * it, and still the state says that another program writes, until that ends.
 */
static void test_fought_over(void **state)
{
	struct ibcc_why why = { "" };
	struct ibcc_config c;
	struct ibcc_service *s;
	struct loop l = { 0 };
	const char *reason;
	json_t *status;

	(void)state;
	loop_open(&l, LUSTRE, &loop_hardware, NULL);
	services_config(&c);
	c.drift = IBCC_DRIFT_REPAIR;
	snprintf(c.state_file, sizeof(c.state_file), "%.200s", files_path("fought.db"));
	s = services_open(&l, &c);
	assert_int_equal(ibcc_cycle_set_topology(&s->cycle, ibcc_topo_clone(l.sc.topo)), 0);
	for (unsigned int i = 0; i < 40; i++)
		assert_int_equal(services_pass(&l, s, PASS_PS, &why), 0);
	for (unsigned int i = 0; i < 48; i++) {
		meddle(&l, "source1");
		assert_int_equal(services_pass(&l, s, PASS_PS, &why), 0);
	}
	status = ibcc_service_status(s);
	reason = json_string_value(json_object_get(status, "reason"));
	assert_true(is(status, "degraded"));
	assert_non_null(reason);
	assert_non_null(strstr(
		reason, "CACongestionSetting of \"source1\" 0x0000000200000100 was repaired "));
	assert_non_null(strstr(reason, "another program sets it"));
	json_decref(status);
	for (unsigned int i = 0; i < 20; i++)
		assert_int_equal(services_pass(&l, s, PASS_PS, &why), 0);
	status = ibcc_service_status(s);
	assert_true(is(status, "ok"));
	json_decref(status);
	services_close(&l, s);
	loop_end(&l);
}

static void on_advice(void *arg)
{
	(void)arg;
}

/* Clients that wait for a running prediction cost the fabric no MAD, and polling cycles no time. */
static void test_advice_waits_unread(void **state)
{
	const struct ibcc_profile quantum2 = ibcc_profile_like(0x2c9, 0xd2f2);
	const struct ibcc_profile connectx6 = ibcc_profile_like(0x2c9, 0x101b);
	struct ibcc_why why = { "" };
	struct ibcc_config c;
	struct ibcc_service *s;
	struct loop l = { 0 };
	uint64_t sent;
	json_t *o = NULL;

	(void)state;
	loop_open(&l, LUSTRE, &loop_hardware, NULL);
	for (uint32_t i = 0; i < l.sc.topo->n_nodes; i++) {
		const struct ibcc_profile *p =
			ibcc_topo_is_switch(l.sc.topo, i) ? &quantum2 : &connectx6;

		l.sc.topo->node[i].vendor_id = p->vendor_id;
		l.sc.topo->node[i].device_id = p->device_id;
		assert_int_equal(ibcc_agents_set_profile(l.agents, i, p), 0);
	}
	services_config(&c);
	c.mode = IBCC_MODE_OBSERVE;
	s = services_open(&l, &c);
	assert_int_equal(ibcc_cycle_set_topology(&s->cycle, ibcc_topo_clone(l.sc.topo)), 0);
	for (unsigned int i = 0; i < 10; i++)
		assert_int_equal(services_pass(&l, s, PASS_PS, &why), 0);
	if (!s->cycle.estimate.n_roots)
		fail_msg("%s", json_dumps(ibcc_service_status(s), 0));
	sent = l.tr->stats.sent;
	assert_int_equal(ibcc_service_advise(s, on_advice, NULL, &why), -EINPROGRESS);
	assert_true(l.tr->stats.sent > sent);
	sent = l.tr->stats.sent;
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(ibcc_service_advise(s, on_advice, NULL, &why), -EBUSY);
	assert_int_equal(l.tr->stats.sent, sent);
	assert_int_equal(ibcc_service_predicted(s, false, &o, &why), 0);
	assert_true(json_is_object(json_object_get(o, "advice")));
	json_decref(o);
	services_close(&l, s);
	loop_end(&l);
}

/* Writes a map of jobs: one on the hosts that send to the slow server, and so many on no adapter
 * that a call charges few polling cycles.
 */
static void write_jobs(int64_t made_s)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	fprintf(f,
		"{\"version\": 1, \"made_s\": %lld, \"period_s\": 600, \"source\": \"test\", "
		"\"jobs\": [",
		(long long)made_s);
	for (unsigned int i = 0; i < 9999; i++)
		fprintf(f,
			"{\"id\": \"%u\", \"user\": \"u\", \"start_s\": 1, \"end_s\": 0, "
			"\"hosts\": [\"elsewhere\"]}, ",
			i);
	fprintf(f, "{\"id\": \"late\", \"user\": \"u\", \"start_s\": 1, \"end_s\": 0, "
		   "\"hosts\": [\"source1\", \"source2\", \"source3\"]}]}");
	assert_int_equal(fclose(f), 0);
	assert_int_equal(ibcc_file_replace(files_path("jobs.json"), text, len), 0);
	free(text);
}

/* Runs passes until the map that was made then has been read. */
static void read_jobs(struct loop *l, struct ibcc_service *s, int64_t made_s)
{
	int64_t got = 0;

	while (got != made_s) {
		json_t *o;

		passes(l, s, 1);
		o = ibcc_service_jobs_status(s);
		got = json_integer_value(json_object_get(o, "made"));
		json_decref(o);
		usleep(10000);
	}
}

/* The daemon ends right after the polling cycle that took a new map. The jobs are still charged
 * with all polling cycles before the map, also if these are more than one call charges.
 */
static void test_jobs_at_the_end(void **state)
{
	const int64_t first_s = (int64_t)time(NULL) - 10;
	int64_t last_s;
	struct ibcc_why why = { "" };
	struct ibcc_state *db;
	struct ibcc_config c;
	struct ibcc_service *s;
	struct loop l = { 0 };
	json_t *jobs;
	int err = 0;

	(void)state;
	loop_open(&l, LUSTRE, &loop_hardware, NULL);
	services_config(&c);
	snprintf(c.state_file, sizeof(c.state_file), "%.200s", files_path("end.db"));
	snprintf(c.jobs_file, sizeof(c.jobs_file), "%.200s", files_path("jobs.json"));
	c.mode = IBCC_MODE_OBSERVE;
	write_jobs(first_s);
	s = services_open(&l, &c);
	s->listens = true;
	assert_int_equal(ibcc_service_open_state(s, &why), 0);
	assert_int_equal(ibcc_cycle_set_topology(&s->cycle, ibcc_topo_clone(l.sc.topo)), 0);
	read_jobs(&l, s, first_s);
	for (unsigned int i = 0; i < 12; i++) {
		usleep(300000);
		last_s = (int64_t)time(NULL);
		passes(&l, s, 1);
	}
	while ((int64_t)time(NULL) <= last_s + 1)
		usleep(10000);
	write_jobs(last_s + 2);
	read_jobs(&l, s, last_s + 2);
	services_close(&l, s);
	db = ibcc_state_open(c.state_file, &err, &why);
	assert_non_null(db);
	jobs = ibcc_state_jobs(db, 0, "", "", &err, &why);
	assert_int_equal(json_array_size(jobs), 1);
	assert_true(json_integer_value(json_object_get(json_array_get(jobs, 0), "seen")) >= last_s);
	json_decref(jobs);
	ibcc_state_close(db);
	loop_end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_refused),
					    cmocka_unit_test(test_trial),
					    cmocka_unit_test(test_age),
					    cmocka_unit_test(test_carried_out),
					    cmocka_unit_test(test_apply_after_rollback),
					    cmocka_unit_test(test_spoilt_way_back),
					    cmocka_unit_test(test_effect),
					    cmocka_unit_test(test_fought_over),
					    cmocka_unit_test(test_advice_waits_unread),
					    cmocka_unit_test(test_jobs_at_the_end) };

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
