/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon's predictor on synthetic counters of the Lustre fabric: what it remembers, what it
 * tells, and why it does not.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ibcc/cct.h>
#include <ibcc/loads.h>

#include "predictors.h"

#include "daemon/predict/baseline.h"
#include "daemon/predict/what_if.h"

/* By hand: the slow sink goes on taking what it does, and the victim gets what it sent before. */
static void the_victim_gets_its_own_back(void **state)
{
	struct fixture *f = *state;
	double want = SLOW_MBPS + VICTIM_MBPS;
	json_t *o;

	at_rest(f, 6, NULL);
	congested(f, 6, NULL);
	assert_true(f->c.plan.n > 0);
	o = predict(f);
	if (!json_is_true(json_object_get(o, "known")))
		fail_msg("%s", json_dumps(o, 0));
	assert_true(number(o, "total", "low_mbps") <= want);
	assert_true(number(o, "total", "high_mbps") >= want);
	assert_true(fabs(number(o, "total", "expected_mbps") / want - 1) < 0.05);
	assert_true(fabs(number(o, "victims", "expected_mbps") / VICTIM_MBPS - 1) < 0.05);
	json_decref(o);
	/* Asked again in the same pass it is there already. */
	assert_int_equal(ibcc_predictor_begin(f->p, &f->c, NULL, NULL, NULL), -EALREADY);
}

/* One that is broken off tells nothing, and the next is made as if it had not been. */
static void a_prediction_is_broken_off(void **state)
{
	struct fixture *f = *state;
	json_t *o;

	at_rest(f, 6, NULL);
	congested(f, 6, NULL);
	assert_int_equal(ibcc_predictor_begin(f->p, &f->c, NULL, NULL, NULL), 0);
	ibcc_predictor_abandon(f->p);
	ibcc_predictor_wait(f->p);
	o = ibcc_predictor_tell(f->p, 0);
	assert_false(json_is_true(json_object_get(o, "known")));
	json_decref(o);
	o = predict(f);
	assert_true(json_is_true(json_object_get(o, "known")));
	json_decref(o);
}

static void it_says_why_it_cannot_tell(void **state)
{
	struct fixture *f = *state;

	congested(f, 5, NULL);
	assert_cannot(f, "already congested when monitoring began");
	f->c.actual.ep[f->c.topo->port[fabric_port(f->c.topo, LUSTRE_SRC2, 1)].endport].support =
		IBCC_CC_UNSUPPORTED;
	passes(f, 1, NULL);
	assert_cannot(f, "no congestion control");
	for (uint32_t i = 0; i < f->c.topo->n_ports; i++)
		f->tr.port[i].silent = i % 3 == 0 && f->c.estimate.root[0].port != i;
	traffic_pass(&f->tr);
	f->c.snapshot = f->tr.s;
	f->c.estimate.pass++;
	assert_cannot(f, "not read");
	ibcc_plan_fini(&f->c.plan);
	f->c.plan = (struct ibcc_plan){ 0 };
	f->c.estimate.pass++;
	assert_cannot(f, "the plan changes nothing");
	ibcc_predictor_configure(f->p, 0, false);
}

/* What the victim sends beyond what it sent goes to another destination than the root's: there may
 * be another one behind this root's tree, and neither keeps what it has.
 */
static void a_hidden_root_makes_the_seen_one_doubtful(void **state)
{
	struct fixture *f = *state;
	json_t *o;

	at_rest(f, 4, NULL);
	send(f, SLOW_MBPS / 3, VICTIM_MBPS + 6000, 844);
	passes(f, 5, NULL);
	assert_int_equal(f->c.estimate.n_roots, 1);
	assert_cannot(f, "without a congestion root");
	o = ibcc_predictor_tell(f->p, f->c.estimate.pass);
	assert_int_equal(json_array_size(json_object_get(o, "roots")), 0);
	json_decref(o);
}

/* One of the slow server's sources, at a table's end that lets a share of its link through. */
static void hold(struct fixture *f, struct ibcc_settings *s, uint32_t src, double share)
{
	struct ibcc_endport_cc *ep =
		&s->ep[f->c.topo->port[fabric_port(f->c.topo, src, 1)].endport];

	ep->cct.limit = 1;
	ep->cct.entry[1] = ibcc_cct_entry_encode((uint32_t)(1000 / share - 1000));
}

