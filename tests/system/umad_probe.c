/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* lib/mad over real libibumad, for test_umad_ibsim.sh. Sends nothing of class 0x21: bare
 * ibsim would take it for subnet management.
 *
 * umad_probe links             every link's end as ibnetdiscover names it
 * umad_probe summary           nodes, links, LIDs, routes between all adapters
 * umad_probe passes            three passes over all counters
 * umad_probe window N COUNT    COUNT requests, N in flight
 * umad_probe stall             requests until a server that stops is noticed, then until it is back
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ibcc/collect.h>
#include <ibcc/pma.h>
#include <ibcc/route.h>

static struct ibcc_transport *open_port(unsigned int window)
{
	const struct ibcc_umad_options o = { .window = window, .timeout_ms = 200, .retries = 1 };
	struct ibcc_transport *tr;
	char why[200];
	int err;

	tr = ibcc_umad_open(&o, &err, why, sizeof(why));
	if (!tr) {
		fprintf(stderr, "open: %s\n", why);
		exit(1);
	}
	return tr;
}

static struct ibcc_topo *discover(void)
{
	struct ibcc_transport *tr = open_port(0);
	char why[200];
	int err;
	struct ibcc_topo *t = ibcc_discover_walk(tr, &err, why, sizeof(why));

	ibcc_transport_free(tr);
	if (!t || *why) {
		fprintf(stderr, "discovery: %s\n", why);
		exit(1);
	}
	return t;
}

static void print_end(const struct ibcc_topo *t, uint32_t port)
{
	uint32_t node = t->port[port].node;

	printf("%c-%016" PRIx64 " %u", ibcc_topo_is_switch(t, node) ? 'S' : 'H', t->node[node].guid,
	       t->port[port].num);
}

static int links(void)
{
	struct ibcc_topo *t = discover();

	for (uint32_t i = 0; i < t->n_ports; i++) {
		if (t->port[i].peer == IBCC_NONE)
			continue;
		print_end(t, i);
		putchar(' ');
		print_end(t, t->port[i].peer);
		putchar('\n');
	}
	ibcc_topo_free(t);
	return 0;
}

static int summary(void)
{
	struct ibcc_topo *t = discover();
	unsigned int n_links = 0, lids = 0, routes = 0, lost = 0;
	struct ibcc_route r;

	for (uint32_t i = 0; i < t->n_ports; i++) {
		n_links += t->port[i].peer != IBCC_NONE;
		lids += t->port[i].lid != 0;
	}
	for (uint32_t a = 0; a < t->n_endports; a++) {
		if (ibcc_topo_is_switch(t, t->port[t->endport[a]].node))
			continue;
		for (uint32_t b = 0; b < t->n_endports; b++) {
			if (a == b)
				continue;
			if (ibcc_route_follow(t, t->endport[a], t->port[t->endport[b]].lid, &r))
				lost++;
			else
				routes++;
		}
	}
	printf("nodes %u links %u lids %u routes %u lost %u\n", t->n_nodes, n_links / 2, lids,
	       routes, lost);
	ibcc_topo_free(t);
	return 0;
}

static int passes(void)
{
	struct ibcc_topo *t = discover();
	struct ibcc_transport *tr = open_port(0);
	struct ibcc_collector *c = ibcc_collector_new();
	struct ibcc_snapshot s;
	int rc = c ? ibcc_snapshot_init(&s, t) : -1;

	for (int i = 0; i < 3 && rc == 0; i++)
		rc = ibcc_collector_pass(c, tr, t, &s, 0, NULL);
	if (rc == 0)
		printf("fresh %u stale %u unreachable %u\n", s.n_fresh, s.n_stale, s.n_unreachable);
	ibcc_snapshot_fini(&s);
	ibcc_collector_free(c);
	ibcc_transport_free(tr);
	ibcc_topo_free(t);
	return rc != 0;
}

/* ClassPortInfo of the local port, or of an unassigned LID. */
static void ask(struct ibcc_mad_op *op, size_t n, uint16_t lid)
{
	for (size_t i = 0; i < n; i++) {
		op[i] = (struct ibcc_mad_op){ .lid = lid };
		ibcc_mad_request(op[i].mad, IBCC_MAD_CLASS_PERF, IBCC_MAD_GET,
				 IBCC_PMA_ATTR_CLASS_PORT_INFO, 0);
	}
}

static int window(unsigned int size, size_t n)
{
	struct ibcc_transport *tr = open_port(size);
	struct ibcc_mad_op *op = calloc(n, sizeof(*op)), stray;
	size_t good = 0;
	int rc;

	if (!op)
		return 1;
	ask(op, n, ibcc_umad_lid(tr));
	rc = ibcc_transport_run(tr, op, n);
	for (size_t i = 0; i < n; i++)
		good += op[i].err == 0;
	ask(&stray, 1, 0xb000);
	rc |= ibcc_transport_run(tr, &stray, 1);
	printf("run %d good %zu stray %s sm %s guid %016" PRIx64 "\n", rc, good,
	       stray.err ? strerror(-stray.err) : "answered", ibcc_umad_sm_lid(tr) ? "yes" : "no",
	       ibcc_umad_port_guid(tr));
	free(op);
	ibcc_transport_free(tr);
	return 0;
}

static int stall(void)
{
	struct ibcc_transport *tr = open_port(64);
	struct ibcc_mad_op op[100];
	int was = 1;

	for (int i = 0; i < 2000; i++) {
		int rc;

		ask(op, 100, ibcc_umad_lid(tr));
		rc = ibcc_transport_run(tr, op, 100);
		for (int k = 0; k < 100 && !rc; k++)
			rc = op[k].err;
		if (rc != was) {
			printf("run %d\n", rc);
			fflush(stdout);
			if (rc == 0 && was != 1)
				break;
			was = rc;
		}
		usleep(10000);
	}
	ibcc_transport_free(tr);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "links"))
		return links();
	if (!strcmp(what, "summary"))
		return summary();
	if (!strcmp(what, "passes"))
		return passes();
	if (!strcmp(what, "window") && argc == 4)
		return window((unsigned int)atoi(argv[2]), (size_t)atol(argv[3]));
	if (!strcmp(what, "stall"))
		return stall();
	fprintf(stderr, "usage: umad_probe links|summary|passes|window N COUNT|stall\n");
	return 2;
}
