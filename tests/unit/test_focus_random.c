/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The choice of ports on random fabrics, against a plain one: it keeps nothing of one walk for the
 * next one, and follows the words of ibcc/focus.h.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric_random.h"

#include <ibcc/focus.h>

#define FABRICS     600u
#define PASSES      4u /* with the same fabric */
#define MANY        30u
#define MANY_PORTS  140u
#define INTERVAL_NS 1000000000ull
/* The limits of focus.c, in permille, and passes. */
#define BUSY      250u
#define WAITS     50u
#define PASSES_ON 100u
#define SILENT    3u

struct fabric {
	uint64_t rng;
	struct ibcc_topo *t;
	uint32_t switches;
	struct ibcc_snapshot s;
	struct ibcc_estimate e;
	struct ibcc_parameters p;
	uint32_t max_nodes;
};

struct start {
	uint32_t port, n_waiting;
	bool known; /* a root, not only suspected */
};

struct plain {
	const struct fabric *f;
	struct ibcc_focus x;
	bool *node; /* by node: it has a port there */
	struct start *start;
	uint32_t n;
};

static uint32_t below(struct fabric *f, uint32_t n)
{
	return ibcc_rng_below(&f->rng, n);
}

static bool one_in(struct fabric *f, uint32_t n)
{
	return fabric_one_in(&f->rng, n);
}

/* A port's interval of a second, with ticks of a nanosecond. */
static void add_sample(struct fabric *f, uint32_t port)
{
	static const uint32_t permille[] = { 0, 0, 49, 50, 99, 100, 249, 250, 400, 900 };
	static const enum ibcc_sample_state states[] = {
		IBCC_SAMPLE_NONE,  IBCC_SAMPLE_FIRST, IBCC_SAMPLE_KEPT,
		IBCC_SAMPLE_STALE, IBCC_SAMPLE_STALE, IBCC_SAMPLE_UNREACHABLE
	};
	struct ibcc_port_sample *s = &f->s.port[port];
	uint32_t rate = f->t->port[port].rate_mbps;

	*s = (struct ibcc_port_sample){ .state = one_in(f, 5) ? states[below(f, 6)]
							      : IBCC_SAMPLE_FRESH,
					.tick_ps = 1000,
					.delta.dt_ns = INTERVAL_NS };
	s->now.t_ns = f->s.t_ns - below(f, 2 * SILENT) * INTERVAL_NS;
	if (one_in(f, 15))
		s->trust.doubt = IBCC_DOUBT_NONE + 1;
	s->delta.flags[IBCC_CTR_XMIT_WAIT] = s->delta.flags[IBCC_CTR_XMIT_DATA] = IBCC_DELTA_VALID;
	s->delta.v[IBCC_CTR_XMIT_WAIT] = permille[below(f, 10)] * (INTERVAL_NS / 1000);
	s->delta.v[IBCC_CTR_XMIT_DATA] =
		(uint64_t)permille[below(f, 10)] * rate / 1000 * (INTERVAL_NS / 32000);
}

static uint32_t any_switch_port(struct fabric *f)
{
	uint32_t sw = below(f, f->switches);

	return fabric_port(f->t, sw, 1 + below(f, f->t->node[sw].n_ports));
}

static void add_roots(struct fabric *f)
{
	uint32_t n = below(f, 4);

	f->e.root = calloc(4, sizeof(*f->e.root));
	assert_non_null(f->e.root);
	for (uint32_t i = 0; i < n; i++) {
		struct ibcc_root r = { .port = any_switch_port(f), .n_sources = below(f, 4) };

		if (ibcc_estimate_find(&f->e, r.port))
			continue;
		r.source = calloc(4, sizeof(*r.source));
		assert_non_null(r.source);
		for (uint32_t k = 0; k < r.n_sources; k++)
			r.source[k].port =
				fabric_port(f->t, f->switches + below(f, 2 * f->switches), 1);
		f->e.root[f->e.n_known++] = r;
	}
	f->e.n_roots = f->e.n_known;
}

