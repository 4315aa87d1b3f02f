/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Marking profiles of NVIDIA's switch ports as settings: on the wire, in plans, bounds and the
 * book. The octets are written by hand, from the public layout.
 */
#include "fabrics.h"

#include <stdlib.h>
#include <string.h>

#include <ibcc/book.h>
#include <ibcc/bounds.h>
#include <ibcc/ledger.h>
#include <ibcc/vendor_cc.h>

#define PORTS 9u /* ports 0 to 8 */

/* Mode fixed, in bytes, and bits that no header names: in word 0, in the words of profile 1, and
 * behind the attribute. Profile 1: min 0x186a0, percent 20 (0x14), max 0x61a80.
 */
static const uint8_t wire[] = {
	0x2a, 0x00, 0xff, 0xff, /* vl_mask, and 0x2a of unknown bits */
	0x50, 0x01, 0x86, 0xa0, /* min, and 0x50 */
	0x94, 0x56, 0x1a, 0x80, /* percent, max, bits 31 and 20 to 23 unknown */
	0x00, 0x03, 0x0d, 0x40, 0x0a, 0x0c, 0x35, 0x00, /* profile 2 */
};

static void fill(uint8_t *data)
{
	memset(data, 0, IBCC_CC_DATA_BYTES);
	memcpy(data, wire, sizeof(wire));
	data[40] = 0x5a;
	data[191] = 0xa5;
}

static void test_wire(void **state)
{
	static const struct ibcc_vcc_profile other = { .min = 0xabcde,
						       .max = 0x12345,
						       .percent = 3 };
	struct ibcc_vcc_profile p;
	uint8_t data[IBCC_CC_DATA_BYTES], want[IBCC_CC_DATA_BYTES];

	(void)state;
	fill(data);
	p = ibcc_vcc_profile_get(data, 0);
	assert_int_equal(p.min, 100000);
	assert_int_equal(p.max, 400000);
	assert_int_equal(p.percent, 20);
	p = ibcc_vcc_profile_get(data, 1);
	assert_int_equal(p.min, 200000);
	assert_int_equal(p.max, 800000);
	assert_int_equal(p.percent, 10);
	assert_int_equal(ibcc_vcc_profile_get(data, 2).max, 0);
	assert_int_equal(ibcc_vcc_profile_unit(data), 1);
	ibcc_vcc_profile_set(data, 0, &other);
	fill(want);
	want[4] = 0x50;
	want[5] = 0x0a;
	want[6] = 0xbc;
	want[7] = 0xde;
	want[8] = 0x83;
	want[9] = 0x51;
	want[10] = 0x23;
	want[11] = 0x45;
	assert_memory_equal(data, want, sizeof(data));
	data[0] |= 0x40;
	assert_int_equal(ibcc_vcc_profile_unit(data), 1024);
	data[0] |= 0x80;
	assert_int_equal(ibcc_vcc_profile_unit(data), 0);
	/* SL 0 in bits 30 and 31, SL 15 in bits 0 and 1. */
	assert_int_equal(ibcc_vcc_profiles_used((const uint8_t[4]){ 0x40, 0, 0, 0x03 }), 5);
	assert_int_equal(ibcc_vcc_profiles_used((const uint8_t[4]){ 0 }), 0);
}

/* Switch sw2 of the Lustre fabric with profiles at ports 1 and 5. */
struct fixture {
	struct ibcc_topo *t;
	uint32_t sw;
	struct ibcc_settings actual;
};

static int setup(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));
	struct ibcc_endport_cc *ep;

	assert_non_null(x);
	x->t = fabric_lustre();
	assert_int_equal(ibcc_settings_init(&x->actual, x->t), 0);
	for (uint32_t i = 0; i < x->t->n_endports; i++)
		x->t->port[x->t->endport[i]].lid = (uint16_t)(i + 1);
	x->sw = ibcc_topo_switch_endport(x->t, fabric_port(x->t, LUSTRE_SW2, 1));
	ep = &x->actual.ep[x->sw];
	ep->profile = calloc(PORTS, sizeof(*ep->profile));
	assert_non_null(ep->profile);
	ep->n_profile = PORTS;
	for (unsigned int port = 1; port <= 5; port += 4) {
		ep->profile[port].known = true;
		ep->profile[port].used = 1;
		fill(ep->profile[port].data);
	}
	ep->mechanism = IBCC_MECHANISM_DCQCN;
	ep->answer = IBCC_CC_NO_CLASS;
	ibcc_endport_judge(ep, IBCC_CC_SUPPORTED);
	*state = x;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *x = *state;

	ibcc_settings_fini(&x->actual);
	ibcc_topo_free(x->t);
	free(x);
	return 0;
}

