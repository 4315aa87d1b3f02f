/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/bench/watch.h"

#include <math.h>

#include <ibcc/cycle.h>
#include <ibcc/loads.h>
#include <ibcc/measure.h>

#include "perftest/bench/live.h"

#define MS IBCC_PS_PER_MS

struct watch {
	struct ibcc_memory memory;
	ibcc_watch_each *each;
	void *arg;
};

static int remember(void *arg, uint32_t pass, struct ibcc_cycle *c, struct ibcc_applier *a)
{
	struct watch *w = arg;
	int rc = 0;

	(void)a;
	if (!w->memory.quiet.mbps)
		rc = ibcc_memory_init(&w->memory, c->topo->n_ports);
	if (rc || !c->decided)
		return rc;
	ibcc_memory_add(&w->memory, c->topo, &c->snapshot, &c->estimate, &c->actual);
	return w->each(w->arg, pass, c, &w->memory);
}

int ibcc_watch_run(const struct ibcc_scenario *s, uint32_t ms, ibcc_watch_each *each, void *arg)
{
	struct watch w = { .each = each, .arg = arg };
	struct ibcc_scenario copy = *s;
	struct ibcc_live_options o;
	struct ibcc_live_result live;
	struct ibcc_measure m;
	int rc;

	copy.duration_ps = (ms + 3) * MS + MS / 2;
	copy.measure_from_ps = copy.duration_ps - MS;
	ibcc_live_defaults(&o);
	o.dry = true;
	o.each = remember;
	o.arg = &w;
	rc = ibcc_live_run(&copy, &o, 0, &m, &live);
	ibcc_live_result_fini(&live);
	if (!rc)
		ibcc_measure_fini(&m);
	ibcc_memory_fini(&w.memory);
	return rc;
}

struct question {
	const struct ibcc_model *model;
	uint32_t from_pass;
	bool *congested;
	struct ibcc_advise *a;
};

static int ask(const struct question *q, const struct ibcc_cycle *c,
	       const struct ibcc_memory *memory)
{
	struct ibcc_loads now;
	struct ibcc_advise_in in = { .p = { .t = c->topo,
					    .before = &memory->quiet,
					    .now = &now,
					    .age_ns = c->snapshot.t_ns - memory->quiet_ns,
					    .n_roots = c->estimate.n_roots,
					    .root = c->estimate.root,
					    .packet_bytes = c->estimate.root[0].packet_bytes,
					    .actual = &c->actual,
					    .wanted = &c->actual,
					    .buffer_bytes = q->model->buffer_bytes,
					    .budget_ns = UINT64_MAX / 2 },
				     .rp = &q->model->dcqcn.rp };
	int rc = ibcc_memory_now(memory, c->topo, &now, &in.p.moved);

	if (rc)
		return rc;
	rc = ibcc_advise(&in, q->a);
	if (!rc) {
		struct ibcc_prediction keep = q->a->p;

		ibcc_prediction_fini(&keep);
		q->a->p.root = q->a->p.open = NULL;
		q->a->p.sent_mbps = NULL;
	}
	*q->congested = !rc;
	ibcc_loads_fini(&now);
	return rc;
}

static int each(void *arg, uint32_t pass, const struct ibcc_cycle *c,
		const struct ibcc_memory *memory)
{
	const struct question *q = arg;

	if (pass < q->from_pass || *q->congested || !c->estimate.n_roots)
		return 0;
	return ask(q, c, memory);
}

int ibcc_watch_advise(const struct ibcc_scenario *s, uint32_t ms, bool *congested,
		      struct ibcc_advise *a)
{
	struct ibcc_scenario off = *s;
	struct question q = { .model = &s->model, .from_pass = ms, .congested = congested, .a = a };

	off.model.dcqcn.enabled = false;
	*congested = false;
	*a = (struct ibcc_advise){ .verdict = IBCC_ADVISE_OFF_NO_CONGESTION, .quiet = NAN };
	return ibcc_watch_run(&off, ms, each, &q);
}
