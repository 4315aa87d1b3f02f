/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the engine does in large fabrics, where it finds a packet's output shortly before the packet
 * arrives, and fetches memory several events ahead: in a small fabric the results are the same.
 */
#include <stdlib.h>
#include <string.h>

#include <ibcc/rng.h>

#include "engines.h"
#include "lib/engine/internal.h"

enum { HOSTS = 8, STEPS = 300 };

/* Another output, or none, for some LID of a switch. */
static void change_table(struct ibcc_engine *e, const struct ibcc_topo *t, uint32_t node,
			 uint64_t *rng)
{
	const struct ibcc_topo_node *n = &t->node[node];
	uint8_t *lft = malloc(n->lft_len);

	assert_non_null(lft);
	memcpy(lft, n->lft, n->lft_len);
	lft[ibcc_rng_below(rng, n->lft_len)] = (uint8_t)ibcc_rng_below(rng, n->n_ports + 2u);
	assert_int_equal(ibcc_engine_set_lft(e, node, lft, n->lft_len), 0);
	free(lft);
}

/* Takes a link down or up, sometimes with packets under way to it and credits under way back. */
static void change_link(struct ibcc_engine *e, const struct ibcc_topo *t, uint64_t *rng)
{
	uint32_t port = ibcc_rng_below(rng, t->n_ports);

	if (t->port[port].peer != IBCC_NONE)
		assert_int_equal(ibcc_engine_set_link(e, port, ibcc_rng_below(rng, 4) != 0), 0);
}

/* A run with changes that follow from the seed alone; what all flows received, sent and lost. */
static void run(const struct ibcc_topo *t, uint64_t seed, bool far, uint64_t got[3 * HOSTS])
{
	uint64_t rng = seed, now = 0;
	struct ibcc_model m;
	struct ibcc_engine *e;

	ibcc_model_defaults(&m);
	m.vls = (uint8_t)(1 + seed % 2);
	m.buffer_bytes = m.hca_buffer_bytes = 3 * 4096;
	m.acks = seed % 3 == 0;
	e = engine_new(t, &m, seed);
	e->far_apart = far;
	for (uint32_t i = 0; i < HOSTS; i++) {
		struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_EXPONENTIAL,
					    .load_permille = 700,
					    .sl = (uint8_t)(i % 2) };
		uint32_t to = i % 3 ? IBCC_NONE : fabric_port(t, i ? 0 : 1, 1);

		assert_int_equal(ibcc_engine_add_flow(e, &f, fabric_port(t, i, 1), to), i);
	}
	for (unsigned int i = 0; i < STEPS; i++) {
		now += ibcc_rng_below(&rng, 2 * IBCC_PS_PER_US);
		engine_run(e, now);
		switch (ibcc_rng_below(&rng, 4)) {
		case 0:
			change_table(e, t, HOSTS + ibcc_rng_below(&rng, t->n_nodes - HOSTS), &rng);
			break;
		case 1: change_link(e, t, &rng); break;
		default: break;
		}
		engine_checked(e);
	}
	for (uint32_t i = 0; i < HOSTS; i++) {
		struct ibcc_engine_flow f = engine_flow_read(e, i);

		got[3 * i] = f.received_pkts;
		got[3 * i + 1] = f.sent_pkts;
		got[3 * i + 2] = f.latency_sum_ps;
	}
	ibcc_engine_free(e);
}

static void test_far_apart(void **state)
{
	struct ibcc_topo *t = fabric_tree2(4);
	uint64_t near[3 * HOSTS], far[3 * HOSTS];

	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		print_message("seed %llu\n", (unsigned long long)seed);
		run(t, seed, false, near);
		run(t, seed, true, far);
		assert_memory_equal(near, far, sizeof(near));
		assert_true(near[0] > 0);
	}
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_far_apart),
	};

	return cmocka_run_group_tests_name("engine_fetch", tests, NULL, NULL);
}
