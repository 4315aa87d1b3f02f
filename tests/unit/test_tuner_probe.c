/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The probe: a root marks, nobody is held, and who then gets BECNs gets values. */
#include "tuners.h"

#define PASSES 5u

static int setup_probe(void **state)
{
	struct fixture *f;

	setup(state);
	f = *state;
	ibcc_tuner_free(f->tn);
	f->p.probe_passes = PASSES;
	f->tn = ibcc_tuner_new(&f->p);
	ibcc_tuner_may_probe(f->tn, true);
	return 0;
}

/* Sources wait as before, since nobody is held; marks reach those who send to the slow sink. */
static void marks(struct fixture *f, uint32_t becn)
{
	for (unsigned int i = 0; i < 3; i++)
		traffic_at(&f->tr, LUSTRE_SRC1 + i, 1)->becn = becn;
	traffic_at(&f->tr, LUSTRE_SLOW, 1)->fecn = 3 * becn;
}

static void begin(struct fixture *f)
{
	traffic_lustre_off(&f->tr);
	steps(f, 2);
	/* Only the switch: its Victim_Mask, and the element of the port. */
	assert_int_equal(f->changes, 2);
	assert_non_null(strstr(f->summary, "mark without delay"));
	assert_true(sw_cc(f, LUSTRE_SW2)->element[1].Valid);
	for (unsigned int i = LUSTRE_SRC1; i <= LUSTRE_SRC4; i++)
		assert_int_equal(ca_cc(f, i)->cct.limit, 0);
	f->n_changed = 0;
}

/* 5 BECNs, then 3 quarters of them and 5 more: the 8 that tell who contributes. */
static void test_names(void **state)
{
	struct fixture *f = *state;
	const char *why;

	begin(f);
	marks(f, 5);
	assert_int_equal(step(f), 0);
	assert_int_equal(step(f), 3 * 2);
	assert_non_null(strstr(f->summary, "name 3 contributors"));
	assert_int_equal(ca_cc(f, LUSTRE_SRC4)->cct.limit, 0);
	/* x = 3 * 32000 / 14960 - 1 = 5.42; the tree is emptied or held, either is for three. */
	why = reason(f, f->t->port[fabric_port(f->t, LUSTRE_SRC1, 1)].endport, 0x17);
	assert_non_null(strstr(why, "3 contributors (BECN)"));
	assert_non_null(strstr(why, "5.42 packet times"));
	traffic_lustre_tuned(&f->tr);
	f->n_changed = 0;
	steps(f, 100);
	assert_int_equal(f->n_changed, 0);
	assert_int_equal(ca_cc(f, LUSTRE_SRC4)->cct.limit, 0);
}

/* A switch that says it marks and does not: as without a probe, only later. */
static void test_names_nobody(void **state)
{
	struct fixture *f = *state;

	begin(f);
	steps(f, PASSES - 1);
	assert_int_equal(f->n_changed, 0);
	assert_int_equal(step(f), 4 * 2);
	assert_non_null(strstr(f->summary, "named nobody"));
}

/* Settings that are not carried out: a probe would never end. */
static void test_not_where_nothing_is_set(void **state)
{
	struct fixture *f = *state;

	ibcc_tuner_may_probe(f->tn, false);
	f->apply = false;
	traffic_lustre_off(&f->tr);
	steps(f, 2);
	assert_int_equal(f->changes, 2 + 4 * 2);
	steps(f, 20);
	assert_int_equal(f->changes, 2 + 4 * 2);
}

/* Tables that somebody left there would hold who is marked: none while the probe lasts, and the
 * victim has its own back afterwards.
 */
static void test_tables_of_others(void **state)
{
	struct fixture *f = *state;
	struct ibcc_cct table;

	assert_int_equal(ibcc_cct_build(&table, IBCC_CCT_LINEAR, 64, 3000), 0);
	ca_cc(f, LUSTRE_SRC1)->cct = table;
	ca_cc(f, LUSTRE_SRC4)->cct = table;
	traffic_lustre_off(&f->tr);
	steps(f, 2);
	assert_int_equal(f->changes, 2 + 2);
	assert_int_equal(ca_cc(f, LUSTRE_SRC1)->cct.limit, 0);
	assert_int_equal(ca_cc(f, LUSTRE_SRC4)->cct.limit, 0);
	marks(f, 20);
	assert_int_equal(step(f), 3 * 2 + 1);
	assert_true(ibcc_cct_equal(&ca_cc(f, LUSTRE_SRC4)->cct, &table));
	assert_false(ibcc_cct_equal(&ca_cc(f, LUSTRE_SRC1)->cct, &table));
	/* When all is over, the contributor as well. */
	memset(f->tr.port, 0, sizeof(f->tr.port));
	steps(f, f->p.quiet_passes + 5u);
	assert_true(ibcc_cct_equal(&ca_cc(f, LUSTRE_SRC1)->cct, &table));
	assert_false(sw_cc(f, LUSTRE_SW2)->element[1].Valid);
}

