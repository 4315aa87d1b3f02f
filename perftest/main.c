/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* ibcc-bench: what is installed. In a build tree it hands other commands over to ibcc-research. */
#include "perftest/bench/bench.h"
#include "perftest/bench/command.h"
#include "perftest/speed/speed.h"

static const struct ibcc_command commands[] = {
	{ "list", ibcc_bench_list, "[-j]", "experiments there are" },
	{ "run", ibcc_bench_run,
	  "NAME... | --all [-j] [--short] [--seed N] [--set KEY=VALUE]... [--plot F] [-J JOBS]",
	  "reproduce published experiments" },
	{ "tune", ibcc_bench_tune,
	  "NAME|FILE... | --all [-j] [--short] [--seed N] [--set KEY=VALUE]... [--plot F] "
	  "[-J JOBS]",
	  "the live loop against static settings and its targets" },
	{ "scenario", ibcc_bench_scenario,
	  "FILE [-j] [--csv F] [--plot F] [--samples N] [--seed N] [--set KEY=VALUE]...",
	  "run any scenario" },
	{ "netfile", ibcc_bench_netfile, "FILE", "a scenario's fabric as a netfile for ibsim" },
	{ "speed", ibcc_bench_speed, "[-j] [--repeat N] [NAME...]",
	  "packet hops per second of CPU time" },
	{ "cycle", ibcc_bench_cycle, "[-j]", "CPU time of a decision for a large fabric" },
	{ "poll", ibcc_bench_poll, "[-j] [--repeat N] [--alone]",
	  "polling all ports of the fabric, against a bare loop and ibqueryerrors" },
	{ "push", ibcc_bench_push, "[-j]",
	  "settings of its own for each node of the fabric, which it changes and restores" },
};

int main(int argc, char **argv)
{
	return ibcc_command_run("ibcc-bench", commands, sizeof(commands) / sizeof(*commands), argc,
				argv, ibcc_bench_research);
}
