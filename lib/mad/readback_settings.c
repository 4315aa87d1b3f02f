/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The second and third wave of readback.c: the settings of nodes with class 0x21, and the layout
 * of their tables and blocks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mad/readback_state.h"

#define ELEMENT_BYTES 4u

/* How many slots of a block of SwitchPortCongestionSetting the transport carries unharmed. */
static unsigned int whole_slots(const struct ibcc_readback *rb)
{
	return ibcc_transport_whole_data(rb->tr) / ELEMENT_BYTES;
}

static unsigned int last_block(const struct ibcc_reading *r, unsigned int per_block)
{
	return r->n_ports / per_block;
}

/* The block that a switch with this many ports has only if its blocks have 32 elements; 0: there is
 * no such block.
 */
static uint16_t telling_block(const struct ibcc_reading *r)
{
	unsigned int k = last_block(r, IBCC_CC_SW_PORT_BLOCK_121);

	return k > last_block(r, IBCC_CC_SW_PORT_BLOCK_13) ? (uint16_t)k : 0;
}

static unsigned int cct_blocks(const struct ibcc_endport_cc *cc)
{
	unsigned int n = cc->info.ControlTableCap;

	return n < IBCC_CCT_MAX_BLOCKS ? n : IBCC_CCT_MAX_BLOCKS;
}

static int add_settings(struct ibcc_readback *rb, uint32_t i)
{
	const struct ibcc_reading *r = &rb->r[i];
	int rc = ibcc_readback_add(rb, i, IBCC_CC_ATTR_KEY_INFO, 0);

	if (rc == 0 && r->is_switch) {
		rc = ibcc_readback_add(rb, i, IBCC_CC_ATTR_SW_SETTING, 0);
		if (rc == 0)
			rc = ibcc_readback_add(rb, i, IBCC_CC_ATTR_SW_PORT_SETTING, 0);
		if (rc == 0 && telling_block(r))
			rc = ibcc_readback_add(rb, i, IBCC_CC_ATTR_SW_PORT_SETTING,
					       telling_block(r));
	} else if (rc == 0) {
		rc = ibcc_readback_add(rb, i, IBCC_CC_ATTR_CA_SETTING, 0);
		for (uint16_t b = 0; b < cct_blocks(ibcc_readback_cc(rb, r)) && rc == 0; b++)
			rc = ibcc_readback_add(rb, i, IBCC_CC_ATTR_CCT, b);
	}
	return rc;
}

/* Finds a table's limit from those of its blocks. Some firmware answers with a limit that counts
 * from the start of the block. Such a limit counts only if all blocks before are full, and the
 * block is in use.
 */
static void join_limits(const struct ibcc_reading *r, struct ibcc_cct *cct)
{
	cct->limit = r->n_cct ? r->limit[0] : 0;
	for (unsigned int b = 1; b < r->n_cct; b++) {
		unsigned int first = b * IBCC_CCT_BLOCK_ENTRIES;
		bool used = false;

		for (unsigned int i = 0; i < IBCC_CCT_BLOCK_ENTRIES; i++)
			used |= cct->entry[first + i] != 0;
		if (r->limit[b] >= first)
			cct->limit = r->limit[b];
		else if (used && cct->limit == first - 1 && r->limit[b] < IBCC_CCT_BLOCK_ENTRIES)
			cct->limit = (uint16_t)(first + r->limit[b]);
		else
			break;
	}
	/* The limit never exceeds what was read. */
	if (r->n_cct && cct->limit >= r->n_cct * IBCC_CCT_BLOCK_ENTRIES)
		cct->limit = (uint16_t)(r->n_cct * IBCC_CCT_BLOCK_ENTRIES - 1);
}

/* Whether a node takes tables by block: one that takes a table as a whole answers each block with
 * the table's limit.
 */
static bool tells_by_block(const struct ibcc_reading *r, const struct ibcc_cct *cct)
{
	return r->lacks_block || (r->n_cct > 1 && cct->limit >= IBCC_CCT_BLOCK_ENTRIES &&
				  r->limit[0] == IBCC_CCT_BLOCK_ENTRIES - 1);
}

/* Judges one answer of the second wave. */
static void take_setting(struct ibcc_readback *rb, const struct ibcc_mad_op *op,
			 const struct ibcc_batch_tag *tag)
{
	struct ibcc_reading *r = &rb->r[tag->index];
	struct ibcc_endport_cc *cc = ibcc_readback_cc(rb, r);
	bool refused = ibcc_batch_is_refused(op);
	struct ibcc_cc_key_info key;

	switch ((enum ibcc_cc_attr)tag->kind) {
	case IBCC_CC_ATTR_KEY_INFO:
		/* The settings are readable with any key while the protect bit is off, but no Set
		 * would pass.
		 */
		if (op->err < 0)
			return;
		ibcc_cc_key_info_unpack(op->mad, &key);
		if (key.CC_Key && key.CC_Key != rb->cc_key && cc->answer == IBCC_CC_ANSWERED)
			cc->answer = IBCC_CC_READ_ONLY;
		return;
	case IBCC_CC_ATTR_SW_PORT_SETTING:
		/* The attribute is optional, and a block beyond the end is refused, too. */
		if (refused && (tag->sub || !r->had_elements))
			return;
		if (op->err == 0 && tag->sub == 0) {
			cc->sw_port_block = IBCC_CC_SW_PORT_BLOCK_121;
			memcpy(r->block0, op->mad, sizeof(r->block0));
		} else if (op->err == 0) {
			r->second_block = true;
		}
		break;
	case IBCC_CC_ATTR_CCT:
		if (refused && tag->sub > 0) {
			r->lacks_block = true; /* the block is beyond the table in use */
			return;
		}
		if (op->err == 0 && tag->sub == r->n_cct)
			ibcc_cc_cct_unpack(op->mad, tag->sub, &cc->cct, &r->limit[r->n_cct++]);
		break;
	case IBCC_CC_ATTR_SW_SETTING:
		if (op->err == 0)
			ibcc_cc_sw_setting_unpack(op->mad, &cc->sw);
		break;
	case IBCC_CC_ATTR_CA_SETTING:
		if (op->err == 0)
			ibcc_cc_ca_setting_unpack(op->mad, &cc->ca);
		break;
	case IBCC_CC_ATTR_CLASS_PORT_INFO:
	case IBCC_CC_ATTR_INFO:
	case IBCC_CC_ATTR_LOG:
	case IBCC_CC_ATTR_TIMESTAMP: return;
	}
	if (op->err < 0)
		ibcc_readback_failed(cc, op);
}

