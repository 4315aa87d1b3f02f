/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds the changes of a plan that must not be made, before anything is sent: beyond the bounds,
 * to a node with NVIDIA's own control on, settings of that control where it is off or where another
 * program has written, with a CC_Key for a node that may not have the class,
 * or to a LID that belongs to another node by now.
 */
#include "lib/mad/apply_check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/smp.h>
#include <ibcc/vendor_cc.h>

#include "lib/mad/batch.h"

static bool has_table(const struct ibcc_plan *plan, const struct ibcc_change *c)
{
	for (uint32_t i = 0; i < plan->n; i++)
		if (plan->change[i].attr_id == IBCC_CC_ATTR_CCT &&
		    plan->change[i].node_guid == c->node_guid && plan->change[i].port == c->port)
			return true;
	return false;
}

/* The attribute that has to be read before a change is made; 0: none. A CCTI_Min must be within the
 * node's table. And before a node is sent a key, it must have shown that it has the class.
 */
static uint16_t question(const struct ibcc_plan *plan, const struct ibcc_change *c)
{
	if (c->attr_id == IBCC_CC_ATTR_KEY_INFO)
		return IBCC_CC_ATTR_INFO;
	return ibcc_bounds_ccti_min(c) && !has_table(plan, c) ? IBCC_CC_ATTR_CCT : 0;
}

/* Notes the first reason for which a change is left out. */
static void say(const struct ibcc_apply_options *o, const struct ibcc_change *c, const char *what)
{
	if (o->left_out && !o->left_out->text[0])
		ibcc_why_set(o->left_out, 0, "node 0x%016" PRIx64 " port %u, %s: %s", c->node_guid,
			     c->attr_id == IBCC_VCC_ATTR_SW_PROFILE ? c->attr_mod : c->port,
			     ibcc_cc_attr_name(c->attr_id), what);
}

static bool goes_back(const struct ibcc_plan *plan, const struct ibcc_change *c)
{
	return plan->back || c->back;
}

/* Whether a node's answer says that NVIDIA's congestion control is on. */
static bool is_on(const uint8_t *mad, uint16_t attr_id)
{
	struct ibcc_vcc_sw_general sw = { 0 };
	struct ibcc_vcc_ca_general ca = { 0 };

	if (attr_id == IBCC_VCC_ATTR_SW_GENERAL)
		ibcc_vcc_sw_general_unpack(mad, &sw);
	else
		ibcc_vcc_ca_general_unpack(mad, &ca);
	return sw.en || ca.en_react || ca.en_notify;
}

static bool is_first_of_endport(const struct ibcc_plan *plan, uint32_t i)
{
	const struct ibcc_change *c = &plan->change[i];

	return !i || c[-1].node_guid != c->node_guid || c[-1].port != c->port;
}

/* Is this the change of an endport for which its node is asked? What goes back needs no answer
 * where marking profiles are, and must not keep those behind it from being asked for.
 */
static bool asks_node(const struct ibcc_plan *plan, uint32_t i)
{
	const struct ibcc_change *c = &plan->change[i];

	if (c->attr_id != IBCC_VCC_ATTR_SW_PROFILE || is_first_of_endport(plan, i))
		return is_first_of_endport(plan, i);
	for (; !is_first_of_endport(plan, i); i--)
		if (!goes_back(plan, &plan->change[i - 1]))
			return false;
	return !goes_back(plan, c);
}

/* What the answer of a node means for a change that is no setting of NVIDIA's control, or is one. A
 * node that does not answer is taken to have none.
 */
static int judge_vendor(const struct ibcc_plan *plan, const struct ibcc_apply_options *o,
			const struct ibcc_change *c, bool on)
{
	if (c->attr_id == IBCC_VCC_ATTR_SW_PROFILE) {
		if (on || goes_back(plan, c))
			return 0;
		say(o, c,
		    "NVIDIA's own congestion control is off there, so its settings have no effect");
		return IBCC_CHANGE_VENDOR_OFF;
	}
	if (!on)
		return 0;
	say(o, c, "NVIDIA's own congestion control is on there");
	return IBCC_CHANGE_VENDOR_ON;
}

