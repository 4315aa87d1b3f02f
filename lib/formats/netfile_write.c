/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes netfiles: ibsim can read them, and ibcc_netfile_load() gets everything back. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/link.h>
#include <ibcc/scenario_file.h>

#define ID_BYTES IBCC_NETFILE_ID_BYTES
#define MAX_ID   31u /* the longest id by which a client can join ibsim */

/* A node's id in the file is its description if that can be an id, since ibsim's console takes ids;
 * otherwise its type and GUID, as ibnetdiscover has it.
 */
struct writer {
	const struct ibcc_topo *topo;
	FILE *out;
	bool *by_desc;
};

static int by_desc_text(const void *a, const void *b, void *arg)
{
	const struct ibcc_topo *t = arg;

	return strcmp(t->node[*(const uint32_t *)a].desc, t->node[*(const uint32_t *)b].desc);
}

/* Whether a description looks like an id made of a GUID, and so could be another node's id. */
static bool is_guid_id(const char *s)
{
	return s[0] && s[1] == '-' && strlen(s) == 18 &&
	       strspn(s + 2, "0123456789abcdefABCDEF") == 16;
}

static bool can_be_id(const char *s)
{
	if (!*s || strlen(s) > MAX_ID || strpbrk(s, "\"#@") || is_guid_id(s))
		return false;
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return false;
	return true;
}

static int choose_ids(struct writer *w)
{
	const struct ibcc_topo *t = w->topo;
	uint32_t *order = calloc(t->n_nodes ? t->n_nodes : 1, sizeof(*order)), i;

	if (!order)
		return -ENOMEM;
	for (i = 0; i < t->n_nodes; i++) {
		order[i] = i;
		w->by_desc[i] = can_be_id(t->node[i].desc);
	}
	qsort_r(order, t->n_nodes, sizeof(*order), by_desc_text, (void *)(uintptr_t)t);
	for (i = 1; i < t->n_nodes; i++)
		if (!strcmp(t->node[order[i - 1]].desc, t->node[order[i]].desc))
			w->by_desc[order[i - 1]] = w->by_desc[order[i]] = false;
	free(order);
	return 0;
}

static const char *make_id(const struct ibcc_topo_node *n, bool by_desc, char buf[ID_BYTES])
{
	char letter = n->type == IBCC_NODE_SWITCH ? 'S' : n->type == IBCC_NODE_CA ? 'H' : 'R';

	if (by_desc)
		snprintf(buf, ID_BYTES, "%s", n->desc);
	else
		snprintf(buf, ID_BYTES, "%c-%016" PRIx64, letter, n->guid);
	return buf;
}

static const char *node_id(const struct writer *w, uint32_t node, char buf[ID_BYTES])
{
	return make_id(&w->topo->node[node], w->by_desc[node], buf);
}

const char *ibcc_netfile_id(const struct ibcc_topo *t, uint32_t node, char buf[ID_BYTES])
{
	bool by_desc = can_be_id(t->node[node].desc);

	for (uint32_t i = 0; i < t->n_nodes && by_desc; i++)
		by_desc = i == node || strcmp(t->node[i].desc, t->node[node].desc);
	return make_id(&t->node[node], by_desc, buf);
}

/* A description as it can be quoted in a line. */
static const char *quotable(const struct writer *w, uint32_t node, char buf[ID_BYTES])
{
	char *s = buf;

	snprintf(buf, ID_BYTES, "%s", w->topo->node[node].desc);
	for (; *s; s++)
		if (*s == '"' || (unsigned char)*s < ' ' || *s == 0x7f)
			*s = '\'';
	return buf;
}

/* The LMC of an endport, which has 2^LMC LIDs in a row. */
static unsigned int lmc_of(const struct ibcc_topo *t, uint32_t port)
{
	uint32_t lid = t->port[port].lid, n = 1;
	unsigned int lmc = 0;

	if (!lid)
		return 0;
	while (lid + n <= IBCC_LID_MAX && t->lid_port[lid + n] == port)
		n++;
	while (lmc < 7 && 2u << lmc <= n)
		lmc++;
	return lmc;
}

