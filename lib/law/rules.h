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
/* Who waits less sends what it has to; feeders that wait less do not wait. */
#define IBCC_FREE_PERMILLE 50u
/* A root's back-off is doubled so many times at most. */
#define IBCC_BACKOFF_MAX 4u

struct ibcc_controller {
	struct ibcc_tuner_params p;
	bool may_learn;
	bool recommends;    /* nothing is written, whatever is decided */
	const bool *within; /* by endport: others get no settings; NULL: any may; borrowed */
	struct ibcc_parameters par;
	uint64_t interval_ns;                 /* of the pass before, 0: none */
	uint16_t since_change;                /* passes */
	uint16_t suspect_wait, suspect_pause; /* passes until settings may be suspected again */
	uint32_t gone_port;  /* root whose settings were removed last, or IBCC_NONE */
	uint32_t gone_since; /* passes */
	uint16_t gone_patience;
};

/* One pass, and what was decided in it. */
struct pass {
	struct ibcc_controller *c;
	const struct ibcc_topo *t;
	const struct ibcc_estimate *pic;
	const struct ibcc_settings *actual;
	struct ibcc_decisions said;
	struct ibcc_decision lost; /* room for one that there was no memory for, */
	bool no_memory;            /* and whether there was one */
};

/* controller.c: forgets all about the fabric. */
void ibcc_controller_reset(struct ibcc_controller *c);
/* One decision. `unset`: what of the last parameters is not on the fabric (see ibcc_overlay_run()).
 * -ENOMEM.
 */
int ibcc_controller_step(struct pass *p, const struct ibcc_target *unset);
/* Do counters look as if settings were not on the fabric any more? Asked once in each pass: doubts
 * that prove wrong come back ever later.
 */
bool ibcc_controller_suspects(const struct pass *p);
/* control.c: what is known of a root that control begins with settings that are on the fabric; what
 * feedback had measured is measured again.
 */
int ibcc_controller_take(struct ibcc_controller *c, const struct ibcc_topo *t,
			 const struct ibcc_control_root *from, const struct ibcc_settings *actual);
int ibcc_controller_save(const struct ibcc_controller *c, const struct ibcc_topo *t,
			 struct ibcc_control *out);
bool ibcc_controller_is_settled(const struct ibcc_controller *c);
/* rules.c, what the steps share. Notes a decision about a root; never NULL. */
struct ibcc_decision *ibcc_rules_say(struct pass *p, enum ibcc_decision_code code,
				     const struct ibcc_root_state *s);
/* Whatever changes, changes for all roots under control: what was seen before says nothing about
 * now. So all are judged anew, after `settle` passes.
 */
void ibcc_rules_judge_anew(struct ibcc_controller *c, uint16_t settle);
/* The root changes: nobody else does so in this pass, and all are judged anew. */
void ibcc_rules_change(struct pass *p, struct ibcc_root_state *s);
/* ... and what feedback made of the values for other numbers is void. */
void ibcc_rules_begin_anew(struct pass *p, struct ibcc_root_state *s);
/* Gives a root the number of adapters that contribute to it, and what its port carries. */
void ibcc_rules_number(struct ibcc_root_state *s, uint32_t n, uint32_t n_heavy, uint32_t full_mbps);
/* Makes an endport one of a root's members if it can be given settings. Returns 1 if it is new. */
uint32_t ibcc_rules_enlist(const struct pass *p, struct ibcc_root_state *s, uint32_t endport);
/* ... all sources of the estimate's root but victims: control is for each queue pair, so who gets
 * no BECNs is never held. Returns how many are new.
 */
uint32_t ibcc_rules_enlist_sources(const struct pass *p, struct ibcc_root_state *s,
				   const struct ibcc_root *now);
/* Lets a root go, and says why; the last one has its index then. */
void ibcc_rules_drop(struct ibcc_controller *c, const struct ibcc_root_state *s,
		     enum ibcc_root_status why);

/* Roots whose settings are wanted, and of them those whose limited pairs are known, that learn, and
 * whose tree is being emptied or whose settings are under way: what is lost then is lost to that.
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

/* Marks of a root in a pass: those that came to the adapters behind it, where anybody counts them.
 * Its sources' BECNs may be from other roots.
 */
static inline uint64_t ibcc_rules_marks(const struct pass *p, const struct ibcc_root *now)
{
	return p->pic->fecn ? now->fecn : now->becn;
}

/* The steps of a pass, in their order: for all roots, or for one whose settings are on the fabric.
 * Watch follows the estimate's roots, and lets those go that are long gone, or whose counters are
 * not believed. -ENOMEM.
 */
void ibcc_rule_watch(struct pass *p);
void ibcc_rule_guard(struct pass *p);
void ibcc_rule_size(struct pass *p, struct ibcc_root_state *s);
void ibcc_rule_drain(struct pass *p, struct ibcc_root_state *s);
void ibcc_rule_trim(struct pass *p, struct ibcc_root_state *s);
int ibcc_rule_admit(struct pass *p);

/* rule_drain.c: empties a root's tree, if needed, or else holds its sources. */
void ibcc_rules_drain_or_hold(const struct pass *p, struct ibcc_root_state *s);
/* rule_guard.c: do most of a root's members hold whatever they send, whomever it is for? */
bool ibcc_rules_hold_all(const struct pass *p, const struct ibcc_root_parameters *r);
/* Takes control of a root back, since it did harm or frees nobody (`in_vain`), and does not try
 * again for a while, twice as long each time.
 */
void ibcc_rules_bar(struct pass *p, struct ibcc_root_state *s, bool in_vain);

/* situation.c: what there is where nothing was decided. `out` has what the roots need now. */
struct ibcc_situation ibcc_situation_find(const struct pass *p, const struct ibcc_target *out);

#endif