/* Asks nodes that may have NVIDIA's own congestion control whether it is on. */
static int ask_vendors(struct ibcc_transport *t, const struct ibcc_plan *plan,
		       const struct ibcc_apply_options *o, int *err)
{
	struct ibcc_batch batch = { 0 };
	int rc = 0;

	for (uint32_t i = 0; i < plan->n && rc == 0; i++) {
		const struct ibcc_change *c = &plan->change[i];
		struct ibcc_batch_tag tag = { .index = i,
					      .kind = c->port ? IBCC_VCC_ATTR_CA_GENERAL
							      : IBCC_VCC_ATTR_SW_GENERAL };

		bool ask = c->ask_vendor || c->attr_id == IBCC_VCC_ATTR_SW_PROFILE;

		if (!err[i] && ask && asks_node(plan, i))
			rc = ibcc_batch_cc_get(&batch, c->lid, ibcc_apply_key(o, c), tag.kind, 0,
					       tag);
	}
	if (rc == 0)
		rc = ibcc_batch_run(&batch, t);
	for (size_t k = 0; k < batch.n && rc == 0; k++) {
		const struct ibcc_change *c = &plan->change[batch.tag[k].index];

		err[batch.tag[k].index] = judge_vendor(
			plan, o, c, !batch.op[k].err && is_on(batch.op[k].mad, batch.tag[k].kind));
	}
	ibcc_batch_fini(&batch);
	return rc;
}

/* What a node's answer to question() means for a change: 0 or the reason to leave it out. */
static int judge(const struct ibcc_apply_options *o, const struct ibcc_change *c, uint16_t asked,
		 const struct ibcc_mad_op *op)
{
	struct ibcc_cct cct = { 0 };
	uint16_t limit = 0;

	if (asked == IBCC_CC_ATTR_INFO) {
		if (op->err == 0)
			return 0;
		say(o, c,
		    "the node does not report that it supports congestion control, and gets no "
		    "key");
		return IBCC_CHANGE_NO_CLASS;
	}
	if (op->err == 0)
		ibcc_cc_cct_unpack(op->mad, 0, &cct, &limit);
	if (op->err == 0 && ibcc_bounds_ccti_min(c) <= limit)
		return 0;
	say(o, c, "a CCTI_Min beyond the table's end");
	return IBCC_CHANGE_BEYOND_BOUNDS;
}

/* What a port's profiles are before a change of them: 0 or the reason to leave it out. A person who
 * asks for the earlier min, max and percent gets them also over those of another program, but not
 * over other bits that have changed.
 */
static int judge_profile(const struct ibcc_plan *plan, const struct ibcc_apply_options *o,
			 const struct ibcc_change *c, const uint8_t *now)
{
	bool asked_for = plan->back && !plan->ours_only;

	if (asked_for && !ibcc_vcc_profiles_differ_beside(now, c->new_data))
		return 0;
	if (!asked_for && (!memcmp(now, c->old_data, sizeof(c->old_data)) ||
			   (goes_back(plan, c) && !memcmp(now, c->new_data, sizeof(c->new_data)))))
		return 0;
	say(o, c,
	    asked_for ? "the port's profiles stay, as another program or a restart has changed "
			"their settings beside min, max and percent"
		      : "another program has changed the port's profiles since ibcc-tune read "
			"them");
	return IBCC_CHANGE_OTHER_WRITER;
}

/* What the answers before a marking profile is changed mean: 0 or the reason to leave it out. */
static int judge_answer(const struct ibcc_plan *plan, const struct ibcc_apply_options *o,
			const struct ibcc_change *c, uint16_t asked, const struct ibcc_mad_op *op)
{
	struct ibcc_cc_key_info key;

	if (asked == IBCC_VCC_ATTR_SW_PROFILE && !op->err)
		return judge_profile(plan, o, c, op->mad + IBCC_MAD_DATA_OFFS);
	if (asked == IBCC_VCC_ATTR_SW_PROFILE) {
		say(o, c, "the port's profiles cannot be read");
		return IBCC_CHANGE_UNREADABLE;
	}
	if (!op->err)
		ibcc_cc_key_info_unpack(op->mad, &key);
	if (!op->err && (!key.CC_Key || key.CC_Key == ibcc_apply_key(o, c)))
		return 0;
	say(o, c,
	    op->err ? "the node does not say whether it has a CC_Key"
		    : "the node has another CC_Key than ibcc-tune (key_dir, cc_key_file)");
	return IBCC_CHANGE_OTHER_KEY;
}

/* Reads each marking profile once more before it is changed, and its node's CC_Key unless it goes
 * back. Some nodes drop a Set with another key without a word, and the profile may be another
 * program's by now.
 */
