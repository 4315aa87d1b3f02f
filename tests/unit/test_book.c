/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The book of what is ours: first old values, last new ones, and an endport without us. */
#include "fabrics.h"

#include "plans.h"

#include <ibcc/book.h>

#define GUID_A 0xa000000000000001u
#define GUID_B 0x2u
#define CA     IBCC_CC_ATTR_CA_SETTING
#define CCT    IBCC_CC_ATTR_CCT

static void note(struct ibcc_book *b, uint64_t guid, uint16_t attr_id, uint32_t attr_mod,
		 uint8_t from, uint8_t to, int64_t txn)
{
	struct ibcc_plan p = { 0 };

	plan_add(&p, guid, attr_id, attr_mod, from, to);
	assert_int_equal(ibcc_book_note(b, &p.change[0], txn, IBCC_BOOK_MAKE, true), 0);
	ibcc_plan_fini(&p);
}

static struct ibcc_plan joined(const struct ibcc_book *b, int64_t want_first)
{
	struct ibcc_plan p;
	int64_t first = -1;

	assert_int_equal(ibcc_book_joined(b, &p, &first), 0);
	assert_int_equal(first, want_first);
	return p;
}

static void test_first_and_last(void **state)
{
	struct ibcc_book b = { 0 };
	struct ibcc_plan p;

	(void)state;
	p = joined(&b, 0);
	assert_int_equal(p.n, 0);
	note(&b, GUID_A, CA, 0, 1, 2, 7);
	note(&b, GUID_B, CA, 0, 11, 12, 8);
	note(&b, GUID_A, CA, 0, 2, 3, 9);
	note(&b, GUID_B, IBCC_CC_ATTR_KEY_INFO, 0, 1, 2, 9); /* no setting */
	p = joined(&b, 7);
	assert_int_equal(p.n, 2);
	assert_int_equal(p.change[0].node_guid, GUID_B);
	assert_int_equal(p.change[0].old_data[5], 11);
	assert_int_equal(p.change[1].old_data[5], 1);
	assert_int_equal(p.change[1].new_data[5], 3);
	ibcc_plan_fini(&p);
	ibcc_book_forget(&b, 8);
	p = joined(&b, 7);
	assert_int_equal(p.n, 1);
	ibcc_plan_fini(&p);
	ibcc_book_fini(&b);
}

/* What takes back says what is there, and makes nothing ours. */
static void test_back(void **state)
{
	struct ibcc_book b = { 0 };
	struct ibcc_plan back = { 0 }, p;

	(void)state;
	note(&b, GUID_A, CA, 0, 1, 2, 1);
	plan_add(&back, GUID_A, CA, 0, 2, 1);
	plan_add(&back, GUID_B, CA, 0, 5, 6);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(ibcc_book_note(&b, &back.change[i], 2, IBCC_BOOK_BACK, true), 0);
	p = joined(&b, 1);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.change[0].new_data[5], 1);
	ibcc_plan_fini(&p);
	ibcc_plan_fini(&back);
	ibcc_book_fini(&b);
}

/* A channel adapter with a table, in the fixture's fabric. */
static struct ibcc_endport_cc adapter(uint16_t limit, uint16_t entry, uint16_t timer)
{
	struct ibcc_endport_cc ep = { .support = IBCC_CC_SUPPORTED, .info.ControlTableCap = 2 };

	ep.cct.limit = limit;
	for (unsigned int i = 0; i <= limit; i++)
		ep.cct.entry[i] = entry;
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++)
		ep.ca.sl[sl].CCTI_Timer = timer;
	return ep;
}

/* Notes all attributes as one transaction that turns an adapter's settings into others. */
static void tune(struct ibcc_book *b, const struct ibcc_endport_cc *from,
		 const struct ibcc_endport_cc *to, int64_t txn, enum ibcc_book_act act)
{
	struct ibcc_change c = { .node_guid = GUID_A, .port = 1, .attr_id = CA };
	unsigned int n = ibcc_cct_blocks(from->cct.limit), m = ibcc_cct_blocks(to->cct.limit);

	assert_true(ibcc_settings_pack(from, CA, 0, c.old_data));
	assert_true(ibcc_settings_pack(to, CA, 0, c.new_data));
	assert_int_equal(ibcc_book_note(b, &c, txn, act, true), 0);
	c.attr_id = CCT;
	for (c.attr_mod = 0; c.attr_mod < (n > m ? n : m); c.attr_mod++) {
		assert_true(ibcc_settings_pack(from, CCT, c.attr_mod, c.old_data));
		assert_true(ibcc_settings_pack(to, CCT, c.attr_mod, c.new_data));
		assert_int_equal(ibcc_book_note(b, &c, txn, act, true), 0);
	}
}

