/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Marking profiles of NVIDIA's switches are written by agents that keep registers: one port first,
 * and only where the control is on, the key is ours, and no other program has written.
 */
#include "tests/unit/vendors.h"

#include <ibcc/apply.h>

struct profiles {
	struct fixture x;
	struct ibcc_plan plan;
	struct ibcc_result r;
	struct ibcc_why why;
	struct ibcc_apply_options o;
};

static const uint32_t nodes[] = { LUSTRE_SW1, LUSTRE_SW1, LUSTRE_SW2 };
static const uint8_t ports[] = { 5, 1, 2 };

static void get(struct profiles *p, unsigned int i, uint8_t *data)
{
	struct agent_fabric *f = &p->x.f;

	memset(&f->mad, 0, sizeof(f->mad));
	assert_int_equal(agents_send(f, nodes[i], 0x21, 2, 1, 0xff09, ports[i]), 0);
	memcpy(data, f->mad.b + MAD_DATA, IBCC_CC_DATA_BYTES);
}

static void set(struct profiles *p, unsigned int i, const uint8_t *data)
{
	struct agent_fabric *f = &p->x.f;

	memset(&f->mad, 0, sizeof(f->mad));
	memcpy(f->mad.b + MAD_DATA, data, IBCC_CC_DATA_BYTES);
	assert_int_equal(agents_send(f, nodes[i], 0x21, 2, 2, 0xff09, ports[i]), 0);
}

/* Three ports with bits that no header names, and a plan that sets percent to 77. */
static void begin(struct profiles *p)
{
	*p = (struct profiles){ .o.left_out = &p->why };
	open_fixture(&p->x);
	give_all(&p->x, IBCC_NVIDIA_CC_ON);
	for (unsigned int i = 0; i < 3; i++) {
		struct ibcc_change c = {
			.node_guid = p->x.f.topo->node[nodes[i]].guid,
			.lid = p->x.f.topo
				       ->port[p->x.f.topo
						      ->endport[agents_endport(&p->x.f, nodes[i])]]
				       .lid,
			.attr_id = 0xff09,
			.attr_mod = ports[i],
		};

		get(p, i, c.old_data);
		c.old_data[0] |= 0x15;
		c.old_data[63] = (uint8_t)(0x81 + i);
		set(p, i, c.old_data);
		memcpy(c.new_data, c.old_data, sizeof(c.new_data));
		c.new_data[8] = (uint8_t)((c.old_data[8] & 0x80) | 77);
		assert_int_equal(ibcc_plan_append(&p->plan, &c), 0);
	}
	assert_int_equal(ibcc_result_init(&p->r, 3), 0);
	p->x.line.n_sets = 0;
}

static void end(struct profiles *p)
{
	ibcc_result_fini(&p->r);
	ibcc_plan_fini(&p->plan);
	close_fixture(&p->x);
}

static int apply(struct profiles *p)
{
	p->x.line.n_sets = 0;
	return ibcc_apply_run(&p->x.line.base, &p->plan, &p->o, &p->r);
}

static void assert_all(struct profiles *p, bool new)
{
	uint8_t data[IBCC_CC_DATA_BYTES];

	for (unsigned int i = 0; i < 3; i++) {
		get(p, i, data);
		assert_memory_equal(data,
				    new ? p->plan.change[i].new_data : p->plan.change[i].old_data,
				    sizeof(data));
	}
}

static void test_there_and_back(void **state)
{
	struct profiles p;
	struct ibcc_plan undo;

	(void)state;
	begin(&p);
	assert_int_equal(apply(&p), 0);
	assert_int_equal(p.r.n_verified, 3);
	assert_int_equal(p.x.line.n_sets, 3);
	assert_all(&p, true);
	assert_int_equal(ibcc_plan_reverse(&p.plan, &undo), 0);
	undo.back = true;
	assert_int_equal(ibcc_apply_run(&p.x.line.base, &undo, &p.o, &p.r), 0);
	assert_all(&p, false);
	ibcc_plan_fini(&undo);
	end(&p);
}

