/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A scenario's fabric for stock ibsim. */
#include <string.h>

#include <ibcc/scenario_file.h>

#include "perftest/bench/bench.h"

static int run(const struct ibcc_command *c, int argc, char **argv)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_scenario s;
	int rc, at;

	if (ibcc_command_read(c, argc, argv, NULL, &at))
		return IBCC_EXIT_ERROR;
	rc = ibcc_scenario_load(argv[at], &s, &e);
	if (rc)
		return ibcc_bench_fail(argv[at], rc, &e);
	rc = ibcc_netfile_write(s.topo, stdout);
	ibcc_scenario_fini(&s);
	return rc ? ibcc_bench_fail("netfile", rc, &e) : IBCC_EXIT_OK;
}

const struct ibcc_command ibcc_bench_netfile = {
	.name = "netfile",
	.arguments = "FILE",
	.what = "write the fabric of a scenario as a netfile of ibsim",
	.want = "one scenario file",
	.least = 1,
	.most = 1,
	.run = run,
};
