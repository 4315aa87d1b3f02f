/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Where an adapter's table ends, and how fast it recovers, if its roots share sources with a worse
 * one. Values by hand: of a mild root with six sources for 32000 Mb/s x = 6 * 32000 / 32000 - 1 = 5
 * and the end 1.15 * 5 + .5 = 6.25 packet times; of a severe one with 36 for 3200 Mb/s x is 359 and
 * the end 413.35. There packets of a source are 36 * 2000 * 8 / 3200 = 180 us apart, and a BECN is
 * sqrt(36 / 9) = 2 entries: the timer is 90 us, as it leads a full link, by .12 * 2 * 1.024 us:
 * 367 in place of the mild root's 3 us / (.12 * 1.024 us) = 25.
 */
#include "told.h"

struct laid {
	struct ibcc_tuner_root *mild, *severe;
	struct ibcc_target target;
};

static void enlist(struct fixture *f, struct ibcc_tuner_root *r, uint32_t first, uint32_t last)
{
	for (uint32_t i = first; i <= last; i++)
		assert_int_equal(ibcc_tuner_enlist(f->tn, r, &f->actual, endport_of(f, i)), 1);
}

/* Adapters 0 to 5 send to the mild root and 4 to 7 to the severe one. */
static struct laid two_roots(struct fixture *f)
{
	struct laid l = {
		.mild = root_at(f, 8, 3, IBCC_CONGESTION_INPUT),
		.severe = root_at(f, 11, 1, IBCC_CONGESTION_OUTPUT),
	};

	ibcc_tuner_number(l.mild, 6, 6, QDR_MBPS);
	ibcc_tuner_number(l.severe, 36, 36, 3200);
	l.severe->interval_ns = TRAFFIC_INTERVAL_NS;
	enlist(f, l.mild, 0, 5);
	enlist(f, l.severe, 4, 7);
	return l;
}

static void lay(struct fixture *f, struct laid *l)
{
	ibcc_tuner_group(f->tn, f->t);
	assert_int_equal(ibcc_tuner_lay(f->tn, f->t, &f->actual, &l->target), 0);
}

static const struct ibcc_endport_cc *wanted(const struct fixture *f, const struct laid *l,
					    uint32_t i)
{
	return &l->target.wanted.ep[endport_of(f, i)];
}

static uint32_t end_milli(const struct ibcc_endport_cc *ep)
{
	return ibcc_cct_entry_delay_milli(ep->cct.entry[ep->cct.limit]);
}

static const char *why_table(const struct fixture *f, const struct laid *l, uint32_t i)
{
	for (uint32_t k = 0; k < l->target.n_reasons; k++)
		if (l->target.reason[k].endport == endport_of(f, i) &&
		    l->target.reason[k].attr_id == IBCC_CC_ATTR_CCT)
			return l->target.reason[k].text;
	fail_msg("no reason for the table of adapter %u", i);
	return NULL;
}

/* All have the severe root's timer and increase, and tables that end where their own roots do. */
static void test_own_end(void **state)
{
	struct fixture *f = *state;
	struct laid l = two_roots(f);

	lay(f, &l);
	for (uint32_t i = 0; i < 8; i++) {
		const struct ibcc_endport_cc *ep = wanted(f, &l, i);

		assert_int_equal(ep->ca.sl[0].CCTI_Increase, 2);
		assert_int_equal(ep->ca.sl[0].CCTI_Timer, 367);
		if (i < 4)
			assert_int_equal(end_milli(ep), 6250);
		else
			assert_in_range(end_milli(ep), 413300, 413400);
	}
	/* The table is explained by the root that it is for. */
	assert_non_null(strstr(why_table(f, &l, 0), "x = n C/R - 1 = 5.00 packet times"));
	assert_non_null(strstr(why_table(f, &l, 4), "x = n C/R - 1 = 359.00 packet times"));
	ibcc_target_fini(&l.target);
}

/* ... and by what that root's numbers are: those of pairs, or of adapters. */
static void test_why(void **state)
{
	struct fixture *f = *state;
	struct laid l = two_roots(f);

	l.mild->counts_pairs = true;
	lay(f, &l);
	assert_non_null(strstr(why_table(f, &l, 0), "6 pairs (CongestionLog) limited by leaf0 port "
						    "3 at 32000 Mb/s (max-min): fair share"));
	assert_non_null(strstr(why_table(f, &l, 7), "36 contributors (BECN) to leaf3 port 1 at "
						    "3200 Mb/s (PortXmitData): fair share"));
	ibcc_target_fini(&l.target);
}

/* A second mild root, for nine sources: x is 8 and the end 9.7. The farther of both counts. */
static void test_farthest_of_own(void **state)
{
	struct fixture *f = *state;
	struct laid l = two_roots(f);
	struct ibcc_tuner_root *second = root_at(f, 8, 4, IBCC_CONGESTION_INPUT);

	ibcc_tuner_number(second, 9, 9, QDR_MBPS);
	enlist(f, second, 0, 1);
	lay(f, &l);
	assert_in_range(end_milli(wanted(f, &l, 0)), 9687, 9750); /* in steps of 1/8 */
	assert_int_equal(end_milli(wanted(f, &l, 2)), 6250);
	ibcc_target_fini(&l.target);
}

/* A root that is not on asks for nothing. */
static void test_root_off(void **state)
{
	struct fixture *f = *state;
	struct laid l = two_roots(f);
	struct ibcc_tuner_root *off = root_at(f, 8, 4, IBCC_CONGESTION_INPUT);

	ibcc_tuner_number(off, 9, 9, QDR_MBPS);
	enlist(f, off, 0, 1);
	off->on = false;
	lay(f, &l);
	assert_int_equal(end_milli(wanted(f, &l, 0)), 6250);
	ibcc_target_fini(&l.target);
}

/* While the severe root's tree is emptied nobody may fill it: 3.5 * 413.35 for all. */
static void test_leader_drains(void **state)
{
	struct fixture *f = *state;
	struct laid l = two_roots(f);

	l.severe->drain = 5;
	lay(f, &l);
	for (uint32_t i = 0; i < 8; i++) {
		const struct ibcc_endport_cc *ep = wanted(f, &l, i);

		assert_in_range(end_milli(ep), 1446000, 1447500);
		assert_true(ibcc_cct_equal(&ep->cct, &wanted(f, &l, 7)->cct));
		assert_memory_equal(&ep->ca, &wanted(f, &l, 7)->ca, sizeof(ep->ca));
	}
	assert_non_null(strstr(why_table(f, &l, 0), "until the tree is empty"));
	ibcc_target_fini(&l.target);
}

/* A root that is alone leads itself, and its table is what it was. */
static void test_alone(void **state)
{
	struct fixture *f = *state;
	struct laid l = two_roots(f);

	l.severe->on = false;
	lay(f, &l);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(wanted(f, &l, i)->ca.sl[0].CCTI_Increase, 1);
		assert_int_equal(wanted(f, &l, i)->ca.sl[0].CCTI_Timer, 25);
		assert_int_equal(end_milli(wanted(f, &l, i)), 6250);
	}
	assert_int_equal(wanted(f, &l, 6)->cct.limit, 0);
	ibcc_target_fini(&l.target);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup_told, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_own_end),  TEST(test_why),           TEST(test_farthest_of_own),
		TEST(test_root_off), TEST(test_leader_drains), TEST(test_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
