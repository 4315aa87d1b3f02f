/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A client of the OpenSM plugin for the system tests: what it sees as text, and bad manners.
 *
 * plugin_client SOCKET state                 one line: SM state, own_cc, generation, nodes
 * plugin_client SOCKET watch N               N further lines, one for each STATE
 * plugin_client SOCKET read                  asks for state and topology without end, prints STATEs
 * plugin_client SOCKET ports|lft             the topology
 * plugin_client SOCKET push [KEY=VALUE]...   a plan for all nodes; outcomes and the verdict
 *   as=UID      as another user, in OpenSM's group;  empty=1  a plan of nothing;  flags=N
 *   lease=MS    promises to speak again within that time, before it pushes
 *   hold=1      stays connected afterwards, and says nothing more
 *   node=GUID   a plan for that node only
 * plugin_client SOCKET garbage|half|version|flood|mute|plans|crowd
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <ibcc/ccmad.h>
#include <ibcc/proto.h>

static uint8_t buf[IBCC_PROTO_MAX_BYTES];

__attribute__((noreturn)) static void die(const char *what, int err)
{
	printf("%s: %s\n", what, strerror(-err));
	exit(1);
}

static int dial(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)))
		die("connect", -errno);
	return fd;
}

static void say(int fd, enum ibcc_proto_type type, const void *payload, size_t length)
{
	int ret = ibcc_proto_send(fd, type, 7, payload, length);

	/* A plugin that hangs up has said why, which is still to be heard. */
	if (ret && ret != -EPIPE)
		die("send", ret);
}

/* The next message that is no STATE, or is when wanted. ERROR ends the program. */
static uint16_t hear(int fd, bool want_state, const void **payload, size_t *length)
{
	struct ibcc_proto_header h;
	int ret;

	do {
		ret = ibcc_proto_recv(fd, buf, &h, payload);
		if (ret == -ENODATA) /* once, if our last words were not heard */
			ret = ibcc_proto_recv(fd, buf, &h, payload);
		if (ret)
			die("receive", ret);
	} while (h.type == IBCC_PROTO_STATE && !want_state);
	if (h.type == IBCC_PROTO_ERROR) {
		struct ibcc_proto_error e;

		memcpy(&e, *payload, sizeof(e));
		printf("ERROR %s: %s\n", ibcc_proto_refusal_text(e.refusal), e.text);
		exit(2);
	}
	*length = h.length;
	return h.type;
}

static void print_state(const void *payload)
{
	struct ibcc_proto_state s;

	memcpy(&s, payload, sizeof(s));
	printf("%s own_cc=%u generation=%llu nodes=%u guid=0x%llx opensm='%s'\n",
	       ibcc_proto_sm_state_name(s.sm_state), s.own_cc, (unsigned long long)s.generation,
	       s.n_nodes, (unsigned long long)s.port_guid, s.opensm_version);
	fflush(stdout);
}

static int greet(const char *path, bool print)
{
	const void *payload;
	size_t length;
	int fd = dial(path);

	say(fd, IBCC_PROTO_HELLO, NULL, 0);
	if (hear(fd, false, &payload, &length) != IBCC_PROTO_WELCOME)
		die("no WELCOME", -EPROTO);
	if (print)
		print_state(payload);
	return fd;
}

static struct ibcc_topo *get_topo(int fd)
{
	struct ibcc_proto_topo *p = ibcc_proto_topo_new();
	struct ibcc_proto_state end;
	struct ibcc_topo *t;
	const void *payload;
	size_t length;
	int err = 0;

	say(fd, IBCC_PROTO_TOPO_GET, NULL, 0);
	while (hear(fd, false, &payload, &length) == IBCC_PROTO_TOPO_NODE) {
		err = ibcc_proto_topo_add(p, payload, length);
		if (err)
			die("node", err);
	}
	memcpy(&end, payload, sizeof(end));
	t = ibcc_proto_topo_finish(p, end.generation, &err);
	if (!t)
		die("topology", err);
	return t;
}

static const char *type_name(const struct ibcc_topo *t, uint32_t port)
{
	return ibcc_topo_is_switch(t, t->port[port].node) ? "SW" : "CA";
}

/* LID as ibnetdiscover shows it: a switch's external ports have that of port 0. */
static uint16_t lid_of(const struct ibcc_topo *t, uint32_t port)
{
	const struct ibcc_topo_node *n = &t->node[t->port[port].node];

	return ibcc_topo_is_switch(t, t->port[port].node) ? t->port[n->first_port].lid
							  : t->port[port].lid;
}

