/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the congestion control settings of all endports.
 *
 * In waves: who has the class at all; for those who do, the settings; then what is known only after
 * the size of the blocks is. Silence and refusal are told apart: a node that answers "no such
 * attribute" is unsupported, one that says nothing may be lossy, or keep quiet because its CC_Key's
 * protect bit is set and ours is another key. One refusal proves nothing, so it is asked three
 * times; and who has told its settings once is not without them because it refuses now.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/collect.h>
#include <ibcc/pma.h>

#include "lib/io/batch.h"

#define CHUNK_ENDPORTS 256u
/* Slots of a block of 0x15 that arrive whole: umad2sim cuts datagrams off at byte 224. */
#define SAFE_SLOTS 40u

/* A refusal is asked for so many times more. */
#define AGAIN 2u

/* An endport while it is read. */
struct reading {
	uint32_t endport;
	uint16_t lid;
	uint8_t n_ports;
	bool is_switch;
	bool had_elements;              /* when it was read before */
	bool keyless;                   /* had no such class: nobody to tell the key to, yet */
	bool second_block;              /* a block that exists only with 32 elements a block does */
	uint8_t block0[IBCC_MAD_BYTES]; /* of 0x15 */
	unsigned int n_cct;
	bool lacks_block;                    /* of the table, though CongestionInfo promises it */
	uint16_t limit[IBCC_CCT_MAX_BLOCKS]; /* as each block gave it */
};

struct readback {
	struct ibcc_transport *tr;
	const struct ibcc_topo *t;
	uint64_t cc_key;
	struct ibcc_settings *s;
	const bool *which; /* endports to be read; NULL: all */
	struct ibcc_batch batch;
	struct reading *r;
	uint32_t n;
};

static struct ibcc_endport_cc *cc_of(const struct readback *rb, const struct reading *r)
{
	return &rb->s->ep[r->endport];
}

static uint64_t key_for(const struct readback *rb, uint32_t i)
{
	return rb->r[i].keyless ? 0 : rb->cc_key;
}

static int add_get(struct readback *rb, uint32_t i, uint16_t attr_id, uint16_t block)
{
	struct ibcc_batch_tag tag = { .index = i, .kind = attr_id, .sub = block };

	return ibcc_batch_cc_get(&rb->batch, rb->r[i].lid, key_for(rb, i), attr_id, block, tag);
}

/* Without an answer to this request nothing certain is known of the endport. */
static void note_failure(struct ibcc_endport_cc *cc, const struct ibcc_mad_op *op)
{
	bool refused = ibcc_batch_is_refused(op) && !cc->told;

	cc->support = refused ? IBCC_CC_UNSUPPORTED : IBCC_CC_UNKNOWN;
	cc->err = op->err;
	cc->status = op->status;
}

/* Those of the batch's requests that were refused, once more; their answers take the places of the
 * first ones.
 */
static int ask_refused(struct readback *rb, uint32_t *n)
{
	struct ibcc_batch again = { 0 };
	int rc = 0;

	for (size_t k = 0; k < rb->batch.n && rc == 0; k++) {
		const struct ibcc_batch_tag *tag = &rb->batch.tag[k];
		struct ibcc_batch_tag place = { .index = (uint32_t)k };

		if (ibcc_batch_is_refused(&rb->batch.op[k]))
			rc = ibcc_batch_cc_get(&again, rb->r[tag->index].lid,
					       key_for(rb, tag->index), tag->kind, tag->sub, place);
	}
	if (rc == 0)
		rc = ibcc_batch_run(&again, rb->tr);
	for (size_t k = 0; k < again.n && rc == 0; k++)
		if (again.op[k].err == 0 || ibcc_batch_is_refused(&again.op[k]))
			rb->batch.op[again.tag[k].index] = again.op[k];
	*n = (uint32_t)again.n;
	ibcc_batch_fini(&again);
	return rc;
}

static int run_batch(struct readback *rb)
{
	uint32_t refused = 1;
	int rc = ibcc_batch_run(&rb->batch, rb->tr);

	for (unsigned int i = 0; i < AGAIN && rc == 0 && refused; i++)
		rc = ask_refused(rb, &refused);
	return rc;
}