static void test_without(void **state)
{
	struct ibcc_endport_cc site = adapter(31, 3, 77), ours = adapter(99, 8, 10), ep = ours;
	struct ibcc_book b = { 0 };

	(void)state;
	tune(&b, &site, &ours, 1, IBCC_BOOK_MAKE);
	assert_true(ibcc_book_without(&b, GUID_A, 1, &ep));
	assert_true(ibcc_cct_equal(&ep.cct, &site.cct));
	assert_int_equal(ep.ca.sl[3].CCTI_Timer, 77);
	assert_false(ibcc_book_without(&b, GUID_A, 1, &ep)); /* none of ours is there */
	assert_false(ibcc_book_is_back(&b, 0));
	ep = ours;
	assert_false(ibcc_book_without(&b, GUID_A, 2, &ep));
	assert_false(ibcc_book_without(&b, GUID_B, 1, &ep));
	/* A foreign one stays, ours goes. */
	ep = ours;
	ep.ca.sl[3].CCTI_Timer = 5;
	assert_true(ibcc_book_without(&b, GUID_A, 1, &ep));
	assert_int_equal(ep.ca.sl[3].CCTI_Timer, 5);
	assert_true(ibcc_cct_equal(&ep.cct, &site.cct));
	/* What is not certain may be any program's. */
	for (uint32_t i = 0; i < b.n; i++)
		b.entry[i]->certain = false;
	ep = ours;
	assert_false(ibcc_book_without(&b, GUID_A, 1, &ep));
	/* It has what it had before us, by the last write as well. */
	tune(&b, &ours, &site, 2, IBCC_BOOK_MAKE);
	assert_true(ibcc_book_is_back(&b, 0));
	ibcc_book_fini(&b);
}

/* A user that disabled it does not want back what was there before, but for a rollback. */
static void test_off(void **state)
{
	struct ibcc_endport_cc site = adapter(31, 3, 77), off = adapter(0, 0, 77),
			       ours = adapter(63, 8, 10), ep = off;
	struct ibcc_book b = { 0 };
	struct ibcc_plan p;

	(void)state;
	tune(&b, &site, &off, 1, IBCC_BOOK_OFF);
	assert_true(ibcc_book_is_back(&b, 0));
	assert_false(ibcc_book_without(&b, GUID_A, 1, &ep));
	tune(&b, &off, &ours, 2, IBCC_BOOK_MAKE);
	ep = ours;
	assert_true(ibcc_book_without(&b, GUID_A, 1, &ep));
	assert_int_equal(ep.cct.limit, 0);
	p = joined(&b, 1);
	assert_int_equal(p.change[1].old_data[1], 31);
	ibcc_plan_fini(&p);
	ibcc_book_fini(&b);
}

/* A table that was once longer than a block, then shorter, then written in its one block alone:
 * what the second block was told then lies behind the end, and no reader may expect it.
 */
static void test_behind_the_end(void **state)
{
	struct ibcc_endport_cc site = adapter(0, 0, 0), longest = adapter(99, 8, 10),
			       shorter = adapter(48, 7, 10), last = adapter(18, 6, 10), ep = last;
	struct ibcc_book b = { 0 };
	struct ibcc_plan p;

	(void)state;
	tune(&b, &site, &longest, 1, IBCC_BOOK_MAKE);
	tune(&b, &longest, &shorter, 2, IBCC_BOOK_MAKE);
	tune(&b, &shorter, &last, 3, IBCC_BOOK_MAKE);
	assert_int_equal(b.n, 3);
	assert_int_equal(ibcc_book_expected(&b, &p), 0);
	assert_int_equal(p.n, 2);
	assert_int_equal(p.change[1].attr_mod, 0);
	assert_int_equal(p.change[1].new_data[1], 18);
	ibcc_plan_fini(&p);
	assert_true(ibcc_book_without(&b, GUID_A, 1, &ep));
	assert_int_equal(ep.cct.limit, 0);
	/* The way back goes over all blocks that ever were ours. */
	p = joined(&b, 1);
	assert_int_equal(p.n, 3);
	ibcc_plan_fini(&p);
	ibcc_book_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_and_last),
		cmocka_unit_test(test_back),
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_without),
		cmocka_unit_test(test_behind_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