/* By counters all four that wait have a quarter each of what the server takes. Where their tables
 * let through as much, or nine tenths of it, so much is left of the root, or more: that is told.
 * Seven tenths to ten is more than the range of what is told: those bounds are.
 */
static void what_limits_leave_idle_is_not_told(void **state)
{
	static const struct {
		double share;
		bool told;
	} limit[] = { { 1.0 / 4, true }, { 0.9 / 4, true }, { 0.7 / 4, false } };
	struct fixture *f = *state;
	double link = f->c.topo->port[fabric_port(f->c.topo, LUSTRE_SRC1, 1)].rate_mbps, low;
	const json_t *open, *one;
	json_t *o;

	at_rest(f, 6, NULL);
	congested(f, 6, NULL);
	for (unsigned int i = 0; i < 3; i++) {
		struct ibcc_settings wanted;

		assert_int_equal(ibcc_settings_copy(&wanted, &f->c.target.wanted), 0);
		for (unsigned int k = 0; k < 4; k++)
			hold(f, &wanted, LUSTRE_SRC1 + k, limit[i].share * SLOW_MBPS / link);
		assert_int_equal(ibcc_predictor_begin(f->p, &f->c, &wanted, NULL, NULL), 0);
		ibcc_predictor_wait(f->p);
		ibcc_settings_fini(&wanted);
		o = ibcc_predictor_tell(f->p, 0);
		assert_true(json_is_true(json_object_get(o, "known")));
		assert_true(json_is_true(json_object_get(o, "known")));
		assert_int_equal(json_array_size(json_object_get(o, "roots")), limit[i].told);
		assert_int_equal(json_is_null(json_object_get(o, "roots_why")), limit[i].told);
		open = json_object_get(o, "open_roots");
		assert_int_equal(json_array_size(open), !limit[i].told);
		one = json_array_get(open, 0);
		low = json_number_value(json_object_get(one, "low_mbps"));
		if (one) /* less what counters may be off by */
			assert_true(low > 0.66 * SLOW_MBPS && low < 0.7 * SLOW_MBPS);
		json_decref(o);
	}
}

static void hold_for_good(struct fixture *f, struct ibcc_settings *s, uint32_t src, double share)
{
	uint32_t port = fabric_port(f->c.topo, src, 1);

	hold(f, s, src, share);
	for (unsigned int sl = 0; sl < 16; sl++)
		s->ep[f->c.topo->port[port].endport].ca.sl[sl].CCTI_Min = 1;
}

/* A delay that no flow recovers from (CCTI_Min) leaves the server half idle, which costs more than
 * the victim gains, and empties the buffers that the victim's packets waited in: what a user who
 * prefers latency wants.
 */
static void latency_may_be_preferred(void **state)
{
	struct fixture *f = *state;
	double link = f->c.topo->port[fabric_port(f->c.topo, LUSTRE_SRC1, 1)].rate_mbps;

	at_rest(f, 6, NULL);
	congested(f, 6, NULL);
	for (int prefer = 0; prefer < 2; prefer++) {
		struct ibcc_settings wanted;
		json_t *o;

		ibcc_predictor_configure(f->p, 60, prefer);
		assert_int_equal(ibcc_settings_copy(&wanted, &f->c.target.wanted), 0);
		for (unsigned int k = 0; k < 4; k++)
			hold_for_good(f, &wanted, LUSTRE_SRC1 + k, 0.5 / 4 * SLOW_MBPS / link);
		assert_int_equal(ibcc_predictor_begin(f->p, &f->c, &wanted, NULL, NULL), 0);
		ibcc_predictor_wait(f->p);
		ibcc_settings_fini(&wanted);
		o = ibcc_predictor_tell(f->p, 0);
		assert_true(json_is_true(json_object_get(o, "known")));
		assert_true(json_is_true(json_object_get(o, "trades")));
		assert_int_equal(json_is_true(json_object_get(o, "advised")), prefer);
		json_decref(o);
	}
}

