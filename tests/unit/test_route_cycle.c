/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Circles of routes on random fabrics, against a plain search: it follows each LID from each
 * sender by itself, and asks of each output whether it depends on itself.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/fabrics.h"

#include <ibcc/device.h>
#include <ibcc/rng.h>

#define FABRICS   5000u
#define LEAVES    6u
#define SPINES    4u
#define HOSTS     3u /* at a leaf */
#define USES      (2 * LEAVES * HOSTS)
#define VLS       3u
#define MAX_LANES (VLS * 2 * (LEAVES * SPINES + 2))
#define MAX_LIDS  1024u

struct fabric {
	uint64_t rng;
	struct ibcc_topo *t;
	unsigned int leaves, spines, hosts;
	uint32_t first_leaf, first_spine;
	uint32_t len; /* of tables */
	struct ibcc_route_sls sls;
	struct ibcc_route_use use[USES];
	uint32_t n_uses;
};

/* The lanes between switches, and which depends on which. */
struct lanes {
	struct ibcc_route_lane lane[MAX_LANES];
	uint32_t n;
	bool next[MAX_LANES][MAX_LANES];
	bool seen[MAX_LANES];
};

static uint32_t below(struct fabric *f, uint32_t n)
{
	return ibcc_rng_below(&f->rng, n);
}

static bool one_in(struct fabric *f, uint32_t n)
{
	return !below(f, n);
}

/* Leaves with hosts at the first ports and a link to each spine, mostly by the same port. */
static void add_nodes(struct fabric *f)
{
	uint32_t swaps = one_in(f, 3) ? 2 : 0;

	f->leaves = 3 + below(f, LEAVES - 2);
	f->spines = 2 + below(f, SPINES - 1);
	f->hosts = one_in(f, 4) ? 1 + below(f, HOSTS) : 1;
	f->first_leaf = f->leaves * f->hosts;
	f->first_spine = f->first_leaf + f->leaves;
	for (uint32_t i = 0; i < f->first_leaf; i++)
		fabric_node(f->t, one_in(f, 20) ? IBCC_NODE_ROUTER : IBCC_NODE_CA, 1, "h");
	for (uint32_t i = 0; i < f->leaves; i++)
		fabric_node(f->t, IBCC_NODE_SWITCH, f->hosts + f->spines + 1, "leaf");
	for (uint32_t i = 0; i < f->spines; i++)
		fabric_node(f->t, IBCC_NODE_SWITCH, f->leaves + 1, "spine");
	for (uint32_t l = 0; l < f->leaves; l++) {
		uint32_t turn = swaps && one_in(f, swaps) ? 1 : 0;

		for (uint32_t h = 0; h < f->hosts; h++)
			if (!one_in(f, 30))
				fabric_link(f->t, l * f->hosts + h, 1, f->first_leaf + l, h + 1);
		for (uint32_t s = 0; s < f->spines; s++)
			if (!one_in(f, 40))
				fabric_link(f->t, f->first_leaf + l, f->hosts + s + 1,
					    f->first_spine +
						    (s ? 1 + (s - 1 + turn) % (f->spines - 1) : 0),
					    l + 1);
	}
	if (one_in(f, 4))
		fabric_link(f->t, f->first_leaf, f->hosts + f->spines + 1, f->first_leaf + 1,
			    f->hosts + f->spines + 1);
}

/* The hosts of a leaf often begin or end a block of 64 LIDs. */
static void add_lids(struct fabric *f)
{
	uint32_t lid = 1;

	for (uint32_t i = 0; i < f->first_leaf; i++) {
		unsigned int lmc = one_in(f, 8) ? 1 + below(f, 2) : 0;

		if (i % f->hosts == 0 && !one_in(f, 4))
			lid = (lid / 64 + 1) * 64 - (one_in(f, 2) ? f->hosts : 0);
		lid = (lid + (1u << lmc) - 1) >> lmc << lmc;
		if (!one_in(f, 20))
			assert_int_equal(ibcc_topo_set_lid(f->t, fabric_port(f->t, i, 1),
							   (uint16_t)lid, lmc),
					 0);
		lid += 1u << lmc;
	}
	f->len = lid + (one_in(f, 2) ? below(f, 80) : 0);
	assert_true(f->len <= MAX_LIDS);
	if (one_in(f, 2))
		assert_int_equal(ibcc_topo_set_lid(f->t, fabric_port(f->t, f->first_spine, 0),
						   (uint16_t)lid, 0),
				 0);
}

/* A port of a leaf that goes up, or of a spine. */
static uint8_t any_link(struct fabric *f, uint32_t node)
{
	return (uint8_t)(node < f->first_spine ? f->hosts + 1 + below(f, f->spines + 1)
					       : 1 + below(f, f->leaves + 1));
}

