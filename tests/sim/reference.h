/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A small, slow simulator of the model that the packet engine implements, as a second opinion. It
 * shares no code with the engine; reference.c says in plain words what the model is.
 *
 * All sizes are bytes, all times picoseconds, all rates Mb/s. Nodes are numbered: first the hosts,
 * each with one link, then the switches. Links make a tree. A switch's ports are in the order of
 * its links.
 */
#ifndef TEST_REFERENCE_H
#define TEST_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#define REF_NODES   16u
#define REF_LINKS   16u
#define REF_FLOWS   32u
#define REF_CCT     128u
#define REF_OPEN    8u /* messages that a window allows at most */
#define REF_CHANGES 8u
#define REF_SLS     16u
#define REF_VLS     4u
#define REF_ENTRIES 8u

struct ref_case {
	unsigned int n_hosts, n_switches, n_links, n_flows;
	struct ref_link {
		unsigned int end[2]; /* nodes */
		uint32_t rate;
		/* Of the switch's port at that end. */
		bool victim_mask[2];
		uint64_t mark_seed[2][REF_VLS]; /* seed of the random gaps between marks, by VL */
	} link[REF_LINKS];
	struct ref_flow { /* those with the same hosts and service level share a queue pair */
		unsigned int from, to, sl;
		bool all; /* to all other hosts that links lead to, but not to `to` */
		enum { REF_BACKLOGGED, REF_PERIODIC, REF_EXPONENTIAL, REF_CLOSED } arrivals;
		uint32_t rate; /* offered rate, with headers; of the second and the third kind */
		unsigned int message, window; /* closed: in packets, in messages */
		uint32_t packet;              /* payload of its packets; 0: that of the case */
		uint64_t start, stop;         /* stop 0: never */
		uint64_t on, off;       /* on for so long, then off, and so on; off 0: always on */
		uint64_t seed, to_seed; /* of exponential arrivals, of the hosts that it chooses */
	} flow[REF_FLOWS];
	/* Time between exponential packets; may be NULL if there are none. */
	uint64_t (*gap)(uint64_t *state, uint64_t mean);
	/* A number from 0 to n, all equally likely; may be NULL if marking_rate is 0 and no flow
	 * is to all.
	 */
	unsigned int (*upto)(uint64_t *state, unsigned int n);
	/* by host: rate at which it takes payload; 0: as fast as it comes */
	uint32_t sink[REF_NODES];

	uint32_t packet, header, cnp; /* payload of most flows; what is added to it; an answer */
	uint32_t switch_buffer, host_buffer;
	uint32_t buffer[REF_NODES]; /* of a node, in place of these; 0: as they are */
	uint64_t link_delay, switch_delay, credit_delay, becn_delay;
	bool acks;        /* hosts answer each packet, not only marked ones */
	bool round_robin; /* hosts serve flows in turn, not packets in order of arrival */
	bool fifo; /* a switch's output serves packets in order of arrival, not inputs in turn */
	/* VLs; 0 counts as 1. A host has VL = SL modulo vls, and so has a switch unless `maps`:
	 * then a packet that came by a link and goes on by another one has the VL of these two and
	 * its SL.
	 */
	unsigned int vls;
	bool maps;
	bool paths; /* service levels are of the hosts from and to, not of flows */
	unsigned char path_sl[REF_NODES][REF_NODES];
	unsigned char vl[REF_LINKS][REF_LINKS][16];
	/* All ports choose among VLs by two tables (IBA volume 1, 7.6.9), or in turn if both are
	 * empty; hosts then do not look at VLs.
	 */
	struct ref_table {
		unsigned int n;
		struct ref_table_entry {
			unsigned int vl;
			int weight; /* 64 bytes */
		} entry[REF_ENTRIES];
	} high, low;
	int high_limit; /* 4096 bytes; 0: a packet; 255: none */
	/* PAUSE in place of credits, with one VL. */
	struct ref_pause {
		bool on;
		uint32_t headroom;
		unsigned int xon; /* permille of the buffer */
	} pause;
	unsigned int n_changes;
	struct ref_change { /* from a time on */
		uint64_t at;
		enum {
			REF_SINK,      /* the port's host takes payload at a rate; 0: as it comes */
			REF_RATE,      /* both ends of the port's link send at a rate */
			REF_SEND_RATE, /* the port does */
			REF_LONGER,    /* what it sends takes so much longer to arrive */
			REF_DOWN,      /* of the link */
			REF_UP,
		} what;
		unsigned int port; /* end i of link k is 2 k + i */
		uint64_t value;
	} change[REF_CHANGES];

	/* Congestion control: first of all switches, then of all hosts. */
	unsigned int threshold, packet_size, marking_rate;
	uint32_t mark_reference;
	unsigned int hysteresis; /* permille of the threshold's backlog */
	bool per_sl;
	unsigned int increase, timer, min, limit;
	struct ref_entry {
		unsigned int shift, multiplier;
	} cct[REF_CCT];

	/* DCQCN in place of that. */
	struct ref_dcqcn {
		bool on;
		double weight; /* of the present queue in its average, each step */
		uint64_t step;
		bool source_only;
		struct ref_profile {
			bool present; /* the queue is the present one, not the average */
			double min, max, percent;
		} profile[2];
		unsigned int profile_of[16]; /* by service level, from 1 on; 0: none */
		bool cnp_own_sl; /* CNPs that are no ACKs have the service level cnp_sl */
		unsigned int cnp_sl;
		bool cnp_per_host; /* gap between any two CNPs of a host, not of a flow */
		uint64_t cnp_gap;
		bool per_lid;               /* flows between the same hosts share a limiter */
		uint64_t alpha, look, grow; /* periods */
		uint32_t grow_bytes;        /* 0: rates do not grow by bytes */
		unsigned int fast;          /* increases before the target rises */
		double rise, leap;          /* of the target, Mb/s */
		double most, least, first;  /* rates; most and first 0: the link's */
		double gain, first_alpha;
		double depth, floor; /* a cut is to 1 - alpha * depth, but at least the floor */
		bool clamp, clamp_after_time;
	} dcqcn;
};

struct ref_count {
	uint64_t sent, received, fecn, becn;
	/* sum over the packets received, from the first bit sent to the last bit taken */
	uint64_t latency;
	/* Of closed flows: messages received, and the sum of their latencies, from when the window
	 * allowed a message until its last packet was taken.
	 */
	uint64_t messages, message_latency;
	unsigned int ccti; /* of a flow to one host */
};

struct ref;
struct ref *ref_new(const struct ref_case *c); /* the case must outlive the simulator */
void ref_free(struct ref *r);
/* Lets time pass until all that is due by `until` has happened. */
void ref_run(struct ref *r, uint64_t until);
struct ref_count ref_flow_count(const struct ref *r, unsigned int flow);
/* Data packets that have come to a host. */
uint64_t ref_host_count(const struct ref *r, unsigned int host);

#endif
