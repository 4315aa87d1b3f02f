/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The management agents of a simulated fabric (agents.h): their state for each node and port, and
 * the dispatch of a MAD to its class.
 *
 * ibcc_agents_answer() is the entry: it hands the request to cc_agent.c (class 0x21), pma_agent.c
 * (PerfMgt) or vendor_agent.c (what is NVIDIA's own) and turns the handler's result into the
 * answer's status. The state lives in struct ibcc_agents (state.h). Settings are kept here and
 * given to the engine; counters are read from the engine. When a fabric changes,
 * ibcc_agents_bind() carries the state over to a new topology and engine.
 */
#include <ibcc/agents.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/agents/state.h"

/* Frees the arrays of the state, not the struct. */
static void state_free(struct ibcc_agents *a)
{
	uint32_t i;

	for (i = 0; a->cc && i < a->topo->n_endports; i++)
		free(a->cc[i].regs.element);
	free(a->cc);
	free(a->port);
	free(a->vendor);
	free(a->no_cc);
	free(a->loss_permille);
	free(a->quirks);
	free(a->profile);
}

/* Makes a node the device of a profile, or (NULL) the one that its IDs in the topology say: its
 * quirks and its keys.
 */
static void adopt(struct ibcc_agents *a, uint32_t node, const struct ibcc_profile *p)
{
	const struct ibcc_topo_node *n = &a->topo->node[node];

	a->profile[node] = p ? *p : ibcc_profile_like(n->vendor_id, n->device_id);
	if (!p && !a->profile[node].vendor_id)
		a->profile[node].tick = a->o.wait_tick;
	a->quirks[node].no_wait = a->profile[node].no_wait;
	a->quirks[node].qlogic = a->profile[node].qlogic;
	ibcc_agents_vendor_reset(a, node);
	ibcc_agents_set_nvidia_cc(a, node, (enum ibcc_nvidia_cc)a->profile[node].nvidia_cc);
	a->quirks[node].adaptive = a->profile[node].adaptive;
	a->quirks[node].adaptive_sls = a->profile[node].adaptive_sls;
	for (uint32_t k = n->first_port; k <= n->first_port + n->n_ports; k++) {
		uint32_t i = a->topo->port[k].endport;

		if (i == IBCC_NONE)
			continue;
		a->cc[i].cc_key = a->profile[node].cc_key;
		a->cc[i].protect = a->profile[node].cc_key_protect;
		a->cc[i].lease_s = a->profile[node].cc_key_lease_s;
	}
}

/* Makes a fresh state for a topology. 0, or -ENOMEM with nothing allocated. */
static int state_new(struct ibcc_agents *a, const struct ibcc_topo *t, struct ibcc_engine *e)
{
	uint32_t i;

	a->topo = t;
	a->engine = e;
	a->port = calloc(t->n_ports + 1, sizeof(*a->port));
	a->vendor = calloc(t->n_ports + 1, sizeof(*a->vendor));
	a->cc = calloc(t->n_endports + 1, sizeof(*a->cc));
	a->no_cc = calloc(t->n_nodes + 1, sizeof(*a->no_cc));
	a->loss_permille = calloc(t->n_nodes + 1, sizeof(*a->loss_permille));
	a->quirks = calloc(t->n_nodes + 1, sizeof(*a->quirks));
	a->profile = calloc(t->n_nodes + 1, sizeof(*a->profile));
	if (!a->port || !a->vendor || !a->cc || !a->no_cc || !a->loss_permille || !a->quirks ||
	    !a->profile)
		goto nomem;
	for (i = 0; i < t->n_nodes; i++)
		adopt(a, i, NULL);
	for (i = 0; i < t->n_endports; i++) {
		const struct ibcc_topo_node *n = &t->node[t->port[t->endport[i]].node];
		struct ibcc_endport_cc *r = &a->cc[i].regs;

		r->answer = IBCC_CC_ANSWERED;
		ibcc_endport_judge(r, IBCC_CC_SUPPORTED);
		r->sw.Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL;
		r->ca.Control_Map = 0xffff;
		if (n->type != IBCC_NODE_SWITCH) {
			r->info.ControlTableCap = a->o.cct_blocks;
			continue;
		}
		r->sw_port_block = a->o.sw_port_block;
		r->n_element = (uint16_t)(n->n_ports + 1);
		r->element = calloc(r->n_element, sizeof(*r->element));
		if (!r->element)
			goto nomem;
	}
	return 0;
nomem:
	state_free(a);
	return -ENOMEM;
}

struct ibcc_agents *ibcc_agents_new(const struct ibcc_topo *t, struct ibcc_engine *e,
				    const struct ibcc_agents_options *o)
{
	struct ibcc_agents *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->o = *o;
	if (a->o.cct_blocks > IBCC_CCT_MAX_BLOCKS)
		a->o.cct_blocks = IBCC_CCT_MAX_BLOCKS;
	if (state_new(a, t, e)) {
		free(a);
		return NULL;
	}
	return a;
}

void ibcc_agents_free(struct ibcc_agents *a)
{
	if (!a)
		return;
	state_free(a);
	free(a);
}

/* Takes an endport's registers over from another set of agents. */
static void carry_cc(struct ibcc_agent_cc *to, struct ibcc_agent_cc *from)
{
	struct ibcc_cc_sw_port_element *mine = to->regs.element;
	uint16_t n = to->regs.n_element;

	if (n != from->regs.n_element)
		return; /* another kind of node took the GUID */
	*to = *from;
	to->regs.element = mine;
	if (n)
		memcpy(mine, from->regs.element, n * sizeof(*mine));
}

int ibcc_agents_bind(struct ibcc_agents *a, const struct ibcc_topo *t, struct ibcc_engine *e)
{
	struct ibcc_agents next = { .o = a->o };
	uint32_t i, n, p;
	int err = state_new(&next, t, e);

	if (err)
		return err;
	for (n = 0; n < t->n_nodes; n++) {
		uint32_t old = ibcc_topo_find_guid(a->topo, t->node[n].guid);

		if (old == IBCC_NONE)
			continue;
		next.no_cc[n] = a->no_cc[old];
		next.loss_permille[n] = a->loss_permille[old];
		next.quirks[n] = a->quirks[old];
		next.profile[n] = a->profile[old];
		for (p = 0; p <= t->node[n].n_ports && p <= a->topo->node[old].n_ports; p++) {
			uint32_t from = a->topo->node[old].first_port + p;
			uint32_t to = t->node[n].first_port + p;

			ibcc_agents_counters(a, from, &next.port[to].carry);
			next.port[to].rate_mbps = a->port[from].rate_mbps;
			next.port[to].lie = a->port[from].lie;
			next.vendor[to] = a->vendor[from];
			memcpy(next.port[to].base, a->port[from].base, sizeof(next.port[to].base));
			if (t->port[to].endport != IBCC_NONE &&
			    a->topo->port[from].endport != IBCC_NONE)
				carry_cc(&next.cc[t->port[to].endport],
					 &a->cc[a->topo->port[from].endport]);
		}
	}
	state_free(a);
	*a = next;
	for (i = 0; i < t->n_endports; i++) {
		ibcc_agents_cc_push(a, i);
		ibcc_agents_vendor_push(a, i);
	}
	return 0;
}

void ibcc_agents_rename(struct ibcc_agents *a, const struct ibcc_topo *t)
{
	a->topo = t;
}

int ibcc_agents_answer(struct ibcc_agents *a, uint32_t endport, const uint8_t *rq, uint8_t *reply)
{
	struct ibcc_mad_header h;
	int err = -ETIMEDOUT;

	if (endport >= a->topo->n_endports)
		return -ETIMEDOUT;
	ibcc_mad_header_unpack(rq, &h);
	/* Responses and repressed traps are no requests. */
	if (h.method & 0x80 || h.method == IBCC_MAD_TRAP_REPRESS)
		return -ETIMEDOUT;
	memmove(reply, rq, IBCC_MAD_BYTES);
	if (h.mgmt_class == IBCC_MAD_CLASS_CC)
		err = ibcc_agents_cc(a, endport, &h, reply);
	else if (h.mgmt_class == IBCC_MAD_CLASS_PERF)
		err = ibcc_agents_pma(a, endport, &h, reply);
	else if (h.mgmt_class == IBCC_MAD_CLASS_MELLANOX)
		err = ibcc_agents_vendor_info(a, endport, &h, reply);
	else if (h.mgmt_class == IBCC_MAD_CLASS_SMP && h.attr_id >= VENDOR_ATTR)
		err = ibcc_agents_vendor_smp(a, endport, &h, reply);
	if (err < 0)
		return err;
	h.status = (uint16_t)err;
	h.method = IBCC_MAD_GET_RESP;
	ibcc_mad_header_pack(reply, &h);
	return 0;
}

int ibcc_agents_set_support(struct ibcc_agents *a, uint32_t node, bool on)
{
	uint32_t i;

	if (node >= a->topo->n_nodes)
		return -EINVAL;
	a->no_cc[node] = !on;
	for (i = 0; i < a->topo->n_endports; i++)
		if (a->topo->port[a->topo->endport[i]].node == node)
			ibcc_agents_cc_push(a, i);
	return 0;
}

bool ibcc_agents_support(const struct ibcc_agents *a, uint32_t node)
{
	return node < a->topo->n_nodes && !a->no_cc[node];
}

int ibcc_agents_set_loss(struct ibcc_agents *a, uint32_t node, uint16_t permille)
{
	if (node >= a->topo->n_nodes)
		return -EINVAL;
	a->loss_permille[node] = permille;
	return 0;
}

uint16_t ibcc_agents_loss(const struct ibcc_agents *a, uint32_t node)
{
	return node < a->topo->n_nodes ? a->loss_permille[node] : 0;
}

int ibcc_agents_set_profile(struct ibcc_agents *a, uint32_t node, const struct ibcc_profile *p)
{
	if (node >= a->topo->n_nodes)
		return -EINVAL;
	adopt(a, node, p);
	return 0;
}

/* Whether a node is in the fabric and was not in an earlier topology. */
static bool is_new(const struct ibcc_agents *a, uint32_t node, const struct ibcc_topo *known)
{
	return node != IBCC_NONE &&
	       (!known || ibcc_topo_find_guid(known, a->topo->node[node].guid) == IBCC_NONE);
}

int ibcc_agents_equip(struct ibcc_agents *a, const struct ibcc_scenario *s,
		      const struct ibcc_topo *known)
{
	int err = 0;

	for (uint32_t i = 0; s->profile && i < s->topo->n_nodes && !err; i++) {
		uint32_t node = ibcc_topo_same_node(s->topo, i, a->topo);

		if (is_new(a, node, known))
			err = ibcc_agents_set_profile(a, node, &s->profile[i]);
	}
	for (uint32_t k = 0; k < s->n_no_cc && !err; k++) {
		uint32_t node = ibcc_scenario_find(s, s->no_cc[k], a->topo);

		if (is_new(a, node, known))
			err = ibcc_agents_set_support(a, node, false);
	}
	return err;
}

struct ibcc_agent_quirks *ibcc_agents_quirks(struct ibcc_agents *a, uint32_t node)
{
	return node < a->topo->n_nodes ? &a->quirks[node] : NULL;
}

int ibcc_agents_set_port_block(struct ibcc_agents *a, uint32_t node, uint8_t n)
{
	uint32_t endport;

	if (node >= a->topo->n_nodes || !ibcc_topo_is_switch(a->topo, node) ||
	    (n && n != IBCC_CC_SW_PORT_BLOCK_121 && n != IBCC_CC_SW_PORT_BLOCK_13))
		return -EINVAL;
	endport = a->topo->port[a->topo->node[node].first_port].endport;
	if (endport == IBCC_NONE)
		return -EINVAL;
	a->cc[endport].regs.sw_port_block = n;
	return 0;
}

int ibcc_agents_load(struct ibcc_agents *a, const struct ibcc_static_cc *cc)
{
	uint32_t i;
	int err = 0;

	for (i = 0; cc->enabled && i < a->topo->n_endports; i++) {
		struct ibcc_endport_cc *r = &a->cc[i].regs;

		if (ibcc_topo_is_switch(a->topo, a->topo->port[a->topo->endport[i]].node)) {
			r->sw = cc->sw;
			r->sw.Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL;
		} else {
			r->ca = cc->ca;
			r->ca.Control_Map = 0xffff;
			r->cct = cc->cct;
		}
		if (ibcc_agents_cc_push(a, i))
			err = -EINVAL;
	}
	return err;
}

int ibcc_agents_forget(struct ibcc_agents *a, uint32_t node)
{
	int err = node < a->topo->n_nodes ? 0 : -EINVAL;

	if (!err)
		ibcc_agents_vendor_reset(a, node);
	for (uint32_t i = 0; i < a->topo->n_endports && !err; i++) {
		struct ibcc_endport_cc *r = &a->cc[i].regs;

		if (a->topo->port[a->topo->endport[i]].node != node)
			continue;
		memset(&r->sw, 0, sizeof(r->sw));
		memset(&r->ca, 0, sizeof(r->ca));
		memset(&r->cct, 0, sizeof(r->cct));
		memset(&a->cc[i].ca_latent, 0, sizeof(a->cc[i].ca_latent));
		a->cc[i].cct_entries = 0;
		a->cc[i].cc_key = 0;
		a->cc[i].protect = false;
		a->cc[i].lease_s = 0;
		a->cc[i].lease_end_ps = 0;
		for (unsigned int p = 0; p < r->n_element; p++)
			memset(&r->element[p], 0, sizeof(r->element[p]));
		if (ibcc_agents_cc_push(a, i) || ibcc_agents_vendor_push(a, i))
			err = -EINVAL;
	}
	return err;
}

int ibcc_agents_set_key(struct ibcc_agents *a, uint32_t node, uint64_t cc_key)
{
	if (node >= a->topo->n_nodes)
		return -EINVAL;
	for (uint32_t i = 0; i < a->topo->n_endports; i++)
		if (a->topo->port[a->topo->endport[i]].node == node)
			a->cc[i].cc_key = cc_key;
	return 0;
}

const struct ibcc_endport_cc *ibcc_agents_settings(const struct ibcc_agents *a, uint32_t endport)
{
	return endport < a->topo->n_endports ? &a->cc[endport].regs : NULL;
}