static void set_table(struct fabric *f, uint32_t node, uint8_t *lft, uint32_t errors)
{
	uint32_t len = one_in(f, 25) ? 1 + below(f, f->len) : f->len;

	for (uint32_t i = 0; i < errors; i++) {
		uint32_t host = below(f, f->first_leaf);
		uint32_t lid = f->t->port[fabric_port(f->t, host, 1)].lid;

		if (lid < f->len)
			lft[lid] = one_in(f, 20) ? (uint8_t)below(f, 256) : any_link(f, node);
	}
	assert_int_equal(ibcc_topo_set_lft(f->t, node, lft, len), 0);
}

/* Leaves go up by one of two tables but for their own hosts. An error at a spine sends a packet to
 * a leaf, which sends it up again: by the other table, to another spine.
 */
static void add_tables(struct fabric *f)
{
	uint8_t up[2][MAX_LIDS], lft[MAX_LIDS];

	for (uint32_t lid = 0; lid < f->len; lid++)
		for (int i = 0; i < 2; i++)
			up[i][lid] = (uint8_t)(f->hosts + 1 + below(f, f->spines));
	for (uint32_t l = 0; l < f->leaves; l++) {
		memcpy(lft, up[one_in(f, 2)], f->len);
		for (uint32_t h = 0; h < f->hosts; h++) {
			uint32_t port = fabric_port(f->t, l * f->hosts + h, 1);
			uint32_t n = f->t->port[port].lid ? 1u << ibcc_topo_lmc(f->t, port) : 0;

			for (uint32_t i = 0; i < n; i++)
				lft[f->t->port[port].lid + i] = (uint8_t)(h + 1);
		}
		set_table(f, f->first_leaf + l, lft, one_in(f, 3));
	}
	for (uint32_t s = 0; s < f->spines; s++) {
		for (uint32_t lid = 0; lid < f->len; lid++) {
			uint32_t to = f->t->lid_port[lid];

			lft[lid] = (uint8_t)(to == IBCC_NONE || f->t->port[to].node >= f->first_leaf
						     ? IBCC_LFT_NONE
						     : f->t->port[to].node / f->hosts + 1);
		}
		set_table(f, f->first_spine + s, lft, 1 + below(f, 2));
	}
}

static uint32_t any_host(struct fabric *f)
{
	return fabric_port(f->t, below(f, f->first_leaf), 1);
}

static void add_lanes(struct fabric *f)
{
	uint32_t switches = f->leaves + f->spines, vls = one_in(f, 4) ? 1 : VLS;

	for (uint32_t i = 0; i < f->t->n_ports; i++)
		f->t->port[i].op_vls = (uint8_t)(1 + below(f, vls));
	for (uint32_t i = one_in(f, 10) ? 20 : 0; i; i--) {
		uint32_t sw = f->first_leaf + below(f, switches);
		uint32_t in = 1 + below(f, f->t->node[sw].n_ports);
		uint32_t out = 1 + below(f, f->t->node[sw].n_ports);
		uint8_t vl[16];

		for (int sl = 0; sl < 16; sl++)
			vl[sl] = (uint8_t)below(f, VLS);
		assert_int_equal(ibcc_topo_set_sl2vl(f->t, sw, in, out, vl), 0);
	}
	for (uint32_t i = one_in(f, 10) ? 100 : 0; i; i--) {
		uint32_t from = any_host(f), to = any_host(f);
		uint8_t sl = (uint8_t)below(f, 16);

		assert_int_equal(ibcc_route_set_sl(f->t, &f->sls, from, to, sl), 0);
	}
}

static void add_uses(struct fabric *f)
{
	bool sls = one_in(f, 8), pairs = one_in(f, 4);

	for (uint32_t i = 0; i < f->first_leaf; i++) {
		uint32_t n = one_in(f, 8) ? 0 : one_in(f, 6) ? 2 : 1;

		while (n--) {
			struct ibcc_route_use *use = &f->use[f->n_uses++];

			use->from = fabric_port(f->t, i, 1);
			use->to = pairs && one_in(f, 2) ? any_host(f) : IBCC_NONE;
			use->but = one_in(f, 5) ? below(f, f->first_leaf) : IBCC_NONE;
			use->sl = sls ? (uint8_t)below(f, 16) : 0;
		}
	}
}

static struct fabric *fabric_new(uint64_t seed)
{
	struct fabric *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->rng = seed;
	f->t = ibcc_topo_new();
	assert_non_null(f->t);
	add_nodes(f);
	add_lids(f);
	add_tables(f);
	add_lanes(f);
	add_uses(f);
	return f;
}

static void fabric_free(struct fabric *f)
{
	ibcc_route_sls_fini(&f->sls);
	ibcc_topo_free(f->t);
	free(f);
}

static uint32_t find_lane(const struct lanes *g, struct ibcc_route_lane l)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (g->lane[i].port == l.port && g->lane[i].vl == l.vl)
			return i;
	return IBCC_NONE;
}