static int wave_info(struct readback *rb)
{
	int rc = 0;

	ibcc_batch_clear(&rb->batch);
	for (uint32_t i = 0; i < rb->n && rc == 0; i++)
		rc = add_get(rb, i, IBCC_CC_ATTR_INFO, 0);
	if (rc == 0)
		rc = run_batch(rb);
	for (size_t k = 0; k < rb->batch.n && rc == 0; k++) {
		const struct ibcc_mad_op *op = &rb->batch.op[k];
		struct ibcc_endport_cc *cc = cc_of(rb, &rb->r[rb->batch.tag[k].index]);

		if (op->err < 0) {
			note_failure(cc, op);
			continue;
		}
		cc->support = IBCC_CC_SUPPORTED;
		cc->told = true;
		rb->r[rb->batch.tag[k].index].keyless = false;
		ibcc_cc_info_unpack(op->mad, &cc->info);
	}
	return rc;
}

/* Endports that kept silent: are they there at all? */
static int wave_silent(struct readback *rb)
{
	int rc = 0;

	ibcc_batch_clear(&rb->batch);
	for (uint32_t i = 0; i < rb->n && rc == 0; i++) {
		struct ibcc_batch_tag tag = { .index = i };
		const struct ibcc_endport_cc *cc = cc_of(rb, &rb->r[i]);

		if (cc->support == IBCC_CC_UNKNOWN && cc->err == -ETIMEDOUT)
			rc = ibcc_batch_pma_get(&rb->batch, rb->r[i].lid,
						IBCC_PMA_ATTR_CLASS_PORT_INFO, 0, tag);
	}
	if (rc == 0)
		rc = ibcc_batch_run(&rb->batch, rb->tr);
	for (size_t k = 0; k < rb->batch.n && rc == 0; k++) {
		if (rb->batch.op[k].err == -ETIMEDOUT)
			cc_of(rb, &rb->r[rb->batch.tag[k].index])->err = -EHOSTUNREACH;
	}
	return rc;
}

static unsigned int last_block(const struct reading *r, unsigned int per_block)
{
	return r->n_ports / per_block;
}

/* The block that a switch of this many ports has only if a block is 32 elements; 0 if none tells.
 */
static uint16_t telling_block(const struct reading *r)
{
	unsigned int k = last_block(r, IBCC_CC_SW_PORT_BLOCK_121);

	return k > last_block(r, IBCC_CC_SW_PORT_BLOCK_13) ? (uint16_t)k : 0;
}

static unsigned int cct_blocks(const struct ibcc_endport_cc *cc)
{
	unsigned int n = cc->info.ControlTableCap;

	return n < IBCC_CCT_MAX_BLOCKS ? n : IBCC_CCT_MAX_BLOCKS;
}

static int add_settings(struct readback *rb, uint32_t i)
{
	const struct reading *r = &rb->r[i];
	int rc = add_get(rb, i, IBCC_CC_ATTR_KEY_INFO, 0);

	if (rc == 0 && r->is_switch) {
		rc = add_get(rb, i, IBCC_CC_ATTR_SW_SETTING, 0);
		if (rc == 0)
			rc = add_get(rb, i, IBCC_CC_ATTR_SW_PORT_SETTING, 0);
		if (rc == 0 && telling_block(r))
			rc = add_get(rb, i, IBCC_CC_ATTR_SW_PORT_SETTING, telling_block(r));
	} else if (rc == 0) {
		rc = add_get(rb, i, IBCC_CC_ATTR_CA_SETTING, 0);
		for (uint16_t b = 0; b < cct_blocks(cc_of(rb, r)) && rc == 0; b++)
			rc = add_get(rb, i, IBCC_CC_ATTR_CCT, b);
	}
	return rc;
}

/* Some firmware answers Get(CCT) with a limit that counts from the start of the block. Such limits
 * can only mean something where all blocks before are full, and the block is in use.
 */
static void join_limits(const struct reading *r, struct ibcc_cct *cct)
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
	/* Nobody may look beyond what was read. */
	if (r->n_cct && cct->limit >= r->n_cct * IBCC_CCT_BLOCK_ENTRIES)
		cct->limit = (uint16_t)(r->n_cct * IBCC_CCT_BLOCK_ENTRIES - 1);
}

