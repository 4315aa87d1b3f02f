/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/lab/oracle_grid.h"

#include <errno.h>
#include <stdio.h>

#include <ibcc/command.h>

#include "perftest/bench/report.h"

/* Control exists if the end of the table reaches the fair share and increase * timer is several
 * times the distance of packets there. So steps by a factor of four cover the needs of fabrics of a
 * few to some hundred nodes. Thresholds are near full and near empty queues. Both published shapes
 * of tables are there.
 */
static const char *const default_grid[] = {
	"congestion_control.switch.threshold=2,12",
	"congestion_control.ca.ccti_increase=2,8,32",
	"congestion_control.ca.ccti_timer=4,16,64,256",
	"congestion_control.cct.shape=linear,multiplicative",
	"congestion_control.cct.max_delay_packets=8,32,128",
};

#define N_AXES (sizeof(default_grid) / sizeof(*default_grid))

int ibcc_oracle_grid_add(struct ibcc_grid *g, const char *text)
{
	int rc = ibcc_grid_add(g, text);

	if (rc)
		ibcc_command_say("--grid: got \"%s\", want KEY=A,B,C with different keys and "
				 "values",
				 text);
	return rc;
}

int ibcc_oracle_grid_default(struct ibcc_grid *g)
{
	int rc = 0;

	for (size_t i = 0, own = g->n_axes; !own && i < N_AXES && !rc; i++)
		rc = ibcc_oracle_grid_add(g, default_grid[i]);
	return rc;
}

json_t *ibcc_oracle_grid_json(const struct ibcc_grid *g)
{
	json_t *a = json_array();

	for (size_t i = 0; i < g->n_axes; i++)
		json_array_append_new(a, json_pack("{ss so}", "key", g->axis[i].key, "values",
						   ibcc_report_words(&g->axis[i].value)));
	return a;
}

int ibcc_oracle_base(const struct ibcc_scenario *s, char *text, size_t len)
{
	bool faces_ca[256] = { false };
	size_t at;

	for (uint32_t i = 0; i < s->topo->n_ports; i++) {
		const struct ibcc_topo_port *p = &s->topo->port[i];

		if (ibcc_topo_is_switch(s->topo, p->node) && p->peer != IBCC_NONE &&
		    !ibcc_topo_is_switch(s->topo, s->topo->port[p->peer].node))
			faces_ca[p->num] = true;
	}
	at = (size_t)snprintf(text, len,
			      "congestion_control={switch: {threshold: 2, victim_mask: [");
	for (unsigned int i = 0, first = 1; i < 255 && at + 8 < len; i++) {
		if (!faces_ca[i])
			continue;
		at += (size_t)snprintf(text + at, len - at, first ? "%u" : ", %u", i);
		first = 0;
	}
	if (at < len)
		at += (size_t)snprintf(text + at, len - at,
				       "]}, ca: {ccti_timer: 10, ccti_increase: 5}, "
				       "cct: {shape: linear, max_delay_packets: 32}}");
	return at < len ? 0 : -E2BIG;
}
