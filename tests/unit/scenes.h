/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Invented estimates, on a tree of two levels of 4-port switches: adapters 0..7, leaves 8..11 with
 * two adapters each at ports 1 and 2, roots 12 and 13. Passes of 1 ms, packets of 2000 bytes.
 */
#ifndef TEST_SCENES_H
#define TEST_SCENES_H

#include "tuners.h"

#define SLOW_MBPS 6000u

static inline int setup_scene(void **state)
{
	struct fixture *f;

	setup_tree(state);
	f = *state;
	f->s.pic = (struct ibcc_estimate){
		.interval_ns = 1000000,
		.trustworthy = true,
		.root = f->s.root,
		.n_loads = f->t->n_endports,
		.load = f->s.load,
	};
	return 0;
}

/* Adds a root: n adapters from `first` on wait for it, and send as much again elsewhere. */
static inline struct ibcc_root *see(struct fixture *f, uint32_t node, unsigned int num,
				    enum ibcc_congestion kind, uint32_t first, uint32_t n)
{
	bool slow = kind == IBCC_CONGESTION_OUTPUT;
	uint32_t k = f->s.pic.n_known++, mbps = slow ? SLOW_MBPS : QDR_MBPS;
	struct ibcc_root *r = &f->s.root[k];

	f->s.pic.n_roots = f->s.pic.n_known;
	*r = (struct ibcc_root){
		.port = fabric_port(f->t, node, num),
		.kind = kind,
		.link_mbps = QDR_MBPS,
		.rate_mbps = mbps,
		.wait_permille = slow ? 812 : 0,
		.tree_wait_permille = 600,
		.confidence_permille = 1000,
		.n_contributors = n,
		.n_waiting = n,
		.n_sources = n,
		.source = f->s.source[k],
		.fresh = true,
		.interval_ns = f->s.pic.interval_ns,
		.packet_bytes = 2000,
		.becns = f->s.becns[k],
		.sends = f->s.sends[k],
	};
	for (uint32_t i = 0; i < n; i++)
		r->source[i] = (struct ibcc_source){
			.port = fabric_port(f->t, first + i, 1),
			.role = IBCC_ROLE_CANDIDATE,
			.xmit_mbps = 2 * mbps / n,
			.wait_permille = 600,
		};
	return r;
}

/* Adds the port to adapter 6, which is slow: adapters 0 to 3 wait for it. */
static inline struct ibcc_root *see_slow(struct fixture *f)
{
	return see(f, 11, 1, IBCC_CONGESTION_OUTPUT, 0, 4);
}

/* Adds the link from a root switch to adapter 6's leaf, which is full. */
static inline struct ibcc_root *see_full(struct fixture *f)
{
	return see(f, 12, 4, IBCC_CONGESTION_INPUT, 0, 4);
}

/* Sets the counters of a root: n contributors, which equal n_heavy heavy ones, and the marks in
 * each pass.
 */
static inline void mark(struct ibcc_root *r, uint32_t n, uint32_t n_heavy, uint64_t marks)
{
	r->n_marked = n;
	r->n_heavy = n_heavy;
	r->becn = marks;
}

/* Sets the log of the root's switch: it names n pairs that find their bottleneck there. */
static inline void tell(struct ibcc_root *r, uint32_t n, double mbps)
{
	r->logged = true;
	r->n_limited = r->n_senders = n;
	r->limited_mbps = mbps;
	r->samples = 1e6;
	r->capacity_mbps = r->rate_mbps;
}

static inline uint32_t pass(struct fixture *f)
{
	return decide(f, &f->s.pic);
}

static inline void passes(struct fixture *f, unsigned int n)
{
	while (n--)
		pass(f);
}

static inline enum ibcc_phase phase(const struct fixture *f, const struct ibcc_root *r)
{
	const struct ibcc_root_parameters *p = at(f, r->port);

	assert_non_null(p);
	return p->phase;
}

static inline bool is_on(const struct fixture *f, const struct ibcc_root *r)
{
	return at(f, r->port) && ibcc_phase_sets(at(f, r->port)->phase);
}

/* Counts passes until the tuner no longer controls a root; stops at a limit. */
static inline unsigned int passes_on(struct fixture *f, const struct ibcc_root *r, unsigned int max)
{
	unsigned int n = 0;

	while (n < max && is_on(f, r)) {
		pass(f);
		n++;
	}
	return n;
}

/* Makes the passes until a root is held: two to confirm the root, and three for its settings to
 * settle. The next pass is the first that judges the settings.
 */
static inline const struct ibcc_root_parameters *hold(struct fixture *f, const struct ibcc_root *r)
{
	for (unsigned int i = 0; i < 40 && !is_on(f, r); i++)
		pass(f);
	passes(f, 3);
	assert_int_equal(phase(f, r), IBCC_PHASE_HOLD);
	assert_true(at(f, r->port)->in_force);
	return at(f, r->port);
}

static inline void start_anew(struct fixture *f)
{
	struct ibcc_settings none;

	settings_for(&none, f->t);
	take(f, &none);
	ibcc_settings_fini(&none);
	forget(f);
	f->s.pic.n_roots = f->s.pic.n_known = 0;
	f->n_changed = 0;
}

/* Makes a tuner with the present parameters. */
static inline void retune(struct fixture *f)
{
	forget(f);
	ibcc_tuner_free(f->tn);
	f->tn = ibcc_tuner_new(&f->p);
	assert_non_null(f->tn);
}

#define SCENE(t) cmocka_unit_test_setup_teardown(t, setup_scene, teardown)

#endif
