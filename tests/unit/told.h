/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Roots under control on the tree of tuners.h, and pairs of source and destination that send
 * through them: made up by each test. Adapters 0..7, leaves 8..11 (two adapters at ports 1 and 2 of
 * each), roots 12 and 13; what is for adapter d goes up by port 3 + d % 2.
 */
#ifndef TEST_TOLD_H
#define TEST_TOLD_H

#include "tuners.h"

#include "lib/core/tuner_state.h"

#define SLOW_MBPS 6000u

static inline int setup_told(void **state)
{
	struct fixture *f;

	setup_tree(state);
	f = *state;
	return ibcc_tuner_prepare(f->tn, f->t);
}

static inline void assert_about(double got, double want)
{
	if (!(fabs(got - want) <= 1e-6 * fabs(want)))
		fail_msg("%.9g instead of %.9g", got, want);
}

static inline uint32_t endport_of(const struct fixture *f, uint32_t node)
{
	return f->t->port[fabric_port(f->t, node, 1)].endport;
}

/* A root whose settings are in force; the tuner's array does not move. */
static inline struct ibcc_tuner_root *root_at(struct fixture *f, uint32_t node, unsigned int num,
					      enum ibcc_congestion kind)
{
	struct ibcc_tuner_root *r = ibcc_tuner_add(f->tn, fabric_port(f->t, node, num));

	assert_non_null(r);
	r->kind = kind;
	r->on = r->in_force = r->begun = r->learned = true;
	ibcc_tuner_number(r, 1, 1, QDR_MBPS);
	r->packet_bytes = 2000;
	return r;
}

/* The port by which adapters 0 and 1 send to those with even numbers. */
static inline struct ibcc_tuner_root *full_root(struct fixture *f)
{
	return root_at(f, 8, 3, IBCC_CONGESTION_INPUT);
}

/* The port to the slow receiver, adapter 6. */
static inline struct ibcc_tuner_root *slow_root(struct fixture *f)
{
	struct ibcc_tuner_root *r = root_at(f, 11, 1, IBCC_CONGESTION_OUTPUT);

	ibcc_tuner_number(r, 1, 1, SLOW_MBPS);
	return r;
}

/* A pair that a root knows by so many packets, without any doubt. */
static inline struct ibcc_tuner_pair *give_pair(struct fixture *f, struct ibcc_tuner_root *r,
						uint32_t src, uint32_t dst, double marks)
{
	struct ibcc_tuner_pairs *p = &r->pairs;

	if (p->n == p->cap) {
		p->cap += 16;
		p->pair = reallocarray(p->pair, p->cap, sizeof(*p->pair));
		assert_non_null(p->pair);
	}
	p->pair[p->n] = (struct ibcc_tuner_pair){
		.src = fabric_port(f->t, src, 1),
		.dlid = traffic_lid(&f->tr, dst),
		.logged = marks,
		.marks = marks,
	};
	p->samples += marks;
	p->marks += marks;
	p->logged[endport_of(f, src)] += marks;
	return &p->pair[p->n++];
}

/* What a root sent while its pairs were counted. */
static inline void give_load(struct ibcc_tuner_root *r, double mbps)
{
	r->pairs.passes = 10;
	r->pairs.sent_mbps = 10 * mbps;
	r->pairs.capacity_mbps = r->rate_mbps;
}

/* Trees of roots that are in an estimate. */
struct trees {
	struct ibcc_estimate e;
	struct ibcc_root root[2];
};

static inline void stand(struct trees *s, const struct ibcc_tuner_root *r,
			 uint16_t tree_wait_permille)
{
	s->root[s->e.n_roots++] =
		(struct ibcc_root){ .port = r->port, .tree_wait_permille = tree_wait_permille };
	s->e.root = s->root;
}

#endif
