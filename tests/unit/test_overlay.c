/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* From parameters of roots to settings, and why; values as worked out in hotspots.h. */
#include "hotspots.h"

struct laid {
	struct two h;
	struct ibcc_overlay l;
	struct ibcc_ledger ledger;
	struct ibcc_target target;
};

static void begin(struct fixture *f, struct laid *x)
{
	*x = (struct laid){ .l = IBCC_OVERLAY_UNLIMITED };
	two_roots(f, &x->h);
	assert_int_equal(ibcc_ledger_fit(&x->ledger, f->t), 0);
}

/* Returns how many attributes are to change; they are on the fabric then. */
static uint32_t lay(struct fixture *f, struct laid *x)
{
	ibcc_target_fini(&x->target);
	ibcc_parameters_group(&x->h.p, f->t);
	assert_int_equal(ibcc_overlay_run(&x->l, f->t, &x->h.p, &f->actual, &x->ledger, &x->target),
			 0);
	take(f, &x->target.wanted);
	return x->target.n_reasons;
}

static void end(struct laid *x)
{
	ibcc_target_fini(&x->target);
	ibcc_ledger_reset(&x->ledger);
	ibcc_parameters_fini(&x->h.p);
}

static void assert_why_table(struct fixture *f, const struct laid *x, uint32_t node,
			     const char *what)
{
	char buf[IBCC_REASON_BYTES];

	ibcc_target_explain(&x->target, f->t, endport_of(f, node), IBCC_CC_ATTR_CCT, buf,
			    sizeof(buf));
	if (!strstr(buf, what))
		fail_msg("\"%s\" is not in: %s", what, buf);
}

/* All have the severe root's timer and increase, and tables that end where their own roots do: the
 * farther of two. They are explained by the root that they are for.
 */
static void test_tables(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root_parameters *second, *off;
	struct laid x;

	begin(f, &x);
	second = root_at(f, &x.h.p, 8, 4, IBCC_CONGESTION_INPUT, 9, QDR_MBPS); /* x is 8 */
	enlist(f, second, 0, 1);
	off = root_at(f, &x.h.p, 9, 4, IBCC_CONGESTION_INPUT, 20, QDR_MBPS);
	enlist(f, off, 0, 5);
	off->phase = IBCC_PHASE_WATCH;
	x.h.mild->basis = IBCC_BASIS_LOGGED;
	lay(f, &x);
	for (uint32_t i = 0; i < 8; i++) {
		assert_int_equal(cc(f, i)->ca.sl[15].CCTI_Increase, 2);
		assert_int_equal(cc(f, i)->ca.sl[15].CCTI_Timer, 733);
		assert_int_equal(cc(f, i)->ca.sl[15].CCTI_Min, 0);
		if (i < 2) /* 1.15 * 8 + .5, in steps of 1/8 */
			assert_in_range(end_milli(cc(f, i)), 9687, 9750);
		else if (i < 4)
			assert_int_equal(end_milli(cc(f, i)), 6000); /* 1.15 * 5 + .2, likewise */
		else
			assert_in_range(end_milli(cc(f, i)), 413300, 413400);
	}
	assert_why_table(f, &x, 0, "x = n C/R - 1 = 8.00 packet times");
	assert_why_table(f, &x, 2,
			 "6 flows (CongestionLog) limited by leaf0 port 3 at 32000 Mb/s (max-min): "
			 "fair share x = n C/R - 1 = 5.00 packet times (Gusat et al. 2006: HSD), "
			 "table to 1.15 x + 0.2 = 5.95");
	assert_why_table(f, &x, 7,
			 "36 contributors (BECN) to leaf3 port 1 at 3200 Mb/s (PortXmitData): fair "
			 "share x = n C/R - 1 = 359.00 packet times");
	/* While a tree is emptied no source may fill it: 3.5 * 413.35 for all. */
	x.h.severe->phase = IBCC_PHASE_DRAIN;
	lay(f, &x);
	for (uint32_t i = 0; i < 8; i++) {
		assert_in_range(end_milli(cc(f, i)), 1446000, 1447500);
		assert_true(ibcc_cct_equal(&cc(f, i)->cct, &cc(f, 7)->cct));
	}
	assert_why_table(f, &x, 0, "until the tree is empty");
	/* Nor may a source that is marked less while the mild one's is. */
	x.h.severe->phase = IBCC_PHASE_HOLD;
	x.h.mild->phase = IBCC_PHASE_DRAIN;
	lay(f, &x);
	assert_in_range(end_milli(cc(f, 2)), 413300, 413400);
	end(&x);
}

