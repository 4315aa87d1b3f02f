/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A tuner whose settings are on the fabric in the next pass. Each test scripts how the fabric
 * answers: by counters, or by estimates (scenes.h).
 */
#ifndef TEST_TUNERS_H
#define TEST_TUNERS_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

#include <ibcc/ledger.h>
#include <ibcc/plan.h>
#include <ibcc/tuner.h>

#define SEEN_MAX     40u
#define ENDPORTS_MAX 16u

/* The contents of the next pass's estimate. */
struct scene {
	struct ibcc_estimate pic;
	struct ibcc_root root[SEEN_MAX];
	struct ibcc_source source[SEEN_MAX][8];
	double becns[SEEN_MAX][ENDPORTS_MAX];
	bool sends[SEEN_MAX][ENDPORTS_MAX];
	struct ibcc_load load[ENDPORTS_MAX];
};

struct fixture {
	struct ibcc_topo *t;
	struct ibcc_settings actual;
	struct ibcc_tuner_params p;
	struct ibcc_tuner *tn;
	struct ibcc_ledger ledger;  /* the ledger of the tuner */
	bool apply;                 /* wanted settings are on the fabric in the next pass */
	bool refuse[ENDPORTS_MAX];  /* the wanted settings of these endports are not applied */
	uint32_t n_changed;         /* steps that changed something */
	struct ibcc_decisions said; /* decisions of the last pass */
	bool suspect;
	struct ibcc_target last; /* target of the last step that wanted changes */
	struct traffic tr;
	struct ibcc_estimator *e;
	uint32_t n_roots; /* roots in the last estimate */
	struct scene s;
};

static inline uint32_t endport_of(const struct fixture *f, uint32_t node)
{
	return f->t->port[fabric_port(f->t, node, !ibcc_topo_is_switch(f->t, node))].endport;
}

static inline struct ibcc_endport_cc *cc(struct fixture *f, uint32_t node)
{
	return &f->actual.ep[endport_of(f, node)];
}

/* The ports of a switch with NVIDIA's control have marking profiles, all zero. */
static inline void give_profiles(struct fixture *f, uint32_t node)
{
	struct ibcc_endport_cc *sw = cc(f, node);

	free(sw->profile);
	sw->n_profile = (uint16_t)(f->t->node[node].n_ports + 1u);
	sw->profile = calloc(sw->n_profile, sizeof(*sw->profile));
	assert_non_null(sw->profile);
	for (unsigned int port = 1; port < sw->n_profile; port++) {
		sw->profile[port].known = true;
		sw->profile[port].used = 1;
	}
}

static inline uint32_t end_milli(const struct ibcc_endport_cc *ca)
{
	return ibcc_cct_entry_delay_milli(ca->cct.entry[ca->cct.limit]);
}

/* All nodes have congestion control, with two blocks of table or one of port elements. */
static inline void settings_for(struct ibcc_settings *s, const struct ibcc_topo *t)
{
	assert_int_equal(ibcc_settings_init(s, t), 0);
	for (uint32_t i = 0; i < t->n_endports; i++) {
		uint32_t node = t->port[t->endport[i]].node;
		struct ibcc_endport_cc *ep = &s->ep[i];

		ep->support = IBCC_CC_SUPPORTED;
		if (!ibcc_topo_is_switch(t, node)) {
			ep->info.ControlTableCap = 2;
			continue;
		}
		ep->sw_port_block = 32;
		ep->n_element = t->node[node].n_ports + 1u;
		ep->element = calloc(ep->n_element, sizeof(*ep->element));
		assert_non_null(ep->element);
	}
}

static inline int setup_for(void **state, struct ibcc_topo *t)
{
	struct ibcc_estimator_params ep;
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_true(t->n_endports <= ENDPORTS_MAX);
	f->t = t;
	f->apply = true;
	settings_for(&f->actual, t);
	traffic_init(&f->tr, t);
	traffic_pass(&f->tr);
	ibcc_estimator_defaults(&ep);
	f->e = ibcc_estimator_new(&ep);
	ibcc_tuner_defaults(&f->p);
	f->tn = ibcc_tuner_new(&f->p);
	*state = f;
	return 0;
}

static inline int setup(void **state)
{
	return setup_for(state, fabric_lustre());
}

static inline int setup_tree(void **state)
{
	return setup_for(state, fabric_tree2(4));
}

/* The tuner forgets everything. */
static inline void forget(struct fixture *f)
{
	ibcc_tuner_reset(f->tn);
	ibcc_ledger_reset(&f->ledger);
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	ibcc_target_fini(&f->last);
	ibcc_decisions_fini(&f->said);
	ibcc_tuner_free(f->tn);
	ibcc_ledger_reset(&f->ledger);
	ibcc_estimator_free(f->e);
	ibcc_settings_fini(&f->actual);
	ibcc_snapshot_fini(&f->tr.s);
	ibcc_topo_free(f->t);
	free(f);
	return 0;
}

