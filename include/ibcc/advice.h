/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A marking profile for the switches of a fabric with DCQCN, from the senders of its roots, the
 * parameters of its adapters and the buffers of its switches.
 */
#ifndef IBCC_ADVICE_H
#define IBCC_ADVICE_H

#include <stdint.h>

#include <ibcc/dcqcn.h>

/* A root, as the advice needs it. */
struct ibcc_advice_root {
	double mbps;    /* what it sends: its link's rate, or all that a slow receiver takes */
	uint32_t n;     /* senders that share it */
	uint32_t feeds; /* ports of the root's switch by which their packets come in */
};

struct ibcc_advice_in {
	const struct ibcc_dcqcn_rp *rp; /* of the adapters; all have the same */
	uint32_t packet_bytes;          /* on the wire, of a full packet */
	uint32_t buffer_bytes;          /* what credits allow at an input port and VL */
	uint32_t n_roots;
	const struct ibcc_advice_root *root;
};

/* A profile in mode fixed, and what it is computed from. */
struct ibcc_advice {
	uint32_t root;     /* the root that needs the most marks, by its place in `root` */
	double mark_share; /* p* of that root: see ibcc_equilibrium_mark_share() */
	uint32_t percent;  /* marked at max_bytes */
	uint32_t min_bytes, max_bytes;
	double queue_bytes;  /* where the profile marks p*, above min_bytes */
	double credit_bytes; /* the longest queue at that root that credits allow */
};

/* The buffer of a port and VL where a switch does not report its own. That of HDR switches is not
 * public; 128 KB are 31 packets of 4 KB.
 */
#define IBCC_ADVICE_BUFFER_BYTES 131072u

/* How many times p* a profile marks at its end. In the engine, senders with the factory values need
 * 1.2 to 1.9 times the marks of the fluid model (doc/internals/dcqcn.md); this is the upper one.
 */
#define IBCC_ADVICE_SWING 1.9
/* Where marks begin, as a share of the buffer of one input. */
#define IBCC_ADVICE_MIN_SHARE 0.25
/* A buffer of fewer packets has no room for a profile: marks would begin at a queue that traffic
 * without congestion has, too.
 */
#define IBCC_ADVICE_LEAST_PACKETS 8u

/* The profile for all roots: fabrics have one for all their ports.
 *
 * percent is the least integer of which the fabric's root with the largest p* has
 * IBCC_ADVICE_SWING times, 1 to 100. max_bytes is the buffer of one input, since the packets of a
 * root whose senders come by one port fill no more: credits then stop the port before it, and
 * victims with it. min_bytes is IBCC_ADVICE_MIN_SHARE of it. The longest queue is `feeds` times the
 * buffer. Both shares were chosen by random scenarios (doc/internals/notebook.md).
 *
 * Returns 0; -ENOENT: no root; -EDOM: no share of marks keeps the senders at their fair rates
 * (parameters of 0); -ENOSPC: the buffer is too small; -ERANGE: the senders need more than 100 %.
 */
int ibcc_advice_make(const struct ibcc_advice_in *in, struct ibcc_advice *out);

#endif
