/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/bench/osm_model.h"

#include <stdbool.h>

#define LFT_BLOCK  64u
#define PAPER_MTU  2048u
#define PORT_BLOCK 32u /* elements of SwitchPortCongestionSetting in a MAD */
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
		return "not one for each port: none goes back through the port by which a switch "
		       "was found, and hosts, which lead nowhere, ask for none";
	case IBCC_OSM_GET_PORT_INFO: return "also of port 0 of each switch";
	case IBCC_OSM_SET_PORT_INFO:
		return "not one for each host: each port of a switch is set too, and each link is "
		       "initialized, armed and activated by Sets of their own";
	case IBCC_OSM_SET_LFT:
		return "a block is 64 entries of one byte, not MTU/3 of three; switches have LIDs, "
		       "too";
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

/* What the three times are multiplied by. */
static void factors(const struct ibcc_osm_tree *t, double f[3])
{
	f[0] = 1;
	f[1] = (double)ibcc_osm_total(t);
	f[2] = (double)t->switches * (double)(t->hosts + t->switches);
}

double ibcc_osm_sweep_s(const struct ibcc_osm_tree *t, const struct ibcc_osm_times *x)
{
	double f[3];

	factors(t, f);
	return x->base_s * f[0] + x->smp_s * f[1] + x->entry_s * f[2];
}

/* Normal equations a x = b of the times in `with` (bits), by elimination; the others are 0. False
 * if they do not tell.
 */
static bool solve(double a[3][3], const double b[3], unsigned int with, double x[3])
{
	double m[3][4];

	for (int i = 0; i < 3; i++) {
		bool in = with >> i & 1;

		for (int k = 0; k < 3; k++)
			m[i][k] = in && with >> k & 1 ? a[i][k] : i == k;
		m[i][3] = in ? b[i] : 0;
	}
	for (int i = 0; i < 3; i++) {
		if (!(m[i][i] > 0))
			return false;
		for (int k = i + 1; k < 3; k++)
			for (int c = 3; c >= i; c--)
				m[k][c] -= m[i][c] * m[k][i] / m[i][i];
	}
	for (int i = 2; i >= 0; i--) {
		x[i] = m[i][3];
		for (int k = i + 1; k < 3; k++)
			x[i] -= m[i][k] * x[k];
		x[i] /= m[i][i];
	}
	return x[0] >= 0 && x[1] >= 0 && x[2] >= 0;
}

struct ibcc_osm_times ibcc_osm_fit(const struct ibcc_osm_tree *t, const double *sweep_s, size_t n,
				   size_t but)
{
	/* What is said to take negative time is left out: the most that fits first. */
	static const unsigned int with[] = { 7, 3, 6, 2 };
	double a[3][3] = { { 0 } }, b[3] = { 0 }, f[3], x[3] = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (i == but)
			continue;
		factors(&t[i], f);
		for (int k = 0; k < 3; k++) {
			for (int c = 0; c < 3; c++)
				a[k][c] += f[k] * f[c] / (sweep_s[i] * sweep_s[i]);
			b[k] += f[k] / sweep_s[i];
		}
	}
	for (size_t w = 0; w < sizeof(with) / sizeof(*with); w++)
		if (solve(a, b, with[w], x))
			break;
	return (struct ibcc_osm_times){ .base_s = x[0], .smp_s = x[1], .entry_s = x[2] };
}
