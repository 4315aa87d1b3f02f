/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBCC_DAEMON_WHO_H
#define IBCC_DAEMON_WHO_H

#include <stddef.h>
#include <sys/types.h>

#include <ibcc/config.h>
#include <ibcc/jsonl.h>

/* Who asks, by name and number: "alice (uid 1000, pid 123)"; without the name where it is not
 * known. May wait for a directory service, so it is not for the event loop.
 */
void ibcc_who_text(uid_t uid, pid_t pid, char *buf, size_t len);

/* The groups that a configuration names. One that does not exist has nobody, and is logged. */
struct ibcc_jsonl_roles ibcc_who_roles(const struct ibcc_config *c);

#endif
