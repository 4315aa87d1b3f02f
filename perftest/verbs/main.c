/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* ibcc-perf: real traffic over libibverbs. */
#include "perftest/bench/command.h"
#include "perftest/verbs/cmd_run.h"
#include "perftest/verbs/plans.h"
#include "perftest/verbs/serve.h"

static const struct ibcc_command commands[] = {
	{ "serve", ibcc_perf_serve, "[--listen ADDRESS] [--token-file F]",
	  "on each host: wait for plans to take part in" },
	{ "run", ibcc_perf_run,
	  "PLAN [-j] [--plot F] [--token-file F] [--set KEY=VALUE]... [--around COMMAND "
	  "[--undo COMMAND] [--repeats N] [--settle-ms N]]",
	  "run a plan, and measure; with --around, before and after a command" },
	{ "plan", ibcc_perf_plan, "[NAME HOST[=ADDRESS]...]", "print a ready-made plan" },
};

int main(int argc, char **argv)
{
	return ibcc_command_run("ibcc-perf", commands, sizeof(commands) / sizeof(*commands), argc,
				argv, NULL);
}
