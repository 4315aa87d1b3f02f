/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Plans as JSON that can be looked at today and carried out tomorrow: each write with the bytes
 * that it puts on the wire and those that it expects to replace.
 */
#ifndef IBCC_PLAN_FILE_H
#define IBCC_PLAN_FILE_H

#include <jansson.h>

#include <ibcc/plan.h>
#include <ibcc/why.h>

/* More writes are none of a fabric that InfiniBand can have. */
#define IBCC_PLAN_FILE_MAX_WRITES 500000u

/* An array of
 * {"node_guid","port","attribute","attribute_id","attribute_modifier","port_block","old",
 * "new","reason"}, in the order of the plan, folded (ibcc_json_fold()); old and new are
 * IBCC_CC_DATA_BYTES in hexadecimal. A new reference; NULL without memory.
 */
json_t *ibcc_plan_file_writes(const struct ibcc_plan *plan);

/* Reads such an array, which is not trusted: what a node can be given is for ibcc_bounds_check() to
 * say. LIDs are 0: nodes are known by their GUIDs. *plan is initialised by the call. Returns 0,
 * -EINVAL with a sentence that names the place, -ENOMEM.
 */
int ibcc_plan_file_read(const json_t *writes, struct ibcc_plan *plan, struct ibcc_why *why);

#endif
