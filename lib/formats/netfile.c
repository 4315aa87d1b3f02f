/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads ibsim's netfiles and ibnetdiscover's output, which is the same language with more in its
 * comments. Where the language leaves room, this file follows ibsim: both make the same fabric,
 * with the same GUIDs, of one file. read_line() takes one line; link_halves() joins the two ends of
 * each link at the end.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/grow.h>
#include <ibcc/hex.h>
#include <ibcc/link.h>
#include <ibcc/scenario_file.h>

#include "lib/formats/netfile_text.h"

#define GUID_BASE_CA 0x100000u /* ibsim's first GUIDs, for files without any */
#define GUID_BASE_SW 0x200000u
#define GUID_BASE_RT 0x300000u

/* A port as its line describes it; linked when all nodes are known. */
struct half {
	uint32_t port; /* fabric-wide index */
	unsigned int line;
	char remote[IBCC_DESC_BYTES];
	unsigned int remote_port;
	uint32_t rate_mbps; /* 0: not given */
	uint8_t lanes;
	bool own_rate; /* given as a number, which may be of one direction only */
	uint16_t mtu_bytes;
};

struct name {
	char id[IBCC_DESC_BYTES];
	uint32_t node;
};

struct reader {
	const char *file;
	unsigned int line;
	char text[81]; /* of the line as it is in the file, for errors */
	struct ibcc_yaml_errors *e;
	struct ibcc_topo *topo;
	struct half *half;
	uint32_t n_halves, cap_halves;
	struct name *name; /* of each node; sorted before links are made */
	uint32_t cap_names;
	uint64_t guid[4], guid_base[4];    /* next, and last absolute one, by node type */
	unsigned int vendor_id, device_id; /* of the next node; 0: not given */
	unsigned int lanes;                /* file-wide width= and speed=, extspeed= */
	enum ibcc_link_speed speed;
	uint32_t node; /* whose port lines follow, or IBCC_NONE */
};

static int fail(struct reader *r, unsigned int line, const char *got, const char *want)
{
	char quoted[sizeof(r->text) + 2] = "nothing";

	if (*got)
		snprintf(quoted, sizeof(quoted), "\"%s\"", got);
	ibcc_yaml_errors_add(r->e, r->file, line, 0, "got %s, want %s", quoted, want);
	return -EINVAL;
}

/* Takes the quoted text at or after *s, in place; *s moves behind it. NULL: there is none. */
static char *take_quoted(char **s)
{
	char *start = strchr(*s, '"'), *end = start ? strchr(start + 1, '"') : NULL;

	if (!end)
		return NULL;
	*end = '\0';
	*s = end + 1;
	return start + 1;
}

/* The number behind a word of a comment, as in "lid 5", into *v; false: there is none. */
static bool word_number(const char *s, const char *word, unsigned long *v)
{
	const char *at = s;
	size_t len = strlen(word);

	while ((at = strstr(at, word))) {
		if ((at == s || !isalnum((unsigned char)at[-1])) && at[len] == ' ' &&
		    isdigit((unsigned char)at[len + 1])) {
			*v = strtoul(at + len + 1, NULL, 0);
			return true;
		}
		at += len;
	}
	return false;
}

static int set_lid(struct reader *r, uint32_t port, const char *s)
{
	unsigned long lid, lmc = 0;

	if (!word_number(s, "lid", &lid) || !lid)
		return 0;
	(void)word_number(s, "lmc", &lmc);
	if (lid > IBCC_LID_MAX || lmc > 7 ||
	    ibcc_topo_set_lid(r->topo, port, (uint16_t)lid, (unsigned int)lmc))
		return fail(r, r->line, r->text, "a LID from 1 to 49151 that no other port has");
	return 0;
}

/* The description in a header's comment, with or without quotes; *rest is what follows it. */
static const char *node_desc(char *s, char **rest)
{
	static const char *const ends[] = { " enhanced port ", " base port ", " lid ", " lmc " };
	char *hash = strchr(s, '#'), *desc;
	size_t i;

	*rest = s;
	if (!hash)
		return NULL;
	desc = hash + 1;
	desc += strspn(desc, " \t");
	*rest = desc;
	if (*desc == '"')
		return take_quoted(rest);
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		char *end = strstr(desc, ends[i]);

		if (end) {
			*end = '\0';
			*rest = end + 1;
			return desc;
		}
	}
	*rest = desc + strlen(desc);
	return desc;
}