/* A node that takes a table as a whole answers for all of its blocks, and with the whole limit. */
static bool tells_by_block(const struct reading *r, const struct ibcc_cct *cct)
{
	return r->lacks_block || (r->n_cct > 1 && cct->limit >= IBCC_CCT_BLOCK_ENTRIES &&
				  r->limit[0] == IBCC_CCT_BLOCK_ENTRIES - 1);
}

/* Judges one answer of the second wave. */
static void take_setting(struct readback *rb, const struct ibcc_mad_op *op,
			 const struct ibcc_batch_tag *tag)
{
	struct reading *r = &rb->r[tag->index];
	struct ibcc_endport_cc *cc = cc_of(rb, r);
	bool refused = ibcc_batch_is_refused(op);
	struct ibcc_cc_key_info key;

	switch ((enum ibcc_cc_attr)tag->kind) {
	case IBCC_CC_ATTR_KEY_INFO:
		/* Readable with any key while the protect bit is off, but no Set would pass. */
		if (op->err < 0)
			return;
		ibcc_cc_key_info_unpack(op->mad, &key);
		if (key.CC_Key && key.CC_Key != rb->cc_key && cc->support == IBCC_CC_SUPPORTED)
			cc->support = IBCC_CC_KEY_REFUSED;
		return;
	case IBCC_CC_ATTR_SW_PORT_SETTING:
		/* Optional, and how a block beyond the end answers. */
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
			r->lacks_block = true; /* beyond the table in use */
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
		note_failure(cc, op);
}

/* The size of a switch's blocks. Where no block tells, elements beyond the 32nd do. */
static uint8_t block_size(const struct reading *r)
{
	for (unsigned int slot = IBCC_CC_SW_PORT_BLOCK_121; slot < SAFE_SLOTS; slot++) {
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

static int wave_settings(struct readback *rb)
{
	int rc = 0;

	ibcc_batch_clear(&rb->batch);
	for (uint32_t i = 0; i < rb->n && rc == 0; i++) {
		if (cc_of(rb, &rb->r[i])->support == IBCC_CC_SUPPORTED)
			rc = add_settings(rb, i);
	}
	if (rc == 0)
		rc = run_batch(rb);
	for (size_t k = 0; k < rb->batch.n && rc == 0; k++)
		take_setting(rb, &rb->batch.op[k], &rb->batch.tag[k]);
	for (uint32_t i = 0; i < rb->n && rc == 0; i++) {
		struct ibcc_endport_cc *cc = cc_of(rb, &rb->r[i]);

		join_limits(&rb->r[i], &cc->cct);
		cc->by_block = tells_by_block(&rb->r[i], &cc->cct);
		if (!cc->sw_port_block)
			continue;
		cc->sw_port_block = block_size(&rb->r[i]);
		cc->element = calloc(rb->r[i].n_ports + 1u, sizeof(*cc->element));
		if (!cc->element)
			return -ENOMEM;
		cc->n_element = (uint16_t)(rb->r[i].n_ports + 1u);
		take_elements(cc, rb->r[i].block0, 0);
	}
	return rc;
}

static int wave_blocks(struct readback *rb)
{
	int rc = 0;

	ibcc_batch_clear(&rb->batch);
	for (uint32_t i = 0; i < rb->n; i++) {
		const struct ibcc_endport_cc *cc = cc_of(rb, &rb->r[i]);

		if (!cc->sw_port_block)
			continue;
		for (uint16_t b = 1; b <= last_block(&rb->r[i], cc->sw_port_block) && rc == 0; b++)
			rc = add_get(rb, i, IBCC_CC_ATTR_SW_PORT_SETTING, b);
	}
	if (rc == 0)
		rc = run_batch(rb);
	for (size_t k = 0; k < rb->batch.n && rc == 0; k++) {
		struct ibcc_endport_cc *cc = cc_of(rb, &rb->r[rb->batch.tag[k].index]);

		if (rb->batch.op[k].err < 0)
			note_failure(cc, &rb->batch.op[k]);
		else
			take_elements(cc, rb->batch.op[k].mad, rb->batch.tag[k].sub);
	}
	return rc;
}

/* Gathers the next endports with a LID that are to be read, from *next on. */
static void gather(struct readback *rb, const struct ibcc_settings *before, uint32_t *next)
{
	static const struct ibcc_endport_cc none;
	const struct ibcc_endport_cc *old;

	rb->n = 0;
	for (; *next < rb->t->n_endports && rb->n < CHUNK_ENDPORTS; (*next)++) {
		const struct ibcc_topo_port *p = &rb->t->port[rb->t->endport[*next]];

		if (p->lid == 0 || (rb->which && !rb->which[*next]))
			continue;
		old = before->n == rb->s->n ? &before->ep[*next] : &none;
		free(rb->s->ep[*next].element);
		rb->s->ep[*next] =
			(struct ibcc_endport_cc){ .support = IBCC_CC_UNKNOWN, .told = old->told };
		rb->r[rb->n++] = (struct reading){
			.had_elements = old->sw_port_block,
			.keyless = old->support == IBCC_CC_UNSUPPORTED,
			.endport = *next,
			.lid = p->lid,
			.is_switch = ibcc_topo_is_switch(rb->t, p->node),
			.n_ports = rb->t->node[p->node].n_ports,
		};
	}
}

/* Who does not answer this time has what it had. */
static void keep_known(struct ibcc_settings *fresh, struct ibcc_settings *before)
{
	for (uint32_t i = 0; i < fresh->n; i++) {
		struct ibcc_endport_cc known = before->ep[i];

		if (fresh->ep[i].support != IBCC_CC_UNKNOWN || known.support == IBCC_CC_UNKNOWN)
			continue;
		before->ep[i] = fresh->ep[i];
		fresh->ep[i] = known;
	}
}

/* Takes the settings over and replaces *s by them, or leaves *s alone. */
static int run(struct readback *rb, struct ibcc_settings *fresh, struct ibcc_settings *s)
{
	uint32_t next = 0;
	int rc;

	rb->s = fresh;
	rb->r = calloc(CHUNK_ENDPORTS, sizeof(*rb->r));
	rc = rb->r ? 0 : -ENOMEM;
	while (rc == 0 && next < rb->t->n_endports) {
		gather(rb, s, &next);
		rc = wave_info(rb);
		if (rc == 0)
			rc = wave_silent(rb);
		if (rc == 0)
			rc = wave_settings(rb);
		if (rc == 0)
			rc = wave_blocks(rb);
	}
	free(rb->r);
	ibcc_batch_fini(&rb->batch);
	if (rc < 0) {
		ibcc_settings_fini(fresh);
		return rc;
	}
	if (rb->which)
		keep_known(fresh, s);
	ibcc_settings_fini(s);
	*s = *fresh;
	return 0;
}

int ibcc_readback_run(struct ibcc_transport *tr, const struct ibcc_topo *t, uint64_t cc_key,
		      struct ibcc_settings *s)
{
	struct readback rb = { .tr = tr, .t = t, .cc_key = cc_key };
	struct ibcc_settings fresh;

	if (ibcc_settings_init(&fresh, t) < 0)
		return -ENOMEM;
	return run(&rb, &fresh, s);
}

int ibcc_readback_some(struct ibcc_transport *tr, const struct ibcc_topo *t, uint64_t cc_key,
		       const bool *which, struct ibcc_settings *s)
{
	struct readback rb = { .tr = tr, .t = t, .cc_key = cc_key, .which = which };
	struct ibcc_settings fresh;

	if (s->n != t->n_endports)
		return -EINVAL;
	if (ibcc_settings_copy(&fresh, s) < 0)
		return -ENOMEM;
	return run(&rb, &fresh, s);
}

int ibcc_readback_missing(struct ibcc_transport *tr, const struct ibcc_topo *t, uint64_t cc_key,
			  struct ibcc_settings *s)
{
	bool *which = calloc(s->n + 1, sizeof(*which));
	int rc;

	if (!which)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n; i++)
		which[i] = s->ep[i].support == IBCC_CC_UNKNOWN;
	rc = ibcc_readback_some(tr, t, cc_key, which, s);
	free(which);
	return rc;
}
