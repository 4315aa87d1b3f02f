/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A topology as messages, one for each node: a fixed head, the ports, the forwarding table, and
 * the SL to VL maps as runs of equal rows (the plain maps of a switch with 80 ports would not fit
 * a message).
 *
 * What comes in is checked before it is believed: join() wants both ends of each link to name
 * each other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/grow.h>
#include <ibcc/proto.h>

#define MAX_PAYLOAD (IBCC_PROTO_MAX_BYTES - sizeof(struct ibcc_proto_header))
#define MAX_STATE   5u
#define MAX_VLS     15u
#define SLS         16u

struct wire_node {
	uint64_t guid;
	uint32_t lft_len;
	uint32_t n_runs; /* of SL to VL rows; 0 without a map */
	uint8_t type;
	uint8_t n_ports;
	uint8_t enhanced_port0;
	char desc[IBCC_DESC_BYTES];
	uint8_t reserved[2];
	uint16_t device_id;
	uint32_t vendor_id;
	uint8_t reserved2[4];
};
_Static_assert(sizeof(struct wire_node) == 96, "node changed");

struct wire_port {
	uint64_t guid;
	uint64_t peer_guid;
	uint32_t rate_mbps;
	uint16_t lid;
	uint16_t mtu_bytes;
	uint8_t peer_port; /* 0 without link */
	uint8_t state;
	uint8_t op_vls;
	uint8_t lmc;
	uint8_t lanes;   /* 0: not known */
	uint8_t widths;  /* struct ibcc_link_caps */
	uint16_t speeds; /* of the same */
};
_Static_assert(sizeof(struct wire_port) == 32, "port changed");

struct wire_run {
	uint8_t rows[2]; /* how many rows, the more significant byte first */
	uint8_t vl[8];   /* of SL 2i in the upper half of byte i */
};
_Static_assert(sizeof(struct wire_run) == 10, "run changed");

static size_t sl2vl_rows(const struct ibcc_topo_node *n)
{
	return (n->n_ports + 1u) * (n->n_ports + 1u);
}

/* Rows from `row` on that are equal, as many as a run can hold. */
static size_t run_rows(const struct ibcc_topo_node *n, size_t row)
{
	size_t len = 1;

	while (row + len < sl2vl_rows(n) && len < UINT16_MAX &&
	       memcmp(n->sl2vl[row], n->sl2vl[row + len], SLS) == 0)
		len++;
	return len;
}

static struct wire_run make_run(const uint8_t vl[SLS], size_t rows)
{
	struct wire_run r = { .rows = { (uint8_t)(rows >> 8), (uint8_t)rows } };

	for (unsigned int i = 0; i < SLS / 2; i++)
		r.vl[i] = (uint8_t)((vl[2 * i] & 15) << 4 | (vl[2 * i + 1] & 15));
	return r;
}

static struct wire_port make_port(const struct ibcc_topo *t, uint32_t port)
{
	const struct ibcc_topo_port *p = &t->port[port];
	struct wire_port w = {
		.guid = p->guid,
		.rate_mbps = p->rate_mbps,
		.lid = p->lid,
		.mtu_bytes = p->mtu_bytes,
		.state = p->state,
		.op_vls = p->op_vls,
		.lmc = ibcc_topo_lmc(t, port),
		.lanes = p->lanes,
		.widths = p->caps.widths,
		.speeds = p->caps.speeds,
	};

	if (p->peer != IBCC_NONE) {
		w.peer_guid = t->node[t->port[p->peer].node].guid;
		w.peer_port = t->port[p->peer].num;
	}
	return w;
}

