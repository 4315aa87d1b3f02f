/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a program prints, or a file has: text from outside, of any kind. */
#ifndef IBCC_DAEMON_JOBS_ASK_H
#define IBCC_DAEMON_JOBS_ASK_H

#include <stddef.h>
#include <sys/types.h>

#include <ibcc/why.h>

struct ibcc_ask {
	int stop_fd; /* asking ends when it can be read; -1: it does not */
	pid_t left;  /* of a program that was killed and has not ended; 0: none */
};

/* Runs a program, which sentences call `name`, in a process group of its own, with nothing to read,
 * and takes what it prints, at most IBCC_JOBS_FILE_BYTES. *text is the caller's. After timeout_s
 * seconds, or when it prints more, the group is killed; so is what the program leaves running in
 * its group. -EIO with a sentence in *why: it could not be started or failed, or the program before
 * it has not ended yet; -ECANCELED: asking was ended; -ENOMEM.
 */
int ibcc_ask_program(struct ibcc_ask *a, const char *name, const char *const *argv,
		     unsigned int timeout_s, char **text, size_t *len, struct ibcc_why *why);

/* Reads a regular file of at most IBCC_JOBS_FILE_BYTES. *text is the caller's. -EIO with a sentence
 * in *why, -ENOMEM.
 */
int ibcc_ask_file(const char *path, char **text, size_t *len, struct ibcc_why *why);

#endif
