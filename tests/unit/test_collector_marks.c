/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Passes that read the logs of switches that mark: which nodes are asked, and what counts of the
 * answers. */
#include "tests/unit/collectors.h"

#define INTERVAL (100 * MS)

struct marks {
	struct fixture x;
	struct ibcc_settings actual;
	struct fake_node *sw1, *sw2;
};

static struct ibcc_endport_cc *cc_of(struct marks *m, uint32_t node)
{
	return &m->actual.ep[fake_node_of(m->x.f, node) - m->x.f->node];
}

/* All nodes have settings, and sw1 marks. */
static struct marks open_marks(void)
{
	struct marks m = { .x = setup() };

	assert_int_equal(ibcc_settings_init(&m.actual, m.x.t), 0);
	for (uint32_t i = 0; i < m.actual.n; i++)
		m.actual.ep[i].support = IBCC_CC_SUPPORTED;
	cc_of(&m, LUSTRE_SW1)->sw.Threshold = 9;
	m.sw1 = fake_node_of(m.x.f, LUSTRE_SW1);
	m.sw2 = fake_node_of(m.x.f, LUSTRE_SW2);
	return m;
}

static void close_marks(struct marks *m)
{
	ibcc_settings_fini(&m->actual);
	teardown(&m->x);
}

/* Some packets are marked, then a pass comes, an interval after the one before. */
static void mark_and_pass(struct marks *m, unsigned int n, uint16_t first_slid)
{
	fake_sleep(m->x.f, INTERVAL / 2);
	for (uint16_t i = 0; i < n; i++) {
		fake_sleep(m->x.f, 10000);
		fake_mark(m->x.f, m->sw1, (uint16_t)(first_slid + i), 7, 3);
	}
	fake_sleep(m->x.f, INTERVAL / 2);
	pass_with(&m->x, &m->actual);
}

/* Marks are those of sw1 from `newest` down, n of them. */
static void assert_marks(const struct marks *m, uint32_t n, uint16_t newest)
{
	assert_int_equal(m->x.s.n_marks, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(m->x.s.mark[i].node, LUSTRE_SW1);
		assert_int_equal(m->x.s.mark[i].slid, newest - i);
		assert_int_equal(m->x.s.mark[i].dlid, 7);
		assert_int_equal(m->x.s.mark[i].sl, 3);
	}
	assert_int_equal(m->x.s.n_fresh, LUSTRE_PORTS);
}

static void test_only_what_is_new(void **state)
{
	struct marks m = open_marks();

	(void)state;
	fake_mark(m.x.f, m.sw1, 90, 91, 0);
	fake_sleep(m.x.f, INTERVAL);
	/* The first only tells the time. */
	pass_with(&m.x, &m.actual);
	assert_int_equal(m.x.s.n_marks, 0);
	assert_int_equal(m.sw1->n_logs, 1);
	/* One MAD is all it costs. */
	assert_int_equal(m.x.f->n_class[0x21], 1);
	mark_and_pass(&m, 3, 100);
	assert_marks(&m, 3, 102);
	assert_rates(&m.x, LUSTRE_PORTS, 1);
	assert_int_equal(m.x.f->n_class[4], 14 + 6);
	assert_int_equal(m.x.f->n_class[0x21], 1);
	mark_and_pass(&m, 0, 0);
	assert_marks(&m, 0, 0);
	mark_and_pass(&m, 1, 200);
	assert_marks(&m, 1, 200);
	/* More than the log holds. */
	mark_and_pass(&m, 40, 300);
	assert_marks(&m, IBCC_CC_LOG_SWITCH_ENTRIES, 339);
	/* Two at a time. */
	fake_sleep(m.x.f, INTERVAL / 2);
	fake_mark(m.x.f, m.sw1, 500, 7, 3);
	fake_mark(m.x.f, m.sw1, 501, 7, 3);
	mark_and_pass(&m, 0, 0);
	assert_marks(&m, 2, 501);
	close_marks(&m);
}

/* A log that is left out of many passes still follows its last reading: all of them together are
 * one pass. The log of a node with a port to read is read.
 */