/* From now on *wanted is on the fabric. */
static inline void take(struct fixture *f, const struct ibcc_settings *wanted)
{
	struct ibcc_settings s;

	assert_int_equal(ibcc_settings_copy(&s, wanted), 0);
	for (uint32_t i = 0; i < s.n; i++) {
		struct ibcc_endport_cc ep = s.ep[i];

		if (!f->refuse[i])
			continue;
		s.ep[i] = f->actual.ep[i];
		f->actual.ep[i] = ep;
	}
	ibcc_settings_fini(&f->actual);
	f->actual = s;
}

/* Does the rest of a pass of the loop, without I/O. Returns the number of Sets that the pass would
 * send.
 */
static inline uint32_t decide(struct fixture *f, const struct ibcc_estimate *pic)
{
	struct ibcc_target target;
	struct ibcc_plan plan;
	char *words;
	uint32_t n;

	assert_int_equal(ibcc_tuner_step(f->tn, f->t, pic, &f->actual, &f->ledger, &target), 0);
	assert_int_equal(ibcc_planner_run(f->t, &f->actual, &target, &plan), 0);
	n = plan.n;
	f->n_changed += n > 0;
	f->suspect = target.suspect;
	/* Each change has its reason, and reasons exist only for changes. */
	for (uint32_t i = 0; i < n; i++)
		assert_in_range(strlen(plan.change[i].reason), 20, IBCC_REASON_BYTES - 2);
	assert_true(!n == !target.n_reasons);
	words = ibcc_words_decisions(f->t, &target.decisions);
	assert_non_null(words);
	assert_true(words[0] != '\0');
	free(words);
	ibcc_decisions_fini(&f->said);
	f->said = target.decisions;
	target.decisions = (struct ibcc_decisions){ 0 };
	if (f->apply)
		take(f, &target.wanted);
	if (n) {
		ibcc_target_fini(&f->last);
		f->last = target;
	} else {
		ibcc_target_fini(&target);
	}
	ibcc_plan_fini(&plan);
	return n;
}

/* Makes a pass by counters. */
static inline uint32_t step(struct fixture *f)
{
	struct ibcc_estimate pic;
	const struct ibcc_parameters *p = ibcc_tuner_parameters(f->tn);
	uint32_t n;

	traffic_pass(&f->tr);
	if (p->n_endports != f->t->n_endports)
		p = NULL; /* the parameters are of another fabric */
	assert_int_equal(ibcc_estimator_run(f->e, f->t, &f->tr.s, &f->actual, p, &pic), 0);
	f->n_roots = pic.n_roots;
	n = decide(f, &pic);
	ibcc_estimate_fini(&pic);
	return n;
}

static inline void steps(struct fixture *f, unsigned int n)
{
	while (n--)
		step(f);
}

/* The parameters of the root at a port; NULL: there are none. */
static inline const struct ibcc_root_parameters *at(const struct fixture *f, uint32_t port)
{
	const struct ibcc_parameters *p = ibcc_tuner_parameters(f->tn);

	for (uint32_t k = 0; k < p->n_roots; k++)
		if (p->root[k].r.port == port)
			return &p->root[k].r;
	return NULL;
}

/* The first decision of the last pass with that code; NULL: there was none. */
static inline const struct ibcc_decision *said(const struct fixture *f,
					       enum ibcc_decision_code code)
{
	for (uint32_t i = 0; i < f->said.n; i++)
		if (f->said.decision[i].code == code)
			return &f->said.decision[i];
	return NULL;
}

/* Asserts that the last pass decided this, and nothing else. */
static inline const struct ibcc_decision *only(const struct fixture *f,
					       enum ibcc_decision_code code)
{
	assert_int_equal(f->said.n, 1);
	assert_int_equal(f->said.decision[0].code, code);
	assert_int_equal(f->said.n_left, 0);
	return &f->said.decision[0];
}

/* The situation that the last pass found, which decided nothing. */
static inline enum ibcc_situation_code found(const struct fixture *f)
{
	assert_int_equal(f->said.n, 0);
	assert_int_equal(f->said.n_left, 0);
	return f->said.situation.code;
}

/* Asserts that the reason for the last new value of a node's attribute has this text. */
static inline void assert_why(const struct fixture *f, uint32_t node, uint16_t attr_id,
			      const char *what)
{
	char buf[IBCC_REASON_BYTES];
	int n = ibcc_target_explain(&f->last, f->t, endport_of(f, node), attr_id, buf, sizeof(buf));

	assert_in_range(n, 20, IBCC_REASON_BYTES - 2);
	if (!strstr(buf, what))
		fail_msg("\"%s\" is not in: %s", what, buf);
}

#endif
