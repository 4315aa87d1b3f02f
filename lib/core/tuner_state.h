/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the tuner remembers between steps. Internal to the tuner. */
#ifndef IBCC_TUNER_STATE_H
#define IBCC_TUNER_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/tuner.h>

#include "text.h"
#include "tuner_law.h"
#include "tuner_pairs.h"

#define IBCC_TUNER_MAX_ROOTS 32u

/* Who sends less than one in so many of what it did is not held, but pauses. */
#define IBCC_TUNER_PAUSE_SHARE 50u

/* A tree stands if more than one port waits for so many contributors. */
#define IBCC_TUNER_STANDS_SHARE 2u

/* Sums since the last change of settings; never kept across one. */
struct ibcc_tuner_window {
	uint32_t n; /* passes */
	uint64_t busy, tree_wait, victim_wait, rate_mbps;
	uint64_t marks;
};

/* Parameters that feedback moves. */
enum ibcc_tuner_knob {
	IBCC_TUNER_END = 1,  /* of the table */
	IBCC_TUNER_LOOP = 2, /* increase * timer */
};

/* What an adapter sends and waits. */
struct ibcc_tuner_load {
	uint32_t mbps;
	uint16_t wait_permille;
	bool known; /* has been read */
};

/* A port that did harm under control: not again before so many passes. */
struct ibcc_tuner_bar {
	uint32_t port;
	uint32_t passes, length; /* left; when it began */
};

/* A port seen as a root. */
struct ibcc_tuner_root {
	uint32_t port;
	enum ibcc_congestion kind;
	bool on;           /* its settings are wanted on the fabric */
	bool in_force;     /* ... and have been there */
	bool lost;         /* ... and were, but are not now */
	bool begun;        /* some of them have */
	uint16_t seen;     /* passes in a row with reason to act, before it is on */
	uint16_t stood;    /* passes in a row with it, whatever else changed, before it is on */
	uint16_t present;  /* passes in a row in the estimate, before it is on */
	uint16_t absent;   /* passes in a row without it */
	uint16_t settle;   /* passes to wait before judging */
	uint16_t patience; /* quiet_passes are multiplied by this: root came back soon after it went
			    */
	uint16_t backoff;  /* passes that feedback has to wait, doubled by each reversal */
	int8_t direction;  /* of the last feedback: 1 stronger, -1 weaker, 0 none */
	uint8_t trial;  /* the parameter made stronger last, to be judged: enum ibcc_tuner_knob */
	uint8_t failed; /* those that did not help: bits of enum ibcc_tuner_knob */
	uint16_t trial_wait;  /* mean wait of victims before the trial */
	bool learned;         /* n comes from BECNs, not from who waits */
	uint32_t n, n_heavy;  /* contributors; see struct ibcc_law_in */
	uint32_t rate_mbps;   /* what they get in all */
	bool counts_pairs;    /* of queue pairs, by the log: n, n_heavy and rate_mbps */
	uint32_t n_adapters;  /* that are limited and send through it: n if that counts adapters */
	uint32_t full_mbps;   /* what the port carries while it is busy, whoever gets it */
	uint8_t probe;        /* passes left at most in which it only marks: see tuner_probe.c */
	uint16_t drain;       /* passes left at most to empty the tree before it is held */
	uint32_t recover;     /* passes that a source needs from the table's end to its beginning */
	uint64_t interval_ns; /* of the passes when it was decided on */
	uint8_t dry;      /* passes in a row, while it is emptied, in which it ran out of packets */
	bool calm;        /* its tree is gone, or it is idle by turns: it marks less */
	uint8_t turning;  /* passes in a row in which it looked otherwise */
	uint8_t relapses; /* times that its tree came back since */
	double busy_permille; /* mean over some ten passes, since it marked more again */
	uint8_t returned;     /* passes in a row in which a slow receiver's tree stands again */
	uint16_t other_kind;  /* passes in a row in which it looked like the other kind */
	uint32_t leader;      /* index of the root whose values its contributors get */
	bool alone;           /* no other root that is on has that leader */
	bool leads_faster;    /* slow, and full links are among those that it leads */
	uint16_t marking_rate;
	uint32_t packet_bytes;
	uint16_t wait_permille; /* PortXmitWait of the port when it was decided on */
	uint8_t threshold;
	uint32_t end_permille, loop_permille;
	uint32_t old_end_permille, old_loop_permille; /* before the trial */
	struct ibcc_tuner_load *before; /* by endport: when it was decided on; owned */
	uint16_t guarded, harmed;       /* passes: see tuner_guard.c */
	uint16_t idle, fast, stands;    /* passes in a row: see tuner_idle.c */
	bool was_marked;                /* since its sources were let go last */
	uint32_t jam_mbps; /* the most that it carried while it waited for its receiver */
	uint64_t idle_mbps, fast_mbps; /* sums over them */
	uint16_t idle_wait;            /* idle passes count so many times less; 0: 1 */
	uint32_t released_from;        /* end_permille before idle passes made it less, or 0 */
	uint32_t released_loop;        /* loop_permille likewise */
	uint16_t last_tree_wait; /* mean of the window before, to see whether the tree drains */
	struct ibcc_tuner_window win;
	struct ibcc_tuner_pairs pairs;
	struct ibcc_tuner_told told;
	double *becn;                     /* by endport: counts that fade; owned */
	bool *member;                     /* by endport: gets this root's settings; owned */
	bool *lacking;                    /* by endport: ought to, but cannot; owned */
	char evidence[IBCC_REASON_BYTES]; /* counters when it was decided on */
};

