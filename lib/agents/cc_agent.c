/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The agent of class 0x21 (congestion control) of a node (IBA vol. 1, annex A10).
 * ibcc_agents_cc() checks versions, the node's quirks and the CC_Key, and calls the attribute's
 * handler from a table. A handler returns the MAD status of the answer.
 *
 * A Set is answered with the payload that came in, because OpenSM remembers what was returned and
 * compares. The registers keep Control_Map with all bits set, since all fields hold: a Get
 * returns that, and the engine takes all fields.
 */
#include <errno.h>
#include <string.h>

#include <ibcc/ccmad.h>
#include <ibcc/formula.h>
#include <ibcc/pma.h>

#include "lib/agents/state.h"

#define PS_PER_SECOND (1000 * IBCC_PS_PER_MS)
#define FLAG_LEASE    0x01u

/* Parts of SwitchCongestionSetting that Control_Map selects, in OpenSM's order of bits. */
enum { MAP_VICTIM = 1, MAP_CREDIT = 2, MAP_THRESHOLD = 4, MAP_CS = 8, MAP_RATE = 16 };

typedef int handler(struct ibcc_agents *a, uint32_t endport, const struct ibcc_mad_header *h,
		    uint8_t *mad);

static bool is_switch(const struct ibcc_agents *a, uint32_t endport)
{
	return ibcc_topo_is_switch(a->topo, a->topo->port[a->topo->endport[endport]].node);
}

int ibcc_agents_cc_push(struct ibcc_agents *a, uint32_t endport)
{
	static const struct ibcc_cc_sw_port_element no_element;
	static const struct ibcc_cc_sw_setting no_sw = { .Control_Map =
								 IBCC_CC_SW_CONTROL_MAP_ALL };
	static const struct ibcc_cc_ca_setting no_ca = { .Control_Map = 0xffff };
	static const struct ibcc_cct no_cct;
	const struct ibcc_endport_cc *r = &a->cc[endport].regs;
	uint32_t port = a->topo->endport[endport];
	uint32_t node = a->topo->port[port].node;
	bool off = a->no_cc[node] || a->quirks[node].ignores;
	struct ibcc_cc_sw_setting sw = off ? no_sw : r->sw;
	struct ibcc_cc_ca_setting ca = off ? no_ca : r->ca;
	unsigned int p;
	int err;

	/* The engine changes only the fields that the maps select; here that is all. */
	sw.Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL;
	ca.Control_Map = 0xffff;
	if (!is_switch(a, endport)) {
		err = ibcc_engine_set_cct(a->engine, port, off ? &no_cct : &r->cct);
		return err ? err : ibcc_engine_set_ca_cc(a->engine, port, &ca);
	}
	err = ibcc_engine_set_switch_cc(a->engine, node, &sw);
	for (p = 1; !err && p < r->n_element; p++)
		err = ibcc_engine_set_switch_port_cc(a->engine, node, p,
						     off ? &no_element : &r->element[p]);
	return err;
}

/* Stores new registers if the engine accepts them. Returns the MAD status. */
static int commit(struct ibcc_agents *a, uint32_t endport, const struct ibcc_endport_cc *next)
{
	struct ibcc_endport_cc old = a->cc[endport].regs;

	a->cc[endport].regs = *next;
	if (!ibcc_agents_cc_push(a, endport))
		return IBCC_MAD_STATUS_OK;
	a->cc[endport].regs = old;
	ibcc_agents_cc_push(a, endport);
	return IBCC_MAD_STATUS_BAD_FIELD;
}

static int class_port_info(struct ibcc_agents *a, uint32_t endport, const struct ibcc_mad_header *h,
			   uint8_t *mad)
{
	(void)a;
	(void)endport;
	(void)h;
	ibcc_pma_class_port_info_pack(mad, &(struct ibcc_pma_class_port_info){
						   .base_version = 1,
						   .class_version = IBCC_CC_CLASS_VERSION,
						   .resp_time = RESP_TIME_VALUE,
					   });
	return IBCC_MAD_STATUS_OK;
}

static int info(struct ibcc_agents *a, uint32_t endport, const struct ibcc_mad_header *h,
		uint8_t *mad)
{
	(void)h;
	ibcc_cc_info_pack(mad, &a->cc[endport].regs.info);
	return IBCC_MAD_STATUS_OK;
}

