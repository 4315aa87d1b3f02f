/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/bench/command.h"

#include <stdio.h>
#include <string.h>

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

	for (size_t i = 0; name && i < n; i++)
		if (!strcmp(name, command[i].name))
			return command[i].run(argc - 1, argv + 1);
	if (name && (!strcmp(name, "-h") || !strcmp(name, "--help") || !strcmp(name, "help"))) {
		usage(program, command, n, stdout);
		return IBCC_EXIT_OK;
	}
	if (name && other)
		other(argc - 1, argv + 1);
	if (name)
		fprintf(stderr, "%s: no command \"%s\"\n", program, name);
	usage(program, command, n, stderr);
	return IBCC_EXIT_ERROR;
}
