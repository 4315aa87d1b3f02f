/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon's own limit on system calls, which it has wherever it is started: by hand, in a
 * container, by systemd. */
#ifndef IBCC_DAEMON_CONFINE_H
#define IBCC_DAEMON_CONFINE_H

/* From here on this process and its threads can make only the system calls that confine.c lists. A
 * call that only an intruder would make (execve, ptrace, mount...) kills the process with SIGSYS.
 * Any other fails with EPERM, so that a new release of the C library does not end a daemon whose
 * fabric needs it. In a build with sanitizers no call kills, and calls that are not listed succeed:
 * a sanitizer makes its own, also fork and ptrace at the end. The process must not have other
 * threads yet. Returns 0 or a negative errno, and then nothing is limited.
 */
int ibcc_confine(void);

#endif
