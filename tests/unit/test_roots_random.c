/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Roots, with their contributors and victims, on random fabrics, against plain ones: each adapter
 * is judged by itself, by a plain walk for each port. Settings are not known here.
 */
#include "plain_walk.h"

#define FABRICS  1000u
#define MAX_PART 128u /* sources of a root, and roots */

struct roots {
	uint32_t n;
	struct ibcc_root root[MAX_PART];
	struct ibcc_source source[MAX_PART][MAX_PART]; /* by the root's first place */
	struct found found[MAX_PART];
};

/* Where nothing is marked, and where some adapters get BECNs. */
static void draw_loads(struct fabric *f, struct ibcc_estimate *e)
{
	static const uint32_t mbps[] = { 0, 5, 400, 900, 1900 };
	static const uint16_t waited[] = { 0, 250, 251, 299, 300, 499, 500, 700 };
	static const uint64_t becn[] = { 0, 0, 1, 19, 20, 21, 199, 200, 201, 1000 };
	bool marked = one_in(f, 3);

	for (uint32_t i = 0; i < f->t->n_ports; i++) {
		struct load *l = &f->load[i];
		uint16_t w = waited[below(f, 8)];

		*l = (struct load){ .usable = f->t->port[i].num && !one_in(f, 10),
				    .mbps = mbps[below(f, 5)],
				    .waited = w,
				    .sent = one_in(f, 5) ? (uint16_t)below(f, 900 - w)
							 : (uint16_t)(900 + below(f, 100) - w) };
		if (one_in(f, 8))
			l->sent = 900;
		if (!marked || ibcc_topo_is_switch(f->t, f->t->port[i].node))
			continue;
		l->becn = becn[below(f, 10)];
		e->becn += l->becn;
	}
}

static bool is_blocked(const struct fabric *f, uint32_t port)
{
	const struct load *l = &f->load[port];

	return l->usable && l->sent + l->waited >= f->p.full_permille &&
	       l->waited >= f->p.fed_wait_permille;
}

/* The flags of an adapter's way to a root; 0: it is not upstream. */
static uint8_t flag_of(const struct fabric *f, const struct found *w, uint32_t root, uint32_t ca)
{
	uint32_t peer = f->t->port[ca].peer;

	return peer == IBCC_NONE || peer == root ? 0 : w->below[f->t->port[peer].node];
}

static enum ibcc_role role_of(const struct fabric *f, uint32_t ca, uint8_t flag, uint64_t most)
{
	const struct load *l = &f->load[ca];
	bool waits = l->waited >= f->p.ca_wait_permille;

	if (!l->usable || !flag)
		return IBCC_ROLE_NONE;
	/* A fiftieth is a trace; a fifth is needed of one that hardly waits. */
	if (most && l->becn * 50 > most && (l->becn * 5 >= most || l->waited > 250))
		return IBCC_ROLE_CONTRIBUTOR;
	if (!waits)
		return !most && l->mbps && !(flag & TREE_SHARED) ? IBCC_ROLE_NEAR : IBCC_ROLE_NONE;
	if (!(flag & TREE_BLOCKED))
		return IBCC_ROLE_NONE;
	if (!most)
		return IBCC_ROLE_CANDIDATE;
	return flag & TREE_SHARED ? IBCC_ROLE_VICTIM : IBCC_ROLE_NONE;
}

static void add_source(const struct fabric *f, struct ibcc_root *r, uint32_t ca,
		       enum ibcc_role role)
{
	const struct load *l = &f->load[ca];
	uint32_t at = r->n_sources++;

	assert_true(at < MAX_PART);
	for (; at && r->source[at - 1].port > ca; at--)
		r->source[at] = r->source[at - 1];
	r->source[at] = (struct ibcc_source){ ca, role, l->mbps, l->waited, l->becn };
	r->n_victims += role == IBCC_ROLE_VICTIM;
	r->n_contributors += role == IBCC_ROLE_CONTRIBUTOR || role == IBCC_ROLE_CANDIDATE;
}

