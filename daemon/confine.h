/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon's own limit on system calls. It applies however the daemon is started: by hand, in a
 * container, by systemd.
 */
#ifndef IBCC_DAEMON_CONFINE_H
#define IBCC_DAEMON_CONFINE_H

/* From here on this process and its threads can make only the system calls that confine.c lists. A
 * call that only an intruder would make (execve, ptrace, mount...) kills the process with SIGSYS.
 * Any other fails with EPERM, so that a new release of the C library does not end a daemon that its
 * fabric needs. In a build with sanitizers no call kills, and calls that are not listed succeed: a
 * sanitizer makes its own, including fork and ptrace at the end. Call before the process has other
 * threads. Returns 0, or a negative errno after which nothing is limited.
 */
int ibcc_confine(void);

#endif
