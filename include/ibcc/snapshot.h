/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What one pass over all port counters saw. */
#ifndef IBCC_SNAPSHOT_H
#define IBCC_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/counters.h>
#include <ibcc/link_errors.h>
#include <ibcc/topo.h>
#include <ibcc/trust.h>

enum ibcc_sample_state {
	IBCC_SAMPLE_NONE,  /* port down or never read */
	IBCC_SAMPLE_FIRST, /* read once: no difference yet */
	IBCC_SAMPLE_FRESH, /* read in this pass, delta valid */
	IBCC_SAMPLE_KEPT,  /* left out of this pass; reading and delta are of an earlier one */
	IBCC_SAMPLE_STALE, /* not answered in this pass; now is an older reading */
	IBCC_SAMPLE_UNREACHABLE, /* never answered, see err */
};

/* Whether a switch's port has marked packets since the pass before, by its CongestionLog. */
enum ibcc_marked {
	IBCC_MARKED_UNKNOWN, /* it was not asked, or is not to be believed */
	IBCC_MARKED_NONE,
	IBCC_MARKED_SOME,
};

struct ibcc_port_sample {
	enum ibcc_sample_state state;
	int err;          /* why it is stale or unreachable: negative errno */
	uint64_t tick_ps; /* length of PortXmitWait's tick; 0: not known, it is not believed */
	struct ibcc_counters now;
	uint64_t read_ns; /* when that was so: before now.t_ns at a port that was held */
	bool left_out;    /* of this pass: it is not read, whatever its state */
	/* How long it has been left out: with this pass, or until the pass before one that reads
	 * it.
	 */
	uint64_t kept_ns;
	struct ibcc_delta delta;
	struct ibcc_link_errors errors; /* read more seldom than `now` */
	struct ibcc_trust trust;        /* by ibcc_trust_judge() */
	enum ibcc_marked marked;
};

/* A packet that a switch marked (FECN), by its CongestionLog. */
struct ibcc_mark {
	uint32_t node;       /* the switch's index */
	uint16_t slid, dlid; /* as logged: not 0, but it may be that no port has them */
	uint8_t sl;
};

/* Samples by the topology's fabric-wide port index. */
struct ibcc_snapshot {
	uint64_t pass;                            /* number of the pass, from 1 */
	uint64_t t_ns;                            /* when the pass ended */
	uint64_t interval_ns;                     /* since the pass before, 0 for the first */
	uint32_t n_fresh, n_stale, n_unreachable; /* n_fresh: with a delta, also a kept one */
	uint32_t n_doubted;                       /* ports that are not believed */
	uint32_t n_ports;
	struct ibcc_port_sample *port;
	/* Logged since the pass before, of the switches that were asked: the newest, at most
	 * IBCC_CC_LOG_SWITCH_ENTRIES of each.
	 */
	uint32_t n_marks, cap_marks;
	struct ibcc_mark *mark; /* owned */
};

/* Sizes a snapshot for a topology, all samples empty. -ENOMEM. Freed by ibcc_snapshot_fini(). */
int ibcc_snapshot_init(struct ibcc_snapshot *s, const struct ibcc_topo *t);
void ibcc_snapshot_fini(struct ibcc_snapshot *s);

/* Records a reading of one port in this pass: makes the difference to the one before. */
void ibcc_snapshot_record(struct ibcc_snapshot *s, uint32_t port, const struct ibcc_counters *c,
			  uint64_t tick_ps);

/* Records, at a time, that a port which was read before counts what it did, or hardly more, by what
 * its switch says of all its ports together. What it has counted since comes with the next reading.
 */
void ibcc_snapshot_hold(struct ibcc_snapshot *s, uint32_t port, uint64_t t_ns);

/* Records that a port did not answer. */
void ibcc_snapshot_miss(struct ibcc_snapshot *s, uint32_t port, int err);

/* Appends a packet that was marked since the pass before. -ENOMEM. */
int ibcc_snapshot_mark(struct ibcc_snapshot *s, const struct ibcc_mark *m);

/* Whether a port's delta is known, of this pass or kept from an earlier one. */
static inline bool ibcc_sample_is_known(const struct ibcc_port_sample *p)
{
	return p->state == IBCC_SAMPLE_FRESH || p->state == IBCC_SAMPLE_KEPT;
}

/* Begins a pass (ports not recorded in it become stale, marks of the pass before are forgotten) and
 * ends it (counts the states). If a pass reads only some ports (`only`, by index), all others keep
 * what they have.
 */
void ibcc_snapshot_begin(struct ibcc_snapshot *s);
void ibcc_snapshot_begin_some(struct ibcc_snapshot *s, const bool *only);
void ibcc_snapshot_end(struct ibcc_snapshot *s, uint64_t t_ns);

/* Moves the readings of ports that both topologies have (same node GUID and port number) into a
 * snapshot of the new topology, so that a resweep loses no interval, with what is
 * known of their trust where the other end of their link is the same, too. Marks are dropped, since
 * nodes have other indices there. -ENOMEM leaves s as it was.
 */
int ibcc_snapshot_rebase(struct ibcc_snapshot *s, const struct ibcc_topo *from,
			 const struct ibcc_topo *to);

#endif
