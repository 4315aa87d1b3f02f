/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Decisions as JSON, in codes: as the status, a plan and the history have them. */
#ifndef IBCC_DECISION_JSON_H
#define IBCC_DECISION_JSON_H

#include <jansson.h>

#include <ibcc/decision.h>

/* {"decisions","situation","recommended","step"}: decisions in the order in which they were taken,
 * [{"node_guid","node","port","code","kind","phase","basis","sources","rate_mbps","wait_permille",
 * "tree_wait_permille","figures"}], with the root as it was then and the figures that the code has
 * by name; "situation" is null where something was decided, else {"code","root","roots","lacking",
 * "ports","usable","unsure"}. A new reference, NULL without memory.
 */
json_t *ibcc_decisions_json(const struct ibcc_topo *t, const struct ibcc_decisions *d);

/* "input" or "output". */
const char *ibcc_kind_name(enum ibcc_congestion kind);

#endif