static void loads_that_move_are_no_present(void **state)
{
	struct fixture *f = *state;
	const char *why;
	json_t *o;

	at_rest(f, 4, NULL);
	congested(f, 4, NULL);
	send(f, SLOW_MBPS / 3, 3 * SLOW_MBPS / 3, 844);
	passes(f, 4, NULL);
	assert_cannot(f, "changed by more than a tenth");
	/* Since a program wrote there is another present: those of before are not of it. */
	ibcc_predictor_wrote(f->p);
	passes(f, 1, NULL);
	o = predict(f);
	why = json_string_value(json_object_get(o, "why"));
	assert_true(!why || !strstr(why, "changed by more than a tenth"));
	json_decref(o);
}

static void on_done(void *arg)
{
	*(pthread_t *)arg = pthread_self();
}

/* Nothing waits for it: the caller does not compute, and what it has may go meanwhile. */
static void it_runs_beside(void **state)
{
	struct fixture *f = *state;
	pthread_t thread = pthread_self();

	at_rest(f, 4, NULL);
	congested(f, 4, NULL);
	assert_int_equal(ibcc_predictor_begin(f->p, &f->c, NULL, on_done, &thread), 0);
	passes(f, 3, NULL);
	ibcc_predictor_wait(f->p);
	assert_false(pthread_equal(thread, pthread_self()));
	/* One under way ends with the predictor. */
	assert_int_equal(ibcc_predictor_begin(f->p, &f->c, NULL, NULL, NULL), 0);
}

static void held_up(void *arg)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 60; /* a test that fails ends, too */
	sem_timedwait(arg, &until);
}

/* The callback holds up the thread, but not the next request: that one is to come back. */
static void the_next_does_not_wait(void **state)
{
	struct fixture *f = *state;
	bool told = false;
	sem_t go;
	json_t *o;

	assert_int_equal(sem_init(&go, 0, 0), 0);
	at_rest(f, 4, NULL);
	congested(f, 4, NULL);
	assert_int_equal(ibcc_predictor_begin(f->p, &f->c, NULL, held_up, &go), 0);
	while (!told) { /* then only its end is left */
		o = ibcc_predictor_tell(f->p, 0);
		told = json_object_get(o, "basis") != NULL;
		json_decref(o);
		sched_yield();
	}
	passes(f, 1, NULL);
	assert_int_equal(ibcc_predictor_begin(f->p, &f->c, NULL, NULL, NULL), -EBUSY);
	assert_int_equal(ibcc_predictor_begin_written(f->p, &f->c, NULL, NULL, NULL), -EBUSY);
	assert_int_equal(sem_post(&go), 0);
	ibcc_predictor_wait(f->p);
	assert_int_equal(ibcc_predictor_begin(f->p, &f->c, NULL, NULL, NULL), 0);
	ibcc_predictor_wait(f->p);
	sem_destroy(&go);
}

/* The baseline outlives the process, but not the fabric it was seen on. */
static void the_baseline_is_kept(void **state)
{
	struct fixture *f = *state;
	struct ibcc_state *s = open_state("predictor.db");
	struct ibcc_loads l, seen;
	int64_t at_s = 0;
	json_t *o;

	at_rest(f, 4, s);
	congested(f, 1, s);
	ibcc_predictor_free(f->p);
	f->p = ibcc_predictor_new(60);
	assert_non_null(f->p);
	congested(f, 5, s);
	o = predict(f);
	assert_true(json_is_true(json_object_get(o, "known")));
	json_decref(o);
	assert_int_equal(ibcc_loads_init(&l, f->c.topo->n_ports), 0);
	assert_int_equal(ibcc_baseline_load(s, ibcc_baseline_hash(f->c.topo) + 1, &l, &at_s), 0);
	assert_int_equal(l.n, 0);
	assert_int_equal(ibcc_baseline_load(s, ibcc_baseline_hash(f->c.topo), &l, &at_s), 0);
	assert_true(l.n > 0 && at_s > 0);
	assert_true(fabs(l.mbps[fabric_port(f->c.topo, LUSTRE_SRC4, 1)] - VICTIM_MBPS) < 20);
	/* A spoilt one is none. */
	assert_int_equal(ibcc_loads_init(&seen, l.n_ports), 0);
	seen.n = 1;
	l.n = 0;
	assert_int_equal(ibcc_state_note_set(s, "baseline", "1 0 0 4 9 x"), 0);
	assert_int_equal(ibcc_baseline_load(s, 0, &l, &at_s), 0);
	assert_int_equal(l.n, 0);
	/* Nor is one of a time that none was stored at, whose age would be no number. */
	for (int i = 0; i < 2; i++) {
		static const int64_t never_s[2] = { -1, INT64_MAX / 1000000000 + 1 };

		assert_int_equal(ibcc_baseline_store(s, 0, &seen, never_s[i]), 0);
		assert_int_equal(ibcc_baseline_load(s, 0, &l, &at_s), 0);
		assert_int_equal(l.n, 0);
	}
	ibcc_loads_fini(&seen);
	ibcc_loads_fini(&l);
	ibcc_state_close(s);
}

