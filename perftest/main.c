/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <string.h>

#include "perftest/bench/bench.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *args, *what;
} commands[] = {
	{ "list", ibcc_bench_list, "[-j]", "experiments there are" },
	{ "run", ibcc_bench_run,
	  "NAME... | --all [-j] [--short] [--seed N] [--set KEY=VALUE]... [--plot F]",
	  "reproduce published experiments" },
	{ "tune", ibcc_bench_tune,
	  "NAME|FILE... | --all | --random N [-j] [--short] [--seed N] [--set KEY=VALUE]... "
	  "[--plot F]",
	  "the live loop against static settings and its targets" },
	{ "classify", ibcc_bench_classify, "[--random N] [--seed N] [-jv] [-J JOBS]",
	  "what the estimator makes of scenarios by chance" },
	{ "draw", ibcc_bench_draw, "SEED", "a scenario by chance, as tune --random has it" },
	{ "oracle", ibcc_bench_oracle,
	  "NAME|FILE... | --random N [-j] [--seed N] [--grid KEY=A,B,C...]... [--out F] [-J JOBS]",
	  "search the best static settings for tune" },
	{ "scenario", ibcc_bench_scenario,
	  "FILE [-j] [--csv F] [--plot F] [--samples N] [--seed N] [--set KEY=VALUE]...",
	  "run any scenario" },
	{ "sweep", ibcc_bench_sweep,
	  "FILE --grid KEY=A,B,C... | --fit NAME|FILE [--as-is] [--out F] [--shard I/N] [-J JOBS] "
	  "[--set KEY=VALUE]...",
	  "run all points of a grid, or combinations drawn at random" },
	{ "best", ibcc_bench_best, "FILE... [--by NAME] [--given FILE]... [-n N] [-j]",
	  "best points of sweeps" },
	{ "speed", ibcc_bench_speed, "[-j] [--repeat N] [NAME...]",
	  "packet hops per second of CPU time" },
	{ "cycle", ibcc_bench_cycle, "[-j]", "CPU time of a decision for a large fabric" },
	{ "netfile", ibcc_bench_netfile, "FILE", "a scenario's fabric as a netfile for ibsim" },
	{ "osm-model", ibcc_bench_osm_model, "[-j] [--tree PORTS,LEVELS]... [--large] [--repeat N]",
	  "what OpenSM sends to bring up fat trees, against a published model" },
	{ "poll", ibcc_bench_poll, "[-j] [--repeat N] [--window N] [--no-cc] [--alone]",
	  "polling all ports of the fabric, against a bare loop and ibqueryerrors" },
	{ "push", ibcc_bench_push, "[-j] [--window N]",
	  "settings of its own for each node of the fabric, which it changes and restores" },
};
#define N_COMMANDS (sizeof(commands) / sizeof(*commands))

static int usage(FILE *out)
{
	fputs("usage: ibcc-bench COMMAND ...\n", out);
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(out, "  %s %s\n      %s\n", commands[i].name, commands[i].args,
			commands[i].what);
	return out == stdout ? IBCC_EXIT_OK : IBCC_EXIT_ERROR;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return usage(stderr);
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "help"))
		return usage(stdout);
	fprintf(stderr, "ibcc-bench: no command \"%s\"\n", argv[1]);
	return usage(stderr);
}
