/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which ports have counters that are believed. The counters of a broken or malicious node are
 * wrong, and a decision by them costs other nodes their rate. Two checks reveal wrong counters.
 * First, some values are impossible: a port that sends and waits for longer than the interval, or
 * more marked packets than packets. Second, the other end of the cable counts the same packets.
 */
#ifndef IBCC_TRUST_H
#define IBCC_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ibcc/topo.h>

struct ibcc_snapshot;

/* A port is doubted after this many wrong comparisons in a row, all in one direction. It is
 * believed again once the ends of its link agree. It is also believed after this many intervals in
 * a row in which its own counters are possible. If it was quiet in those, one impossible interval
 * is enough to doubt it again. A comparison counts as neither right nor wrong if too little was
 * sent or an answer was lost.
 */
#define IBCC_TRUST_RUN 4u

/* Why a port's counters are not believed. */
enum ibcc_doubt {
	IBCC_DOUBT_NONE,
	IBCC_DOUBT_RATE,  /* both ends count more than their link's rate: that is wrong */
	IBCC_DOUBT_TIME,  /* it sends and waits, or receives, for longer than there was time */
	IBCC_DOUBT_MARKS, /* more marks than packets */
	IBCC_DOUBT_NODE,  /* several neighbours contradict the node, on most links compared */
	IBCC_DOUBT_LINK,  /* the other end received something else; which is wrong is not known */
	IBCC_DOUBT_LOG,   /* of a switch's port 0: its CongestionLog is contradicted */
};

/* What a comparison came to, over passes. */
struct ibcc_finding {
	uint8_t run;   /* wrong ones in a row, up to IBCC_TRUST_RUN */
	uint8_t clean; /* right intervals in a row */
	bool more;     /* of the run: the first of the two counts is the larger one */
	bool stands;
};

/* What a counter has counted since a reading; from_ns 0: nothing to go by. */
struct ibcc_tally {
	uint64_t from_ns, sum;
};

/* By how much marks exceed packets. */
struct ibcc_mark_excess {
	double marks, packets; /* since the last comparison; marks: beyond what there may be */
	struct ibcc_finding finding;
};

/* Of a port, kept by the snapshot; begins as zero. */
struct ibcc_trust {
	enum ibcc_doubt doubt; /* as of the last pass */
	bool compared;         /* what it sends has been compared with the other end */
	bool blamed;           /* of a node's first port, within ibcc_trust_judge() */
	struct ibcc_finding time;
	struct ibcc_finding log; /* of a switch's port 0 */
	bool beyond_rate;        /* in its last wrong interval both ends exceeded the link's rate */
	struct ibcc_mark_excess fecn, becn;
	struct ibcc_finding link[2]; /* what it sends, against the other end: data, packets */
	struct ibcc_tally tally[4];  /* by enum ibcc_ctr: XMIT_DATA to RCV_PKTS */
};

/* Looks at the readings of a pass, and brings each port's trust up to date. To be called once after
 * each pass. The ends of a link are read at different times, so what they counted is summed over as
 * many passes as it takes for that not to matter: data and packets may differ by what the link can
 * carry in the time between the readings, by what is on its way (256 KiB), and by a quarter.
 * Cleared counters, or such as have reached their end, restart the sum; counters that a port
 * lacks are not compared.
 */
void ibcc_trust_judge(const struct ibcc_topo *t, struct ibcc_snapshot *s);

/* Reports the result of comparing a switch's CongestionLog with the adapters' counters. The log is
 * doubted after IBCC_TRUST_RUN contradictions in a row. It is believed again after as many passes
 * in which it agrees, or in which it has no entries.
 */
void ibcc_trust_log(struct ibcc_trust *r, bool contradicted);

/* Why, for a sentence that begins with the port; "" for IBCC_DOUBT_NONE. */
const char *ibcc_trust_reason(enum ibcc_doubt doubt);

/* A sentence that names the first ports that are not believed, with the reasons, and says how many
 * more there are; empty if all are. Returns the length as snprintf() does.
 */
int ibcc_trust_say(const struct ibcc_topo *t, const struct ibcc_snapshot *s, char *buf, size_t len);

#endif
