/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A double of libibverbs within one process: RC queue pairs that reach each other by their numbers,
 * memory regions, completion queues with events. The thread that posts work does it at once.
 *
 * Linked into a test, the double takes the place of the library. As a preloaded library it shows
 * its device to stock programs. It can fail on request.
 */
#ifndef TESTS_DOUBLE_VERBS_H
#define TESTS_DOUBLE_VERBS_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

struct double_verbs {
	/* The faults to make. */
	/* the verb, or "completion", whose call number fail_nth fails */
	const char *fail_verb;
	unsigned int fail_nth;          /* number of the call, from 1; 0: none */
	enum ibv_wc_status fail_status; /* status of the completion that fails */
	uint64_t delay_ns;              /* completions can be polled this much later */
	/* sends that find no receive posted fail, even if they should retry for ever */
	bool impatient;
	bool deaf;     /* all sends fail: the peer does not answer */
	bool ethernet; /* the link layer is Ethernet */
	bool down;     /* the port is down */
	bool unknown;  /* the port's speed is unknown */
	bool no_gid;   /* the port has no GID */
	/* number of the message of which an octet is flipped on its way */
	unsigned int corrupt_nth;
	int async_event; /* type of an event that can be got; -1: none */
	int max_cqe;
	/* What has happened. */
	unsigned int hits;      /* failures so far */
	unsigned int live;      /* objects that were made and not destroyed */
	unsigned int overflows; /* completions that found a queue full */
	unsigned int messages;
	uint8_t ack_timeout, retries; /* of the last queue pair that became ready to send */
};
extern struct double_verbs double_verbs;

/* Clears all faults and counts. No object may be live. */
void double_reset(void);

/* For the double of librdmacm. The first two functions make and destroy objects that are counted.
 * Making may fail, and destroying may report a failure. The third says whether this call of a verb
 * must fail. The last returns a context that is never closed.
 */
void *double_make(const char *verb, size_t size);
int double_unmake(const char *verb, void *p);
bool double_fails(const char *verb);
struct ibv_context *double_context(void);

/* How often a verb was called since the reset. */
unsigned int double_calls(const char *verb);

#endif
