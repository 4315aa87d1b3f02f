/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lays out the map of a fabric (map.h). It reads nodes and links, finds the levels of the switches,
 * and weighs each switch by its part in congestion. Then it chooses those that fit, and places
 * them. Begin with tune_map_init(), near the end; map_draw.c draws.
 */
#include "daemon/tune/page/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/tune/tune.h"

/* Number of switches side by side. */
#define LEAVES   5u
#define UPPER    4u
#define BETWEEN  110.0 /* space for links between two levels */
#define ARC      64.0  /* space for links within one level */
#define MARGIN   8.0
#define NO_LEVEL UINT32_MAX

/* Weights of the reasons to show a switch. There is no room for all trees, so the worst root's tree
 * counts most. Higher up, those switches count most that its paths use from the switches shown
 * below.
 */
#define WEIGHT_ROOT  1000u /* a root or its receiver is there */
#define WEIGHT_WAY   20u   /* a path leads to a shown switch */
#define WEIGHT_ROLE  10u   /* for each adapter, times its role */
#define WEIGHT_HOT   2u    /* for each path */
#define WEIGHT_OTHER 50u   /* for another root: these reasons count 1/WEIGHT_OTHER */

static void read_nodes(struct tune_map *m, const json_t *list)
{
	const json_t *o;
	size_t i;

	json_array_foreach (list, i, o) {
		bool is_switch = !strcmp(tune_str(o, "type"), "switch");

		m->node[i] = (struct tune_map_node){ .name = tune_str(o, "node"),
						     .guid = tune_str(o, "node_guid"),
						     .is_switch = is_switch,
						     .level = is_switch ? NO_LEVEL : 0,
						     .home = m->n_nodes,
						     .mbps = -1 };
		if (!json_object_get(m->by_guid, m->node[i].guid))
			json_object_set_new(m->by_guid, m->node[i].guid,
					    json_integer((json_int_t)i));
	}
}

static bool read_end(const struct tune_map *m, const json_t *end, uint32_t *node,
		     unsigned int *port)
{
	json_int_t n = json_integer_value(json_array_get(end, 0));
	json_int_t p = json_integer_value(json_array_get(end, 1));

	*node = (uint32_t)n;
	*port = (unsigned int)p;
	return json_array_size(end) == 2 && n >= 0 && n < m->n_nodes && p >= 0 && p < 256;
}

static double read_rate(const json_t *load)
{
	return json_is_object(load) ? (double)tune_int(load, "mbps") : -1;
}

static void read_links(struct tune_map *m, const json_t *list)
{
	const json_t *o;
	size_t i;

	json_array_foreach (list, i, o) {
		struct tune_map_link *l = &m->link[m->n_links];

		if (!read_end(m, json_object_get(o, "a"), &l->a, &l->port_a) ||
		    !read_end(m, json_object_get(o, "b"), &l->b, &l->port_b) || l->a == l->b)
			continue;
		l->from_a = read_rate(json_object_get(o, "from_a"));
		l->from_b = read_rate(json_object_get(o, "from_b"));
		m->n_links++;
	}
}

static int by_place(const void *a, const void *b)
{
	const struct tune_map_end *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	return (x->link > y->link) - (x->link < y->link);
}

/* Trees have thousands of ports on a large fabric, so their links must not be searched one by one.
 */
static void sort_ends(struct tune_map *m)
{
	for (uint32_t i = 0; i < m->n_links; i++) {
		const struct tune_map_link *l = &m->link[i];

		m->end[2 * i] = (struct tune_map_end){ l->a, i, l->port_a, true };
		m->end[2 * i + 1] = (struct tune_map_end){ l->b, i, l->port_b, false };
	}
	qsort(m->end, 2u * m->n_links, sizeof(*m->end), by_place);
}

static void take_home(struct tune_map *m, uint32_t host, uint32_t sw, double mbps)
{
	struct tune_map_node *h = &m->node[host];

	if (h->is_switch || !m->node[sw].is_switch || h->home < m->n_nodes)
		return;
	h->home = sw;
	h->mbps = mbps;
	m->node[sw].n_hosts++;
	m->node[sw].level = 1;
}

/* Switches without adapters are one level above the lowest switch that they are linked with. */
static void find_levels(struct tune_map *m)
{
	bool more = true;

	for (uint32_t i = 0; i < m->n_links; i++) {
		take_home(m, m->link[i].a, m->link[i].b, m->link[i].from_a);
		take_home(m, m->link[i].b, m->link[i].a, m->link[i].from_b);
	}
	for (unsigned int level = 1; more && level < TUNE_MAP_LEVELS; level++) {
		more = false;
		for (uint32_t i = 0; i < m->n_links; i++) {
			struct tune_map_node *a = &m->node[m->link[i].a];
			struct tune_map_node *b = &m->node[m->link[i].b];
			struct tune_map_node *up = a->level == level ? b : a;

			if ((a->level != level && b->level != level) || up->level != NO_LEVEL)
				continue;
			up->level = level + 1;
			more = true;
		}
	}
	for (uint32_t i = 0; i < m->n_nodes; i++) {
		if (m->node[i].level == NO_LEVEL)
			m->node[i].level = 1;
		if (m->node[i].level > m->n_levels)
			m->n_levels = m->node[i].level;
	}
}