static void test_left_out(void **state)
{
	struct marks m = open_marks();
	bool *only = calloc(m.x.t->n_ports, sizeof(*only));

	(void)state;
	assert_non_null(only);
	pass_with(&m.x, &m.actual);
	mark_and_pass(&m, 0, 0);
	only[fabric_port(m.x.t, LUSTRE_SRC1, 1)] = true;
	ibcc_collector_confine(m.x.c, only);
	for (uint16_t i = 0; i < 10; i++) {
		mark_and_pass(&m, 1, 100 + i);
		assert_marks(&m, 0, 0);
	}
	assert_int_equal(m.sw1->n_logs, 2);
	ibcc_collector_confine(m.x.c, NULL);
	mark_and_pass(&m, 1, 110);
	assert_marks(&m, 11, 110);
	only[fabric_port(m.x.t, LUSTRE_SW1, 5)] = true;
	ibcc_collector_confine(m.x.c, only);
	for (uint16_t i = 0; i < 10; i++) {
		mark_and_pass(&m, 2, 200 + 2 * i);
		assert_marks(&m, 2, 201 + 2 * i);
	}
	free(only);
	close_marks(&m);
}

/* The clock's 32 bits go round between two readings, and between two packets. */
static void test_wrap(void **state)
{
	struct marks m = open_marks();

	(void)state;
	for (uint32_t before = 0; before < 100000; before += 3333) {
		m.sw1->clock_base = (uint32_t)-before - (uint32_t)(m.x.f->fabric_ns / 1024);
		memset(m.sw1->log + 40, 0, sizeof(m.sw1->log) - 40);
		for (int i = 0; i < 2; i++)
			pass_with(&m.x, &m.actual); /* the clock may have begun anew */
		mark_and_pass(&m, 12, 1000);
		assert_marks(&m, 12, 1011);
		mark_and_pass(&m, 2, 2000);
		assert_marks(&m, 2, 2001);
	}
	close_marks(&m);
}

static void set_time(struct marks *m, unsigned int entry, uint32_t ts)
{
	mad_set_field(m->sw1->log, 40 + 12 * (int)entry,
		      IB_CC_CONGESTION_LOG_ENTRY_SWITCH_TIMESTAMP_F, ts);
}

/* Entry 4 does not fit: what it is and what comes behind is none. */
static void test_ends_at_nonsense(void **state)
{
	(void)state;
	for (int k = 0; k < 7; k++) {
		struct marks m = open_marks();
		uint32_t now;

		pass_with(&m.x, &m.actual);
		fake_sleep(m.x.f, INTERVAL);
		now = fake_clock(m.x.f, m.sw1);
		for (uint16_t i = 0; i < 15; i++)
			fake_mark(m.x.f, m.sw1, (uint16_t)(100 + i), 7, 3);
		for (unsigned int i = 0; i < 15; i++)
			set_time(&m, i, now - 10 * i);
		switch (k) {
		case 0: set_time(&m, 4, now); break;           /* newer than the one before */
		case 1: set_time(&m, 4, now + 1000000); break; /* in the future */
		case 2: set_time(&m, 4, now - 2 * (uint32_t)(INTERVAL / 1024)); break; /* old */
		case 3: set_time(&m, 4, now ^ 0x80000000); break;
		case 4: memset(m.sw1->log + 40 + 12 * 4, 0, 2); break;
		case 5: memset(m.sw1->log + 40 + 12 * 4 + 2, 0, 2); break;
		case 6: set_time(&m, 4, m.sw1->log_ts); break; /* of the reading before */
		}
		pass_with(&m.x, &m.actual);
		assert_marks(&m, 4, 114);
		/* Of an answer from the future nothing is left. */
		fake_sleep(m.x.f, INTERVAL);
		for (unsigned int i = 0; i < 15; i++)
			set_time(&m, i, fake_clock(m.x.f, m.sw1) + 100000 - i);
		pass_with(&m.x, &m.actual);
		assert_marks(&m, 0, 0);
		close_marks(&m);
	}
}

/* Whatever comes, it is within the log's size, and the counters are as they were. */
static void test_garbage(void **state)
{
	struct marks m = open_marks();
	uint32_t rng = 1;

	(void)state;
	pass_with(&m.x, &m.actual);
	for (int k = 0; k < 2000; k++) {
		for (size_t i = 1; i < sizeof(m.sw1->log); i++) {
			rng = rng * 1664525u + 1013904223u;
			m.sw1->log[i] = (uint8_t)(rng >> 24);
		}
		mark_and_pass(&m, k % 16, 100);
		assert_in_range(m.x.s.n_marks, k % 16, IBCC_CC_LOG_SWITCH_ENTRIES);
		assert_int_equal(m.x.s.n_fresh, LUSTRE_PORTS);
	}
	close_marks(&m);
}

