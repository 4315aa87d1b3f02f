/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sends requests to the simulator's agents in tests: P. Huang's Lustre fabric with an engine behind
 * it.
 */
#ifndef TEST_AGENTS_H
#define TEST_AGENTS_H

#include <ibcc/agents.h>
#include <ibcc/mad.h>

#include "tests/unit/codec.h"
#include "tests/unit/engines.h"

#define MAD_DATA 64

/* Values of an answer's status. */
enum { OK = 0, BAD_VERSION = 4, BAD_METHOD = 8, BAD_ATTR = 0xc, BAD_FIELD = 0x1c };

struct agent_fabric {
	struct ibcc_topo *topo;
	struct ibcc_engine *engine;
	struct ibcc_agents *agents;
	struct datagram mad; /* the last answer */
};

static inline void agents_open(struct agent_fabric *f, uint8_t block)
{
	struct ibcc_agents_options o = { .cct_blocks = 2, .wait_tick = 7, .sw_port_block = block };
	struct ibcc_model m;

	ibcc_model_defaults(&m);
	f->topo = fabric_lustre();
	f->engine = engine_new(f->topo, &m, 1);
	f->agents = ibcc_agents_new(f->topo, f->engine, &o);
	assert_non_null(f->agents);
}

static inline void agents_close(struct agent_fabric *f)
{
	ibcc_agents_free(f->agents);
	ibcc_engine_free(f->engine);
	ibcc_topo_free(f->topo);
}

/* All sources write to the slow sink, which drains at half rate. */
static inline void agents_congest(struct agent_fabric *f)
{
	for (uint32_t src = LUSTRE_SRC1; src <= LUSTRE_SRC3; src++)
		engine_flow(f->engine, f->topo, src, LUSTRE_SLOW, 0);
	assert_int_equal(ibcc_engine_set_sink_rate(f->engine, fabric_port(f->topo, LUSTRE_SLOW, 1),
						   QDR_MBPS / 2),
			 0);
}

static inline uint32_t agents_endport(const struct agent_fabric *f, uint32_t node)
{
	return f->topo->port[fabric_port(f->topo, node, ibcc_topo_is_switch(f->topo, node) ? 0 : 1)]
		.endport;
}

/* Sends f->mad with a header; the bytes behind the header stay. Returns the answer's status, or
 * -ETIMEDOUT.
 */
static inline int agents_send(struct agent_fabric *f, uint32_t node, uint8_t mgmt_class,
			      uint8_t version, uint8_t method, uint16_t attr_id, uint32_t attr_mod)
{
	struct ibcc_mad_header h = { .base_version = 1,
				     .mgmt_class = mgmt_class,
				     .class_version = version,
				     .method = method,
				     .tid = 0x1234567890abcdef,
				     .attr_id = attr_id,
				     .attr_mod = attr_mod };
	struct datagram rq;
	int err;

	ibcc_mad_header_pack(f->mad.b, &h);
	rq = f->mad;
	err = ibcc_agents_answer(f->agents, agents_endport(f, node), rq.b, f->mad.b);
	if (err)
		return err;
	ibcc_mad_header_unpack(f->mad.b, &h);
	assert_int_equal(h.method, 0x81);
	assert_int_equal(h.mgmt_class, mgmt_class);
	assert_true(h.tid == 0x1234567890abcdef);
	assert_int_equal(h.attr_id, attr_id);
	assert_int_equal(h.attr_mod, attr_mod);
	return h.status;
}

/* A field of the last answer, or of the next request, by libibmad's table. The table numbers bits
 * within words of 32, so callers must not compute with the offset.
 */
static inline uint32_t agents_field(struct agent_fabric *f, int offs, enum MAD_FIELDS field)
{
	return mad_get_field(f->mad.b + MAD_DATA + offs, 0, field);
}

static inline void agents_put(struct agent_fabric *f, int offs, enum MAD_FIELDS field, uint32_t v)
{
	mad_set_field(f->mad.b + MAD_DATA + offs, 0, field, v);
}

static inline void agents_clear(struct agent_fabric *f)
{
	memset(&f->mad, 0, sizeof(f->mad));
}

#endif
