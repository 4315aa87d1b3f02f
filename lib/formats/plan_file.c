/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Plans as lists of writes in JSON, and back (plan_file.h). What is read may come from any file,
 * so each value is checked, and an error names the write and the key.
 */
#include <ibcc/plan_file.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/json.h>
#include <ibcc/vendor_cc.h>

json_t *ibcc_plan_file_writes(const struct ibcc_plan *plan)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < plan->n; i++) {
		const struct ibcc_change *c = &plan->change[i];
		json_t *o = json_pack(
			"{so si ss si sI si so so so}", "node_guid", ibcc_json_guid(c->node_guid),
			"port", c->port, "attribute", ibcc_cc_attr_name(c->attr_id), "attribute_id",
			c->attr_id, "attribute_modifier", (json_int_t)c->attr_mod, "port_block",
			c->port_block, "old", ibcc_json_hex(c->old_data, sizeof(c->old_data)),
			"new", ibcc_json_hex(c->new_data, sizeof(c->new_data)), "reason",
			ibcc_json_text(c->reason));

		if (ibcc_json_fold(list, o)) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

/* Reads a write. NULL, or what its value should be; *key is the key that is wrong. */
static const char *read_write(const json_t *o, struct ibcc_change *c, const char **key)
{
	json_int_t port, attr, mod, block;
	const char *reason, *name;

	*c = (struct ibcc_change){ 0 };
	if (!ibcc_json_read_guid(json_object_get(o, *key = "node_guid"), &c->node_guid))
		return "want 0x and 16 hexadecimal digits in lower case";
	if (!ibcc_json_read_whole(json_object_get(o, *key = "port"), UINT8_MAX, &port))
		return "want a number in 0..255";
	if (!ibcc_json_read_whole(json_object_get(o, *key = "attribute_id"), UINT16_MAX, &attr) ||
	    (attr != IBCC_CC_ATTR_SW_SETTING && attr != IBCC_CC_ATTR_SW_PORT_SETTING &&
	     attr != IBCC_CC_ATTR_CA_SETTING && attr != IBCC_CC_ATTR_CCT &&
	     attr != IBCC_VCC_ATTR_SW_PROFILE))
		return "want the number of an attribute that a plan can write: 20, 21, 22, 23 or "
		       "65289";
	name = json_string_value(json_object_get(o, *key = "attribute"));
	if (name && strcmp(name, ibcc_cc_attr_name((uint16_t)attr)) != 0)
		return "want the name of the attribute with this number";
	if (!ibcc_json_read_whole(json_object_get(o, *key = "attribute_modifier"), UINT32_MAX,
				  &mod))
		return "want a number of 32 bits";
	if (!ibcc_json_read_whole(json_object_get(o, *key = "port_block"), UINT8_MAX, &block))
		return "want a number in 0..255";
	if (!ibcc_json_read_hex(json_object_get(o, *key = "old"), c->old_data,
				sizeof(c->old_data)) ||
	    !ibcc_json_read_hex(json_object_get(o, *key = "new"), c->new_data, sizeof(c->new_data)))
		return "want 384 hexadecimal digits in lower case";
	reason = json_string_value(json_object_get(o, *key = "reason"));
	if (!reason)
		return "want a text";
	c->port = (uint8_t)port;
	c->attr_id = (uint16_t)attr;
	c->attr_mod = (uint32_t)mod;
	c->port_block = (uint8_t)block;
	snprintf(c->reason, sizeof(c->reason), "%s", reason);
	return NULL;
}

int ibcc_plan_file_read(const json_t *writes, struct ibcc_plan *plan, struct ibcc_why *why)
{
	struct ibcc_change c;
	const char *bad, *key;
	const json_t *o;
	size_t i;

	*plan = (struct ibcc_plan){ 0 };
	if (!json_is_array(writes) || json_array_size(writes) > IBCC_PLAN_FILE_MAX_WRITES)
		return ibcc_why_set(why, -EINVAL, "data: want a list of writes");
	json_array_foreach (writes, i, o) {
		bad = read_write(o, &c, &key);
		if (bad) {
			ibcc_plan_fini(plan);
			return ibcc_why_set(why, -EINVAL, "data[%zu].%s: %s", i, key, bad);
		}
		if (ibcc_plan_append(plan, &c)) {
			ibcc_plan_fini(plan);
			return ibcc_why_set(why, -ENOMEM, "no memory");
		}
	}
	return 0;
}