/* After a restart the clock begins at 0, and so do the log's times. */
static void test_clock_begins_anew(void **state)
{
	struct marks m = open_marks();

	(void)state;
	m.sw1->clock_base = 50000000;
	pass_with(&m.x, &m.actual);
	mark_and_pass(&m, 2, 100);
	assert_marks(&m, 2, 101);
	m.sw1->clock_base = 0;
	mark_and_pass(&m, 3, 200);
	assert_marks(&m, 0, 0);
	mark_and_pass(&m, 4, 300);
	assert_marks(&m, 4, 303);
	close_marks(&m);
}

/* No log, no class, or the log of something else: asked for ever more seldom, but not given up. */
static void test_refusals(void **state)
{
	(void)state;
	for (int k = 0; k < 4; k++) {
		struct marks m = open_marks();
		unsigned int asked;

		m.sw1->no_log = k == 0;
		m.sw1->no_cc = k == 1;
		m.sw1->log[0] = k == 2 ? IBCC_CC_LOG_CA : k == 3 ? 0 : IBCC_CC_LOG_SWITCH;
		pass_with(&m.x, &m.actual);
		asked = m.x.f->n_class[0x21];
		assert_int_equal(asked, 1);
		for (int i = 0; i < 130; i++) {
			mark_and_pass(&m, 1, 100);
			assert_marks(&m, 0, 0);
			asked += m.x.f->n_class[0x21];
		}
		/* After 1, 2, 4 ... 64 passes. */
		assert_int_equal(asked, 8);
		m.sw1->n_logs = 0;
		m.sw1->no_log = m.sw1->no_cc = false;
		m.sw1->log[0] = IBCC_CC_LOG_SWITCH;
		if (k % 2)
			m.x.t->node[LUSTRE_SW1].guid = 0x77;
		else
			ibcc_collector_ask_again(m.x.c);
		pass_with(&m.x, &m.actual);
		assert_int_equal(m.sw1->n_logs, 1);
		mark_and_pass(&m, 1, 100);
		assert_marks(&m, 1, 100);
		close_marks(&m);
	}
}

/* Silence about the log: a few tries, then seldom; the counters come all the same. */
static void test_silence(void **state)
{
	struct marks m = open_marks();

	(void)state;
	m.sw1->log_silent = true;
	pass(&m.x);
	for (unsigned int i = 2; i <= 200; i++) {
		mark_and_pass(&m, 1, 100);
		assert_marks(&m, 0, 0);
		assert_rates(&m.x, LUSTRE_PORTS, 1);
		assert_int_equal(m.sw1->n_logs, i < 4 ? i - 1 : 3 + i / 64);
	}
	m.sw1->log_silent = false;
	/* The first that is answered after so long does not tell what is new. */
	for (unsigned int i = 201; i <= 256; i++) {
		mark_and_pass(&m, 1, 100);
		assert_marks(&m, 0, 0);
	}
	mark_and_pass(&m, 5, 100);
	assert_marks(&m, 5, 104);
	close_marks(&m);
}

/* What an answer that was lost would have told comes with the next. */
static void test_lost_answer(void **state)
{
	struct marks m = open_marks();

	(void)state;
	pass_with(&m.x, &m.actual);
	for (int i = 0; i < 10; i++) {
		m.sw1->log_silent = true;
		mark_and_pass(&m, 3, 100);
		assert_marks(&m, 0, 0);
		assert_rates(&m.x, LUSTRE_PORTS, 1);
		mark_and_pass(&m, 3, 103);
		assert_marks(&m, 0, 0);
		m.sw1->log_silent = false;
		mark_and_pass(&m, 3, 106);
		assert_marks(&m, 9, 108);
		assert_rates(&m.x, LUSTRE_PORTS, 1);
	}
	/* No class or port is asked anew for it. */
	assert_int_equal(m.x.f->n_class[4] - m.x.f->n_plain, 14 + 6);
	/* A node that is silent altogether has not refused its log. */
	m.sw1->dead = true;
	for (int i = 0; i < 10; i++) {
		fake_sleep(m.x.f, INTERVAL);
		pass_with(&m.x, &m.actual);
		assert_int_equal(m.x.s.n_marks, 0);
	}
	m.sw1->dead = false;
	for (int i = 0; i < 2; i++)
		mark_and_pass(&m, 2, 100);
	assert_marks(&m, 2, 101);
	/* Nor has one whose turn does not come before the deadline, though it answered before. */
	ibcc_collector_set_deadline(m.x.c, 13 * m.x.f->step_ns);
	for (int i = 0; i < 10; i++) {
		fake_sleep(m.x.f, INTERVAL);
		pass_with(&m.x, &m.actual);
		assert_int_equal(sample(&m.x, LUSTRE_SW1, 5)->state, IBCC_SAMPLE_STALE);
	}
	ibcc_collector_set_deadline(m.x.c, 0);
	for (int i = 0; i < 2; i++)
		mark_and_pass(&m, 2, 100);
	assert_marks(&m, 2, 101);
	close_marks(&m);
}

