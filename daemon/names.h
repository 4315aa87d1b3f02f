/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the host's name service (NSS) knows of groups and users. Behind it may be a directory server
 * that does not answer for minutes, and a lookup cannot be broken off. So a thread of its own asks,
 * and neither the event loop nor the thread that talks to the fabric waits for it.
 */
#ifndef IBCC_DAEMON_NAMES_H
#define IBCC_DAEMON_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <ibcc/config.h>
#include <ibcc/jsonl.h>

/* How long ibcc_names_who() waits at most. */
#define IBCC_NAMES_PATIENCE_MS 1000

struct ibcc_names;

/* Starts the thread, with all signals blocked. NULL without memory. */
struct ibcc_names *ibcc_names_new(void);
/* Does not wait: a lookup under way ends when it ends, and its answer is dropped. */
void ibcc_names_free(struct ibcc_names *n);

/* Asks for the groups that a configuration names, in place of what was asked before, and returns
 * what holds until the answer: for a group whose name is the same as before, the last answer; else
 * nobody, so that a group that has lost a right loses it at once.
 */
struct ibcc_jsonl_roles ibcc_names_ask(struct ibcc_names *n, const struct ibcc_config *c);
/* Readable when there is an answer to be taken. */
int ibcc_names_fd(const struct ibcc_names *n);
/* The answer; false if there is no new one. A group that does not exist is logged and has nobody.
 * One that could not be looked up is logged, has what it had, and is asked for again.
 */
bool ibcc_names_take(struct ibcc_names *n, struct ibcc_jsonl_roles *roles);

/* Who asks, in words as ibcc_who_text() has them. The name is left out where the name service does
 * not tell it in time: after an answer that did not come nobody waits for it again, until it has
 * come. The name of root is known without asking. NULL: no names but root's.
 */
void ibcc_names_who(struct ibcc_names *n, uid_t uid, pid_t pid, const char *login, char *buf,
		    size_t len);

#endif
