/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Faults of links and routes (faults.h): finding them, and what to tell an operator. */
#include <ibcc/faults.h>

#include <errno.h>
#include <stdlib.h>

#include <ibcc/device.h>
#include <ibcc/grow.h>
#include <ibcc/route.h>
#include <ibcc/text.h>

#include "words_impl.h"

#define LOOP_SHOWN 4u

static int add(struct ibcc_faults *f, enum ibcc_fault_kind kind, uint32_t port)
{
	struct ibcc_fault *grown = ibcc_grow(f->fault, f->n, &f->cap, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	f->fault = grown;
	f->fault[f->n++] = (struct ibcc_fault){ .kind = kind, .port = port };
	f->n_slow += kind == IBCC_FAULT_SLOW;
	f->n_errors += kind == IBCC_FAULT_ERRORS;
	return 0;
}

/* A link has two ends. It is named by that of a switch, or else by the first. */
static bool is_named_by(const struct ibcc_topo *t, uint32_t port)
{
	uint32_t peer = t->port[port].peer;
	bool mine = ibcc_topo_is_switch(t, t->port[port].node);
	bool other = ibcc_topo_is_switch(t, t->port[peer].node);

	return mine == other ? port < peer : mine;
}

static int find_in(const struct ibcc_topo *t, const struct ibcc_snapshot *s, struct ibcc_faults *f)
{
	struct ibcc_topo_speed runs, best;
	int rc = 0;

	for (uint32_t i = 0; i < t->n_ports && !rc; i++) {
		if (ibcc_topo_is_slow(t, i, &runs, &best) && is_named_by(t, i))
			rc = add(f, IBCC_FAULT_SLOW, i);
		if (!rc && i < s->n_ports && ibcc_sample_is_known(&s->port[i]) &&
		    ibcc_link_errors_judge(&s->port[i].errors, ibcc_topo_link_mbps(t, i)) !=
			    IBCC_LINK_TROUBLE_NONE)
			rc = add(f, IBCC_FAULT_ERRORS, i);
	}
	return rc;
}

/* Marks the faults on the trees of all roots. */
static int find_trees(const struct ibcc_topo *t, const struct ibcc_estimate *e,
		      struct ibcc_faults *f)
{
	bool *on = calloc(t->n_ports ? t->n_ports : 1, sizeof(*on));

	if (!on)
		return -ENOMEM;
	for (uint32_t i = 0; i < e->n_roots; i++)
		ibcc_estimate_mark_tree(t, &e->root[i], on);
	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t port = f->fault[i].port, peer = t->port[port].peer;

		f->fault[i].on_tree = on[port] || (peer != IBCC_NONE && on[peer]);
	}
	free(on);
	return 0;
}

int ibcc_faults_find(const struct ibcc_topo *t, const struct ibcc_snapshot *s,
		     const struct ibcc_estimate *e, struct ibcc_faults *out)
{
	int rc;

	*out = (struct ibcc_faults){ 0 };
	rc = find_in(t, s, out);
	/* Following routes takes time, and there is rarely a fault. */
	if (!rc && out->n && e && e->n_roots)
		rc = find_trees(t, e, out);
	if (rc)
		ibcc_faults_fini(out);
	return rc;
}

void ibcc_faults_fini(struct ibcc_faults *f)
{
	if (!f)
		return;
	free(f->fault);
	*f = (struct ibcc_faults){ 0 };
}

/* "4xDDR (16000 Mb/s)", or the rate alone where it has no name. */
static void say_speed(struct ibcc_text *x, const struct ibcc_topo_speed *v)
{
	char name[IBCC_TOPO_SPEED_BYTES];

	if (ibcc_topo_speed_name(v, name)[0])
		ibcc_text_add(x, "%s (%u Mb/s)", name, v->rate_mbps);
	else
		ibcc_text_add(x, "%u Mb/s", v->rate_mbps);
}

static void say_slow(struct ibcc_text *x, const struct ibcc_topo *t, uint32_t port)
{
	struct ibcc_topo_speed runs = { 0 }, best = { 0 };

	ibcc_topo_is_slow(t, port, &runs, &best);
	ibcc_text_add(x, "the link from %s to %s runs at ", name_of(t, port).text,
		      name_of(t, t->port[port].peer).text);
	say_speed(x, &runs);
	ibcc_text_add(x, ", but both ends support ");
	say_speed(x, &best);
	ibcc_text_add(x, ". Check its cable before you throttle senders.");
}

