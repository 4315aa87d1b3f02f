/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The rollout of each root with settings (rollout.h). ibcc_rollout_judge() looks in each pass
 * whether packets were marked, and ibcc_rollout_split() takes those changes out of a plan that have
 * to wait.
 */
#include <ibcc/rollout.h>
#include <ibcc/text.h>

#include <errno.h>
#include <stdlib.h>

#define CONGESTED_PERMILLE 100u /* the tree waits this share of the time: its buffers are full */
#define DUE_MARKS          16u  /* if fewer marks are due, all may be missing by coincidence */

static const struct ibcc_root_parameters *set_root(const struct ibcc_parameters *p, uint32_t port)
{
	const struct ibcc_root_parameters *r;

	ibcc_parameters_each (r, p)
		if (r->port == port)
			return r;
	return NULL;
}

static bool is_followed(const struct ibcc_rollout *r, uint32_t port)
{
	for (uint32_t i = 0; i < r->n_roots; i++)
		if (r->root[i].port == port)
			return true;
	return false;
}

/* Updates the list of roots with settings. A root that is let go starts again if it comes back. */
static void follow(struct ibcc_rollout *r, const struct ibcc_parameters *p)
{
	const struct ibcc_root_parameters *of;
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n_roots; i++)
		if (set_root(p, r->root[i].port))
			r->root[n++] = r->root[i];
	r->n_roots = n;
	ibcc_parameters_each (of, p)
		if (r->n_roots < IBCC_ROOTS_MAX && !is_followed(r, of->port))
			r->root[r->n_roots++] = (struct ibcc_rollout_root){ .port = of->port };
}

/* Were there marks of this root, or marks that may be of any root? */
static bool moved(const struct ibcc_estimate *pic, const struct ibcc_root *now)
{
	return now->fecn || now->becn || (pic->fecn && !pic->becn);
}

/* Would BECNs show at the adapters that send to this root? */
static bool is_counted(const struct ibcc_snapshot *s, const struct ibcc_root *now)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < now->n_sources; i++) {
		const struct ibcc_port_sample *of = &s->port[now->source[i].port];

		n += ibcc_sample_is_known(of) && of->now.width[IBCC_CTR_RCV_BECN] &&
		     !of->trust.doubt;
	}
	return n && 2 * n >= now->n_sources;
}

static bool is_due(const struct ibcc_topo *t, const struct ibcc_estimate *pic,
		   const struct ibcc_root *now, const struct ibcc_endport_cc *sw)
{
	struct ibcc_cc_sw_port_element el = ibcc_settings_effective(sw, t->port[now->port].num);
	uint32_t bytes = now->packet_bytes ? now->packet_bytes : 1;
	uint64_t packets = now->rate_mbps * now->interval_ns / 8000 / bytes;

	return pic->trustworthy && now->fresh && !now->doubted && ibcc_estimate_sees(pic, now) &&
	       now->tree_wait_permille > CONGESTED_PERMILLE &&
	       packets / (el.Cong_Parm_Marking_Rate + 1u) >= DUE_MARKS;
}

bool ibcc_rollout_is_ignorer(const struct ibcc_rollout *r, uint32_t endport)
{
	for (uint32_t i = 0; i < r->n_ignorers; i++)
		if (r->ignorer[i].endport == endport)
			return true;
	return false;
}

/* Has a root had its last chance? */
static bool is_in_vain(struct ibcc_rollout *r, struct ibcc_rollout_root *root,
		       const struct ibcc_topo *t, const struct ibcc_snapshot *s,
		       const struct ibcc_root *now)
{
	uint32_t sw = ibcc_topo_switch_endport(t, root->port);

	if (++root->passes < IBCC_ROLLOUT_PASSES)
		return false;
	if (!is_counted(s, now) || r->n_ignorers == IBCC_ROOTS_MAX) {
		root->stage = IBCC_ROLLOUT_PROVEN;
		return false;
	}
	if (!ibcc_rollout_is_ignorer(r, sw))
		r->ignorer[r->n_ignorers++] =
			(struct ibcc_rollout_ignorer){ sw, root->port, root->passes };
	return true;
}

