/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Advice on DCQCN (ibcc/advise.h) as JSON, and whether to turn it on in a sentence. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include <ibcc/settings_json.h>

#include "daemon/report/report.h"

static const char *code_of(enum ibcc_advise_verdict v)
{
	switch (v) {
	case IBCC_ADVISE_ON: return "turn-on";
	case IBCC_ADVISE_OFF_NO_CONGESTION: return "no-congestion";
	case IBCC_ADVISE_OFF_NO_PROFILE: return "no-profile";
	case IBCC_ADVISE_OFF_NOT_TRIED: return "not-tried";
	case IBCC_ADVISE_OFF_COSTS: return "costs";
	case IBCC_ADVISE_OFF_NOTHING: return "brings-little";
	case IBCC_ADVISE_OFF_QUIET: return "quiet-traffic";
	}
	return "";
}

/* What remains to be done where marks do not help. */
#define INSTEAD                                                                                    \
	"; let fewer hosts send to the root at a time (\"ibcc-tune status\" names it)"             \
	", or ask again when other jobs run"

/* What helps where nothing can be predicted. */
static const char *next_step(enum ibcc_prediction_why why)
{
	switch (why) {
	case IBCC_PREDICTION_ADAPTIVE: return "this lasts while adaptive routing is on";
	case IBCC_PREDICTION_LARGE: return "asking again does not help on this fabric";
	case IBCC_PREDICTION_NO_BASELINE:
	case IBCC_PREDICTION_OLD_BASELINE:
		return "let the daemon watch the fabric for a time without congestion, and ask "
		       "again when there is some";
	case IBCC_PREDICTION_CPU: return "raise predict_cpu_s and ask again";
	case IBCC_PREDICTION_TELLS:
	case IBCC_PREDICTION_NO_CONGESTION:
	case IBCC_PREDICTION_NO_PLAN:
	case IBCC_PREDICTION_CONTROLLED:
	case IBCC_PREDICTION_MOVED:
	case IBCC_PREDICTION_REPLAY:
	case IBCC_PREDICTION_ELSEWHERE:
	case IBCC_PREDICTION_STALE:
	case IBCC_PREDICTION_VLS:
	case IBCC_PREDICTION_NO_CC:
	case IBCC_PREDICTION_OPEN:
	case IBCC_PREDICTION_SLOW:
	case IBCC_PREDICTION_FAILED: return "ask again later";
	}
	return "";
}

static const char *no_profile(int rc)
{
	if (rc == -ENOSPC)
		return "leave it off, because the buffer of a port and VL holds too few packets "
		       "for a marking profile" INSTEAD;
	if (rc == -ERANGE)
		return "leave it off, because more hosts send to one place than marks on all "
		       "packets "
		       "would hold back; let fewer hosts send there at a time";
	return "leave it off, because the adapters have parameters with which no share of marks "
	       "keeps senders at fair rates: one of rpg_ai_rate, rpg_time_reset, rpg_min_rate, "
	       "dce_tcp_rtt and rate_reduce_monitor_period is 0 or out of range; give them the "
	       "factory values first";
}

static void say(const struct ibcc_advise *a, char *text, size_t len)
{
	switch (a->verdict) {
	case IBCC_ADVISE_ON:
		snprintf(text, len, "turn it on with this profile, and measure what it brings");
		return;
	case IBCC_ADVISE_OFF_NO_CONGESTION:
		snprintf(text, len,
			 "leave it off, because there is no congestion now; ask again when "
			 "there is");
		return;
	case IBCC_ADVISE_OFF_NO_PROFILE:
		snprintf(text, len, "%s", no_profile(a->profile_rc));
		return;
	case IBCC_ADVISE_OFF_NOT_TRIED:
		if (a->p.known)
			snprintf(text, len,
				 "leave it off, because there was not enough CPU time to try "
				 "the profile on all-to-all traffic; raise predict_cpu_s");
		else if (a->p.why == IBCC_PREDICTION_CONTROLLED)
			snprintf(text, len,
				 "it is on already, so counters do not show what hosts would "
				 "send without it; compare this profile with that of "
				 "\"ibcc-tune show\"");
		else
			snprintf(text, len,
				 "leave it off, because its effect cannot be predicted: %s; %s",
				 ibcc_prediction_reason(a->p.why), next_step(a->p.why));
		return;
	case IBCC_ADVISE_OFF_COSTS:
		snprintf(text, len,
			 "leave it off, because it costs throughput in a simulation of the "
			 "present traffic" INSTEAD);
		return;
	case IBCC_ADVISE_OFF_NOTHING:
		snprintf(text, len,
			 "leave it off, because it brings less than %.0f %% in a simulation of "
			 "the present traffic" INSTEAD,
			 100 * IBCC_ADVISE_LEAST_GAIN);
		return;
	case IBCC_ADVISE_OFF_QUIET:
		snprintf(text, len,
			 "leave it off, because traffic without congestion loses more than "
			 "%.0f %% in a simulation" INSTEAD,
			 100 * IBCC_ADVISE_MAY_LOSE);
		return;
	}
}

