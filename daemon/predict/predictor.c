/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Predictions beside the polling cycles (predictor.h). Each runs in its own thread on a copy
 * (evidence.h), so the worker continues meanwhile. The predictor also keeps the baseline: the loads
 * from before congestion. Begin with ibcc_predictor_look() and ibcc_predictor_begin().
 */
#include "daemon/predict/predictor.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ibcc/advise.h>
#include <ibcc/loads.h>
#include <ibcc/now.h>
#include <ibcc/thread.h>

#include "daemon/predict/baseline.h"
#include "daemon/report/report.h"

/* Interval between two writes of a baseline that still holds. */
#define STORE_NS  300000000000ll
#define SECOND_NS 1000000000ll
/* For settings that no polling cycle has decided on. */
#define NO_PASS UINT64_MAX

struct prediction_job {
	struct ibcc_predictor *p;
	struct ibcc_evidence e;
	uint64_t pass;
	bool advise;
	struct ibcc_advice_basis basis; /* with `advise` */
	void (*done)(void *arg);
	void *arg;
};

struct ibcc_predictor {
	uint32_t cpu_s;
	struct ibcc_memory memory;
	const struct ibcc_topo *topo; /* the topology of the prediction */
	uint64_t generation, hash;
	/* Time of the newest baseline, and of the one that was stored. CLOCK_MONOTONIC, because an
	 * administrator may set the other clock. Before the machine was up: below 0.
	 */
	int64_t quiet_ns, stored_ns;
	bool was_quiet, wrote, prefer_latency;
	pthread_t thread;
	bool started;                /* the thread runs, or is not joined yet */
	atomic_bool stop, abandoned; /* stop for good; abandon the running prediction */
	pthread_mutex_t lock;        /* protects those below */
	json_t *told;
	uint64_t told_pass;
};

