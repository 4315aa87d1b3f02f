/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the tuner knows of the pairs of source and destination whose packets a root marks. Internal
 * to the tuner.
 */
#ifndef IBCC_TUNER_PAIRS_H
#define IBCC_TUNER_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/estimate.h>
#include <ibcc/settings.h>
#include <ibcc/snapshot.h>
#include <ibcc/topo.h>

#include "text.h"

struct ibcc_tuner;
struct ibcc_tuner_root;

struct ibcc_tuner_pair {
	uint32_t src; /* port */
	uint16_t dlid;
	double logged; /* of its packets, a sample; fades */
	double marks;  /* BECNs that it got from the root, as far as is known */
	double chance; /* their relative variance */
};

/* Passes in a row without a packet in the log: what was counted is not so any more. */
#define IBCC_TUNER_UNLOGGED_MAX 8u

/* What was logged while a root's settings were in force. Its sums fade. */
struct ibcc_tuner_pairs {
	struct ibcc_tuner_pair *pair; /* owned */
	uint32_t n, cap;
	double *becn;         /* by endport; owned */
	double *logged;       /* by endport: sum of its pairs'; owned */
	double samples;       /* sum of the pairs' `logged` */
	double marks;         /* ... and of their `marks` */
	double sent_mbps;     /* sum over passes of what the root sent */
	double passes;        /* how many they count as */
	double capacity_mbps; /* the most that a slow receiver takes; 0: not known */
	uint16_t unlogged;    /* passes in a row without a packet of the root in the log */
};

/* What a root's values were made for. */
struct ibcc_tuner_told {
	bool on;          /* by the pairs that it limits, and not by counters */
	uint8_t nobody;   /* passes in a row in which it limits none */
	uint16_t age;     /* passes since they were last others, told or not */
	uint16_t pause;   /* passes until they may be others again, doubled by each reversal */
	int8_t direction; /* of the last change of what each pair gets: 1 more, -1 less, 0 none */
};

/* tuner_pairs.c: counts what switches logged as marked, for roots whose settings are in force.
 * -ENOMEM.
 */
int ibcc_tuner_count_pairs(struct ibcc_tuner *tn, const struct ibcc_topo *t,
			   const struct ibcc_snapshot *s, const struct ibcc_estimate *e);
void ibcc_tuner_pairs_fini(struct ibcc_tuner_pairs *p);
/* Mean of what a root sent while they were counted. */
double ibcc_tuner_carried_mbps(const struct ibcc_tuner_pairs *p);

/* tuner_level.c: are a root's pairs known so well that those that it limits stand out? Not so well
 * is needed for a root that was told before.
 */
bool ibcc_tuner_pairs_known(const struct ibcc_tuner_root *r);
/* The marks of a pair that the root limits. */
double ibcc_tuner_level(const struct ibcc_tuner_pairs *p);
/* The most marks that a pair may have, as chance goes: in doubt it is taken for limited. */
double ibcc_tuner_most_marks(const struct ibcc_tuner_pair *p);
/* May a pair be limited that gets so many at a level? */
bool ibcc_tuner_at_level(double marks, double level);

/* What the roots are to give the pairs that are limited somewhere. */
struct ibcc_tuner_shares;
/* tuner_share.c: of all roots whose pairs are known. NULL without memory. */
struct ibcc_tuner_shares *ibcc_tuner_shares_find(const struct ibcc_tuner *tn,
						 const struct ibcc_topo *t,
						 const struct ibcc_estimate *e,
						 const struct ibcc_settings *actual);
void ibcc_tuner_shares_free(struct ibcc_tuner_shares *s);
/* How many pairs find their bottleneck in the tuner's root k, and what they get of it in all. */
uint32_t ibcc_tuner_limited_by(const struct ibcc_tuner_shares *s, uint32_t k, double *mbps);
/* The port of the next adapter that sends pairs through root k which are limited somewhere, from
 * *at on (at first 0); IBCC_NONE after the last.
 */
uint32_t ibcc_tuner_next_limited(const struct ibcc_tuner_shares *s, uint32_t k, size_t *at);

/* tuner_tell.c: gives roots whose pairs are known the number of those that they limit, and what
 * these get, with a sentence in say; adapters that send such pairs get their values, those that are
 * not marked lose them. One that limits nobody is given up. -ENOMEM.
 */
int ibcc_tuner_tell(struct ibcc_tuner *tn, const struct ibcc_topo *t, const struct ibcc_estimate *e,
		    const struct ibcc_settings *actual, struct ibcc_text *say);

#endif
