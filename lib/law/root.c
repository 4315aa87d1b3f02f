/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The list of the roots that are followed, and which root is in which phase. */
#include <ibcc/parameters.h>

#include <assert.h>
#include <stdlib.h>

#include <ibcc/estimate.h>

struct ibcc_root_state *ibcc_parameters_find(struct ibcc_parameters *p, uint32_t port)
{
	for (uint32_t k = 0; k < p->n_roots; k++)
		if (p->root[k].r.port == port)
			return &p->root[k];
	return NULL;
}

struct ibcc_root_state *ibcc_parameters_add(struct ibcc_parameters *p, uint32_t port)
{
	size_t n = p->n_endports ? p->n_endports : 1;
	struct ibcc_root_state s = {
		.r = {
			.port = port,
			.table_scale_permille = 1000,
			.timer_scale_permille = 1000,
			.leader = p->n_roots,
			.alone = true,
		},
		.patience = 1,
	};

	if (p->n_roots == IBCC_ROOTS_MAX)
		return NULL;
	s.r.member = calloc(n, sizeof(*s.r.member));
	s.r.lacking = calloc(n, sizeof(*s.r.lacking));
	s.behind = calloc(n, sizeof(*s.behind));
	if (!s.r.member || !s.r.lacking || !s.behind) {
		free(s.r.member);
		free(s.r.lacking);
		free(s.behind);
		return NULL;
	}
	p->root[p->n_roots] = s;
	return &p->root[p->n_roots++];
}

enum ibcc_root_status ibcc_parameters_status(const struct ibcc_parameters *p, uint32_t port)
{
	for (uint32_t k = 0; k < p->n_roots; k++)
		if (p->root[k].r.port == port)
			return p->root[k].r.status;
	for (uint32_t i = 0; i < p->n_others; i++)
		if (p->other[i].port == port)
			return p->other[i].status;
	return IBCC_STATUS_NO_ROOT;
}

void ibcc_parameters_pass_over(struct ibcc_parameters *p, uint32_t port,
			       enum ibcc_root_status status)
{
	if (p->n_others < IBCC_OTHERS_MAX)
		p->other[p->n_others++] = (struct ibcc_root_other){ port, status };
}

void ibcc_parameters_remove(struct ibcc_parameters *p, uint32_t k)
{
	free(p->root[k].r.member);
	free(p->root[k].r.lacking);
	free(p->root[k].behind);
	free(p->root[k].before);
	p->root[k] = p->root[--p->n_roots];
	p->root[p->n_roots] = (struct ibcc_root_state){ 0 };
}

void ibcc_parameters_fini(struct ibcc_parameters *p)
{
	while (p->n_roots)
		ibcc_parameters_remove(p, p->n_roots - 1);
}

static unsigned int bit(enum ibcc_phase phase)
{
	return 1u << phase;
}

/* The phases that may come next: the state diagram of controller.c. */
static unsigned int next_of(enum ibcc_phase phase)
{
	switch (phase) {
	case IBCC_PHASE_WATCH:
		return bit(IBCC_PHASE_LEARN) | bit(IBCC_PHASE_DRAIN) | bit(IBCC_PHASE_HOLD);
	case IBCC_PHASE_LEARN:
		return bit(IBCC_PHASE_DRAIN) | bit(IBCC_PHASE_HOLD) | bit(IBCC_PHASE_BARRED);
	case IBCC_PHASE_DRAIN: return bit(IBCC_PHASE_HOLD) | bit(IBCC_PHASE_BARRED);
	case IBCC_PHASE_HOLD: return bit(IBCC_PHASE_DRAIN) | bit(IBCC_PHASE_BARRED);
	case IBCC_PHASE_BARRED: return bit(IBCC_PHASE_WATCH);
	}
	return 0;
}

static void leave(struct ibcc_root_state *s)
{
	switch (s->r.phase) {
	case IBCC_PHASE_WATCH: s->seen = 0; break;
	case IBCC_PHASE_LEARN:
	case IBCC_PHASE_BARRED: break;
	case IBCC_PHASE_DRAIN: s->dry = 0; break;
	case IBCC_PHASE_HOLD:
		s->returned = 0;
		s->turning = 0;
		s->unmarked = false;
		break;
	}
}

void ibcc_root_enter(struct ibcc_root_state *s, enum ibcc_phase phase, uint16_t passes)
{
	assert(next_of(s->r.phase) & bit(phase));
	leave(s);
	/* Control was reverted: it left nothing to go on from. */
	if (phase == IBCC_PHASE_BARRED)
		*s = (struct ibcc_root_state){
			.r = s->r,
			.patience = s->patience,
			.behind = s->behind,
			.before = s->before,
			.barred = passes,
			.done = s->done,
		};
	s->r.phase = phase;
	s->left = passes;
	if (!ibcc_phase_sets(phase))
		s->r.in_force = s->r.limits_known = false;
}
