/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is remembered from pass to pass: contributors, by BECN counts that fade, and loads. The
 * Lustre fabric, whose slow receiver's port marks; expected values by arithmetic.
 */
#include "estimates.h"

static struct traffic_port *src(struct fixture *f, unsigned int i)
{
	return traffic_at(&f->tr, LUSTRE_SRC1 + i, 1);
}

/* A pass in which src1 to src4 get so many BECNs. */
static const struct ibcc_root *becns(struct fixture *f, uint32_t a, uint32_t b, uint32_t c,
				     uint32_t d)
{
	const uint32_t n[] = { a, b, c, d };

	for (unsigned int i = 0; i < 4; i++)
		src(f, i)->becn = n[i];
	pass(f);
	return at(f, fabric_port(f->t, LUSTRE_SW2, 1));
}

/* A quarter fades in a pass: 100 + 75 + 56.25. Four marks among the four that contribute or suffer
 * are few: no more than 4 / 32 fade.
 */
static void test_fades(void **state)
{
	struct fixture *f = *state;
	struct ibcc_estimator_params p;
	const struct ibcc_root *r;
	uint32_t sent;

	becns(f, 100, 100, 40, 0);
	becns(f, 100, 100, 40, 0);
	r = becns(f, 100, 100, 40, 0);
	assert_about(r->becns[endport_of(f, LUSTRE_SRC1)], 231.25);
	assert_about(r->becns[endport_of(f, LUSTRE_SRC3)], 92.5);
	assert_int_equal(r->n_marked, 3);
	/* With other limits it starts from nothing, and the last estimate stays whole until it
	 * does.
	 */
	ibcc_estimator_defaults(&p);
	sent = f->e.load[endport_of(f, LUSTRE_SRC1)].mbps;
	assert_true(sent > 0);
	ibcc_estimator_retune(f->m, &p);
	assert_int_equal(f->e.load[endport_of(f, LUSTRE_SRC1)].mbps, sent);
	becns(f, 2, 2, 0, 0);
	r = becns(f, 2, 2, 0, 0);
	assert_about(r->becns[endport_of(f, LUSTRE_SRC1)], 3.75);
	assert_int_equal(r->n_marked, 0);
	/* Nothing new, nothing fades. */
	becns(f, 0, 0, 0, 0);
	r = becns(f, 0, 0, 0, 0);
	assert_about(r->becns[endport_of(f, LUSTRE_SRC1)], 3.75);
}

/* A node that tells more BECNs than packets is not doubted yet when that is seen first: its count
 * stays as it is.
 */
static void test_impossible(void **state)
{
	struct fixture *f = *state;
	uint32_t port = fabric_port(f->t, LUSTRE_SRC3, 1), root = fabric_port(f->t, LUSTRE_SW2, 1);

	becns(f, 100, 100, 40, 0);
	src(f, 2)->becn = 100000;
	traffic_pass(&f->tr);
	f->tr.s.port[port].trust.becn.finding.run = 1;
	look(f);
	assert_about(at(f, root)->becns[endport_of(f, LUSTRE_SRC3)], 40);
	assert_about(at(f, root)->becns[endport_of(f, LUSTRE_SRC1)], 175);
	assert_int_equal(at(f, root)->n_marked, 3);
}

/* A silent node keeps its count, 100 + 75 + ..., while the others' go on; then it tells what
 * came in four intervals, of which one counts.
 */
static void test_missing(void **state)
{
	struct fixture *f = *state;
	const struct ibcc_root *r;

	becns(f, 100, 100, 40, 0);
	becns(f, 100, 100, 40, 0);
	src(f, 0)->silent = true;
	for (unsigned int i = 0; i < 3; i++) {
		r = becns(f, 100, 100, 40, 0);
		assert_about(r->becns[endport_of(f, LUSTRE_SRC1)], 175);
		assert_int_equal(r->n_marked, 3);
	}
	src(f, 0)->silent = false;
	r = becns(f, 100, 100, 40, 0);
	assert_about(r->becns[endport_of(f, LUSTRE_SRC1)], 231.25);
	assert_int_equal(r->source[0].becn, 100);
	assert_int_equal(f->e.becn, 240);
}

