/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* ibcc-sim: a simulated InfiniBand fabric. Stock ibsim simulates its management (ports, LIDs,
 * routes); behind a proxy, an engine of our own simulates its traffic, counters and congestion
 * control. See README.md in this folder.
 */
#include <stdio.h>
#include <string.h>

#include <ibcc/version.h>

#include "sim/cmd.h"

static const char usage_text[] =
	"usage: ibcc-sim run --scenario FILE | --netfile FILE [--name NAME] [--speed RATIO]\n"
	"                    [--mad-loss PERMILLE] [--mad-delay-us N]\n"
	"       ibcc-sim exec [--name NAME] [--host NODE] -- COMMAND...\n"
	"       ibcc-sim stats | flows | ports | settings | sets [-j] [--name NAME]\n"
	"       ibcc-sim set [--name NAME] KEY=VALUE...\n"
	"       ibcc-sim console [--name NAME] LINE\n"
	"       ibcc-sim --help | --version\n";

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} cmds[] = {
		{ "run", ibcc_cmd_run },   { "exec", ibcc_cmd_exec }, { "stats", ibcc_cmd_ask },
		{ "flows", ibcc_cmd_ask }, { "ports", ibcc_cmd_ask }, { "settings", ibcc_cmd_ask },
		{ "sets", ibcc_cmd_ask },  { "set", ibcc_cmd_ask },   { "console", ibcc_cmd_ask },
	};
	size_t i;

	if (argc < 2) {
		fputs(usage_text, stderr);
		return 1;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		fputs(usage_text, stdout);
		return 0;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("ibcc-sim " IBCC_VERSION);
		return 0;
	}
	if (ibcc_cmd_path()) {
		fputs("ibcc-sim: no memory\n", stderr);
		return 1;
	}
	for (i = 0; i < sizeof(cmds) / sizeof(cmds[0]); i++) {
		if (strcmp(argv[1], cmds[i].name))
			continue;
		/* What comes after -- is another program's. */
		for (int k = 2; k < argc && strcmp(argv[k], "--"); k++)
			if (!strcmp(argv[k], "--help"))
				return fputs(usage_text, stdout) < 0;
		return cmds[i].run(argc - 1, argv + 1);
	}
	fprintf(stderr, "ibcc-sim: %s: no such command\n%s", argv[1], usage_text);
	return 1;
}
