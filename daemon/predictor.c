/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "daemon/predictor.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ibcc/loads.h>

#include "daemon/baseline.h"
#include "daemon/report.h"

/* More ports without a reading than one in so many: too many. */
#define STALE_PART 10u
/* Between two writes of a baseline that goes on. */
#define STORE_S 300
/* Of settings that no pass has decided on. */
#define NO_PASS UINT64_MAX

/* What a prediction is made from: copies, since passes go on meanwhile. */
struct job {
	struct ibcc_predictor *p;
	struct ibcc_topo *topo;
	struct ibcc_loads before, now;
	struct ibcc_root *root;
	struct ibcc_settings actual, wanted;
	struct ibcc_prediction_in in;
	uint64_t pass;
	void (*done)(void *arg);
	void *arg;
};

struct ibcc_predictor {
	uint32_t cpu_s;
	struct ibcc_memory memory;
	const struct ibcc_topo *topo; /* that it is about, */
	uint64_t generation, hash;
	int64_t quiet_s; /* when the baseline was last so, since 1970 */
	int64_t stored_s;
	bool was_quiet, wrote;
	pthread_t thread;
	bool started; /* and not waited for yet */
	atomic_bool stop;
	pthread_mutex_t lock; /* of those below */
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

void ibcc_predictor_configure(struct ibcc_predictor *p, uint32_t cpu_s)
{
	p->cpu_s = cpu_s;
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
	p->quiet_s = 0;
	if (!rc && state)
		rc = ibcc_baseline_load(state, hash, &p->memory.quiet, &p->quiet_s);
	if (rc)
		p->topo = NULL;
	return rc;
}

/* What cannot be written down now is tried again with the next. */
static void keep(struct ibcc_predictor *p, struct ibcc_state *state, bool quiet)
{
	bool due = p->was_quiet && (!quiet || p->quiet_s - p->stored_s >= STORE_S);

	if (due && state && p->stored_s != p->quiet_s &&
	    !ibcc_baseline_store(state, p->hash, &p->memory.quiet, p->quiet_s))
		p->stored_s = p->quiet_s;
	p->was_quiet = quiet;
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
	/* What the pass before wrote: its own interval was from before. */
	if (p->wrote)
		ibcc_memory_reset_recent(&p->memory);
	p->wrote = c->acted && c->result.set_mads;
	quiet = ibcc_memory_add(&p->memory, c->topo, &c->snapshot, &c->picture, &c->actual);
	if (quiet)
		p->quiet_s = (int64_t)time(NULL);
	keep(p, state, quiet);
	return 0;
}

static uint64_t cpu_ns(void *arg)
{
	const struct job *j = arg;
	struct timespec ts;

	if (j->p->stop)
		return UINT64_MAX;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static void job_free(struct job *j)
{
	if (!j)
		return;
	ibcc_topo_free(j->topo);
	ibcc_loads_fini(&j->before);
	ibcc_loads_fini(&j->now);
	for (uint32_t i = 0; j->root && i < j->in.n_roots; i++) {
		free(j->root[i].source);
		free((void *)j->root[i].becns);
	}
	free(j->root);
	ibcc_settings_fini(&j->actual);
	ibcc_settings_fini(&j->wanted);
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

static void *run(void *arg)
{
	struct job *j = arg;
	struct ibcc_prediction result;
	int rc = ibcc_predict(&j->in, &result);

	if (rc)
		result = (struct ibcc_prediction){ .why = IBCC_PREDICTION_FAILED };
	tell(j->p, ibcc_report_prediction(j->topo, &j->in, &result), j->pass);
	ibcc_prediction_fini(&result);
	if (j->done && !j->p->stop)
		j->done(j->arg);
	job_free(j);
	return NULL;
}

static int copy_loads(struct ibcc_loads *to, const struct ibcc_loads *from)
{
	int rc = ibcc_loads_init(to, from->n_ports);

	if (rc)
		return rc;
	to->n = from->n;
	memcpy(to->mbps, from->mbps, from->n_ports * sizeof(*to->mbps));
	memcpy(to->wait, from->wait, from->n_ports * sizeof(*to->wait));
	return 0;
}

static int copy_roots(struct job *j, const struct ibcc_picture *e, uint32_t n_endports)
{
	double *becns;

	j->root = calloc(e->n_roots + 1u, sizeof(*j->root));
	if (!j->root)
		return -ENOMEM;
	for (uint32_t i = 0; i < e->n_roots; i++) {
		const struct ibcc_root *r = &e->root[i];

		j->root[i] = (struct ibcc_root){ .port = r->port,
						 .kind = r->kind,
						 .rate_mbps = r->rate_mbps,
						 .packet_bytes = r->packet_bytes };
		j->root[i].source = calloc(r->n_sources + 1u, sizeof(*r->source));
		j->in.n_roots = i + 1;
		if (!j->root[i].source)
			return -ENOMEM;
		if (r->n_sources)
			memcpy(j->root[i].source, r->source, r->n_sources * sizeof(*r->source));
		j->root[i].n_sources = r->n_sources;
		j->root[i].n_marked = r->n_marked;
		if (!r->becns)
			continue;
		becns = calloc(n_endports + 1u, sizeof(*becns));
		if (!becns)
			return -ENOMEM;
		memcpy(becns, r->becns, n_endports * sizeof(*becns));
		j->root[i].becns = becns;
	}
	return 0;
}

/* Settings from before what the last pass wrote. */
static void take_back(const struct ibcc_cycle *c, struct ibcc_settings *s)
{
	if (!c->acted || !c->result.set_mads)
		return;
	for (uint32_t i = 0; i < c->plan.n; i++) {
		const struct ibcc_change *ch = &c->plan.change[i];
		uint32_t port = ibcc_topo_port_of_lid(c->topo, ch->lid);

		if (port != IBCC_NONE && c->topo->port[port].endport < s->n)
			ibcc_settings_unpack(&s->ep[c->topo->port[port].endport], ch->attr_id,
					     ch->attr_mod, ch->old_data);
	}
}

static bool lacks_cc(const struct ibcc_cycle *c)
{
	for (uint32_t r = 0; r < c->picture.n_roots; r++)
		for (uint32_t i = 0; i < c->picture.root[r].n_sources; i++) {
			uint32_t port = c->picture.root[r].source[i].port;
			uint32_t ep = c->topo->port[port].endport;

			if (ep < c->actual.n && c->actual.ep[ep].support != IBCC_CC_SUPPORTED)
				return true;
		}
	return false;
}

static enum ibcc_prediction_why refuse(const struct ibcc_predictor *p, const struct ibcc_cycle *c,
				       bool own)
{
	uint32_t unread = c->snapshot.n_stale + c->snapshot.n_unreachable;
	struct ibcc_why routes;

	if (!c->plan.n && !own)
		return IBCC_PREDICTION_NO_PLAN;
	if (!p->cpu_s)
		return IBCC_PREDICTION_CPU;
	if (unread * STALE_PART > unread + c->snapshot.n_fresh)
		return IBCC_PREDICTION_STALE;
	ibcc_vendor_routes_text(&c->vendor, &routes);
	if (routes.text[0])
		return IBCC_PREDICTION_ADAPTIVE;
	for (uint32_t i = 0; i < c->snapshot.n_marks; i++)
		if (c->snapshot.mark[i].sl != c->snapshot.mark[0].sl)
			return IBCC_PREDICTION_VLS;
	return lacks_cc(c) ? IBCC_PREDICTION_NO_CC : IBCC_PREDICTION_TELLS;
}

static int fill(struct job *j, const struct ibcc_predictor *p, const struct ibcc_cycle *c,
		const struct ibcc_settings *wanted)
{
	int64_t age_s = (int64_t)time(NULL) - p->quiet_s;
	int rc;

	j->topo = ibcc_topo_clone(c->topo);
	rc = j->topo ? copy_loads(&j->before, &p->memory.quiet) : -ENOMEM;
	if (!rc)
		rc = ibcc_memory_now(&p->memory, c->topo, &j->now, &j->in.moved);
	if (!rc)
		rc = copy_roots(j, &c->picture, c->topo->n_endports);
	if (!rc)
		rc = ibcc_settings_copy(&j->actual, &c->actual);
	if (!rc)
		rc = ibcc_settings_copy(&j->wanted, wanted ? wanted : &c->target.wanted);
	if (rc)
		return rc;
	take_back(c, &j->actual);
	j->in.t = j->topo;
	j->in.before = &j->before;
	j->in.now = &j->now;
	j->in.age_ns = (uint64_t)(age_s > 0 ? age_s : 0) * 1000000000ull;
	j->in.root = j->root;
	j->in.packet_bytes = c->picture.n_roots ? c->picture.root[0].packet_bytes : 0;
	j->in.actual = &j->actual;
	j->in.wanted = &j->wanted;
	j->in.refuse = refuse(p, c, wanted != NULL);
	j->in.budget_ns = p->cpu_s * 1000000000ull;
	j->in.cpu_ns = cpu_ns;
	j->in.arg = j;
	return 0;
}

/* Signals are the event loop's. */
static int start(struct ibcc_predictor *p, struct job *j)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = -pthread_create(&p->thread, NULL, run, j);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	p->started = !rc;
	return rc;
}

static int begin(struct ibcc_predictor *p, const struct ibcc_cycle *c,
		 const struct ibcc_settings *wanted, bool written, struct job *j)
{
	int rc;

	j->p = p;
	j->pass = wanted ? NO_PASS : c->picture.pass;
	rc = fill(j, p, c, wanted);
	if (!rc && written && ibcc_loads_held(j->topo, &j->actual))
		rc = -EALREADY;
	if (rc)
		return rc;
	return start(p, j);
}

static int begin_unless(struct ibcc_predictor *p, const struct ibcc_cycle *c,
			const struct ibcc_settings *wanted, bool written, void (*done)(void *arg),
			void *arg)
{
	struct job *j;
	bool there;
	int rc;

	pthread_mutex_lock(&p->lock);
	there = !wanted && !written && p->told && p->told_pass == c->picture.pass;
	pthread_mutex_unlock(&p->lock);
	if (there || p->started)
		return there ? -EALREADY : -EBUSY;
	if (p->topo != c->topo)
		return -EAGAIN;
	j = calloc(1, sizeof(*j));
	if (!j)
		return -ENOMEM;
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
	return begin_unless(p, c, wanted, false, done, arg);
}

int ibcc_predictor_begin_written(struct ibcc_predictor *p, const struct ibcc_cycle *c,
				 void (*done)(void *arg), void *arg)
{
	return begin_unless(p, c, NULL, true, done, arg);
}

json_t *ibcc_predictor_tell(struct ibcc_predictor *p, uint64_t pass)
{
	json_t *o = NULL;

	pthread_mutex_lock(&p->lock);
	if (p->told && (!pass || pass == p->told_pass))
		o = json_deep_copy(p->told);
	pthread_mutex_unlock(&p->lock);
	return o ? o : json_pack("{sb ss}", "known", 0, "why", "none was made for this plan");
}
