/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/bench/select.h"

#include <math.h>

static int pick_kind(struct ibcc_select *s, const char *who)
{
	static const char *const kinds[] = { "background", "hot", "victim" };
	const struct ibcc_scenario *sc = &s->run->scenario;
	bool all = !strcmp(who, "all"), found = all;
	int kind = -1;

	for (int k = 0; k < 3; k++)
		if (!strcmp(who, kinds[k]))
			kind = k;
	for (uint32_t i = 0; i < s->n; i++) {
		if (all ||
		    (kind >= 0 ? (int)sc->flow[i].kind == kind : !strcmp(sc->flow[i].name, who)))
			s->in[i] = found = true;
	}
	/* A scenario may well have no flow of a kind: their sum is 0. */
	return found || kind >= 0 ? 0 : -EINVAL;
}

static int pick_from(struct ibcc_select *s, const char *node)
{
	const struct ibcc_scenario *sc = &s->run->scenario;
	bool found = false;

	for (uint32_t i = 0; i < s->n; i++)
		if (!strcmp(sc->flow[i].from, node))
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
		uint32_t node = ibcc_topo_find_desc(t, word);

		if (node == IBCC_NONE || ibcc_topo_is_switch(t, node))
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
