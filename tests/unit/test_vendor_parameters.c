/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which nodes are asked for the parameters of NVIDIA's congestion control, and what stays unread.
 */
#include "tests/unit/vendors.h"

static void read_parameters(struct fixture *x, struct ibcc_vendor_parameters *p)
{
	memset(x->line.n, 0, sizeof(x->line.n));
	assert_int_equal(ibcc_vendor_ask_parameters(&x->line.base, x->f.topo, 0, &x->v, NULL, p),
			 0);
	assert_int_equal(x->line.n_sets, 0);
}

/* Two attributes of each adapter and of each linked port of a switch, with Gets alone; and nothing
 * of nodes that have not said whether their control is on.
 */
static void test_parameters(void **state)
{
	struct ibcc_vendor_parameters p;
	const struct ibcc_vcc_field *field;
	unsigned int n;
	struct fixture x;

	(void)state;
	open_fixture(&x);
	read_parameters(&x, &p);
	assert_int_equal(p.n, 0);
	assert_int_equal(x.line.n[0x21], 0);
	give_all(&x, IBCC_NVIDIA_CC_OFF);
	assert_int_equal(ibcc_agents_set_ai_rate(x.f.agents, LUSTRE_SRC2, 40), 0);
	ask(&x, 0);
	read_parameters(&x, &p);
	assert_int_equal(x.line.n[0x21], 2 * (6 + 8)); /* adapters, and ends of links at switches */
	assert_int_equal(p.n, 2 * (6 + 8));
	field = ibcc_vcc_fields(0xff21, &n);
	for (uint32_t i = 0; i < p.n; i++) {
		const struct ibcc_vendor_answer *a = &p.answer[i];
		bool odd = a->endport == agents_endport(&x.f, LUSTRE_SRC2);

		assert_true(!i || a[-1].endport < a->endport || a[-1].port < a->port ||
			    a[-1].attr_id < a->attr_id);
		assert_int_equal(a->port != 0, a->attr_id < 0xff20);
		if (a->attr_id == 0xff21)
			assert_int_equal(ibcc_vcc_field_get(a->data, &field[6]), odd ? 40 : 5);
	}
	ibcc_vendor_parameters_fini(&p);
	assert_int_equal(p.n, 0);
	close_fixture(&x);
}

/* Answers become settings: profiles with all their bits, which of them SLs use, and how adapters
 * react.
 */
static void test_take(void **state)
{
	struct ibcc_vendor_parameters p;
	struct ibcc_settings s;
	struct fixture x;

	(void)state;
	open_fixture(&x);
	give_all(&x, IBCC_NVIDIA_CC_ON);
	memset(&x.f.mad, 0x5a, sizeof(x.f.mad));
	memset(x.f.mad.b + MAD_DATA, 0, 4); /* mode fixed */
	assert_int_equal(agents_send(&x.f, LUSTRE_SW2, 0x21, 2, 2, 0xff09, 2), 0);
	ask(&x, 0);
	read_parameters(&x, &p);
	assert_int_equal(ibcc_settings_init(&s, x.f.topo), 0);
	x.v.ep[agents_endport(&x.f, LUSTRE_SW2)].buffer_bytes = 4711;
	for (uint32_t i = 0; i < p.n; i++)
		assert_int_equal(ibcc_vendor_take(&x.v, x.f.topo, &p.answer[i], &s), 0);
	for (uint32_t i = 0; i < s.n; i++) {
		const struct ibcc_endport_cc *ep = &s.ep[i];
		bool sw = i == agents_endport(&x.f, LUSTRE_SW1) ||
			  i == agents_endport(&x.f, LUSTRE_SW2);

		assert_int_equal(ep->n_profile, sw ? 9 : 0);
		assert_int_equal(ep->rp_known, !sw);
		assert_int_equal(ep->rp.rpg_ai_rate_mbps, sw ? 0 : 5);
		if (i != agents_endport(&x.f, LUSTRE_SW2))
			continue;
		assert_int_equal(ep->buffer_bytes, 4711);
		assert_false(ep->profile[0].known);
		assert_false(ep->profile[3].known); /* it has no link */
		assert_true(ep->profile[1].known);
		assert_int_equal(ep->profile[1].used, 1);
		assert_true(ep->profile[2].known);
		assert_int_equal(ep->profile[2].data[3], 0);
		assert_int_equal(ep->profile[2].data[4], 0x5a);
		assert_int_equal(ep->profile[2].data[63], 0x5a);
	}
	ibcc_settings_fini(&s);
	ibcc_vendor_parameters_fini(&p);
	close_fixture(&x);
}

/* A type of which the first three are silent, or know no such attribute, costs them two questions
 * each.
 */
