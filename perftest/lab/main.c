/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* ibcc-lab: experiments that decide about the law and the models, the project's own speed, and its
 * demonstration. It is built and tested, but not installed.
 */
#include "perftest/lab/lab.h"

static const struct ibcc_command *const commands[] = {
	&ibcc_lab_tune,       &ibcc_lab_draw,      &ibcc_lab_classify, &ibcc_lab_predict,
	&ibcc_lab_prediction, &ibcc_lab_advise,    &ibcc_lab_oracle,   &ibcc_lab_sweep,
	&ibcc_lab_best,       &ibcc_lab_osm_model, &ibcc_lab_speed,    &ibcc_lab_sizes,
	&ibcc_lab_jobs,       &ibcc_lab_poll,      &ibcc_lab_push,     &ibcc_lab_demo,
};

int main(int argc, char **argv)
{
	return ibcc_command_run("ibcc-lab", commands, sizeof(commands) / sizeof(*commands), argc,
				argv);
}
