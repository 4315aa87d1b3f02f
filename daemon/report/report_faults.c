/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Faults of links and routes: those that a plan warns of, and all of them. */
#include <stdio.h>

#include <ibcc/settings_json.h>
#include <ibcc/text.h>

#include "daemon/report/report.h"

#define WARNINGS_MAX 8u /* the others are counted; the report has all */

static json_t *text_of(const struct ibcc_cycle *c, const struct ibcc_fault *f)
{
	struct ibcc_why text;

	ibcc_faults_text(c->topo, &c->snapshot, f, text.text, sizeof(text.text));
	return ibcc_json_text(text.text);
}

/* What is known of the faults in this polling cycle; `c` has the roots if it has decided. */
static int find(const struct ibcc_cycle *c, struct ibcc_faults *f)
{
	return ibcc_faults_find(c->topo, &c->snapshot, c->decided ? &c->estimate : NULL, f);
}

/* One sentence for each fault on the tree of a root, and one for a credit loop. */
static json_t *warnings(const struct ibcc_cycle *c, const struct ibcc_faults *f)
{
	json_t *list = json_array();
	uint32_t n = 0;
	char more[80];

	if (list && c->credit_loop.text[0])
		json_array_append_new(list, ibcc_json_text(c->credit_loop.text));
	for (uint32_t i = 0; list && i < f->n; i++)
		if (f->fault[i].on_tree && n++ < WARNINGS_MAX)
			json_array_append_new(list, text_of(c, &f->fault[i]));
	if (list && n > WARNINGS_MAX) {
		snprintf(more, sizeof(more), "%u more link%s: ibcc-tune report lists all",
			 n - WARNINGS_MAX, ibcc_text_plural(n - WARNINGS_MAX, "", "s"));
		json_array_append_new(list, json_string(more));
	}
	return list;
}

int ibcc_report_add_faults(const struct ibcc_cycle *c, json_t *fabric)
{
	struct ibcc_faults f;
	json_t *o;
	int rc = find(c, &f);

	if (rc)
		return -1;
	o = json_pack("{so si si}", "warnings", warnings(c, &f), "links_slow", (int)f.n_slow,
		      "ports_with_errors", (int)f.n_errors);
	ibcc_faults_fini(&f);
	return json_object_update_new(fabric, o);
}

static json_t *peer_of(const struct ibcc_topo *t, uint32_t port)
{
	uint32_t peer = t->port[port].peer;

	return peer == IBCC_NONE ? json_null() : ibcc_json_port(t, peer);
}

/* "4xDDR"; null: the rate is that of no speed. */
static json_t *speed_name(const struct ibcc_topo_speed *v)
{
	char name[IBCC_TOPO_SPEED_BYTES];

	return ibcc_topo_speed_name(v, name)[0] ? json_string(name) : json_null();
}

static json_t *slow_object(const struct ibcc_cycle *c, const struct ibcc_fault *f)
{
	struct ibcc_topo_speed runs = { 0 }, best = { 0 };
	json_t *o = ibcc_json_port(c->topo, f->port);

	ibcc_topo_is_slow(c->topo, f->port, &runs, &best);
	json_object_update_new(o, json_pack("{so so si so si sb so}", "peer",
					    peer_of(c->topo, f->port), "speed", speed_name(&runs),
					    "link_mbps", (int)runs.rate_mbps, "best_speed",
					    speed_name(&best), "best_mbps", (int)best.rate_mbps,
					    "on_tree", f->on_tree, "text", text_of(c, f)));
	return o;
}

static json_t *errors_object(const struct ibcc_cycle *c, const struct ibcc_fault *f)
{
	const struct ibcc_link_errors *e = &c->snapshot.port[f->port].errors;
	json_t *o = ibcc_json_port(c->topo, f->port), *counters = json_object();

	for (unsigned int i = 0; counters && i < IBCC_LINK_ERRORS; i++)
		if (e->grown[i])
			json_object_set_new(counters, ibcc_link_error_name((enum ibcc_link_error)i),
					    json_integer(e->grown[i]));
	json_object_update_new(o, json_pack("{so sI so sb so}", "peer", peer_of(c->topo, f->port),
					    "interval_ms", (json_int_t)(e->dt_ns / 1000000),
					    "counters", counters, "on_tree", f->on_tree, "text",
					    text_of(c, f)));
	return o;
}

json_t *ibcc_report_faults(const struct ibcc_cycle *c)
{
	json_t *slow = json_array(), *errors = json_array();
	struct ibcc_faults f;
	int rc = find(c, &f);

	for (uint32_t i = 0; !rc && slow && errors && i < f.n; i++)
		switch (f.fault[i].kind) {
		case IBCC_FAULT_SLOW: ibcc_json_fold(slow, slow_object(c, &f.fault[i])); break;
		case IBCC_FAULT_ERRORS:
			ibcc_json_fold(errors, errors_object(c, &f.fault[i]));
			break;
		}
	ibcc_faults_fini(&f);
	return json_pack("{so so so}", "slow", slow, "errors", errors, "credit_loop",
			 c->credit_loop.text[0] ? ibcc_json_text(c->credit_loop.text)
						: json_null());
}
