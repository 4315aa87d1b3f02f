/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the congestion control settings of all endports, or of some. Begin with run(), at the
 * end.
 *
 * This is done in waves: first which endports have the class; then the settings of those; then
 * what can be asked only when the size of blocks is known.
 *
 * Silence and refusal are kept apart. A node that answers "no such attribute" is unsupported. One
 * that does not answer may lose MADs, or it keeps silent because its CC_Key's protect bit is set
 * and our key is another one. One refusal proves nothing, so a refused request is sent three
 * times; and a node that has answered with its settings before is not taken for unsupported
 * because it refuses now.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/pma.h>

#include "lib/mad/readback_state.h"

#define CHUNK_ENDPORTS 256u

/* An endport that was silent to the class this often is not asked for PATIENCE_NS. One that has
 * answered before gets more tries, since the fabric may be what loses MADs. Nothing is done about
 * an endport while its settings are not known.
 */
#define SILENCES      3u
#define SILENCES_TOLD 10u
#define PATIENCE_NS   300000000000ull
/* This many endports are asked before all others if none has answered yet. */
#define CANARIES 3u

/* A refused request is sent this many more times. */
#define AGAIN 2u

static uint64_t key_for(const struct ibcc_readback *rb, uint32_t i)
{
	return rb->r[i].keyless ? 0 : rb->cc_key;
}

int ibcc_readback_add(struct ibcc_readback *rb, uint32_t i, uint16_t attr_id, uint16_t block)
{
	struct ibcc_batch_tag tag = { .index = i, .kind = attr_id, .sub = block };

	return ibcc_batch_cc_get(&rb->batch, rb->r[i].lid, key_for(rb, i), attr_id, block, tag);
}

void ibcc_readback_failed(struct ibcc_endport_cc *cc, const struct ibcc_mad_op *op)
{
	bool refused = ibcc_batch_is_refused(op) && !cc->told;

	cc->answer = refused ? IBCC_CC_NO_CLASS : IBCC_CC_NO_ANSWER;
	cc->err = op->err;
	cc->status = op->status;
}

/* Sends the refused requests of the batch again. The new answers replace the first ones. */
static int ask_refused(struct ibcc_readback *rb, uint32_t *n)
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

int ibcc_readback_send(struct ibcc_readback *rb)
{
	uint32_t refused = 1;
	int rc = ibcc_batch_run(&rb->batch, rb->tr);

	for (unsigned int i = 0; i < AGAIN && rc == 0 && refused; i++)
		rc = ask_refused(rb, &refused);
	return rc;
}

static int wave_info(struct ibcc_readback *rb)
{
	int rc = 0;

	ibcc_batch_clear(&rb->batch);
	for (uint32_t i = 0; i < rb->n && rc == 0; i++)
		rc = ibcc_readback_add(rb, i, IBCC_CC_ATTR_INFO, 0);
	if (rc == 0)
		rc = ibcc_readback_send(rb);
	for (size_t k = 0; k < rb->batch.n && rc == 0; k++) {
		const struct ibcc_mad_op *op = &rb->batch.op[k];
		struct ibcc_endport_cc *cc = ibcc_readback_cc(rb, &rb->r[rb->batch.tag[k].index]);

		if (op->err < 0) {
			ibcc_readback_failed(cc, op);
			continue;
		}
		cc->answer = IBCC_CC_ANSWERED;
		cc->told = true;
		rb->r[rb->batch.tag[k].index].keyless = false;
		ibcc_cc_info_unpack(op->mad, &cc->info);
	}
	return rc;
}

/* Asks endports that were silent to the class for ClassPortInfo of their counters instead, to see
 * whether they are there at all.
 */
