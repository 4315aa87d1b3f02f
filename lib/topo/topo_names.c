/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Texts that name one node of a topology, and the search for the node that a text names.
 *
 * People know descriptions. But in real fabrics several adapters share one, and some cannot be
 * typed, so a GUID names a node, too.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/hex.h>

#include "topo_texts.h"

#define GUID_DIGITS 16

/* The GUID in "0x2c903000a0b0c", or in an id of ibnetdiscover's, "H-0002c903000a0b0c"; false if the
 * text is anything else.
 */
static bool parse_guid(const char *text, uint64_t *guid)
{
	bool is_id = text[0] && strchr("HSR", text[0]) && text[1] == '-';
	size_t n;

	if (is_id)
		return ibcc_hex_read(text + 2, guid) == GUID_DIGITS && !text[2 + GUID_DIGITS];
	n = ibcc_hex_read_0x(text, guid);
	return n && !text[n];
}

int ibcc_topo_find_node(const struct ibcc_topo *t, const char *text, uint32_t *node)
{
	uint32_t n, n_ids, id;
	uint64_t guid;

	*node = IBCC_NONE;
	if (parse_guid(text, &guid)) {
		*node = ibcc_topo_find_guid(t, guid);
		if (*node != IBCC_NONE)
			return 0;
	}
	*node = ibcc_topo_by_desc(t, text, &n);
	if (n == 1)
		return 0;
	id = ibcc_topo_by_id(t, text, &n_ids);
	if (n_ids)
		*node = id;
	return n_ids ? 0 : n ? -ENOTUNIQ : -ENOENT;
}

/* Length in bytes of the UTF-8 character at s; 0: it is not valid. */
static size_t character(const char *s)
{
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	const unsigned char *u = (const unsigned char *)s;
	size_t more = u[0] < 0x80 ? 0 : u[0] < 0xe0 ? 1 : u[0] < 0xf0 ? 2 : 3;
	uint32_t c = more ? u[0] & 0x3fu >> more : u[0];

	if ((u[0] >= 0x80 && u[0] < 0xc0) || u[0] > 0xf4)
		return 0;
	for (size_t i = 1; i <= more; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (u[i] & 0x3f);
	}
	return c < least[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : more + 1;
}

/* Whether a description can be written into a file or JSON, which are UTF-8, and read back as a
 * name. */
static bool can_be_written(const struct ibcc_topo *t, const char *desc)
{
	uint64_t guid;
	size_t n = 1;

	if (!*desc || !strcmp(desc, "*") ||
	    (parse_guid(desc, &guid) && ibcc_topo_find_guid(t, guid) != IBCC_NONE))
		return false;
	for (; *desc && n; desc += n)
		n = character(desc);
	return n;
}

const char *ibcc_topo_node_text(const struct ibcc_topo *t, uint32_t node,
				char buf[IBCC_NODE_TEXT_BYTES])
{
	const struct ibcc_topo_node *n = &t->node[node];
	uint32_t same;

	ibcc_topo_by_desc(t, n->desc, &same);
	if (same <= 1 && strlen(n->desc) < IBCC_NODE_TEXT_BYTES && can_be_written(t, n->desc))
		snprintf(buf, IBCC_NODE_TEXT_BYTES, "%s", n->desc);
	else
		snprintf(buf, IBCC_NODE_TEXT_BYTES, "0x%016" PRIx64, n->guid);
	return buf;
}

uint32_t ibcc_topo_same_node(const struct ibcc_topo *from, uint32_t node, const struct ibcc_topo *t)
{
	uint32_t at = ibcc_topo_find_guid(t, from->node[node].guid);

	if (at != IBCC_NONE)
		return at;
	return ibcc_topo_find_node(t, from->node[node].desc, &at) ? IBCC_NONE : at;
}

uint32_t ibcc_topo_ca_port(const struct ibcc_topo *t, uint32_t node)
{
	const struct ibcc_topo_node *n = &t->node[node];

	if (n->type == IBCC_NODE_SWITCH)
		return IBCC_NONE;
	for (unsigned int num = 1; num <= n->n_ports; num++)
		if (t->port[n->first_port + num].peer != IBCC_NONE)
			return n->first_port + num;
	return IBCC_NONE;
}