static void add_held(struct fabric *f)
{
	static const enum ibcc_phase phases[] = { IBCC_PHASE_WATCH, IBCC_PHASE_BARRED,
						  IBCC_PHASE_LEARN, IBCC_PHASE_DRAIN,
						  IBCC_PHASE_HOLD };
	uint32_t n = below(f, 3);

	f->p.n_endports = f->t->n_endports;
	for (uint32_t i = 0; i < n; i++) {
		bool seen = f->e.n_roots && one_in(f, 2);
		uint32_t port = seen ? f->e.root[below(f, f->e.n_roots)].port : any_switch_port(f);
		struct ibcc_root_state *s;

		if (ibcc_parameters_find(&f->p, port))
			continue;
		s = ibcc_parameters_add(&f->p, port);
		assert_non_null(s);
		s->r.phase = phases[below(f, 5)];
		for (uint32_t e = 0; e < f->p.n_endports; e++)
			s->r.member[e] = one_in(f, 6);
	}
}

static void clear_pass(struct fabric *f)
{
	for (uint32_t i = 0; i < f->e.n_known; i++)
		free(f->e.root[i].source);
	free(f->e.root);
	f->e = (struct ibcc_estimate){ 0 };
	ibcc_parameters_fini(&f->p);
	f->p = (struct ibcc_parameters){ 0 };
}

static void new_pass(struct fabric *f)
{
	clear_pass(f);
	f->s.t_ns = 100 * INTERVAL_NS;
	f->s.interval_ns = INTERVAL_NS;
	for (uint32_t i = 0; i < f->t->n_ports; i++)
		add_sample(f, i);
	add_roots(f);
	add_held(f);
	f->max_nodes = one_in(f, 2) ? f->t->n_nodes : below(f, 1 + f->t->n_nodes);
}

static struct fabric *fabric_new(uint64_t seed)
{
	struct fabric *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->rng = seed;
	f->switches = seed % 50 == 1 ? MANY : 2 + below(f, 7);
	f->t = fabric_random(&f->rng, f->switches, seed % 10 == 2 ? MANY_PORTS : 6 + below(f, 10));
	fabric_break_tables(f->t, &f->rng, f->switches);
	assert_int_equal(ibcc_snapshot_init(&f->s, f->t), 0);
	return f;
}

static void fabric_free(struct fabric *f)
{
	clear_pass(f);
	ibcc_snapshot_fini(&f->s);
	ibcc_topo_free(f->t);
	free(f);
}

/* --- the plain choice ------------------------------------------------------------------------- */

static bool is_believed(const struct fabric *f, uint32_t port)
{
	return (f->s.port[port].state == IBCC_SAMPLE_FRESH ||
		f->s.port[port].state == IBCC_SAMPLE_KEPT) &&
	       f->s.port[port].trust.doubt == IBCC_DOUBT_NONE;
}

static uint32_t wait_of(const struct fabric *f, uint32_t port)
{
	return is_believed(f, port) ? (uint32_t)(f->s.port[port].delta.v[IBCC_CTR_XMIT_WAIT] /
						 (INTERVAL_NS / 1000))
				    : 0;
}

static void add(struct plain *x, uint32_t port, uint8_t left)
{
	const struct fabric *f = x->f;
	const struct ibcc_port_sample *s = &f->s.port[port];
	uint32_t node = f->t->port[port].node;

	if (x->x.port[port] || s->state == IBCC_SAMPLE_NONE ||
	    s->state == IBCC_SAMPLE_UNREACHABLE ||
	    (s->state == IBCC_SAMPLE_STALE && f->s.t_ns - s->now.t_ns > SILENT * INTERVAL_NS))
		return;
	if (!x->node[node] && x->x.n_nodes == f->max_nodes)
		return;
	x->x.n_nodes += !x->node[node];
	x->x.n_ports++;
	x->node[node] = x->x.port[port] = true;
	x->x.left[port] = left;
}

/* The adapters that wait upstream of a port. With `take` all ports that do get into the focus. The
 * order is that of the module, since it counts where there is no room for all.
 */
