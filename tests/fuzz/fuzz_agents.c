/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Any datagrams to the simulator's agents: each is answered as a node would, or not at all, and
 * whatever was set leaves an engine that still keeps its books.
 */
#include "tests/fuzz/fuzz.h"

#include <ibcc/agents.h>
#include <ibcc/route.h>

#define STEP_PS (2 * IBCC_PS_PER_US)

struct fabric {
	struct ibcc_topo *topo;
	struct ibcc_engine *engine;
	struct ibcc_agents *agents;
};

/* A switch with two channel adapters, one of which writes to the other; annex A10, or DCQCN as
 * NVIDIA's devices have it.
 */
static void fabric_open(struct fabric *f, uint8_t block, bool dcqcn)
{
	const struct ibcc_agents_options o = { .cct_blocks = 2,
					       .wait_tick = 7,
					       .sw_port_block = block };
	const struct ibcc_flow_spec flow = { .arrivals = IBCC_ARRIVALS_BACKLOGGED };
	struct ibcc_model m;
	int err = 0;

	ibcc_model_defaults(&m);
	m.dcqcn.enabled = dcqcn;
	m.dcqcn.profile[0] = (struct ibcc_dcqcn_profile){ .max = 4096, .percent = 50 };
	memset(m.dcqcn.sl2profile, 1, sizeof(m.dcqcn.sl2profile));
	f->topo = ibcc_topo_new();
	FUZZ_CHECK(f->topo);
	FUZZ_CHECK(ibcc_topo_add_node(f->topo, 1, IBCC_NODE_CA, 1, "a") == 0);
	FUZZ_CHECK(ibcc_topo_add_node(f->topo, 11, IBCC_NODE_CA, 2, "b") == 1);
	FUZZ_CHECK(ibcc_topo_add_node(f->topo, 21, IBCC_NODE_SWITCH, 36, "s") == 2);
	FUZZ_CHECK(!ibcc_topo_link(f->topo, 0, 1, 2, 1, 32000, 2048));
	FUZZ_CHECK(!ibcc_topo_link(f->topo, 1, 1, 2, 36, 32000, 2048));
	ibcc_route_compute(f->topo);
	f->engine = ibcc_engine_new(f->topo, &m, 1, &err);
	FUZZ_CHECK(f->engine);
	FUZZ_CHECK(ibcc_engine_add_flow(f->engine, &flow, f->topo->node[0].first_port + 1,
					f->topo->node[1].first_port + 1) >= 0);
	f->agents = ibcc_agents_new(f->topo, f->engine, &o);
	FUZZ_CHECK(f->agents);
	for (uint32_t i = 0; dcqcn && i < f->topo->n_nodes; i++)
		FUZZ_CHECK(!ibcc_agents_set_nvidia_cc(f->agents, i, IBCC_NVIDIA_CC_ON));
}

static void fabric_close(struct fabric *f)
{
	ibcc_agents_free(f->agents);
	ibcc_engine_free(f->engine);
	ibcc_topo_free(f->topo);
}

static void ask(struct fabric *f, uint32_t endport, const uint8_t *mad)
{
	struct ibcc_mad_header rq, re;
	uint8_t reply[FUZZ_MAD];

	memset(reply, 0xa5, sizeof(reply));
	ibcc_mad_header_unpack(mad, &rq);
	if (ibcc_agents_answer(f->agents, endport, mad, reply))
		return;
	ibcc_mad_header_unpack(reply, &re);
	FUZZ_CHECK(!(rq.method & 0x80));
	FUZZ_CHECK(re.method == IBCC_MAD_GET_RESP);
	FUZZ_CHECK(re.tid == rq.tid && re.attr_id == rq.attr_id && re.attr_mod == rq.attr_mod);
	FUZZ_CHECK(re.mgmt_class == rq.mgmt_class);
	FUZZ_CHECK(re.status == IBCC_MAD_STATUS_OK || re.status == IBCC_MAD_STATUS_BAD_VERSION ||
		   re.status == IBCC_MAD_STATUS_BAD_METHOD ||
		   re.status == IBCC_MAD_STATUS_BAD_ATTR || re.status == IBCC_MAD_STATUS_BAD_FIELD);
}

/* The first byte chooses the block size, and DCQCN; the rest are datagrams one after the
 * other.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t mad[FUZZ_MAD];
	struct fabric f;
	char why[200];
	size_t at = 1;

	if (!size)
		return 0;
	fabric_open(&f, data[0] & 1 ? 32 : 48, data[0] & 2);
	do {
		fuzz_mad(mad, data + at, size > at ? size - at : 0);
		/* Both classes see every datagram, at a node of either type. */
		for (uint32_t i = 0; i <= f.topo->n_endports; i++) {
			ask(&f, i, mad);
			mad[1] = i & 1 ? IBCC_MAD_CLASS_PERF : IBCC_MAD_CLASS_CC;
			mad[2] = i & 1 ? 1 : IBCC_CC_CLASS_VERSION;
			ask(&f, i, mad);
		}
		FUZZ_CHECK(!ibcc_engine_run(f.engine, ibcc_engine_now_ps(f.engine) + STEP_PS));
		at += FUZZ_MAD;
	} while (at < size);
	FUZZ_CHECK(!ibcc_engine_check(f.engine, why, sizeof(why)));
	fabric_close(&f);
	return 0;
}
