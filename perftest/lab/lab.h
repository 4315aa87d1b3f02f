/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The commands of ibcc-lab, each in cmd_*.c, and rows of options that several of them have. */
#ifndef PERFTEST_LAB_LAB_H
#define PERFTEST_LAB_LAB_H

#include <ibcc/command.h>

extern const struct ibcc_command ibcc_lab_tune, ibcc_lab_draw, ibcc_lab_classify, ibcc_lab_predict,
	ibcc_lab_prediction, ibcc_lab_advise, ibcc_lab_oracle, ibcc_lab_sweep, ibcc_lab_best,
	ibcc_lab_osm_model, ibcc_lab_speed, ibcc_lab_sizes, ibcc_lab_poll, ibcc_lab_push,
	ibcc_lab_demo, ibcc_lab_jobs;

#define IBCC_OPTION_RANDOM(type, member)                                                           \
	{                                                                                          \
		"random", 0, IBCC_OPTION_NUMBER, "N", "number of random scenarios",                \
			.at = offsetof(type, member), 1, 1000000                                   \
	}
#define IBCC_OPTION_SEED(type, member, least)                                                      \
	{                                                                                          \
		"seed", 0, IBCC_OPTION_NUMBER, "N", "seed of the first scenario",                  \
			.at = offsetof(type, member), least, UINT32_MAX                            \
	}

#endif