static int add_name(struct reader *r, const char *id, uint32_t node)
{
	struct name *grown = ibcc_grow(r->name, node, &r->cap_names, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	r->name = grown;
	snprintf(r->name[node].id, sizeof(r->name[node].id), "%s", id);
	r->name[node].node = node;
	return 0;
}

/* "Switch 8 "id"  # "description" base port 0 lid 3 lmc 0" */
static int read_header(struct reader *r, char *line, enum ibcc_node_type type)
{
	char *s = line + strcspn(line, "0123456789\""), *id, *rest;
	unsigned long ports = isdigit((unsigned char)*s) ? strtoul(s, &s, 10) : 0;
	const char *desc;
	int64_t node;

	id = take_quoted(&s);
	if (ports < 1 || ports > 254 || !id || !*id)
		return fail(r, r->line, r->text, "TYPE PORTS \"ID\" with 1 to 254 ports");
	if (strlen(id) >= IBCC_DESC_BYTES || strpbrk(id, "#@"))
		return fail(r, r->line, id, "an id of at most 64 bytes without # and @");
	if (r->topo->n_nodes >= IBCC_LID_MAX)
		return fail(r, r->line, id, "at most 49151 nodes");
	desc = node_desc(s, &rest);
	if (!desc || !*desc)
		desc = id;
	node = ibcc_topo_add_node(r->topo, r->guid[type], type, (unsigned int)ports, desc);
	if (node == -EINVAL)
		return fail(r, r->line, id, "a GUID that no other node has");
	if (node < 0)
		return (int)node;
	r->guid[type] += type == IBCC_NODE_SWITCH ? 1 : ports + 1;
	r->node = (uint32_t)node;
	r->topo->node[node].vendor_id = r->vendor_id;
	r->topo->node[node].device_id = (uint16_t)r->device_id;
	r->vendor_id = r->device_id = 0;
	if (strcmp(desc, id))
		snprintf(r->topo->node[node].id, sizeof(r->topo->node[node].id), "%s", id);
	if (add_name(r, id, r->node))
		return -ENOMEM;
	if (type != IBCC_NODE_SWITCH)
		return 0;
	r->topo->node[node].enhanced_port0 = strstr(rest, "enhanced port 0");
	return set_lid(r, r->topo->node[node].first_port, rest);
}

/* Rate of a port from its options, "w=8 s=1", and its comment, "4xQDR". */
static int read_rate(struct reader *r, const char *line, struct half *h)
{
	const char *s = ibcc_netfile_behind_quotes(line), *word, *want = NULL;
	unsigned int lanes = r->lanes;
	enum ibcc_link_speed speed = r->speed;
	unsigned long v;
	char text[32];
	size_t len;

	for (const char *eq = strchr(s, '='); eq && !want; eq = strchr(eq + 1, '='))
		if (eq > s && strchr("wse", eq[-1]))
			want = ibcc_netfile_option(eq[-1], eq + 1, &lanes, &speed);
	if (want)
		return fail(r, r->line, r->text, want);
	word = ibcc_netfile_find_rate(line, &len);
	if (word) {
		snprintf(text, sizeof(text), "%.*s", (int)len, word);
		if (len >= sizeof(text) || ibcc_rate_parse_link(text, &lanes, &speed))
			return fail(r, r->line, text, "a link's width and speed, such as 4xEDR");
	}
	if (lanes || speed != IBCC_LINK_SPEED_NONE) {
		h->lanes = (uint8_t)(lanes ? lanes : 4);
		h->rate_mbps = ibcc_link_rate_mbps(
			h->lanes, speed != IBCC_LINK_SPEED_NONE ? speed : IBCC_LINK_SPEED_QDR);
	}
	/* A rate that has no name, as ibcc_netfile_write() adds it. */
	if (word_number(s, "rate", &v) && v >= 1 && v <= IBCC_RATE_MAX_MBPS) {
		h->rate_mbps = (uint32_t)v;
		h->own_rate = true;
	}
	if (word_number(s, "mtu", &v) && v >= 256 && v <= 4096)
		h->mtu_bytes = (uint16_t)v;
	return 0;
}

/* "[1](guid) "remote"[2](guid)  # lid 1 lmc 0 "description" lid 2 4xQDR" */
static int read_port(struct reader *r, char *line)
{
	bool is_switch = ibcc_topo_is_switch(r->topo, r->node);
	char *end, *s = line, *id;
	unsigned long num = strtoul(line + 1, &end, 10);
	struct half *h;
	uint32_t port;

	if (*end != ']' || num < 1 || num > r->topo->node[r->node].n_ports)
		return fail(r, r->line, r->text, "[PORT] with a port of the node");
	port = ibcc_topo_port_index(r->topo, r->node, (unsigned int)num);
	if (end[1] == '(' && !is_switch) {
		uint64_t guid;

		if ((ibcc_hex_read_0x(end + 2, &guid) || ibcc_hex_read(end + 2, &guid)) && guid)
			r->topo->port[port].guid = guid;
	}
	id = take_quoted(&s);
	if (!id || !*id || strlen(id) >= IBCC_DESC_BYTES || strchr(id, '@'))
		return fail(r, r->line, r->text, "[PORT] \"REMOTE\"[PORT]");
	h = ibcc_grow(r->half, r->n_halves, &r->cap_halves, sizeof(*h));
	if (!h)
		return -ENOMEM;
	r->half = h;
	h = &r->half[r->n_halves];
	*h = (struct half){ .port = port,
			    .line = r->line,
			    .mtu_bytes = IBCC_LINK_DEFAULT_MTU_BYTES };
	snprintf(h->remote, sizeof(h->remote), "%s", id);
	h->remote_port = *s == '[' ? (unsigned int)strtoul(s + 1, NULL, 10) : 1;
	if (h->remote_port < 1 || h->remote_port > 254)
		return fail(r, r->line, r->text, "[PORT] of the remote node");
	r->n_halves++;
	if (read_rate(r, s, h))
		return -EINVAL;
	return is_switch ? 0 : set_lid(r, port, s);
}

/* "switchguid=0x1234(1234)", "hcaguids+0x10": where the next node's GUID comes from. */
static int read_guid(struct reader *r, const char *line, enum ibcc_node_type type)
{
	const char *s = line + strcspn(line, "=+");
	char *end = NULL;
	uint64_t v = *s ? strtoull(s + 1, &end, 0) : 0;

	if (!*s || end == s + 1)
		return fail(r, r->line, r->text, "a GUID behind =");
	if (*s == '=') {
		r->guid_base[type] = v;
		v = 0;
	}
	r->guid[type] = r->guid_base[type] + v;
	return 0;
}

static int read_option(struct reader *r, const char *line)
{
	const char *eq = strchr(line, '='), *want;

	if (!eq)
		return fail(r, r->line, r->text, "a value behind =");
	want = ibcc_netfile_option(*line, eq + 1, &r->lanes, &r->speed);
	return want ? fail(r, r->line, r->text, want) : 0;
}

static int read_line(struct reader *r, char *line)
{
	static const struct {
		const char *word;
		enum ibcc_node_type type;
	} headers[] = { { "Switch", IBCC_NODE_SWITCH },
			{ "Hca", IBCC_NODE_CA },
			{ "Ca", IBCC_NODE_CA },
			{ "Rt", IBCC_NODE_ROUTER } },
	  guids[] = { { "switchguid", IBCC_NODE_SWITCH },
		      { "hcaguids", IBCC_NODE_CA },
		      { "caguid", IBCC_NODE_CA },
		      { "rtguid", IBCC_NODE_ROUTER } };
	static const char *const options[] = { "width", "speed", "extspeed" };
	static const char *const refused[] = { "include", "module", "do" };
	size_t i;

	if (*line == '#')
		return 0;
	if (*line == '[' && r->node != IBCC_NONE)
		return read_port(r, line);
	if (*line == '@')
		return fail(r, r->line, r->text, "no aliases");
	r->node = IBCC_NONE;
	for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		if (!strncmp(line, headers[i].word, strlen(headers[i].word)))
			return read_header(r, line, headers[i].type);
	for (i = 0; i < sizeof(guids) / sizeof(guids[0]); i++)
		if (!strncmp(line, guids[i].word, strlen(guids[i].word)))
			return read_guid(r, line, guids[i].type);
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (!strncmp(line, options[i], strlen(options[i])))
			return read_option(r, line);
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (!strncmp(line, refused[i], strlen(refused[i])))
			return fail(r, r->line, r->text, "neither include, module nor do");
	(void)sscanf(line, "vendid=%x", &r->vendor_id);
	(void)sscanf(line, "devid=%x", &r->device_id);
	return 0; /* other lines, such as those of chassis, are ignored as in ibsim */
}

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->id, ((const struct name *)b)->id);
}

