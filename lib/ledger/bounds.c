/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Bounds of what may be written to the fabric, whatever asked for it (bounds.h). Each change of a
 * plan is checked against the attribute's fields, the limits of the configuration, and the node
 * that it is for. This file also has the budget of Sets for each node and minute. Begin with
 * ibcc_bounds_check().
 */
#include <ibcc/bounds.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/grow.h>
#include <ibcc/vendor_cc.h>

#define MINUTE_NS 60e9

static void data_to_mad(uint8_t *mad, const uint8_t *data)
{
	memset(mad, 0, IBCC_MAD_DATA_OFFS);
	memcpy(mad + IBCC_MAD_DATA_OFFS, data, IBCC_CC_DATA_BYTES);
}

static void to_mad(uint8_t *mad, const struct ibcc_change *c)
{
	data_to_mad(mad, c->new_data);
}

/* The table that an endport has after a plan, as far as the plan writes it. */
struct table {
	uint8_t blocks; /* bit k: block k is in the plan */
	uint8_t twice;  /* bit k: block k is in the plan more than once, with other data */
	struct ibcc_cct cct;
};

static bool same_endport(const struct ibcc_change *a, const struct ibcc_change *b)
{
	return a->node_guid == b->node_guid && a->port == b->port;
}

static int by_endport(const void *x, const void *y, void *arg)
{
	const struct ibcc_plan *plan = arg;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	const struct ibcc_change *a = &plan->change[i], *b = &plan->change[k];

	if (a->node_guid != b->node_guid)
		return a->node_guid < b->node_guid ? -1 : 1;
	return a->port != b->port ? a->port - b->port : (i > k) - (i < k);
}

/* The table that changes order[0] to order[n - 1], those of one endport, write. */
static struct table table_of(const struct ibcc_plan *plan, const uint32_t *order, uint32_t n)
{
	const struct ibcc_change *before[IBCC_CCT_MAX_BLOCKS] = { NULL };
	struct table t = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		const struct ibcc_change *c = &plan->change[order[i]], **same;
		uint8_t mad[IBCC_MAD_BYTES];

		if (c->attr_id != IBCC_CC_ATTR_CCT || c->attr_mod >= IBCC_CCT_MAX_BLOCKS)
			continue;
		to_mad(mad, c);
		ibcc_cc_cct_unpack(mad, c->attr_mod, &t.cct, &t.cct.limit);
		same = &before[c->attr_mod];
		if (*same && memcmp((*same)->new_data, c->new_data, sizeof(c->new_data)) != 0)
			t.twice |= (uint8_t)(1u << c->attr_mod);
		*same = c;
		t.blocks |= (uint8_t)(1u << c->attr_mod);
	}
	return t;
}

/* Whether a table has no delays from entry i on. Some nodes report the end of the last block as the
 * table's end, and the entries behind the true end are 0.
 */
static bool is_tail(const struct table *t, unsigned int i)
{
	for (; i <= t->cct.limit; i++)
		if (t->cct.entry[i])
			return false;
	return true;
}

/* What is wrong with the entries of a block, or with how it goes on from the block before, if that
 * is known. NULL: nothing.
 */
static const char *check_block(const struct ibcc_bounds *b, const struct table *t, uint32_t block)
{
	unsigned int first = block * IBCC_CCT_BLOCK_ENTRIES;
	bool known = block && t->blocks & 1u << (block - 1);
	uint32_t before = known ? ibcc_cct_entry_delay_milli(t->cct.entry[first - 1]) : 0;

	/* the node would have the first data for a while, or keep them */
	if (t->twice & 1u << block)
		return "a block of a table twice, with different values";
	if (t->cct.limit >= IBCC_CCT_MAX_ENTRIES)
		return "a CCTI_Limit beyond 255";
	for (unsigned int i = first; i < first + IBCC_CCT_BLOCK_ENTRIES && i <= t->cct.limit; i++) {
		uint32_t delay = ibcc_cct_entry_delay_milli(t->cct.entry[i]);

		if (!i && delay)
			return "a table with a delay at index 0, which throttles without a mark";
		if (delay < before)
			return is_tail(t, i) ? NULL : "a table whose delays fall";
		if (delay > b->max_delay * 1000ull)
			return "a table with a delay longer than max_delay";
		before = delay;
	}
	return NULL;
}

uint8_t ibcc_bounds_ccti_min(const struct ibcc_change *c)
{
	struct ibcc_cc_ca_setting ca;
	uint8_t mad[IBCC_MAD_BYTES], most = 0;

	if (c->attr_id != IBCC_CC_ATTR_CA_SETTING)
		return 0;
	to_mad(mad, c);
	ibcc_cc_ca_setting_unpack(mad, &ca);
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++)
		if (ca.Control_Map >> sl & 1 && ca.sl[sl].CCTI_Min > most)
			most = ca.sl[sl].CCTI_Min;
	return most;
}

