/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/bench/command.h"

#include <stdio.h>
#include <string.h>

#include <ibcc/version.h>

#include "perftest/bench/bench.h"

static void usage(const char *program, const struct ibcc_command *command, size_t n, FILE *out)
{
	fprintf(out, "usage: %s COMMAND ...\n", program);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "  %s %s\n      %s\n", command[i].name, command[i].args,
			command[i].what);
}

int ibcc_command_run(const char *program, const struct ibcc_command *command, size_t n, int argc,
		     char **argv, int (*other)(int argc, char **argv))
{
	const char *name = argc > 1 ? argv[1] : NULL;

	for (size_t i = 0; name && i < n; i++) {
		if (strcmp(name, command[i].name))
			continue;
		if (argc > 2 && !strcmp(argv[2], "--help")) {
			usage(program, &command[i], 1, stdout);
			return IBCC_EXIT_OK;
		}
		return command[i].run(argc - 1, argv + 1);
	}
	if (name && (!strcmp(name, "-h") || !strcmp(name, "--help") || !strcmp(name, "help"))) {
		usage(program, command, n, stdout);
		return IBCC_EXIT_OK;
	}
	if (name && (!strcmp(name, "-V") || !strcmp(name, "--version")))
		return printf("%s %s\n", program, IBCC_VERSION) < 0;
	if (name && other)
		other(argc - 1, argv + 1);
	if (name)
		fprintf(stderr, "%s: no command \"%s\"\n", program, name);
	usage(program, command, n, stderr);
	return IBCC_EXIT_ERROR;
}