static int by_port(const void *a, const void *b)
{
	uint32_t x = ((const struct half *)a)->port, y = ((const struct half *)b)->port;

	return x < y ? -1 : x > y;
}

/* The node with an id; names are sorted. */
static const struct name *find_name(const struct reader *r, const char *id)
{
	struct name key = { .node = IBCC_NONE };

	snprintf(key.id, sizeof(key.id), "%s", id);
	return bsearch(&key, r->name, r->topo->n_nodes, sizeof(*r->name), by_id);
}

/* Joins the two lines of each link. */
static int link_halves(struct reader *r)
{
	struct ibcc_topo *t = r->topo;
	int rc = 0;
	size_t i;

	if (!t->n_nodes)
		return fail(r, 0, "", "lines such as Switch 36 \"name\"");
	qsort(r->name, t->n_nodes, sizeof(*r->name), by_id);
	for (i = 1; i < t->n_nodes; i++)
		if (!by_id(&r->name[i - 1], &r->name[i]))
			rc = fail(r, 0, r->name[i].id, "each id once");
	if (r->n_halves)
		qsort(r->half, r->n_halves, sizeof(*r->half), by_port);
	for (i = 1; i < r->n_halves; i++)
		if (r->half[i - 1].port == r->half[i].port)
			rc = fail(r, r->half[i].line, r->half[i].remote, "one line for each port");
	for (i = 0; !rc && i < r->n_halves; i++) {
		const struct half *h = &r->half[i], *back, *slow;
		const struct ibcc_topo_port *p = &t->port[h->port];
		struct half key = { 0 };
		const struct name *remote;
		uint32_t rate;

		remote = find_name(r, h->remote);
		if (!remote)
			return fail(r, h->line, h->remote, "a node of the file");
		key.port = ibcc_topo_port_index(t, remote->node, h->remote_port);
		back = bsearch(&key, r->half, r->n_halves, sizeof(*r->half), by_port);
		remote = back ? find_name(r, back->remote) : NULL;
		if (!remote || remote->node != p->node || back->remote_port != p->num || back == h)
			return fail(r, h->line, h->remote,
				    "a remote port whose own line leads back here");
		if (back < h)
			continue; /* linked already */
		slow = !h->rate_mbps || (back->rate_mbps && back->rate_mbps < h->rate_mbps) ? back
											    : h;
		rate = slow->rate_mbps;
		if (!rate)
			rate = ibcc_link_rate_mbps(4, IBCC_LINK_SPEED_QDR);
		rc = ibcc_topo_link(
			t, p->node, p->num, t->port[back->port].node, t->port[back->port].num, rate,
			h->mtu_bytes < back->mtu_bytes ? h->mtu_bytes : back->mtu_bytes);
		if (!rc)
			t->port[h->port].lanes = t->port[back->port].lanes =
				slow->lanes ? slow->lanes : 4;
		if (!rc && h->own_rate && back->own_rate) {
			t->port[h->port].rate_mbps = h->rate_mbps;
			t->port[back->port].rate_mbps = back->rate_mbps;
		}
	}
	return rc;
}

