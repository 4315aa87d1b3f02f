/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* ibcc-research: what decides about the law and the models. Built and tested, not installed;
 * ibcc-bench beside it hands these commands over.
 */
#include "perftest/bench/command.h"
#include "perftest/osm/osm_model.h"
#include "perftest/research/research.h"

static const struct ibcc_command commands[] = {
	{ "tune", ibcc_bench_random, "--random N [--condition NAME] [-j] [--seed N] [-J JOBS]",
	  "the live loop on scenarios by chance" },
	{ "draw", ibcc_bench_draw, "SEED", "a scenario by chance, as tune --random has it" },
	{ "classify", ibcc_bench_classify, "[--random N] [--seed N] [-jv] [-J JOBS]",
	  "what the estimator makes of scenarios by chance" },
	{ "predict", ibcc_bench_predict,
	  "[--random N] [--seed N] [--probe becns|logs] [-j] [-J JOBS]",
	  "predictions against what their plans then bring" },
	{ "prediction", ibcc_bench_prediction, "[-j]",
	  "CPU time and memory of a prediction for large fabrics" },
	{ "oracle", ibcc_bench_oracle,
	  "NAME|FILE... | --random N [-j] [--seed N] [--grid KEY=A,B,C...]... [--out F] [-J JOBS]",
	  "search the best static settings for tune" },
	{ "sweep", ibcc_bench_sweep,
	  "FILE --grid KEY=A,B,C... | --fit NAME|FILE [--as-is] [--out F] [--shard I/N] [-J JOBS] "
	  "[--set KEY=VALUE]...",
	  "run all points of a grid, or combinations drawn at random" },
	{ "best", ibcc_bench_best, "FILE... [--by NAME] [--given FILE]... [-n N] [-j]",
	  "best points of sweeps" },
	{ "osm-model", ibcc_bench_osm_model, "[-j] [--tree PORTS,LEVELS]... [--large] [--repeat N]",
	  "what OpenSM sends to bring up fat trees, against a published model" },
};

int main(int argc, char **argv)
{
	return ibcc_command_run("ibcc-research", commands, sizeof(commands) / sizeof(*commands),
				argc, argv, NULL);
}
