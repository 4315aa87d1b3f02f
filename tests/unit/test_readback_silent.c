/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Nodes count requests without their key: a node that is silent to class 0x21 is not asked again
 * and again.
 */
#include "tests/unit/fake_fabric.h"

#include <ibcc/collect.h>

#define MINUTE_NS 60000000000ull

struct fixture {
	struct ibcc_topo *t;
	struct fake_fabric *f;
	struct ibcc_settings s;
};

static struct fixture open_fixture(void)
{
	struct fixture x = { .t = fabric_lustre() };

	x.f = fake_fabric(x.t);
	return x;
}

static void close_fixture(struct fixture *x)
{
	ibcc_settings_fini(&x->s);
	ibcc_transport_free(&x->f->base);
	ibcc_topo_free(x->t);
}

static unsigned int read_all(struct fixture *x)
{
	unsigned int before = x->f->n_class[0x21];

	assert_int_equal(ibcc_readback_run(&x->f->base, x->t, 0, &x->s), 0);
	return x->f->n_class[0x21] - before;
}

static unsigned int read_missing(struct fixture *x)
{
	unsigned int before = x->f->n_class[0x21];

	assert_int_equal(ibcc_readback_missing(&x->f->base, x->t, 0, &x->s), 0);
	return x->f->n_class[0x21] - before;
}

/* All nodes want a key that we lack: three of them hear of us, until five minutes are over. */
static void test_all_silent(void **state)
{
	struct fixture x = open_fixture();

	(void)state;
	for (uint32_t i = 0; i < x.t->n_endports; i++)
		x.f->node[i].cc_silent = true;
	assert_int_equal(read_all(&x), 3);
	for (uint32_t i = 0; i < x.s.n; i++) {
		assert_int_equal(x.s.ep[i].support, IBCC_CC_UNKNOWN);
		assert_int_equal(x.s.ep[i].err, -ETIMEDOUT);
	}
	assert_int_equal(read_missing(&x), 3);
	assert_int_equal(read_missing(&x), 3);
	assert_int_equal(read_missing(&x), 0);
	assert_int_equal(read_all(&x), 0);
	/* Other keys: once more. */
	ibcc_readback_new_keys(&x.s);
	assert_int_equal(read_missing(&x), 3);
	assert_int_equal(read_missing(&x), 0);
	x.f->now_ns += 6 * MINUTE_NS;
	for (uint32_t i = 0; i < x.t->n_endports; i++)
		x.f->node[i].cc_silent = false;
	read_missing(&x);
	for (uint32_t i = 0; i < x.s.n; i++)
		assert_int_equal(x.s.ep[i].support, IBCC_CC_SUPPORTED);
	close_fixture(&x);
}

/* One node whose peers answer. */
static void test_one_silent(void **state)
{
	struct fixture x = open_fixture();
	struct fake_node *n;
	unsigned int before;

	(void)state;
	n = &x.f->node[x.t->port[fabric_port(x.t, LUSTRE_SRC2, 1)].endport];
	n->cc_silent = true;
	read_all(&x);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(read_missing(&x), 1);
	assert_int_equal(read_missing(&x), 0);
	before = n->n_gets;
	read_all(&x);
	assert_int_equal(n->n_gets, before);
	x.f->now_ns += 6 * MINUTE_NS;
	n->cc_silent = false;
	assert_true(read_missing(&x) > 1);
	assert_int_equal(x.s.ep[x.t->port[fabric_port(x.t, LUSTRE_SRC2, 1)].endport].support,
			 IBCC_CC_SUPPORTED);
	close_fixture(&x);
}

/* One that has told before: it takes more losses in a row than three to give up on it. */
static void test_told(void **state)
{
	struct fixture x = open_fixture();
	uint32_t i = x.t->port[fabric_port(x.t, LUSTRE_SRC2, 1)].endport;

	(void)state;
	read_all(&x);
	x.f->node[i].cc_silent = true;
	read_all(&x);
	for (unsigned int k = 0; k < 9; k++)
		assert_int_equal(read_missing(&x), 1);
	assert_int_equal(read_missing(&x), 0);
	x.f->now_ns += 6 * MINUTE_NS;
	assert_int_equal(read_missing(&x), 1);
	assert_int_equal(read_missing(&x), 0);
	x.f->now_ns += 6 * MINUTE_NS;
	x.f->node[i].cc_silent = false;
	read_missing(&x);
	assert_int_equal(x.s.ep[i].support, IBCC_CC_SUPPORTED);
	close_fixture(&x);
}

/* Nodes that are not there at all say nothing about keys: the others are asked. */
static void test_dead_canaries(void **state)
{
	struct fixture x = open_fixture();

	(void)state;
	x.f->node[0].dead = true;
	read_all(&x);
	assert_int_equal(x.s.ep[0].err, -EHOSTUNREACH);
	for (uint32_t i = 1; i < x.s.n; i++)
		assert_int_equal(x.s.ep[i].support, IBCC_CC_SUPPORTED);
	/* It may come back any time. */
	x.f->node[0].dead = false;
	for (unsigned int i = 0; i < 5; i++)
		read_missing(&x);
	assert_int_equal(x.s.ep[0].support, IBCC_CC_SUPPORTED);
	close_fixture(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_silent),
		cmocka_unit_test(test_one_silent),
		cmocka_unit_test(test_told),
		cmocka_unit_test(test_dead_canaries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
