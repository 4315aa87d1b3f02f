/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A scenario's fabric for stock ibsim. */
#include <string.h>

#include <ibcc/scenario_file.h>

#include "perftest/bench/bench.h"

int ibcc_bench_netfile(int argc, char **argv)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_scenario s;
	int rc;

	if (argc != 2) {
		fputs("ibcc-bench: netfile: want one scenario file\n", stderr);
		return IBCC_EXIT_ERROR;
	}
	rc = ibcc_scenario_load(argv[1], &s, &e);
	if (rc)
		return ibcc_bench_fail(argv[1], rc, &e);
	rc = ibcc_netfile_write(s.topo, stdout);
	ibcc_scenario_fini(&s);
	return rc ? ibcc_bench_fail("netfile", rc, &e) : IBCC_EXIT_OK;
}