struct ibcc_tuner {
	struct ibcc_tuner_params p;
	bool may_probe;
	uint32_t n_roots;
	struct ibcc_tuner_root root[IBCC_TUNER_MAX_ROOTS];
	uint16_t since_change; /* passes */
	uint16_t since_event;  /* passes since a root came, went or turned (see tuner.c) */
	uint16_t doubt_wait, doubt_pause; /* passes until settings may be doubted again */
	uint32_t gone_port;               /* root whose settings were removed last, or IBCC_NONE */
	uint32_t gone_since;              /* passes */
	uint16_t gone_patience;
	uint32_t n_endports;           /* of the topology that the state belongs to */
	struct ibcc_settings baseline; /* settings before the first change */
	struct ibcc_tuner_load *load;  /* by endport, now; owned */
	double *expected;              /* by endport: see tuner_sources.c; owned */
	struct ibcc_tuner_bar bar[IBCC_TUNER_MAX_ROOTS];
	bool *touched; /* by endport: baseline to be restored; owned */
};

/* tuner_state.c */

/* State is by endport, so it belongs to one topology: starts anew for another size. -ENOMEM. */
int ibcc_tuner_prepare(struct ibcc_tuner *tn, const struct ibcc_topo *t);
/* Keeps what an endport has now, before it gets settings of ours for the first time. -ENOMEM. */
int ibcc_tuner_touch(struct ibcc_tuner *tn, const struct ibcc_settings *actual, uint32_t i);
/* Does a root that is on have settings for an endport? */
bool ibcc_tuner_wants(const struct ibcc_tuner *tn, const struct ibcc_topo *t, uint32_t i);
/* Lets go of endports that no root needs any more and that have their baseline again. */
void ibcc_tuner_let_go(struct ibcc_tuner *tn, const struct ibcc_topo *t,
		       const struct ibcc_target *laid);
/* Makes an endport one of a root's contributors if it can be given settings. Returns 1 if it is new
 * among them, 0 or -ENOMEM.
 */
int ibcc_tuner_enlist(struct ibcc_tuner *tn, struct ibcc_tuner_root *r,
		      const struct ibcc_settings *actual, uint32_t i);