static json_t *profile(const struct ibcc_advise *a)
{
	const struct ibcc_advice *p = &a->profile;

	if (a->profile_rc || a->verdict == IBCC_ADVISE_OFF_NO_CONGESTION)
		return json_null();
	return json_pack("{ss sI sI si sf sf sI sI}", "mode", "fixed", "min_bytes",
			 (json_int_t)p->min_bytes, "max_bytes", (json_int_t)p->max_bytes, "percent",
			 (int)p->percent, "mark_share", p->mark_share, "swing", IBCC_ADVICE_SWING,
			 "queue_bytes", (json_int_t)llround(p->queue_bytes), "credit_bytes",
			 (json_int_t)llround(p->credit_bytes));
}

static json_t *root(const struct ibcc_topo *t, const struct ibcc_advise *a)
{
	json_t *o;

	if (a->profile_rc || a->verdict == IBCC_ADVISE_OFF_NO_CONGESTION)
		return json_null();
	o = ibcc_json_port(t, a->root_port);
	json_object_update_new(o,
			       json_pack("{sI si si}", "mbps", (json_int_t)llround(a->root.mbps),
					 "senders", (int)a->root.n, "feeds", (int)a->root.feeds));
	return o;
}

/* Where a value was read, or false. */
static json_t *place(const struct ibcc_topo *t, uint32_t port)
{
	return port == IBCC_NONE ? json_null() : ibcc_json_port(t, port);
}

static json_t *adapters(const struct ibcc_topo *t, const struct ibcc_dcqcn_rp *p, uint32_t port)
{
	return json_pack(
		"{so sb sb sI sI sI sI sI sI sI sI sI sI sI sI sI sI}", "read_from", place(t, port),
		"clamp_tgt_rate", (int)p->clamp_tgt_rate, "clamp_tgt_rate_after_time_inc",
		(int)p->clamp_tgt_rate_after_time_inc, "rpg_time_reset",
		(json_int_t)p->rpg_time_reset_us, "rpg_byte_reset",
		(json_int_t)p->rpg_byte_reset_bytes, "rpg_threshold", (json_int_t)p->rpg_threshold,
		"rpg_max_rate", (json_int_t)p->rpg_max_rate_mbps, "rpg_ai_rate",
		(json_int_t)p->rpg_ai_rate_mbps, "rpg_hai_rate", (json_int_t)p->rpg_hai_rate_mbps,
		"rpg_gd", (json_int_t)p->rpg_gd, "rpg_min_dec_fac", (json_int_t)p->rpg_min_dec_fac,
		"rpg_min_rate", (json_int_t)p->rpg_min_rate_mbps, "rate_to_set_on_first_cnp",
		(json_int_t)p->rate_to_set_on_first_cnp_mbps, "dce_tcp_g", (json_int_t)p->dce_tcp_g,
		"dce_tcp_rtt", (json_int_t)p->dce_tcp_rtt_us, "rate_reduce_monitor_period",
		(json_int_t)p->rate_reduce_monitor_period_us, "initial_alpha_value",
		(json_int_t)p->initial_alpha_value);
}

json_t *ibcc_report_advice(const struct ibcc_topo *t, const struct ibcc_advise_in *in,
			   const struct ibcc_advise *a, uint32_t rp_port, uint32_t buffer_port)
{
	bool tried = a->verdict != IBCC_ADVISE_OFF_NO_CONGESTION &&
		     a->verdict != IBCC_ADVISE_OFF_NO_PROFILE;
	char text[512];

	say(a, text, sizeof(text));
	return json_pack(
		"{sb ss ss so so so s{so sI} si so so so}", "on", a->verdict == IBCC_ADVISE_ON,
		"code", code_of(a->verdict), "text", text, "profile", profile(a), "root",
		root(t, a), "adapters", adapters(t, in->rp, rp_port), "buffer", "read_from",
		place(t, buffer_port), "bytes", (json_int_t)in->p.buffer_bytes, "packet_bytes",
		(int)in->p.packet_bytes, "prediction",
		tried ? ibcc_report_prediction(t, &in->p, &a->p) : json_null(), "worst",
		a->p.known
			? json_pack("{sI sI}", "total_permille",
				    (json_int_t)llround(1000 * a->worst_total), "victims_permille",
				    (json_int_t)llround(1000 * a->worst_victims))
			: json_null(),
		"quiet_permille",
		isnan(a->quiet) ? json_null() : json_integer((json_int_t)llround(1000 * a->quiet)));
}