static void percent_at(struct ibcc_endport_cc *ep, unsigned int port, uint8_t percent)
{
	struct ibcc_vcc_profile p = ibcc_vcc_profile_get(ep->profile[port].data, 0);

	p.percent = percent;
	ibcc_vcc_profile_set(ep->profile[port].data, 0, &p);
}

static void test_support(void **state)
{
	struct fixture *x = *state;
	struct ibcc_endport_cc *ep = &x->actual.ep[x->sw];

	/* The annex's class does not count, a refused key and other reasons do. */
	assert_int_equal(ep->support, IBCC_CC_SUPPORTED);
	ibcc_endport_judge(ep, IBCC_CC_FOREIGN);
	assert_int_equal(ep->support, IBCC_CC_FOREIGN);
	ep->answer = IBCC_CC_READ_ONLY;
	ibcc_endport_judge(ep, IBCC_CC_SUPPORTED);
	assert_int_equal(ep->support, IBCC_CC_KEY_REFUSED);
	ep->answer = IBCC_CC_ANSWERED;
	ibcc_endport_judge(ep, IBCC_CC_SUPPORTED);
	assert_true(ibcc_settings_profiles_mark(ep, 1));
	assert_false(ibcc_settings_profiles_mark(ep, 2));
	percent_at(ep, 1, 0);
	assert_false(ibcc_settings_profiles_mark(ep, 1));
	/* Profile 2 marks, too, but no SL uses it until now. */
	ep->profile[1].used = 2;
	assert_true(ibcc_settings_profiles_mark(ep, 1));
	ep->profile[1].used = 0;
	assert_false(ibcc_settings_profiles_mark(ep, 1));
	/* The annex's settings of such a switch are none. */
	assert_false(ibcc_settings_port_marks(ep, 1));
	assert_false(ibcc_settings_are_on(ep));
}

static void test_relax(void **state)
{
	struct fixture *x = *state;
	struct ibcc_settings other;
	struct ibcc_endport_cc *a = &x->actual.ep[x->sw], *b;

	assert_int_equal(ibcc_settings_copy(&other, &x->actual), 0);
	b = &other.ep[x->sw];
	assert_true(a->profile != b->profile);
	assert_int_equal(ibcc_settings_differ(a, b), 0);
	percent_at(b, 5, 19);
	assert_int_equal(ibcc_settings_differ(a, b), IBCC_SETTINGS_PROFILES);
	assert_true(ibcc_settings_relax(a, b));
	assert_false(ibcc_settings_relax(b, a));
	/* A longer queue until all is marked relaxes; an earlier begin does not. */
	percent_at(b, 5, 20);
	ibcc_vcc_profile_set(b->profile[1].data, 0,
			     &(struct ibcc_vcc_profile){ 100000, 400001, 20 });
	assert_true(ibcc_settings_relax(a, b));
	ibcc_vcc_profile_set(b->profile[1].data, 0,
			     &(struct ibcc_vcc_profile){ 99999, 400001, 20 });
	assert_false(ibcc_settings_relax(a, b));
	ibcc_settings_fini(&other);
}

static int count_field(const struct ibcc_field_change *f, void *arg)
{
	const char **want = arg;

	assert_string_equal(f->field, want[0]);
	assert_string_equal(f->old_text, want[1]);
	assert_string_equal(f->new_text, want[2]);
	assert_int_equal(f->index, 5);
	assert_int_equal(f->sl, -1);
	want[3] = "seen";
	return 0;
}

