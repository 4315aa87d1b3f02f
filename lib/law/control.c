/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Control that outlives its controller. Each write also saves what was decided about the roots, and
 * a new controller goes on from there after a restart. Sums of the counters are not saved: a new
 * controller judges by what it has seen itself.
 */
#include <ibcc/control.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/device.h>

#include "rules.h"

int ibcc_control_add(struct ibcc_control *c, const struct ibcc_control_root *root)
{
	struct ibcc_control_root copy = *root;

	if (c->n_roots == IBCC_ROOTS_MAX)
		return -ENOMEM;
	copy.node = calloc(copy.n_nodes + 1, sizeof(*copy.node));
	if (!copy.node)
		return -ENOMEM;
	memcpy(copy.node, root->node, copy.n_nodes * sizeof(*copy.node));
	c->root[c->n_roots++] = copy;
	return 0;
}

void ibcc_control_remove(struct ibcc_control *c, uint32_t k)
{
	free(c->root[k].node);
	c->root[k] = c->root[--c->n_roots];
	c->root[c->n_roots] = (struct ibcc_control_root){ 0 };
}

void ibcc_control_fini(struct ibcc_control *c)
{
	while (c->n_roots)
		ibcc_control_remove(c, c->n_roots - 1);
}

static int save_nodes(const struct ibcc_topo *t, const struct ibcc_root_state *s,
		      struct ibcc_control_root *out)
{
	out->node = calloc(t->n_endports ? t->n_endports : 1, sizeof(*out->node));
	if (!out->node)
		return -ENOMEM;
	for (uint32_t e = 0; e < t->n_endports; e++) {
		const struct ibcc_topo_port *p = &t->port[t->endport[e]];
		struct ibcc_control_node n = { .guid = t->node[p->node].guid,
					       .port = p->num,
					       .member = s->r.member[e] };

		if (s->before)
			n.before = s->before[e];
		if (n.member || n.before.known)
			out->node[out->n_nodes++] = n;
	}
	return 0;
}

static int save_root(const struct ibcc_topo *t, const struct ibcc_root_state *s,
		     struct ibcc_control_root *out)
{
	const struct ibcc_topo_port *p = &t->port[s->r.port];

	*out = (struct ibcc_control_root){ .guid = t->node[p->node].guid, .port = p->num, .s = *s };
	out->s.r.port = IBCC_NONE;
	out->s.r.member = out->s.r.lacking = NULL;
	out->s.behind = NULL;
	out->s.before = NULL;
	out->s.known = out->s.root = out->s.now = NULL;
	return save_nodes(t, s, out);
}

int ibcc_tuner_save(const struct ibcc_tuner *c, const struct ibcc_topo *t, struct ibcc_control *out)
{
	int ret = 0;

	out->n_roots = 0;
	for (uint32_t k = 0; k < c->par.n_roots && !ret; k++)
		if (ibcc_phase_sets(c->par.root[k].r.phase))
			ret = save_root(t, &c->par.root[k], &out->root[out->n_roots++]);
	if (ret)
		ibcc_control_fini(out);
	return ret;
}

/* Its port may have been looked at already, but nothing was decided about it. */
static struct ibcc_root_state *begin(struct ibcc_tuner *c, uint32_t port)
{
	struct ibcc_root_state *s = ibcc_parameters_find(&c->par, port);

	if (s && ibcc_phase_sets(s->r.phase))
		return NULL;
	if (s)
		ibcc_parameters_remove(&c->par, (uint32_t)(s - c->par.root));
	return ibcc_parameters_add(&c->par, port);
}

static void take_nodes(const struct ibcc_topo *t, const struct ibcc_control_root *from,
		       const struct ibcc_settings *actual, struct ibcc_root_state *s)
{
	for (uint32_t i = 0; i < from->n_nodes; i++) {
		const struct ibcc_control_node *n = &from->node[i];
		uint32_t e = ibcc_topo_find_endport(t, n->guid, n->port);
		uint32_t node = e == IBCC_NONE ? IBCC_NONE : t->port[t->endport[e]].node;

		if (e == IBCC_NONE || ibcc_topo_is_switch(t, node))
			continue;
		s->before[e] = n->before;
		s->behind[e] = n->member || n->before.wait_permille > IBCC_FREE_PERMILLE;
		if (!n->member || !ibcc_device_takes_part(t, node))
			continue;
		/* An adapter that has not answered yet is a member of which nothing is known. */
		s->r.member[e] = actual->ep[e].support != IBCC_CC_SUPPORTED ||
				 ibcc_endport_reacts(&actual->ep[e]);
	}
}

int ibcc_controller_take(struct ibcc_tuner *c, const struct ibcc_topo *t,
			 const struct ibcc_control_root *from, const struct ibcc_settings *actual)
{
	uint32_t node = ibcc_topo_find_guid(t, from->guid);
	uint32_t port = node == IBCC_NONE ? IBCC_NONE : ibcc_topo_port_index(t, node, from->port);
	struct ibcc_root_parameters r;
	struct ibcc_load *before;
	struct ibcc_root_state *s;

	if (port == IBCC_NONE || !from->port)
		return 0;
	before = calloc(t->n_endports ? t->n_endports : 1, sizeof(*before));
	if (!before)
		return -ENOMEM;
	s = begin(c, port);
	if (!s) {
		free(before);
		return 0;
	}
	r = from->s.r;
	r.port = port;
	r.member = s->r.member;
	r.lacking = s->r.lacking;
	r.in_force = false;
	r.status = IBCC_STATUS_NOT_IN_FORCE;
	*s = (struct ibcc_root_state){
		.r = r,
		.behind = s->behind,
		.before = before,
		.begun = true,
		.left = from->s.left ? from->s.left : 1,
		.settle = c->p.settle_passes,
		.patience = from->s.patience ? from->s.patience : 1,
		.guarded = from->s.guarded,
		.backoff = from->s.backoff,
		.n_adapters = from->s.n_adapters,
		.full_mbps = from->s.full_mbps,
		.jam_mbps = from->s.jam_mbps,
	};
	take_nodes(t, from, actual, s);
	c->since_change = 0;
	return 0;
}

/* A root may still change if its guard still looks, or if its feedback has not judged it yet. */
static bool holds(const struct ibcc_tuner *c, const struct ibcc_root_state *s)
{
	return s->r.phase == IBCC_PHASE_HOLD && s->r.in_force && !s->settle &&
	       s->guarded >= c->p.guard_passes;
}

bool ibcc_tuner_is_settled(const struct ibcc_tuner *c)
{
	bool any = false;

	for (uint32_t k = 0; k < c->par.n_roots; k++) {
		if (!ibcc_phase_sets(c->par.root[k].r.phase))
			continue;
		if (!holds(c, &c->par.root[k]))
			return false;
		any = true;
	}
	return !any || c->since_change > c->p.settle_passes + 2 * IBCC_JUDGE_PASSES;
}