/* A blocked adapter, and one that fills its link, shows no demand. */
static void what_is_a_baseline(void **state)
{
	struct fixture *f = *state;
	struct ibcc_memory m;

	assert_int_equal(ibcc_memory_init(&m, f->c.topo->n_ports), 0);
	at_rest(f, 4, NULL);
	assert_true(ibcc_memory_add(&m, f->c.topo, &f->tr.s, &f->c.estimate, &f->c.actual));
	traffic_at(&f->tr, LUSTRE_SRC1, 1)->wait_permille = 200;
	passes(f, 4, NULL);
	assert_false(ibcc_memory_add(&m, f->c.topo, &f->tr.s, &f->c.estimate, &f->c.actual));
	*traffic_at(&f->tr, LUSTRE_SRC1, 1) = (struct traffic_port){ .mbps = QDR_MBPS };
	passes(f, 12, NULL);
	assert_false(ibcc_memory_add(&m, f->c.topo, &f->tr.s, &f->c.estimate, &f->c.actual));
	at_rest(f, 12, NULL);
	assert_true(ibcc_memory_add(&m, f->c.topo, &f->tr.s, &f->c.estimate, &f->c.actual));
	assert_int_equal(m.quiet.n, 2);
	assert_int_equal(m.n_recent, 0);
	ibcc_memory_fini(&m);
}

static uint64_t a_second_each(void *arg)
{
	uint64_t *asked = arg;

	return ++*asked * 1000000000ull;
}

static uint64_t three_seconds_each(void *arg)
{
	uint64_t *asked = arg;

	return ++*asked * 3000000000ull;
}

/* By how much half a range is wider than that of runs that are not brief, in shares of the present.
 */
static double wider(const struct ibcc_amount *a)
{
	return (a->high_mbps - a->expected_mbps) / a->now_mbps -
	       ibcc_prediction_margin(a->expected_mbps / a->now_mbps - 1);
}

/* What the time is not enough for is not told; no computation goes on when it is told to end. */
static void time_is_bounded(void **state)
{
	struct fixture *f = *state;
	struct ibcc_memory m;
	struct ibcc_loads now;
	struct ibcc_prediction p;
	uint64_t asked = 0;
	struct ibcc_prediction_in in = { .t = f->c.topo, .now = &now, .cpu_ns = a_second_each };

	assert_int_equal(ibcc_memory_init(&m, f->c.topo->n_ports), 0);
	at_rest(f, 4, NULL);
	assert_true(ibcc_memory_add(&m, f->c.topo, &f->tr.s, &f->c.estimate, &f->c.actual));
	congested(f, 5, NULL);
	assert_false(ibcc_memory_add(&m, f->c.topo, &f->tr.s, &f->c.estimate, &f->c.actual));
	assert_int_equal(ibcc_memory_now(&m, f->c.topo, &now, &in.moved), 0);
	in.before = &m.quiet;
	in.n_roots = f->c.estimate.n_roots;
	in.root = f->c.estimate.root;
	in.actual = &f->c.actual;
	in.wanted = &f->c.target.wanted;
	in.arg = &asked;
	in.budget_ns = 17000000000ull; /* the replay's twelve, not six of the plan's */
	assert_int_equal(ibcc_predict(&in, &p), 0);
	assert_false(p.known);
	assert_int_equal(p.why, IBCC_PREDICTION_CPU);
	assert_true(p.replayed);
	assert_int_equal(p.n_roots, 0);
	assert_true(asked < 30);
	ibcc_prediction_fini(&p);
	in.budget_ns = 20000000000ull; /* which are enough, but for a wider range */
	assert_int_equal(ibcc_predict(&in, &p), 0);
	assert_true(p.known);
	assert_int_equal(p.n_roots, 1);
	assert_true(fabs(wider(&p.total) - 0.03) < 1e-9 && fabs(wider(&p.victims) - 0.03) < 1e-9);
	ibcc_prediction_fini(&p);
	in.budget_ns = 40000000000ull; /* twenty of the plan's */
	assert_int_equal(ibcc_predict(&in, &p), 0);
	assert_true(p.known);
	assert_int_equal(p.n_roots, 1);
	assert_true(fabs(wider(&p.total)) < 1e-9 && fabs(wider(&p.victims)) < 1e-9);
	ibcc_prediction_fini(&p);
	/* What begins fits: the last question but that of the whole is within the time. */
	asked = 0;
	in.cpu_ns = three_seconds_each;
	in.budget_ns = 121000000000ull;
	assert_int_equal(ibcc_predict(&in, &p), 0);
	assert_true(p.known);
	assert_int_equal(asked - 1, (3 + 121) / 3);
	ibcc_prediction_fini(&p);
	ibcc_loads_fini(&now);
	ibcc_memory_fini(&m);
}