static int key_info(struct ibcc_agents *a, uint32_t endport, const struct ibcc_mad_header *h,
		    uint8_t *mad)
{
	struct ibcc_agent_cc *c = &a->cc[endport];
	struct ibcc_cc_key_info v;

	if (h->method == IBCC_MAD_SET) {
		ibcc_cc_key_info_unpack(mad, &v);
		c->cc_key = v.CC_Key;
		c->protect = v.CC_KeyProtectBit;
		c->lease_s = v.CC_KeyLeasePeriod;
		if (!v.CC_KeyViolations) /* anything else leaves the counter alone */
			c->violations = 0;
		return IBCC_MAD_STATUS_OK;
	}
	v = (struct ibcc_cc_key_info){ .CC_Key = c->cc_key,
				       .CC_KeyProtectBit = c->protect,
				       .CC_KeyLeasePeriod = c->lease_s,
				       .CC_KeyViolations = c->violations };
	ibcc_cc_key_info_pack(mad, &v);
	return IBCC_MAD_STATUS_OK;
}

static struct ibcc_agent_quirks *quirks_of(const struct ibcc_agents *a, uint32_t endport)
{
	return &a->quirks[a->topo->port[a->topo->endport[endport]].node];
}

/* The engine's time in the units of TimeStamp, 1.024 us. */
static uint64_t ticks(const struct ibcc_agents *a)
{
	return ibcc_engine_now_ps(a->engine) / IBCC_PS_PER_NS / IBCC_FORMULA_TIMER_UNIT_NS;
}

/* What the node's own clock says when the engine's is at t. */
static uint32_t own_time(const struct ibcc_agent_quirks *q, uint64_t t)
{
	int64_t jump = q->clock_jump_ns / IBCC_FORMULA_TIMER_UNIT_NS;

	return (uint32_t)(t * (uint64_t)(1000 + q->clock_off_permille) / 1000 + (uint64_t)jump);
}

static uint32_t timestamp(const struct ibcc_agents *a, uint32_t endport)
{
	return own_time(quirks_of(a, endport), ticks(a));
}

/* Puts a log's times on the node's own clock, as if that had always run as it does now. */
static void log_by_own_clock(struct ibcc_cc_log *v, const struct ibcc_agents *a, uint32_t endport)
{
	uint64_t now = ticks(a);

	for (unsigned int i = 0; i < IBCC_CC_LOG_SWITCH_ENTRIES; i++) {
		uint32_t *at = &v->u.sw.entry[i].TimeStamp;

		if (v->u.sw.entry[i].SLID)
			*at = own_time(quirks_of(a, endport),
				       now - (uint32_t)((uint32_t)now - *at));
	}
}

/* For a switch whose log names one flow, whatever its ports marked. */
static void log_one_flow(struct ibcc_cc_log *v, const struct ibcc_agent_quirks *q)
{
	for (unsigned int i = 0; i < IBCC_CC_LOG_SWITCH_ENTRIES; i++) {
		if (!v->u.sw.entry[i].SLID)
			continue;
		v->u.sw.entry[i].SLID = q->log_slid;
		v->u.sw.entry[i].DLID = q->log_dlid;
	}
}

static int log_info(struct ibcc_agents *a, uint32_t endport, const struct ibcc_mad_header *h,
		    uint8_t *mad)
{
	struct ibcc_cc_log v;

	(void)h;
	memset(&v, 0, sizeof(v));
	if (ibcc_engine_log_read(a->engine, a->topo->endport[endport], &v))
		return IBCC_MAD_STATUS_BUSY;
	v.CongestionFlags = a->cc[endport].lease_end_ps ? FLAG_LEASE : 0;
	if (is_switch(a, endport)) {
		v.LogType = IBCC_CC_LOG_SWITCH;
		v.u.sw.CurrentTimeStamp = timestamp(a, endport);
		log_by_own_clock(&v, a, endport);
		if (quirks_of(a, endport)->log_slid && quirks_of(a, endport)->log_dlid)
			log_one_flow(&v, quirks_of(a, endport));
	} else {
		v.LogType = IBCC_CC_LOG_CA;
		v.u.ca.CurrentTimeStamp = timestamp(a, endport);
	}
	ibcc_cc_log_pack(mad, &v);
	return IBCC_MAD_STATUS_OK;
}