static int wave_silent(struct ibcc_readback *rb)
{
	int rc = 0;

	ibcc_batch_clear(&rb->batch);
	for (uint32_t i = 0; i < rb->n && rc == 0; i++) {
		struct ibcc_batch_tag tag = { .index = i };
		const struct ibcc_endport_cc *cc = ibcc_readback_cc(rb, &rb->r[i]);

		if (cc->answer == IBCC_CC_NO_ANSWER && cc->err == -ETIMEDOUT)
			rc = ibcc_batch_pma_get(&rb->batch, rb->r[i].lid,
						IBCC_PMA_ATTR_CLASS_PORT_INFO, 0, tag);
	}
	if (rc == 0)
		rc = ibcc_batch_run(&rb->batch, rb->tr);
	for (size_t k = 0; k < rb->batch.n && rc == 0; k++) {
		struct ibcc_endport_cc *cc = ibcc_readback_cc(rb, &rb->r[rb->batch.tag[k].index]);

		if (rb->batch.op[k].err == -ETIMEDOUT) {
			cc->err = -EHOSTUNREACH;
			continue;
		}
		cc->silences = (uint8_t)(rb->r[rb->batch.tag[k].index].silences + 1);
		cc->silent_ns = ibcc_transport_now_ns(rb->tr);
	}
	return rc;
}

static uint8_t most_silences(const struct ibcc_endport_cc *old)
{
	return old->told ? SILENCES_TOLD : SILENCES;
}

static bool is_left_alone(const struct ibcc_readback *rb, const struct ibcc_endport_cc *old)
{
	return old->silences >= most_silences(old) &&
	       ibcc_transport_now_ns(rb->tr) < old->silent_ns + PATIENCE_NS;
}

static void add_reading(struct ibcc_readback *rb, const struct ibcc_settings *before,
			uint32_t endport)
{
	static const struct ibcc_endport_cc none;
	const struct ibcc_topo_port *p = &rb->t->port[rb->t->endport[endport]];
	const struct ibcc_endport_cc *old = before->n == rb->s->n ? &before->ep[endport] : &none;

	ibcc_endport_cc_fini(&rb->s->ep[endport]);
	if (is_left_alone(rb, old)) {
		rb->s->ep[endport] = *old;
		rb->s->ep[endport].element = NULL;
		rb->s->ep[endport].n_element = 0;
		rb->s->ep[endport].profile = NULL;
		rb->s->ep[endport].n_profile = 0;
		return;
	}
	rb->s->ep[endport] =
		(struct ibcc_endport_cc){ .answer = IBCC_CC_NO_ANSWER, .told = old->told };
	rb->r[rb->n++] = (struct ibcc_reading){
		.had_elements = old->sw_port_block,
		.keyless = old->answer == IBCC_CC_NO_CLASS,
		.silences = old->silences < most_silences(old) ? old->silences
							       : (uint8_t)(most_silences(old) - 1),
		.endport = endport,
		.lid = p->lid,
		.is_switch = ibcc_topo_is_switch(rb->t, p->node),
		.n_ports = rb->t->node[p->node].n_ports,
	};
}

/* Gathers the next endports with a LID that are to be read, from *next on. */
static void gather(struct ibcc_readback *rb, const struct ibcc_settings *before, uint32_t *next)
{
	rb->n = 0;
	for (; *next < rb->t->n_endports && rb->n < CHUNK_ENDPORTS; (*next)++) {
		const struct ibcc_topo_port *p = &rb->t->port[rb->t->endport[*next]];

		if (p->lid == 0 || (rb->which && !rb->which[*next]))
			continue;
		add_reading(rb, before, *next);
	}
}

/* An endport that did not answer this time keeps the settings that were known. */
static void keep_known(struct ibcc_settings *fresh, struct ibcc_settings *before)
{
	for (uint32_t i = 0; i < fresh->n; i++) {
		struct ibcc_endport_cc known = before->ep[i];

		if (fresh->ep[i].answer != IBCC_CC_NO_ANSWER || known.answer == IBCC_CC_NO_ANSWER)
			continue;
		before->ep[i] = fresh->ep[i];
		fresh->ep[i] = known;
	}
}

static bool has_anybody_told(const struct ibcc_settings *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->ep[i].told || s->ep[i].answer == IBCC_CC_NO_CLASS)
			return true;
	return false;
}

/* The k-th of the endports to be asked first, which are spread evenly over all that have a LID. */
static uint32_t canary(const struct ibcc_topo *t, uint32_t k)
{
	for (uint32_t n = 0; n < t->n_endports; n++) {
		uint32_t i =
			(uint32_t)(((uint64_t)k * t->n_endports / CANARIES + n) % t->n_endports);

		if (t->port[t->endport[i]].lid)
			return i;
	}
	return IBCC_NONE;
}

/* Asks a few endports before all others. 1: the others may be asked. 0: better not to ask them,
 * since all canaries are there and silent. Or a negative errno.
 */
