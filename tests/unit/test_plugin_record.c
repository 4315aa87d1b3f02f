/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the plugin keeps of what clients had written: what is a way back, what is left, with which
 * key. */
#include "fabrics.h"

#include "plans.h"

#include "opensm-plugin/record.h"

#define CA IBCC_CC_ATTR_CA_SETTING

/* A setting by which an adapter reacts; 0: one by which it does not. */
static void setting(uint8_t *data, uint8_t timer)
{
	struct ibcc_cc_ca_setting ca = { .Control_Map = 0xffff };
	uint8_t mad[IBCC_MAD_BYTES] = { 0 };

	for (unsigned int sl = 0; sl < IBCC_CC_SLS && timer; sl++)
		ca.sl[sl] = (struct ibcc_cc_ca_entry){ timer, 1, 1, 0 };
	ibcc_cc_ca_setting_pack(mad, &ca);
	memcpy(data, mad + IBCC_MAD_DATA_OFFS, IBCC_CC_DATA_BYTES);
}

static uint16_t timer_of(const struct ibcc_change *c)
{
	struct ibcc_cc_ca_setting ca;
	uint8_t mad[IBCC_MAD_BYTES] = { 0 };

	memcpy(mad + IBCC_MAD_DATA_OFFS, c->new_data, IBCC_CC_DATA_BYTES);
	ibcc_cc_ca_setting_unpack(mad, &ca);
	return ca.sl[0].CCTI_Timer;
}

static void add(struct ibcc_plan *p, uint64_t guid, uint8_t from, uint8_t to)
{
	struct ibcc_change c = { .node_guid = guid, .lid = 7, .port = 1, .attr_id = CA };

	setting(c.old_data, from);
	setting(c.new_data, to);
	assert_int_equal(ibcc_plan_append(p, &c), 0);
}

static struct ibcc_plan plan_of(const struct ibcc_topo *t, uint32_t node, uint8_t from, uint8_t to)
{
	struct ibcc_plan p = { 0 };

	add(&p, t->node[node].guid, from, to);
	return p;
}

static void note(struct ibcc_record *d, struct ibcc_plan *p, enum ibcc_outcome outcome)
{
	struct ibcc_result r;

	assert_int_equal(ibcc_result_init(&r, p->n), 0);
	for (uint32_t i = 0; i < p->n; i++)
		r.change[i].outcome = outcome;
	ibcc_record_note(d, p, &r, 4711);
	ibcc_result_fini(&r);
	ibcc_plan_fini(p);
}

static void write_at(struct ibcc_record *d, const struct ibcc_topo *t, uint32_t node, uint8_t from,
		     uint8_t to)
{
	struct ibcc_plan p = plan_of(t, node, from, to);

	note(d, &p, IBCC_OUTCOME_VERIFIED);
}

static void test_what(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_record d = { 0 };
	struct ibcc_plan p;

	(void)state;
	t->generation = 7;
	write_at(&d, t, LUSTRE_SRC1, 1, 2);
	write_at(&d, t, LUSTRE_SRC2, 11, 12);
	write_at(&d, t, LUSTRE_SRC1, 2, 3);
	p = plan_of(t, LUSTRE_SRC3, 21, 22);
	note(&d, &p, IBCC_OUTCOME_SKIPPED);
	p = plan_of(t, LUSTRE_SRC4, 31, 32);
	note(&d, &p, IBCC_OUTCOME_FAILED); /* it may be there */
	/* One of them is back. */
	write_at(&d, t, LUSTRE_SRC2, 12, 11);

	assert_int_equal(ibcc_record_plan(&d, t, &p), 0);
	assert_int_equal(p.generation, 7);
	assert_int_equal(p.n, 2);
	assert_int_equal(d.cc_key, 4711);
	for (uint32_t i = 0; i < 2; i++) {
		bool first = p.change[i].node_guid == t->node[LUSTRE_SRC1].guid;
		uint32_t node = first ? LUSTRE_SRC1 : LUSTRE_SRC4;

		assert_int_equal(p.change[i].node_guid, t->node[node].guid);
		assert_int_equal(timer_of(&p.change[i]), first ? 1 : 31);
		assert_int_equal(p.change[i].lid, t->port[t->node[node].first_port + 1].lid);
	}
	/* It is our own plan now, and then nothing is left. */
	note(&d, &p, IBCC_OUTCOME_VERIFIED);
	assert_int_equal(d.left.n, 0);
	ibcc_record_fini(&d);
	ibcc_topo_free(t);
}

