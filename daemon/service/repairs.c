/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "daemon/service/repairs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <ibcc/grow.h>
#include <ibcc/text.h>

void ibcc_repair_counts_fini(struct ibcc_repair_counts *r)
{
	free(r->attr);
	*r = (struct ibcc_repair_counts){ 0 };
}

/* Forgets attributes that were last repaired too long ago for the next repair to belong to it. */
static void forget_old(struct ibcc_repair_counts *r)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < r->n; i++)
		if (r->pass - r->attr[i].last_pass <= IBCC_REPAIRS_TOGETHER)
			r->attr[kept++] = r->attr[i];
	r->n = kept;
}

static bool is_about(const struct ibcc_repaired *a, const struct ibcc_change *c)
{
	return a->node_guid == c->node_guid && a->port == c->port && a->attr_id == c->attr_id;
}

static void count(struct ibcc_repair_counts *r, const struct ibcc_change *c, uint32_t *hint)
{
	struct ibcc_repaired *grown;

	/* Repairs come in the order of the last ones, so the next entry is near. */
	for (uint32_t k = 0; k < r->n; k++) {
		struct ibcc_repaired *a = &r->attr[(*hint + k) % r->n];

		if (!is_about(a, c))
			continue;
		*hint = (*hint + k) % r->n;
		/* a table counts once, although it is several changes */
		a->n += a->last_pass != r->pass;
		a->last_pass = r->pass;
		return;
	}
	grown = ibcc_grow(r->attr, r->n, &r->cap, sizeof(*grown));
	if (!grown)
		return;
	r->attr = grown;
	r->attr[r->n++] = (struct ibcc_repaired){ .node_guid = c->node_guid,
						  .port = c->port,
						  .attr_id = c->attr_id,
						  .n = 1,
						  .first_pass = r->pass,
						  .last_pass = r->pass };
}

void ibcc_repair_counts_note(struct ibcc_repair_counts *r, const struct ibcc_plan *repaired)
{
	uint32_t hint = 0;

	r->pass++;
	forget_old(r);
	for (uint32_t i = 0; repaired && i < repaired->n; i++)
		count(r, &repaired->change[i], &hint);
}

static bool is_fought_over(const struct ibcc_repair_counts *r, const struct ibcc_repaired *a)
{
	return a->n >= IBCC_REPAIRS_MANY && r->pass - a->last_pass <= IBCC_REPAIRS_HOLD;
}

bool ibcc_repair_counts_trouble(const struct ibcc_repair_counts *r, const struct ibcc_topo *t,
				struct ibcc_why *why)
{
	const struct ibcc_repaired *most = NULL;
	char others[48] = "";
	uint32_t n = 0, node;

	for (uint32_t i = 0; i < r->n; i++) {
		const struct ibcc_repaired *a = &r->attr[i];

		if (!is_fought_over(r, a))
			continue;
		n++;
		if (!most || a->n > most->n)
			most = a;
	}
	if (!most)
		return false;
	if (n > 1)
		snprintf(others, sizeof(others), " (as %s %u more attribute%s)",
			 ibcc_text_plural(n - 1, "does", "do"), n - 1,
			 ibcc_text_plural(n - 1, "", "s"));
	node = t ? ibcc_topo_find_guid(t, most->node_guid) : IBCC_NONE;
	ibcc_why_set(why, 0,
		     "%s of \"%s\" 0x%016" PRIx64 " was repaired %u times in %" PRIu64
		     " polling cycles and changes again each time%s: another program sets it, such "
		     "as ibccconfig in a script or a second daemon, or the node keeps restarting; "
		     "find that and stop it, or set drift: report",
		     ibcc_cc_attr_name(most->attr_id), node == IBCC_NONE ? "" : t->node[node].desc,
		     most->node_guid, most->n, most->last_pass - most->first_pass + 1, others);
	return true;
}