static void assert_asked(struct marks *m, unsigned int sw1, unsigned int sw2)
{
	m->sw1->n_logs = m->sw2->n_logs = 0;
	fake_sleep(m->x.f, INTERVAL);
	pass_with(&m->x, &m->actual);
	assert_int_equal(m->sw1->n_logs, sw1);
	assert_int_equal(m->sw2->n_logs, sw2);
	assert_int_equal(m->x.f->n_class[0x21], sw1 + sw2);
}

/* Only switches that mark, by what is known of their settings. */
static void test_who_is_asked(void **state)
{
	struct marks m = open_marks();
	struct ibcc_endport_cc *sw1 = cc_of(&m, LUSTRE_SW1), *sw2 = cc_of(&m, LUSTRE_SW2);

	(void)state;
	for (int i = 0; i < 3; i++)
		pass(&m.x);
	assert_int_equal(m.x.f->n_class[0x21], 0);
	assert_asked(&m, 1, 0);
	sw1->sw.Threshold = 0;
	assert_asked(&m, 0, 0);
	sw2->element = calloc(9, sizeof(*sw2->element));
	assert_non_null(sw2->element);
	sw2->n_element = 9;
	sw2->element[2].Threshold = 4;
	assert_asked(&m, 0, 0);
	sw2->element[2].Valid = true;
	assert_asked(&m, 0, 1);
	sw2->element[2].Control_Type = true;
	assert_asked(&m, 0, 0);
	sw2->element[8] = (struct ibcc_cc_sw_port_element){ .Valid = true, .Threshold = 15 };
	assert_asked(&m, 0, 1);
	sw1->sw.Threshold = 1;
	assert_asked(&m, 1, 1);
	sw2->support = IBCC_CC_UNKNOWN;
	sw1->support = IBCC_CC_UNSUPPORTED;
	assert_asked(&m, 0, 0);
	/* One that has only the log, unless it was silent to the class. */
	sw2->support = IBCC_CC_LOG_ONLY;
	assert_asked(&m, 0, 0);
	sw2->answer = IBCC_CC_ANSWERED;
	assert_asked(&m, 0, 1);
	sw2->support = IBCC_CC_UNKNOWN;
	/* An adapter never, nor a switch without settings in a list that is too short. */
	sw1->support = IBCC_CC_SUPPORTED;
	cc_of(&m, LUSTRE_SRC1)->sw.Threshold = 9;
	assert_asked(&m, 1, 0);
	m.actual.n = (uint32_t)(sw1 - m.actual.ep);
	assert_asked(&m, 0, 0);
	m.actual.n = m.x.t->n_endports;
	close_marks(&m);
}