/* Gives a root the number of adapters that contribute to it, and what its port carries. */
void ibcc_tuner_number(struct ibcc_tuner_root *r, uint32_t n, uint32_t n_heavy, uint32_t full_mbps);
/* The root's numbers are others: what feedback made of the values for the old ones is void. */
void ibcc_tuner_begin_anew(struct ibcc_tuner_root *r);
struct ibcc_tuner_root *ibcc_tuner_find(struct ibcc_tuner *tn, uint32_t port);
/* A new root; NULL if there are too many already or no memory: then the next pass tries again. */
struct ibcc_tuner_root *ibcc_tuner_add(struct ibcc_tuner *tn, uint32_t port);
void ibcc_tuner_drop(struct ibcc_tuner *tn, struct ibcc_tuner_root *r);

/* tuner_target.c: lays the settings of all roots that are on over the actual ones, and the baseline
 * where no root is on any more. *out is initialised by the call but for its summary. -ENOMEM.
 */
int ibcc_tuner_lay(const struct ibcc_tuner *tn, const struct ibcc_topo *t,
		   const struct ibcc_settings *actual, struct ibcc_target *out);

/* Endport of the switch that a root port belongs to. */
static inline uint32_t ibcc_tuner_switch_of(const struct ibcc_topo *t,
					    const struct ibcc_tuner_root *r)
{
	return t->port[t->node[t->port[r->port].node].first_port].endport;
}

/* So often what waits for a root's tree to stay away doubles, each time that it came back. */
#define IBCC_TUNER_RELAPSES_MAX 4u

/* Passes after which a root is no passing effect of changes made elsewhere. */
#define IBCC_TUNER_STOOD 10u

/* Share of the ports on the way to a root that must have been read to act on it. */
#define IBCC_TUNER_CONFIDENT 700u

/* tuner_observe.c: brings the list of roots up to date with an estimate. */
void ibcc_tuner_observe(struct ibcc_tuner *tn, const struct ibcc_topo *t,
			const struct ibcc_estimate *e);
/* Passes in a row in which a root of a kind must be seen before it is acted on. */
uint32_t ibcc_tuner_confirm_passes(const struct ibcc_tuner *tn, const struct ibcc_estimate *e,
				   enum ibcc_congestion kind);
/* May a root that is not confirmed be taken up, for its pairs to show whom it limits? */
bool ibcc_tuner_may_learn(const struct ibcc_tuner *tn, const struct ibcc_tuner_root *r,
			  const struct ibcc_root *now);
/* NULL if the port is no root in it. */
const struct ibcc_root *ibcc_tuner_in_estimate(const struct ibcc_estimate *e, uint32_t port);

static inline uint32_t ibcc_tuner_endport_of(const struct ibcc_topo *t, const struct ibcc_source *s)
{
	return t->port[s->port].endport;
}

/* Share of the time in which a root's port sends, or waits to. */
static inline uint32_t ibcc_tuner_busy_permille(const struct ibcc_root *now)
{
	return (uint32_t)(1000ull * now->rate_mbps / now->link_mbps + now->wait_permille);
}

/* tuner_group.c: roots that share contributors share their values; sets leader and marking_rate. */
void ibcc_tuner_group(struct ibcc_tuner *tn, const struct ibcc_topo *t);

/* Does the tree of another root stand that gives the same adapters the same values? */
bool ibcc_tuner_jammed(const struct ibcc_tuner *tn, const struct ibcc_tuner_root *r,
		       const struct ibcc_estimate *e);

/* A contributor's values for the root `r`. -EINVAL. */
int ibcc_tuner_law(const struct ibcc_tuner_root *r, uint32_t source_mbps, uint32_t cap_entries,
		   struct ibcc_law_out *law);

/* ... and where a table for it ends while its tree is not being emptied. */
uint32_t ibcc_tuner_end_milli(const struct ibcc_tuner_root *r, uint32_t source_mbps);

/* Data rate of the fastest link among a root's contributors. */
uint32_t ibcc_tuner_source_mbps(const struct ibcc_tuner *tn, const struct ibcc_topo *t,
				const struct ibcc_tuner_root *r);

/* Can an adapter be given a table? */
static inline bool ibcc_tuner_usable_ca(const struct ibcc_endport_cc *ep)
{
	return ep->support == IBCC_CC_SUPPORTED && ep->info.ControlTableCap;
}