static uint32_t upstream(struct plain *x, uint32_t port, bool take)
{
	const struct ibcc_topo *t = x->f->t;
	bool *seen = calloc(t->n_nodes, sizeof(*seen));
	uint32_t *todo = calloc(t->n_nodes, sizeof(*todo)), n = 1, adapters = 0;

	assert_true(seen && todo);
	todo[0] = t->port[port].node;
	seen[todo[0]] = true;
	while (n) {
		const struct ibcc_topo_node *sw = &t->node[todo[--n]];

		for (uint32_t in = sw->first_port + 1; in <= sw->first_port + sw->n_ports; in++) {
			uint32_t q = t->port[in].peer;

			if (in == port || q == IBCC_NONE || wait_of(x->f, q) < WAITS)
				continue;
			if (take)
				add(x, q, IBCC_FOCUS_LINGERS);
			if (!ibcc_topo_is_switch(t, t->port[q].node)) {
				adapters++;
			} else if (!seen[t->port[q].node]) {
				seen[t->port[q].node] = true;
				todo[n++] = t->port[q].node;
			}
		}
	}
	free(seen);
	free(todo);
	return adapters;
}

static bool is_start(const struct plain *x, uint32_t port)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (x->start[i].port == port)
			return true;
	return false;
}

/* Whether congestion may start at a port that is no root; *n is the number of adapters that wait
 * for it.
 */
static bool is_suspect(struct plain *x, uint32_t port, uint32_t *n)
{
	const struct fabric *f = x->f;
	const struct ibcc_topo_port *p = &f->t->port[port];

	if (!p->num || p->peer == IBCC_NONE || !ibcc_topo_is_switch(f->t, p->node) ||
	    !is_believed(f, port) || is_start(x, port))
		return false;
	if (ibcc_delta_busy_permille(&f->s.port[port].delta, 1000, p->rate_mbps) < BUSY)
		return false;
	if (ibcc_topo_is_switch(f->t, f->t->port[p->peer].node) && wait_of(f, port) >= PASSES_ON)
		return false;
	*n = upstream(x, port, false);
	return *n >= 2;
}

/* Roots that are held, roots that are seen, and suspected ports by how many adapters wait. */
static void list_starts(struct plain *x)
{
	const struct fabric *f = x->f;
	uint32_t n_roots, n;

	for (uint32_t k = 0; k < f->p.n_roots; k++)
		if (ibcc_phase_sets(f->p.root[k].r.phase))
			x->start[x->n++] = (struct start){ f->p.root[k].r.port, 0, true };
	for (uint32_t k = 0; k < f->e.n_roots; k++)
		if (!is_start(x, f->e.root[k].port))
			x->start[x->n++] = (struct start){ f->e.root[k].port, 0, true };
	n_roots = x->n;
	for (uint32_t i = 0; i < f->t->n_ports; i++) {
		uint32_t at = x->n;

		if (!is_suspect(x, i, &n))
			continue;
		while (at > n_roots && x->start[at - 1].n_waiting < n)
			at--;
		memmove(&x->start[at + 1], &x->start[at], (x->n++ - at) * sizeof(*x->start));
		x->start[at] = (struct start){ i, n, false };
	}
}

static bool forwards(const struct ibcc_topo *t, uint32_t port, uint32_t lid)
{
	const struct ibcc_topo_node *sw = &t->node[t->port[port].node];

	return lid < sw->lft_len && sw->lft[lid] == t->port[port].num;
}

static void add_switch(struct plain *x, uint32_t start)
{
	const struct ibcc_topo *t = x->f->t;
	const struct ibcc_topo_node *sw = &t->node[t->port[start].node];
	uint32_t peer = t->port[start].peer;

	for (uint32_t i = 1; i <= sw->n_ports; i++)
		add(x, sw->first_port + i, IBCC_FOCUS_LINGERS);
	if (peer != IBCC_NONE && !ibcc_topo_is_switch(t, t->port[peer].node))
		add(x, peer, IBCC_FOCUS_LINGERS);
}

static void add_feeders(struct plain *x, const struct start *at)
{
	const struct ibcc_topo *t = x->f->t;
	const struct ibcc_topo_node *sw = &t->node[t->port[at->port].node];

	for (uint32_t i = 1; i <= sw->n_ports; i++) {
		uint32_t q = t->port[sw->first_port + i].peer;
		bool feeds = false;

		if (q == IBCC_NONE || sw->first_port + i == at->port)
			continue;
		for (uint32_t lid = 1; at->known && lid < sw->lft_len; lid++)
			feeds |= ibcc_topo_is_switch(t, t->port[q].node) &&
				 forwards(t, at->port, lid) && forwards(t, q, lid);
		if (feeds || wait_of(x->f, q) >= WAITS)
			add(x, q, IBCC_FOCUS_LINGERS);
	}
}