static int sw_setting(struct ibcc_agents *a, uint32_t endport, const struct ibcc_mad_header *h,
		      uint8_t *mad)
{
	struct ibcc_endport_cc next = a->cc[endport].regs;
	struct ibcc_cc_sw_setting v = next.sw;

	if (!is_switch(a, endport))
		return IBCC_MAD_STATUS_BAD_ATTR;
	if (h->method == IBCC_MAD_GET) {
		ibcc_cc_sw_setting_pack(mad, &v);
		return IBCC_MAD_STATUS_OK;
	}
	ibcc_cc_sw_setting_unpack(mad, &v);
	if (v.Control_Map & MAP_VICTIM)
		next.sw.Victim_Mask = v.Victim_Mask;
	if (v.Control_Map & MAP_CREDIT)
		next.sw.Credit_Mask = v.Credit_Mask;
	if (v.Control_Map & MAP_THRESHOLD) {
		next.sw.Threshold = v.Threshold;
		next.sw.Packet_Size = v.Packet_Size;
	}
	if (v.Control_Map & MAP_CS) {
		next.sw.CS_Threshold = v.CS_Threshold;
		next.sw.CS_ReturnDelay = v.CS_ReturnDelay;
	}
	if (v.Control_Map & MAP_RATE)
		next.sw.Marking_Rate = v.Marking_Rate;
	return commit(a, endport, &next);
}

/* A block of SwitchPortCongestionSetting: elements of 32 or 48 ports, by what the switch has. */
static int sw_port_setting(struct ibcc_agents *a, uint32_t endport, const struct ibcc_mad_header *h,
			   uint8_t *mad)
{
	struct ibcc_endport_cc *r = &a->cc[endport].regs;
	uint32_t node = a->topo->port[a->topo->endport[endport]].node;
	struct ibcc_cc_sw_port_element v;
	unsigned int slot, port;

	if (!is_switch(a, endport) || !r->sw_port_block)
		return IBCC_MAD_STATUS_BAD_ATTR;
	if (h->attr_mod > 255u / r->sw_port_block || h->attr_mod * r->sw_port_block >= r->n_element)
		return IBCC_MAD_STATUS_BAD_FIELD;
	port = h->attr_mod * r->sw_port_block;
	if (h->method == IBCC_MAD_GET)
		memset(mad + IBCC_MAD_DATA_OFFS, 0, IBCC_CC_DATA_BYTES);
	for (slot = 0; slot < r->sw_port_block && port < r->n_element; slot++, port++) {
		if (h->method == IBCC_MAD_GET) {
			ibcc_cc_sw_port_element_pack(mad, slot, &r->element[port]);
			continue;
		}
		ibcc_cc_sw_port_element_unpack(mad, slot, &v);
		if (port && !a->quirks[node].ignores &&
		    ibcc_engine_set_switch_port_cc(a->engine, node, port, &v))
			return IBCC_MAD_STATUS_BAD_FIELD;
		r->element[port] = v;
	}
	return IBCC_MAD_STATUS_OK;
}

static int ca_setting(struct ibcc_agents *a, uint32_t endport, const struct ibcc_mad_header *h,
		      uint8_t *mad)
{
	struct ibcc_endport_cc next = a->cc[endport].regs;
	struct ibcc_cc_ca_setting v = next.ca;
	unsigned int sl;

	if (is_switch(a, endport))
		return IBCC_MAD_STATUS_BAD_ATTR;
	if (h->method == IBCC_MAD_GET) {
		ibcc_cc_ca_setting_pack(mad, &v);
		return IBCC_MAD_STATUS_OK;
	}
	ibcc_cc_ca_setting_unpack(mad, &v);
	if (quirks_of(a, endport)->qlogic) {
		a->cc[endport].ca_latent = v;
		return IBCC_MAD_STATUS_OK;
	}
	next.ca.Port_Control = v.Port_Control & IBCC_CC_PORT_CONTROL_SL;
	for (sl = 0; sl < IBCC_CC_SLS; sl++)
		if (v.Control_Map >> sl & 1)
			next.ca.sl[sl] = v.sl[sl];
	return commit(a, endport, &next);
}