/* Congestion that ends while it is probed keeps nothing: neither marks nor values. */
static void test_ends_early(void **state)
{
	struct fixture *f = *state;

	begin(f);
	memset(f->tr.port, 0, sizeof(f->tr.port));
	steps(f, 2 * f->p.quiet_passes);
	assert_false(sw_cc(f, LUSTRE_SW2)->element[1].Valid);
	for (unsigned int i = LUSTRE_SRC1; i <= LUSTRE_SRC4; i++)
		assert_int_equal(ca_cc(f, i)->cct.limit, 0);
}

/* Adapters that hold all they send, as QLogic's do. */
static int setup_alike(void **state)
{
	struct fixture *f;

	setup(state);
	f = *state;
	ibcc_tuner_may_probe(f->tn, true);
	for (unsigned int i = LUSTRE_SRC1; i <= LUSTRE_SRC4; i++) {
		ca_cc(f, i)->by_block = true;
		ca_cc(f, i)->ca.Port_Control = IBCC_CC_PORT_CONTROL_SL;
	}
	return 0;
}

/* Such adapters are probed without being asked for. The fourth waits and gets no marks: it is worth
 * holding the others, and their mode, the only one they have, is no difference.
 */
static void test_alike_with_victim(void **state)
{
	struct fixture *f = *state;

	begin(f);
	marks(f, 10);
	assert_int_equal(step(f), 3 * 2);
	assert_non_null(strstr(f->summary, "name 3 contributors"));
	assert_int_equal(ca_cc(f, LUSTRE_SRC1)->ca.Port_Control, IBCC_CC_PORT_CONTROL_SL);
	traffic_lustre_tuned(&f->tr);
	f->n_changed = 0;
	steps(f, 100);
	assert_int_equal(f->n_changed, 0);
	assert_true(ca_cc(f, LUSTRE_SRC1)->cct.limit);
}

/* All four send to the slow sink: what they send elsewhere would be held with it. Marking ends, and
 * is tried again only after a while; nobody ever gets a delay.
 */
static void test_alike_without_victim(void **state)
{
	struct fixture *f = *state;

	begin(f);
	marks(f, 10);
	traffic_at(&f->tr, LUSTRE_SRC4, 1)->becn = 10;
	assert_int_equal(step(f), 2);
	assert_non_null(strstr(f->summary, "nobody would be freed by control of"));
	assert_false(sw_cc(f, LUSTRE_SW2)->element[1].Valid);
	traffic_lustre_off(&f->tr);
	f->n_changed = 0;
	steps(f, 30);
	assert_int_equal(f->n_changed, 0);
	steps(f, 5);
	assert_true(f->n_changed);
	for (unsigned int i = LUSTRE_SRC1; i <= LUSTRE_SRC4; i++)
		assert_int_equal(ca_cc(f, i)->cct.limit, 0);
}

/* Where nothing is carried out there is no probe: values go to all, as for other adapters. */
static void test_alike_not_probed(void **state)
{
	struct fixture *f = *state;

	ibcc_tuner_may_probe(f->tn, false);
	f->apply = false;
	traffic_lustre_off(&f->tr);
	steps(f, 20);
	assert_int_equal(f->changes, 2 + 4 * 2);
}

int main(void)
{
#define ALIKE(f) cmocka_unit_test_setup_teardown(f, setup_alike, teardown)
#define PROBE(f) cmocka_unit_test_setup_teardown(f, setup_probe, teardown)
	const struct CMUnitTest tests[] = {
		PROBE(test_names),
		PROBE(test_names_nobody),
		PROBE(test_not_where_nothing_is_set),
		PROBE(test_tables_of_others),
		PROBE(test_ends_early),
		ALIKE(test_alike_with_victim),
		ALIKE(test_alike_without_victim),
		ALIKE(test_alike_not_probed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
