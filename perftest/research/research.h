/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Commands of ibcc-research, see struct ibcc_command. */
#ifndef PERFTEST_RESEARCH_RESEARCH_H
#define PERFTEST_RESEARCH_RESEARCH_H

int ibcc_bench_random(int argc, char **argv); /* tune --random */
int ibcc_bench_draw(int argc, char **argv);
int ibcc_bench_classify(int argc, char **argv);
int ibcc_bench_predict(int argc, char **argv);
int ibcc_bench_prediction(int argc, char **argv);
int ibcc_bench_oracle(int argc, char **argv);
int ibcc_bench_sweep(int argc, char **argv);
int ibcc_bench_best(int argc, char **argv);

#endif