/* Whether congestion starts at a port. */
static bool examine(const struct fabric *f, uint32_t port, struct ibcc_root *r, struct found *w)
{
	const struct ibcc_topo *t = f->t;
	const struct load *l = &f->load[port];
	bool waits = l->waited >= f->p.slow_wait_permille;
	uint64_t most = 0, free_mbps = 0;
	uint32_t n_blocked = 0, n_shared = 0;

	*w = (struct found){ .flag = NULL };
	*r = (struct ibcc_root){ .port = port,
				 .kind = waits ? IBCC_CONGESTION_OUTPUT : IBCC_CONGESTION_INPUT,
				 .hidden = waits && t->port[port].beyond == IBCC_BEYOND_SWITCH,
				 .source = r->source };
	if (!l->usable || !ibcc_topo_is_switch(t, t->port[port].node) ||
	    l->sent + l->waited < f->p.full_permille ||
	    (waits && !ibcc_topo_faces_ca(t, port) && !r->hidden))
		return false;
	walk_plainly(f, w, port);
	for (uint32_t i = 0; i < t->n_ports; i++) {
		uint8_t flag = is_ca_port(t, i) ? flag_of(f, w, port, i) : 0;
		bool blocked = flag & TREE_BLOCKED;

		if (!flag || !f->load[i].usable)
			continue;
		most = f->load[i].becn > most ? f->load[i].becn : most;
		if (!is_waiting(f, i))
			free_mbps += f->load[i].mbps;
		/* One may be throttled for another root in place of waiting for a slow receiver. */
		n_blocked +=
			is_waiting(f, i) ? blocked || waits : blocked && waits && f->load[i].becn;
		n_shared += is_waiting(f, i) && blocked && flag & TREE_SHARED;
	}
	if (n_blocked < 2 && !most)
		return false;
	r->fed_freely = !waits && !most && !n_shared &&
			free_mbps * 1000 >= (uint64_t)l->mbps * f->p.full_permille;
	for (uint32_t i = 0; i < t->n_ports; i++) {
		enum ibcc_role role = IBCC_ROLE_NONE;

		if (is_ca_port(t, i))
			role = role_of(f, i, flag_of(f, w, port, i), most);
		if (role != IBCC_ROLE_NONE)
			add_source(f, r, i, role);
	}
	return true;
}

static void drop_root(struct roots *x, uint32_t i)
{
	found_fini(&x->found[i]);
	x->n--;
	memmove(&x->root[i], &x->root[i + 1], (x->n - i) * sizeof(x->root[0]));
	memmove(&x->found[i], &x->found[i + 1], (x->n - i) * sizeof(x->found[0]));
}

/* Whether a root that is not full leads to a switch with another root. */
static bool feeds_root(const struct fabric *f, const struct roots *x, const struct ibcc_root *r)
{
	uint32_t peer = f->t->port[r->port].peer;

	if (peer == IBCC_NONE || is_ca_port(f->t, peer) ||
	    f->load[r->port].sent >= f->p.full_permille)
		return false;
	for (uint32_t i = 0; i < x->n; i++)
		if (f->t->port[x->root[i].port].node == f->t->port[peer].node)
			return true;
	return false;
}

/* Whether an adapter contributes to a root, with or without those that are fed freely. */
static bool takes_part(const struct roots *x, uint32_t ca, bool fed_freely)
{
	for (uint32_t i = 0; i < x->n; i++)
		for (uint32_t k = 0; k < x->root[i].n_sources; k++)
			if (x->root[i].source[k].port == ca &&
			    (x->root[i].source[k].role == IBCC_ROLE_CONTRIBUTOR ||
			     x->root[i].source[k].role == IBCC_ROLE_CANDIDATE) &&
			    (fed_freely || !x->root[i].fed_freely))
				return true;
	return false;
}

