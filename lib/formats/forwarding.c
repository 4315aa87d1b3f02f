/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads forwarding tables from a text file: as dump_fts and ibroute (infiniband-diags) print them,
 * or as OpenSM writes them into opensm-lfts.dump and opensm.fdbs.
 *
 * A section begins with a line that has the switch's GUID, then has a line for each LID:
 *
 *	Unicast lids [0x0-0x12] of switch Lid 10 guid 0x000000010000000a (s0-0):
 *	0x0001 002 : (Channel Adapter portguid 0x0000000200000101: 'h0')
 *
 * or "dump_ucast_routes: Switch 0x000000010000000a" and "0x0001 : 002  : 01   : yes".
 *
 * Not all forms say which port has a LID, but the tables do: a LID is that of the switch where its
 * output is port 0, and that of the adapter behind an output that leads to one.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/scenario_file.h>

#include "lines.h"

#define TABLE_LIDS (IBCC_LID_MAX + 1u)

struct reader {
	struct ibcc_lines at;
	struct ibcc_topo *topo;
	uint8_t **lft;   /* by node */
	uint32_t *owner; /* by LID: a port that has it */
	uint32_t top;    /* highest LID */
	uint32_t node;   /* the switch of the section, or IBCC_NONE before the first one */
	bool skip;       /* the section's switch is wrong, which has been reported */
};

/* The switch that a section's line names: by GUID, or else by the description in parentheses. */
static uint32_t find_switch(const struct ibcc_topo *t, const char *guid)
{
	uint32_t node = ibcc_topo_find_guid(t, strtoull(guid, NULL, 16));
	const char *open = strchr(guid, '('), *close = open ? strrchr(open, ')') : NULL;
	char name[IBCC_DESC_BYTES + 2];
	size_t len;

	if (node != IBCC_NONE || !close)
		return node;
	len = (size_t)(close - open) - 1;
	if (len > 1 && open[1] == '\'' && close[-1] == '\'') {
		open++;
		len -= 2;
	}
	if (len >= sizeof(name))
		return IBCC_NONE;
	memcpy(name, open + 1, len);
	name[len] = '\0';
	return ibcc_topo_find_node(t, name, &node) ? IBCC_NONE : node;
}

/* `guid` is where the line has the switch's GUID. */
static int begin_switch(struct reader *r, const char *line, const char *guid)
{
	r->skip = true;
	r->node = find_switch(r->topo, guid);
	if (r->node == IBCC_NONE || !ibcc_topo_is_switch(r->topo, r->node))
		return ibcc_lines_fail(&r->at, line, guid, "the GUID of a switch of the topology");
	if (r->lft[r->node])
		return ibcc_lines_fail(&r->at, line, guid, "each switch once");
	r->lft[r->node] = malloc(TABLE_LIDS);
	if (!r->lft[r->node])
		return -ENOMEM;
	memset(r->lft[r->node], IBCC_LFT_NONE, TABLE_LIDS);
	r->skip = false;
	return 0;
}

/* The port that has a LID which leaves the switch by `out`; IBCC_NONE: this does not say. */
static uint32_t owner_of(const struct ibcc_topo *t, uint32_t node, unsigned int out)
{
	uint32_t port = t->node[node].first_port + out, peer = t->port[port].peer;

	if (!out)
		return port;
	return peer == IBCC_NONE || ibcc_topo_is_switch(t, t->port[peer].node) ? IBCC_NONE : peer;
}