/* Passes that leave the root out count nothing: neither BECNs nor passes as a root. What they left
 * out is counted by the next one that reads the root, as one pass; all is known meanwhile.
 */
static void test_root_left_out(void **state)
{
	struct fixture *f = *state;
	uint32_t port = fabric_port(f->t, LUSTRE_SW2, 1), usable;
	bool only[256] = { false };
	const struct ibcc_root *r;

	becns(f, 100, 100, 40, 0);
	r = becns(f, 100, 100, 40, 0);
	assert_int_equal(r->interval_ns, TRAFFIC_INTERVAL_NS);
	assert_false(f->e.partial);
	usable = f->e.n_usable;
	for (uint32_t i = 0; i < f->t->n_ports; i++)
		only[i] = i != port;
	for (unsigned int i = 0; i < 3; i++) {
		traffic_pass_some(&f->tr, only);
		r = ibcc_estimate_find(look(f), port);
		assert_true(f->e.partial && f->e.trustworthy);
		assert_int_equal(f->e.n_usable, usable);
		assert_true(ibcc_estimate_sees(&f->e, r));
		assert_true(r->kept);
		assert_false(r->fresh);
		assert_int_equal(r->present, 2);
		assert_int_equal(r->n_marked, 3);
		assert_in_range(r->rate_mbps, 14950, 14960);
		assert_about(r->becns[endport_of(f, LUSTRE_SRC1)], 175);
	}
	pass(f);
	r = at(f, port);
	assert_false(r->kept);
	assert_int_equal(r->present, 3);
	assert_int_equal(r->interval_ns, 4 * TRAFFIC_INTERVAL_NS);
	assert_about(r->becns[endport_of(f, LUSTRE_SRC1)], 231.25);
}

/* A root whose port does not answer is not seen. Passes that leave it out then say nothing about
 * it, and certainly not that it is gone.
 */
static void test_silent_root_left_out(void **state)
{
	struct fixture *f = *state;
	uint32_t port = hold(f, LUSTRE_SW2, 1, IBCC_CONGESTION_OUTPUT, 14960);
	bool only[256] = { false };
	const struct ibcc_root *r;

	becns(f, 100, 100, 40, 0);
	becns(f, 100, 100, 40, 0);
	f->tr.port[port].silent = true;
	pass(f);
	r = ibcc_estimate_find(&f->e, port);
	assert_non_null(r);
	assert_false(r->kept || r->fresh || ibcc_estimate_sees(&f->e, r));
	for (uint32_t i = 0; i < f->t->n_ports; i++)
		only[i] = i != port;
	for (unsigned int i = 0; i < 3; i++) {
		traffic_pass_some(&f->tr, only);
		r = ibcc_estimate_find(look(f), port);
		assert_true(r && r->kept && !r->fresh);
	}
	pass(f);
	r = ibcc_estimate_find(&f->e, port);
	assert_false(r->kept || r->fresh);
}

/* A source that is left out keeps its count and its load while the root's other sources go on. Its
 * marks of an interval are still those that it had.
 */
static void test_source_left_out(void **state)
{
	struct fixture *f = *state;
	uint32_t port = fabric_port(f->t, LUSTRE_SW2, 1), out = fabric_port(f->t, LUSTRE_SRC1, 1);
	bool only[256] = { false };
	const struct ibcc_root *r;

	becns(f, 100, 100, 40, 0);
	becns(f, 100, 100, 40, 0);
	for (uint32_t i = 0; i < f->t->n_ports; i++)
		only[i] = i != out;
	src(f, 0)->mbps = 0;
	for (unsigned int i = 0; i < 3; i++) {
		traffic_pass_some(&f->tr, only);
		r = ibcc_estimate_find(look(f), port);
		assert_false(r->kept);
		assert_int_equal(r->present, 3 + i);
		assert_int_equal(r->source[0].becn, 100);
		assert_int_equal(r->becn, 240);
		assert_int_equal(r->n_marked, 3);
		assert_about(r->becns[endport_of(f, LUSTRE_SRC1)], 175);
		assert_in_range(f->e.load[endport_of(f, LUSTRE_SRC1)].mbps, 4980, 4990);
	}
	assert_about(r->becns[endport_of(f, LUSTRE_SRC2)],
		     100 * (1 + .75 + .75 * .75 + .421875 + .31640625));
}