static const char *check_setting(const struct ibcc_bounds *b, const struct table *t,
				 const struct ibcc_change *c)
{
	struct ibcc_cc_ca_setting ca;
	uint8_t mad[IBCC_MAD_BYTES];

	to_mad(mad, c);
	ibcc_cc_ca_setting_unpack(mad, &ca);
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++)
		if (ca.Control_Map >> sl & 1 && ca.sl[sl].CCTI_Timer > b->max_timer)
			return "a CCTI_Timer longer than max_timer";
	if (t->blocks && ibcc_bounds_ccti_min(c) > t->cct.limit)
		return "a CCTI_Min beyond the table's end";
	return NULL;
}

/* Whether data have bits that belong to no field: then unpacking and packing changes them. A
 * table's CCTI_Limit is copied, as each block carries that of the whole table, and the codec writes
 * the block's.
 */
static bool has_strange_bits(const struct ibcc_change *c, const uint8_t *data)
{
	struct ibcc_cc_sw_setting sw;
	struct ibcc_cc_ca_setting ca;
	struct ibcc_cct cct = { 0 };
	uint8_t mad[IBCC_MAD_BYTES], again[IBCC_MAD_BYTES] = { 0 };

	data_to_mad(mad, data);
	switch (c->attr_id) {
	case IBCC_CC_ATTR_SW_SETTING:
		ibcc_cc_sw_setting_unpack(mad, &sw);
		if (sw.Control_Map & ~IBCC_CC_SW_CONTROL_MAP_ALL)
			return true;
		ibcc_cc_sw_setting_pack(again, &sw);
		break;
	case IBCC_CC_ATTR_SW_PORT_SETTING:
		for (unsigned int slot = 0;
		     slot < (c->port_block ? c->port_block : IBCC_CC_SW_PORT_BLOCK_13); slot++) {
			struct ibcc_cc_sw_port_element e;

			ibcc_cc_sw_port_element_unpack(mad, slot, &e);
			ibcc_cc_sw_port_element_pack(again, slot, &e);
		}
		break;
	case IBCC_CC_ATTR_CA_SETTING:
		ibcc_cc_ca_setting_unpack(mad, &ca);
		ibcc_cc_ca_setting_pack(again, &ca);
		break;
	case IBCC_CC_ATTR_CCT:
		ibcc_cc_cct_unpack(mad, c->attr_mod, &cct, &cct.limit);
		ibcc_cc_cct_pack(again, c->attr_mod, &cct);
		memcpy(again + IBCC_MAD_DATA_OFFS, data, 2);
		break;
	}
	return memcmp(again + IBCC_MAD_DATA_OFFS, data, IBCC_CC_DATA_BYTES) != 0;
}

static const char *check_bits(const struct ibcc_change *c, const uint8_t *data)
{
	return has_strange_bits(c, data) ? "bits that are none of its fields'" : NULL;
}

/* What is wrong with the profiles of a port. Their mode, unit and VLs are not judged, as they stay
 * what they are.
 */
static const char *check_profiles(const uint8_t *data)
{
	for (unsigned int k = 0; k < IBCC_VCC_PROFILES; k++) {
		struct ibcc_vcc_profile p = ibcc_vcc_profile_get(data, k);

		if (p.percent > 100)
			return "a profile with a percent beyond 100";
		if (p.min > p.max)
			return "a profile whose min is beyond its max";
	}
	return NULL;
}

const char *ibcc_bounds_data(const struct ibcc_change *c, const uint8_t *data)
{
	switch (c->attr_id) {
	case IBCC_CC_ATTR_KEY_INFO: return c->attr_mod ? "no such block of this attribute" : NULL;
	case IBCC_CC_ATTR_SW_SETTING:
	case IBCC_CC_ATTR_CA_SETTING:
		return c->attr_mod ? "no such block of this attribute" : check_bits(c, data);
	case IBCC_CC_ATTR_SW_PORT_SETTING:
		if (c->port_block && c->port_block != IBCC_CC_SW_PORT_BLOCK_121 &&
		    c->port_block != IBCC_CC_SW_PORT_BLOCK_13)
			return "blocks of a size that no switch has";
		return c->attr_mod > UINT8_MAX / IBCC_CC_SW_PORT_BLOCK_121
			       ? "no such block of this attribute"
			       : check_bits(c, data);
	case IBCC_CC_ATTR_CCT:
		if (c->attr_mod >= IBCC_CCT_MAX_BLOCKS)
			return "no such block of this attribute";
		return data[0] ? "a CCTI_Limit beyond 255" : check_bits(c, data);
	case IBCC_VCC_ATTR_SW_PROFILE:
		return !c->attr_mod || c->attr_mod >= UINT8_MAX ? "no such block of this attribute"
								: check_profiles(data);
	}
	return "no setting";
}

