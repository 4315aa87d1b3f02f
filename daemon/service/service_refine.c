/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* An apply that an operator asked for is complete only when the roots of its plan hold. Until then
 * each polling cycle may write further steps, in mode observe too. The steps change only the plan's
 * nodes, and belong to its transaction. Then the daemon rests.
 *
 * 	apply -> refining -> settled          all roots hold, nothing is left to write
 * 	             |-----> ended            rolled back, disabled, reloaded, lost, or too long
 *
 * The state file has the transaction and its nodes during refinement, so that a restarted daemon
 * continues.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <ibcc/hash.h>
#include <ibcc/json.h>
#include <ibcc/state.h>

#include "daemon/service/service_impl.h"

/* Limit in polling cycles over all ports: half an hour at the default interval. The largest fabrics
 * that were simulated take a fifth of it.
 */
#define MOST_PASSES 200u

static void end(struct ibcc_service *s, enum ibcc_refine_stage stage, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void end(struct ibcc_service *s, enum ibcc_refine_stage stage, const char *fmt, ...)
{
	struct ibcc_service_refinement *r = &s->refinement;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->text.text, sizeof(r->text.text), fmt, ap);
	va_end(ap);
	r->stage = stage;
	r->is_news = true;
	free(r->nodes);
	r->nodes = NULL;
	/* If the file cannot be written now, the old text stays. That does no harm: another daemon
	 * finds either that the roots hold, or that they are not on the fabric.
	 */
	(void)ibcc_state_end_refining(s->state, false);
}

void ibcc_service_end_refinement(struct ibcc_service *s, const char *why)
{
	if (s->refinement.stage == IBCC_REFINE_UNDER_WAY)
		end(s, IBCC_REFINE_ENDED, "%s", why);
}

/* A plan that only disables settings has no roots. */
static bool has_roots(struct ibcc_service *s)
{
	char *text = ibcc_state_control(s->state);
	json_t *o = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
	bool has = json_array_size(json_object_get(o, "roots")) > 0;

	json_decref(o);
	free(text);
	return has;
}

static void begin(struct ibcc_service *s, int64_t txn, char *nodes)
{
	free(s->refinement.nodes);
	s->refinement = (struct ibcc_service_refinement){
		.stage = IBCC_REFINE_UNDER_WAY,
		.txn = txn,
		.nodes = nodes,
		.has_roots = has_roots(s),
	};
}

void ibcc_service_find_refinement(struct ibcc_service *s)
{
	int64_t txn = 0;
	char *nodes = ibcc_state_refining(s->state, &txn);

	if (nodes)
		begin(s, txn, nodes);
}

int ibcc_service_begin_refinement(struct ibcc_service *s, const struct ibcc_result *res, int rc)
{
	if (rc || !res->set_mads) {
		/* The parts of a failed plan that were made have been reverted. */
		(void)ibcc_state_end_refining(s->state, false);
		return rc;
	}
	ibcc_service_find_refinement(s);
	s->refinement.steps = 1;
	s->refinement.writes = res->n_verified;
	return 0;
}

bool ibcc_service_refines(const struct ibcc_service *s)
{
	const struct ibcc_service_trial *t = &s->trial;

	return s->refinement.stage == IBCC_REFINE_UNDER_WAY && !s->paused && !t->is_over;
}

int ibcc_service_refine_act(struct ibcc_service *s, struct ibcc_act *act, bool **within)
{
	struct ibcc_service_refinement *r = &s->refinement;
	const struct ibcc_topo *t = s->cycle.topo;

	act->refines = true;
	act->action = "apply";
	/* Something else may have been written meanwhile, for example by a repair. */
	act->extends = ibcc_state_newest(s->state) == r->txn ? r->txn : 0;
	if (ibcc_service_writes(s))
		return 0;
	*within = calloc(t->n_endports + 1, sizeof(**within));
	if (!*within)
		return -ENOMEM;
	if (ibcc_cycle_read_nodes(t, r->nodes, *within))
		end(s, IBCC_REFINE_ENDED, "the state file does not say at which nodes");
	act->within = *within;
	return 0;
}