/* Like ibnetdiscover -p: TYPE LID PORT GUID rate mtu state vls - TYPE LID PORT 'description' */
static void print_ports(const struct ibcc_topo *t)
{
	for (uint32_t i = 0; i < t->n_ports; i++) {
		const struct ibcc_topo_port *p = &t->port[i];

		if (p->peer == IBCC_NONE)
			continue;
		printf("%s %u %u 0x%016llx %u %u %u %u - %s %u %u '%s'\n", type_name(t, i),
		       lid_of(t, i), p->num, (unsigned long long)p->guid, p->rate_mbps,
		       p->mtu_bytes, p->state, p->op_vls, type_name(t, p->peer), lid_of(t, p->peer),
		       t->port[p->peer].num, t->node[p->node].desc);
	}
}

/* SWITCH-LID DLID PORT, in decimal. */
static void print_lfts(const struct ibcc_topo *t)
{
	for (uint32_t n = 0; n < t->n_nodes; n++)
		for (uint32_t lid = 0; lid < t->node[n].lft_len; lid++)
			if (t->node[n].lft[lid] != IBCC_LFT_NONE)
				printf("%u %u %u\n", t->port[t->node[n].first_port].lid, lid,
				       t->node[n].lft[lid]);
}

struct push {
	uint64_t generation, key, node;
	unsigned int timer, repeat, extra, flags, lease, as;
	int lid_shift;
	bool empty, hold;
};

/* `old` is what was there before, as far as the plugin is told. */
static void add_change(int fd, const struct ibcc_topo *t, uint32_t port, uint16_t attr,
		       uint32_t mod, const uint8_t *old, const uint8_t *mad, const struct push *o)
{
	const struct ibcc_topo_port *p = &t->port[port];
	struct ibcc_change c = {
		.node_guid = t->node[p->node].guid,
		.lid = (uint16_t)(p->lid + o->lid_shift),
		.port = p->num,
		.attr_id = attr,
		.attr_mod = mod,
		.reason = "a test",
	};

	memcpy(c.old_data, old + IBCC_MAD_DATA_OFFS, sizeof(c.old_data));
	memcpy(c.new_data, mad + IBCC_MAD_DATA_OFFS, sizeof(c.new_data));
	say(fd, IBCC_PROTO_CHANGE, buf, ibcc_proto_change_encode(&c, buf));
}

/* All congestion settings of an endport; returns the number of changes. */
static unsigned int plan_port(int fd, const struct ibcc_topo *t, uint32_t port,
			      const struct push *o)
{
	uint8_t mad[IBCC_MAD_BYTES] = { 0 }, off[IBCC_MAD_BYTES] = { 0 };
	struct ibcc_cc_ca_setting ca = { .Control_Map = 0xffff };
	const struct ibcc_cc_ca_setting ca_off = ca;
	const struct ibcc_cc_sw_setting sw_off = { .Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL };
	struct ibcc_cct cct = { .limit = 127 };
	struct ibcc_cc_sw_setting sw = {
		.Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL,
		.Threshold = 8,
		.Packet_Size = 8,
		.Marking_Rate = (uint16_t)(o->timer % 1000),
	};

	if (ibcc_topo_is_switch(t, t->port[port].node)) {
		if (fd >= 0) {
			ibcc_cc_sw_setting_pack(off, &sw_off);
			ibcc_cc_sw_setting_pack(mad, &sw);
			add_change(fd, t, port, IBCC_CC_ATTR_SW_SETTING, 0, off, mad, o);
		}
		return 1;
	}
	if (fd < 0)
		return 3;
	for (int sl = 0; sl < 16; sl++)
		ca.sl[sl] = (struct ibcc_cc_ca_entry){ (uint16_t)o->timer, 1, 1, 0 };
	ibcc_cc_ca_setting_pack(off, &ca_off);
	ibcc_cc_ca_setting_pack(mad, &ca);
	add_change(fd, t, port, IBCC_CC_ATTR_CA_SETTING, 0, off, mad, o);
	memset(off, 0, sizeof(off)); /* a table without entries */
	for (unsigned int i = 0; i < 128; i++)
		cct.entry[i] = i ? ibcc_cct_entry(0, i + o->timer % 100) : 0;
	for (unsigned int block = 0; block < 2; block++) {
		memset(mad, 0, sizeof(mad));
		ibcc_cc_cct_pack(mad, block, &cct);
		add_change(fd, t, port, IBCC_CC_ATTR_CCT, block, off, mad, o);
	}
	return 3;
}

