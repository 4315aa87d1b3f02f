/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A node takes another CC_Key while others are under control: no adapter is throttled anew, and
 * none stays throttled for that.
 */
#include "loop.h"

#include <ibcc/ccmad.h>
#include <ibcc/mad.h>

#include "tests/unit/files.h"

#include "lib/state/state_db.h"

#define LUSTRE  "perftest/scenarios/lustre.yaml"
#define PASS_PS (1000 * IBCC_PS_PER_US)
#define KEY     0x77u
/* Long enough to see that congestion is gone, and to take all off. */
#define QUIET_PASSES 45

static void set_key(struct loop *l, const char *name, uint64_t old, uint64_t key)
{
	const struct ibcc_topo *t = l->sc.topo;
	const struct ibcc_cc_key_info info = { .CC_Key = key };
	struct ibcc_mad_op op = { 0 };

	op.lid = t->port[t->node[ibcc_topo_find_desc(t, name)].first_port + 1].lid;
	ibcc_mad_request(op.mad, IBCC_MAD_CLASS_CC, IBCC_MAD_SET, IBCC_CC_ATTR_KEY_INFO, 0);
	ibcc_cc_key_pack(op.mad, old);
	ibcc_cc_key_info_pack(op.mad, &info);
	assert_int_equal(ibcc_transport_run(l->tr, &op, 1), 0);
	assert_int_equal(op.err, 0);
	l->c.actual_known = false;
}

static void traffic(struct loop *l, bool on)
{
	const struct ibcc_topo *t = l->sc.topo;
	static const char *const writers[] = { "source1", "source2", "source3" };

	for (size_t i = 0; i < 3; i++) {
		uint32_t port = t->node[ibcc_topo_find_desc(t, writers[i])].first_port + 1;

		assert_int_equal(ibcc_engine_set_send_rate(l->engine, port,
							   on ? t->port[port].rate_mbps : 100),
				 0);
	}
}

/* Endports that mark or throttle; all are read. */
static unsigned int n_under_control(struct loop *l)
{
	unsigned int n = 0;

	assert_int_equal(ibcc_cycle_readback(&l->c, &l->why), 0);
	for (uint32_t i = 0; i < l->c.actual.n; i++) {
		const struct ibcc_endport_cc *ep = &l->c.actual.ep[i];
		bool any = ep->sw.Threshold > 0;

		for (unsigned int k = 0; k < ep->n_element; k++)
			any |= ep->element[k].Valid && ep->element[k].Threshold;
		for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++)
			any |= ep->ca.sl[sl].CCTI_Increase > 0;
		n += any;
	}
	return n;
}

static void start(struct loop *l)
{
	loop_start(l, LUSTRE, PASS_PS, &loop_hardware, NULL);
	loop_passes(l, 15);
	assert_true(n_under_control(l) >= 4); /* three writers and a switch */
}

/* A bystander's key: congestion ends, and all settings go. */
static void test_bystander(void **state)
{
	struct loop l;

	(void)state;
	start(&l);
	set_key(&l, "destination0", 0, KEY);
	traffic(&l, false);
	loop_passes(&l, QUIET_PASSES);
	assert_int_equal(n_under_control(&l), 0);
	assert_int_equal(l.c.act_err, 0);
	/* It is told, as long as it is so. */
	assert_non_null(strstr(l.c.skipped.text, "destination0"));
	assert_non_null(strstr(l.c.skipped.text, "CC_Key"));
	set_key(&l, "destination0", KEY, 0);
	loop_passes(&l, 2);
	assert_false(l.c.skips);
	loop_end(&l);
}

/* One of those under control: what it has stays, all others are let go. */
static void test_contributor(void **state)
{
	struct loop l;

	(void)state;
	start(&l);
	set_key(&l, "source2", 0, KEY);
	traffic(&l, false);
	loop_passes(&l, QUIET_PASSES);
	assert_int_equal(n_under_control(&l), 1);
	assert_non_null(strstr(l.c.skipped.text, "source2"));
	loop_end(&l);
}

/* ... until the key is gone: the books know that it is ours, and the tuner no longer does. */
static void test_key_goes_later(void **state)
{
	struct loop l;
	int err = 0;

	(void)state;
	loop_start(&l, LUSTRE, PASS_PS, &loop_hardware, NULL);
	l.state = ibcc_state_open(files_path("key.db"), &err, &l.why);
	assert_non_null(l.state);
	loop_passes(&l, 15);
	set_key(&l, "source2", 0, KEY);
	traffic(&l, false);
	loop_passes(&l, QUIET_PASSES);
	assert_int_equal(n_under_control(&l), 1);
	set_key(&l, "source2", KEY, 0);
	loop_passes(&l, QUIET_PASSES);
	assert_int_equal(n_under_control(&l), 0);
	assert_false(l.c.skips);
	ibcc_state_close(l.state);
	loop_end(&l);
}

/* Nothing begins beside another program's key. */
static void test_no_new_control(void **state)
{
	struct loop l;

	(void)state;
	loop_start(&l, LUSTRE, PASS_PS, &loop_hardware, NULL);
	set_key(&l, "destination0", 0, KEY);
	loop_passes(&l, 15);
	assert_int_equal(n_under_control(&l), 0);
	assert_int_equal(l.c.act_err, -EACCES);
	assert_false(l.c.skips);
	loop_end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bystander),
		cmocka_unit_test(test_contributor),
		cmocka_unit_test(test_key_goes_later),
		cmocka_unit_test(test_no_new_control),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
