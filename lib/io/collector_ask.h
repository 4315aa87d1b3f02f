/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How often a collector asks for what a node keeps silent about while it answers the rest: each
 * such question costs all the attempts of the transport. Private to lib/io.
 */
#ifndef IBCC_IO_COLLECTOR_ASK_H
#define IBCC_IO_COLLECTOR_ASK_H

#include <stdbool.h>
#include <stdint.h>

/* So many times in a row, and then once in so many passes. */
#define IBCC_ASK_TRIES 3u
#define IBCC_ASK_AGAIN 64u

/* Is it asked for in this pass, after so many tries without an answer? */
static inline bool ibcc_ask_in_pass(uint64_t pass, unsigned int tries)
{
	return tries < IBCC_ASK_TRIES || pass % IBCC_ASK_AGAIN == 0;
}

#endif