static unsigned int plan_all(int fd, const struct ibcc_topo *t, const struct push *o)
{
	unsigned int n = 0;

	for (unsigned int r = 0; r < o->repeat; r++)
		for (uint32_t e = 0; e < t->n_endports; e++) {
			const struct ibcc_topo_port *p = &t->port[t->endport[e]];

			if (p->lid && (!o->node || o->node == t->node[p->node].guid))
				n += plan_port(fd, t, t->endport[e], o);
		}
	return n;
}

static void parse_push(struct push *o, int argc, char **argv)
{
	for (; argc > 0; argc--, argv++) {
		unsigned long long v =
			strchr(*argv, '=') ? strtoull(strchr(*argv, '=') + 1, NULL, 0) : 0;

		if (!strncmp(*argv, "generation=", 11))
			o->generation = v;
		else if (!strncmp(*argv, "key=", 4))
			o->key = v;
		else if (!strncmp(*argv, "node=", 5))
			o->node = v;
		else if (!strncmp(*argv, "timer=", 6))
			o->timer = (unsigned int)v;
		else if (!strncmp(*argv, "repeat=", 7))
			o->repeat = (unsigned int)v;
		else if (!strncmp(*argv, "extra=", 6))
			o->extra = (unsigned int)v;
		else if (!strncmp(*argv, "lid_shift=", 10))
			o->lid_shift = (int)v;
		else if (!strncmp(*argv, "flags=", 6))
			o->flags = (unsigned int)v;
		else if (!strncmp(*argv, "lease=", 6))
			o->lease = (unsigned int)v;
		else if (!strncmp(*argv, "as=", 3))
			o->as = (unsigned int)v;
		else if (!strncmp(*argv, "empty=", 6))
			o->empty = v;
		else if (!strncmp(*argv, "hold=", 5))
			o->hold = v;
		else
			die(*argv, -EINVAL);
	}
}

/* "OUTCOME COUNT" for each outcome, then "END refusal: text (set_mads)". Status 3: not all well. */
static int push(int fd, const struct push *o, const struct ibcc_topo *t)
{
	struct ibcc_proto_plan plan = {
		.generation = o->generation ? o->generation : t->generation,
		.cc_key = o->key,
		.n_changes = o->empty ? 0 : plan_all(-1, t, o) + o->extra,
		.reserved = o->flags,
	};
	const struct ibcc_proto_alive alive = { .lease_ms = o->lease };
	unsigned int count[IBCC_OUTCOME_DRY + 1] = { 0 };
	struct ibcc_proto_error end;
	const void *payload;
	size_t length;
	uint16_t type;

	if (o->lease)
		say(fd, IBCC_PROTO_STATE_GET, &alive, sizeof(alive));
	say(fd, IBCC_PROTO_PLAN_BEGIN, &plan, sizeof(plan));
	if (!o->empty)
		plan_all(fd, t, o);
	say(fd, IBCC_PROTO_PLAN_COMMIT, NULL, 0);
	printf("committed %u changes\n", plan.n_changes);
	fflush(stdout);
	while ((type = hear(fd, false, &payload, &length)) == IBCC_PROTO_RESULT) {
		struct ibcc_proto_result r;

		memcpy(&r, payload, sizeof(r));
		count[r.outcome]++;
	}
	if (type != IBCC_PROTO_PLAN_END || length != sizeof(end))
		die("no PLAN_END", -EPROTO);
	memcpy(&end, payload, sizeof(end));
	for (unsigned int i = 0; i <= IBCC_OUTCOME_DRY; i++)
		if (count[i])
			printf("%s %u\n", ibcc_outcome_name((enum ibcc_outcome)i), count[i]);
	printf("END %s: %s (%u Set)\n", ibcc_proto_refusal_text(end.refusal), end.text,
	       end.set_mads);
	fflush(stdout);
	while (o->hold)
		pause();
	return end.refusal || end.err ? 3 : 0;
}

static void watch(int fd, int n)
{
	const void *payload;
	size_t length;

	while (n-- > 0) {
		if (hear(fd, true, &payload, &length) != IBCC_PROTO_STATE)
			die("no STATE", -EPROTO);
		print_state(payload);
	}
}

/* Only reads, five times a second. */
__attribute__((noreturn)) static void read_on(int fd)
{
	const struct ibcc_proto_alive alive = { .lease_ms = 0 };
	struct ibcc_proto_state s;
	const void *payload;
	size_t length;

	for (;;) {
		say(fd, IBCC_PROTO_STATE_GET, &alive, sizeof(alive));
		if (hear(fd, true, &payload, &length) != IBCC_PROTO_STATE)
			die("no STATE", -EPROTO);
		memcpy(&s, payload, sizeof(s));
		print_state(payload);
		if (s.generation)
			ibcc_topo_free(get_topo(fd));
		poll(NULL, 0, 200);
	}
}

