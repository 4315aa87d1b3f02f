/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* ibcc-bench: published experiments, scores of the tuner, and any scenario. */
#include "perftest/bench/bench.h"

static const struct ibcc_command *const commands[] = {
	&ibcc_bench_list,     &ibcc_bench_run,     &ibcc_bench_tune,
	&ibcc_bench_scenario, &ibcc_bench_netfile,
};

int main(int argc, char **argv)
{
	return ibcc_command_run("ibcc-bench", commands, sizeof(commands) / sizeof(*commands), argc,
				argv);
}