/* The applier takes no delay beyond 20 packet times and no timer beyond 500: such tables end
 * there, the others where they did, and it is said.
 */
static void test_bounded(void **state)
{
	struct fixture *f = *state;
	struct ibcc_cct free[8];
	struct laid x;
	char buf[IBCC_REASON_BYTES];

	for (int k = 0; k < 3; k++) {
		begin(f, &x);
		x.h.severe->phase = k == 2 ? IBCC_PHASE_DRAIN : IBCC_PHASE_HOLD;
		for (uint32_t i = 0; i < 8; i++)
			cc(f, i)->cct = (struct ibcc_cct){ 0 };
		if (k) {
			x.l.max_delay = 20;
			x.l.max_timer = 500;
		}
		lay(f, &x);
		for (uint32_t i = 0; i < 8; i++) {
			const struct ibcc_cct *t = &cc(f, i)->cct;

			if (!k)
				free[i] = *t;
			assert_int_equal(cc(f, i)->ca.sl[0].CCTI_Timer, k == 0   ? 733
									: k == 1 ? 500
										 : 489);
			if (!k || (k == 1 && i < 4)) {
				assert_true(ibcc_cct_equal(t, &free[i]));
				continue;
			}
			assert_int_equal(end_milli(cc(f, i)), 20000);
			for (unsigned int n = 1; n < t->limit; n++) {
				assert_true(ibcc_cct_entry_delay_milli(t->entry[n]) < 20000);
				assert_int_equal(t->entry[n], free[7].entry[n]);
			}
		}
		if (k == 1) {
			assert_why_table(f, &x, 7, "= 413.35, but max_delay is 20.00");
			ibcc_target_explain(&x.target, f->t, endport_of(f, 7),
					    IBCC_CC_ATTR_CA_SETTING, buf, sizeof(buf));
			assert_non_null(strstr(buf, "max_timer instead of 733, CCTI_Timer 500"));
			assert_int_equal(lay(f, &x), 0);
		}
		end(&x);
	}
}

/* The root's port marks, its switch's others do not; packets of a quarter of the MTU and more
 * count. A port that faces an adapter has its Victim_Mask bit.
 */
static void test_switches(void **state)
{
	struct fixture *f = *state;
	struct laid x;

	begin(f, &x);
	cc(f, 8)->sw.Threshold = 15;
	cc(f, 11)->sw_port_block = 0;
	assert_int_equal(lay(f, &x), 2 + 1 + 8 * 2);
	for (unsigned int i = 0; i < cc(f, 8)->n_element; i++)
		assert_int_equal(cc(f, 8)->element[i].Valid, i == 3);
	assert_int_equal(cc(f, 8)->element[3].Threshold, 8);
	assert_int_equal(cc(f, 8)->element[3].Packet_Size, 2048 / 4 / 64);
	assert_int_equal(cc(f, 8)->element[3].Cong_Parm_Marking_Rate, 59);
	assert_int_equal(cc(f, 8)->sw.Threshold, 0);
	assert_false(ibcc_cc_mask_test(&cc(f, 8)->sw.Victim_Mask, 3));
	/* Without elements all its ports mark. */
	assert_int_equal(cc(f, 11)->sw.Threshold, 12);
	assert_int_equal(cc(f, 11)->sw.Packet_Size, 2048 / 4 / 64);
	assert_int_equal(cc(f, 11)->sw.Marking_Rate, 0);
	assert_false(cc(f, 11)->element[1].Valid);
	assert_true(ibcc_cc_mask_test(&cc(f, 11)->sw.Victim_Mask, 1));
	assert_int_equal(x.target.n_reasons, 2 + 1 + 8 * 2);
	for (uint32_t i = 0; i < x.target.n_reasons; i++) {
		const struct ibcc_reason *r = &x.target.reason[i];

		if (r->endport == endport_of(f, 11))
			assert_int_equal(r->code, IBCC_REASON_SWITCH);
		if (r->endport == endport_of(f, 8))
			assert_int_equal(r->code, r->attr_id == IBCC_CC_ATTR_SW_SETTING
							  ? IBCC_REASON_MASK
							  : IBCC_REASON_PORT);
	}
	assert_int_equal(lay(f, &x), 0);
	/* A node that lost its settings gets them again. */
	memset(&cc(f, 2)->ca, 0, sizeof(cc(f, 2)->ca));
	cc(f, 8)->element[3].Valid = false;
	assert_int_equal(lay(f, &x), 2);
	assert_int_equal(lay(f, &x), 0);
	end(&x);
}

