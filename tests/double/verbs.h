/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A double of libibverbs within one process: RC queue pairs that reach each other by their numbers,
 * memory regions, completion queues with events. Work is done when it is posted, by whom posts it.
 *
 * Linked into a test it takes the place of the library; as a preloaded library it shows its device
 * to stock programs. It can fail on request.
 */
#ifndef TESTS_DOUBLE_VERBS_H
#define TESTS_DOUBLE_VERBS_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

struct double_verbs {
	/* What goes wrong. */
	const char *fail_verb;          /* the verb, or "completion", of which the fail_nth fails */
	unsigned int fail_nth;          /* from 1; 0: none */
	enum ibv_wc_status fail_status; /* of a completion that fails */
	uint64_t delay_ns;              /* completions can be polled so much later */
	bool impatient; /* sends find no receive posted, and fail, though asked to try for ever */
	bool deaf;      /* likewise, all that is sent fails: the peer does not answer */
	bool ethernet;  /* link layer */
	bool down;      /* the port */
	bool unknown;   /* the port's speed */
	unsigned int corrupt_nth; /* message of which an octet is flipped on its way */
	int async_event;          /* type of one that is to be got; -1: none */
	int max_cqe;
	/* What happened. */
	unsigned int hits;      /* failures so far */
	unsigned int live;      /* objects that were made and not destroyed */
	unsigned int overflows; /* completions that a queue had no room for */
	unsigned int messages;
	uint8_t ack_timeout, retries; /* of the last queue pair that was made ready to send */
};
extern struct double_verbs double_verbs;

/* Nothing goes wrong, nothing has happened. No object may be live. */
void double_reset(void);

/* For the double of librdmacm: objects that are counted and may fail to be made, or say that they
 * failed to be destroyed; whether this call of a verb is to fail; a context that nobody closes.
 */
void *double_make(const char *verb, size_t size);
int double_unmake(const char *verb, void *p);
bool double_fails(const char *verb);
struct ibv_context *double_context(void);

/* How often a verb was called since the reset. */
unsigned int double_calls(const char *verb);

#endif
