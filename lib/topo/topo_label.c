/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The names by which people know the nodes of a fabric: those of the site, or the descriptions of
 * the nodes themselves. A name that does not identify its node gets the GUID behind it. Either
 * several nodes have that name (on a site of 89 adapters all had the same one), or it is the
 * device's default.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/clean.h>
#include <ibcc/topo.h>

#define GUID_TEXT "0x%016" PRIx64
#define GUID_LEN  18u

/* The default names of adapters and switches, which they have until the system sets a name. An
 * adapter has one, too, if its host had no name when it set that of the adapter.
 */
static bool is_default(const char *name)
{
	return strstr(name, "Mellanox Technologies") || !strncmp(name, "localhost", 9) ||
	       !strncmp(name, "(none)", 6);
}

static int by_name(const void *a, const void *b, void *arg)
{
	const struct ibcc_topo *t = arg;

	return strcmp(t->node[*(const uint32_t *)a].desc, t->node[*(const uint32_t *)b].desc);
}

static void add_guid(struct ibcc_topo_node *n)
{
	size_t len = ibcc_clean_cut(n->desc, IBCC_DESC_BYTES - 2 - GUID_LEN);

	snprintf(n->desc + len, sizeof(n->desc) - len, " " GUID_TEXT, n->guid);
}

int ibcc_topo_label(struct ibcc_topo *t,
		    bool (*name_of)(void *arg, uint64_t guid, char name[IBCC_DESC_BYTES]),
		    void *arg)
{
	uint32_t *order = calloc(t->n_nodes ? t->n_nodes : 1, sizeof(*order));
	char name[IBCC_DESC_BYTES];
	uint32_t i, end;

	if (!order)
		return -ENOMEM;
	for (i = 0; i < t->n_nodes; i++) {
		order[i] = i;
		if (name_of && name_of(arg, t->node[i].guid, name) && name[0])
			memcpy(t->node[i].desc, name, sizeof(name));
	}
	qsort_r(order, t->n_nodes, sizeof(*order), by_name, t);
	for (i = 0; i < t->n_nodes; i = end) {
		const char *first = t->node[order[i]].desc;

		for (end = i + 1; end < t->n_nodes; end++)
			if (strcmp(t->node[order[end]].desc, first))
				break;
		/* A node without a name is called by its GUID anyway. */
		if (!first[0] || (end == i + 1 && !is_default(first)))
			continue;
		for (uint32_t k = i; k < end; k++)
			add_guid(&t->node[order[k]]);
	}
	free(order);
	return ibcc_topo_index_texts(t);
}

bool ibcc_topo_is_called(const struct ibcc_topo *t, uint32_t node, const char *name)
{
	const struct ibcc_topo_node *n = &t->node[node];
	size_t len = strlen(name);
	char guid[GUID_LEN + 2];

	if (strncmp(n->desc, name, len))
		return false;
	snprintf(guid, sizeof(guid), " " GUID_TEXT, n->guid);
	return !n->desc[len] || !strcmp(n->desc + len, guid);
}
