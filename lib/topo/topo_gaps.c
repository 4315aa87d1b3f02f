/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Nodes that do not answer, as far as the other nodes show them. Begin with
 * ibcc_topo_find_gaps().
 *
 * A silent node leaves a gap: a switch port, or our own port, that has a link but no known node
 * behind it. The forwarding tables of the switches before it still say which LIDs they send
 * there. A LID that no known port has belongs to the silent part. All gaps into which some table
 * leads such a LID may lead to the same nodes: they are one region. A silent spine is one region
 * with a gap at each leaf, since each leaf leads the spine's own LID to it. Two silent hosts are
 * two regions.
 *
 * A region is a switch if routes lead through it to LIDs of known ports, or if several gaps lead
 * into it. A switch has one LID of its own (that of its port 0), so if it has more LIDs, other
 * nodes are behind it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/text.h>
#include <ibcc/topo.h>

#define STATE_DOWN    1u
#define REGIONS_NAMED 3u
#define RANGES_NAMED  4u

/* Whether a port is a gap. The other ports of an adapter may be on other fabrics, whose nodes are
 * not missing. But if only our own adapter was found, the switch before it is silent.
 */
static bool is_gap(const struct ibcc_topo *t, uint32_t port)
{
	const struct ibcc_topo_port *p = &t->port[port];

	return p->num && p->state != STATE_DOWN && p->peer == IBCC_NONE &&
	       (ibcc_topo_is_switch(t, p->node) || t->n_nodes == 1);
}

static int list_gaps(struct ibcc_topo *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_ports; i++) {
		t->port[i].beyond = IBCC_BEYOND_KNOWN;
		n += is_gap(t, i);
	}
	if (!n)
		return 0;
	t->gap = calloc(n, sizeof(*t->gap));
	t->lost_lid = calloc(IBCC_LID_MAX + 1, sizeof(*t->lost_lid));
	if (!t->gap || !t->lost_lid)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n_ports; i++)
		if (is_gap(t, i)) {
			t->gap[t->n_gaps] =
				(struct ibcc_topo_gap){ .port = i, .region = t->n_gaps };
			t->n_gaps++;
		}
	for (uint32_t lid = 0; lid <= IBCC_LID_MAX; lid++)
		t->lost_lid[lid] = IBCC_NONE;
	return 0;
}

/* The region of a gap: the lowest gap that it was joined with. */
static uint32_t region_of(const struct ibcc_topo *t, uint32_t gap)
{
	while (t->gap[gap].region != gap)
		gap = t->gap[gap].region;
	return gap;
}

/* Joins the regions of two gaps, under the lower index. */
static void join(struct ibcc_topo *t, uint32_t a, uint32_t b)
{
	a = region_of(t, a);
	b = region_of(t, b);
	t->gap[a < b ? b : a].region = a < b ? a : b;
}

/* Whether a switch's table leads LIDs of known ports into a gap. LIDs that no port has are noted,
 * and join the gaps that they lead into.
 */
static bool follow_table(struct ibcc_topo *t, uint32_t gap)
{
	const struct ibcc_topo_port *p = &t->port[t->gap[gap].port];
	const struct ibcc_topo_node *sw = &t->node[p->node];
	bool transit = false;

	for (uint32_t lid = 1; lid < sw->lft_len && lid <= IBCC_LID_MAX; lid++) {
		if (sw->lft[lid] != p->num)
			continue;
		if (ibcc_topo_port_of_lid(t, (uint16_t)lid) != IBCC_NONE)
			transit = true;
		else if (t->lost_lid[lid] == IBCC_NONE)
			t->lost_lid[lid] = gap;
		else
			join(t, t->lost_lid[lid], gap);
	}
	return transit;
}

/* How many LIDs an adapter has: 2^LMC. The subnet manager gives all adapters the same LMC. */
static uint32_t lids_of_adapter(const struct ibcc_topo *t)
{
	unsigned int lmc = 0;

	for (uint32_t i = 0; i < t->n_endports; i++)
		if (!ibcc_topo_is_switch(t, t->port[t->endport[i]].node) &&
		    ibcc_topo_lmc(t, t->endport[i]) > lmc)
			lmc = ibcc_topo_lmc(t, t->endport[i]);
	return 1u << lmc;
}