/* What is wrong with a change, or NULL. */
static const char *check(const struct ibcc_bounds *b, const struct table *t,
			 const struct ibcc_change *c)
{
	const char *what = ibcc_bounds_data(c, c->new_data);

	if (what)
		return what;
	if (c->attr_id == IBCC_CC_ATTR_CA_SETTING)
		return check_setting(b, t, c);
	if (c->attr_id == IBCC_VCC_ATTR_SW_PROFILE &&
	    ibcc_vcc_profiles_differ_beside(c->old_data, c->new_data))
		return "a change of more than min, max and percent of profiles";
	return c->attr_id == IBCC_CC_ATTR_CCT ? check_block(b, t, c->attr_mod) : NULL;
}

/* Whether a mask fits a switch. A subnet manager may send all switches the mask of the largest one:
 * the bits behind the last port may be set up to some port, but not beyond a gap.
 */
static bool mask_fits(const struct ibcc_cc_port_mask *m, unsigned int n_ports)
{
	for (unsigned int p = n_ports + 1; p < UINT8_MAX; p++)
		if (ibcc_cc_mask_test(m, p + 1) && !ibcc_cc_mask_test(m, p))
			return false;
	return true;
}

static const char *check_masks(const struct ibcc_change *c, unsigned int n_ports)
{
	struct ibcc_cc_sw_setting sw;
	uint8_t mad[IBCC_MAD_BYTES];

	to_mad(mad, c);
	ibcc_cc_sw_setting_unpack(mad, &sw);
	if (!mask_fits(&sw.Victim_Mask, n_ports))
		return "a Victim_Mask with ports that the switch does not have";
	if (!mask_fits(&sw.Credit_Mask, n_ports))
		return "a Credit_Mask with ports that the switch does not have";
	return NULL;
}

static const char *check_elements(const struct ibcc_change *c, unsigned int n_ports)
{
	unsigned int size = c->port_block ? c->port_block : IBCC_CC_SW_PORT_BLOCK_121;
	uint8_t mad[IBCC_MAD_BYTES];

	to_mad(mad, c);
	for (unsigned int slot = 0; slot < size; slot++) {
		struct ibcc_cc_sw_port_element e;

		ibcc_cc_sw_port_element_unpack(mad, slot, &e);
		if (c->attr_mod * size + slot > n_ports && e.Valid)
			return "an element for a port that the switch does not have";
	}
	return NULL;
}

/* What is wrong with a change for the node that it names, or NULL. */
static const char *check_node(const struct ibcc_topo *t, const struct ibcc_change *c)
{
	uint32_t node = t ? ibcc_topo_find_guid(t, c->node_guid) : IBCC_NONE;
	bool for_switch = c->attr_id == IBCC_CC_ATTR_SW_SETTING ||
			  c->attr_id == IBCC_CC_ATTR_SW_PORT_SETTING ||
			  c->attr_id == IBCC_VCC_ATTR_SW_PROFILE;

	if (node == IBCC_NONE || c->attr_id == IBCC_CC_ATTR_KEY_INFO)
		return NULL;
	if (ibcc_topo_is_switch(t, node) != for_switch)
		return for_switch ? "a switch's setting for an adapter"
				  : "an adapter's setting for a switch";
	if (for_switch ? c->port != 0 : !c->port || c->port > t->node[node].n_ports)
		return "a port that the node does not have";
	if (!for_switch)
		return NULL;
	if (c->attr_id == IBCC_VCC_ATTR_SW_PROFILE)
		return c->attr_mod > t->node[node].n_ports ? "a port that the node does not have"
							   : NULL;
	return c->attr_id == IBCC_CC_ATTR_SW_SETTING ? check_masks(c, t->node[node].n_ports)
						     : check_elements(c, t->node[node].n_ports);
}

/* What is wrong with a table block for the node's table length, or NULL. A node may have been
 * replaced by one with a shorter table since the book was written.
 */
static const char *check_table_cap(const struct ibcc_topo *t, const struct ibcc_settings *has,
				   const struct ibcc_change *c)
{
	uint32_t e = t && has && c->attr_id == IBCC_CC_ATTR_CCT
			     ? ibcc_topo_find_endport(t, c->node_guid, c->port)
			     : IBCC_NONE;
	unsigned int cap = e != IBCC_NONE && e < has->n ? has->ep[e].info.ControlTableCap : 0;

	if (!cap)
		return NULL;
	if (c->attr_mod >= cap)
		return "a block of a table that the node does not have";
	return (c->new_data[0] << 8 | c->new_data[1]) >= (int)(cap * IBCC_CCT_BLOCK_ENTRIES)
		       ? "a CCTI_Limit beyond the node's table"
		       : NULL;
}

