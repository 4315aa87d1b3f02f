/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the control law saves in the state file (struct ibcc_control), as JSON and back, so that a
 * restarted daemon goes on where it was. numbers[] names each figure of a root with its range; a
 * value out of range makes the whole unusable.
 */
#include <ibcc/control_json.h>

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/decision.h>
#include <ibcc/json.h>

#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))
#define NODES_MAX  10000000
#define RATE_MAX   10000000 /* Mb/s */
#define SCALE_MAX  32000    /* of a marking profile; 1000 of a table */
#define PASSES_MAX UINT16_MAX

static const char *const kinds[] = {
	[IBCC_CONGESTION_INPUT] = "input",
	[IBCC_CONGESTION_OUTPUT] = "output",
};

/* The whole numbers of a root: key, range, and place in struct ibcc_control_root. */
#define NUMBER(name, min, max, member)                                                             \
	{                                                                                          \
		name, min, max, offsetof(struct ibcc_control_root, member),                        \
			sizeof(((struct ibcc_control_root *)0)->member)                            \
	}
static const struct number {
	const char *key;
	json_int_t min, max;
	size_t at, size;
} numbers[] = {
	NUMBER("port", 1, UINT8_MAX - 1, port),
	NUMBER("n", 1, NODES_MAX, s.r.n),
	NUMBER("n_heavy", 1, NODES_MAX, s.r.n_heavy),
	NUMBER("rate_mbps", 1, RATE_MAX, s.r.rate_mbps),
	NUMBER("packet_bytes", 64, 8192, s.r.packet_bytes),
	NUMBER("threshold", 0, 15, s.r.threshold),
	NUMBER("table_scale_permille", 1, SCALE_MAX, s.r.table_scale_permille),
	NUMBER("timer_scale_permille", 1, 1000, s.r.timer_scale_permille),
	NUMBER("interval_ns", 1, INT64_MAX, s.r.interval_ns),
	NUMBER("link_mbps", 1, RATE_MAX, s.r.link_mbps),
	NUMBER("seen_mbps", 0, RATE_MAX, s.r.seen_mbps),
	NUMBER("wait_permille", 0, UINT16_MAX, s.r.wait_permille),
	NUMBER("tree_wait_permille", 0, UINT16_MAX, s.r.tree_wait_permille),
	NUMBER("left", 0, PASSES_MAX, s.left),
	NUMBER("patience", 1, PASSES_MAX, s.patience),
	NUMBER("guarded", 0, PASSES_MAX, s.guarded),
	NUMBER("backoff", 0, UINT8_MAX, s.backoff),
	NUMBER("n_adapters", 0, NODES_MAX, s.n_adapters),
	NUMBER("full_mbps", 1, RATE_MAX, s.full_mbps),
	NUMBER("jam_mbps", 0, RATE_MAX, s.jam_mbps),
};

static json_int_t get_number(const struct ibcc_control_root *r, const struct number *n)
{
	const char *at = (const char *)r + n->at;
	uint8_t v8;
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (n->size) {
	case sizeof(v8): memcpy(&v8, at, sizeof(v8)); return v8;
	case sizeof(v16): memcpy(&v16, at, sizeof(v16)); return v16;
	case sizeof(v32): memcpy(&v32, at, sizeof(v32)); return v32;
	}
	memcpy(&v64, at, sizeof(v64));
	return (json_int_t)v64;
}

static void set_number(struct ibcc_control_root *r, const struct number *n, json_int_t v)
{
	char *at = (char *)r + n->at;
	uint8_t v8 = (uint8_t)v;
	uint16_t v16 = (uint16_t)v;
	uint32_t v32 = (uint32_t)v;
	uint64_t v64 = (uint64_t)v;

	switch (n->size) {
	case sizeof(v8): memcpy(at, &v8, sizeof(v8)); return;
	case sizeof(v16): memcpy(at, &v16, sizeof(v16)); return;
	case sizeof(v32): memcpy(at, &v32, sizeof(v32)); return;
	}
	memcpy(at, &v64, sizeof(v64));
}

/* A contributor as [GUID, port, member, Mb/s, waiting in permille, blind]; the last three only if
 * they are known.
 */
static json_t *node_json(const struct ibcc_control_node *n)
{
	json_t *o = json_pack("[oib]", ibcc_json_guid(n->guid), n->port, n->member);

	if (o && n->before.known) {
		json_array_append_new(o, json_integer(n->before.mbps));
		json_array_append_new(o, json_integer(n->before.wait_permille));
		json_array_append_new(o, json_boolean(n->before.blind));
	}
	return o;
}

static json_t *root_json(const struct ibcc_control_root *r)
{
	json_t *nodes = json_array();
	json_t *o = json_pack("{so ss ss ss sb sb}", "switch_guid", ibcc_json_guid(r->guid), "kind",
			      kinds[r->s.r.kind], "phase", ibcc_phase_name(r->s.r.phase), "basis",
			      ibcc_basis_name(r->s.r.basis), "limits_known", r->s.r.limits_known,
			      "tree_gone", r->s.r.tree_gone);
	int rc = o && nodes ? 0 : -1;

	for (size_t i = 0; i < COUNT(numbers) && !rc; i++)
		rc = json_object_set_new(o, numbers[i].key,
					 json_integer(get_number(r, &numbers[i])));
	for (uint32_t i = 0; i < r->n_nodes && !rc; i++)
		rc = json_array_append_new(nodes, node_json(&r->node[i]));
	if (!rc && !json_object_set_new(o, "nodes", nodes))
		return o;
	if (rc)
		json_decref(nodes);
	json_decref(o);
	return NULL;
}