/* An adapter with a fiftieth of what the second most marked one has contributes, if the first got 8
 * BECNs. The heaviest counts as its BECNs less two deviations.
 */
static void test_contributors(void **state)
{
	static const struct {
		uint32_t becn[4], n_marked, n_heavy;
	} row[] = {
		{ { 7, 7, 7, 0 }, 0, 0 },
		{ { 9, 9, 9, 0 }, 3, 3 },
		{ { 10000, 2000, 2000, 45 }, 4, 1 }, /* 14045 / 9800 */
		{ { 10000, 2000, 2000, 35 }, 3, 1 },
		{ { 100, 40, 40, 40 }, 4, 3 },     /* 220 / 80 */
		{ { 400, 100, 100, 100 }, 4, 2 },  /* 700 / 360 */
		{ { 100, 100, 100, 100 }, 4, 4 },  /* the mean is 100 */
		{ { 1000, 430, 430, 430 }, 4, 2 }, /* 2290 / 937: 2.44 */
		{ { 1000, 455, 455, 455 }, 4, 3 }, /* 2365 / 937: 2.52 */
	};
	struct fixture *f = *state;

	for (unsigned int i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		const uint32_t *b = row[i].becn;
		const struct ibcc_root *r;

		ibcc_estimator_reset(f->m);
		r = becns(f, b[0], b[1], b[2], b[3]);
		if (r->n_marked != row[i].n_marked || r->n_heavy != row[i].n_heavy)
			fail_msg("row %u: %u, %u", i, r->n_marked, r->n_heavy);
	}
}

/* A root that is none any more is known as long as it has parameters. */
static void test_known(void **state)
{
	struct fixture *f = *state;
	const struct ibcc_root *r;
	uint32_t port;

	becns(f, 100, 100, 100, 0);
	r = becns(f, 100, 100, 100, 0);
	port = r->port;
	assert_int_equal(r->present, 2);
	hold(f, LUSTRE_SW2, 1, IBCC_CONGESTION_INPUT, 15000);
	hold(f, LUSTRE_SW1, 5, IBCC_CONGESTION_OUTPUT, 15000);
	for (unsigned int i = 0; i < 4; i++)
		*src(f, i) = load(3200, 0, 0);
	f->tr.port[port] = load(12800, 20, 0);
	assert_int_equal(pass(f)->n_roots, 0);
	assert_int_equal(f->e.n_known, 2);
	r = at(f, port);
	assert_false(ibcc_estimate_sees(&f->e, r));
	assert_int_equal(r->kind, IBCC_CONGESTION_INPUT);
	assert_int_equal(r->present, 0);
	assert_true(r->fresh);
	assert_in_range(r->rate_mbps, 12790, 12800);
	assert_in_range(r->wait_permille, 19, 20);
	assert_int_equal(r->link_mbps, 32000);
	assert_int_equal(r->n_sources, 0);
	assert_int_equal(r->n_marked, 3);
	assert_about(r->becns[endport_of(f, LUSTRE_SRC1)], 175);
	assert_int_equal(at(f, fabric_port(f->t, LUSTRE_SW1, 5))->kind, IBCC_CONGESTION_OUTPUT);
	f->tr.port[port].silent = true;
	pass(f);
	assert_false(at(f, port)->fresh);
	f->tr.port[port].silent = false;
	traffic_lustre_off(&f->tr);
	assert_int_equal(becns(f, 1, 1, 1, 0)->present, 1);
	assert_int_equal(at(f, port)->n_marked, 3);
	assert_int_equal(f->e.n_known, 2);
	/* Without them it is forgotten. */
	ibcc_parameters_fini(&f->last);
	memset(f->tr.port, 0, sizeof(f->tr.port));
	assert_int_equal(pass(f)->n_known, 0);
	traffic_lustre_off(&f->tr);
	assert_int_equal(becns(f, 1, 1, 1, 0)->n_marked, 0);
}