static int read_file(struct reader *r)
{
	FILE *f = fopen(r->file, "re");
	char line[IBCC_NETFILE_LINE_BYTES];
	unsigned int before = r->e->n;
	int rc = 0;

	if (!f) {
		ibcc_yaml_errors_add(r->e, r->file, 0, 0, "cannot be read: %s", strerror(errno));
		return -EINVAL;
	}
	while (rc != -ENOMEM && fgets(line, sizeof(line), f)) {
		r->line++;
		snprintf(r->text, sizeof(r->text), "%.*s", (int)strcspn(line, "\r\n"), line);
		if (strlen(line) == sizeof(line) - 1) {
			rc = fail(r, r->line, r->text, "lines below 4096 bytes");
			break;
		}
		line[strcspn(line, "\r\n")] = '\0';
		rc = read_line(r, line);
	}
	if (ferror(f))
		ibcc_yaml_errors_add(r->e, r->file, 0, 0, "cannot be read: %s", strerror(errno));
	fclose(f);
	if (rc != -ENOMEM && r->e->n == before)
		rc = link_halves(r);
	if (!rc)
		rc = ibcc_topo_index_texts(r->topo); /* the ids are known now */
	if (rc == -ENOMEM)
		ibcc_yaml_errors_add(r->e, r->file, 0, 0, "%s", strerror(ENOMEM));
	return r->e->n == before ? rc : -EINVAL;
}

struct ibcc_topo *ibcc_netfile_load(const char *file, struct ibcc_yaml_errors *e)
{
	struct reader r = {
		.file = file,
		.e = e,
		.topo = ibcc_topo_new(),
		.guid = { [IBCC_NODE_CA] = GUID_BASE_CA,
			  [IBCC_NODE_SWITCH] = GUID_BASE_SW,
			  [IBCC_NODE_ROUTER] = GUID_BASE_RT },
		.node = IBCC_NONE,
	};

	memcpy(r.guid_base, r.guid, sizeof(r.guid_base));
	if (!r.topo)
		ibcc_yaml_errors_add(e, file, 0, 0, "%s", strerror(ENOMEM));
	else if (read_file(&r)) {
		ibcc_topo_free(r.topo);
		r.topo = NULL;
	}
	free(r.half);
	free(r.name);
	return r.topo;
}
