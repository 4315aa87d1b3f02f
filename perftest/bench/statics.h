/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The marking profiles of DCQCN among which the best static one of a fabric is searched. */
#ifndef PERFTEST_BENCH_STATICS_H
#define PERFTEST_BENCH_STATICS_H

#include <stdint.h>

#include <ibcc/scenario.h>

#define IBCC_STATICS 6u

/* Profile i of IBCC_STATICS, for switches with so much buffer for each port and VL. They are those
 * of a grid of 32 of which the best comes closest to the grid's best (doc/internals/notebook.md).
 */
struct ibcc_dcqcn_profile ibcc_statics_profile(uint32_t i, uint32_t buffer_bytes);

/* Gives all SLs of the scenario the one of these profiles, or no DCQCN, with which its flows deliver
 * most in its measuring window. Runs it once for each. Errors as ibcc_measure_run().
 */
int ibcc_statics_search(struct ibcc_scenario *s);

#endif
