/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The planner: compares settings as they are and as they are wanted, and lists the attribute
 * writes between them (struct ibcc_plan). Begin with ibcc_planner_run().
 *
 * Old and new data go through the same packing. So a change can be applied, verified and undone
 * by code that knows nothing about the attribute.
 */
#include <ibcc/plan.h>

#include <string.h>

#include <ibcc/vendor_cc.h>

/* What the comparison of one endport works on. */
struct planning {
	const struct ibcc_topo *t;
	const struct ibcc_target *target;
	struct ibcc_plan *plan;
	uint32_t endport;
	const struct ibcc_endport_cc *actual, *wanted;
};

static int add(struct planning *j, uint16_t attr_id, uint32_t attr_mod, const uint8_t *old_data,
	       const uint8_t *new_data)
{
	const struct ibcc_topo_port *port = &j->t->port[j->t->endport[j->endport]];
	struct ibcc_change c = {
		.node_guid = j->t->node[port->node].guid,
		.lid = port->lid,
		.port = port->num,
		.attr_id = attr_id,
		.attr_mod = attr_mod,
	};

	if (attr_id == IBCC_CC_ATTR_SW_PORT_SETTING)
		c.port_block = j->actual->sw_port_block;
	memcpy(c.old_data, old_data, sizeof(c.old_data));
	memcpy(c.new_data, new_data, sizeof(c.new_data));
	ibcc_target_explain(j->target, j->t, j->endport, attr_id, c.reason, sizeof(c.reason));
	return ibcc_plan_append(j->plan, &c);
}

static bool same(const uint8_t *a, const uint8_t *b)
{
	return !memcmp(a, b, IBCC_CC_DATA_BYTES);
}

static int plan_switch(struct planning *j)
{
	uint8_t a[IBCC_CC_DATA_BYTES], b[IBCC_CC_DATA_BYTES];

	ibcc_settings_pack(j->actual, IBCC_CC_ATTR_SW_SETTING, 0, a);
	ibcc_settings_pack(j->wanted, IBCC_CC_ATTR_SW_SETTING, 0, b);
	if (same(a, b)) {
		j->plan->n_unchanged++;
		return 0;
	}
	return add(j, IBCC_CC_ATTR_SW_SETTING, 0, a, b);
}

static int plan_switch_ports(struct planning *j)
{
	struct ibcc_endport_cc old = *j->actual, new = *j->wanted;
	uint8_t a[IBCC_CC_DATA_BYTES], b[IBCC_CC_DATA_BYTES];

	new.sw_port_block = old.sw_port_block;
	if (old.n_element < new.n_element)
		new.n_element = old.n_element;
	old.n_element = new.n_element;
	for (uint32_t block = 0; ibcc_settings_pack(&old, IBCC_CC_ATTR_SW_PORT_SETTING, block, a) &&
				 ibcc_settings_pack(&new, IBCC_CC_ATTR_SW_PORT_SETTING, block, b);
	     block++) {
		int ret;

		if (same(a, b)) {
			j->plan->n_unchanged++;
			continue;
		}
		ret = add(j, IBCC_CC_ATTR_SW_PORT_SETTING, block, a, b);
		if (ret)
			return ret;
	}
	return 0;
}

/* Plans the writes of marking profiles, one for each port. */
static int plan_profiles(struct planning *j)
{
	uint8_t a[IBCC_CC_DATA_BYTES], b[IBCC_CC_DATA_BYTES];
	int ret = 0;

	for (uint32_t port = 0; port < j->actual->n_profile && !ret; port++) {
		if (!ibcc_settings_pack(j->actual, IBCC_VCC_ATTR_SW_PROFILE, port, a) ||
		    !ibcc_settings_pack(j->wanted, IBCC_VCC_ATTR_SW_PROFILE, port, b))
			continue;
		if (same(a, b))
			j->plan->n_unchanged++;
		else
			ret = add(j, IBCC_VCC_ATTR_SW_PROFILE, port, a, b);
	}
	return ret;
}