static int read_entry(struct reader *r, const char *line, const char *at)
{
	const struct ibcc_topo *t = r->topo;
	char *end, other[IBCC_DESC_BYTES + 32], want[sizeof(other) + 64];
	unsigned long lid = strtoul(at, &end, 16), out;
	const char *num;
	uint32_t owner;

	if (r->skip) /* of a switch that has its error already */
		return 0;
	if (r->node == IBCC_NONE)
		return ibcc_lines_fail(&r->at, line, at, "the line of a switch before its entries");
	if (!lid || lid > IBCC_LID_MAX)
		return ibcc_lines_fail(&r->at, line, at, "a LID from 0x1 to 0xbfff");
	num = end + strspn(end, " \t:");
	if (!strncmp(num, "UNREACHABLE", strlen("UNREACHABLE")))
		return 0;
	out = isdigit((unsigned char)*num) ? strtoul(num, NULL, 10) : ULONG_MAX;
	if (out == IBCC_LFT_NONE)
		return 0;
	if (out > t->node[r->node].n_ports) {
		snprintf(want, sizeof(want), "a port of %.64s, from 0 to %u", t->node[r->node].desc,
			 t->node[r->node].n_ports);
		return ibcc_lines_fail(&r->at, line, num, want);
	}
	r->lft[r->node][lid] = (uint8_t)out;
	r->top = lid > r->top ? (uint32_t)lid : r->top;
	owner = owner_of(t, r->node, (unsigned int)out);
	if (owner == IBCC_NONE || r->owner[lid] == owner)
		return 0;
	if (r->owner[lid] != IBCC_NONE) {
		ibcc_topo_port_name(t, r->owner[lid], other, sizeof(other));
		snprintf(want, sizeof(want), "an output that does not end elsewhere than at %s",
			 other);
		return ibcc_lines_fail(&r->at, line, num, want);
	}
	r->owner[lid] = owner;
	return 0;
}

/* Lines that say nothing: titles of columns, comments, the number of LIDs at the end. */
static bool is_filling(const char *at)
{
	static const char *const title[] = { "Lid ", "LID ", "Port ", "#" };

	for (size_t i = 0; i < sizeof(title) / sizeof(title[0]); i++)
		if (!strncmp(at, title[i], strlen(title[i])))
			return true;
	return !*at || (isdigit((unsigned char)*at) && strstr(at, "lids dumped"));
}

static int read_line(void *arg, const char *line)
{
	struct reader *r = arg;
	static const char lids[] = "Unicast lids", guid[] = " guid 0x", sw[] = "Switch 0x";
	const char *at = line + strspn(line, " \t"), *found;

	if (!strncmp(at, "0x", 2))
		return read_entry(r, line, at);
	found = strncmp(at, lids, strlen(lids)) ? NULL : strstr(at, guid);
	if (found)
		return begin_switch(r, line, found + strlen(" guid "));
	found = strstr(at, sw);
	if (found)
		return begin_switch(r, line, found + strlen("Switch "));
	return is_filling(at)
		       ? 0
		       : ibcc_lines_fail(
				 &r->at, line, at,
				 "a line of dump_fts, ibroute, opensm-lfts.dump or opensm.fdbs");
}

/* Gives each port the smallest of its LIDs, and the switches their tables. */
static int install(struct reader *r)
{
	struct ibcc_topo *t = r->topo;
	int rc = 0;

	for (uint32_t i = 0; i < t->n_endports; i++)
		ibcc_topo_clear_lid(t, t->endport[i]);
	for (uint32_t lid = 1; lid <= IBCC_LID_MAX && !rc; lid++)
		if (r->owner[lid] != IBCC_NONE && !t->port[r->owner[lid]].lid)
			rc = ibcc_topo_set_lid(t, r->owner[lid], (uint16_t)lid, 0);
	for (uint32_t i = 0; i < t->n_nodes && !rc; i++)
		if (r->lft[i])
			rc = ibcc_topo_set_lft(t, i, r->lft[i], r->top + 1);
	return rc;
}

int ibcc_forwarding_load(const char *file, struct ibcc_topo *t, struct ibcc_yaml_errors *e)
{
	struct reader r = {
		.at = { .file = file, .e = e },
		.topo = t,
		.lft = calloc(t->n_nodes + 1u, sizeof(*r.lft)),
		.owner = malloc(TABLE_LIDS * sizeof(*r.owner)),
		.node = IBCC_NONE,
	};
	unsigned int before = e->n;
	int rc = r.lft && r.owner ? 0 : -ENOMEM;

	if (rc)
		goto out;
	for (uint32_t lid = 0; lid < TABLE_LIDS; lid++)
		r.owner[lid] = IBCC_NONE;
	rc = ibcc_lines_read(&r.at, read_line, &r);
	if (!rc && e->n == before && r.node == IBCC_NONE)
		ibcc_yaml_errors_add(e, file, 0, 0, "has no forwarding table of a switch");
	if (!rc)
		rc = e->n == before ? install(&r) : -EINVAL;
out:
	if (rc == -ENOMEM)
		ibcc_yaml_errors_add(e, file, 0, 0, "%s", strerror(ENOMEM));
	for (uint32_t i = 0; r.lft && i < t->n_nodes; i++)
		free(r.lft[i]);
	free(r.lft);
	free(r.owner);
	return rc;
}