static bool has_role(const struct roots *x, uint32_t ca)
{
	for (uint32_t i = 0; i < x->n; i++)
		for (uint32_t k = 0; k < x->root[i].n_sources; k++)
			if (x->root[i].source[k].port == ca)
				return true;
	return false;
}

/* Removes roots that feed others, then those that are full and block none. */
static void remove_roots(const struct fabric *f, struct roots *x)
{
	bool *is_free = calloc(x->n + 1, sizeof(*is_free));

	assert_non_null(is_free);
	for (uint32_t i = x->n; i-- > 0;)
		if (feeds_root(f, x, &x->root[i]))
			drop_root(x, i);
	for (uint32_t i = 0; i < x->n; i++) {
		is_free[i] = x->root[i].fed_freely;
		for (uint32_t k = 0; k < x->root[i].n_sources; k++)
			if (x->root[i].source[k].role == IBCC_ROLE_CANDIDATE &&
			    !takes_part(x, x->root[i].source[k].port, false))
				is_free[i] = false;
	}
	for (uint32_t i = x->n; i-- > 0;)
		if (is_free[i])
			drop_root(x, i);
	free(is_free);
}

/* Whether packets from a switch may queue at a port that waits for a root. */
static bool holds_up(const struct fabric *f, const struct found *w, uint32_t from)
{
	for (uint32_t lid = 1; lid <= IBCC_LID_MAX; lid++) {
		uint32_t node = from, hops = 0, out = out_of(f->t, node, lid);

		if (!is_used(f->t, lid))
			continue;
		while (out != IBCC_NONE && hops++ < f->switches && is_blocked(f, out) &&
		       f->t->port[out].peer != IBCC_NONE) {
			if (w->flag[out] & TREE_FEEDS)
				return true;
			node = f->t->port[f->t->port[out].peer].node;
			if (!ibcc_topo_is_switch(f->t, node))
				break;
			out = out_of(f->t, node, lid);
		}
	}
	return false;
}

/* Whether an adapter waits, and a port of its switch passes on congestion. */
static bool waits_behind(const struct fabric *f, uint32_t ca)
{
	const struct ibcc_topo_node *sw;

	if (!is_ca_port(f->t, ca) || f->t->port[ca].peer == IBCC_NONE || !is_waiting(f, ca))
		return false;
	sw = &f->t->node[f->t->port[f->t->port[ca].peer].node];
	for (uint32_t i = 1; i <= sw->n_ports; i++)
		if (is_blocked(f, sw->first_port + i))
			return true;
	return false;
}

/* Adds to the victims whom no root explains, and removes those that contribute to some root. */
static void settle_victims(const struct fabric *f, struct roots *x)
{
	bool *open = calloc(f->t->n_ports, sizeof(*open));

	assert_non_null(open);
	for (uint32_t i = 0; i < f->t->n_ports; i++)
		open[i] = waits_behind(f, i) && !has_role(x, i);
	for (uint32_t i = 0; i < f->t->n_ports; i++)
		for (uint32_t k = 0; open[i] && k < x->n; k++)
			if (holds_up(f, &x->found[k], f->t->port[f->t->port[i].peer].node))
				add_source(f, &x->root[k], i, IBCC_ROLE_VICTIM);
	free(open);
	for (uint32_t i = 0; i < x->n; i++) {
		struct ibcc_root *r = &x->root[i];
		uint32_t n = 0;

		for (uint32_t k = 0; k < r->n_sources; k++) {
			bool gone = r->source[k].role == IBCC_ROLE_VICTIM &&
				    takes_part(x, r->source[k].port, true);

			r->n_victims -= gone;
			r->becn += gone ? 0 : r->source[k].becn;
			if (!gone)
				r->source[n++] = r->source[k];
		}
		r->n_sources = n;
	}
}

