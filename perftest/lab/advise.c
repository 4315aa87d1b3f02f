/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/lab/advise.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include <ibcc/measure.h>

#include "perftest/bench/live.h"
#include "perftest/bench/statics.h"
#include "perftest/bench/watch.h"
#include "perftest/bench/words.h"
#include "perftest/lab/draw.h"
#include "perftest/lab/predict.h"

#define MS      IBCC_PS_PER_MS
#define LOOK_MS 20u
/* Hotspots begin at 7 to 11 ms. */
#define RUN_MS          32u
#define MEASURE_MS      16u
#define LIVE_RUN_MS     96u
#define LIVE_MEASURE_MS 48u
#define KB              1000u
#define UNIT_MBPS       25000u /* Alibaba's thresholds and increases are for each so much */

static uint32_t fastest_mbps(const struct ibcc_topo *t)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < t->n_ports; i++)
		if (!ibcc_topo_is_switch(t, t->port[i].node) && t->port[i].rate_mbps > most)
			most = t->port[i].rate_mbps;
	return most;
}

/* Takes a result over, unless that of the same profile is better already. */
static void take(const struct ibcc_scenario *s, struct ibcc_measure *m, enum ibcc_advise_profile as,
		 struct ibcc_advise_case *out)
{
	double share = ibcc_draw_share(m);

	if (!(share <= out->share[as])) {
		out->share[as] = share;
		out->total_mbps[as] = out->victims_mbps[as] = 0;
		for (uint32_t i = 0; i < m->n_flows; i++) {
			out->total_mbps[as] += m->flow[i].throughput_mbps;
			if (s->flow[i].kind != IBCC_FLOW_HOT)
				out->victims_mbps[as] += m->flow[i].throughput_mbps;
		}
	}
	ibcc_measure_fini(m);
}

/* Runs the scenario under a profile; the result takes the place of a worse one. */
static int run(struct ibcc_scenario *s, const struct ibcc_dcqcn_profile *p,
	       enum ibcc_advise_profile as, struct ibcc_advise_case *out)
{
	struct ibcc_measure m;
	int rc;

	s->model.dcqcn.enabled = p->percent > 0;
	s->model.dcqcn.source_only = out->source_only;
	s->model.dcqcn.profile[0] = *p;
	rc = ibcc_measure_run(s, 0, &m, NULL);
	if (!rc)
		take(s, &m, as, out);
	return rc;
}

static uint32_t units_of(const struct ibcc_scenario *s)
{
	return (fastest_mbps(s->topo) + UNIT_MBPS - 1) / UNIT_MBPS;
}

static struct ibcc_dcqcn_profile alibaba(uint32_t units)
{
	return (struct ibcc_dcqcn_profile){ .min = 100 * KB * units,
					    .max = 400 * KB * units,
					    .percent = 20 };
}

/* Alibaba raises the increases of adapters, too. */
static int run_alibaba(struct ibcc_scenario *s, struct ibcc_advise_case *out)
{
	struct ibcc_dcqcn_rp factory = s->model.dcqcn.rp;
	uint32_t units = units_of(s);
	const struct ibcc_dcqcn_profile p = alibaba(units);
	int rc;

	s->model.dcqcn.rp.rpg_ai_rate_mbps = 5 * units;
	s->model.dcqcn.rp.rpg_hai_rate_mbps = 50 * units;
	rc = run(s, &p, IBCC_ADVISE_ALIBABA, out);
	s->model.dcqcn.rp = factory;
	return rc;
}

/* Any profile that was tried can be the best one, off included. */
static int search(struct ibcc_scenario *s, struct ibcc_advise_case *out)
{
	int rc = 0;

	for (uint32_t i = 0; i < IBCC_STATICS && !rc; i++) {
		struct ibcc_dcqcn_profile p = ibcc_statics_profile(i, s->model.buffer_bytes);

		rc = run(s, &p, IBCC_ADVISE_BEST, out);
	}
	for (int i = 0; i < IBCC_ADVISE_BEST; i++) {
		if (!(out->share[i] > out->share[IBCC_ADVISE_BEST]))
			continue;
		out->share[IBCC_ADVISE_BEST] = out->share[i];
		out->total_mbps[IBCC_ADVISE_BEST] = out->total_mbps[i];
		out->victims_mbps[IBCC_ADVISE_BEST] = out->victims_mbps[i];
	}
	return rc;
}