/* What marks say about a root's contributors. */
struct ibcc_tuner_sources {
	uint32_t n, n_heavy; /* 0 while unknown */
	uint32_t mbps;       /* data rate of the fastest one's link */
	uint64_t marks;      /* of this root in the pass */
	bool jammed;         /* they wait for another root: see ibcc_tuner_jammed() */
	bool rests;          /* no step is due: see ibcc_tuner_rests() */
};

/* tuner_probe.c: is a root being probed? Then no other one is taken up. */
bool ibcc_tuner_probing(const struct ibcc_tuner *tn);
/* When a root is decided on: sets its `probe`. */
void ibcc_tuner_probe_begin(const struct ibcc_tuner *tn, struct ibcc_tuner_root *r,
			    const struct ibcc_settings *actual);
/* One pass for a root that is probed and marks; returns true at the end, with a sentence. */
bool ibcc_tuner_probe(struct ibcc_tuner *tn, struct ibcc_tuner_root *r,
		      const struct ibcc_tuner_sources *s, struct ibcc_text *say);

/* tuner_calm.c: one pass of a root that is held: has its tree gone, or come back? With a sentence.
 * A slow receiver's can be told from sources that are held too much only if it was told whom it
 * limits, and matters only where other roots have its values.
 */
void ibcc_tuner_calm(struct ibcc_tuner_root *r, const struct ibcc_root *now, uint32_t free_permille,
		     struct ibcc_text *say);

/* tuner_drain.c: passes at most for which a root's tree is to be emptied; 0: no need. */
uint16_t ibcc_tuner_drain_passes(const struct ibcc_tuner_root *r, const struct ibcc_snapshot *s,
				 const struct ibcc_root *now);
/* One pass of a tree that is being emptied; now: NULL if it is no root now. True at the end. */
bool ibcc_tuner_drained(const struct ibcc_tuner *tn, struct ibcc_tuner_root *r,
			const struct ibcc_root *now);
/* One pass of a tree that is held: true, with a sentence, if it is to be emptied again. */
bool ibcc_tuner_returned(struct ibcc_tuner_root *r, const struct ibcc_snapshot *s,
			 const struct ibcc_root *now, struct ibcc_text *say);

/* tuner_alike.c: passes to probe a root for: as many as are asked for, or some more where its
 * adapters hold all that they send.
 */
uint8_t ibcc_tuner_alike_probe(const struct ibcc_tuner *tn, const struct ibcc_tuner_root *r,
			       const struct ibcc_settings *actual);
/* Would control of a root free nobody, since all who waited contribute and hold all that they send?
 */
bool ibcc_tuner_frees_nobody(const struct ibcc_tuner *tn, const struct ibcc_tuner_root *r,
			     const struct ibcc_settings *actual);

/* tuner_doubt.c: one of a root's sources gets nearly all marks and goes on: nothing can be judged
 * by that.
 */
bool ibcc_tuner_has_outlier(const struct ibcc_tuner_root *r, const struct ibcc_root *now);
/* Should the settings be read again? */
bool ibcc_tuner_doubt(struct ibcc_tuner *tn, const struct ibcc_estimate *e);
/* BECNs of all sources of a root in a pass. */
uint64_t ibcc_tuner_becns(const struct ibcc_root *now);
/* Marks of a root in a pass: those that came to the adapters behind it, where anybody counts them.
 * Its sources' BECNs may be from other roots.
 */
uint64_t ibcc_tuner_marks(const struct ibcc_estimate *e, const struct ibcc_root *now);

/* tuner_judge.c: one pass of evidence for a root that is on and whose settings are in force;
 * `leads`: its contributors have its values. Returns true if it changed the root's parameters, with
 * a sentence in say.
 */
bool ibcc_tuner_judge(const struct ibcc_tuner_params *p, struct ibcc_tuner_root *r,
		      const struct ibcc_root *now, const struct ibcc_tuner_sources *s, bool leads,
		      struct ibcc_text *say);

/* tuner_guard.c: once in each pass. */
void ibcc_tuner_note_load(struct ibcc_tuner *tn, const struct ibcc_topo *t,
			  const struct ibcc_snapshot *s);
