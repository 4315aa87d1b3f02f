/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Loads of all links (rates and waits, as means of intervals), and a memory of them: what they
 * were when no adapter waited, and what they were lately. Predictions compare the two. Begin with
 * ibcc_memory_add(), which is called once in a pass.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <ibcc/loads.h>

/* Intervals over which the quiet loads are a mean: five minutes at the daemon's usual pace. */
#define QUIET_MOST 30u
/* A link that carries more than this share of its rate is full. */
#define FULL 0.95

int ibcc_loads_init(struct ibcc_loads *l, uint32_t n_ports)
{
	*l = (struct ibcc_loads){ .n_ports = n_ports,
				  .mbps = calloc(n_ports + 1u, sizeof(*l->mbps)),
				  .wait = calloc(n_ports + 1u, sizeof(*l->wait)) };
	if (l->mbps && l->wait)
		return 0;
	ibcc_loads_fini(l);
	return -ENOMEM;
}

void ibcc_loads_fini(struct ibcc_loads *l)
{
	free(l->mbps);
	free(l->wait);
	*l = (struct ibcc_loads){ 0 };
}

/* What a port sent, Mb/s, by its own counter or the one at the other end; -1: neither was read. */
static double sent_mbps(const struct ibcc_topo *t, const struct ibcc_snapshot *s, uint32_t port)
{
	const struct ibcc_port_sample *p = &s->port[port];
	uint32_t peer = t->port[port].peer;

	if (ibcc_sample_is_known(p) && ibcc_delta_exact(&p->delta, IBCC_CTR_XMIT_DATA))
		return ibcc_delta_xmit_mbps(&p->delta);
	if (peer == IBCC_NONE)
		return 0;
	p = &s->port[peer];
	if (ibcc_sample_is_known(p) && ibcc_delta_exact(&p->delta, IBCC_CTR_RCV_DATA))
		return ibcc_delta_rcv_mbps(&p->delta);
	return -1;
}

void ibcc_loads_add(struct ibcc_loads *l, const struct ibcc_topo *t, const struct ibcc_snapshot *s,
		    uint32_t most)
{
	double weight = 1.0 / (l->n < most ? l->n + 1 : most);

	for (uint32_t i = 0; i < l->n_ports && i < s->n_ports; i++) {
		const struct ibcc_port_sample *p = &s->port[i];
		double mbps = sent_mbps(t, s, i);
		double wait = ibcc_delta_wait_permille(&p->delta, p->tick_ps) / 1000.0;

		if (mbps < 0)
			continue;
		l->mbps[i] += weight * (mbps - l->mbps[i]);
		if (ibcc_delta_valid(&p->delta, IBCC_CTR_XMIT_WAIT))
			l->wait[i] += weight * (wait - l->wait[i]);
	}
	if (l->n < most)
		l->n++;
}

double ibcc_loads_sent(const struct ibcc_loads *l, const struct ibcc_topo *t)
{
	double sum = 0;

	for (uint32_t i = 0; i < l->n_ports; i++)
		if (!ibcc_topo_is_switch(t, t->port[i].node))
			sum += l->mbps[i];
	return sum;
}

int ibcc_memory_init(struct ibcc_memory *m, uint32_t n_ports)
{
	int rc;

	*m = (struct ibcc_memory){ 0 };
	rc = ibcc_loads_init(&m->quiet, n_ports);
	for (uint32_t i = 0; i < IBCC_RECENT && !rc; i++)
		rc = ibcc_loads_init(&m->recent[i], n_ports);
	if (rc)
		ibcc_memory_fini(m);
	return rc;
}

void ibcc_memory_fini(struct ibcc_memory *m)
{
	ibcc_loads_fini(&m->quiet);
	for (uint32_t i = 0; i < IBCC_RECENT; i++)
		ibcc_loads_fini(&m->recent[i]);
	*m = (struct ibcc_memory){ 0 };
}

bool ibcc_loads_held(const struct ibcc_topo *t, const struct ibcc_settings *actual)
{
	for (uint32_t i = 0; i < actual->n; i++)
		if (!ibcc_topo_is_switch(t, t->port[t->endport[i]].node) &&
		    ibcc_settings_are_on(&actual->ep[i]))
			return true;
	return false;
}

/* Whether an adapter sends all that it has to send: it does not wait, and its link is not full, for
 * then that would not be known.
 */
static bool sends_all(const struct ibcc_load *l, uint32_t link_mbps)
{
	return l->wait_permille <= 1000 * IBCC_LOADS_WAIT && l->mbps <= FULL * link_mbps;
}

/* Whether no adapter is held up in this pass: no roots, no waits, no congestion control, and
 * enough ports were read.
 */
static bool is_quiet(const struct ibcc_topo *t, const struct ibcc_snapshot *s,
		     const struct ibcc_estimate *p, const struct ibcc_settings *actual)
{
	if (p->n_roots || (s->n_stale + s->n_unreachable) * 9 > s->n_fresh)
		return false;
	for (uint32_t i = 0; i < p->n_loads; i++)
		if (p->load[i].known && !ibcc_topo_is_switch(t, t->port[t->endport[i]].node) &&
		    !sends_all(&p->load[i], t->port[t->endport[i]].rate_mbps))
			return false;
	return !ibcc_loads_held(t, actual);
}

bool ibcc_memory_add(struct ibcc_memory *m, const struct ibcc_topo *t,
		     const struct ibcc_snapshot *s, const struct ibcc_estimate *p,
		     const struct ibcc_settings *actual)
{
	struct ibcc_loads *l = &m->recent[m->at];

	if (!s->interval_ns)
		return false;
	if (is_quiet(t, s, p, actual)) {
		ibcc_loads_add(&m->quiet, t, s, QUIET_MOST);
		m->quiet_ns = s->t_ns;
		m->n_recent = 0;
		return true;
	}
	l->n = 0;
	ibcc_loads_add(l, t, s, 1);
	m->at = (m->at + 1) % IBCC_RECENT;
	m->n_recent += m->n_recent < IBCC_RECENT;
	return false;
}

void ibcc_memory_reset_recent(struct ibcc_memory *m)
{
	m->n_recent = 0;
}

int ibcc_memory_now(const struct ibcc_memory *m, const struct ibcc_topo *t, struct ibcc_loads *out,
		    double *moved)
{
	double half[2] = { 0 };
	int rc = ibcc_loads_init(out, m->quiet.n_ports);

	*moved = 0;
	if (rc || !m->n_recent)
		return rc;
	for (uint32_t k = 0; k < m->n_recent; k++) {
		const struct ibcc_loads *l =
			&m->recent[(m->at + IBCC_RECENT - m->n_recent + k) % IBCC_RECENT];
		bool late = k >= (m->n_recent + 1) / 2;

		for (uint32_t i = 0; i < out->n_ports; i++) {
			out->mbps[i] += l->mbps[i] / m->n_recent;
			out->wait[i] += l->wait[i] / m->n_recent;
		}
		if (late ||
		    k < m->n_recent / 2) /* of an odd number, the one in the middle is left out */
			half[late] += ibcc_loads_sent(l, t);
	}
	out->n = m->n_recent;
	if (m->n_recent >= 4 && half[0] + half[1] > 0)
		*moved = fabs(half[1] - half[0]) / fmax(half[0], half[1]);
	return 0;
}