json_t *ibcc_control_json(const struct ibcc_control *c)
{
	json_t *roots = json_array();

	for (uint32_t k = 0; roots && k < c->n_roots; k++)
		if (json_array_append_new(roots, root_json(&c->root[k]))) {
			json_decref(roots);
			return NULL;
		}
	return roots ? json_pack("{so}", "roots", roots) : NULL;
}

static bool read_name(const json_t *v, const char *const *names, size_t n, int *out)
{
	const char *text = json_string_value(v);

	for (size_t i = 0; text && i < n; i++)
		if (names[i] && !strcmp(names[i], text)) {
			*out = (int)i;
			return true;
		}
	return false;
}

/* Reads a phase. Only phases that set something are valid; others are not saved. */
static bool read_phase(const json_t *v, enum ibcc_phase *phase)
{
	const char *text = json_string_value(v);

	for (unsigned int i = 0; text && i < IBCC_PHASES; i++) {
		*phase = (enum ibcc_phase)i;
		if (ibcc_phase_sets(*phase) && !strcmp(ibcc_phase_name(*phase), text))
			return true;
	}
	return false;
}

static bool read_basis(const json_t *v, enum ibcc_basis *basis)
{
	const char *text = json_string_value(v);

	for (unsigned int i = 0; text && i <= IBCC_BASIS_LOGGED; i++) {
		*basis = (enum ibcc_basis)i;
		if (!strcmp(ibcc_basis_name(*basis), text))
			return true;
	}
	return false;
}

static bool read_node(const json_t *o, struct ibcc_control_node *n)
{
	json_int_t port, mbps, wait;
	size_t size = json_array_size(o);

	*n = (struct ibcc_control_node){ 0 };
	if ((size != 3 && size != 6) || !ibcc_json_read_guid(json_array_get(o, 0), &n->guid) ||
	    !ibcc_json_read_whole(json_array_get(o, 1), UINT8_MAX, &port) ||
	    !json_is_boolean(json_array_get(o, 2)))
		return false;
	n->port = (uint8_t)port;
	n->member = json_is_true(json_array_get(o, 2));
	if (size == 3)
		return true;
	if (!ibcc_json_read_whole(json_array_get(o, 3), RATE_MAX, &mbps) ||
	    !ibcc_json_read_whole(json_array_get(o, 4), UINT16_MAX, &wait) ||
	    !json_is_boolean(json_array_get(o, 5)))
		return false;
	n->before = (struct ibcc_load){ .mbps = (uint32_t)mbps,
					.wait_permille = (uint16_t)wait,
					.known = true,
					.blind = json_is_true(json_array_get(o, 5)) };
	return true;
}

/* Reads the facts of a root. Returns NULL, or the key that is wrong. */
static const char *read_facts(const json_t *o, struct ibcc_control_root *r)
{
	enum ibcc_phase phase;
	int kind;
	json_int_t v;

	if (!ibcc_json_read_guid(json_object_get(o, "switch_guid"), &r->guid))
		return "switch_guid";
	if (!read_name(json_object_get(o, "kind"), kinds, COUNT(kinds), &kind))
		return "kind";
	if (!read_phase(json_object_get(o, "phase"), &phase))
		return "phase";
	if (!read_basis(json_object_get(o, "basis"), &r->s.r.basis))
		return "basis";
	for (size_t i = 0; i < COUNT(numbers); i++) {
		if (!ibcc_json_read_whole(json_object_get(o, numbers[i].key), numbers[i].max, &v) ||
		    v < numbers[i].min)
			return numbers[i].key;
		set_number(r, &numbers[i], v);
	}
	if (r->s.r.n_heavy > r->s.r.n)
		return "n_heavy";
	r->s.r.kind = (enum ibcc_congestion)kind;
	ibcc_root_enter(&r->s, phase, r->s.left);
	r->s.r.limits_known = json_is_true(json_object_get(o, "limits_known"));
	r->s.r.tree_gone = json_is_true(json_object_get(o, "tree_gone"));
	return NULL;
}

static int read_root(const json_t *o, struct ibcc_control_root *r, const char **bad)
{
	const json_t *nodes = json_object_get(o, "nodes"), *v;
	size_t i;

	*bad = read_facts(o, r);
	if (*bad)
		return -EINVAL;
	*bad = "nodes";
	if (!json_is_array(nodes) || json_array_size(nodes) > NODES_MAX)
		return -EINVAL;
	r->node = calloc(json_array_size(nodes) + 1, sizeof(*r->node));
	if (!r->node)
		return -ENOMEM;
	json_array_foreach (nodes, i, v)
		if (!read_node(v, &r->node[r->n_nodes++]))
			return -EINVAL;
	return 0;
}

int ibcc_control_read(const json_t *o, struct ibcc_control *c, struct ibcc_why *why)
{
	const json_t *roots = json_object_get(o, "roots"), *v;
	const char *bad = NULL;
	size_t i;
	int rc = 0;

	*c = (struct ibcc_control){ 0 };
	if (!json_is_array(roots) || json_array_size(roots) > IBCC_ROOTS_MAX)
		return ibcc_why_set(why, -EINVAL, "control.roots: want a list of at most %u roots",
				    IBCC_ROOTS_MAX);
	json_array_foreach (roots, i, v) {
		rc = read_root(v, &c->root[c->n_roots++], &bad);
		if (rc)
			break;
	}
	if (!rc)
		return 0;
	ibcc_control_fini(c);
	return rc == -ENOMEM
		       ? ibcc_why_set(why, rc, "no memory")
		       : ibcc_why_set(why, rc, "control.roots[%zu].%s: no value that a plan has", i,
				      bad);
}
