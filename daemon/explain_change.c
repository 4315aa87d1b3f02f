/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Logs single settings of a plan, and its nodes. */
#include "daemon/explain_change.h"

#include <stdio.h>
#include <string.h>

#include <ibcc/log.h>
#include <ibcc/rates.h>
#include <ibcc/target.h>

/* The number of nodes that a line about a plan names. */
#define NODES_TOLD 4u

/* How to log a change. */
struct teller {
	const struct ibcc_change *change;
	const char *what;
};

/* Fields of a channel adapter's setting. Consecutive service levels with equal values are one
 * field.
 */
struct runs {
	uint32_t n;
	struct run {
		struct ibcc_field_change f;
		int last_sl;
	} run[1 + 4 * IBCC_CC_SLS];
};

static int collect(const struct ibcc_field_change *f, void *arg)
{
	struct runs *r = arg;
	uint32_t i;

	for (i = 0; f->sl > 0 && i < r->n; i++) {
		struct run *p = &r->run[i];

		if (p->last_sl == f->sl - 1 && !strcmp(p->f.field, f->field) &&
		    !strcmp(p->f.old_text, f->old_text) && !strcmp(p->f.new_text, f->new_text)) {
			p->last_sl = f->sl;
			return 0;
		}
	}
	if (r->n == sizeof(r->run) / sizeof(r->run[0]))
		return -1;
	r->run[r->n++] = (struct run){ *f, f->sl };
	return 0;
}

static void tell_run(const struct run *r, const struct ibcc_change *c, const char *what)
{
	char param[128], reason[IBCC_REASON_BYTES + 64];
	struct ibcc_log_change l = { .guid = c->node_guid,
				     .port = (int)ibcc_plan_field_port(c, &r->f),
				     .param = param,
				     .old_text = r->f.old_text,
				     .new_text = r->f.new_text,
				     .reason = ibcc_rates_in(c->reason, false, reason,
							     sizeof(reason)) };
	const char *attr = ibcc_cc_attr_name(c->attr_id);

	if (r->f.sl < 0)
		snprintf(param, sizeof(param), "%s.%s", attr, r->f.field);
	else if (r->last_sl == r->f.sl)
		snprintf(param, sizeof(param), "%s.%s[SL %d]", attr, r->f.field, r->f.sl);
	else
		snprintf(param, sizeof(param), "%s.%s[SL %d-%d]", attr, r->f.field, r->f.sl,
			 r->last_sl);
	ibcc_log_change_event(LOG_DEBUG, what, &l);
}

/* Names of table runs live only during the walk, so they are logged within it. */
static int tell_field(const struct ibcc_field_change *f, void *arg)
{
	const struct teller *t = arg;
	struct run r = { *f, f->sl };

	tell_run(&r, t->change, t->what);
	return 0;
}

void ibcc_explain_change(const struct ibcc_change *c, const char *what)
{
	struct teller t = { c, what };
	struct runs runs = { 0 };
	uint32_t i;

	if (c->attr_id != IBCC_CC_ATTR_CA_SETTING) {
		ibcc_plan_fields(c, tell_field, &t);
		return;
	}
	ibcc_plan_fields(c, collect, &runs);
	for (i = 0; i < runs.n; i++)
		tell_run(&runs.run[i], c, what);
}

void ibcc_explain_nodes(const struct ibcc_topo *t, const struct ibcc_plan *p, char *buf, size_t len)
{
	uint64_t last = 0;
	uint32_t n = 0;
	size_t at = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t node = ibcc_topo_find_guid(t, p->change[i].node_guid);

		if (p->change[i].node_guid == last || node == IBCC_NONE)
			continue;
		last = p->change[i].node_guid;
		if (++n <= NODES_TOLD && at < len)
			at += (size_t)snprintf(buf + at, len - at, "%s%s", n > 1 ? ", " : "",
					       t->node[node].desc);
	}
	if (n > NODES_TOLD && at < len)
		snprintf(buf + at, len - at, " and %u more", n - NODES_TOLD);
}
