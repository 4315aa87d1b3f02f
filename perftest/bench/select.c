/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/bench/select.h"

#include <math.h>

static int pick_kind(struct ibcc_select *s, const char *who)
{
	static const char *const kinds[] = { "background", "hot", "victim" };
	const struct ibcc_scenario *sc = &s->run->scenario;
	bool all = !strcmp(who, "all"), others = !strcmp(who, "others"), found = all || others;
	int kind = -1;

	for (int k = 0; k < 3; k++)
		if (!strcmp(who, kinds[k]))
			kind = k;
	for (uint32_t i = 0; i < s->n; i++) {
		if (all || (others && sc->flow[i].kind != IBCC_FLOW_HOT) ||
		    (kind >= 0 ? (int)sc->flow[i].kind == kind : !strcmp(sc->flow[i].name, who)))
			s->in[i] = found = true;
	}
	/* A scenario may have no flow of a kind: their sum is 0. */
	return found || kind >= 0 ? 0 : -EINVAL;
}

static int pick_from(struct ibcc_select *s, const char *node)
{
	const struct ibcc_scenario *sc = &s->run->scenario;
	char text[IBCC_NODE_TEXT_BYTES];
	bool found = false;
	uint32_t at;

	if (ibcc_topo_find_node(sc->topo, node, &at))
		return -EINVAL;
	ibcc_topo_node_text(sc->topo, at, text);
	for (uint32_t i = 0; i < s->n; i++)
		if (!strcmp(sc->flow[i].from, text))
			s->in[i] = found = true;
	return found ? 0 : -EINVAL;
}

static int pick_nodes(struct ibcc_select *s, const char *list, bool in)
{
	const struct ibcc_topo *t = s->run->scenario.topo;
	char *copy = strdup(list), *save = NULL, *word;
	int rc = 0;

	if (!copy)
		return -ENOMEM;
	for (word = strtok_r(copy, "+", &save); word && !rc; word = strtok_r(NULL, "+", &save)) {
		uint32_t node;

		if (ibcc_topo_find_node(t, word, &node) || ibcc_topo_is_switch(t, node))
			rc = -EINVAL;
		else
			s->in[node] = in;
	}
	free(copy);
	return rc;
}

static void all_nodes(struct ibcc_select *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		s->in[i] = !ibcc_topo_is_switch(s->run->scenario.topo, i);
}

int ibcc_select(const struct ibcc_exp_run *run, const char *who, struct ibcc_select *s)
{
	bool to = !strncmp(who, "to:", 3), not = !strncmp(who, "not:", 4);
	int rc = 0;

	*s = (struct ibcc_select){ .run = run, .nodes = to || not || !strcmp(who, "nodes") };
	s->n = s->nodes ? run->measure.n_nodes : run->measure.n_flows;
	s->in = calloc(s->n + 1u, sizeof(*s->in));
	if (!s->in)
		return -ENOMEM;
	if (s->nodes && !to)
		all_nodes(s);
	if (to)
		rc = pick_nodes(s, who + 3, true);
	else if (not )
		rc = pick_nodes(s, who + 4, false);
	else if (!strncmp(who, "from:", 5))
		rc = pick_from(s, who + 5);
	else if (!s->nodes)
		rc = pick_kind(s, who);
	if (rc) {
		free(s->in);
		s->in = NULL;
	}
	return rc;
}

double ibcc_select_mbps(const struct ibcc_select *s)
{
	const struct ibcc_measure *m = &s->run->measure;
	double sum = 0;

	for (uint32_t i = 0; i < s->n; i++)
		if (s->in[i])
			sum += s->nodes ? m->node[i].throughput_mbps : m->flow[i].throughput_mbps;
	return sum;
}

double ibcc_select_offered_mbps(const struct ibcc_select *s)
{
	const struct ibcc_measure *m = &s->run->measure;
	double sum = 0;

	for (uint32_t i = 0; i < s->n; i++)
		if (s->in[i])
			sum += s->nodes ? m->node[i].offered_mbps : m->flow[i].offered_mbps;
	return sum;
}

double ibcc_select_ideal_mbps(const struct ibcc_select *s)
{
	const struct ibcc_measure *m = &s->run->measure;
	double sum = 0;

	for (uint32_t i = 0; i < s->n; i++)
		if (s->in[i])
			sum += s->nodes ? m->node[i].ideal_mbps : m->flow[i].ideal_mbps;
	return sum;
}

double ibcc_select_capacity_mbps(const struct ibcc_select *s)
{
	double sum = 0;

	if (!s->nodes)
		return NAN;
	for (uint32_t i = 0; i < s->n; i++)
		if (s->in[i])
			sum += s->run->measure.node[i].capacity_mbps;
	return sum;
}

double ibcc_select_latency_us(const struct ibcc_select *s)
{
	double sum = 0;
	uint64_t n = 0;

	for (uint32_t i = 0; !s->nodes && i < s->n; i++) {
		const struct ibcc_measure_flow *f = &s->run->measure.flow[i];

		if (s->in[i] && f->received_pkts) {
			sum += f->latency_us * (double)f->received_pkts;
			n += f->received_pkts;
		}
	}
	return n ? sum / (double)n : NAN;
}

double ibcc_select_ccti(const struct ibcc_select *s)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; !s->nodes && i < s->n; i++)
		if (s->in[i]) {
			sum += s->run->measure.flow[i].ccti;
			n++;
		}
	return n ? sum / n : NAN;
}

