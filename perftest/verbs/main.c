/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* ibcc-perf: real traffic over libibverbs. */
#include "perftest/verbs/cmd_run.h"
#include "perftest/verbs/plans.h"
#include "perftest/verbs/serve.h"

static const struct ibcc_command *const commands[] = { &ibcc_perf_serve, &ibcc_perf_run,
						       &ibcc_perf_plan };

int main(int argc, char **argv)
{
	return ibcc_command_run("ibcc-perf", commands, sizeof(commands) / sizeof(*commands), argc,
				argv);
}
