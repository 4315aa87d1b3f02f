/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The commands of ibcc-bench, and what they share with the commands of the other programs. */
#ifndef PERFTEST_BENCH_BENCH_H
#define PERFTEST_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sysexits.h>

#include <ibcc/command.h>
#include <ibcc/yaml.h>

#include "perftest/bench/experiment.h"

enum { IBCC_EXIT_OK = 0, IBCC_EXIT_ERROR = 1, IBCC_EXIT_CONFIG = EX_CONFIG };

extern const struct ibcc_command ibcc_bench_list, ibcc_bench_run, ibcc_bench_tune,
	ibcc_bench_scenario, ibcc_bench_netfile;

/* Rows of the options of several commands. */
#define IBCC_OPTION_SET(type, member)                                                              \
	{                                                                                          \
		"set", 0, IBCC_OPTION_READ, "KEY=VALUE",                                           \
			"set a key of the scenario to this value; repeat it\nfor other keys",      \
			.at = offsetof(type, member), .read = ibcc_words_read, .many = true        \
	}
#define IBCC_OPTION_JOBS(type, member)                                                             \
	{                                                                                          \
		"jobs", 'J', IBCC_OPTION_NUMBER, "JOBS",                                           \
			"number of runs at a time (default: one for each\ncore)",                  \
			.at = offsetof(type, member), 1, 1024                                      \
	}

/* Prints errors that a file gave, frees them, and returns the exit code for rc: 78 for an error in
 * the file, 1 for all others, such as a deadlock.
 */
int ibcc_bench_fail(const char *what, int rc, struct ibcc_yaml_errors *e);

/* Path of a file beside the program. -ENOENT, -ENAMETOOLONG. */
int ibcc_bench_beside(const char *name, char *path, size_t len);

/* The folder with experiments/ and scenarios/: that of the source tree in which the program was
 * built, or the installed one. 0, or -ENODATA with a message.
 */
int ibcc_bench_folder(char *buf, size_t len);

/* Path of a file by its name in a folder beside the program's. A name with a slash or the ending
 * .yaml is a path already. -ENODATA as ibcc_bench_folder(), -ENAMETOOLONG.
 */
int ibcc_bench_find(const char *name, const char *beside, char *path, size_t len);

/* Makes a file of what write() writes, as ibcc_file_write() does; "-" is stdout. Prints what went
 * wrong; returns an exit code.
 */
int ibcc_bench_write(const char *file, int (*write)(void *arg, FILE *out), void *arg);

/* Loads and runs one scenario with assignments. `samples` is the number of samples, 0 for none.
 * Errors in *e.
 */
int ibcc_bench_measure(const char *file, const struct ibcc_words *set, uint32_t samples,
		       struct ibcc_exp_run *run, struct ibcc_yaml_errors *e);
void ibcc_bench_measure_fini(struct ibcc_exp_run *run);

#endif