/* A pass may miss some of those that the plan throttles: what is asked for is for them, too. */
static void what_if_is_for_all_who_are_held(void **state)
{
	struct fixture *f = *state;
	const struct ibcc_topo *t = f->c.topo;
	struct ibcc_settings s;
	struct ibcc_why why = { "" };
	json_t *set = json_pack("{si}", "ccti_increase", 0);
	unsigned int held = 0;

	at_rest(f, 4, NULL);
	congested(f, 4, NULL);
	assert_int_equal(ibcc_what_if(t, NULL, 0, &f->c.target.wanted, set, &s, &why), 0);
	for (uint32_t i = 0; i < s.n; i++)
		if (!ibcc_topo_is_switch(t, t->port[t->endport[i]].node)) {
			held += f->c.target.wanted.ep[i].ca.sl[0].CCTI_Increase > 0;
			assert_int_equal(s.ep[i].ca.sl[0].CCTI_Increase, 0);
		}
	assert_true(held > 0);
	ibcc_settings_fini(&s);
	json_decref(set);
}

/* More CPU time would not help: such a fabric has too many packets. */
static void dcqcn_is_not_tried_on_large_fabrics(void **state)
{
	static struct ibcc_topo_node node[1001];
	double zero = 0;
	struct ibcc_topo t = { .node = node, .n_nodes = 1001 };
	struct ibcc_loads loads = { .n = 1, .mbps = &zero, .wait = &zero };
	const struct ibcc_settings none = { 0 };
	const struct ibcc_root root = { .port = 0 };
	const struct ibcc_dcqcn d = { .enabled = true };
	struct ibcc_prediction_in in = {
		.t = &t,
		.before = &loads,
		.now = &loads,
		.n_roots = 1,
		.root = &root,
		.actual = &none,
		.wanted = &none,
		.dcqcn = &d,
	};
	struct ibcc_prediction p;

	(void)state;
	for (unsigned int i = 0; i < 1001; i++)
		node[i].type = IBCC_NODE_CA;
	assert_int_equal(ibcc_predict(&in, &p), 0);
	assert_false(p.known);
	assert_int_equal(p.why, IBCC_PREDICTION_LARGE);
	ibcc_prediction_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(time_is_bounded, setup, teardown),
		cmocka_unit_test(dcqcn_is_not_tried_on_large_fabrics),
		cmocka_unit_test_setup_teardown(the_victim_gets_its_own_back, setup, teardown),
		cmocka_unit_test_setup_teardown(a_prediction_is_broken_off, setup, teardown),
		cmocka_unit_test_setup_teardown(it_says_why_it_cannot_tell, setup, teardown),
		cmocka_unit_test_setup_teardown(a_hidden_root_makes_the_seen_one_doubtful, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_limits_leave_idle_is_not_told, setup,
						teardown),
		cmocka_unit_test_setup_teardown(latency_may_be_preferred, setup, teardown),
		cmocka_unit_test_setup_teardown(loads_that_move_are_no_present, setup, teardown),
		cmocka_unit_test_setup_teardown(it_runs_beside, setup, teardown),
		cmocka_unit_test_setup_teardown(the_next_does_not_wait, setup, teardown),
		cmocka_unit_test_setup_teardown(the_baseline_is_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_a_baseline, setup, teardown),
		cmocka_unit_test_setup_teardown(what_if_is_for_all_who_are_held, setup, teardown),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