/* Nodes with keys of their own get what is taken off with those, whichever plan came last. */
static void test_keys(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_record d = { 0 };
	const uint64_t want[] = { 0xa1, 0xb2, 4711 };
	const uint32_t nodes[] = { LUSTRE_SRC1, LUSTRE_SRC2, LUSTRE_SRC3 };
	struct ibcc_plan p;

	(void)state;
	for (uint32_t i = 3; i-- > 0;) {
		p = plan_of(t, nodes[i], 1, 2);
		p.change[0].cc_key = i < 2 ? 0xa1 + 0x10 * i : 0;
		note(&d, &p, IBCC_OUTCOME_VERIFIED);
	}
	/* One is given another. */
	p = plan_of(t, LUSTRE_SRC2, 0, 0);
	p.change[0].attr_id = IBCC_CC_ATTR_KEY_INFO;
	memset(p.change[0].new_data, 0, sizeof(p.change[0].new_data));
	p.change[0].cc_key = 0xb1;
	p.change[0].new_data[7] = 0xb2;
	note(&d, &p, IBCC_OUTCOME_VERIFIED);
	assert_int_equal(ibcc_record_plan(&d, t, &p), 0);
	assert_int_equal(p.n, 3);
	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t k = 0; k < 3; k++)
			if (p.change[i].node_guid == t->node[nodes[k]].guid)
				assert_int_equal(p.change[i].cc_key, want[k]);
	ibcc_plan_fini(&p);
	ibcc_record_fini(&d);
	ibcc_topo_free(t);
}

/* Whatever a client says of its plan: only what was there before, or nothing at all, is a way back,
 * and each attribute goes back once.
 */
static void test_way_back(void **state)
{
	static const struct {
		uint8_t to;
		bool back;
	} cases[] = { { 10, true }, { 10, false }, { 0, true }, { 12, false }, { 9, false } };
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_record d = { 0 };
	struct ibcc_plan p;

	(void)state;
	p = plan_of(t, LUSTRE_SRC1, 10, 10);
	p.back = true;
	assert_int_equal(ibcc_record_mark(&d, &p), 0);
	assert_false(p.back);
	assert_false(p.change[0].back); /* nothing was written that could be put back */
	ibcc_plan_fini(&p);
	write_at(&d, t, LUSTRE_SRC1, 10, 11);
	write_at(&d, t, LUSTRE_SRC1, 11, 12);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		p = plan_of(t, LUSTRE_SRC1, 12, cases[i].to);
		p.back = true;
		if (i == 1) /* the second of the same */
			add(&p, t->node[LUSTRE_SRC1].guid, 12, cases[i].to);
		assert_int_equal(ibcc_record_mark(&d, &p), 0);
		assert_int_equal(p.change[p.n - 1].back, cases[i].back);
		ibcc_plan_fini(&p);
	}
	/* What harms, sent as if it were a way back, is noted as any other. */
	p = plan_of(t, LUSTRE_SRC2, 21, 200);
	p.back = true;
	note(&d, &p, IBCC_OUTCOME_VERIFIED);
	assert_int_equal(d.left.n, 2);
	/* A way back that is not certain to be there stays to be done. */
	p = plan_of(t, LUSTRE_SRC2, 200, 21);
	note(&d, &p, IBCC_OUTCOME_FAILED);
	assert_int_equal(d.left.n, 2);
	write_at(&d, t, LUSTRE_SRC2, 200, 0);
	write_at(&d, t, LUSTRE_SRC1, 12, 10);
	assert_int_equal(d.left.n, 0);
	p = plan_of(t, LUSTRE_SRC1, 12, 10);
	assert_int_equal(ibcc_record_mark(&d, &p), 0);
	assert_false(p.change[0].back); /* it is there already */
	ibcc_plan_fini(&p);
	ibcc_record_fini(&d);
	ibcc_topo_free(t);
}

static void test_gone_node(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_record d = { 0 };
	struct ibcc_plan p = { 0 };

	(void)state;
	add(&p, 0x4711, 1, 2);
	note(&d, &p, IBCC_OUTCOME_VERIFIED);
	assert_int_equal(ibcc_record_plan(&d, t, &p), 0);
	assert_int_equal(p.n, 0);
	ibcc_plan_fini(&p);
	ibcc_record_fini(&d);
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_way_back),
		cmocka_unit_test(test_what),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_gone_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
