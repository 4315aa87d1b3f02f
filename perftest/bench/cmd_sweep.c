#include "perftest/bench/bench.h"
int ibcc_bench_sweep(int argc, char **argv) { (void)argc; (void)argv; return 1; }
int ibcc_bench_best(int argc, char **argv) { (void)argc; (void)argv; return 1; }
int ibcc_bench_speed(int argc, char **argv) { (void)argc; (void)argv; return 1; }
