/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the controller is, and what its steps share: begin with controller.c. Only it and the tuner
 * include this.
 */
#ifndef IBCC_LAW_RULES_H
#define IBCC_LAW_RULES_H

#include <ibcc/decision.h>
#include <ibcc/tuner.h>

/* Share of the ports on the way to a root that must have been read to act on it. */
#define IBCC_CONFIDENT_PERMILLE 700u
/* What a port buffers of a VL, about: a switch's, or an adapter's. */
#define IBCC_BUFFER_BYTES 65536u
/* Below this wait, an adapter sends all that it has, and a feeder counts as not waiting. */
#define IBCC_FREE_PERMILLE 50u
/* A root's back-off is doubled at most this many times. */
#define IBCC_BACKOFF_MAX 4u

struct ibcc_tuner {
	struct ibcc_tuner_params p;
	struct ibcc_tuner_limits limits;
	struct ibcc_parameters par;
	/* Intervals, 0: none: between the last two passes over all ports, since the last of these,
	 * and of the last pass over some ports that followed another one.
	 */
	uint64_t whole_ns, since_whole_ns, partial_ns;
	uint16_t since_change;                /* passes */
	uint16_t suspect_wait, suspect_pause; /* passes until settings may be suspected again */
	uint32_t gone_port;  /* root whose settings were removed last, or IBCC_NONE */
	uint32_t gone_since; /* passes */
	uint16_t gone_patience;
};

/* One pass, and what was decided in it. */
struct pass {
	struct ibcc_tuner *c;
	const struct ibcc_topo *t;
	const struct ibcc_estimate *pic;
	const struct ibcc_settings *actual;
	struct ibcc_decisions said;
	struct ibcc_decision lost; /* filled in instead, if memory was short */
	bool no_memory;            /* memory was short for a decision */
};

/* controller.c. One decision. `unset`: what of the last parameters is not on the fabric (see
 * ibcc_overlay_run()). -ENOMEM.
 */
int ibcc_controller_step(struct pass *p, const struct ibcc_target *unset);
/* Do counters look as if settings were not on the fabric any more? Asked once in each pass: doubts
 * that prove wrong come back ever later.
 */
bool ibcc_controller_suspects(const struct pass *p);
/* control.c: what is known of a root that control begins with settings that are on the fabric; what
 * feedback had measured is measured again.
 */
int ibcc_controller_take(struct ibcc_tuner *c, const struct ibcc_topo *t,
			 const struct ibcc_control_root *from, const struct ibcc_settings *actual);
/* rules.c, what the steps share. Notes a decision about a root; never NULL. */
struct ibcc_decision *ibcc_rules_say(struct pass *p, enum ibcc_decision_code code,
				     const struct ibcc_root_state *s);
/* Each change affects all roots under control: earlier measurements say nothing about the new
 * state. So all roots are judged by new measurements, which begin after `settle` passes.
 */
void ibcc_rules_restart_judging(struct ibcc_tuner *c, uint16_t settle);
/* Marks the root as changed: no other rule changes it in this pass, and the judgement of all roots
 * starts again.
 */
void ibcc_rules_change(struct pass *p, struct ibcc_root_state *s);
/* As ibcc_rules_change(), and also discards what feedback made of the values for the old numbers.
 */
void ibcc_rules_discard_feedback(struct pass *p, struct ibcc_root_state *s);
/* Does the root's switch get marking profiles of NVIDIA's control, in place of the annex's
 * settings?
 */
bool ibcc_rules_by_profile(const struct pass *p, const struct ibcc_root_state *s);
/* Returns what the adapters behind a root send in all, in Mb/s, to any destination. */
uint64_t ibcc_rules_sent(const struct pass *p, const struct ibcc_root_state *s);
/* Gives a root the number of adapters that contribute to it, and what its port carries. */
void ibcc_rules_number(struct ibcc_root_state *s, uint32_t n, uint32_t n_heavy, uint32_t full_mbps);
/* Makes an endport one of a root's members if it can be given settings. Returns 1 if it is new. */
uint32_t ibcc_rules_enlist(const struct pass *p, struct ibcc_root_state *s, uint32_t endport);
/* Enlists all sources of the estimate's root but victims: control works on each queue pair, so a
 * source without BECNs is never throttled. Returns how many are new.
 */
uint32_t ibcc_rules_enlist_sources(const struct pass *p, struct ibcc_root_state *s,
				   const struct ibcc_root *now);
/* Lets a root go, and says why; the last one has its index then. */
void ibcc_rules_drop(struct ibcc_tuner *c, const struct ibcc_root_state *s,
		     enum ibcc_root_status why);

/* Numbers of roots. on: settings are wanted. Of these, limiting: the limited pairs are known;
 * learning: in phase LEARN; in_between: the tree is being emptied, or settings are under way. While
 * a root is in between, any loss is due to that.
 */
struct tally {
	uint32_t on, limiting, learning, in_between;
};
struct tally ibcc_rules_tally(const struct pass *p);

/* Do the sources of its group have its values? */
static inline bool ibcc_rules_leads(const struct pass *p, const struct ibcc_root_state *s)
{
	return &p->c->par.root[s->r.leader] == s;
}

/* Share of the time in which a root's port sends, or waits to. */
static inline uint32_t ibcc_rules_busy(const struct ibcc_root *now)
{
	return (uint32_t)(1000ull * now->rate_mbps / now->link_mbps + now->wait_permille);
}

/* Marks of a root in a pass: those that came to the adapters behind it, if any adapter counts them.
 * Its sources' BECNs may be from other roots.
 */
static inline uint64_t ibcc_rules_marks(const struct pass *p, const struct ibcc_root *now)
{
	return p->pic->fecn ? now->fecn : now->becn;
}

/* The steps of a pass, in their order: for all roots, or for one with its settings on the fabric.
 * Watch follows the estimate's roots. It drops roots that are long gone, or with counters that are
 * not believed. -ENOMEM.
 */
void ibcc_rule_watch(struct pass *p);
void ibcc_rule_guard(struct pass *p);
void ibcc_rule_size(struct pass *p, struct ibcc_root_state *s);
void ibcc_rule_drain(struct pass *p, struct ibcc_root_state *s);
void ibcc_rule_feedback(struct pass *p, struct ibcc_root_state *s);
int ibcc_rule_admit(struct pass *p);

/* rule_drain.c: empties a root's tree, if needed, or else holds its sources. */
void ibcc_rules_drain_or_hold(const struct pass *p, struct ibcc_root_state *s);
/* rule_guard.c: do most of a root's members throttle all that they send, to any destination? */
bool ibcc_rules_hold_all(const struct pass *p, const struct ibcc_root_parameters *r);
/* Ends control of a root because it did harm or frees no sender (`in_vain`). The root is not tried
 * again for a while, twice as long each time.
 */
void ibcc_rules_bar(struct pass *p, struct ibcc_root_state *s, bool in_vain);

/* situation.c: what there is where nothing was decided. `out` has what the roots need now. */
struct ibcc_situation ibcc_situation_find(const struct pass *p, const struct ibcc_target *out);

#endif
