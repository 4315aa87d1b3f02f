/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Chooses the ports that are read more often than all others (focus.h). Begin with
 * ibcc_focus_run(), at the end.
 *
 * What costs nothing at the fabric is a good choice: a port too many is one MAD in a pass, a port
 * too few is a root that is not seen. So the limits here are lower than those of the estimator,
 * which decides what is a root.
 */
#include <ibcc/focus.h>

#include <errno.h>
#include <stdlib.h>

#include "port_set.h"

/* Permille of the interval that a suspected port was busy. Congestion of three seconds in ten shows
 * as 300, and a link with less of it than that is worth no haste.
 */
#define BUSY_PERMILLE 250u
/* Permille of the interval that a port waited. Adapters at a healthy load wait 20 to 30. */
#define WAIT_PERMILLE 50u
/* A port that waits for the next switch for this many permille of the interval passes on congestion
 * that starts farther downstream. The estimator has the same limit.
 */
#define PASSES_ON_PERMILLE 100u
/* Congestion may start at a port if at least this many adapters wait behind it. */
#define LEAST_WAITING 2u
/* A port that is silent for more than this many passes in a row is left out. */
#define SILENT_PASSES 3u

/* A number of no walk: all ports that wait upstream of the node were offered to add(), which would
 * have the same result again.
 */
#define TAKEN UINT32_MAX

/* A port where congestion starts, or where it may start. */
struct start {
	uint32_t port;
	uint32_t n_waiting;           /* adapters behind it that wait, if it is only suspected */
	const struct ibcc_root *seen; /* NULL: the estimate does not know it */
	const struct ibcc_root_parameters *held; /* NULL: it is not controlled */
};

struct choice {
	const struct ibcc_topo *t;
	const struct ibcc_snapshot *s;
	uint32_t max_nodes;
	struct ibcc_focus next;
	bool *node; /* by node index: it has a port in `next` */
	uint32_t n_starts;
	struct start *start;      /* most urgent first */
	bool *starts;             /* by port index: it is in `start` */
	struct port_set *waiting; /* by node index: ports whose other ends wait */
	/* Of a walk upstream: */
	uint32_t *stack; /* by node index */
	uint32_t *seen;  /* by node index: the number of the walk that came by last, or TAKEN */
	uint32_t walk;
};

void ibcc_focus_fini(struct ibcc_focus *f)
{
	free(f->port);
	free(f->left);
	*f = (struct ibcc_focus){ 0 };
}

static void fini(struct choice *c)
{
	ibcc_focus_fini(&c->next);
	free(c->node);
	free(c->start);
	free(c->starts);
	free(c->waiting);
	free(c->stack);
	free(c->seen);
}

static int init(struct choice *c)
{
	uint32_t ports = c->t->n_ports + 1, nodes = c->t->n_nodes + 1;

	c->next.size = c->t->n_ports;
	c->next.port = calloc(ports, sizeof(*c->next.port));
	c->next.left = calloc(ports, sizeof(*c->next.left));
	c->node = calloc(nodes, sizeof(*c->node));
	c->start = calloc(ports, sizeof(*c->start));
	c->starts = calloc(ports, sizeof(*c->starts));
	c->waiting = calloc(nodes, sizeof(*c->waiting));
	c->stack = calloc(nodes, sizeof(*c->stack));
	c->seen = calloc(nodes, sizeof(*c->seen));
	return c->next.port && c->next.left && c->node && c->start && c->starts && c->waiting &&
			       c->stack && c->seen
		       ? 0
		       : -ENOMEM;
}

/* One answer gets lost now and then: the port is asked again in the next pass. If it stayed out
 * until all ports are read, what starts there would seem to be over meanwhile.
 */
static bool answers(const struct ibcc_snapshot *s, const struct ibcc_port_sample *p)
{
	return p->state == IBCC_SAMPLE_FIRST || ibcc_sample_is_known(p) ||
	       (p->state == IBCC_SAMPLE_STALE &&
		s->t_ns - p->now.t_ns <= SILENT_PASSES * s->interval_ns);
}

/* Puts a port into the focus if it answers and there is room for its node. */
static void add(struct choice *c, uint32_t port, uint8_t left)
{
	uint32_t node = c->t->port[port].node;

	if (c->next.port[port] || !answers(c->s, &c->s->port[port]) ||
	    (!c->node[node] && c->next.n_nodes >= c->max_nodes))
		return;
	c->next.n_nodes += !c->node[node];
	c->node[node] = true;
	c->next.port[port] = true;
	c->next.left[port] = left;
	c->next.n_ports++;
}

