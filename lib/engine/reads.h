/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Switches that read one packet at a time from an input port's buffer (IBCC_SWITCH_READS_ONE).
 *
 * While an output sends a packet, the other outputs skip the packets of its input, and are woken
 * by EV_READ when it has been read. Outputs that skipped it then choose in the order of their
 * numbers, beginning after the output that read last. An output that is busy at that time may
 * find the input taken again when it becomes free: no packet is kept for it.
 */
#ifndef IBCC_ENGINE_READS_H
#define IBCC_ENGINE_READS_H

#include "internal.h"

/* A choice among the queues of an output and VL. */
struct reads_choice {
	uint32_t slot, pkt;         /* NONE: no packet may be read */
	uint32_t before;            /* the packet before it in its queue, or NONE */
	uint64_t passed[FAR_WORDS]; /* mask of inputs that were skipped, by number */
};

int ibcc_reads_build(struct ibcc_engine *e);
void ibcc_reads_free(struct ibcc_engine *e);
/* Chooses without changing anything: the next queue in turn with a packet that may be read. */
void ibcc_reads_choose(const struct ibcc_engine *e, uint32_t outq, struct reads_choice *c);
/* Chooses, moves the chosen packet to the front of its queue, and notes that `port` waits for the
 * inputs that it skipped. Returns the queue, or NONE: nothing may be read.
 */
uint32_t ibcc_reads_turn(struct ibcc_engine *e, uint32_t port, uint32_t outq);
/* An output sends a packet of an input until `end`. */
void ibcc_reads_start(struct ibcc_engine *e, uint32_t in_port, unsigned int output, uint64_t end);
/* EV_READ: the input has been read; wakes the outputs that skipped it. */
void ibcc_reads_end(struct ibcc_engine *e, uint32_t in_port);
/* Whether an output is woken when an input has been read. */
bool ibcc_reads_wanted(const struct ibcc_engine *e, uint32_t in_port, unsigned int output);

#endif
