/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Child processes: started, watched and ended by pid; what they print, and the folders that they
 * leave.
 */
#ifndef PERFTEST_LAB_PROC_H
#define PERFTEST_LAB_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <jansson.h>

struct ibcc_proc {
	pid_t pid; /* 0: not running */
	const char *name;
	char log[256]; /* file that has its stdout and stderr */
};

/* Starts argv (NULL-terminated) with its output in a log file. The child is ended when the caller
 * dies. Returns 0 or -errno.
 */
int ibcc_proc_start(struct ibcc_proc *p, const char *name, const char *log,
		    const char *const argv[]);

/* True while it runs; reaps it otherwise. */
bool ibcc_proc_alive(struct ibcc_proc *p);

/* Waits until a file that it writes has `word`. Returns 0, -ETIMEDOUT, or -ESRCH when it ended
 * before. */
int ibcc_proc_wait_log(struct ibcc_proc *p, const char *log, const char *word, int timeout_ms);

/* Ends it: SIGTERM, after grace_ms SIGKILL. Returns 0 if it obeyed, -ETIMEDOUT if it was killed. */
int ibcc_proc_stop(struct ibcc_proc *p, int grace_ms);

/* Runs argv to its end and returns its standard output (owned by the caller, terminated), or NULL
 * with *err = -errno, or -EREMOTEIO when its exit status was not 0.
 */
char *ibcc_proc_output(const char *const argv[], int timeout_ms, int *err);

/* Runs a program that prints JSON, as ibcc_proc_output(); -EPROTO if it prints anything else. */
json_t *ibcc_proc_json(const char *const argv[], int timeout_ms, int *err);

/* Removes a folder that processes have written to, with all that is in it. */
void ibcc_proc_remove(const char *folder);

#endif
