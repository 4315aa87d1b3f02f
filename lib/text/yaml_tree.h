/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The tree behind struct ibcc_yaml, for the files that make and change it. */
#ifndef IBCC_TEXT_YAML_TREE_H
#define IBCC_TEXT_YAML_TREE_H

#include <stdint.h>
#include <yaml.h>

#include <ibcc/yaml.h>

struct ibcc_yaml {
	char *file;
	char **set; /* assignments, as errors name them */
	size_t n_set;
	yaml_document_t doc;
};

/* A node that came from assignment k has this plus k for its line. */
#define YAML_SET_LINE ((size_t)1 << 31)

/* A node is libyaml's own; the type is never completed, so that no other file depends on libyaml.
 */
static inline const yaml_node_t *raw(const struct ibcc_yaml_node *n)
{
	return (const yaml_node_t *)(const void *)n;
}

static inline const struct ibcc_yaml_node *cooked(const yaml_node_t *n)
{
	return (const struct ibcc_yaml_node *)(const void *)n;
}

/* libyaml's look-up is not const, but changes nothing. */
static inline yaml_node_t *node_at(const struct ibcc_yaml *y, int index)
{
	return yaml_document_get_node((yaml_document_t *)(uintptr_t)&y->doc, index);
}

#endif
