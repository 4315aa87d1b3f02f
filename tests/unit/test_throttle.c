/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Bounds that settings set, by the annex's formula: C / (1 + M / 2^S), of links of 32000 Mb/s. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/fabrics.h"

#include <ibcc/throttle.h>

#define LINK 32000.0

struct rig {
	struct ibcc_topo *t;
	struct ibcc_settings s;
	struct ibcc_endport_cc *ca, *sw; /* source1's, and a switch's */
	uint32_t endport;
};

static int setup(void **state)
{
	static struct rig r;

	r.t = fabric_lustre();
	assert_int_equal(ibcc_settings_init(&r.s, r.t), 0);
	for (uint32_t i = 0; i < r.s.n; i++) {
		r.s.ep[i].answer = IBCC_CC_ANSWERED;
		ibcc_endport_judge(&r.s.ep[i], IBCC_CC_SUPPORTED);
	}
	r.endport = r.t->port[fabric_port(r.t, LUSTRE_SRC1, 1)].endport;
	r.ca = &r.s.ep[r.endport];
	r.sw = &r.s.ep[r.t->port[fabric_port(r.t, LUSTRE_SW2, 0)].endport];
	r.ca->cct.limit = 127;
	for (unsigned int i = 0; i < 128; i++)
		r.ca->cct.entry[i] = ibcc_cct_entry(1, i * 2); /* i packet times */
	*state = &r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	ibcc_settings_fini(&r->s);
	ibcc_topo_free(r->t);
	return 0;
}

static struct ibcc_throttle find(const struct rig *r)
{
	return ibcc_throttle_find(r->t, &r->s, r->endport, ibcc_throttle_marks(r->t, &r->s));
}

static void assert_bound(const struct rig *r, enum ibcc_throttle_cause cause, double mbps)
{
	struct ibcc_throttle b = find(r);

	assert_int_equal(b.cause, cause);
	assert_true(fabs(b.mbps - mbps) < 1e-6 * LINK);
}

static void test_min(void **state)
{
	struct rig *r = *state;

	assert_bound(r, IBCC_THROTTLE_NONE, LINK);
	r->ca->ca.sl[3].CCTI_Min = 1;
	assert_bound(r, IBCC_THROTTLE_MIN, LINK / 2);
	assert_int_equal(find(r).sl, 3);
	r->ca->ca.sl[7].CCTI_Min = 99;
	assert_bound(r, IBCC_THROTTLE_MIN, LINK / 100);
	assert_int_equal(find(r).sl, 7);
	/* The table's limit is that of the index, too. */
	r->ca->ca.sl[7].CCTI_Min = 255;
	assert_bound(r, IBCC_THROTTLE_MIN, LINK / 128);
	r->ca->cct.limit = 31;
	assert_bound(r, IBCC_THROTTLE_MIN, LINK / 32);
	r->ca->cct.entry[31] = ibcc_cct_entry(0, 4999);
	assert_bound(r, IBCC_THROTTLE_MIN, LINK / 5000); /* 0.02 % */
	/* A table without delays, and a bound of 95 %, throttle none. */
	r->ca->cct.entry[1] = 0;
	r->ca->cct.entry[31] = 0;
	assert_bound(r, IBCC_THROTTLE_NONE, LINK);
	r->ca->cct.entry[31] = ibcc_cct_entry_encode(50);
	assert_bound(r, IBCC_THROTTLE_NONE, LINK);
	r->ca->cct.entry[31] = ibcc_cct_entry(3, 1); /* 8 / 9 */
	assert_bound(r, IBCC_THROTTLE_MIN, LINK * 8 / 9);
	/* What is not known, or is no channel adapter, has no bound. */
	r->ca->answer = IBCC_CC_NO_ANSWER;
	assert_bound(r, IBCC_THROTTLE_NONE, LINK);
	r->sw->ca = r->ca->ca;
	r->sw->cct = r->ca->cct;
	assert_int_equal(ibcc_throttle_find(r->t, &r->s,
					    r->t->port[fabric_port(r->t, LUSTRE_SW2, 0)].endport,
					    true)
				 .cause,
			 IBCC_THROTTLE_NONE);
}

/* A timer of 0 matters where something marks, and where marks raise the index. */
static void test_timer(void **state)
{
	struct rig *r = *state;

	r->ca->ca.sl[0].CCTI_Increase = 1;
	assert_bound(r, IBCC_THROTTLE_NONE, LINK);
	r->sw->sw.Threshold = 9;
	assert_bound(r, IBCC_THROTTLE_TIMER, LINK / 128);
	r->ca->ca.sl[0].CCTI_Timer = 1;
	assert_bound(r, IBCC_THROTTLE_NONE, LINK);
	r->ca->ca.sl[0].CCTI_Timer = 0;
	r->ca->ca.sl[0].CCTI_Increase = 0;
	assert_bound(r, IBCC_THROTTLE_NONE, LINK);
}

