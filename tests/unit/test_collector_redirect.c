/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Nodes that have their counters asked for at another QP (IBA vol. 1, 13.4.8.1). */
#include "tests/unit/collectors.h"

static struct fake_node *node_of(struct fixture *x, uint32_t node, unsigned int num)
{
	return &x->f->node[x->t->port[fabric_port(x->t, node, num)].endport];
}

static void redirect(struct fixture *x, uint32_t node, unsigned int num, uint32_t qp)
{
	struct fake_node *n = node_of(x, node, num);

	n->redirect_lid = x->t->port[fabric_port(x->t, node, num)].lid;
	n->redirect_qp = qp;
	n->redirect_key = IBCC_GSI_Q_KEY;
}

static void test_followed(void **state)
{
	struct fixture x = setup();
	char text[256];

	(void)state;
	redirect(&x, LUSTRE_SRC1, 1, 77);
	redirect(&x, LUSTRE_SW2, 0, 99);
	pass(&x);
	fake_sleep(x.f, 100 * MS);
	pass(&x);
	assert_rates(&x, LUSTRE_PORTS, 1);
	ibcc_collector_redirect_say(x.c, x.t, LUSTRE_SRC1, text, sizeof(text));
	assert_non_null(strstr(text, "the daemon reads the counters of src1 at LID "));
	assert_non_null(strstr(text, ", QP 77, "));
	ibcc_collector_redirect_say(x.c, x.t, LUSTRE_SRC2, text, sizeof(text));
	assert_string_equal(text, "");
	teardown(&x);
}

/* What clears a counter goes where the counter is read. */
static void test_cleared(void **state)
{
	struct fixture x = setup();
	const uint32_t full[] = { fabric_port(x.t, LUSTRE_SRC1, 1),
				  fabric_port(x.t, LUSTRE_SW2, 2) };
	uint32_t n = 0;

	(void)state;
	redirect(&x, LUSTRE_SRC1, 1, 77);
	redirect(&x, LUSTRE_SW2, 0, 99);
	pass(&x);
	fake_sleep(x.f, 100 * MS);
	pass(&x);
	for (int i = 0; i < 2; i++) {
		x.s.port[full[i]].now.v[IBCC_CTR_XMIT_WAIT] = UINT64_C(1) << 31;
		x.s.port[full[i]].now.width[IBCC_CTR_XMIT_WAIT] = 32;
	}
	assert_int_equal(ibcc_collector_clear_full(x.c, x.tr, x.t, &x.s, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(x.s.port[full[1]].now.v[IBCC_CTR_XMIT_WAIT], 0);
	teardown(&x);
}

/* One that redirects later on misses a pass. */
static void test_later(void **state)
{
	struct fixture x = setup();

	(void)state;
	pass(&x);
	redirect(&x, LUSTRE_SRC1, 1, 77);
	fake_sleep(x.f, 100 * MS);
	pass(&x);
	assert_int_equal(sample(&x, LUSTRE_SRC1, 1)->state, IBCC_SAMPLE_STALE);
	fake_sleep(x.f, 100 * MS);
	pass(&x);
	assert_rates(&x, LUSTRE_PORTS, 1);
	/* And no longer. */
	node_of(&x, LUSTRE_SRC1, 1)->redirect_qp = 0;
	node_of(&x, LUSTRE_SRC1, 1)->redirect_lid = 0;
	fake_sleep(x.f, 100 * MS);
	pass(&x);
	assert_rates(&x, LUSTRE_PORTS, 1);
	teardown(&x);
}

/* What cannot be reached is said, and the others go on. */
static void test_nowhere(void **state)
{
	struct fixture x = setup();
	char text[256];

	(void)state;
	redirect(&x, LUSTRE_SRC1, 1, 77);
	node_of(&x, LUSTRE_SRC1, 1)->redirect_lid = 0;
	node_of(&x, LUSTRE_SRC1, 1)->redirect_gid = true;
	redirect(&x, LUSTRE_SRC2, 1, 77);
	node_of(&x, LUSTRE_SRC2, 1)->redirect_lid = 0xc001;
	for (int i = 0; i < 3; i++) {
		pass(&x);
		fake_sleep(x.f, 100 * MS);
	}
	assert_int_equal(x.s.n_fresh, LUSTRE_PORTS - 2);
	ibcc_collector_redirect_say(x.c, x.t, LUSTRE_SRC1, text, sizeof(text));
	assert_non_null(strstr(text, "src1 redirects requests for its counters to an address that "
				     "ibcc-tune does not use (a GID without a LID)"));
	ibcc_collector_redirect_say(x.c, x.t, LUSTRE_SRC2, text, sizeof(text));
	assert_non_null(strstr(text, "(no unicast LID)"));
	teardown(&x);
}

/* An answer does not choose the node that we send to, or clear: each node speaks for itself. */
static void test_elsewhere(void **state)
{
	static const char *const words[] = {
		"(a LID of another node)", "(a LID that no known port has)",
		"(a Q_Key that the daemon may not use (only 0x80010000))"
	};
	struct fixture x = setup();
	uint32_t full = fabric_port(x.t, LUSTRE_SRC1, 1), n = 0;
	struct fake_node *victim = node_of(&x, LUSTRE_FAST, 1);
	char text[256];

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		redirect(&x, LUSTRE_SRC1 + i, 1, 77);
		victim->redirect_qp = 77; /* it would answer there */
	}
	node_of(&x, LUSTRE_SRC1, 1)->redirect_lid = x.t->port[fabric_port(x.t, LUSTRE_FAST, 1)].lid;
	node_of(&x, LUSTRE_SRC2, 1)->redirect_lid = 0xbff0;
	node_of(&x, LUSTRE_SRC3, 1)->redirect_key = 0x4711;
	pass(&x);
	fake_sleep(x.f, 100 * MS);
	pass(&x);
	for (unsigned int i = 0; i < 3; i++) {
		ibcc_collector_redirect_say(x.c, x.t, LUSTRE_SRC1 + i, text, sizeof(text));
		if (!strstr(text, words[i]))
			fail_msg("%s", text);
	}
	/* Nor is anything cleared there. */
	x.s.port[full].state = IBCC_SAMPLE_FRESH;
	x.s.port[full].now.v[IBCC_CTR_XMIT_WAIT] = UINT64_C(1) << 31;
	x.s.port[full].now.width[IBCC_CTR_XMIT_WAIT] = 32;
	ibcc_collector_clear_full(x.c, x.tr, x.t, &x.s, &n);
	assert_int_equal(n, 0); /* it answers at QP 77 alone */
	teardown(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_followed),  cmocka_unit_test(test_cleared),
		cmocka_unit_test(test_later),     cmocka_unit_test(test_nowhere),
		cmocka_unit_test(test_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
