/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the host's name service (NSS) knows about groups and users. Behind it may be a directory
 * server that does not answer for minutes, and a lookup cannot be cancelled. So a separate thread
 * asks. Neither the event loop nor the thread that talks to the fabric waits for it.
 */
#ifndef IBCC_DAEMON_NAMES_H
#define IBCC_DAEMON_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <ibcc/config.h>
#include <ibcc/jsonl.h>

/* The longest time that ibcc_names_who() waits. */
#define IBCC_NAMES_PATIENCE_MS 1000

struct ibcc_names;

/* Starts the thread, with all signals blocked. NULL without memory. */
struct ibcc_names *ibcc_names_new(void);
/* Does not wait: a running lookup ends by itself, and its answer is dropped. */
void ibcc_names_free(struct ibcc_names *n);

/* Asks for the groups that a configuration names, which replace those asked for before. Returns
 * what holds until the answer: the last answer for a group with the same name as before. For any
 * other group it is IBCC_JSONL_NOBODY, so that a group that has lost a right loses it at once.
 */
struct ibcc_jsonl_roles ibcc_names_ask(struct ibcc_names *n, const struct ibcc_config *c);
/* Readable when there is an answer to take. */
int ibcc_names_fd(const struct ibcc_names *n);
/* Takes an answer; false if there is no new one. A group that does not exist is logged and has no
 * members. A group that could not be looked up is logged, keeps its last answer, and is asked for
 * again.
 */
bool ibcc_names_take(struct ibcc_names *n, struct ibcc_jsonl_roles *roles);

/* The user behind a request, in words as ibcc_who_text() has them. Leaves the name out if the name
 * service is not in time. After a missing answer no later call waits for it until it has come.
 * Root's name is known without a lookup. NULL: there are no names but root's.
 */
void ibcc_names_who(struct ibcc_names *n, uid_t uid, pid_t pid, const char *login, char *buf,
		    size_t len);

#endif
