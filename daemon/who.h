/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBCC_DAEMON_WHO_H
#define IBCC_DAEMON_WHO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <ibcc/config.h>
#include <ibcc/jsonl.h>

/* Bytes of a login as a client tells it. */
#define IBCC_LOGIN_BYTES 33

/* Who asks, by name and number: "alice (uid 1000, pid 123)"; without the name where it is not
 * known. `login` (may be empty) is the one behind sudo, as root tells it: "root (sudo: alice, uid
 * 0, pid 123)". May wait for a directory service, so it is not for the event loop.
 */
void ibcc_who_text(uid_t uid, pid_t pid, const char *login, char *buf, size_t len);

/* Can this be a login: letters, digits, '.', '_', '-', '@', '+' and a '$' at the end, not too many?
 */
bool ibcc_who_is_login(const char *text);

/* The login behind sudo, if root runs this program, or "". */
const char *ibcc_who_sudo(void);

/* The groups that a configuration names. One that does not exist has nobody, and is logged. */
struct ibcc_jsonl_roles ibcc_who_roles(const struct ibcc_config *c);

#endif