struct ibcc_predictor *ibcc_predictor_new(uint32_t cpu_s)
{
	struct ibcc_predictor *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->cpu_s = cpu_s;
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

void ibcc_predictor_wait(struct ibcc_predictor *p)
{
	if (p->started)
		pthread_join(p->thread, NULL);
	p->started = false;
}

void ibcc_predictor_free(struct ibcc_predictor *p)
{
	if (!p)
		return;
	p->stop = true;
	ibcc_predictor_wait(p);
	ibcc_memory_fini(&p->memory);
	json_decref(p->told);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

void ibcc_predictor_abandon(struct ibcc_predictor *p)
{
	p->abandoned = true;
}

void ibcc_predictor_configure(struct ibcc_predictor *p, uint32_t cpu_s, bool prefer_latency)
{
	p->cpu_s = cpu_s;
	p->prefer_latency = prefer_latency;
}

bool ibcc_predictor_is_busy(const struct ibcc_predictor *p)
{
	return p->started;
}

static int64_t age_ns(const struct ibcc_predictor *p)
{
	int64_t age = (int64_t)ibcc_now_ns() - p->quiet_ns;

	return age > 0 ? age : 0;
}

static int load(struct ibcc_predictor *p, struct ibcc_state *state)
{
	int64_t at_s = 0;
	int rc = state ? ibcc_baseline_load(state, p->hash, &p->memory.quiet, &at_s) : 0;

	p->quiet_ns = (int64_t)ibcc_now_ns() - ((int64_t)time(NULL) - at_s) * SECOND_NS;
	return rc;
}

static int new_fabric(struct ibcc_predictor *p, const struct ibcc_cycle *c,
		      struct ibcc_state *state)
{
	uint64_t hash;
	int rc;

	if (p->topo == c->topo && p->generation == c->topo->generation &&
	    p->memory.quiet.n_ports == c->topo->n_ports)
		return 0;
	hash = ibcc_baseline_hash(c->topo);
	p->topo = c->topo;
	p->generation = c->topo->generation;
	if (p->memory.quiet.mbps && hash == p->hash && p->memory.quiet.n_ports == c->topo->n_ports)
		return 0;
	ibcc_memory_fini(&p->memory);
	rc = ibcc_memory_init(&p->memory, c->topo->n_ports);
	p->hash = hash;
	if (!rc)
		rc = load(p, state);
	if (rc)
		p->topo = NULL;
	return rc;
}

/* A failed write is tried again with the next baseline. */
static void keep(struct ibcc_predictor *p, struct ibcc_state *state, bool quiet)
{
	bool due = p->was_quiet && (!quiet || p->quiet_ns - p->stored_ns >= STORE_NS);
	int64_t at_s = (int64_t)time(NULL) - age_ns(p) / SECOND_NS;

	if (due && state && p->stored_ns != p->quiet_ns &&
	    !ibcc_baseline_store(state, p->hash, &p->memory.quiet, at_s))
		p->stored_ns = p->quiet_ns;
	p->was_quiet = quiet;
}

void ibcc_predictor_wrote(struct ibcc_predictor *p)
{
	p->wrote = true;
}

int ibcc_predictor_look(struct ibcc_predictor *p, const struct ibcc_cycle *c,
			struct ibcc_state *state)
{
	bool quiet;
	int rc;

	if (!c->decided)
		return 0;
	rc = new_fabric(p, c, state);
	if (rc)
		return rc;
	/* Settings were written since the last polling cycle, or by it. Its interval was still from
	 * before the write.
	 */
	if (p->wrote)
		ibcc_memory_reset_recent(&p->memory);
	p->wrote = false;
	quiet = ibcc_memory_add(&p->memory, c->topo, &c->snapshot, &c->estimate, &c->actual);
	if (quiet)
		p->quiet_ns = (int64_t)ibcc_now_ns();
	keep(p, state, quiet);
	return 0;
}

static uint64_t cpu_ns(void *arg)
{
	const struct prediction_job *j = arg;

	if (j->p->stop || j->p->abandoned)
		return UINT64_MAX;
	return ibcc_now_cpu_ns();
}

static void job_free(struct prediction_job *j)
{
	if (!j)
		return;
	ibcc_evidence_fini(&j->e);
	free(j);
}

static void tell(struct ibcc_predictor *p, json_t *o, uint64_t pass)
{
	json_t *old;

	pthread_mutex_lock(&p->lock);
	old = p->told;
	p->told = o;
	p->told_pass = pass;
	pthread_mutex_unlock(&p->lock);
	json_decref(old);
}

static json_t *advise(const struct prediction_job *j)
{
	const struct ibcc_advise_in in = { .p = j->e.in, .rp = &j->basis.rp };
	struct ibcc_advise a;
	json_t *o;

	if (ibcc_advise(&in, &a))
		a = (struct ibcc_advise){ .verdict = IBCC_ADVISE_OFF_NOT_TRIED,
					  .profile_rc = -ENODATA,
					  .p.why = IBCC_PREDICTION_FAILED };
	o = ibcc_report_advice(j->e.topo, &in, &a, j->basis.rp_port, j->basis.buffer_port);
	ibcc_advise_fini(&a);
	return o;
}

static json_t *predict(const struct prediction_job *j)
{
	struct ibcc_prediction result;
	json_t *o;

	if (ibcc_predict(&j->e.in, &result))
		result = (struct ibcc_prediction){ .why = IBCC_PREDICTION_FAILED,
						   .roots_why = IBCC_PREDICTION_FAILED };
	o = ibcc_report_prediction(j->e.topo, &j->e.in, &result);
	ibcc_prediction_fini(&result);
	return o;
}

static void *run(void *arg)
{
	struct prediction_job *j = arg;
	json_t *o = j->advise ? advise(j) : predict(j);

	if (!j->p->abandoned)
		tell(j->p, o, j->pass);
	else
		json_decref(o);
	if (j->done && !j->p->stop)
		j->done(j->arg);
	job_free(j);
	return NULL;
}

/* Local reasons against a prediction, whatever the fabric is like. */
static enum ibcc_prediction_why refuse(const struct ibcc_predictor *p, const struct ibcc_cycle *c,
				       bool own, enum ibcc_prediction_why fabric)
{
	if (!c->plan.n && !own)
		return IBCC_PREDICTION_NO_PLAN;
	return p->cpu_s ? fabric : IBCC_PREDICTION_CPU;
}

int ibcc_predictor_evidence(const struct ibcc_predictor *p, const struct ibcc_cycle *c,
			    const struct ibcc_settings *wanted, struct ibcc_evidence *e)
{
	*e = (struct ibcc_evidence){ .topo = NULL };
	if (p->topo != c->topo)
		return -EAGAIN;
	return ibcc_evidence_make(e, c, &p->memory, (uint64_t)age_ns(p),
				  wanted ? wanted : &c->target.wanted);
}

static int start(struct ibcc_predictor *p, struct prediction_job *j)
{
	int rc;

	p->abandoned = false;
	rc = ibcc_thread_start(&p->thread, run, j);
	p->started = !rc;
	return rc;
}

/* DCQCN needs no support of annex A10. Where it is on, counters do not show demands. */
static enum ibcc_prediction_why refuse_advice(const struct ibcc_cycle *c,
					      enum ibcc_prediction_why fabric)
{
	if (ibcc_vendor_rules(&c->vendor))
		return IBCC_PREDICTION_CONTROLLED;
	return fabric == IBCC_PREDICTION_NO_CC ? IBCC_PREDICTION_TELLS : fabric;
}

static int begin(struct ibcc_predictor *p, const struct ibcc_cycle *c,
		 const struct ibcc_settings *wanted, bool written, struct prediction_job *j)
{
	int rc;

	j->p = p;
	j->pass = wanted ? NO_PASS : c->estimate.pass;
	rc = ibcc_predictor_evidence(p, c, wanted, &j->e);
	if (!rc && written && ibcc_loads_held(j->e.topo, &j->e.actual))
		rc = -EALREADY;
	if (rc)
		return rc;
	j->e.in.refuse = refuse(p, c, wanted != NULL, j->e.in.refuse);
	if (j->advise && p->cpu_s)
		j->e.in.refuse = refuse_advice(c, j->e.in.refuse);
	j->e.in.buffer_bytes = j->basis.buffer_bytes;
	j->e.in.prefer_latency = p->prefer_latency;
	j->e.in.budget_ns = p->cpu_s * 1000000000ull;
	if (j->advise)
		j->e.in.budget_ns = (uint64_t)((double)j->e.in.budget_ns * IBCC_ADVISE_BUDGET);
	j->e.in.cpu_ns = cpu_ns;
	j->e.in.arg = j;
	return start(p, j);
}

static int begin_unless(struct ibcc_predictor *p, const struct ibcc_cycle *c,
			const struct ibcc_settings *wanted, bool written,
			const struct ibcc_advice_basis *basis, void (*done)(void *arg), void *arg)
{
	struct prediction_job *j;
	bool there;
	int rc;

	pthread_mutex_lock(&p->lock);
	there = !wanted && !written && p->told && p->told_pass == c->estimate.pass;
	pthread_mutex_unlock(&p->lock);
	if (there || p->started)
		return there ? -EALREADY : -EBUSY;
	j = calloc(1, sizeof(*j));
	if (!j)
		return -ENOMEM;
	j->advise = basis != NULL;
	if (basis)
		j->basis = *basis;
	if (basis && basis->rp_port == IBCC_NONE)
		ibcc_dcqcn_rp_defaults(&j->basis.rp);
	j->done = done;
	j->arg = arg;
	rc = begin(p, c, wanted, written, j);
	if (rc)
		job_free(j);
	return rc;
}

int ibcc_predictor_begin(struct ibcc_predictor *p, const struct ibcc_cycle *c,
			 const struct ibcc_settings *wanted, void (*done)(void *arg), void *arg)
{
	return begin_unless(p, c, wanted, false, NULL, done, arg);
}

int ibcc_predictor_begin_written(struct ibcc_predictor *p, const struct ibcc_cycle *c,
				 const struct ibcc_settings *wanted, void (*done)(void *arg),
				 void *arg)
{
	return begin_unless(p, c, wanted, true, NULL, done, arg);
}

int ibcc_predictor_begin_advice(struct ibcc_predictor *p, const struct ibcc_cycle *c,
				const struct ibcc_advice_basis *basis, void (*done)(void *arg),
				void *arg)
{
	return begin_unless(p, c, &c->actual, false, basis, done, arg);
}

json_t *ibcc_predictor_tell(struct ibcc_predictor *p, uint64_t pass)
{
	json_t *o = NULL;

	pthread_mutex_lock(&p->lock);
	if (p->told && (!pass || pass == p->told_pass))
		o = json_deep_copy(p->told);
	pthread_mutex_unlock(&p->lock);
	return o ? o
		 : json_pack("{sb ss}", "known", 0, "why",
			     "the daemon made no prediction for this plan");
}