/* Marks of several switches; and nothing is made of what was logged while it was not read. */
static void test_two_switches(void **state)
{
	struct marks m = open_marks();

	(void)state;
	cc_of(&m, LUSTRE_SW2)->sw.Threshold = 3;
	pass_with(&m.x, &m.actual);
	fake_sleep(m.x.f, INTERVAL);
	fake_mark(m.x.f, m.sw1, 1, 5, 0);
	fake_mark(m.x.f, m.sw2, 2, 6, 15);
	fake_mark(m.x.f, m.sw2, 3, 0xffff, 1);
	pass_with(&m.x, &m.actual);
	assert_int_equal(m.x.s.n_marks, 3);
	assert_int_equal(m.x.s.mark[0].node, LUSTRE_SW1);
	assert_int_equal(m.x.s.mark[0].slid, 1);
	assert_int_equal(m.x.s.mark[1].node, LUSTRE_SW2);
	assert_int_equal(m.x.s.mark[1].slid, 3);
	assert_int_equal(m.x.s.mark[1].dlid, 0xffff);
	assert_int_equal(m.x.s.mark[2].slid, 2);
	assert_int_equal(m.x.s.mark[2].sl, 15);
	fake_mark(m.x.f, m.sw1, 1, 5, 0);
	for (int i = 0; i < 10; i++) {
		fake_sleep(m.x.f, INTERVAL);
		pass(&m.x);
		assert_int_equal(m.x.s.n_marks, 0);
		fake_mark(m.x.f, m.sw1, 1, 5, 0);
	}
	mark_and_pass(&m, 1, 100);
	assert_int_equal(m.x.s.n_marks, 0);
	mark_and_pass(&m, 2, 100);
	assert_marks(&m, 2, 101);
	close_marks(&m);
}

static void set_map(struct marks *m, uint32_t ports)
{
	uint8_t map[32] = { [31] = (uint8_t)ports, [30] = (uint8_t)(ports >> 8) };

	mad_set_array(m->sw1->log, 0, IB_CC_CONGESTION_LOG_SWITCH_PORTMAP_F, map);
}

/* All ports of sw1 but those of a mask have marked none, or nothing is known of any. */
static void assert_map(const struct marks *m, bool known, uint32_t ports)
{
	for (unsigned int num = 1; num <= m->x.t->node[LUSTRE_SW1].n_ports; num++)
		assert_int_equal(sample(&m->x, LUSTRE_SW1, num)->marked,
				 !known             ? IBCC_MARKED_UNKNOWN
				 : ports >> num & 1 ? IBCC_MARKED_SOME
						    : IBCC_MARKED_NONE);
	assert_int_equal(sample(&m->x, LUSTRE_SW2, 1)->marked, IBCC_MARKED_UNKNOWN);
}

/* Which ports have marked since the log before was read: of one pass only. */
static void test_map(void **state)
{
	struct marks m = open_marks();

	(void)state;
	pass_with(&m.x, &m.actual);
	mark_and_pass(&m, 0, 0);
	assert_map(&m, false, 0); /* it may never tell any */
	set_map(&m, 1 << 5);
	mark_and_pass(&m, 2, 100);
	assert_map(&m, true, 1 << 5);
	set_map(&m, 1 << 1 | 1 << 8);
	mark_and_pass(&m, 0, 0);
	assert_map(&m, true, 1 << 1 | 1 << 8);
	set_map(&m, 0);
	mark_and_pass(&m, 0, 0);
	assert_map(&m, true, 0);
	/* Packets without a port: it keeps no map. */
	mark_and_pass(&m, 1, 100);
	assert_map(&m, false, 0);
	mark_and_pass(&m, 0, 0);
	assert_map(&m, false, 0);
	set_map(&m, 1 << 2);
	m.sw1->log_silent = true;
	mark_and_pass(&m, 1, 100);
	assert_map(&m, false, 0);
	m.sw1->log_silent = false;
	mark_and_pass(&m, 1, 100);
	assert_map(&m, true, 1 << 2);
	pass(&m.x);
	assert_map(&m, false, 0);
	close_marks(&m);
}

/* A pass that fails leaves the marks of the one before. */
static void test_breakdown(void **state)
{
	struct marks m = open_marks();

	(void)state;
	pass_with(&m.x, &m.actual);
	mark_and_pass(&m, 3, 100);
	m.x.f->run_err = -EIO;
	assert_int_equal(ibcc_collector_pass(m.x.c, m.x.tr, m.x.t, &m.x.s, 0, &m.actual), -EIO);
	assert_marks(&m, 3, 102);
	m.x.f->run_err = 0;
	mark_and_pass(&m, 2, 200);
	assert_marks(&m, 2, 201);
	close_marks(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_what_is_new),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_ends_at_nonsense),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_clock_begins_anew),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_lost_answer),
		cmocka_unit_test(test_who_is_asked),
		cmocka_unit_test(test_two_switches),
		cmocka_unit_test(test_map),
		cmocka_unit_test(test_breakdown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