static const bool *members(const struct fabric *f, uint32_t port)
{
	for (uint32_t k = 0; k < f->p.n_roots; k++)
		if (f->p.root[k].r.port == port && ibcc_phase_sets(f->p.root[k].r.phase))
			return f->p.root[k].r.member;
	return NULL;
}

static void add_sources(struct plain *x, uint32_t start)
{
	const struct fabric *f = x->f;
	const struct ibcc_root *r = ibcc_estimate_find(&f->e, start);
	const bool *member = members(f, start);

	for (uint32_t i = 0; r && i < r->n_sources; i++)
		add(x, r->source[i].port, IBCC_FOCUS_LINGERS);
	for (uint32_t e = 0; member && e < f->t->n_endports; e++)
		if (member[e])
			add(x, f->t->endport[e], IBCC_FOCUS_LINGERS);
}

static void add_receivers(struct plain *x, uint32_t start)
{
	const struct ibcc_topo *t = x->f->t;

	for (uint32_t lid = 1; members(x->f, start) && lid <= IBCC_LID_MAX; lid++) {
		uint32_t to = t->lid_port[lid];

		if (forwards(t, start, lid) && to != IBCC_NONE &&
		    !ibcc_topo_is_switch(t, t->port[to].node))
			add(x, to, IBCC_FOCUS_LINGERS);
	}
}

/* Replaces the choice of the pass before. */
static void choose(const struct fabric *f, struct ibcc_focus *last)
{
	uint32_t n = f->t->n_ports;
	struct plain x = { .f = f,
			   .x.port = calloc(n, sizeof(bool)),
			   .x.left = calloc(n, 1),
			   .x.size = n,
			   .node = calloc(f->t->n_nodes, sizeof(bool)),
			   .start = calloc(n + 1, sizeof(*x.start)) };

	assert_true(x.x.port && x.x.left && x.node && x.start);
	if (f->max_nodes)
		list_starts(&x);
	for (uint32_t i = 0; i < x.n; i++)
		add_switch(&x, x.start[i].port);
	for (uint32_t i = 0; i < x.n; i++)
		add_feeders(&x, &x.start[i]);
	for (uint32_t i = 0; i < x.n; i++)
		add_sources(&x, x.start[i].port);
	for (uint32_t i = 0; i < x.n; i++)
		upstream(&x, x.start[i].port, true);
	for (uint32_t i = 0; i < x.n; i++)
		add_receivers(&x, x.start[i].port);
	for (uint32_t i = 0; last->size && i < n; i++)
		if (last->left[i])
			add(&x, i, last->left[i] - 1);
	free(x.node);
	free(x.start);
	ibcc_focus_fini(last);
	*last = x.x;
}

static void test_random(void **state)
{
	uint32_t full = 0, ports = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= FABRICS; seed++) {
		struct ibcc_focus want = { 0 }, x = { 0 };
		struct fabric *f = fabric_new(seed);

		for (unsigned int i = 0; i < PASSES; i++) {
			uint32_t n = f->t->n_ports;

			new_pass(f);
			choose(f, &want);
			assert_int_equal(
				ibcc_focus_run(&x, f->t, &f->s, &f->e, &f->p, f->max_nodes), 0);
			if (x.n_nodes != want.n_nodes || x.n_ports != want.n_ports ||
			    memcmp(x.port, want.port, n * sizeof(*x.port)) != 0 ||
			    memcmp(x.left, want.left, n) != 0)
				fail_msg("seed %u, pass %u: the choice is another one",
					 (unsigned int)seed, i);
			full += x.n_nodes == f->max_nodes;
			ports += x.n_ports;
		}
		ibcc_focus_fini(&want);
		ibcc_focus_fini(&x);
		fabric_free(f);
	}
	/* Room for all and for a part, and many ports, are tried often. */
	assert_in_range(full, FABRICS * PASSES / 5, FABRICS * PASSES * 4 / 5);
	assert_true(ports > 10 * FABRICS * PASSES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