static bool qlogic_knows(uint16_t attr_id)
{
	return attr_id == IBCC_CC_ATTR_CLASS_PORT_INFO || attr_id == IBCC_CC_ATTR_INFO ||
	       attr_id == IBCC_CC_ATTR_CA_SETTING || attr_id == IBCC_CC_ATTR_CCT;
}

/* Sets a table block by the rules of the qib driver (Linux, drivers/infiniband/hw/qib/qib_mad.c,
 * cc_set_congestion_control_table()): a limit within the first block begins a table, every other
 * one adds to it. The kernel answers what the driver refuses as an unknown attribute.
 */
static int cct_qlogic_set(struct ibcc_agents *a, uint32_t endport, uint32_t block, uint8_t *mad)
{
	struct ibcc_agent_cc *c = &a->cc[endport];
	struct ibcc_endport_cc next = c->regs;
	struct ibcc_cct sent = { 0 };
	unsigned int first = block * IBCC_CCT_BLOCK_ENTRIES, last;
	uint16_t limit;

	ibcc_cc_cct_unpack(mad, block, &sent, &limit);
	if (limit < IBCC_CCT_BLOCK_ENTRIES)
		c->cct_entries = 0;
	last = limit % IBCC_CCT_BLOCK_ENTRIES;
	c->cct_entries = (uint16_t)(c->cct_entries + last + 1);
	if (c->cct_entries > a->o.cct_blocks * IBCC_CCT_BLOCK_ENTRIES)
		return IBCC_MAD_STATUS_BAD_ATTR;
	memcpy(&next.cct.entry[first], &sent.entry[first], (last + 1) * sizeof(sent.entry[0]));
	next.cct.limit = (uint16_t)(c->cct_entries - 1);
	if (c->ca_latent.Control_Map)
		next.ca = c->ca_latent;
	next.ca.Port_Control = IBCC_CC_PORT_CONTROL_SL;
	next.ca.Control_Map = 0xffff;
	return commit(a, endport, &next);
}

/* Gets a table block from a qib driver, which answers the block's own limit. */
static int cct_qlogic_get(const struct ibcc_agents *a, uint32_t endport, uint32_t block,
			  uint8_t *mad)
{
	const struct ibcc_cct *v = &a->cc[endport].regs.cct;
	unsigned int n = (v->limit + 1u) / IBCC_CCT_BLOCK_ENTRIES;

	if (block > (n ? n - 1 : 0))
		return IBCC_MAD_STATUS_BAD_ATTR;
	ibcc_cc_cct_pack(mad, block, v);
	mad[IBCC_MAD_DATA_OFFS] = 0;
	mad[IBCC_MAD_DATA_OFFS + 1] = (uint8_t)(IBCC_CCT_BLOCK_ENTRIES * (block + 1) - 1);
	return IBCC_MAD_STATUS_OK;
}

/* CongestionControlTable of a plain adapter. The limit that came last holds for the whole table: a
 * table sent in blocks with cumulative limits grows, and a single block may shorten it.
 */
static int cct(struct ibcc_agents *a, uint32_t endport, const struct ibcc_mad_header *h,
	       uint8_t *mad)
{
	struct ibcc_endport_cc next = a->cc[endport].regs;
	struct ibcc_cct v = next.cct;
	uint16_t limit;

	if (is_switch(a, endport))
		return IBCC_MAD_STATUS_BAD_ATTR;
	if (h->attr_mod >= a->o.cct_blocks)
		return IBCC_MAD_STATUS_BAD_FIELD;
	if (quirks_of(a, endport)->qlogic)
		return h->method == IBCC_MAD_GET ? cct_qlogic_get(a, endport, h->attr_mod, mad)
						 : cct_qlogic_set(a, endport, h->attr_mod, mad);
	if (h->method == IBCC_MAD_GET) {
		/* The codec writes the block's own limit; this node answers the table's. */
		ibcc_cc_cct_pack(mad, h->attr_mod, &v);
		mad[IBCC_MAD_DATA_OFFS] = (uint8_t)(v.limit >> 8);
		mad[IBCC_MAD_DATA_OFFS + 1] = (uint8_t)v.limit;
		return IBCC_MAD_STATUS_OK;
	}
	ibcc_cc_cct_unpack(mad, h->attr_mod, &next.cct, &limit);
	if (limit >= a->o.cct_blocks * IBCC_CCT_BLOCK_ENTRIES)
		return IBCC_MAD_STATUS_BAD_FIELD;
	next.cct.limit = limit;
	return commit(a, endport, &next);
}

