/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Scenarios as plain data: default models, the search for a named node, freeing.
 * lib/formats/scenario_*.c reads them from files; load.c gives them to an engine.
 */
#include <stdlib.h>
#include <string.h>

#include <ibcc/link.h>
#include <ibcc/scenario.h>

/* A fabric of the QDR generation: switches like InfiniScale IV, passive copper cables of 5 m,
 * packets of 2 KB.
 */
void ibcc_model_defaults(struct ibcc_model *m)
{
	*m = (struct ibcc_model){
		.packet_bytes = 2048,
		.header_bytes = IBCC_LINK_HEADER_BYTES,
		.buffer_bytes = 32768,
		.hca_buffer_bytes = 32768,
		.link_delay_ps = 25 * IBCC_PS_PER_NS, /* 5 m */
		.switch_delay_ps = 100 * IBCC_PS_PER_NS,
		.credit_delay_ps = 100 * IBCC_PS_PER_NS,
		.mark_reference_bytes = 0,
		.mark_hysteresis_permille = 500,
		.hca_service = IBCC_HCA_ARRIVAL,
		.becn_delay_ps = 1 * IBCC_PS_PER_US,
		.becn_path = IBCC_BECN_IN_BAND,
		.acks = false,
		.ack_bytes = 30, /* LRH 8, BTH 12, AETH 4, ICRC 4, VCRC 2 */
		.vls = 1,
		.cct_blocks = 2,
		.wait_tick = 255,
		.arbitration = IBCC_ARBITRATION_INPUT,
		.routing = IBCC_ROUTING_STATIC,
		.endpoint = IBCC_ENDPOINT_DATAGRAM,
		.endpoint_window = 128,
		.ack_timeout = 8, /* 1.05 ms */
		.switching = IBCC_SWITCHING_CUT_THROUGH,
		.switch_reads = IBCC_SWITCH_READS_ALL,
		.flow_control = IBCC_FLOW_CONTROL_CREDITS,
		.pause_xon_permille = 500,
		.bcn = { .w = 2, .ru_mbps = 1 },
		.dcqcn = { .cnp_sl = IBCC_DCQCN_PACKET_SL },
	};
	ibcc_dcqcn_rp_defaults(&m->dcqcn.rp);
}

void ibcc_verbs_defaults(struct ibcc_verbs_plan *v)
{
	*v = (struct ibcc_verbs_plan){
		.operation = IBCC_VERBS_WRITE,
		.message_bytes = 65536,
		.window = 16,
		.queue_pairs = 1,
		.ack_timeout = 16,
		.retries = 7,
		.report_ms = 1000,
	};
}

uint32_t ibcc_scenario_find(const struct ibcc_scenario *s, const char *name,
			    const struct ibcc_topo *t)
{
	uint32_t node;

	if (!s->topo)
		return ibcc_topo_find_node(t, name, &node) ? IBCC_NONE : node;
	if (ibcc_topo_find_node(s->topo, name, &node))
		return IBCC_NONE;
	return ibcc_topo_same_node(s->topo, node, t);
}

void ibcc_scenario_fini(struct ibcc_scenario *s)
{
	if (!s)
		return;
	ibcc_topo_free(s->topo);
	ibcc_route_sls_fini(&s->sls);
	free(s->flow);
	free(s->event);
	free(s->no_cc);
	free(s->profile);
	free(s->buffer_bytes);
	free(s->verbs.host);
	memset(s, 0, sizeof(*s));
}
