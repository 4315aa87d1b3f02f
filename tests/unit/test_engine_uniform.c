/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Setting up flows to all hosts: what is found by searches is what a look at every host finds, and
 * the hosts are looked at once, not once for each flow.
 */
#include <errno.h>
#include <string.h>

#include "engines.h"
#include "lib/engine/internal.h"

enum { ISLANDS = 3, HOSTS = 60 };

/* Hosts at three switches without links between them, in turn, so that the islands' hosts have no
 * indices in a row. Each fourth host has two ports.
 */
static struct ibcc_topo *islands(void)
{
	struct ibcc_topo *t = ibcc_topo_new();
	unsigned int used[ISLANDS] = { 0 };
	char name[16];

	assert_non_null(t);
	for (unsigned int i = 0; i < ISLANDS; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		fabric_node(t, IBCC_NODE_SWITCH, 2 * HOSTS, name);
	}
	for (unsigned int i = 0; i < HOSTS; i++) {
		unsigned int ports = i % 4 ? 1 : 2, home = i * i % ISLANDS;
		uint32_t node;

		snprintf(name, sizeof(name), "h%u", i);
		node = fabric_node(t, IBCC_NODE_CA, ports, name);
		for (unsigned int p = 1; p <= ports; p++)
			fabric_link(t, node, p, home, ++used[home]);
	}
	assert_int_equal(ibcc_route_compute(t), 0);
	return t;
}

/* Whether the flow's destinations, and those that it leaves out, are what the list of all says. */
static void check_flow(const struct ibcc_engine *e, const struct flow *f, const char *not_to)
{
	uint32_t home = e->island[e->topo->port[f->src_port].node], n = 0;
	uint32_t self = NONE, other = NONE;

	for (uint32_t i = 0; i < e->n_dest; i++) {
		uint32_t node = e->topo->port[e->dest[i]].node;

		if (e->island[node] != home)
			continue;
		assert_int_equal(i, f->dests + n);
		if (e->dest[i] == f->src_port)
			self = n;
		if (!strcmp(e->topo->node[node].desc, not_to) && other == NONE)
			other = n;
		n++;
	}
	assert_int_equal(f->n_dests, n);
	other = other == self ? NONE : other;
	assert_int_equal(f->left_out[0], other < self ? other : self);
	assert_int_equal(f->left_out[1], other < self ? self : other);
}

/* A flow from each host to all of its island but one, which goes through all hosts in turn. */
static void test_destinations(void **state)
{
	struct ibcc_topo *t = islands();
	struct ibcc_model m;
	struct ibcc_engine *e;

	(void)state;
	ibcc_model_defaults(&m);
	e = engine_new(t, &m, 1);
	for (unsigned int i = 0; i < HOSTS; i++) {
		for (unsigned int k = 0; k <= HOSTS; k++) {
			struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_EXPONENTIAL,
						    .load_permille = 1 };
			uint32_t node = ISLANDS + i;
			bool near = k == HOSTS || e->island[ISLANDS + k] == e->island[node];
			int rc;

			if (k < HOSTS)
				snprintf(f.not_to, sizeof(f.not_to), "h%u", k);
			rc = ibcc_engine_add_flow(e, &f, fabric_port(t, node, 1), IBCC_NONE);
			if (!near) {
				assert_int_equal(rc, -EINVAL);
				continue;
			}
			assert_true(rc >= 0);
			check_flow(e, &e->flow[rc], f.not_to);
		}
	}
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

/* The first flow of an island and SL creates the groups of all its ports. Later ones find that all
 * are there by one bit.
 */
static void test_groups(void **state)
{
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_EXPONENTIAL, .load_permille = 1 };
	struct ibcc_topo *t = islands();
	struct ibcc_model m;
	struct ibcc_engine *e;
	int rc;

	(void)state;
	ibcc_model_defaults(&m);
	e = engine_new(t, &m, 1);
	for (unsigned int sl = 0; sl < 16; sl += 5) {
		for (unsigned int i = 0; i < HOSTS; i++) {
			uint32_t before = e->n_group;
			bool done;

			f.sl = (uint8_t)sl;
			rc = ibcc_engine_add_flow(e, &f, fabric_port(t, ISLANDS + i, 1), IBCC_NONE);
			assert_true(rc >= 0);
			done = e->n_group == before;
			assert_true(e->answering[e->flow[rc].dests] >> sl & 1);
			/* Hosts 0 and 1 are the first of the two islands that have hosts. */
			assert_int_equal(done, i > 1);
			if (!done)
				assert_int_equal(e->n_group - before, e->flow[rc].n_dests);
		}
		assert_int_equal(e->n_group, (sl / 5 + 1) * e->n_dest);
	}
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_destinations),
		cmocka_unit_test(test_groups),
	};

	return cmocka_run_group_tests_name("engine_uniform", tests, NULL, NULL);
}