static int time_stamp(struct ibcc_agents *a, uint32_t endport, const struct ibcc_mad_header *h,
		      uint8_t *mad)
{
	(void)h;
	ibcc_cc_timestamp_pack(mad, timestamp(a, endport));
	return IBCC_MAD_STATUS_OK;
}

/* Whether the CC_Key lets a request through. Counts violations and runs the lease: a violation
 * starts it, a Set with the right key stops it, and when it ends the key no longer protects Gets.
 */
static bool key_accepts(struct ibcc_agents *a, struct ibcc_agent_cc *c,
			const struct ibcc_mad_header *h, const uint8_t *mad)
{
	uint64_t now = ibcc_engine_now_ps(a->engine);

	if (c->lease_end_ps && now >= c->lease_end_ps) {
		c->lease_end_ps = 0;
		c->protect = false; /* the key's owner seems to have gone */
	}
	if (!c->cc_key || ibcc_cc_key_unpack(mad) == c->cc_key) {
		if (h->method == IBCC_MAD_SET)
			c->lease_end_ps = 0;
		return true;
	}
	if (h->method == IBCC_MAD_GET && !c->protect)
		return true;
	if (c->violations < UINT16_MAX)
		c->violations++;
	if (c->lease_s && !c->lease_end_ps)
		c->lease_end_ps = now + c->lease_s * PS_PER_SECOND;
	return false;
}

int ibcc_agents_cc(struct ibcc_agents *a, uint32_t endport, const struct ibcc_mad_header *h,
		   uint8_t *mad)
{
	static const struct {
		handler *fn;
		bool set, block;
	} attrs[] = {
		[IBCC_CC_ATTR_CLASS_PORT_INFO] = { class_port_info, false, false },
		[IBCC_CC_ATTR_INFO] = { info, false, false },
		[IBCC_CC_ATTR_KEY_INFO] = { key_info, true, false },
		[IBCC_CC_ATTR_LOG] = { log_info, false, false },
		[IBCC_CC_ATTR_SW_SETTING] = { sw_setting, true, false },
		[IBCC_CC_ATTR_SW_PORT_SETTING] = { sw_port_setting, true, true },
		[IBCC_CC_ATTR_CA_SETTING] = { ca_setting, true, false },
		[IBCC_CC_ATTR_CCT] = { cct, true, true },
		[IBCC_CC_ATTR_TIMESTAMP] = { time_stamp, false, false },
	};
	const size_t n = sizeof(attrs) / sizeof(attrs[0]);
	const struct ibcc_agent_quirks *quirks = quirks_of(a, endport);

	if (a->no_cc[a->topo->port[a->topo->endport[endport]].node] && h->attr_id < VENDOR_ATTR)
		return IBCC_MAD_STATUS_BAD_ATTR;
	if (quirks->status)
		return quirks->status;
	if (h->base_version != 1 || h->class_version != IBCC_CC_CLASS_VERSION)
		return IBCC_MAD_STATUS_BAD_VERSION;
	if (h->method != IBCC_MAD_GET && h->method != IBCC_MAD_SET)
		return IBCC_MAD_STATUS_BAD_METHOD;
	if ((quirks->qlogic && !qlogic_knows(h->attr_id)) ||
	    (quirks->no_log && h->attr_id == IBCC_CC_ATTR_LOG))
		return IBCC_MAD_STATUS_BAD_ATTR;
	if (!key_accepts(a, &a->cc[endport], h, mad))
		return -ETIMEDOUT;
	if (h->attr_id >= VENDOR_ATTR)
		return h->method == IBCC_MAD_SET && quirks->set_status
			       ? quirks->set_status
			       : ibcc_agents_vendor_cc(a, endport, h, mad);
	if (h->attr_id >= n || !attrs[h->attr_id].fn ||
	    (h->method == IBCC_MAD_SET && !attrs[h->attr_id].set))
		return IBCC_MAD_STATUS_BAD_ATTR;
	if (h->attr_mod && !attrs[h->attr_id].block)
		return IBCC_MAD_STATUS_BAD_FIELD;
	if (h->method == IBCC_MAD_SET && quirks->set_status)
		return quirks->set_status;
	return attrs[h->attr_id].fn(a, endport, h, mad);
}
