/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Snapshots: states of ports over passes, and the move to a new topology. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabrics.h"

#include <ibcc/snapshot.h>

#define MS 1000000ull

static struct ibcc_counters reading(uint64_t t_ns, uint64_t data)
{
	struct ibcc_counters c = { .t_ns = t_ns };

	c.width[IBCC_CTR_XMIT_DATA] = 64;
	c.v[IBCC_CTR_XMIT_DATA] = data;
	return c;
}

static void record(struct ibcc_snapshot *s, uint32_t port, uint64_t t_ns, uint64_t data)
{
	struct ibcc_counters c = reading(t_ns, data);

	ibcc_snapshot_record(s, port, &c, 8000);
}

/* A pass that reads one port: the others keep what they have, and do not count as stale. Their next
 * difference spans all that time.
 */
static void test_left_out(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_snapshot s;
	bool *only = calloc(t->n_ports, sizeof(*only));

	(void)state;
	assert_non_null(only);
	assert_int_equal(ibcc_snapshot_init(&s, t), 0);
	only[1] = true;
	for (uint64_t k = 1; k <= 2; k++) {
		ibcc_snapshot_begin(&s);
		record(&s, 1, 10 * k * MS, 100 * k);
		record(&s, 3, 10 * k * MS, 100 * k);
		ibcc_snapshot_miss(&s, 5, -ETIMEDOUT);
		ibcc_snapshot_end(&s, 10 * k * MS);
	}
	s.port[3].marked = s.port[1].marked = IBCC_MARKED_SOME;
	for (uint64_t k = 1; k <= 3; k++) {
		ibcc_snapshot_begin_some(&s, only);
		record(&s, 1, (20 + k) * MS, 200 + k);
		ibcc_snapshot_end(&s, (20 + k) * MS);
		assert_int_equal(s.interval_ns, MS);
		assert_int_equal(s.port[1].state, IBCC_SAMPLE_FRESH);
		assert_int_equal(s.port[1].delta.v[IBCC_CTR_XMIT_DATA], 1);
		assert_int_equal(s.port[1].marked, IBCC_MARKED_UNKNOWN);
		assert_int_equal(s.port[1].kept_ns, 0);
		assert_int_equal(s.port[3].state, IBCC_SAMPLE_KEPT);
		assert_int_equal(s.port[3].delta.v[IBCC_CTR_XMIT_DATA], 100);
		assert_int_equal(s.port[3].delta.dt_ns, 10 * MS);
		assert_int_equal(s.port[3].marked, IBCC_MARKED_SOME);
		assert_int_equal(s.port[3].kept_ns, k * MS);
		assert_int_equal(s.port[5].state, IBCC_SAMPLE_UNREACHABLE);
		assert_int_equal(s.n_fresh, 2);
		assert_int_equal(s.n_stale, 0);
		assert_int_equal(s.n_unreachable, 1);
	}
	ibcc_snapshot_begin(&s);
	record(&s, 3, 24 * MS, 600);
	ibcc_snapshot_end(&s, 24 * MS);
	assert_int_equal(s.port[3].state, IBCC_SAMPLE_FRESH);
	assert_int_equal(s.port[3].delta.v[IBCC_CTR_XMIT_DATA], 400);
	assert_int_equal(s.port[3].delta.dt_ns, 4 * MS);
	assert_int_equal(s.port[3].kept_ns, 3 * MS);
	assert_int_equal(s.port[3].marked, IBCC_MARKED_UNKNOWN);
	assert_int_equal(s.port[1].state, IBCC_SAMPLE_STALE);
	ibcc_snapshot_begin(&s);
	record(&s, 3, 25 * MS, 600);
	ibcc_snapshot_end(&s, 25 * MS);
	assert_int_equal(s.port[3].kept_ns, 0);
	/* Each time that it is left out begins at nothing. */
	for (uint64_t k = 26; k <= 30; k += 2) {
		ibcc_snapshot_begin_some(&s, only);
		record(&s, 1, k * MS, 300);
		ibcc_snapshot_end(&s, k * MS);
		assert_int_equal(s.port[3].kept_ns, MS);
		assert_true(s.port[3].left_out && !s.port[1].left_out);
		ibcc_snapshot_begin(&s);
		record(&s, 1, (k + 1) * MS, 300);
		record(&s, 3, (k + 1) * MS, 600);
		ibcc_snapshot_end(&s, (k + 1) * MS);
		assert_int_equal(s.port[3].kept_ns, MS);
	}
	/* One that did not answer is left out in the same way. */
	ibcc_snapshot_begin(&s);
	ibcc_snapshot_miss(&s, 3, -ETIMEDOUT);
	ibcc_snapshot_end(&s, 32 * MS);
	ibcc_snapshot_begin_some(&s, only);
	ibcc_snapshot_end(&s, 33 * MS);
	assert_int_equal(s.port[3].state, IBCC_SAMPLE_STALE);
	assert_true(s.port[3].left_out);
	assert_int_equal(s.port[3].kept_ns, MS);
	ibcc_snapshot_fini(&s);
	free(only);
	ibcc_topo_free(t);
}