static int try_canaries(struct ibcc_readback *rb, const struct ibcc_settings *before)
{
	uint32_t n_silent = 0;
	int rc = 0;

	for (uint32_t k = 0; k < CANARIES && rc == 0; k++) {
		uint32_t i = canary(rb->t, k);

		if (i == IBCC_NONE)
			return 1;
		rb->n = 0;
		add_reading(rb, before, i);
		rc = wave_info(rb);
		if (rc == 0)
			rc = wave_silent(rb);
		if (rc == 0 &&
		    (rb->s->ep[i].answer != IBCC_CC_NO_ANSWER ||
		     (rb->s->ep[i].err != -ETIMEDOUT && rb->s->ep[i].err != -EHOSTUNREACH)))
			return 1;
		n_silent += rb->s->ep[i].err == -ETIMEDOUT;
	}
	return rc ? rc : !n_silent;
}

/* Counts the other endports as silent, too, so that they are not asked for a while. */
static void leave_alone(struct ibcc_readback *rb)
{
	for (uint32_t i = 0; i < rb->s->n; i++) {
		struct ibcc_endport_cc *cc = &rb->s->ep[i];

		if (!rb->t->port[rb->t->endport[i]].lid || cc->err)
			continue;
		cc->err = -ETIMEDOUT;
		cc->silences = SILENCES;
		cc->silent_ns = ibcc_transport_now_ns(rb->tr);
	}
}

void ibcc_readback_new_keys(struct ibcc_settings *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->ep[i].silences >= SILENCES)
			s->ep[i].silences = SILENCES - 1;
}

/* Sets each endport's support by what was read; other reasons against it may be added later. */
static void judge(const struct ibcc_readback *rb)
{
	for (uint32_t i = 0; i < rb->s->n; i++)
		if (!rb->which || rb->which[i])
			ibcc_endport_judge(&rb->s->ep[i], IBCC_CC_SUPPORTED);
}

/* Reads the settings and replaces *s by them. After an error *s is as before. */
static int run(struct ibcc_readback *rb, struct ibcc_settings *fresh, struct ibcc_settings *s)
{
	uint32_t next = 0;
	int rc;

	rb->s = fresh;
	rb->r = calloc(CHUNK_ENDPORTS, sizeof(*rb->r));
	rc = rb->r ? 0 : -ENOMEM;
	if (rc == 0 && !has_anybody_told(s)) {
		rc = try_canaries(rb, s);
		if (rc == 0)
			leave_alone(rb);
		next = rc == 0 ? rb->t->n_endports : 0;
		rc = rc < 0 ? rc : 0;
	}
	while (rc == 0 && next < rb->t->n_endports) {
		gather(rb, s, &next);
		rc = wave_info(rb);
		if (rc == 0)
			rc = wave_silent(rb);
		if (rc == 0)
			rc = ibcc_readback_settings(rb);
		if (rc == 0)
			rc = ibcc_readback_blocks(rb);
	}
	free(rb->r);
	ibcc_batch_fini(&rb->batch);
	if (rc < 0) {
		ibcc_settings_fini(fresh);
		return rc;
	}
	judge(rb);
	if (rb->which)
		keep_known(fresh, s);
	ibcc_settings_fini(s);
	*s = *fresh;
	return 0;
}

int ibcc_readback_run(struct ibcc_transport *tr, const struct ibcc_topo *t, uint64_t cc_key,
		      struct ibcc_settings *s)
{
	struct ibcc_readback rb = { .tr = tr, .t = t, .cc_key = cc_key };
	struct ibcc_settings fresh;

	if (ibcc_settings_init(&fresh, t) < 0)
		return -ENOMEM;
	return run(&rb, &fresh, s);
}

int ibcc_readback_some(struct ibcc_transport *tr, const struct ibcc_topo *t, uint64_t cc_key,
		       const bool *which, struct ibcc_settings *s)
{
	struct ibcc_readback rb = { .tr = tr, .t = t, .cc_key = cc_key, .which = which };
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
		which[i] = ibcc_endport_support_back(&s->ep[i]) == IBCC_CC_UNKNOWN;
	rc = ibcc_readback_some(tr, t, cc_key, which, s);
	free(which);
	return rc;
}