/* Factory values at adapters, and how long it runs: a law takes its time. */
static int prepare(struct ibcc_scenario *s, uint64_t seed, bool live)
{
	ibcc_dcqcn_rp_defaults(&s->model.dcqcn.rp);
	memset(s->model.dcqcn.sl2profile, 1, sizeof(s->model.dcqcn.sl2profile));
	s->duration_ps = (live ? LIVE_RUN_MS : RUN_MS) * MS;
	s->measure_from_ps = (live ? LIVE_MEASURE_MS : MEASURE_MS) * MS;
	return ibcc_predict_vary(s, seed & 2 ? IBCC_PREDICT_V2 : IBCC_PREDICT_V1);
}

/* The daemon begins with thresholds at which nothing is marked, and factory values at adapters. */
static int run_live(const struct ibcc_scenario *off, uint64_t seed, struct ibcc_advise_case *out,
		    struct ibcc_yaml_errors *e)
{
	struct ibcc_words set = { 0 };
	struct ibcc_live_options o;
	struct ibcc_live_result live = { 0 };
	struct ibcc_scenario s;
	struct ibcc_measure m;
	int rc = ibcc_words_add(&set, "devices={hosts: {profile: connectx-7, nvidia_cc: on}, "
				      "switches: {profile: quantum2, nvidia_cc: on}}");

	if (!rc)
		rc = ibcc_draw_load_hdr(seed, &set, &s, e);
	ibcc_words_fini(&set);
	if (rc)
		return rc;
	rc = prepare(&s, seed, true);
	s.model.dcqcn.enabled = true;
	s.model.dcqcn.source_only = out->source_only;
	s.model.dcqcn.profile[0] = alibaba(units_of(off));
	ibcc_live_defaults(&o);
	if (!rc)
		rc = ibcc_live_run(&s, &o, 0, &m, &live);
	if (!rc)
		take(&s, &m, IBCC_ADVISE_LIVE, out);
	ibcc_live_result_fini(&live);
	ibcc_scenario_fini(&s);
	return rc;
}

static int run_all(struct ibcc_scenario *s, bool wide, struct ibcc_advise_case *out)
{
	const struct ibcc_advice *a = &out->a.profile;
	int rc = run(s, &(struct ibcc_dcqcn_profile){ .percent = 0 }, IBCC_ADVISE_OFF, out);

	if (!rc && out->congested && !out->a.profile_rc)
		rc = run(s,
			 &(struct ibcc_dcqcn_profile){ .min = a->min_bytes,
						       .max = a->max_bytes,
						       .percent = (uint8_t)a->percent },
			 IBCC_ADVISE_FORMULA, out);
	if (rc || !wide)
		return rc;
	rc = run(s,
		 &(struct ibcc_dcqcn_profile){ .min = 150 * KB, .max = 1500 * KB, .percent = 100 },
		 IBCC_ADVISE_ROCE, out);
	if (!rc)
		rc = run_alibaba(s, out);
	return rc ? rc : search(s, out);
}

int ibcc_advise_draw(uint64_t seed, bool wide, bool live, struct ibcc_advise_case *out,
		     struct ibcc_yaml_errors *e)
{
	struct ibcc_scenario s;
	int rc = ibcc_draw_load_hdr(seed, NULL, &s, e);

	*out = (struct ibcc_advise_case){ .source_only = seed & 1 };
	for (int i = 0; i < IBCC_N_ADVISE; i++)
		out->share[i] = out->total_mbps[i] = out->victims_mbps[i] = NAN;
	if (rc)
		return rc;
	out->buffer_bytes = s.model.buffer_bytes;
	rc = prepare(&s, seed, live);
	if (!rc)
		rc = ibcc_watch_advise(&s, LOOK_MS, &out->congested, &out->a);
	if (!rc)
		rc = run_all(&s, wide, out);
	if (!rc && live)
		rc = run_live(&s, seed, out, e);
	ibcc_scenario_fini(&s);
	return rc;
}