static void test_states(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_snapshot s;

	(void)state;
	assert_int_equal(ibcc_snapshot_init(&s, t), 0);
	assert_int_equal(s.n_ports, t->n_ports);

	ibcc_snapshot_begin(&s);
	record(&s, 1, 10 * MS, 1000);
	record(&s, 3, 10 * MS, 1000);
	ibcc_snapshot_miss(&s, 5, -ETIMEDOUT);
	ibcc_snapshot_end(&s, 10 * MS);
	assert_int_equal(s.pass, 1);
	assert_int_equal(s.interval_ns, 0);
	assert_int_equal(s.port[0].state, IBCC_SAMPLE_NONE);
	assert_int_equal(s.port[1].state, IBCC_SAMPLE_FIRST);
	assert_int_equal(s.port[5].state, IBCC_SAMPLE_UNREACHABLE);
	assert_int_equal(s.port[5].err, -ETIMEDOUT);
	assert_int_equal(s.n_unreachable, 1);

	ibcc_snapshot_begin(&s);
	record(&s, 1, 12 * MS, 1500);
	ibcc_snapshot_miss(&s, 3, -ETIMEDOUT);
	record(&s, 5, 12 * MS, 7);
	record(&s, s.n_ports, 12 * MS, 7);
	ibcc_snapshot_miss(&s, s.n_ports, -EIO);
	ibcc_snapshot_end(&s, 12 * MS);
	assert_int_equal(s.interval_ns, 2 * MS);
	assert_int_equal(s.port[1].state, IBCC_SAMPLE_FRESH);
	assert_int_equal(s.port[1].delta.v[IBCC_CTR_XMIT_DATA], 500);
	assert_int_equal(s.port[1].delta.dt_ns, 2 * MS);
	assert_int_equal(s.port[3].state, IBCC_SAMPLE_STALE);
	assert_int_equal(s.port[3].err, -ETIMEDOUT);
	assert_int_equal(s.port[5].state, IBCC_SAMPLE_FIRST);
	assert_int_equal(s.n_fresh, 1);
	assert_int_equal(s.n_stale, 1);
	assert_int_equal(s.n_unreachable, 0);

	/* Port 3 answers again: its difference spans both passes. Port 1 is not asked. */
	ibcc_snapshot_begin(&s);
	record(&s, 3, 14 * MS, 1800);
	ibcc_snapshot_end(&s, 14 * MS);
	assert_int_equal(s.port[3].state, IBCC_SAMPLE_FRESH);
	assert_int_equal(s.port[3].delta.dt_ns, 4 * MS);
	assert_int_equal(s.port[3].delta.v[IBCC_CTR_XMIT_DATA], 800);
	assert_int_equal(s.port[1].state, IBCC_SAMPLE_STALE);
	assert_int_equal(s.port[1].delta.dt_ns, 0);
	assert_int_equal(s.n_stale, 2);

	/* A clock that stands or goes back gives no interval. */
	ibcc_snapshot_begin(&s);
	record(&s, 3, 14 * MS, 1900);
	ibcc_snapshot_end(&s, 15 * MS);
	assert_int_equal(s.port[3].state, IBCC_SAMPLE_FIRST);
	assert_int_equal(s.port[3].delta.dt_ns, 0);

	ibcc_snapshot_fini(&s);
	ibcc_snapshot_fini(&s);
	ibcc_snapshot_fini(NULL);
	ibcc_topo_free(t);
}

