/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Switches that read one packet at a time from an input port's buffer.
 *
 * While an output sends a packet, the others pass over those of its input, and are woken when it
 * has been read; who waits then goes around by number, from the output that read it last. An
 * output that is busy then finds the input taken, perhaps, when it is free: nobody waits for it.
 */
#ifndef IBCC_FABRIC_READS_H
#define IBCC_FABRIC_READS_H

#include "internal.h"

/* A choice among the queues of an output and VL. */
struct reads_choice {
	uint32_t slot, pkt;         /* NONE: no packet may be read */
	uint32_t before;            /* it in its queue, or NONE */
	uint64_t passed[FAR_WORDS]; /* inputs that were passed over, by number */
};

int ibcc_reads_build(struct ibcc_engine *e);
void ibcc_reads_free(struct ibcc_engine *e);
void ibcc_reads_choose(const struct ibcc_engine *e, uint32_t outq, struct reads_choice *c);
/* The queue whose turn it is of those that may be read, with its packet in front; or NONE. */
uint32_t ibcc_reads_turn(struct ibcc_engine *e, uint32_t port, uint32_t outq);
/* A packet of an input is being sent by an output until then. */
void ibcc_reads_start(struct ibcc_engine *e, uint32_t in_port, unsigned int output, uint64_t end);
/* It has been. */
void ibcc_reads_end(struct ibcc_engine *e, uint32_t in_port);
/* Whether an output is told when an input has been read. */
bool ibcc_reads_wanted(const struct ibcc_engine *e, uint32_t in_port, unsigned int output);

#endif
