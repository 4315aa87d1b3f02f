/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Random scenarios on large fabrics: fat trees with steady traffic and hotspots. */
#ifndef PERFTEST_LAB_DRAW_TREE_H
#define PERFTEST_LAB_DRAW_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/scenario.h>
#include <ibcc/yaml.h>

/* Whether there is a tree with this number of hosts: 128, 648, 1152 or 3456. */
bool ibcc_draw_tree_is(uint32_t hosts);

/* Loads the scenario of a seed on the tree with this number of hosts. Errors as ibcc_draw_load();
 * -EINVAL: there is no such tree.
 */
int ibcc_draw_tree_load(uint64_t seed, uint32_t hosts, struct ibcc_scenario *s,
			struct ibcc_yaml_errors *e);

#endif