static void test_parameter_canaries(void **state)
{
	struct ibcc_vendor_parameters p;
	struct fixture x;

	(void)state;
	open_fixture(&x);
	give_all(&x, IBCC_NVIDIA_CC_OFF);
	ask(&x, 0);
	for (int deaf = 0; deaf < 2; deaf++) {
		x.line.deaf[0x21] = deaf;
		if (!deaf)
			give_all(&x, IBCC_NVIDIA_CC_NONE);
		read_parameters(&x, &p);
		assert_int_equal(p.n, 0);
		assert_int_equal(x.line.n[0x21], 2 * (3 + 2)); /* three adapters, all switches */
		assert_int_equal(p.n_unread, 4);
		for (uint32_t i = 0; i < p.n_unread; i++) {
			const struct ibcc_vendor_unread *u = &p.unread[i];
			uint32_t n_asked = u->attr_id < 0xff20 ? 2 : 3;

			assert_int_equal(u->n, u->attr_id < 0xff20 ? 8 : 6);
			assert_int_equal(deaf ? u->n_silent : u->n_refused, n_asked);
			assert_int_equal(u->n_silent + u->n_refused, n_asked);
			assert_int_equal(u->n_spared, u->n - n_asked);
		}
		ibcc_vendor_parameters_fini(&p);
	}
	close_fixture(&x);
}

/* One node of a type that is down hides nothing of the others, and is counted. */
static void test_lost_canary(void **state)
{
	struct ibcc_vendor_parameters p;
	struct fixture x;

	(void)state;
	open_fixture(&x);
	give_all(&x, IBCC_NVIDIA_CC_OFF);
	ask(&x, 0);
	x.line.lost[x.f.topo->port[x.f.topo->endport[agents_endport(&x.f, LUSTRE_SRC1)]].lid] =
		true;
	x.line.lost[x.f.topo->port[x.f.topo->endport[agents_endport(&x.f, LUSTRE_SW1)]].lid] = true;
	read_parameters(&x, &p);
	for (uint32_t i = 0; i < p.n; i++) {
		assert_int_not_equal(p.answer[i].endport, agents_endport(&x.f, LUSTRE_SRC1));
		assert_int_not_equal(p.answer[i].endport, agents_endport(&x.f, LUSTRE_SW1));
	}
	assert_int_equal(p.n_unread, 4);
	for (uint32_t i = 0; i < p.n_unread; i++) {
		const struct ibcc_vendor_unread *u = &p.unread[i];

		assert_int_equal(u->n_refused + u->n_spared, 0);
		assert_int_equal(u->n_silent, u->attr_id < 0xff20 ? 5 : 1);
	}
	ibcc_vendor_parameters_fini(&p);
	close_fixture(&x);
}

/* Only those that are wanted are asked, though none before them answers. */
static void test_some_parameters(void **state)
{
	struct ibcc_vendor_parameters p;
	struct fixture x;
	bool *which;

	(void)state;
	open_fixture(&x);
	give_all(&x, IBCC_NVIDIA_CC_OFF);
	ask(&x, 0);
	which = calloc(x.f.topo->n_endports, sizeof(*which));
	which[agents_endport(&x.f, LUSTRE_SRC4)] = true;
	memset(x.line.n, 0, sizeof(x.line.n));
	assert_int_equal(ibcc_vendor_ask_parameters(&x.line.base, x.f.topo, 0, &x.v, which, &p), 0);
	assert_int_equal(x.line.n[0x21], 2);
	assert_int_equal(p.n, 2);
	assert_int_equal(p.answer[0].endport, agents_endport(&x.f, LUSTRE_SRC4));
	assert_int_equal(p.n_unread, 0);
	ibcc_vendor_parameters_fini(&p);
	free(which);
	close_fixture(&x);
}

/* What was not reached by the deadline is counted as that, in the first round and in the second. */
static void test_parameters_late(void **state)
{
	struct ibcc_vendor_parameters p;
	struct fixture x;

	(void)state;
	open_fixture(&x);
	give_all(&x, IBCC_NVIDIA_CC_OFF);
	ask(&x, 0);
	x.line.mad_ns = 10;
	for (unsigned int reached = 0; reached <= 12; reached += 12) {
		uint32_t late = 0;

		x.line.base.deadline_ns = x.line.now_ns + 10 * reached + 1;
		read_parameters(&x, &p);
		assert_int_equal(x.line.n[0x21], reached + 1);
		assert_int_equal(p.n, reached + 1);
		for (uint32_t i = 0; i < p.n_unread; i++) {
			assert_int_equal(p.unread[i].n_silent + p.unread[i].n_spared, 0);
			late += p.unread[i].n_late;
		}
		assert_int_equal(late, 2 * (6 + 8) - p.n);
		ibcc_vendor_parameters_fini(&p);
	}
	close_fixture(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parameters),         cmocka_unit_test(test_take),
		cmocka_unit_test(test_parameter_canaries), cmocka_unit_test(test_lost_canary),
		cmocka_unit_test(test_some_parameters),    cmocka_unit_test(test_parameters_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