static void test_rebase(void **state)
{
	struct ibcc_topo *from = fabric_lustre(), *to = ibcc_topo_new();
	struct ibcc_snapshot s;
	uint32_t sw2, gone = fabric_port(from, LUSTRE_SW2, 2);
	uint32_t kept = fabric_port(from, LUSTRE_SW2, 1);

	(void)state;
	/* The same switch and one of its adapters, found in another order, port 2 without link. */
	sw2 = (uint32_t)ibcc_topo_add_node(to, from->node[LUSTRE_SW2].guid, IBCC_NODE_SWITCH, 8,
					   "sw2");
	ibcc_topo_add_node(to, from->node[LUSTRE_SLOW].guid, IBCC_NODE_CA, 1, "slow");
	fabric_link(to, 1, 1, sw2, 1);

	assert_int_equal(ibcc_snapshot_init(&s, from), 0);
	ibcc_snapshot_begin(&s);
	record(&s, kept, 1 * MS, 100);
	record(&s, gone, 1 * MS, 100);
	ibcc_snapshot_end(&s, 1 * MS);
	assert_int_equal(ibcc_snapshot_rebase(&s, from, to), 0);
	assert_int_equal(s.n_ports, to->n_ports);
	assert_int_equal(s.pass, 1);

	ibcc_snapshot_begin(&s);
	record(&s, fabric_port(to, sw2, 1), 3 * MS, 400);
	ibcc_snapshot_end(&s, 3 * MS);
	assert_int_equal(s.port[fabric_port(to, sw2, 1)].state, IBCC_SAMPLE_FRESH);
	assert_int_equal(s.port[fabric_port(to, sw2, 1)].delta.v[IBCC_CTR_XMIT_DATA], 300);
	assert_int_equal(s.port[fabric_port(to, sw2, 2)].state, IBCC_SAMPLE_NONE);
	assert_int_equal(s.n_stale, 0);
	assert_int_equal(s.interval_ns, 2 * MS);
	ibcc_snapshot_fini(&s);
	ibcc_topo_free(from);
	ibcc_topo_free(to);
}

static void test_marks(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_snapshot s;

	(void)state;
	assert_int_equal(ibcc_snapshot_init(&s, t), 0);
	assert_int_equal(s.n_marks, 0);
	ibcc_snapshot_begin(&s);
	for (uint16_t i = 0; i < 1000; i++) {
		struct ibcc_mark m = { .node = LUSTRE_SW1,
				       .slid = (uint16_t)(i + 1),
				       .dlid = (uint16_t)(2000 - i),
				       .sl = i % 16 };

		assert_int_equal(ibcc_snapshot_mark(&s, &m), 0);
	}
	ibcc_snapshot_end(&s, 1 * MS);
	assert_int_equal(s.n_marks, 1000);
	for (uint16_t i = 0; i < 1000; i++) {
		assert_int_equal(s.mark[i].node, LUSTRE_SW1);
		assert_int_equal(s.mark[i].slid, i + 1);
		assert_int_equal(s.mark[i].dlid, 2000 - i);
		assert_int_equal(s.mark[i].sl, i % 16);
	}

	/* Those of a pass are gone with the next. */
	ibcc_snapshot_begin(&s);
	assert_int_equal(s.n_marks, 0);
	assert_int_equal(ibcc_snapshot_mark(&s, &(struct ibcc_mark){ .slid = 7, .dlid = 8 }), 0);
	ibcc_snapshot_end(&s, 2 * MS);
	assert_int_equal(s.n_marks, 1);
	assert_int_equal(s.mark[0].slid, 7);

	/* And with another topology, where their nodes have other indices. */
	assert_int_equal(ibcc_snapshot_rebase(&s, t, t), 0);
	assert_int_equal(s.n_marks, 0);
	assert_int_equal(ibcc_snapshot_mark(&s, &(struct ibcc_mark){ .slid = 9, .dlid = 8 }), 0);
	assert_int_equal(s.mark[0].slid, 9);
	ibcc_snapshot_fini(&s);
	assert_int_equal(s.n_marks, 0);
	assert_null(s.mark);
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_rebase),
		cmocka_unit_test(test_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