/* Decides for each region whether it is a switch, and whether senders may be in it. */
static void judge_regions(struct ibcc_topo *t, bool *is_switch)
{
	uint32_t most = lids_of_adapter(t);

	for (uint32_t i = 0; i < t->n_gaps; i++) {
		uint32_t r = region_of(t, i);

		t->gap[i].region = r;
		is_switch[r] |= is_switch[i] || r != i;
	}
	for (uint32_t lid = 0; lid <= IBCC_LID_MAX; lid++)
		if (t->lost_lid[lid] != IBCC_NONE) {
			t->lost_lid[lid] = t->gap[t->lost_lid[lid]].region;
			t->gap[t->lost_lid[lid]].n_lids++;
		}
	for (uint32_t i = 0; i < t->n_gaps; i++) {
		uint32_t r = t->gap[i].region;
		bool sw = is_switch[r] || t->gap[r].n_lids > most;

		t->gap[i].n_lids = t->gap[r].n_lids;
		t->gap[i].has_senders = !sw || t->gap[r].n_lids > 1;
		t->port[t->gap[i].port].beyond = sw ? IBCC_BEYOND_SWITCH : IBCC_BEYOND_ADAPTER;
	}
}

int ibcc_topo_find_gaps(struct ibcc_topo *t)
{
	bool *is_switch = NULL;
	int rc;

	free(t->gap);
	free(t->lost_lid);
	t->gap = NULL;
	t->lost_lid = NULL;
	t->n_gaps = 0;
	rc = list_gaps(t);
	if (!rc)
		is_switch = calloc(t->n_gaps + 1u, sizeof(*is_switch));
	if (!is_switch) {
		t->n_gaps = 0;
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < t->n_gaps; i++)
		is_switch[i] = follow_table(t, i) || t->n_nodes == 1;
	if (t->n_gaps)
		judge_regions(t, is_switch);
	free(is_switch);
	return 0;
}

static void say_lids(struct ibcc_text *x, const struct ibcc_topo *t, uint32_t region)
{
	uint32_t n = 0;

	ibcc_text_add(x, " (%s",
		      t->gap[region].n_lids > 1 ? "LIDs "
		      : t->gap[region].n_lids   ? "LID "
						: "no LID");
	for (uint32_t lid = 1; lid <= IBCC_LID_MAX && n <= RANGES_NAMED; lid++) {
		uint32_t last = lid;

		if (t->lost_lid[lid] != region)
			continue;
		while (last < IBCC_LID_MAX && t->lost_lid[last + 1] == region)
			last++;
		if (n++ == RANGES_NAMED)
			ibcc_text_add(x, ", ...");
		else if (last > lid)
			ibcc_text_add(x, "%s%u-%u", n > 1 ? ", " : "", lid, last);
		else
			ibcc_text_add(x, "%s%u", n > 1 ? ", " : "", lid);
		lid = last;
	}
	ibcc_text_add(x, ")");
}

static void say_region(struct ibcc_text *x, const struct ibcc_topo *t, uint32_t region)
{
	const struct ibcc_topo_port *p = &t->port[t->gap[region].port];
	const struct ibcc_topo_node *sw = &t->node[p->node];
	uint32_t others = 0;

	for (uint32_t i = region + 1; i < t->n_gaps; i++)
		others += t->gap[i].region == region;
	ibcc_text_add(x, "the %s behind ", p->beyond == IBCC_BEYOND_SWITCH ? "switch" : "node");
	if (sw->desc[0])
		ibcc_text_add(x, "\"%s\"", sw->desc);
	else
		ibcc_text_add(x, "0x%016" PRIx64, sw->guid);
	ibcc_text_add(x, " port %u", p->num);
	if (others)
		ibcc_text_add(x, " and %u other port%s", others, ibcc_text_plural(others, "", "s"));
	say_lids(x, t, region);
}

int ibcc_topo_gaps_text(const struct ibcc_topo *t, char *buf, size_t len)
{
	struct ibcc_text x = { buf, len, 0 };
	uint32_t n = 0;

	if (len)
		buf[0] = '\0';
	for (uint32_t i = 0; i < t->n_gaps; i++) {
		if (t->gap[i].region != i || n++ >= REGIONS_NAMED)
			continue;
		ibcc_text_add(&x, "%s", n > 1 ? ", " : "");
		say_region(&x, t, i);
	}
	if (n > REGIONS_NAMED)
		ibcc_text_add(&x, " and %u more", n - REGIONS_NAMED);
	return (int)x.n;
}