uint32_t ibcc_rollout_judge(struct ibcc_rollout *r, const struct ibcc_topo *t,
			    const struct ibcc_parameters *p, const struct ibcc_estimate *pic,
			    const struct ibcc_snapshot *s, const struct ibcc_settings *actual)
{
	uint32_t in_vain = IBCC_NONE;

	follow(r, p);
	r->n_left_then = r->n_left;
	r->n_written = r->n_left = 0;
	for (uint32_t i = 0; i < r->n_roots; i++) {
		struct ibcc_rollout_root *root = &r->root[i];
		const struct ibcc_root *now = ibcc_estimate_find(pic, root->port);
		const struct ibcc_endport_cc *sw =
			&actual->ep[ibcc_topo_switch_endport(t, root->port)];

		if ((root->stage != IBCC_ROLLOUT_CANARY && root->stage != IBCC_ROLLOUT_WHOLE) ||
		    !now || sw->support != IBCC_CC_SUPPORTED ||
		    sw->mechanism != IBCC_MECHANISM_A10 ||
		    !ibcc_settings_port_marks(sw, t->port[root->port].num))
			continue;
		if (moved(pic, now))
			root->stage = IBCC_ROLLOUT_PROVEN;
		else if (in_vain == IBCC_NONE && is_due(t, pic, now, sw) &&
			 is_in_vain(r, root, t, s, now))
			in_vain = root->port;
	}
	return in_vain;
}

/* One split. */
struct split {
	const struct ibcc_topo *t;
	const struct ibcc_parameters *p;
	const struct ibcc_estimate *pic;
	const struct ibcc_settings *actual, *wanted;
	const struct ibcc_plan *plan;
	enum fate {
		NOT_PLANNED, /* nothing is written there */
		RELAXES,
		GOES,  /* is given something */
		WAITS, /* is given something, but later */
	} *
		fate; /* by endport */
};

static uint32_t count(const struct split *j, enum fate fate)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < j->t->n_endports; i++)
		n += j->fate[i] == fate;
	return n;
}

static void read_plan(const struct split *j)
{
	for (uint32_t i = 0; i < j->plan->n; i++) {
		uint32_t e = ibcc_change_endport(&j->plan->change[i], j->t);

		if (e != IBCC_NONE)
			j->fate[e] = ibcc_settings_relax(&j->actual->ep[e], &j->wanted->ep[e])
					     ? RELAXES
					     : GOES;
	}
}

static uint32_t load_of(const struct split *j, uint32_t endport)
{
	return endport < j->pic->n_loads ? j->pic->load[endport].mbps : 0;
}

/* Chooses the adapters that send most: there a missing mark is least likely to be a coincidence. */
static void choose(const struct split *j, const struct ibcc_root_parameters *of,
		   struct ibcc_rollout_root *root)
{
	root->n_canaries = 0;
	while (root->n_canaries < IBCC_ROLLOUT_CANARIES) {
		uint32_t best = IBCC_NONE;

		for (uint32_t e = 0; e < j->t->n_endports; e++) {
			bool taken = false;

			for (uint32_t i = 0; i < root->n_canaries; i++)
				taken |= root->canary[i] == e;
			if (!taken && of->member[e] && j->fate[e] == GOES &&
			    (best == IBCC_NONE || load_of(j, e) > load_of(j, best)))
				best = e;
		}
		if (best == IBCC_NONE)
			break;
		root->canary[root->n_canaries++] = best;
	}
}

static void hold_back(const struct split *j, const struct ibcc_root_parameters *of)
{
	for (uint32_t e = 0; e < j->t->n_endports; e++)
		if (of->member[e] && j->fate[e] == GOES)
			j->fate[e] = WAITS;
}

static void let_go(const struct split *j, uint32_t endport)
{
	if (j->fate[endport] == WAITS)
		j->fate[endport] = GOES;
}