/* The size of a switch's blocks, seen by elements in use beyond the 32nd, or by a second block. */
static uint8_t block_size(const struct ibcc_readback *rb, const struct ibcc_reading *r)
{
	for (unsigned int slot = IBCC_CC_SW_PORT_BLOCK_121;
	     slot < whole_slots(rb) && slot < IBCC_CC_SW_PORT_BLOCK_13; slot++) {
		struct ibcc_cc_sw_port_element e;

		ibcc_cc_sw_port_element_unpack(r->block0, slot, &e);
		if (e.Valid || e.Control_Type || e.Threshold || e.Packet_Size ||
		    e.Cong_Parm_Marking_Rate)
			return IBCC_CC_SW_PORT_BLOCK_13;
	}
	return telling_block(r) && !r->second_block ? IBCC_CC_SW_PORT_BLOCK_13
						    : IBCC_CC_SW_PORT_BLOCK_121;
}

static void take_elements(struct ibcc_endport_cc *cc, const uint8_t *mad, unsigned int block)
{
	unsigned int first = block * cc->sw_port_block;

	for (unsigned int slot = 0; slot < cc->sw_port_block && first + slot < cc->n_element;
	     slot++)
		ibcc_cc_sw_port_element_unpack(mad, slot, &cc->element[first + slot]);
}

int ibcc_readback_settings(struct ibcc_readback *rb)
{
	int rc = 0;

	ibcc_batch_clear(&rb->batch);
	for (uint32_t i = 0; i < rb->n && rc == 0; i++) {
		if (ibcc_readback_cc(rb, &rb->r[i])->answer == IBCC_CC_ANSWERED)
			rc = add_settings(rb, i);
	}
	if (rc == 0)
		rc = ibcc_readback_send(rb);
	for (size_t k = 0; k < rb->batch.n && rc == 0; k++)
		take_setting(rb, &rb->batch.op[k], &rb->batch.tag[k]);
	for (uint32_t i = 0; i < rb->n && rc == 0; i++) {
		struct ibcc_endport_cc *cc = ibcc_readback_cc(rb, &rb->r[i]);

		join_limits(&rb->r[i], &cc->cct);
		cc->by_block = tells_by_block(&rb->r[i], &cc->cct);
		if (!cc->sw_port_block)
			continue;
		cc->sw_port_block = block_size(rb, &rb->r[i]);
		/* A block is written as a whole. If a part of it was not read correctly, a write
		 * would overwrite the other ports' settings with garbage. So we treat the switch as
		 * having no such blocks.
		 */
		if (cc->sw_port_block > whole_slots(rb) && rb->r[i].n_ports >= whole_slots(rb)) {
			cc->sw_port_block = 0;
			continue;
		}
		cc->element = calloc(rb->r[i].n_ports + 1u, sizeof(*cc->element));
		if (!cc->element)
			return -ENOMEM;
		cc->n_element = (uint16_t)(rb->r[i].n_ports + 1u);
		take_elements(cc, rb->r[i].block0, 0);
	}
	return rc;
}

int ibcc_readback_blocks(struct ibcc_readback *rb)
{
	int rc = 0;

	ibcc_batch_clear(&rb->batch);
	for (uint32_t i = 0; i < rb->n; i++) {
		const struct ibcc_endport_cc *cc = ibcc_readback_cc(rb, &rb->r[i]);

		if (!cc->sw_port_block)
			continue;
		for (uint16_t b = 1; b <= last_block(&rb->r[i], cc->sw_port_block) && rc == 0; b++)
			rc = ibcc_readback_add(rb, i, IBCC_CC_ATTR_SW_PORT_SETTING, b);
	}
	if (rc == 0)
		rc = ibcc_readback_send(rb);
	for (size_t k = 0; k < rb->batch.n && rc == 0; k++) {
		struct ibcc_endport_cc *cc = ibcc_readback_cc(rb, &rb->r[rb->batch.tag[k].index]);

		if (rb->batch.op[k].err < 0)
			ibcc_readback_failed(cc, &rb->batch.op[k]);
		else
			take_elements(cc, rb->batch.op[k].mad, rb->batch.tag[k].sub);
	}
	return rc;
}