static uint32_t find_node(const struct tune_map *m, const json_t *o)
{
	const json_t *i = json_object_get(m->by_guid, tune_str(o, "node_guid"));

	return i ? (uint32_t)json_integer_value(i) : m->n_nodes;
}

static void take_role(struct tune_map *m, const json_t *o, unsigned int root,
		      enum tune_map_role role)
{
	uint32_t i = find_node(m, o);

	if (i == m->n_nodes || m->node[i].role >= role)
		return;
	m->node[i].role = role;
	m->node[i].root = root;
	m->node[i].adapter = o;
}

static void take_roles(struct tune_map *m, const json_t *list, unsigned int root,
		       enum tune_map_role role)
{
	const json_t *o;
	size_t i;

	json_array_foreach (list, i, o)
		take_role(m, o, root, role);
}

/* The end of a link that this port is. */
static struct tune_map_link *find_link(const struct tune_map *m, uint32_t node, unsigned int port,
				       bool *is_a)
{
	const struct tune_map_end key = { .node = node, .port = port };
	uint32_t from = 0, to = 2 * m->n_links;

	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (by_place(&m->end[mid], &key) < 0)
			from = mid + 1;
		else
			to = mid;
	}
	if (from == 2 * m->n_links || m->end[from].node != node || m->end[from].port != port)
		return NULL;
	*is_a = m->end[from].is_a;
	return &m->link[m->end[from].link];
}

static void take_root(struct tune_map *m, const json_t *o, unsigned int number)
{
	const json_t *peer = json_object_get(o, "peer");
	uint32_t node = find_node(m, o), sink;
	struct tune_map_link *l;
	bool is_a = false;

	take_roles(m, json_object_get(o, "contributors"), number, TUNE_MAP_CONTRIBUTOR);
	take_roles(m, json_object_get(o, "candidates"), number, TUNE_MAP_CANDIDATE);
	take_roles(m, json_object_get(o, "victims"), number, TUNE_MAP_VICTIM);
	l = node < m->n_nodes ? find_link(m, node, (unsigned int)tune_int(o, "port"), &is_a) : NULL;
	if (!l)
		return;
	sink = is_a ? l->b : l->a;
	m->node[node].weight += WEIGHT_ROOT / (number > 1 ? WEIGHT_OTHER : 1);
	m->node[sink].weight += WEIGHT_ROOT / (number > 1 ? WEIGHT_OTHER : 1);
	if (!m->node[sink].is_switch && json_is_object(peer)) {
		take_role(m, peer, number, TUNE_MAP_SINK);
		m->node[sink].mbps = (double)tune_int(o, "rate_mbps");
	}
	if (is_a && !l->root_a)
		l->root_a = number;
	else if (!is_a && !l->root_b)
		l->root_b = number;
}

static void take_ways(struct tune_map *m, const json_t *trees)
{
	const json_t *tree, *end;
	size_t i, k;

	json_array_foreach (trees, i, tree)
		json_array_foreach (tree, k, end) {
			struct tune_map_link *l = NULL;
			unsigned int port;
			uint32_t node;
			bool is_a = false;

			if (read_end(m, end, &node, &port))
				l = find_link(m, node, port, &is_a);
			if (l && is_a && !l->hot_a)
				l->hot_a = (unsigned int)i + 1;
			else if (l && !is_a && !l->hot_b)
				l->hot_b = (unsigned int)i + 1;
		}
}

static void weigh(struct tune_map *m)
{
	for (uint32_t i = 0; i < m->n_nodes; i++) {
		const struct tune_map_node *h = &m->node[i];

		if (h->home < m->n_nodes)
			m->node[h->home].weight += WEIGHT_ROLE * (unsigned int)h->role /
						   (h->root > 1 ? WEIGHT_OTHER : 1);
	}
	for (uint32_t i = 0; i < m->n_links; i++) {
		const struct tune_map_link *l = &m->link[i];

		if (l->hot_a != 1 && l->hot_b != 1)
			continue;
		m->node[l->a].weight += WEIGHT_HOT;
		m->node[l->b].weight += WEIGHT_HOT;
	}
}

/* Follows the worst root's paths from the switches shown so far. */
static void follow_ways(struct tune_map *m, unsigned int level)
{
	for (uint32_t i = 0; i < m->n_links; i++) {
		const struct tune_map_link *l = &m->link[i];
		struct tune_map_node *a = &m->node[l->a], *b = &m->node[l->b];

		if (l->hot_a != 1 && l->hot_b != 1)
			continue;
		if (a->level == level && b->shown)
			a->weight += WEIGHT_WAY;
		if (b->level == level && a->shown)
			b->weight += WEIGHT_WAY;
	}
}