/* The switch answers no Set, or none of one port. */
static int lose_sets(struct ibcc_transport *t, struct ibcc_mad_op *op, size_t n)
{
	struct line *l = (struct line *)t;

	for (size_t i = 0; i < n; i++)
		if (op[i].mad[3] == IBCC_MAD_SET &&
		    (!l->lost_port || op[i].mad[23] == l->lost_port)) {
			l->n_sets++;
			op[i].err = -ETIMEDOUT;
		} else {
			assert_int_equal(ibcc_transport_run(l->inner, &op[i], 1), 0);
		}
	return 0;
}

static void test_one_first(void **state)
{
	static const struct ibcc_transport_ops lossy = { .run = lose_sets, .now_ns = line_now };
	struct profiles p;

	(void)state;
	begin(&p);
	p.x.line.base.ops = &lossy;
	assert_int_equal(apply(&p), -EIO);
	assert_int_equal(p.x.line.n_sets, 1);
	assert_int_equal(p.r.n_failed, 1);
	assert_int_equal(p.r.change[0].outcome, IBCC_OUTCOME_FAILED);
	assert_int_equal(p.r.change[1].outcome, IBCC_OUTCOME_SKIPPED);
	assert_int_equal(p.r.change[2].outcome, IBCC_OUTCOME_SKIPPED);
	assert_all(&p, false);
	end(&p);
}

static void assert_left_out(struct profiles *p, int err, unsigned int n_sets, const char *what)
{
	assert_int_equal(apply(p), -EIO);
	assert_int_equal(p->x.line.n_sets, n_sets);
	assert_int_equal(p->r.change[2].outcome, IBCC_OUTCOME_SKIPPED);
	assert_int_equal(p->r.change[2].err, err);
	if (!strstr(p->why.text, what))
		fail_msg("%s", p->why.text);
}

/* The control is off at the second switch: there nothing is written, but what goes back is. */
static void test_off(void **state)
{
	struct profiles p;

	(void)state;
	begin(&p);
	give(&p.x, LUSTRE_SW2, IBCC_NVIDIA_CC_OFF);
	assert_left_out(&p, IBCC_CHANGE_VENDOR_OFF, 2, "is off there");
	p.plan.back = true;
	assert_int_equal(apply(&p), 0);
	end(&p);
}

/* The first change of a switch goes back, where neither the control nor the key matters. They do
 * for the next one, which does not.
 */
static void test_behind_one_that_goes_back(void **state)
{
	struct ibcc_cc_key_info key = { .CC_Key = 0x5afe };
	struct profiles p;

	(void)state;
	for (unsigned int other_key = 0; other_key < 2; other_key++) {
		begin(&p);
		p.plan.change[0].back = true;
		if (other_key) {
			memset(&p.x.f.mad, 0, sizeof(p.x.f.mad));
			ibcc_cc_key_info_pack(p.x.f.mad.b, &key);
			assert_int_equal(agents_send(&p.x.f, LUSTRE_SW1, 0x21, 2, 2, 0x12, 0), 0);
			p.plan.change[0].cc_key = 0x5afe;
		} else {
			give(&p.x, LUSTRE_SW1, IBCC_NVIDIA_CC_OFF);
		}
		assert_int_equal(apply(&p), -EIO);
		assert_int_equal(p.r.change[0].outcome, IBCC_OUTCOME_VERIFIED);
		assert_int_equal(p.r.change[1].outcome, IBCC_OUTCOME_SKIPPED);
		assert_int_equal(p.r.change[1].err,
				 other_key ? IBCC_CHANGE_OTHER_KEY : IBCC_CHANGE_VENDOR_OFF);
		assert_int_equal(p.r.change[2].outcome, IBCC_OUTCOME_VERIFIED);
		assert_int_equal(p.x.line.n_sets, 2);
		end(&p);
	}
}

/* Another program changed one bit that no header names. */
static void test_other_writer(void **state)
{
	uint8_t data[IBCC_CC_DATA_BYTES];
	struct profiles p;

	(void)state;
	begin(&p);
	get(&p, 2, data);
	data[63] ^= 1;
	set(&p, 2, data);
	assert_left_out(&p, IBCC_CHANGE_OTHER_WRITER, 2, "another program has changed");
	end(&p);
}

/* The way back brings back min, max and percent. It must not undo what another program did to the
 * other bits meanwhile, here to one that no header names.
 */