/* Means over two passes or so; a port that is not read, or only in part, keeps its own. */
static void test_loads(void **state)
{
	struct fixture *f = *state;
	uint32_t ep = endport_of(f, LUSTRE_SRC1);
	const struct ibcc_load *l;

	*src(f, 0) = load(4000, 800, 0);
	pass(f);
	assert_int_equal(f->e.n_loads, f->t->n_endports);
	l = &f->e.load[ep];
	assert_true(l->known && l->mbps == 4000 && l->wait_permille == 800);
	assert_false(f->e.load[f->t->port[fabric_port(f->t, LUSTRE_SW1, 0)].endport].known);
	*src(f, 0) = load(8000, 400, 0);
	pass(f);
	l = &f->e.load[ep];
	assert_true(l->mbps == 6000 && l->wait_permille == 600);
	src(f, 0)->silent = true;
	pass(f);
	l = &f->e.load[ep];
	assert_true(l->known && l->mbps == 6000 && l->wait_permille == 600);
	/* Nothing is learnt from a pass that cannot be trusted. */
	src(f, 1)->silent = src(f, 2)->silent = true;
	*src(f, 3) = load(0, 0, 0);
	assert_false(pass(f)->trustworthy);
	l = &f->e.load[endport_of(f, LUSTRE_SRC4)];
	assert_in_range(l->mbps, 4980, 4987);
	ibcc_estimator_reset(f->m);
	pass(f);
	assert_false(f->e.load[ep].known);
}

/* Another topology: what was by endport is void. */
static void test_other_size(void **state)
{
	struct fixture *f = *state, *o;
	void *other;

	becns(f, 100, 100, 100, 0);
	setup_tree(&other);
	o = other;
	*traffic_at(&o->tr, 0, 1) = load(4000, 0, 0);
	pass(o);
	traffic_pass(&f->tr);
	ibcc_estimate_fini(&o->e);
	assert_int_equal(ibcc_estimator_run(o->m, f->t, &f->tr.s, NULL, NULL, &o->e), 0);
	assert_int_equal(o->e.n_loads, f->t->n_endports);
	assert_in_range(o->e.load[endport_of(f, LUSTRE_SRC1)].mbps, 4980, 4987);
	teardown(&other);
}

/* 64 to 8192 bytes by the counters, else the MTU, else 2074. */
static void test_packet_bytes(void **state)
{
	static const struct {
		uint64_t words, packets;
		uint32_t want;
	} row[] = { { 1500, 100, 64 },
		    { 1750, 100, 70 },
		    { 175000, 100, 7000 },
		    { 225000, 100, 8192 },
		    { 100, 0, 2048 } };
	struct fixture *f = *state;
	uint32_t port = fabric_port(f->t, LUSTRE_SW2, 1);
	struct ibcc_delta *d = &f->tr.s.port[port].delta;

	hold(f, LUSTRE_SW2, 1, IBCC_CONGESTION_OUTPUT, 15000);
	pass(f);
	for (unsigned int i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		d->v[IBCC_CTR_XMIT_DATA] = row[i].words;
		d->v[IBCC_CTR_XMIT_PKTS] = row[i].packets;
		look(f);
		assert_int_equal(at(f, port)->packet_bytes, row[i].want);
	}
	f->t->port[port].mtu_bytes = 0;
	look(f);
	assert_int_equal(at(f, port)->packet_bytes, 2074);
	d->v[IBCC_CTR_XMIT_PKTS] = 1;
	d->flags[IBCC_CTR_XMIT_PKTS] = 0;
	look(f);
	assert_int_equal(at(f, port)->packet_bytes, 2074);
	assert_true(at(f, port)->fresh);
	d->flags[IBCC_CTR_XMIT_DATA] = 0;
	look(f);
	assert_false(at(f, port)->fresh);
}

int main(void)
{
#define MARKED(test) cmocka_unit_test_setup_teardown(test, setup_marked, teardown)
	const struct CMUnitTest tests[] = {
		MARKED(test_fades),
		MARKED(test_impossible),
		MARKED(test_missing),
		MARKED(test_contributors),
		MARKED(test_known),
		MARKED(test_loads),
		MARKED(test_other_size),
		MARKED(test_packet_bytes),
		MARKED(test_root_left_out),
		MARKED(test_source_left_out),
		MARKED(test_silent_root_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
