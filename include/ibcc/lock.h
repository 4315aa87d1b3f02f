/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One lock for every program that writes to a fabric: the daemon for its life, the command line
 * while it writes by itself. The kernel lets go of it however its holder ends.
 */
#ifndef IBCC_LOCK_H
#define IBCC_LOCK_H

#include <ibcc/why.h>

/* Takes the lock beside a state file, `state_file` with ".lock", which is made where it is not and
 * stays; made by root, it belongs to the folder's owner. Where it can neither be found nor made (a
 * read-only or full disk) the folder is the lock. Does not wait. Returns 0 and a descriptor that
 * holds the lock until it is closed, -1 if there is no folder and so no other holder. -EBUSY:
 * somebody has it, whom *why names; -EACCES, -ENAMETOOLONG, or what the system says.
 */
int ibcc_lock_take(const char *state_file, int *fd, struct ibcc_why *why);

#endif