int64_t ibcc_proto_node_encode(const struct ibcc_topo *t, uint32_t i, void *buf)
{
	const struct ibcc_topo_node *n = &t->node[i];
	size_t n_ports = n->n_ports + 1u;
	struct wire_node w = {
		.guid = n->guid,
		.lft_len = n->lft ? n->lft_len : 0,
		.type = (uint8_t)n->type,
		.n_ports = n->n_ports,
		.enhanced_port0 = n->enhanced_port0,
		.vendor_id = n->vendor_id,
		.device_id = n->device_id,
	};
	size_t len = sizeof(w) + n_ports * sizeof(struct wire_port) + w.lft_len;
	uint8_t *out = buf;

	for (size_t row = 0; n->sl2vl && row < sl2vl_rows(n); row += run_rows(n, row))
		w.n_runs++;
	len += w.n_runs * sizeof(struct wire_run);
	if (len > MAX_PAYLOAD)
		return -EMSGSIZE;
	/* Any host on a fabric may write anything into its own description. */
	for (size_t k = 0; k < sizeof(w.desc) - 1 && n->desc[k]; k++) {
		unsigned char ch = (unsigned char)n->desc[k];

		w.desc[k] = (char)(ch < 0x20 || ch == 0x7f ? '?' : ch);
	}

	memcpy(out, &w, sizeof(w));
	out += sizeof(w);
	for (size_t num = 0; num < n_ports; num++) {
		struct wire_port p = make_port(t, n->first_port + (uint32_t)num);

		memcpy(out, &p, sizeof(p));
		out += sizeof(p);
	}
	if (w.lft_len)
		memcpy(out, n->lft, w.lft_len);
	out += w.lft_len;
	for (size_t row = 0; w.n_runs && row < sl2vl_rows(n);) {
		size_t rows = run_rows(n, row);
		struct wire_run r = make_run(n->sl2vl[row], rows);

		memcpy(out, &r, sizeof(r));
		out += sizeof(r);
		row += rows;
	}
	return (int64_t)len;
}

/* One end of a link, to be joined when all nodes are there. */
struct link_end {
	uint32_t port; /* fabric-wide index */
	struct wire_port w;
};

struct ibcc_proto_topo {
	struct ibcc_topo *t;
	struct link_end *end;
	uint32_t n_ends, cap_ends;
	bool broken; /* a node could not be added: all that follows is meaningless */
};

struct ibcc_proto_topo *ibcc_proto_topo_new(void)
{
	struct ibcc_proto_topo *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->t = ibcc_topo_new();
	if (!p->t) {
		free(p);
		return NULL;
	}
	return p;
}

void ibcc_proto_topo_free(struct ibcc_proto_topo *p)
{
	if (!p)
		return;
	ibcc_topo_free(p->t);
	free(p->end);
	free(p);
}

static bool node_is_sane(const struct wire_node *w, size_t length)
{
	size_t n_ports = w->n_ports + 1u;

	if (w->type < IBCC_NODE_CA || w->type > IBCC_NODE_ROUTER || w->lft_len > IBCC_LID_MAX + 1 ||
	    w->n_runs > n_ports * n_ports)
		return false;
	if (w->type != IBCC_NODE_SWITCH && (w->lft_len || w->n_runs || w->enhanced_port0))
		return false;
	if (!memchr(w->desc, '\0', sizeof(w->desc)))
		return false;
	for (const char *c = w->desc; *c; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return false;
	}
	return length == sizeof(*w) + n_ports * sizeof(struct wire_port) + w->lft_len +
				 w->n_runs * sizeof(struct wire_run);
}