static void say_errors(struct ibcc_text *x, const struct ibcc_topo *t, uint32_t port,
		       const struct ibcc_link_errors *e)
{
	uint32_t peer = t->port[port].peer;
	unsigned int n = 0;

	ibcc_text_add(x, "errors at %s", name_of(t, port).text);
	if (peer != IBCC_NONE)
		ibcc_text_add(x, " (link to %s)", name_of(t, peer).text);
	for (unsigned int i = 0; i < IBCC_LINK_ERRORS; i++)
		if (e->grown[i])
			ibcc_text_add(x, "%s%s +%u", n++ ? ", " : ": ",
				      ibcc_link_error_name((enum ibcc_link_error)i), e->grown[i]);
	ibcc_text_add(x, " in %.1f s. ", (double)e->dt_ns / 1e9);
	switch (ibcc_link_errors_judge(e, ibcc_topo_link_mbps(t, port))) {
	case IBCC_LINK_TROUBLE_NONE: break;
	case IBCC_LINK_TROUBLE_CABLE:
		ibcc_text_add(x, "Check its cable: throttling does not cure a bad cable.");
		break;
	case IBCC_LINK_TROUBLE_DISCARDS:
		ibcc_text_add(x, "The port drops packets that it cannot send in time. Check "
				 "whether the link goes down, or the receiver behind it hangs.");
		break;
	case IBCC_LINK_TROUBLE_REFUSED:
		ibcc_text_add(x, "The port refuses packets. Check the partitions (P_Keys) of the "
				 "hosts that use it.");
		break;
	}
}

int ibcc_faults_text(const struct ibcc_topo *t, const struct ibcc_snapshot *s,
		     const struct ibcc_fault *f, char *buf, size_t len)
{
	struct ibcc_text x = { .buf = buf, .len = len };

	if (len)
		buf[0] = '\0';
	switch (f->kind) {
	case IBCC_FAULT_SLOW: say_slow(&x, t, f->port); break;
	case IBCC_FAULT_ERRORS: say_errors(&x, t, f->port, &s->port[f->port].errors); break;
	}
	return (int)x.n;
}

/* One host of each switch that has any: from one switch, the routes of all its hosts are the same.
 */
static uint32_t add_senders(const struct ibcc_topo *t, bool *has, struct ibcc_route_use *use)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_ports; i++) {
		const struct ibcc_topo_port *p = &t->port[i];
		uint32_t sw = p->peer == IBCC_NONE ? IBCC_NONE : t->port[p->peer].node;

		if (sw == IBCC_NONE || !ibcc_topo_is_switch(t, sw) || has[sw] ||
		    ibcc_topo_is_switch(t, p->node) || !ibcc_device_is_host(t, p->node))
			continue;
		has[sw] = true;
		use[n++] = (struct ibcc_route_use){ .from = i, .to = IBCC_NONE, .but = IBCC_NONE };
	}
	return n;
}

static void say_loop(struct ibcc_text *x, const struct ibcc_topo *t,
		     const struct ibcc_route_lane *out, uint32_t n)
{
	bool vls = false;

	ibcc_text_add(x, "the routes make a credit loop of %u links (", n);
	for (uint32_t i = 0; i < n && i < LOOP_SHOWN; i++) {
		ibcc_text_add(x, "%s%s", i ? ", " : "", name_of(t, out[i].port).text);
		vls |= t->port[out[i].port].op_vls > 1;
	}
	ibcc_text_add(x,
		      "%s). When their buffers are full, they block each other for ever%s. Use "
		      "a routing engine without loops, for example updn (opensm -R updn).",
		      n > LOOP_SHOWN ? ", ..." : "",
		      vls ? ", unless the subnet manager keeps these routes apart by service "
			    "levels, as with lash"
			  : "");
}

int ibcc_faults_find_loop(const struct ibcc_topo *t, struct ibcc_why *text)
{
	bool *has = calloc(t->n_nodes + 1u, sizeof(*has));
	struct ibcc_route_use *use = calloc(t->n_nodes + 1u, sizeof(*use));
	struct ibcc_text x = { text->text, sizeof(text->text), 0 };
	struct ibcc_route_lane out[LOOP_SHOWN];
	uint32_t n = 0;
	int rc = has && use ? 0 : -ENOMEM;

	text->text[0] = '\0';
	if (!rc)
		rc = ibcc_route_find_cycle(t, NULL, use, add_senders(t, has, use), out, LOOP_SHOWN,
					   &n);
	if (!rc && n)
		say_loop(&x, t, out, n);
	free(has);
	free(use);
	return rc;
}