static bool is_believed(const struct ibcc_port_sample *p)
{
	return ibcc_sample_is_known(p) && p->trust.doubt == IBCC_DOUBT_NONE;
}

static uint32_t waited(const struct choice *c, uint32_t port)
{
	const struct ibcc_port_sample *p = &c->s->port[port];

	return is_believed(p) ? ibcc_delta_wait_permille(&p->delta, p->tick_ps) : 0;
}

/* Finds once which ports wait, as many walks come by them. */
static void find_waiting(struct choice *c)
{
	const struct ibcc_topo *t = c->t;

	for (uint32_t q = 0; q < t->n_ports; q++) {
		uint32_t in = t->port[q].peer;

		if (in != IBCC_NONE && waited(c, q) >= WAIT_PERMILLE)
			port_set_add(&c->waiting[t->port[in].node], t->port[in].num);
	}
}

/* Follows ports that wait upstream from a port's switch, and counts the adapters among them. With
 * `take` it puts all of them into the focus. What waits at the port's other end is left out. If
 * that is an adapter, it is in the focus already, so that another walk needs to go no farther than
 * to where this one was.
 */
static uint32_t walk_upstream(struct choice *c, uint32_t port, bool take)
{
	const struct ibcc_topo *t = c->t;
	uint32_t peer = t->port[port].peer, start = t->port[port].node, n_waiting = 0, n = 0, mark;
	bool ends = peer == IBCC_NONE || !ibcc_topo_is_switch(t, t->port[peer].node);

	if (c->seen[start] == TAKEN)
		return 0;
	mark = take && ends ? TAKEN : ++c->walk;
	c->seen[start] = mark;
	c->stack[n++] = start;
	while (n) {
		uint32_t node = c->stack[--n];
		struct port_set waiting = c->waiting[node];
		unsigned int num;

		while ((num = port_set_take(&waiting))) {
			uint32_t in = t->node[node].first_port + num, q = t->port[in].peer, next;

			if (in == port)
				continue;
			if (take)
				add(c, q, IBCC_FOCUS_LINGERS);
			next = t->port[q].node;
			n_waiting += !ibcc_topo_is_switch(t, next);
			if (!ibcc_topo_is_switch(t, next) || c->seen[next] == mark ||
			    c->seen[next] == TAKEN)
				continue;
			c->seen[next] = mark;
			c->stack[n++] = next;
		}
	}
	return n_waiting;
}

/* Returns how many adapters wait behind a port where congestion may start, or 0 if congestion does
 * not start there.
 */
static uint32_t suspect(struct choice *c, uint32_t port)
{
	const struct ibcc_topo_port *p = &c->t->port[port];
	const struct ibcc_port_sample *s = &c->s->port[port];
	uint32_t n;

	if (!p->num || p->peer == IBCC_NONE || !ibcc_topo_is_switch(c->t, p->node) ||
	    !is_believed(s) ||
	    ibcc_delta_busy_permille(&s->delta, s->tick_ps, p->rate_mbps) < BUSY_PERMILLE ||
	    (!ibcc_topo_faces_ca(c->t, port) && waited(c, port) >= PASSES_ON_PERMILLE))
		return 0;
	n = walk_upstream(c, port, false);
	return n >= LEAST_WAITING ? n : 0;
}

static void add_start(struct choice *c, struct start start)
{
	c->start[c->n_starts++] = start;
	c->starts[start.port] = true;
}

static int by_waiting(const void *a, const void *b)
{
	const struct start *x = a, *y = b;

	if (x->n_waiting != y->n_waiting)
		return x->n_waiting < y->n_waiting ? 1 : -1;
	return x->port < y->port ? -1 : x->port > y->port;
}

static void list_starts(struct choice *c, const struct ibcc_estimate *pic,
			const struct ibcc_parameters *p)
{
	uint32_t n_roots;

	for (uint32_t k = 0; k < p->n_roots; k++)
		if (ibcc_phase_sets(p->root[k].r.phase))
			add_start(c, (struct start){
					     .port = p->root[k].r.port,
					     .seen = ibcc_estimate_find(pic, p->root[k].r.port),
					     .held = &p->root[k].r,
				     });
	for (uint32_t i = 0; i < pic->n_roots; i++)
		if (!c->starts[pic->root[i].port])
			add_start(c, (struct start){ .port = pic->root[i].port,
						     .seen = &pic->root[i] });
	n_roots = c->n_starts;
	for (uint32_t i = 0; i < c->t->n_ports && i < c->s->n_ports; i++) {
		uint32_t n = c->starts[i] ? 0 : suspect(c, i);

		if (n)
			add_start(c, (struct start){ .port = i, .n_waiting = n });
	}
	qsort(c->start + n_roots, c->n_starts - n_roots, sizeof(*c->start), by_waiting);
}