static void test_other_bits_on_the_way_back(void **state)
{
	uint8_t data[IBCC_CC_DATA_BYTES], now[IBCC_CC_DATA_BYTES];
	struct profiles p;
	struct ibcc_plan undo;

	(void)state;
	begin(&p);
	assert_int_equal(apply(&p), 0);
	get(&p, 2, data);
	data[63] ^= 1;
	set(&p, 2, data);
	/* Another percent is no reason: the earlier one comes back. */
	get(&p, 0, now);
	now[8] ^= 1;
	set(&p, 0, now);
	assert_int_equal(ibcc_plan_reverse(&p.plan, &undo), 0);
	undo.back = true;
	p.x.line.n_sets = 0;
	assert_int_equal(ibcc_apply_run(&p.x.line.base, &undo, &p.o, &p.r), -EIO);
	assert_int_equal(p.x.line.n_sets, 2);
	get(&p, 2, now);
	assert_memory_equal(now, data, sizeof(now));
	get(&p, 0, now);
	assert_memory_equal(now, p.plan.change[0].old_data, sizeof(now));
	if (!strstr(p.why.text, "beside min, max and percent"))
		fail_msg("%s", p.why.text);
	ibcc_plan_fini(&undo);
	end(&p);
}

static void reverse(struct profiles *p)
{
	struct ibcc_plan undo;

	assert_int_equal(apply(p), 0);
	assert_int_equal(ibcc_plan_reverse(&p->plan, &undo), 0);
	ibcc_plan_fini(&p->plan);
	p->plan = undo;
	p->plan.back = true;
}

/* Has port `i` the values that the plan writes, or those from before it? */
static void assert_port(struct profiles *p, unsigned int i, bool new)
{
	uint8_t data[IBCC_CC_DATA_BYTES];

	get(p, i, data);
	assert_memory_equal(data, new ? p->plan.change[i].new_data : p->plan.change[i].old_data,
			    sizeof(data));
}

/* Another program has changed other bits of one port of a switch. Its other ports come back. */
static void test_one_port_stays(void **state)
{
	uint8_t data[IBCC_CC_DATA_BYTES], now[IBCC_CC_DATA_BYTES];
	struct profiles p;

	(void)state;
	for (unsigned int bad = 0; bad < 3; bad++) {
		begin(&p);
		reverse(&p);
		get(&p, bad, data);
		data[63] ^= 1;
		set(&p, bad, data);
		assert_int_equal(apply(&p), -EIO);
		assert_int_equal(p.x.line.n_sets, 2);
		get(&p, bad, now);
		assert_memory_equal(now, data, sizeof(now));
		for (unsigned int i = 0; i < 3; i++) {
			assert_int_equal(p.r.change[i].err,
					 i == bad ? IBCC_CHANGE_OTHER_WRITER : 0);
			if (i != bad)
				assert_port(&p, i, true);
		}
		end(&p);
	}
}

static void test_one_port_fails(void **state)
{
	static const struct ibcc_transport_ops lossy = { .run = lose_sets, .now_ns = line_now };
	struct profiles p;

	(void)state;
	begin(&p);
	reverse(&p);
	p.x.line.base.ops = &lossy;
	p.x.line.lost_port = 5;
	assert_int_equal(apply(&p), -EIO);
	assert_int_equal(p.r.n_failed, 1);
	assert_int_equal(p.r.n_verified, 2);
	assert_port(&p, 0, false);
	assert_port(&p, 1, true);
	assert_port(&p, 2, true);
	end(&p);
}

/* What port 5 has now is not known: the answer to a Get is lost. */
static int lose_gets_of_port_5(struct ibcc_transport *t, struct ibcc_mad_op *op, size_t n)
{
	struct line *l = (struct line *)t;

	for (size_t i = 0; i < n; i++) {
		l->n_sets += op[i].mad[3] == IBCC_MAD_SET;
		if (op[i].mad[3] == IBCC_MAD_GET && op[i].mad[17] == 0x09 && op[i].mad[23] == 5)
			op[i].err = -ETIMEDOUT;
		else
			assert_int_equal(ibcc_transport_run(l->inner, &op[i], 1), 0);
	}
	return 0;
}