/* The lane by which a packet leaves the switch that it came into by a port, or IBCC_NONE. Without
 * SL to VL tables, and with one SL for all, all packets are on one VL.
 */
static uint32_t lane_out(const struct fabric *f, struct lanes *g, uint32_t in, uint32_t lid,
			 uint8_t sl)
{
	const struct ibcc_topo *t = f->t;
	const struct ibcc_topo_node *sw = &t->node[t->port[in].node];
	uint8_t num = lid < sw->lft_len ? sw->lft[lid] : IBCC_LFT_NONE;
	struct ibcc_route_lane l = { .port = sw->first_port + num };
	uint32_t at;

	if (!num || num > sw->n_ports || t->port[l.port].peer == IBCC_NONE ||
	    !ibcc_topo_is_switch(t, t->port[t->port[l.port].peer].node))
		return IBCC_NONE;
	l.vl = ibcc_topo_vl(t, t->port[in].node, t->port[in].num, num, sl);
	if (l.vl >= t->port[l.port].op_vls)
		return IBCC_NONE;
	at = find_lane(g, l);
	if (at != IBCC_NONE)
		return at;
	assert_true(g->n < MAX_LANES);
	g->lane[g->n] = l;
	return g->n++;
}

static void follow(const struct fabric *f, struct lanes *g, const struct ibcc_route_use *use,
		   uint32_t to)
{
	const struct ibcc_topo *t = f->t;
	bool by_path = ibcc_route_has_sls(&f->sls);
	uint8_t sl = by_path ? ibcc_route_sl(t, &f->sls, use->from, to) : use->sl;
	uint32_t in = t->port[use->from].peer, lid = t->port[to].lid, last = IBCC_NONE;

	if (!lid || in == IBCC_NONE || sl == IBCC_ROUTE_NO_SL)
		return;
	for (uint32_t i = 0; i <= IBCC_ROUTE_MAX_HOPS; i++) {
		uint32_t out = lane_out(f, g, in, lid, sl);

		if (out == IBCC_NONE)
			return;
		if (last != IBCC_NONE)
			g->next[last][out] = true;
		last = out;
		in = t->port[g->lane[out].port].peer;
	}
}

static void follow_all(const struct fabric *f, struct lanes *g)
{
	const struct ibcc_topo *t = f->t;

	for (uint32_t i = 0; i < f->n_uses; i++) {
		const struct ibcc_route_use *use = &f->use[i];

		for (uint32_t h = 0; h < f->first_leaf; h++) {
			uint32_t to = fabric_port(t, h, 1);

			if (use->to == IBCC_NONE ? ibcc_device_is_host(t, h) && h != use->but &&
							   h != t->port[use->from].node
						 : to == use->to)
				follow(f, g, use, to);
		}
	}
}

/* Whether a lane depends on another one. */
static bool depends(struct lanes *g, uint32_t from, uint32_t on)
{
	g->seen[from] = true;
	for (uint32_t i = 0; i < g->n; i++)
		if (g->next[from][i] && (i == on || (!g->seen[i] && depends(g, i, on))))
			return true;
	return false;
}

static bool has_circle(struct lanes *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		memset(g->seen, 0, sizeof(g->seen));
		if (depends(g, i, i))
			return true;
	}
	return false;
}

/* Whether each of n lanes is there once and depends on the next one. */
static bool is_circle(const struct lanes *g, const struct ibcc_route_lane *lane, uint32_t n)
{
	bool seen[MAX_LANES] = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		uint32_t a = find_lane(g, lane[i]), b = find_lane(g, lane[(i + 1) % n]);

		if (a == IBCC_NONE || b == IBCC_NONE || seen[a] || !g->next[a][b])
			return false;
		seen[a] = true;
	}
	return true;
}

static void test_random(void **state)
{
	struct lanes *g = malloc(sizeof(*g));
	uint32_t circles = 0;

	(void)state;
	assert_non_null(g);
	for (uint64_t seed = 1; seed <= FABRICS; seed++) {
		struct fabric *f = fabric_new(seed);
		struct ibcc_route_lane out[MAX_LANES];
		uint32_t n = 77;
		bool has;

		memset(g, 0, sizeof(*g));
		follow_all(f, g);
		has = has_circle(g);
		assert_int_equal(ibcc_route_find_cycle(f->t,
						       ibcc_route_has_sls(&f->sls) ? &f->sls : NULL,
						       f->use, f->n_uses, out, MAX_LANES, &n),
				 0);
		if (has != (n > 0) || n > MAX_LANES || !is_circle(g, out, n))
			fail_msg("seed %u: the search finds %s circle, the module one of %u lanes",
				 (unsigned int)seed, has ? "a" : "no", n);
		circles += has;
		fabric_free(f);
	}
	/* Both answers are tried often. */
	assert_in_range(circles, FABRICS / 5, FABRICS * 4 / 5);
	free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