static void test_plan(void **state)
{
	struct fixture *x = *state;
	const char *want[4] = { "profile1_percent", "20", "7", NULL };
	struct ibcc_target target = { 0 };
	struct ibcc_plan plan;
	const struct ibcc_change *c;
	uint8_t data[IBCC_CC_DATA_BYTES];

	assert_int_equal(ibcc_settings_copy(&target.wanted, &x->actual), 0);
	percent_at(&target.wanted.ep[x->sw], 5, 7);
	/* What the annex would write is not planned for such a switch. */
	target.wanted.ep[x->sw].sw.Threshold = 12;
	assert_int_equal(ibcc_planner_run(x->t, &x->actual, &target, &plan), 0);
	assert_int_equal(plan.n, 1);
	assert_int_equal(plan.n_unchanged, 1);
	c = &plan.change[0];
	assert_int_equal(c->attr_id, 0xff09);
	assert_int_equal(c->attr_mod, 5);
	assert_int_equal(c->port, 0);
	fill(data);
	assert_memory_equal(c->old_data, data, sizeof(data));
	data[8] = 0x87;
	assert_memory_equal(c->new_data, data, sizeof(data));
	assert_int_equal(ibcc_plan_fields(c, count_field, want), 0);
	assert_string_equal(want[3], "seen");
	assert_int_equal(
		ibcc_plan_field_port(c, &(struct ibcc_field_change){ .index = 5, .sl = -1 }), 5);
	/* Verified and in force are all bits, also the unknown ones. */
	assert_true(ibcc_plan_verify(c->attr_id, c->attr_mod, c->new_data, data));
	assert_false(ibcc_plan_in_force(&x->actual.ep[x->sw], c->attr_id, 5, data));
	ibcc_plan_put(&plan, x->t, false, &x->actual);
	assert_true(ibcc_plan_in_force(&x->actual.ep[x->sw], c->attr_id, 5, data));
	data[191] = 0;
	assert_false(ibcc_plan_verify(c->attr_id, c->attr_mod, c->new_data, data));
	assert_false(ibcc_plan_in_force(&x->actual.ep[x->sw], c->attr_id, 5, data));
	/* What was not read is not written. */
	assert_false(ibcc_settings_pack(&x->actual.ep[x->sw], 0xff09, 2, data));
	assert_false(ibcc_settings_unpack(&x->actual.ep[x->sw], 0xff09, 2, data));
	assert_false(ibcc_settings_unpack(&x->actual.ep[x->sw], 0xff09, PORTS, data));
	ibcc_plan_fini(&plan);
	ibcc_target_fini(&target);
}

/* A change of port 5 as if it had been planned. */
static struct ibcc_change change_of(const struct fixture *x)
{
	struct ibcc_change c = {
		.node_guid = x->t->node[LUSTRE_SW2].guid, .lid = 8, .attr_id = 0xff09, .attr_mod = 5
	};

	fill(c.old_data);
	fill(c.new_data);
	c.new_data[8] = 0x81; /* percent 1 */
	return c;
}

/* The sentence of the check, or "". */
static const char *judged(const struct fixture *x, struct ibcc_change c)
{
	static struct ibcc_why why;
	static const struct ibcc_bounds bounds = IBCC_BOUNDS_DEFAULT;
	struct ibcc_plan plan = { .n = 1, .cap = 1, .change = &c };

	why.text[0] = '\0';
	ibcc_bounds_check(&bounds, x->t, NULL, &plan, NULL, &why);
	return why.text;
}

static void assert_refused(const struct fixture *x, const struct ibcc_change *c, const char *what)
{
	if (!strstr(judged(x, *c), what))
		fail_msg("\"%s\", not \"%s\"", judged(x, *c), what);
}