static int add_end(struct ibcc_proto_topo *p, uint32_t port, const struct wire_port *w)
{
	struct link_end *grown = ibcc_grow(p->end, p->n_ends, &p->cap_ends, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	p->end = grown;
	p->end[p->n_ends++] = (struct link_end){ .port = port, .w = *w };
	return 0;
}

static int add_port(struct ibcc_proto_topo *p, uint32_t port, const struct wire_port *w)
{
	struct ibcc_topo_port *to = &p->t->port[port];

	if (w->state > MAX_STATE || w->op_vls > MAX_VLS || (to->num == 0 && w->peer_port) ||
	    w->widths & ~IBCC_LINK_WIDTHS || w->speeds & ~IBCC_LINK_SPEEDS)
		return -EPROTO;
	to->guid = w->guid;
	to->state = w->state;
	to->op_vls = w->op_vls;
	to->rate_mbps = w->rate_mbps;
	to->lanes = w->lanes;
	to->caps = (struct ibcc_link_caps){ w->widths, w->speeds };
	to->mtu_bytes = w->mtu_bytes;
	if (w->lid && ibcc_topo_set_lid(p->t, port, w->lid, w->lmc) < 0)
		return -EPROTO;
	return w->peer_port ? add_end(p, port, w) : 0;
}

static int add_sl2vl(struct ibcc_proto_topo *p, uint32_t node, const uint8_t *in, uint32_t n_runs)
{
	size_t side = p->t->node[node].n_ports + 1u;
	size_t row = 0;

	for (uint32_t i = 0; i < n_runs; i++) {
		struct wire_run r;
		uint8_t vl[SLS];
		size_t rows;

		memcpy(&r, in + i * sizeof(r), sizeof(r));
		rows = (size_t)r.rows[0] << 8 | r.rows[1];
		if (rows == 0 || rows > side * side - row)
			return -EPROTO;
		for (unsigned int sl = 0; sl < SLS; sl++)
			vl[sl] = r.vl[sl / 2] >> (sl % 2 ? 0 : 4) & 15;
		for (; rows; rows--, row++) {
			int rc = ibcc_topo_set_sl2vl(p->t, node, (unsigned int)(row / side),
						     (unsigned int)(row % side), vl);

			if (rc < 0)
				return rc == -ENOMEM ? rc : -EPROTO;
		}
	}
	return n_runs == 0 || row == side * side ? 0 : -EPROTO;
}

static int add_node(struct ibcc_proto_topo *p, const uint8_t *in, size_t length)
{
	struct wire_node w;
	struct wire_port port;
	int64_t node;
	int rc = 0;

	if (length < sizeof(w))
		return -EPROTO;
	memcpy(&w, in, sizeof(w));
	if (!node_is_sane(&w, length))
		return -EPROTO;
	in += sizeof(w);
	node = ibcc_topo_add_node(p->t, w.guid, (enum ibcc_node_type)w.type, w.n_ports, w.desc);
	if (node < 0)
		return node == -ENOMEM ? -ENOMEM : -EPROTO;
	p->t->node[node].enhanced_port0 = w.enhanced_port0;
	p->t->node[node].vendor_id = w.vendor_id;
	p->t->node[node].device_id = w.device_id;
	for (unsigned int num = 0; num <= w.n_ports && rc == 0; num++, in += sizeof(port)) {
		memcpy(&port, in, sizeof(port));
		rc = add_port(p, p->t->node[node].first_port + num, &port);
	}
	if (rc == 0 && w.lft_len)
		rc = ibcc_topo_set_lft(p->t, (uint32_t)node, in, w.lft_len);
	if (rc == 0)
		rc = add_sl2vl(p, (uint32_t)node, in + w.lft_len, w.n_runs);
	return rc;
}

int ibcc_proto_topo_add(struct ibcc_proto_topo *p, const void *payload, size_t length)
{
	int rc = p->broken ? -EPROTO : add_node(p, payload, length);

	p->broken |= rc < 0;
	return rc;
}

/* Joins one end with its peer, unless the peer came first. -EPROTO if they do not name each other.
 */
static int join_end(struct ibcc_topo *t, const struct link_end *e)
{
	uint32_t node = ibcc_topo_find_guid(t, e->w.peer_guid);
	const struct ibcc_topo_port *p = &t->port[e->port];
	uint32_t peer = ibcc_topo_port_index(t, node, e->w.peer_port);

	if (peer == IBCC_NONE)
		return -EPROTO;
	if (p->peer == peer)
		return 0;
	return ibcc_topo_link(t, p->node, p->num, node, e->w.peer_port, e->w.rate_mbps,
			      e->w.mtu_bytes) < 0
		       ? -EPROTO
		       : 0;
}

static int join(struct ibcc_proto_topo *p)
{
	struct ibcc_topo *t = p->t;
	size_t linked = 0;
	int rc = 0;

	for (size_t k = 0; k < p->n_ends && rc == 0; k++)
		rc = join_end(t, &p->end[k]);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < t->n_ports; i++)
		linked += t->port[i].peer != IBCC_NONE;
	if (linked != p->n_ends)
		return -EPROTO; /* one end names the link, the other does not */
	for (size_t k = 0; k < p->n_ends; k++) {
		const struct link_end *e = &p->end[k];

		t->port[e->port].state = e->w.state;
		t->port[e->port].rate_mbps = e->w.rate_mbps;
		t->port[e->port].mtu_bytes = e->w.mtu_bytes;
	}
	return 0;
}

struct ibcc_topo *ibcc_proto_topo_finish(struct ibcc_proto_topo *p, uint64_t generation, int *err)
{
	struct ibcc_topo *t = NULL;

	*err = p->broken ? -EPROTO : join(p);
	if (*err == 0) {
		t = p->t;
		t->generation = generation;
		p->t = NULL;
	}
	ibcc_proto_topo_free(p);
	return t;
}