static void test_text(void **state)
{
	struct rig *r = *state;
	struct ibcc_endport_cc *other =
		&r->s.ep[r->t->port[fabric_port(r->t, LUSTRE_SRC2, 1)].endport];
	struct ibcc_why text;

	assert_int_equal(ibcc_throttle_text(r->t, &r->s, &text), 0);
	assert_string_equal(text.text, "");
	r->ca->ca.sl[0].CCTI_Min = 1;
	other->cct = r->ca->cct;
	other->cct.entry[127] = ibcc_cct_entry(0, 4999);
	other->ca.sl[0].CCTI_Min = 127;
	assert_int_equal(ibcc_throttle_text(r->t, &r->s, &text), 2);
	print_message("%s\n", text.text);
	assert_non_null(strstr(text.text, r->t->node[LUSTRE_SRC2].desc));
	assert_non_null(strstr(text.text, "0.8 of 4000 MB/s"));
	assert_non_null(strstr(text.text, "CCTI_Min"));
	assert_non_null(strstr(text.text, "2 adapters in total"));
	assert_non_null(strstr(text.text, "ibcc-tune disable"));
	ibcc_settings_fini(&r->s);
	assert_int_equal(ibcc_throttle_text(r->t, &r->s, &text), 0); /* not read yet */
}

/* Equal tables, but a BECN does more than is meant. */
static void test_excess_by_step(void **state)
{
	struct rig *r = *state;
	struct ibcc_cc_ca_entry *e = &r->ca->ca.sl[2];
	struct ibcc_settings meant;
	struct ibcc_throttle_excess x;
	struct ibcc_why text;

	r->ca->ca.Control_Map = 0x4;
	e->CCTI_Increase = 1;
	e->CCTI_Timer = 30;
	r->ca->cct.limit = 7; /* 1/8 of the link */
	r->sw->sw.Threshold = 9;
	assert_int_equal(ibcc_settings_copy(&meant, &r->s), 0);
	assert_int_equal(ibcc_throttle_compare(r->t, &r->s, &meant).n, 0);
	/* Less, and not twice as much, is no matter. */
	e->CCTI_Timer = 15;
	assert_int_equal(ibcc_throttle_compare(r->t, &r->s, &meant).n, 0);
	e->CCTI_Timer = 59;
	assert_int_equal(ibcc_throttle_compare(r->t, &r->s, &meant).n, 0);
	/* Four times as long at each mark: a quarter of the rate at as many marks. */
	e->CCTI_Timer = 120;
	x = ibcc_throttle_compare(r->t, &r->s, &meant);
	assert_int_equal(x.n, 1);
	assert_true(x.by_step && x.endport == r->endport);
	assert_true(fabs(x.mbps - LINK / 4) < 1e-6 && fabs(x.meant_mbps - LINK) < 1e-6);
	ibcc_throttle_excess_text(r->t, &x, &text);
	print_message("%s\n", text.text);
	assert_non_null(strstr(text.text, "src1 port 1 to 1000 of 4000 MB/s"));
	assert_non_null(strstr(text.text, "at least 4000 at this rate of marks"));
	assert_non_null(strstr(text.text, "CCTI_Timer"));
	/* So is four times as high. The table's end is the least. */
	e->CCTI_Timer = 30;
	e->CCTI_Increase = 4;
	assert_true(fabs(ibcc_throttle_compare(r->t, &r->s, &meant).mbps - LINK / 4) < 1e-6);
	e->CCTI_Timer = UINT16_MAX;
	assert_true(fabs(ibcc_throttle_compare(r->t, &r->s, &meant).mbps - LINK / 8) < 1e-6);
	/* A table without delays limits no adapter at any index. */
	for (unsigned int i = 0; i < 8; i++)
		r->ca->cct.entry[i] = meant.ep[r->endport].cct.entry[i] = 0;
	assert_int_equal(ibcc_throttle_compare(r->t, &r->s, &meant).n, 0);
	for (unsigned int i = 0; i < 8; i++)
		r->ca->cct.entry[i] = meant.ep[r->endport].cct.entry[i] = ibcc_cct_entry(1, i * 2);
	assert_int_equal(ibcc_throttle_compare(r->t, &r->s, &meant).n, 1);
	/* A timer of 0 is told as a bound at all times; a service level that was left alone has the
	 * settings that it had.
	 */
	e->CCTI_Timer = 0;
	assert_int_equal(ibcc_throttle_compare(r->t, &r->s, &meant).n, 0);
	e->CCTI_Timer = UINT16_MAX;
	meant.ep[r->endport].ca.Control_Map = 0x1;
	assert_int_equal(ibcc_throttle_compare(r->t, &r->s, &meant).n, 0);
	ibcc_settings_fini(&meant);
}

