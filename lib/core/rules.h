/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the controller is, and what its steps share: begin with controller.c. Only it and the tuner
 * include this.
 */
#ifndef IBCC_CORE_RULES_H
#define IBCC_CORE_RULES_H

#include <ibcc/tuner.h>

/* Share of the ports on the way to a root that must have been read to act on it. */
#define IBCC_CONFIDENT_PERMILLE 700u
/* What a port buffers of a VL, about: a switch's, or an adapter's. */
#define IBCC_BUFFER_BYTES 65536u
/* Who waits less sends what it has to; feeders that wait less do not wait. */
#define IBCC_FREE_PERMILLE 50u
/* A root's back-off is doubled so many times at most. */
#define IBCC_BACKOFF_MAX 4u
/* Decisions of a pass that its summary has in words; it counts the others. */
#define IBCC_DECISIONS_MAX 8u

enum ibcc_decision_code {
	IBCC_DECISION_ADMIT,       /* values by the formulas */
	IBCC_DECISION_LEARN,       /* marks alone, to learn who contributes */
	IBCC_DECISION_NO_SUPPORT,  /* the root's switch has no congestion control */
	IBCC_DECISION_LEARNT,      /* its n contributors get values */
	IBCC_DECISION_MORE,        /* n contribute, more than were seen to wait */
	IBCC_DECISION_DRAINED,     /* the tree is empty */
	IBCC_DECISION_DRAIN_AGAIN, /* a: permille that its sources wait */
	IBCC_DECISION_TREE_GONE,   /* the tree is gone: fewer marks */
	IBCC_DECISION_TREE_BACK,   /* it is back: more marks */
	IBCC_DECISION_TURNED,      /* it is of the other kind now */
	IBCC_DECISION_NUMBERS,     /* BECNs: a contributors, b as equal ones, c Mb/s carried */
	IBCC_DECISION_PAIRS,       /* log: a pairs, b Mb/s in all */
	IBCC_DECISION_NEARER,      /* a: permille that the hot port is busy */
	IBCC_DECISION_FARTHER,     /* likewise: what NEARER gave is taken back */
	IBCC_DECISION_ENLIST,      /* a: adapters more */
	IBCC_DECISION_HARM,        /* barred: adapters send less */
	IBCC_DECISION_IN_VAIN,     /* barred: nobody would be freed */
	IBCC_DECISION_DOUBTED,     /* let go: its port's counters are not believed any more */
};

struct ibcc_decision {
	enum ibcc_decision_code code;
	/* As it was when this was noted: NUMBERS and PAIRS find the old ones there. Its arrays are
	 * not there.
	 */
	struct ibcc_root_parameters root;
	uint32_t a, b, c;
};

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
	const struct ibcc_picture *pic;
	const struct ibcc_settings *actual;
	struct ibcc_decision said[IBCC_DECISIONS_MAX + 1]; /* the last one is any that is more */
	uint32_t n_said;
};

/* controller.c: forgets all about the fabric. */
void ibcc_controller_reset(struct ibcc_controller *c);
/* One decision. `unset`: what of the last parameters is not on the fabric (see ibcc_laying_run()).
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
/* Notes a decision about a root, for words. */
struct ibcc_decision *ibcc_rules_say(struct pass *p, enum ibcc_decision_code code,
				     const struct ibcc_root_state *s);
/* The root changes: nobody else does so in this pass, and all are judged anew. */
void ibcc_rules_change(struct pass *p, struct ibcc_root_state *s);
/* ... and what feedback made of the values for other numbers is void. */
void ibcc_rules_begin_anew(struct pass *p, struct ibcc_root_state *s);
/* Gives a root the number of adapters that contribute to it, and what its port carries. */
void ibcc_rules_number(struct ibcc_root_state *s, uint32_t n, uint32_t n_heavy, uint32_t full_mbps);
/* Makes an endport one of a root's members if it can be given settings. Returns 1 if it is new. */
uint32_t ibcc_rules_enlist(const struct pass *p, struct ibcc_root_state *s, uint32_t endport);
/* ... all sources of the picture's root but victims: control is for each queue pair, so who gets no
 * BECNs is never held. Returns how many are new.
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
 * Watch follows the picture's roots, and lets those go that are long gone, or whose counters are
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

/* words.c: writes out->summary: what was decided, or what there is. -ENOMEM. */
int ibcc_words_summary(const struct pass *p, struct ibcc_target *out);

#endif