static int ask_profiles(struct ibcc_transport *t, const struct ibcc_plan *plan,
			const struct ibcc_apply_options *o, int *err)
{
	struct ibcc_batch batch = { 0 };
	int rc = 0;

	for (uint32_t i = 0; i < plan->n && rc == 0; i++) {
		const struct ibcc_change *c = &plan->change[i];
		struct ibcc_batch_tag tag = { .index = i, .kind = IBCC_CC_ATTR_KEY_INFO };

		if (err[i] || c->attr_id != IBCC_VCC_ATTR_SW_PROFILE)
			continue;
		if (asks_node(plan, i) && !goes_back(plan, c))
			rc = ibcc_batch_cc_get(&batch, c->lid, ibcc_apply_key(o, c), tag.kind, 0,
					       tag);
		tag.kind = c->attr_id;
		if (rc == 0)
			rc = ibcc_batch_cc_get(&batch, c->lid, ibcc_apply_key(o, c), tag.kind,
					       c->attr_mod, tag);
	}
	if (rc == 0)
		rc = ibcc_batch_run(&batch, t);
	for (size_t k = 0; k < batch.n && rc == 0; k++) {
		uint32_t i = batch.tag[k].index;

		ibcc_transport_cut_data(t, batch.op[k].mad + IBCC_MAD_DATA_OFFS);
		if (!err[i])
			err[i] = judge_answer(plan, o, &plan->change[i], batch.tag[k].kind,
					      &batch.op[k]);
	}
	ibcc_batch_fini(&batch);
	return rc;
}

static int ask(struct ibcc_transport *t, const struct ibcc_plan *plan,
	       const struct ibcc_apply_options *o, int *err)
{
	struct ibcc_batch batch = { 0 };
	int rc = 0;

	for (uint32_t i = 0; i < plan->n && rc == 0; i++) {
		const struct ibcc_change *c = &plan->change[i];
		uint16_t attr = err[i] ? 0 : question(plan, c);
		struct ibcc_batch_tag tag = { .index = i, .kind = attr };

		if (attr)
			rc = ibcc_batch_cc_get(&batch, c->lid, ibcc_apply_key(o, c), attr, 0, tag);
	}
	if (rc == 0)
		rc = ibcc_batch_run(&batch, t);
	for (size_t k = 0; k < batch.n && rc == 0; k++) {
		uint32_t i = batch.tag[k].index;

		err[i] = judge(o, &plan->change[i], batch.tag[k].kind, &batch.op[k]);
	}
	ibcc_batch_fini(&batch);
	return rc;
}

int ibcc_apply_check(struct ibcc_transport *t, const struct ibcc_plan *plan,
		     const struct ibcc_apply_options *o, int *err)
{
	static const struct ibcc_bounds defaults = IBCC_BOUNDS_DEFAULT;
	bool *bad = calloc(plan->n ? plan->n : 1, sizeof(*bad));
	int rc;

	if (!bad)
		return -ENOMEM;
	ibcc_bounds_check(o->bounds ? o->bounds : &defaults, NULL, NULL, plan, bad, o->left_out);
	for (uint32_t i = 0; i < plan->n; i++)
		err[i] = bad[i] ? IBCC_CHANGE_BEYOND_BOUNDS : 0;
	free(bad);
	if (o->dry)
		return 0;
	rc = ask_vendors(t, plan, o, err);
	if (rc == 0)
		rc = ask_profiles(t, plan, o, err);
	return rc ? rc : ask(t, plan, o, err);
}

int ibcc_apply_prove(struct ibcc_transport *t, const struct ibcc_change *const *change, uint32_t n,
		     const struct ibcc_apply_options *o, int *err)
{
	struct ibcc_batch batch = { 0 };
	int rc = 0;

	for (uint32_t k = 0; k < n && rc == 0; k++)
		rc = ibcc_batch_smp_get(&batch, change[k]->lid, IBCC_SMP_ATTR_NODE_INFO, 0,
					(struct ibcc_batch_tag){ .index = k });
	if (rc == 0)
		rc = ibcc_batch_run_smps(&batch, t);
	for (size_t k = 0; k < batch.n && rc == 0; k++) {
		struct ibcc_smp_node_info ni;

		err[k] = batch.op[k].err ? IBCC_CHANGE_GONE : 0;
		if (err[k]) {
			say(o, change[k], "no node answers at its LID");
			continue;
		}
		ibcc_smp_node_info_unpack(batch.op[k].mad, &ni);
		if (ni.node_guid == change[k]->node_guid)
			continue;
		err[k] = IBCC_CHANGE_MOVED;
		say(o, change[k],
		    "its LID belongs to another node now, so the fabric is discovered again");
	}
	ibcc_batch_fini(&batch);
	return rc;
}

bool ibcc_apply_is_readable(const struct ibcc_transport *tr, const struct ibcc_change *c)
{
	for (size_t i = ibcc_transport_whole_data(tr); i < sizeof(c->new_data); i++)
		if (c->new_data[i] || c->old_data[i])
			return false;
	return true;
}