/* What was there before comes back bit for bit, also if the root was another node's meanwhile; then
 * the nodes belong to others again.
 */
static void test_baseline(void **state)
{
	struct fixture *f = *state;
	struct ibcc_settings before;
	struct laid x;

	begin(f, &x);
	cc(f, 11)->sw.Threshold = 5;
	cc(f, 11)->sw.Marking_Rate = 3;
	cc(f, 11)->element[1].Threshold = 2;
	ibcc_cc_mask_assign(&cc(f, 11)->sw.Victim_Mask, 7, true);
	cc(f, 7)->ca.Port_Control = IBCC_CC_PORT_CONTROL_SL;
	cc(f, 7)->ca.sl[2].CCTI_Timer = 150;
	assert_int_equal(ibcc_cct_build(&cc(f, 6)->cct, IBCC_CCT_LINEAR, 64, 3000), 0);
	assert_int_equal(ibcc_settings_copy(&before, &f->actual), 0);
	assert_int_equal(lay(f, &x), 1 + 2 + 8 * 2);
	assert_int_equal(cc(f, 7)->ca.Port_Control, 0);
	assert_true(ibcc_cc_mask_test(&cc(f, 11)->sw.Victim_Mask, 7));
	x.h.severe->phase = x.h.mild->phase = IBCC_PHASE_BARRED;
	f->refuse[endport_of(f, 7)] = true;
	assert_int_equal(lay(f, &x), 1 + 2 + 8 * 2);
	f->refuse[endport_of(f, 7)] = false;
	assert_why_table(f, &x, 6, "any more: the earlier value");
	assert_int_equal(lay(f, &x), 2);
	for (uint32_t i = 0; i < before.n; i++)
		assert_int_equal(ibcc_settings_differ(&before.ep[i], &f->actual.ep[i]), 0);
	assert_int_equal(lay(f, &x), 0);
	cc(f, 7)->ca.sl[0].CCTI_Timer = 77;
	cc(f, 11)->sw.Threshold = 9;
	assert_int_equal(lay(f, &x), 0);
	ibcc_settings_fini(&before);
	end(&x);
}

/* Values that are within 5 % are left alone, others not: a timer of 733, ... */
static void test_near_timer(void **state)
{
	static const struct {
		uint16_t timer, port_control;
		uint8_t increase, min;
		uint32_t n; /* attributes that change */
	} c[] = {
		{ 771, 0, 2, 0, 0 }, { 697, 0, 2, 0, 0 }, { 773, 0, 2, 0, 1 }, { 695, 0, 2, 0, 1 },
		{ 733, 0, 3, 0, 1 }, { 733, 0, 2, 1, 1 }, { 733, 1, 2, 0, 1 },
	};
	struct fixture *f = *state;
	struct laid x;

	begin(f, &x);
	lay(f, &x);
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct ibcc_endport_cc *ca = cc(f, 7);

		ca->ca.Port_Control = c[i].port_control;
		ca->ca.sl[9].CCTI_Timer = c[i].timer;
		ca->ca.sl[9].CCTI_Increase = c[i].increase;
		ca->ca.sl[9].CCTI_Min = c[i].min;
		assert_int_equal(lay(f, &x), c[i].n);
	}
	end(&x);
}