/* When a root is decided on. -ENOMEM. */
int ibcc_tuner_guard_begin(const struct ibcc_tuner *tn, struct ibcc_tuner_root *r);
/* One pass for a root in force: true if control does harm, and the root is to be dropped. */
bool ibcc_tuner_guard(const struct ibcc_tuner *tn, struct ibcc_tuner_root *r, uint32_t rate_mbps);
/* Bars a port from control for a while, and tells whether it is. */
void ibcc_tuner_bar(struct ibcc_tuner *tn, uint32_t port);
bool ibcc_tuner_barred(const struct ibcc_tuner *tn, uint32_t port);

/* Whatever changes, changes for all roots under control: what was seen before says nothing about
 * now. Those that are to be confirmed keep what confirms them.
 */
void ibcc_tuner_changed(struct ibcc_tuner *tn);

/* Once the same roots have been under control for a while, steps of
 * feedback are rare: they win little, and each is a change for the fabric.
 */
bool ibcc_tuner_rests(const struct ibcc_tuner *tn);

/* tuner_release.c: takes control of a root back and bars its port for a while, with a sentence that
 * begins with why. The root is gone then, and the last one has its index.
 */
void ibcc_tuner_give_up(struct ibcc_tuner *tn, const struct ibcc_topo *t, struct ibcc_tuner_root *r,
			const char *why, struct ibcc_text *say);

/* Roots that could carry more than they do, or whose control does harm or no good; see
 * tuner_idle.c, tuner_guard.c and tuner_alike.c.
 */
void ibcc_tuner_release(struct ibcc_tuner *tn, const struct ibcc_topo *t,
			const struct ibcc_snapshot *snap, const struct ibcc_estimate *e,
			const struct ibcc_settings *actual, struct ibcc_text *say);

/* tuner_idle.c: what a root's own port did in a pass. */
struct ibcc_tuner_port {
	uint32_t rate_mbps, link_mbps;
	uint16_t wait_permille;      /* of the port itself */
	uint16_t tree_wait_permille; /* of the ports that feed it; 0 if it is no root now */
	uint64_t marks;              /* that adapters behind it, or its sources, got */
};

enum ibcc_tuner_idle {
	IBCC_TUNER_BUSY,     /* nothing to do */
	IBCC_TUNER_RELEASED, /* the root's parameters were changed */
	IBCC_TUNER_OVER,     /* the root is to be dropped */
};

/* One pass for a root that is on, in force and not being emptied: gives back what its sources are
 * held too much, with a sentence in say.
 */
enum ibcc_tuner_idle ibcc_tuner_idle(const struct ibcc_tuner_params *p, struct ibcc_tuner_root *r,
				     const struct ibcc_tuner_port *now, uint32_t source_mbps,
				     struct ibcc_text *say);
/* Takes that back when sources wait again; next time the root must be idle for twice as long.
 * Returns false if there was nothing to take back.
 */
bool ibcc_tuner_hold_again(struct ibcc_tuner_root *r);

/* tuner_sources.c: once in each pass, for all roots. */
void ibcc_tuner_count_becns(struct ibcc_tuner *tn, const struct ibcc_topo *t,
			    const struct ibcc_estimate *e);
/* Have so many BECNs been counted that they tell who contributes? */
bool ibcc_tuner_known(const struct ibcc_tuner *tn, const struct ibcc_tuner_root *r);
/* Contributors by the counts that fade: adapters with more than 2 % of what the second most
 * marked one has.
 */
uint32_t ibcc_tuner_contributors(const struct ibcc_tuner_root *r, uint32_t n_endports);
/* ... counted by what they send: all BECNs over those of the heaviest, at least 1. */
uint32_t ibcc_tuner_heavy(const struct ibcc_tuner_root *r, uint32_t n_endports);
/* Both for a root that is on, once enough BECNs were counted to tell; without its marks. */
struct ibcc_tuner_sources ibcc_tuner_known_sources(const struct ibcc_tuner *tn,
						   const struct ibcc_topo *t,
						   const struct ibcc_tuner_root *r);

#endif
