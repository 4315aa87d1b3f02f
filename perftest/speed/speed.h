/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Commands of ibcc-bench that measure how fast the project itself is, see struct ibcc_command. */
#ifndef PERFTEST_SPEED_SPEED_H
#define PERFTEST_SPEED_SPEED_H

#define IBCC_SPEED_WINDOW     64u  /* MADs in flight */
#define IBCC_SPEED_TIMEOUT_MS 2000 /* of a MAD */
#define IBCC_SPEED_REPEAT_MAX 99u

int ibcc_bench_speed(int argc, char **argv);
int ibcc_bench_cycle(int argc, char **argv);
int ibcc_bench_poll(int argc, char **argv);
int ibcc_bench_push(int argc, char **argv);

#endif