double ibcc_select_marked(const struct ibcc_select *s)
{
	uint64_t marked = 0, all = 0;

	for (uint32_t i = 0; !s->nodes && i < s->n; i++) {
		if (!s->in[i])
			continue;
		marked += s->run->measure.flow[i].fecn;
		all += s->run->measure.flow[i].received_pkts;
	}
	return all ? (double)marked / (double)all : NAN;
}

double ibcc_select_unfairness(const struct ibcc_select *s, double share_mbps)
{
	const struct ibcc_measure *m = &s->run->measure;
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		double x = s->nodes ? m->node[i].throughput_mbps : m->flow[i].throughput_mbps;

		if (s->in[i]) {
			sum += (x / share_mbps - 1) * (x / share_mbps - 1);
			n++;
		}
	}
	return n && share_mbps > 0 ? sqrt(sum / n) : NAN;
}

struct conn_sum {
	double sent, useful, came, out_of_order, duplicates, reordered, resent, naks, timeouts,
		depth, ahead, new_pkts, p50_us, p99_us;
};

static double conn_sent_per_useful(const struct conn_sum *x)
{
	return x->useful > 0 ? x->sent / x->useful : NAN;
}

static double conn_out_of_order(const struct conn_sum *x)
{
	return x->came > 0 ? x->out_of_order / x->came : NAN;
}

static double conn_duplicates(const struct conn_sum *x)
{
	return x->came > 0 ? x->duplicates / x->came : NAN;
}

static double conn_reordered(const struct conn_sum *x)
{
	return x->came > 0 ? x->reordered / x->came : NAN;
}

static double conn_ahead(const struct conn_sum *x)
{
	return x->new_pkts > 0 ? x->ahead / x->new_pkts : NAN;
}

static double conn_resent(const struct conn_sum *x)
{
	return x->resent;
}

static double conn_naks(const struct conn_sum *x)
{
	return x->naks;
}

static double conn_timeouts(const struct conn_sum *x)
{
	return x->timeouts;
}

static double conn_depth(const struct conn_sum *x)
{
	return x->depth;
}

static double conn_p50(const struct conn_sum *x)
{
	return x->p50_us;
}

static double conn_p99(const struct conn_sum *x)
{
	return x->p99_us;
}

static const struct {
	const char *name;
	double (*of)(const struct conn_sum *x);
} conn_figures[] = { { "sent_per_useful", conn_sent_per_useful },
		     { "out_of_order", conn_out_of_order },
		     { "duplicates", conn_duplicates },
		     { "reordered", conn_reordered },
		     { "ahead", conn_ahead },
		     { "resent", conn_resent },
		     { "naks", conn_naks },
		     { "timeouts", conn_timeouts },
		     { "depth", conn_depth },
		     { "p50_us", conn_p50 },
		     { "p99_us", conn_p99 } };
#define N_CONN_FIGURES (sizeof(conn_figures) / sizeof(*conn_figures))

bool ibcc_select_conn_has(const char *figure)
{
	for (size_t i = 0; i < N_CONN_FIGURES; i++)
		if (!strcmp(conn_figures[i].name, figure))
			return true;
	return false;
}

static void add_conn(struct conn_sum *x, const struct ibcc_measure_flow *f)
{
	const struct ibcc_engine_conn *c = &f->conn;

	x->sent += (double)f->sent_pkts;
	x->useful += (double)f->received_pkts;
	x->out_of_order += (double)c->out_of_order;
	x->duplicates += (double)c->duplicates;
	x->reordered += (double)f->reordered_pkts;
	x->resent += (double)c->resent;
	x->naks += (double)c->naks;
	x->timeouts += (double)c->timeouts;
	x->depth = fmax(x->depth, c->depth_max);
	for (unsigned int i = 0; i < IBCC_DEPTH_BINS; i++) {
		x->new_pkts += (double)c->depth[i];
		x->ahead += i ? (double)c->depth[i] : 0;
	}
	x->came = x->new_pkts + x->duplicates;
	x->p50_us = fmax(x->p50_us, f->p50_us);
	x->p99_us = fmax(x->p99_us, f->p99_us);
}

double ibcc_select_conn(const struct ibcc_select *s, const char *figure)
{
	struct conn_sum x = { .p50_us = NAN, .p99_us = NAN };

	if (s->nodes)
		return NAN;
	for (uint32_t i = 0; i < s->n; i++)
		if (s->in[i])
			add_conn(&x, &s->run->measure.flow[i]);
	for (size_t i = 0; i < N_CONN_FIGURES; i++)
		if (!strcmp(conn_figures[i].name, figure))
			return conn_figures[i].of(&x);
	return NAN;
}

double ibcc_select_sample_mbps(const struct ibcc_select *s, uint32_t sample)
{
	const struct ibcc_measure *m = &s->run->measure;
	const struct ibcc_topo *t = s->run->scenario.topo;
	double sum = 0;

	if (!s->nodes) {
		for (uint32_t i = 0; i < s->n; i++)
			if (s->in[i])
				sum += (double)m->flow_sample[(size_t)sample * m->n_flows + i]
					       .throughput_mbps;
		return sum;
	}
	for (uint32_t p = 0; p < m->n_ports; p++)
		if (s->in[t->port[p].node])
			sum += (double)m->port_sample[(size_t)sample * m->n_ports + p].rcv_mbps;
	return sum;
}
