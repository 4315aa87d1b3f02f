/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How a tuner goes on after a restart, a change of the topology, or from an older plan
 * (cycle_resume.h): what the control law keeps (ibcc/control.h) is a text in the state file, by
 * GUIDs. It may be damaged or another program's, so it is checked when it is read.
 */
#include "lib/cycle/cycle_resume.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/control_json.h>
#include <ibcc/decision_json.h>
#include <ibcc/json.h>
#include <ibcc/state.h>

/* The file may be anyone's, so a value that is no control of a tuner is treated as missing. */
static int read_control(struct ibcc_cycle *c, struct ibcc_state *state)
{
	char *text = ibcc_state_control(state);
	json_t *o = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
	int rc = o ? ibcc_control_read(o, &c->resume, NULL) : 0;

	json_decref(o);
	free(text);
	c->resume_read = true;
	return rc == -ENOMEM ? rc : 0;
}

void ibcc_cycle_forget_resume(struct ibcc_cycle *c)
{
	ibcc_control_fini(&c->resume);
	c->resume_read = false;
	c->resume_passes = 0;
}

int ibcc_cycle_resume(struct ibcc_cycle *c, struct ibcc_state *state)
{
	int rc = 0;

	/* Roots that were lost may be back: by a repair, or because a switch was away for long. */
	if (!c->resume_read || (c->audited && c->ledger.n_left && !c->resume.n_roots))
		rc = read_control(c, state);
	if (rc || !c->resume.n_roots)
		return rc;
	rc = ibcc_tuner_resume(c->tuner, c->topo, &c->resume, &c->actual, &c->ledger, false);
	if (!rc && !c->fast && ++c->resume_passes >= c->options.tuner.quiet_passes)
		ibcc_control_fini(&c->resume);
	return rc;
}

int ibcc_cycle_control(const struct ibcc_cycle *c, struct ibcc_control *out)
{
	int rc = ibcc_tuner_save(c->tuner, c->topo, out);

	for (uint32_t k = 0; !rc && k < c->resume.n_roots && out->n_roots < IBCC_ROOTS_MAX; k++)
		rc = ibcc_control_add(out, &c->resume.root[k]);
	if (rc)
		ibcc_control_fini(out);
	return rc;
}

static int add_node(json_t *list, uint64_t guid, uint8_t port)
{
	return json_array_append_new(list, json_pack("[oi]", ibcc_json_guid(guid), port));
}

static json_t *nodes_of(const struct ibcc_plan *plan, const struct ibcc_control *control)
{
	json_t *list = json_array();
	int rc = list ? 0 : -1;

	for (uint32_t i = 0; i < plan->n && !rc; i++) {
		const struct ibcc_change *c = &plan->change[i];

		if (!i || c->node_guid != c[-1].node_guid || c->port != c[-1].port)
			rc = add_node(list, c->node_guid, c->port);
	}
	for (uint32_t k = 0; k < control->n_roots && !rc; k++) {
		const struct ibcc_control_root *r = &control->root[k];

		rc = add_node(list, r->guid, 0);
		for (uint32_t i = 0; i < r->n_nodes && !rc; i++)
			if (r->node[i].member)
				rc = add_node(list, r->node[i].guid, r->node[i].port);
	}
	if (!rc)
		return list;
	json_decref(list);
	return NULL;
}

int ibcc_cycle_texts(const struct ibcc_plan *plan, const struct ibcc_control *control, char **text,
		     char **nodes)
{
	json_t *o = ibcc_control_json(control), *list = nodes_of(plan, control);

	*text = o ? json_dumps(o, JSON_COMPACT) : NULL;
	*nodes = list ? json_dumps(list, JSON_COMPACT) : NULL;
	json_decref(o);
	json_decref(list);
	if (*text && *nodes)
		return 0;
	free(*text);
	free(*nodes);
	*text = *nodes = NULL;
	return -ENOMEM;
}

int ibcc_cycle_read_nodes(const struct ibcc_topo *t, const char *nodes, bool *within)
{
	json_t *list = json_loads(nodes, JSON_REJECT_DUPLICATES, NULL);
	const json_t *v;
	json_int_t port;
	uint64_t guid;
	uint32_t e;
	int rc = json_is_array(list) ? 0 : -EINVAL;
	size_t i;

	json_array_foreach (list, i, v) {
		if (!ibcc_json_read_guid(json_array_get(v, 0), &guid) ||
		    !ibcc_json_read_whole(json_array_get(v, 1), UINT8_MAX, &port)) {
			rc = -EINVAL;
			break;
		}
		e = ibcc_topo_find_endport(t, guid, (unsigned int)port);
		if (e != IBCC_NONE)
			within[e] = true;
	}
	json_decref(list);
	return rc;
}

int ibcc_cycle_write_decisions(struct ibcc_cycle *c)
{
	json_t *o = ibcc_decisions_json(c->topo, &c->target.decisions);

	free(c->summary);
	free(c->decisions);
	c->summary = ibcc_words_decisions(c->topo, &c->target.decisions);
	c->decisions = o ? json_dumps(o, JSON_COMPACT) : NULL;
	json_decref(o);
	return c->summary && c->decisions ? 0 : -ENOMEM;
}

int ibcc_cycle_write_texts(struct ibcc_cycle *c, bool asked)
{
	struct ibcc_control control = { 0 };
	char what[IBCC_REASON_BYTES];
	int rc = ibcc_cycle_control(c, &control);

	if (!rc)
		rc = ibcc_cycle_texts(&c->plan, &control, &c->control, &c->nodes);
	if (rc)
		goto out;
	c->n_controlled = control.n_roots;
	rc = ibcc_cycle_write_decisions(c);
	if (rc || !asked || !control.n_roots)
		goto out;
	ibcc_control_explain(c->topo, &control, what, sizeof(what));
	free(c->summary);
	c->summary = strdup(what);
	rc = c->summary ? 0 : -ENOMEM;
out:
	ibcc_control_fini(&control);
	return rc;
}