/* The LID by which a port is reached: its own, or its switch's. */
static uint16_t lid_of(const struct ibcc_topo *t, uint32_t port)
{
	uint32_t node = t->port[port].node;

	return ibcc_topo_is_switch(t, node) ? t->port[t->node[node].first_port].lid
					    : t->port[port].lid;
}

static void write_port(const struct writer *w, uint32_t port)
{
	const struct ibcc_topo *t = w->topo;
	const struct ibcc_topo_port *p = &t->port[port], *peer = &t->port[p->peer];
	char id[ID_BYTES], desc[ID_BYTES], rate[16];
	bool is_exact;

	fprintf(w->out, "[%u]", p->num);
	if (!ibcc_topo_is_switch(t, p->node))
		fprintf(w->out, "(%" PRIx64 ")", p->guid);
	fprintf(w->out, "\t\"%s\"[%u]", node_id(w, peer->node, id), peer->num);
	if (!ibcc_topo_is_switch(t, peer->node))
		fprintf(w->out, "(%" PRIx64 ")", peer->guid);
	fputs("\t\t# ", w->out);
	if (!ibcc_topo_is_switch(t, p->node))
		fprintf(w->out, "lid %u lmc %u ", p->lid, lmc_of(t, port));
	/* A link has one width and speed, and a direction may be slower. */
	is_exact =
		!ibcc_rate_format(ibcc_topo_link_mbps(t, port), p->lanes, rate, sizeof(rate), "") &&
		p->rate_mbps == peer->rate_mbps;
	fprintf(w->out, "\"%s\" lid %u %s", quotable(w, peer->node, desc), lid_of(t, p->peer),
		rate);
	/* Text that must be hidden from ibsim stands behind the point up to which ibsim reads. */
	if (!is_exact)
		fprintf(w->out, " rate %u", p->rate_mbps);
	if (p->mtu_bytes != IBCC_LINK_DEFAULT_MTU_BYTES)
		fprintf(w->out, " mtu %u", p->mtu_bytes);
	fputc('\n', w->out);
}

static void write_node(const struct writer *w, uint32_t node)
{
	const struct ibcc_topo *t = w->topo;
	const struct ibcc_topo_node *n = &t->node[node];
	char id[ID_BYTES], desc[ID_BYTES];
	const char *guid = "caguid", *type = "Ca";
	unsigned int num;

	if (n->type == IBCC_NODE_SWITCH) {
		guid = "switchguid";
		type = "Switch";
	} else if (n->type == IBCC_NODE_ROUTER) {
		guid = "rtguid";
		type = "Rt";
	}
	fputc('\n', w->out);
	if (n->vendor_id)
		fprintf(w->out, "vendid=0x%x\ndevid=0x%x\n", n->vendor_id, n->device_id);
	fprintf(w->out, "%s=0x%" PRIx64 "\n%s\t%u \"%s\"\t\t# \"%s\"", guid, n->guid, type,
		n->n_ports, node_id(w, node, id), quotable(w, node, desc));
	if (n->type == IBCC_NODE_SWITCH)
		fprintf(w->out, " %s port 0 lid %u lmc %u", n->enhanced_port0 ? "enhanced" : "base",
			t->port[n->first_port].lid, lmc_of(t, n->first_port));
	fputc('\n', w->out);
	for (num = 1; num <= n->n_ports; num++)
		if (t->port[n->first_port + num].peer != IBCC_NONE)
			write_port(w, n->first_port + num);
}

int ibcc_netfile_write(const struct ibcc_topo *t, FILE *out)
{
	struct writer w = {
		.topo = t,
		.out = out,
		.by_desc = calloc(t->n_nodes ? t->n_nodes : 1, sizeof(*w.by_desc)),
	};
	uint32_t i;
	int rc = -ENOMEM;

	if (!w.by_desc || choose_ids(&w))
		goto out;
	fputs("# Topology of ibcc-tune: a netfile of ibsim, in the form that ibnetdiscover has\n",
	      out);
	for (i = 0; i < t->n_nodes; i++)
		write_node(&w, i);
	rc = fflush(out) || ferror(out) ? -EIO : 0;
out:
	free(w.by_desc);
	return rc;
}