static uint32_t roots_set(const struct ibcc_cycle *c)
{
	const struct ibcc_parameters *p = ibcc_tuner_parameters(c->tuner);
	uint32_t n = 0;

	for (uint32_t k = 0; k < p->n_roots; k++)
		n += ibcc_phase_sets(p->root[k].r.phase);
	return n;
}

/* Counts what differs from the polling cycle before: an error, or codes with their ports. */
static void look_for_news(struct ibcc_service_refinement *r, const struct ibcc_cycle *c)
{
	uint64_t key = ibcc_decisions_key(&c->target.decisions);
	uint64_t part[] = { key, (uint64_t)-c->act_err, c->refused };

	key = ibcc_hash(IBCC_HASH_START, part, sizeof(part));
	r->news += key != r->key;
	r->key = key;
}

void ibcc_service_look_at_refinement(struct ibcc_service *s)
{
	struct ibcc_service_refinement *r = &s->refinement;
	const struct ibcc_cycle *c = &s->cycle;
	const char *said;
	uint32_t roots;
	char *words;

	if (r->stage != IBCC_REFINE_UNDER_WAY)
		return;
	r->passes += !c->fast;
	if (!c->decided) {
		if (r->passes > MOST_PASSES)
			end(s, IBCC_REFINE_ENDED, "no counters could be read for %u polling cycles",
			    r->passes);
		return;
	}
	if (c->acted && c->result.set_mads) {
		r->steps++;
		r->writes += c->result.n_verified;
		r->txn = ibcc_state_newest(s->state);
	}
	look_for_news(r, c);
	roots = roots_set(c);
	words = ibcc_cycle_words(c);
	said = words ? words : "no memory";
	ibcc_why_set(&r->text, 0, "%s", c->act_err ? c->blocked.text : said);
	/* A person has consented to the values of the first step, and to no others. */
	if (c->refused == IBCC_REFUSED_VENDOR && c->options.profiles && c->veto.text[0])
		end(s, IBCC_REFINE_ENDED, "the changes stay, and there is no further step: %s",
		    c->blocked.text);
	else if (!roots && !c->resume.n_roots && !c->plan.n && r->has_roots)
		end(s, IBCC_REFINE_ENDED, "none of its roots is under control any more: %s", said);
	else if (!roots && !c->resume.n_roots && !c->plan.n)
		end(s, IBCC_REFINE_SETTLED, "%s", said);
	else if (roots && ibcc_tuner_is_settled(c->tuner) && !ibcc_cycle_pending(c) &&
		 !s->effect.first)
		end(s, IBCC_REFINE_SETTLED, "%s", said);
	else if (r->passes > MOST_PASSES)
		end(s, IBCC_REFINE_ENDED, "it has not settled in %u polling cycles: %s",
		    MOST_PASSES, said);
	free(words);
}

const char *ibcc_service_refinement_news(struct ibcc_service *s, int64_t *txn, bool *settled)
{
	struct ibcc_service_refinement *r = &s->refinement;

	if (!r->is_news)
		return NULL;
	r->is_news = false;
	*txn = r->txn;
	*settled = r->stage == IBCC_REFINE_SETTLED;
	return r->text.text;
}

static const char *name_of(enum ibcc_refine_stage stage)
{
	switch (stage) {
	case IBCC_REFINE_NONE: break;
	case IBCC_REFINE_UNDER_WAY: return "refining";
	case IBCC_REFINE_SETTLED: return "settled";
	case IBCC_REFINE_ENDED: return "ended";
	}
	return "none";
}

json_t *ibcc_service_refinement(const struct ibcc_service *s)
{
	const struct ibcc_service_refinement *r = &s->refinement;

	if (r->stage == IBCC_REFINE_NONE)
		return json_null();
	return json_pack("{sI ss so si si si sI}", "transaction", (json_int_t)r->txn, "stage",
			 name_of(r->stage), "text", ibcc_json_text(r->text.text), "passes",
			 (int)r->passes, "steps", (int)r->steps, "writes", (int)r->writes, "news",
			 (json_int_t)r->news);
}