static int plan_ca(struct planning *j, bool *changes)
{
	struct ibcc_endport_cc new = *j->wanted;
	uint8_t a[IBCC_CC_DATA_BYTES], b[IBCC_CC_DATA_BYTES];

	if (j->actual->by_block)
		new.ca.Port_Control = j->actual->ca.Port_Control;
	ibcc_settings_pack(j->actual, IBCC_CC_ATTR_CA_SETTING, 0, a);
	ibcc_settings_pack(&new, IBCC_CC_ATTR_CA_SETTING, 0, b);
	*changes = !same(a, b);
	if (!*changes) {
		j->plan->n_unchanged++;
		return 0;
	}
	return add(j, IBCC_CC_ATTR_CA_SETTING, 0, a, b);
}

/* How many blocks the longer one of the old and the new table has, at most those of the node. */
static unsigned int table_blocks(const struct planning *j)
{
	unsigned int old = ibcc_cct_blocks(j->actual->cct.limit);
	unsigned int new = ibcc_cct_blocks(j->wanted->cct.limit);
	unsigned int n = old > new ? old : new;
	unsigned int cap = j->actual->info.ControlTableCap;

	return cap && n > cap ? cap : n;
}

/* Packs a block of a table. A table that grows does so block by block, since some hardware takes a
 * limit beyond the block for an error. A table that keeps its length keeps its limit in each block:
 * if it were cut off between two blocks, even for microseconds, every source would run free and the
 * congestion tree would be back.
 */
static void pack_block(uint8_t *data, unsigned int block, const struct ibcc_endport_cc *ep,
		       bool grows)
{
	uint16_t limit = ibcc_cct_block_limit(ep->cct.limit, block);

	ibcc_settings_pack(ep, IBCC_CC_ATTR_CCT, block, data);
	if (grows) {
		data[0] = (uint8_t)(limit >> 8);
		data[1] = (uint8_t)limit;
	}
}

/* Plans the writes of a table. If one block differs, all are written: each carries a limit that may
 * end the table at that block, so a lower block alone would cut the rest off. `again`: the node
 * needs its table once more for its CA setting to take effect.
 */
static int plan_table(struct planning *j, bool again)
{
	bool grows = j->actual->by_block || j->actual->cct.limit != j->wanted->cct.limit;
	unsigned int n = table_blocks(j);

	if (!again && ibcc_cct_equal(&j->actual->cct, &j->wanted->cct)) {
		j->plan->n_unchanged += n;
		return 0;
	}
	for (unsigned int block = 0; block < n; block++) {
		uint8_t a[IBCC_CC_DATA_BYTES], b[IBCC_CC_DATA_BYTES];
		int ret;

		pack_block(a, block, j->actual, grows);
		pack_block(b, block, j->wanted, grows);
		ret = add(j, IBCC_CC_ATTR_CCT, block, a, b);
		if (ret)
			return ret;
	}
	return 0;
}

static int plan_endport(struct planning *j)
{
	bool ca_changes;
	int ret;

	if (j->actual->mechanism == IBCC_MECHANISM_DCQCN)
		return plan_profiles(j);
	if (ibcc_topo_is_switch(j->t, j->t->port[j->t->endport[j->endport]].node)) {
		ret = plan_switch(j);
		return ret ? ret : plan_switch_ports(j);
	}
	ret = plan_ca(j, &ca_changes);
	return ret ? ret : plan_table(j, ca_changes && j->actual->by_block);
}

int ibcc_planner_run(const struct ibcc_topo *t, const struct ibcc_settings *actual,
		     const struct ibcc_target *target, struct ibcc_plan *plan)
{
	*plan = (struct ibcc_plan){ .generation = t->generation };
	for (uint32_t i = 0; i < t->n_endports && i < actual->n && i < target->wanted.n; i++) {
		struct planning j = {
			.t = t,
			.target = target,
			.plan = plan,
			.endport = i,
			.actual = &actual->ep[i],
			.wanted = &target->wanted.ep[i],
		};
		int ret;

		if (!t->port[t->endport[i]].lid)
			continue; /* not part of the subnet */
		if (actual->ep[i].support != IBCC_CC_SUPPORTED) {
			plan->n_unreachable++;
			continue;
		}
		ret = plan_endport(&j);
		if (ret) {
			ibcc_plan_fini(plan);
			return ret;
		}
	}
	return 0;
}
