/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A program of several commands: the first argument names one. */
#ifndef PERFTEST_BENCH_COMMAND_H
#define PERFTEST_BENCH_COMMAND_H

#include <stddef.h>

/* run() takes its name and arguments as main() does and returns the exit code. */
struct ibcc_command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *args, *what; /* for the usage */
};

/* Runs the command that the arguments of main() name, or prints the usage. `other`, unless
 * NULL, is called for a name that is none of them, which is an error when it returns. An exit code.
 */
int ibcc_command_run(const char *program, const struct ibcc_command *command, size_t n, int argc,
		     char **argv, int (*other)(int argc, char **argv));

#endif
