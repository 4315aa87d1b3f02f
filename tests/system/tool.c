/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs a command in a folder and ends it after a time. With "exec", the command runs on a host of
 * the simulated fabric; with "ask", it is one of ibcc-sim's that ask the simulator:
 *
 *	tool SECONDS FOLDER COMMAND...
 *	tool SECONDS FOLDER exec [--name NAME] [--host NODE] -- COMMAND...
 *	tool SECONDS FOLDER ask stats|flows|ports|settings|sets|set|console [ARGUMENT]...
 *
 * Tests run tools thousands of times. A subshell, timeout and ibcc-sim in front of each tool used
 * more of a processor than the tools themselves. This program becomes the tool, by the function of
 * "ibcc-sim exec". The alarm that ends the tool stays set. And to start ibcc-sim with all its
 * libraries takes longer than what it asks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/cmd.h"

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: tool SECONDS FOLDER COMMAND...\n");
		return 1;
	}
	if (chdir(argv[2]) || setenv("OSM_CACHE_DIR", argv[2], 1) ||
	    setenv("OSM_TMP_DIR", argv[2], 1)) {
		perror(argv[2]);
		return 1;
	}
	if (ibcc_cmd_path()) {
		fputs("tool: no memory\n", stderr);
		return 1;
	}
	alarm((unsigned int)strtoul(argv[1], NULL, 10));
	if (!strcmp(argv[3], "exec"))
		return ibcc_cmd_exec(argc - 3, argv + 3);
	if (!strcmp(argv[3], "ask") && argc > 4)
		return ibcc_cmd_ask(argc - 4, argv + 4);
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}