uint32_t ibcc_bounds_check(const struct ibcc_bounds *b, const struct ibcc_topo *t,
			   const struct ibcc_settings *has, const struct ibcc_plan *plan, bool *bad,
			   struct ibcc_why *why)
{
	uint32_t *order = calloc(plan->n ? plan->n : 1, sizeof(*order));
	uint32_t n = 0, from, end, i;

	for (i = 0; i < plan->n; i++) {
		if (order)
			order[i] = i;
		else if (bad)
			bad[i] = true;
	}
	if (!order) {
		ibcc_why_set(why, 0, "no memory to check it");
		return plan->n;
	}
	/* A plan from a file may be in any order: sorts the changes of an endport together. */
	qsort_r(order, plan->n, sizeof(*order), by_endport, (void *)(uintptr_t)plan);
	for (from = 0; from < plan->n; from = end) {
		struct table table;

		for (end = from + 1; end < plan->n && same_endport(&plan->change[order[from]],
								   &plan->change[order[end]]);
		     end++)
			;
		table = table_of(plan, order + from, end - from);
		for (i = from; i < end; i++) {
			const struct ibcc_change *c = &plan->change[order[i]];
			const char *what = check(b, &table, c);

			if (!what)
				what = check_node(t, c);
			if (!what)
				what = check_table_cap(t, has, c);
			if (bad)
				bad[order[i]] = what;
			if (what && !n++)
				ibcc_why_set(why, 0, "node 0x%016" PRIx64 " port %u, %s: %s",
					     c->node_guid, c->port, ibcc_cc_attr_name(c->attr_id),
					     what);
		}
	}
	free(order);
	return n;
}

uint32_t ibcc_bounds_drop(const struct ibcc_bounds *b, const struct ibcc_topo *t,
			  const struct ibcc_settings *has, struct ibcc_plan *plan,
			  struct ibcc_why *why)
{
	bool *bad = calloc(plan->n ? plan->n : 1, sizeof(*bad));
	uint32_t n_bad, n = 0, from, end, i;

	/* Out of memory for the marks: if any change is bad, none is let through. */
	n_bad = ibcc_bounds_check(b, t, has, plan, bad, why);
	for (from = 0; n_bad && bad && from < plan->n; from = end) {
		bool out = false;

		for (end = from;
		     end < plan->n && plan->change[end].node_guid == plan->change[from].node_guid;
		     end++)
			out |= bad[end] && plan->change[end].attr_id != IBCC_VCC_ATTR_SW_PROFILE;
		for (i = from; i < end; i++)
			if (plan->change[i].attr_id == IBCC_VCC_ATTR_SW_PROFILE ? !bad[i] : !out)
				plan->change[n++] = plan->change[i];
	}
	if (n_bad)
		plan->n = n;
	free(bad);
	return n_bad;
}

void ibcc_set_budget_fini(struct ibcc_set_budget *b)
{
	free(b->account);
	*b = (struct ibcc_set_budget){ 0 };
}

/* The account of a node, made if it has none; NULL: out of memory. */
static struct ibcc_set_account *account_of(struct ibcc_set_budget *b, uint64_t guid, double all,
					   uint64_t now_ns)
{
	struct ibcc_set_account *grown;
	uint32_t lo = 0, hi = b->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (b->account[mid].guid < guid)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < b->n && b->account[lo].guid == guid)
		return &b->account[lo];
	grown = ibcc_grow(b->account, b->n, &b->cap, sizeof(*grown));
	if (!grown)
		return NULL;
	b->account = grown;
	memmove(b->account + lo + 1, b->account + lo, (b->n - lo) * sizeof(*b->account));
	b->n++;
	b->account[lo] = (struct ibcc_set_account){ .guid = guid, .at_ns = now_ns, .sets = all };
	return &b->account[lo];
}

bool ibcc_set_budget_take(struct ibcc_set_budget *b, uint64_t guid, uint32_t n,
			  uint32_t sets_per_minute, uint64_t now_ns)
{
	double all = sets_per_minute;
	struct ibcc_set_account *a;

	if (!sets_per_minute)
		return true;
	a = account_of(b, guid, all, now_ns);
	if (!a)
		return true;
	if (now_ns > a->at_ns)
		a->sets += all * (double)(now_ns - a->at_ns) / MINUTE_NS;
	if (a->sets > all)
		a->sets = all;
	a->at_ns = now_ns;
	if (a->sets < n && a->sets < all)
		return false;
	a->sets -= n;
	return true;
}
