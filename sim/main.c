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
	"Usage: ibcc-sim COMMAND [OPTION]... [ARGUMENT]...\n"
	"Simulates an InfiniBand fabric, on which stock tools and ibcc-tuned run.\n"
	"\n"
	"Commands:\n"
	"  run        start a fabric, which runs until a signal ends it\n"
	"  exec       run a command as on a host of the fabric: -- COMMAND...\n"
	"  stats      count the MADs of clients by class, method and attribute\n"
	"  flows      show the throughput of each flow\n"
	"  ports      show the counters of all linked ports\n"
	"  settings   show the congestion control settings of all nodes\n"
	"  sets       list the last Set MADs of congestion control\n"
	"  set        change the running fabric: KEY=VALUE...; for keys see ibcc-sim(1)\n"
	"  console    pass a line to the console of ibsim: LINE\n"
	"\n"
	"Options of run:\n"
	"  -s, --scenario FILE        simulate the fabric and the traffic of a scenario\n"
	"  -f, --netfile FILE         simulate the fabric of a netfile of ibsim, without\n"
	"                             traffic\n"
	"  -S, --speed RATIO          simulated time in relation to real time, 0 to 1000\n"
	"                             (default 1)\n"
	"      --mad-loss PERMILLE    lose this many of 1000 MADs (default 0)\n"
	"      --mad-delay-us US      delay each answer by this many microseconds\n"
	"                             (default 0)\n"
	"\n"
	"Options of exec:\n"
	"  -H, --host NODE            run on this host: a name, a GUID or an id in the\n"
	"                             netfile (default: the first host)\n"
	"\n"
	"Options of stats, flows, ports, settings, sets, set and console:\n"
	"  -j, --json                 answer in JSON\n"
	"\n"
	"Options of all commands:\n"
	"  -n, --name NAME            name of the simulator (default: the only one that\n"
	"                             runs; of a new one: ibcc- and its process ID)\n"
	"      --help                 show this help\n"
	"\n"
	"'ibcc-sim --version' shows the version.\n";

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
	fprintf(stderr, "ibcc-sim: unknown command '%s'\nTry 'ibcc-sim --help'.\n", argv[1]);
	return 1;
}
