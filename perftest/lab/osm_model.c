/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/lab/osm_model.h"

#include <stdbool.h>

#include <ibcc/ccmad.h>

#define LFT_BLOCK  64u
#define PAPER_MTU  2048u
#define PORT_BLOCK IBCC_CC_SW_PORT_BLOCK_13
#define CCT_BLOCKS 2u

static uint64_t div_up(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

struct ibcc_osm_tree ibcc_osm_tree(uint32_t m, uint32_t n)
{
	uint64_t row = 1;

	for (uint32_t i = 1; i < n; i++)
		row *= m / 2;
	return (struct ibcc_osm_tree){
		.m = m, .n = n, .hosts = 2 * row * (m / 2), .switches = (2 * n - 1) * row
	};
}

const char *ibcc_osm_name(enum ibcc_osm_smp smp)
{
	switch (smp) {
	case IBCC_OSM_GET_NODE_INFO: return "Get NodeInfo";
	case IBCC_OSM_GET_NODE_DESC: return "Get NodeDescription";
	case IBCC_OSM_GET_PORT_INFO: return "Get PortInfo";
	case IBCC_OSM_GET_SWITCH_INFO: return "Get SwitchInfo";
	case IBCC_OSM_GET_PKEY: return "Get P_KeyTable";
	case IBCC_OSM_SET_PORT_INFO: return "Set PortInfo";
	case IBCC_OSM_SET_SWITCH_INFO: return "Set SwitchInfo";
	case IBCC_OSM_SET_LFT: return "Set LinearForwardingTable";
	case IBCC_OSM_OTHER: return "others";
	case IBCC_OSM_N_SMPS: break;
	}
	return "";
}

const char *ibcc_osm_difference(enum ibcc_osm_smp smp)
{
	switch (smp) {
	case IBCC_OSM_GET_NODE_INFO:
		return "fewer than one for each port: OpenSM sends none back through the port by "
		       "which it found a switch, nor through a host";
	case IBCC_OSM_GET_PORT_INFO: return "OpenSM also reads port 0 of each switch";
	case IBCC_OSM_SET_PORT_INFO:
		return "more than one for each host: OpenSM also sets each port of a switch, and "
		       "initializes, arms and activates each link by a Set of its own";
	case IBCC_OSM_SET_LFT:
		return "a block has 64 entries of one byte, not MTU/3 entries of three; switches "
		       "have LIDs, too";
	case IBCC_OSM_GET_NODE_DESC:
	case IBCC_OSM_GET_SWITCH_INFO:
	case IBCC_OSM_GET_PKEY:
	case IBCC_OSM_SET_SWITCH_INFO: return "not in the paper";
	case IBCC_OSM_OTHER:
	case IBCC_OSM_N_SMPS: break;
	}
	return NULL;
}

uint64_t ibcc_osm_paper(const struct ibcc_osm_tree *t, enum ibcc_osm_smp smp)
{
	switch (smp) {
	case IBCC_OSM_GET_NODE_INFO:
	case IBCC_OSM_GET_PORT_INFO: return t->switches * t->m + t->hosts;
	case IBCC_OSM_SET_PORT_INFO: return t->hosts;
	case IBCC_OSM_SET_LFT: return t->switches * (1 + div_up(3 * t->hosts, PAPER_MTU));
	case IBCC_OSM_GET_NODE_DESC:
	case IBCC_OSM_GET_SWITCH_INFO:
	case IBCC_OSM_GET_PKEY:
	case IBCC_OSM_SET_SWITCH_INFO:
	case IBCC_OSM_OTHER:
	case IBCC_OSM_N_SMPS: break;
	}
	return 0;
}

uint64_t ibcc_osm_count(const struct ibcc_osm_tree *t, enum ibcc_osm_smp smp)
{
	uint64_t h = t->hosts, s = t->switches, m = t->m;

	switch (smp) {
	case IBCC_OSM_GET_NODE_INFO: return s * (m - 1) + 2;
	case IBCC_OSM_GET_NODE_DESC: return h + s;
	case IBCC_OSM_GET_PORT_INFO: return s * (m + 1) + h;
	case IBCC_OSM_GET_SWITCH_INFO: return s;
	case IBCC_OSM_GET_PKEY: return 2 * h + s * (2 * m + 1);
	case IBCC_OSM_SET_PORT_INFO: return 5 * h + s * (3 * m + 1);
	case IBCC_OSM_SET_SWITCH_INFO: return 2 * s;
	case IBCC_OSM_SET_LFT: return s * div_up(h + s + 1, LFT_BLOCK);
	case IBCC_OSM_OTHER:
	case IBCC_OSM_N_SMPS: break;
	}
	return 0;
}

uint64_t ibcc_osm_total(const struct ibcc_osm_tree *t)
{
	uint64_t sum = 0;

	for (int k = 0; k < IBCC_OSM_N_SMPS; k++)
		sum += ibcc_osm_count(t, (enum ibcc_osm_smp)k);
	return sum;
}

uint64_t ibcc_osm_poll_mads(const struct ibcc_osm_tree *t)
{
	return 2 * (t->hosts + t->switches * t->m) + t->hosts;
}

uint64_t ibcc_osm_push_mads(const struct ibcc_osm_tree *t)
{
	return 2 * (t->hosts * (1 + CCT_BLOCKS) + t->switches * (1 + div_up(t->m + 1, PORT_BLOCK)));
}

static double routing(const struct ibcc_osm_tree *t)
{
	return (double)t->switches * t->m * (double)(t->hosts + t->switches) * (t->n - 1);
}

double ibcc_osm_sweep_s(const struct ibcc_osm_tree *t, const struct ibcc_osm_times *x)
{
	return x->base_s + x->smp_s * (double)ibcc_osm_total(t) + x->route_s * routing(t);
}

/* Sums for a line through points that count by the inverse square of their weight. */
struct line {
	double n, x, y, xx, xy;
};

static void line_add(struct line *l, double x, double y, double weight)
{
	double w = 1 / (weight * weight);

	l->n += w;
	l->x += w * x;
	l->y += w * y;
	l->xx += w * x * x;
	l->xy += w * x * y;
}

/* Neither value may be negative: then the line goes through the origin, or is level. */
static struct ibcc_osm_rate line_fit(const struct line *l)
{
	double d = l->n * l->xx - l->x * l->x;
	double base = d > 0 ? (l->y * l->xx - l->x * l->xy) / d : 0;

	if (l->xx <= 0)
		return (struct ibcc_osm_rate){ .mad_s = 0 };
	if (base < 0)
		base = 0;
	if (l->xy - base * l->x < 0)
		return (struct ibcc_osm_rate){ .base_s = l->y / l->n };
	return (struct ibcc_osm_rate){ .base_s = base, .mad_s = (l->xy - base * l->x) / l->xx };
}

struct ibcc_osm_times ibcc_osm_fit(const struct ibcc_osm_tree *t, const double *sweep_s,
				   const double *path_s, size_t n, size_t but)
{
	double path = 0, work = 0, route_s;
	struct line l = { .n = 0 };
	struct ibcc_osm_rate r;

	for (size_t i = 0; i < n; i++) {
		if (i == but)
			continue;
		path += path_s[i];
		work += routing(&t[i]);
	}
	route_s = work > 0 ? path / work : 0;
	for (size_t i = 0; i < n; i++)
		if (i != but)
			line_add(&l, (double)ibcc_osm_total(&t[i]),
				 sweep_s[i] - route_s * routing(&t[i]), sweep_s[i]);
	r = line_fit(&l);
	return (struct ibcc_osm_times){ .base_s = r.base_s, .smp_s = r.mad_s, .route_s = route_s };
}

struct ibcc_osm_rate ibcc_osm_fit_rate(const double *mads, const double *s, size_t n, size_t but)
{
	struct line l = { .n = 0 };

	for (size_t i = 0; i < n; i++)
		if (i != but && s[i] > 0)
			line_add(&l, mads[i], s[i], s[i]);
	return line_fit(&l);
}