/* Nothing is written over bits that are not known. */
static void test_unread_on_the_way_back(void **state)
{
	static const struct ibcc_transport_ops lossy = { .run = lose_gets_of_port_5,
							 .now_ns = line_now };
	struct profiles p;

	(void)state;
	begin(&p);
	reverse(&p);
	p.x.line.base.ops = &lossy;
	assert_int_equal(apply(&p), -EIO);
	assert_int_equal(p.x.line.n_sets, 2);
	assert_int_equal(p.r.change[0].outcome, IBCC_OUTCOME_SKIPPED);
	assert_int_equal(p.r.change[0].err, IBCC_CHANGE_UNREADABLE);
	assert_port(&p, 0, false);
	if (!strstr(p.why.text, "port 5, PortProfileSettings: the port's profiles cannot be read"))
		fail_msg("%s", p.why.text);
	end(&p);
}

/* What no person asked for restores only what is as we left it, or is restored already. */
static void test_ours_only(void **state)
{
	uint8_t data[IBCC_CC_DATA_BYTES], now[IBCC_CC_DATA_BYTES];
	struct profiles p;

	(void)state;
	for (unsigned int by_change = 0; by_change < 2; by_change++) {
		begin(&p);
		reverse(&p);
		p.plan.ours_only = true;
		p.plan.back = !by_change;
		for (unsigned int i = 0; i < 3; i++)
			p.plan.change[i].back = by_change;
		get(&p, 1, data);
		data[8] ^= 1;
		set(&p, 1, data);
		set(&p, 2, p.plan.change[2].new_data);
		assert_int_equal(apply(&p), -EIO);
		assert_port(&p, 0, true);
		get(&p, 1, now);
		assert_memory_equal(now, data, sizeof(now));
		assert_int_equal(p.r.change[1].err, IBCC_CHANGE_OTHER_WRITER);
		assert_int_equal(p.r.change[2].outcome, IBCC_OUTCOME_VERIFIED);
		if (!strstr(p.why.text, "port 1, PortProfileSettings: another program"))
			fail_msg("%s", p.why.text);
		end(&p);
	}
}

static void test_key(void **state)
{
	struct ibcc_cc_key_info key = { .CC_Key = 0x5afe };
	struct profiles p;

	(void)state;
	begin(&p);
	/* Anyone may read: the protect bit is off. */
	memset(&p.x.f.mad, 0, sizeof(p.x.f.mad));
	ibcc_cc_key_info_pack(p.x.f.mad.b, &key);
	assert_int_equal(agents_send(&p.x.f, LUSTRE_SW2, 0x21, 2, 2, 0x12, 0), 0);
	assert_left_out(&p, IBCC_CHANGE_OTHER_KEY, 2, "another CC_Key");
	p.plan.change[2].cc_key = 0x5afe;
	memcpy(p.plan.change[0].old_data, p.plan.change[0].new_data, IBCC_CC_DATA_BYTES);
	memcpy(p.plan.change[1].old_data, p.plan.change[1].new_data, IBCC_CC_DATA_BYTES);
	assert_int_equal(apply(&p), 0);
	end(&p);
}

/* What is no setting is not sent, whatever a plan has: the control itself, SLs, adapters, PPCC. */
static void test_never(void **state)
{
	static const uint16_t attrs[] = { 0xff00, 0xff08, 0xff10, 0xff20, 0xff21,
					  0xff22, 0xff23, 0xff24, 0xff25, 0xff26 };
	struct profiles p;

	(void)state;
	begin(&p);
	for (unsigned int i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
		p.plan.n = 1;
		p.plan.change[0].attr_id = attrs[i];
		for (int back = 0; back < 2; back++) {
			p.plan.back = back;
			assert_int_equal(apply(&p), -EIO);
			assert_int_equal(p.x.line.n_sets, 0);
			assert_int_equal(p.r.change[0].err, IBCC_CHANGE_BEYOND_BOUNDS);
		}
	}
	p.plan.n = 3;
	end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_one_first),
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_behind_one_that_goes_back),
		cmocka_unit_test(test_other_writer),
		cmocka_unit_test(test_other_bits_on_the_way_back),
		cmocka_unit_test(test_one_port_stays),
		cmocka_unit_test(test_one_port_fails),
		cmocka_unit_test(test_unread_on_the_way_back),
		cmocka_unit_test(test_ours_only),
		cmocka_unit_test(test_key),
		cmocka_unit_test(test_never),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
