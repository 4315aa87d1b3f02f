/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What other ways would do about a congested port: the two-level tree of 4-port switches, whose
 * leaves (8 to 11) have ports 3 and 4 up, what is for adapter d going by 3 + d % 2.
 */
#include <ibcc/ways.h>

#include "tests/unit/traffic.h"

#define LEAF 8u
#define ROOT 12u

struct fixture {
	struct ibcc_topo *t;
	struct traffic tr;
	struct ibcc_root root;
	struct ibcc_estimate p;
	struct ibcc_vendor v;
	struct ibcc_why text;
};

static int setup(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	f.t = fabric_tree2(4);
	traffic_init(&f.tr, f.t);
	f.p.root = &f.root;
	f.p.n_roots = 1;
	traffic_pass(&f.tr);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	ibcc_snapshot_fini(&f->tr.s);
	ibcc_topo_free(f->t);
	return 0;
}

/* The answer for a port of a switch, while it and another one send so much. */
static enum ibcc_ways ways(struct fixture *f, uint32_t node, unsigned int num, uint32_t mbps_3,
			   uint32_t mbps_4, uint32_t *other)
{
	enum ibcc_ways w;

	traffic_at(&f->tr, node, 3)->mbps = mbps_3;
	traffic_at(&f->tr, node, 4)->mbps = mbps_4;
	traffic_pass(&f->tr);
	f->root.port = fabric_port(f->t, node, num);
	w = ibcc_ways_of(f->t, &f->tr.s, f->root.port, other);
	ibcc_ways_text(f->t, &f->tr.s, &f->p, &f->v, &f->text);
	return w;
}

static bool says(const struct fixture *f, const char *what)
{
	return strstr(f->text.text, what) != NULL;
}

static void test_collision(void **state)
{
	struct fixture *f = *state;
	uint32_t other;

	assert_int_equal(ways(f, LEAF, 3, 32000, 3000, &other), IBCC_WAYS_FREE);
	assert_int_equal(other, fabric_port(f->t, LEAF, 4));
	assert_true(says(f, "path collision: multipath routing helps if the hosts accept packets "
			    "out of order"));
	assert_true(says(f, "leaf0 port 3"));
	assert_true(says(f, "leaf0 port 4"));
	assert_int_equal(ways(f, LEAF, 4, 3000, 32000, &other), IBCC_WAYS_FREE);
	assert_int_equal(other, fabric_port(f->t, LEAF, 3));
	/* The other one has no room either, or is not known to. */
	assert_int_equal(ways(f, LEAF, 3, 32000, 17000, &other), IBCC_WAYS_UNKNOWN);
	assert_string_equal(f->text.text, "");
	traffic_at(&f->tr, LEAF, 4)->silent = true;
	assert_int_equal(ways(f, LEAF, 3, 32000, 3000, &other), IBCC_WAYS_UNKNOWN);
	assert_int_equal(other, IBCC_NONE);
}

static void test_endpoint(void **state)
{
	struct fixture *f = *state;
	uint32_t other;

	assert_int_equal(ways(f, LEAF, 1, 32000, 0, &other), IBCC_WAYS_ENDPOINT);
	assert_true(says(f, "endpoint congestion: congestion control helps, other paths do not"));
	assert_true(says(f, "leaf0 port 1"));
	/* From a root switch down, there is one way to a leaf, whatever else is idle. */
	assert_int_equal(ways(f, ROOT, 1, 0, 0, &other), IBCC_WAYS_UNKNOWN);
	assert_string_equal(f->text.text, "");
	f->p.n_roots = 0;
	assert_int_equal(ways(f, LEAF, 1, 32000, 0, &other), IBCC_WAYS_ENDPOINT);
	assert_string_equal(f->text.text, "");
}

/* A way that the tables do not have, or only a longer one, is none. */
static void test_tables(void **state)
{
	static const uint8_t nowhere[20] = { 0 };
	struct fixture *f = *state;
	uint32_t other;

	assert_int_equal(ibcc_topo_set_lft(f->t, ROOT + 1, nowhere, sizeof(nowhere)), 0);
	assert_int_equal(ways(f, LEAF, 3, 32000, 0, &other), IBCC_WAYS_UNKNOWN);
	assert_int_equal(ibcc_topo_set_lft(f->t, ROOT + 1, NULL, 0), 0);
	assert_int_equal(ways(f, LEAF, 3, 32000, 0, &other), IBCC_WAYS_UNKNOWN);
}

static void test_adaptive(void **state)
{
	struct fixture *f = *state;
	uint32_t other;

	f->v.n_loose = 2;
	f->v.loose_sls = 1u << 3 | 1u << 5;
	ways(f, LEAF, 1, 32000, 0, &other);
	assert_true(says(f, "endpoint congestion: congestion control helps, other paths do not"));
	assert_true(says(f, "; reordering on RC endpoints: take this SL out of adaptive routing "
			    "(SL 3, 5), unless"));
	/* All have several ways: it is not the tables that collide. */
	f->v.loose_sls = UINT16_MAX;
	ways(f, LEAF, 3, 32000, 0, &other);
	assert_false(says(f, "collision"));
	assert_true(says(f, "reordering on RC endpoints: take this SL out of adaptive routing "
			    "(all SLs)"));
	assert_true(strlen(f->text.text) + 1 < sizeof(f->text.text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_collision, setup, teardown),
		cmocka_unit_test_setup_teardown(test_endpoint, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tables, setup, teardown),
		cmocka_unit_test_setup_teardown(test_adaptive, setup, teardown),
	};

	return cmocka_run_group_tests_name("ways", tests, NULL, NULL);
}