static void decide(struct ibcc_rollout *r, const struct split *j)
{
	bool large = count(j, GOES) > IBCC_ROLLOUT_NODES;

	for (uint32_t i = 0; i < r->n_roots; i++) {
		struct ibcc_rollout_root *root = &r->root[i];
		const struct ibcc_root_parameters *of = set_root(j->p, root->port);

		if (!of || root->stage == IBCC_ROLLOUT_PROVEN)
			continue;
		if (large && root->stage != IBCC_ROLLOUT_CANARY) {
			root->stage = IBCC_ROLLOUT_CANARY;
			choose(j, of, root);
		} else if (root->stage == IBCC_ROLLOUT_NEW) {
			root->stage = IBCC_ROLLOUT_WHOLE;
		}
	}
	for (uint32_t i = 0; i < r->n_roots; i++)
		if (r->root[i].stage == IBCC_ROLLOUT_CANARY && set_root(j->p, r->root[i].port))
			hold_back(j, set_root(j->p, r->root[i].port));
	for (uint32_t i = 0; i < r->n_roots; i++)
		for (uint32_t k = 0; k < r->root[i].n_canaries; k++)
			let_go(j, r->root[i].canary[k]);
}

int ibcc_rollout_split(struct ibcc_rollout *r, const struct ibcc_topo *t,
		       const struct ibcc_parameters *p, const struct ibcc_estimate *pic,
		       const struct ibcc_settings *actual, const struct ibcc_settings *wanted,
		       const struct ibcc_plan *plan, struct ibcc_plan *part)
{
	struct split j = { t, p, pic, actual, wanted, plan, NULL };
	int rc = 0;

	*part = (struct ibcc_plan){ .generation = plan->generation,
				    .n_unchanged = plan->n_unchanged,
				    .n_unreachable = plan->n_unreachable };
	j.fate = calloc(t->n_endports ? t->n_endports : 1, sizeof(*j.fate));
	if (!j.fate)
		return -ENOMEM;
	follow(r, p);
	read_plan(&j);
	decide(r, &j);
	r->n_left = count(&j, WAITS);
	r->n_written = r->n_left ? count(&j, GOES) : 0;
	for (uint32_t i = 0; i < plan->n && !rc; i++) {
		uint32_t e = ibcc_change_endport(&plan->change[i], t);

		if (e == IBCC_NONE || j.fate[e] != WAITS)
			rc = ibcc_plan_append(part, &plan->change[i]);
	}
	if (rc)
		ibcc_plan_fini(part);
	free(j.fate);
	return rc;
}

void ibcc_rollout_all(struct ibcc_rollout *r, const struct ibcc_parameters *p)
{
	follow(r, p);
	r->n_written = r->n_left = 0;
	for (uint32_t i = 0; i < r->n_roots; i++) {
		r->root[i].n_canaries = 0;
		if (r->root[i].stage < IBCC_ROLLOUT_WHOLE)
			r->root[i].stage = IBCC_ROLLOUT_WHOLE;
	}
}

void ibcc_rollout_forget(struct ibcc_rollout *r)
{
	r->n_roots = 0;
	r->n_written = r->n_left = r->n_left_then = 0;
}

void ibcc_rollout_text(const struct ibcc_rollout *r, const struct ibcc_topo *t,
		       struct ibcc_why *text)
{
	const struct ibcc_rollout_ignorer *first = &r->ignorer[0];
	const struct ibcc_topo_port *port = &t->port[first->port];

	text->text[0] = '\0';
	if (!r->n_ignorers)
		return;
	ibcc_why_set(text, 0,
		     "no effect after %u polling cycle%s: \"%s\" port %u marks and is congested, "
		     "yet no FECN or BECN counter moves: the hardware ignores it, or nothing "
		     "queues there, and the "
		     "daemon reverts the settings%s",
		     first->passes, ibcc_text_plural(first->passes, "", "s"),
		     t->node[port->node].desc, port->num, r->n_ignorers > 1 ? "; others, too" : "");
}