/* Returns whether a switch port `q` leads packets to a root's switch that leave it by the root. */
static bool feeds(const struct ibcc_topo *t, uint32_t q, uint32_t root)
{
	const struct ibcc_topo_node *from = &t->node[t->port[q].node];

	for (uint32_t lid = ibcc_topo_next_lid(t, root, 0); lid && lid < from->lft_len;
	     lid = ibcc_topo_next_lid(t, root, lid))
		if (from->lft[lid] == t->port[q].num)
			return true;
	return false;
}

/* Adds the ports of the switch, since the daemon must know what else starts there. Also adds the
 * receiver, which counts marked packets.
 */
static void add_switch(struct choice *c, const struct start *at)
{
	const struct ibcc_topo_node *sw = &c->t->node[c->t->port[at->port].node];
	uint32_t receiver = c->t->port[at->port].peer;

	for (uint32_t p = sw->first_port + 1; p <= sw->first_port + sw->n_ports; p++)
		add(c, p, IBCC_FOCUS_LINGERS);
	if (receiver != IBCC_NONE && ibcc_topo_faces_ca(c->t, at->port))
		add(c, receiver, IBCC_FOCUS_LINGERS);
}

/* Adds the ports of other nodes that feed the switch: those that wait, and all that lead to a root.
 */
static void add_feeders(struct choice *c, const struct start *at)
{
	const struct ibcc_topo *t = c->t;
	const struct ibcc_topo_node *sw = &t->node[t->port[at->port].node];

	for (uint32_t in = sw->first_port + 1; in <= sw->first_port + sw->n_ports; in++) {
		uint32_t q = t->port[in].peer;
		bool from_switch = q != IBCC_NONE && ibcc_topo_is_switch(t, t->port[q].node);

		if (q == IBCC_NONE || in == at->port)
			continue;
		if (waited(c, q) >= WAIT_PERMILLE ||
		    (from_switch && (at->seen || at->held) && feeds(t, q, at->port)))
			add(c, q, IBCC_FOCUS_LINGERS);
	}
}

static void add_sources(struct choice *c, const struct start *at)
{
	for (uint32_t i = 0; at->seen && i < at->seen->n_sources; i++)
		add(c, at->seen->source[i].port, IBCC_FOCUS_LINGERS);
	for (uint32_t e = 0; at->held && e < c->t->n_endports; e++)
		if (at->held->member[e])
			add(c, c->t->endport[e], IBCC_FOCUS_LINGERS);
}

/* Adds the adapters behind a root that marks. Their counts of marked packets show that it marks. */
static void add_receivers(struct choice *c, const struct start *at)
{
	for (uint32_t lid = at->held ? ibcc_topo_next_lid(c->t, at->port, 0) : 0; lid;
	     lid = ibcc_topo_next_lid(c->t, at->port, lid)) {
		uint32_t to = c->t->lid_port[lid];

		if (to != IBCC_NONE && !ibcc_topo_is_switch(c->t, c->t->port[to].node))
			add(c, to, IBCC_FOCUS_LINGERS);
	}
}

static void choose(struct choice *c, const struct ibcc_focus *before)
{
	for (uint32_t i = 0; i < c->n_starts; i++)
		add_switch(c, &c->start[i]);
	for (uint32_t i = 0; i < c->n_starts; i++)
		add_feeders(c, &c->start[i]);
	for (uint32_t i = 0; i < c->n_starts; i++)
		add_sources(c, &c->start[i]);
	for (uint32_t i = 0; i < c->n_starts; i++)
		walk_upstream(c, c->start[i].port, true);
	for (uint32_t i = 0; i < c->n_starts; i++)
		add_receivers(c, &c->start[i]);
	for (uint32_t i = 0; before->size == c->next.size && i < before->size; i++)
		if (before->left[i])
			add(c, i, before->left[i] - 1);
}

int ibcc_focus_run(struct ibcc_focus *f, const struct ibcc_topo *t, const struct ibcc_snapshot *s,
		   const struct ibcc_estimate *pic, const struct ibcc_parameters *p,
		   uint32_t max_nodes)
{
	struct choice c = { .t = t, .s = s, .max_nodes = max_nodes };
	struct ibcc_focus before;
	int rc = init(&c);

	if (!rc && max_nodes && s->n_ports == t->n_ports) {
		find_waiting(&c);
		list_starts(&c, pic, p);
		choose(&c, f);
	}
	if (rc) {
		ibcc_focus_fini(f);
	} else {
		before = *f;
		*f = c.next;
		c.next = before;
	}
	fini(&c);
	return rc;
}