/* Chooses the switches that have most to do with roots, in the order of the fabric. */
static unsigned int choose(struct tune_map *m, unsigned int level)
{
	unsigned int most = level == 1 ? LEAVES : UPPER, shown;
	struct tune_map_fold *fold = &m->fold[level];

	follow_ways(m, level);
	for (shown = 0; shown < most; shown++) {
		struct tune_map_node *best = NULL;

		for (uint32_t i = 0; i < m->n_nodes; i++) {
			struct tune_map_node *n = &m->node[i];

			if (n->is_switch && n->level == level && !n->shown &&
			    (!best || n->weight > best->weight))
				best = n;
		}
		if (!best)
			break;
		best->shown = true;
	}
	for (uint32_t i = 0; i < m->n_nodes; i++) {
		const struct tune_map_node *n = &m->node[i];

		if (!n->is_switch || n->level != level || n->shown)
			continue;
		fold->n_switches++;
		fold->n_hosts += n->n_hosts;
	}
	return shown + (fold->n_switches > 0);
}

static bool has_arcs(const struct tune_map *m)
{
	for (uint32_t i = 0; i < m->n_links; i++) {
		const struct tune_map_node *a = &m->node[m->link[i].a], *b = &m->node[m->link[i].b];

		if (a->is_switch && b->is_switch && a->level == b->level && a->shown && b->shown)
			return true;
	}
	return false;
}

static void place_level(struct tune_map *m, unsigned int level, unsigned int n, double y)
{
	double step = TUNE_MAP_BOX + TUNE_MAP_GAP;
	double x = (m->width - n * step + TUNE_MAP_GAP) / 2 + TUNE_MAP_BOX / 2;

	for (uint32_t i = 0; i < m->n_nodes; i++) {
		struct tune_map_node *node = &m->node[i];

		if (!node->is_switch || !node->shown || node->level != level)
			continue;
		node->x = x;
		node->y = y;
		x += step;
	}
	m->fold[level].x = x;
	m->fold[level].y = y;
}

/* The number of rows of the fullest column. */
static unsigned int rows(const struct tune_map *m)
{
	unsigned int most = 0;

	for (uint32_t i = 0; i < m->n_nodes; i++) {
		unsigned int n = m->node[i].shown ? m->node[i].n_hosts : 0;

		if (n > TUNE_MAP_HOSTS)
			n = TUNE_MAP_HOSTS + 1;
		most = n > most ? n : most;
	}
	return most;
}

static void place(struct tune_map *m)
{
	unsigned int n[TUNE_MAP_LEVELS + 1] = { 0 }, widest = 1;
	double y = MARGIN;

	for (unsigned int level = 1; level <= m->n_levels; level++) {
		n[level] = choose(m, level);
		widest = n[level] > widest ? n[level] : widest;
	}
	m->width = widest * (TUNE_MAP_BOX + TUNE_MAP_GAP) - TUNE_MAP_GAP + 2 * MARGIN;
	if (has_arcs(m))
		y += ARC;
	for (unsigned int level = m->n_levels; level; level--) {
		place_level(m, level, n[level], y);
		y += level > 1 ? TUNE_MAP_HEAD + BETWEEN : TUNE_MAP_HEAD;
	}
	m->height = y + rows(m) * TUNE_MAP_ROW + 2 * MARGIN;
}

int tune_map_init(struct tune_map *m, const json_t *report)
{
	const json_t *map = json_object_get(report, "map"), *o;
	const json_t *list = json_object_get(map, "nodes"), *links = json_object_get(map, "links");
	size_t i;

	*m = (struct tune_map){ .n_nodes = (uint32_t)json_array_size(list) };
	m->node = calloc(m->n_nodes + 1u, sizeof(*m->node));
	m->link = calloc(json_array_size(links) + 1u, sizeof(*m->link));
	m->end = calloc(2 * json_array_size(links) + 1u, sizeof(*m->end));
	m->by_guid = json_object();
	if (!m->node || !m->link || !m->end || !m->by_guid) {
		tune_map_fini(m);
		return -ENOMEM;
	}
	read_nodes(m, list);
	read_links(m, links);
	sort_ends(m);
	find_levels(m);
	json_array_foreach (json_object_get(json_object_get(report, "plan"), "roots"), i, o)
		take_root(m, o, (unsigned int)i + 1);
	take_ways(m, json_object_get(map, "trees"));
	weigh(m);
	place(m);
	if (m->n_levels)
		return 0;
	tune_map_fini(m);
	return -ENODATA;
}

void tune_map_fini(struct tune_map *m)
{
	free(m->node);
	free(m->link);
	free(m->end);
	json_decref(m->by_guid);
	*m = (struct tune_map){ 0 };
}

unsigned int tune_map_hosts(const struct tune_map *m, uint32_t sw, uint32_t *host,
			    unsigned int most)
{
	unsigned int all = 0, n = 0;

	for (int role = TUNE_MAP_SINK; role >= TUNE_MAP_OTHER; role--)
		for (uint32_t i = 0; i < m->n_nodes; i++) {
			if (m->node[i].home != sw || m->node[i].is_switch ||
			    (int)m->node[i].role != role)
				continue;
			if (all++ < most)
				host[n++] = i;
		}
	return all;
}
