/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A simulated fabric watched as the daemon in mode observe watches one, and what ibcc-tune advise
 * comes to there.
 */
#ifndef PERFTEST_BENCH_WATCH_H
#define PERFTEST_BENCH_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/advise.h>
#include <ibcc/scenario.h>

struct ibcc_cycle;
struct ibcc_memory;

/* What is called after each pass that came to a decision, with the loads that are remembered. A
 * value other than 0 ends the run.
 */
typedef int ibcc_watch_each(void *arg, uint32_t pass, const struct ibcc_cycle *c,
			    const struct ibcc_memory *memory);

/* Watches a scenario for `ms` and some passes more, a pass each ms, and changes no setting. Errors
 * as ibcc_live_run(), and those of `each`.
 */
int ibcc_watch_run(const struct ibcc_scenario *s, uint32_t ms, ibcc_watch_each *each, void *arg);

/* Watches a scenario without DCQCN and asks for advice in the first pass from `ms` on in which
 * there is a root, as ibcc-tuned does, but without a limit of CPU time. The parameters of adapters
 * and the buffers are those of the scenario. *a is without arrays and needs no ibcc_advise_fini().
 * False in *congested: there was no root, and *a is the advice to leave DCQCN off. Errors as
 * ibcc_watch_run().
 */
int ibcc_watch_advise(const struct ibcc_scenario *s, uint32_t ms, bool *congested,
		      struct ibcc_advise *a);

#endif
