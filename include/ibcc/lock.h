/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One lock for every program that writes to a fabric: the daemon for its life, the command line
 * while it writes by itself. The kernel lets go of it however its holder ends.
 */
#ifndef IBCC_LOCK_H
#define IBCC_LOCK_H

#include <sys/types.h>

#include <ibcc/why.h>

/* Takes the lock beside a state file, `state_file` with ".lock", which is made where it is not and
 * stays; made by root, it belongs to the folder's owner. Where it can neither be found nor made (a
 * read-only or full disk) the folder is the lock. Does not wait. Returns 0 and a descriptor that
 * holds the lock until it is closed, -1 if there is no folder and so no other holder. -EBUSY:
 * another process has it, which *why names; -EACCES, -ENAMETOOLONG, or what the system says.
 */
int ibcc_lock_take(const char *state_file, int *fd, struct ibcc_why *why);

/* For a program that writes in place of a stopped holder, which cannot release its lock. Takes a
 * second lock on the same file, which keeps out other programs that do so. Returns 0 and a
 * descriptor that holds it; -EBUSY, -ENAMETOOLONG, or the system's error.
 */
int ibcc_lock_take_over(const char *state_file, int *fd, struct ibcc_why *why);

/* The process that has the lock; 0 if none has it, or that is not to be known. */
pid_t ibcc_lock_holder(const char *state_file);

#endif