static uint64_t waits_of(const struct ibcc_root *r)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < r->n_sources; k++)
		sum += r->source[k].wait_permille;
	return sum;
}

static void find_roots(const struct fabric *f, struct roots *x)
{
	x->n = 0;
	for (uint32_t i = 0; i < f->t->n_ports; i++) {
		assert_true(x->n < MAX_PART);
		x->root[x->n].source = x->source[x->n];
		if (examine(f, i, &x->root[x->n], &x->found[x->n]))
			x->n++;
		else
			found_fini(&x->found[x->n]);
	}
	remove_roots(f, x);
	settle_victims(f, x);
}

static bool is_equal(const struct ibcc_root *a, const struct ibcc_root *b, const struct found *w)
{
	for (uint32_t k = 0; k < a->n_sources && k < b->n_sources; k++)
		if (a->source[k].port != b->source[k].port ||
		    a->source[k].role != b->source[k].role ||
		    a->source[k].xmit_mbps != b->source[k].xmit_mbps ||
		    a->source[k].wait_permille != b->source[k].wait_permille ||
		    a->source[k].becn != b->source[k].becn)
			return false;
	return a->port == b->port && a->kind == b->kind && a->hidden == b->hidden &&
	       a->fed_freely == b->fed_freely && a->n_sources == b->n_sources &&
	       a->n_contributors == b->n_contributors && a->n_victims == b->n_victims &&
	       a->becn == b->becn && a->n_waiting == w->n_waiting &&
	       a->tree_wait_permille == w->feed_wait && a->unknown_mbps == w->unknown_mbps &&
	       a->confidence_permille == 1000ull * w->n_usable / (w->n_read ? w->n_read : 1);
}

/* Each root of the module's is one of the plain ones, and they come by severity. */
static void compare(const struct ibcc_estimate *e, const struct roots *x, uint64_t seed)
{
	if (e->n_roots != x->n || e->n_known != x->n)
		fail_msg("seed %u: %u roots, not %u", (unsigned int)seed, e->n_roots, x->n);
	for (uint32_t i = 0; i < e->n_roots; i++) {
		const struct ibcc_root *r = &e->root[i];
		uint32_t k = 0;

		while (k < x->n && x->root[k].port != r->port)
			k++;
		if (k == x->n || !is_equal(r, &x->root[k], &x->found[k]))
			fail_msg("seed %u: the root at port %u is another one", (unsigned int)seed,
				 r->port);
		if (i && (waits_of(&r[-1]) < waits_of(r) ||
			  (waits_of(&r[-1]) == waits_of(r) && r[-1].port > r->port)))
			fail_msg("seed %u: roots are not in order", (unsigned int)seed);
	}
}

static void test_random(void **state)
{
	struct roots *x = calloc(1, sizeof(*x));
	uint32_t n[IBCC_ROLE_NEAR + 1] = { 0 };

	(void)state;
	assert_non_null(x);
	for (uint64_t seed = 1; seed <= FABRICS; seed++) {
		struct fabric *f = fabric_new(seed);
		struct ibcc_estimate e = { 0 };

		f->p.slow_wait_permille = 300;
		draw_loads(f, &e);
		f->j.out = &e;
		find_roots(f, x);
		ibcc_tree_fini(&f->tree);
		assert_int_equal(ibcc_estimate_roots(&f->j), 0);
		compare(&e, x, seed);
		for (uint32_t i = 0; i < x->n; i++) {
			for (uint32_t k = 0; k < x->root[i].n_sources; k++)
				n[x->root[i].source[k].role]++;
			found_fini(&x->found[i]);
		}
		for (uint32_t i = 0; i < e.n_known; i++)
			free(e.root[i].source);
		free(e.root);
		fabric_free(f);
	}
	free(x);
	/* All roles occur often. */
	for (int role = IBCC_ROLE_CONTRIBUTOR; role <= IBCC_ROLE_NEAR; role++)
		assert_true(n[role] > FABRICS / 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