/* Tables of other delays than are meant, where marks raise the index. */
static void test_excess(void **state)
{
	struct rig *r = *state;
	struct ibcc_settings meant;
	struct ibcc_throttle_excess x;
	struct ibcc_why text;
	struct ibcc_endport_cc *other, *wanted;

	r->ca->ca.sl[0].CCTI_Increase = 1;
	r->ca->cct.limit = 7; /* 1/8 of the link */
	r->sw->sw.Threshold = 9;
	other = &r->s.ep[r->t->port[fabric_port(r->t, LUSTRE_SRC2, 1)].endport];
	other->ca = r->ca->ca;
	other->cct = r->ca->cct;
	assert_int_equal(ibcc_settings_copy(&meant, &r->s), 0);
	wanted = &meant.ep[r->endport];
	assert_int_equal(ibcc_throttle_compare(r->t, &r->s, &meant).n, 0);
	/* Less is no matter, nor is a little more. */
	r->ca->cct.limit = 3;
	assert_int_equal(ibcc_throttle_compare(r->t, &r->s, &meant).n, 0);
	r->ca->cct.limit = 7;
	r->ca->cct.entry[7] = ibcc_cct_entry_encode(7500);
	assert_int_equal(ibcc_throttle_compare(r->t, &r->s, &meant).n, 0);
	r->ca->cct.limit = 127;
	x = ibcc_throttle_compare(r->t, &r->s, &meant);
	assert_int_equal(x.n, 1);
	assert_int_equal(x.endport, r->endport);
	assert_true(fabs(x.mbps - LINK / 128) < 1e-6 && fabs(x.meant_mbps - LINK / 8) < 1e-6);
	assert_int_equal(x.of_mbps, (uint32_t)LINK);
	/* A table that ends without delays is as long as its longest one. */
	r->ca->cct.entry[127] = 0;
	assert_true(fabs(ibcc_throttle_compare(r->t, &r->s, &meant).mbps - LINK / 127) < 1e-6);
	/* The one that is held back most is named. */
	other->cct.entry[7] = ibcc_cct_entry(0, 4999);
	x = ibcc_throttle_compare(r->t, &r->s, &meant);
	assert_int_equal(x.n, 2);
	ibcc_throttle_excess_text(r->t, &x, &text);
	print_message("%s\n", text.text);
	assert_non_null(strstr(text.text, r->t->node[LUSTRE_SRC2].desc));
	assert_non_null(strstr(text.text, "0.8 of 4000 MB/s"));
	assert_non_null(strstr(text.text, "at least 500"));
	assert_non_null(strstr(text.text, "ibcc-tune repair"));
	assert_non_null(strstr(text.text, "2 adapters in total"));
	/* One that reacts though it is not meant to. */
	wanted->ca.sl[0].CCTI_Increase = 0;
	assert_true(fabs(ibcc_throttle_compare(r->t, &r->s, &meant).meant_mbps - LINK / 8) < 1e-6);
	other->cct = r->ca->cct;
	meant.ep[r->t->port[fabric_port(r->t, LUSTRE_SRC2, 1)].endport].cct = r->ca->cct;
	assert_true(fabs(ibcc_throttle_compare(r->t, &r->s, &meant).meant_mbps - LINK) < 1e-6);
	/* Without marks none is throttled, and of unknown adapters nothing is said. */
	r->ca->answer = IBCC_CC_NO_ANSWER;
	assert_int_equal(ibcc_throttle_compare(r->t, &r->s, &meant).n, 0);
	/* That nothing may be written to it does not make it faster. */
	r->ca->answer = IBCC_CC_ANSWERED;
	ibcc_endport_judge(r->ca, IBCC_CC_FOREIGN);
	assert_int_equal(ibcc_throttle_compare(r->t, &r->s, &meant).n, 1);
	r->sw->sw.Threshold = 0;
	x = ibcc_throttle_compare(r->t, &r->s, &meant);
	assert_int_equal(x.n, 0);
	ibcc_throttle_excess_text(r->t, &x, &text);
	assert_string_equal(text.text, "");
	ibcc_settings_fini(&meant);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_min, setup, teardown),
		cmocka_unit_test_setup_teardown(test_timer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_text, setup, teardown),
		cmocka_unit_test_setup_teardown(test_excess, setup, teardown),
		cmocka_unit_test_setup_teardown(test_excess_by_step, setup, teardown),
	};

	return cmocka_run_group_tests_name("throttle", tests, NULL, NULL);
}