/* Waits until the plugin takes more; false if it does not within half a second. */
static bool may_say(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return poll(&p, 1, 500) == 1 && !(p.revents & (POLLHUP | POLLERR));
}

/* Sends without ever reading, as long as the plugin takes it. */
static void pester(int fd, enum ibcc_proto_type type)
{
	unsigned int n = 0;

	while (n < 100000 && may_say(fd) && !ibcc_proto_send(fd, type, n, NULL, 0))
		n++;
	printf("%u messages taken\n", n);
	fflush(stdout);
}

/* One plan after the other, never reading what becomes of them, as long as the plugin takes them.
 */
static void pester_with_plans(int fd, const struct ibcc_topo *t)
{
	struct ibcc_proto_plan plan = { .generation = t->generation, .n_changes = 0 };
	unsigned int n = 0;

	while (n < 100000 && may_say(fd) &&
	       !ibcc_proto_send(fd, IBCC_PROTO_PLAN_BEGIN, n, &plan, sizeof(plan)) && may_say(fd) &&
	       !ibcc_proto_send(fd, IBCC_PROTO_PLAN_COMMIT, n, NULL, 0))
		n++;
	printf("%u plans taken\n", n);
	fflush(stdout);
}

static int misbehave(const char *path, const char *how)
{
	struct ibcc_proto_header h = { .magic = IBCC_PROTO_MAGIC,
				       .version = IBCC_PROTO_VERSION,
				       .type = IBCC_PROTO_HELLO };
	const void *payload;
	size_t length;
	int fd = dial(path);

	if (!strcmp(how, "garbage")) {
		memset(buf, 0xa5, sizeof(buf));
		if (send(fd, buf, 100000, MSG_NOSIGNAL) < 0)
			die("send", -errno);
		hear(fd, true, &payload, &length);
	} else if (!strcmp(how, "half")) {
		h.length = 500; /* and nothing behind the header */
		if (send(fd, &h, sizeof(h), MSG_NOSIGNAL) < 0)
			die("send", -errno);
		hear(fd, true, &payload, &length);
	} else if (!strcmp(how, "version")) {
		h.version = IBCC_PROTO_VERSION + 1;
		if (send(fd, &h, sizeof(h), MSG_NOSIGNAL) < 0)
			die("send", -errno);
		hear(fd, true, &payload, &length);
	} else if (!strcmp(how, "flood")) {
		pester(fd, IBCC_PROTO_HELLO);
	} else if (!strcmp(how, "mute")) {
		say(fd, IBCC_PROTO_HELLO, NULL, 0);
		pester(fd, IBCC_PROTO_TOPO_GET);
		pause();
	} else if (!strcmp(how, "plans")) {
		struct ibcc_topo *t;

		say(fd, IBCC_PROTO_HELLO, NULL, 0);
		hear(fd, false, &payload, &length);
		t = get_topo(fd);
		pester_with_plans(fd, t);
		ibcc_topo_free(t);
		pause();
	} else if (!strcmp(how, "crowd")) {
		for (int i = 0; i < 40; i++)
			fd = dial(path);
		hear(fd, true, &payload, &length);
	} else {
		die(how, -EINVAL);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct push o = { .timer = 100, .repeat = 1 };
	struct ibcc_topo *t = NULL;
	const char *what = argc > 2 ? argv[2] : "";
	int fd, ret = 0;

	if (argc < 3)
		die("usage: plugin_client SOCKET WHAT", -EINVAL);
	if (!strcmp(what, "state")) {
		greet(argv[1], true);
	} else if (!strcmp(what, "watch")) {
		fd = greet(argv[1], true);
		watch(fd, argc > 3 ? atoi(argv[3]) : 1);
	} else if (!strcmp(what, "read")) {
		read_on(greet(argv[1], true));
	} else if (!strcmp(what, "ports")) {
		t = get_topo(greet(argv[1], false));
		print_ports(t);
	} else if (!strcmp(what, "lft")) {
		t = get_topo(greet(argv[1], false));
		print_lfts(t);
	} else if (!strcmp(what, "push")) {
		parse_push(&o, argc - 3, argv + 3);
		if (o.as && (setgid(0) || setuid(o.as)))
			die("as", -errno);
		fd = greet(argv[1], false);
		t = get_topo(fd);
		ret = push(fd, &o, t);
	} else {
		ret = misbehave(argv[1], what);
	}
	ibcc_topo_free(t);
	return ret;
}