static void test_bounds(void **state)
{
	struct fixture *x = *state;
	struct ibcc_change c = change_of(x);

	assert_string_equal(judged(x, c), "");
	/* One bit that no header names, in turn in each place; and vl_mask, mode and unit. */
	for (unsigned int bit = 0; bit < 8 * IBCC_CC_DATA_BYTES; bit++) {
		bool min = bit >= 44 && bit < 64, max = bit >= 76 && bit < 96;
		bool more = (bit >= 108 && bit < 128) || (bit >= 140 && bit < 160) ||
			    (bit >= 172 && bit < 192) || (bit >= 204 && bit < 224);
		bool percent = (bit >= 65 && bit < 72) || (bit >= 129 && bit < 136) ||
			       (bit >= 193 && bit < 200);

		if (min || max || more || percent)
			continue;
		c = change_of(x);
		c.new_data[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
		assert_refused(x, &c, "more than min, max and percent");
	}
	c = change_of(x);
	c.new_data[8] = 0xe5; /* 101 */
	assert_refused(x, &c, "beyond 100");
	c = change_of(x);
	c.new_data[5] = 0x07; /* min 0x786a0 */
	assert_refused(x, &c, "beyond its max");
	c = change_of(x);
	c.attr_mod = 9;
	assert_refused(x, &c, "does not have");
	c.attr_mod = 0;
	assert_refused(x, &c, "no such block");
	c = change_of(x);
	c.node_guid = x->t->node[LUSTRE_SRC1].guid;
	c.port = 1;
	assert_refused(x, &c, "a switch's setting for an adapter");
	/* No other attribute of NVIDIA's is a setting: the control itself, SLs, adapters, PPCC. */
	for (c.attr_id = 0xff00; c.attr_id != 0; c.attr_id++)
		if (c.attr_id != 0xff09)
			assert_string_equal(ibcc_bounds_data(&c, c.new_data), "no setting");
}

static void test_book(void **state)
{
	struct fixture *x = *state;
	struct ibcc_endport_cc *ep = &x->actual.ep[x->sw];
	struct ibcc_change c = change_of(x);
	struct ibcc_ledger ledger = { 0 };
	struct ibcc_book book = { 0 };
	struct ibcc_plan joined;
	uint8_t before[IBCC_CC_DATA_BYTES];
	int64_t first;

	fill(before);
	assert_int_equal(ibcc_book_note(&book, &c, 7, IBCC_BOOK_MAKE, true), 0);
	assert_true(ibcc_settings_unpack(ep, 0xff09, 5, c.new_data));
	assert_int_equal(ibcc_ledger_look(&ledger, &book, x->t, &x->actual), 0);
	assert_int_equal(ledger.hold[x->sw], IBCC_LEDGER_LEFT);
	assert_memory_equal(ledger.base.ep[x->sw].profile[5].data, before, sizeof(before));
	/* A second write: the way back is to before the first. */
	memcpy(c.old_data, c.new_data, sizeof(c.old_data));
	c.new_data[8] = 0x82;
	assert_int_equal(ibcc_book_note(&book, &c, 8, IBCC_BOOK_MAKE, true), 0);
	assert_int_equal(ibcc_book_joined(&book, &joined, &first), 0);
	assert_int_equal(first, 7);
	assert_int_equal(joined.n, 1);
	assert_memory_equal(joined.change[0].old_data, before, sizeof(before));
	assert_memory_equal(joined.change[0].new_data, c.new_data, sizeof(before));
	/* Another program wrote: what is there is not ours. */
	ibcc_ledger_reset(&ledger);
	assert_int_equal(ibcc_ledger_look(&ledger, &book, x->t, &x->actual), 0);
	assert_int_equal(ledger.hold[x->sw], IBCC_LEDGER_NONE);
	ibcc_plan_fini(&joined);
	ibcc_ledger_reset(&ledger);
	ibcc_book_fini(&book);
}

/* What the state file has of one port cannot go back. The other port of the switch does. */
static void test_drop(void **state)
{
	static const struct ibcc_bounds bounds = IBCC_BOUNDS_DEFAULT;
	static const uint8_t ports[] = { 5, 1 };
	struct fixture *x = *state;

	for (unsigned int bad = 0; bad < 2; bad++) {
		struct ibcc_plan plan = { 0 };
		struct ibcc_why why;

		for (unsigned int i = 0; i < 2; i++) {
			struct ibcc_change c = change_of(x);

			c.attr_mod = ports[i];
			if (i == bad)
				c.new_data[63] ^= 1;
			assert_int_equal(ibcc_plan_append(&plan, &c), 0);
		}
		assert_int_equal(ibcc_bounds_drop(&bounds, x->t, NULL, &plan, &why), 1);
		assert_int_equal(plan.n, 1);
		assert_int_equal(plan.change[0].attr_mod, ports[!bad]);
		ibcc_plan_fini(&plan);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wire),
		cmocka_unit_test_setup_teardown(test_support, setup, teardown),
		cmocka_unit_test_setup_teardown(test_relax, setup, teardown),
		cmocka_unit_test_setup_teardown(test_plan, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bounds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_drop, setup, teardown),
		cmocka_unit_test_setup_teardown(test_book, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