/* SLs that are spared keep what they had, or get it again if they were not always spared. */
static void test_spared(void **state)
{
	struct fixture *f = *state;
	struct ibcc_cc_ca_entry had;
	struct laid x;

	begin(f, &x);
	cc(f, 7)->ca.sl[3].CCTI_Timer = 150;
	had = cc(f, 7)->ca.sl[3];
	x.l.spared_sls = 1 << 3;
	lay(f, &x);
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++)
		assert_int_equal(cc(f, 7)->ca.sl[sl].CCTI_Increase, sl == 3 ? 0 : 2);
	assert_memory_equal(&cc(f, 7)->ca.sl[3], &had, sizeof(had));
	assert_int_equal(lay(f, &x), 0);
	x.l.spared_sls = 0;
	assert_int_equal(lay(f, &x), 8);
	assert_int_equal(cc(f, 7)->ca.sl[3].CCTI_Increase, 2);
	x.l.spared_sls = 1 << 3 | 1 << 4;
	assert_int_equal(lay(f, &x), 8);
	assert_memory_equal(&cc(f, 7)->ca.sl[3], &had, sizeof(had));
	assert_int_equal(cc(f, 7)->ca.sl[4].CCTI_Increase, 0);
	end(&x);
}

/* ... and a table that ends where four need it to, if all entries before are those of the law. */
static void test_near_end(void **state)
{
	static const uint32_t c[][2] = { { 1050, 0 }, { 955, 0 }, { 1054, 4 }, { 949, 4 } };
	struct fixture *f = *state;
	struct laid x;

	begin(f, &x);
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		x.h.severe->table_scale_permille = c[i][0];
		lay(f, &x);
		x.h.severe->table_scale_permille = 1000;
		assert_int_equal(lay(f, &x), c[i][1]);
	}
	cc(f, 7)->cct.entry[3]++;
	assert_int_equal(lay(f, &x), 1);
	end(&x);
}

/* Adapters that ought to have settings and cannot; an adapter whose table has one block has a
 * shorter one. */
static void test_without(void **state)
{
	struct fixture *f = *state;
	struct laid x;

	begin(f, &x);
	cc(f, 0)->support = IBCC_CC_UNKNOWN;
	cc(f, 1)->support = IBCC_CC_KEY_REFUSED;
	x.h.mild->member[endport_of(f, 1)] = false;
	x.h.mild->lacking[endport_of(f, 1)] = true;
	cc(f, 3)->support = IBCC_CC_UNSUPPORTED;
	x.h.mild->member[endport_of(f, 3)] = false;
	cc(f, 7)->info.ControlTableCap = 1;
	assert_int_equal(lay(f, &x), 1 + 2 + 5 * 2);
	assert_int_equal(x.target.n_without, 2);
	assert_int_equal(x.target.without[0], endport_of(f, 0));
	assert_int_equal(x.target.without[1], endport_of(f, 1));
	assert_in_range(cc(f, 7)->cct.limit, 38, 40); /* 63 ln 414 / ln 16384 = 39.1 */
	assert_in_range(cc(f, 6)->cct.limit, 78, 80);
	x.h.mild->phase = IBCC_PHASE_WATCH;
	lay(f, &x);
	assert_int_equal(x.target.n_without, 0);
	end(&x);
}

/* While the contributors are learnt, tables that were left there have no delay. Adapters that
 * react by service level have no other mode than theirs.
 */
static void test_learning(void **state)
{
	struct fixture *f = *state;
	struct laid x;

	begin(f, &x);
	x.h.mild->phase = IBCC_PHASE_WATCH;
	x.h.severe->phase = IBCC_PHASE_LEARN;
	assert_int_equal(ibcc_cct_build(&cc(f, 6)->cct, IBCC_CCT_LINEAR, 64, 3000), 0);
	for (uint32_t i = 6; i < 8; i++) {
		cc(f, i)->ca.Port_Control = IBCC_CC_PORT_CONTROL_SL;
		cc(f, i)->by_block = true;
	}
	assert_int_equal(lay(f, &x), 2 + 1);
	assert_int_equal(cc(f, 6)->cct.limit, 0);
	assert_why_table(f, &x, 6, "no delay until marks show which senders contribute (BECN)");
	x.h.severe->phase = IBCC_PHASE_HOLD;
	assert_int_equal(lay(f, &x), 4 * 2);
	assert_int_equal(cc(f, 7)->ca.Port_Control, IBCC_CC_PORT_CONTROL_SL);
	assert_int_equal(cc(f, 7)->ca.sl[0].CCTI_Timer, 733);
	assert_int_equal(lay(f, &x), 0);
	end(&x);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_tree, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_tables),     TEST(test_switches), TEST(test_baseline),
		TEST(test_near_timer), TEST(test_near_end), TEST(test_without),
		TEST(test_learning),   TEST(test_spared),   TEST(test_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
