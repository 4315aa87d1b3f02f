/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The estimator against the truth, on random scenarios. */
#ifndef PERFTEST_LAB_CLASSIFY_H
#define PERFTEST_LAB_CLASSIFY_H

#include <stdint.h>
#include <stdio.h>

#include <ibcc/yaml.h>

/* What was asked, by what came out: [truth][estimate], 1 for yes. Cases that the truth leaves open
 * are in `open` alone, by the estimate.
 */
struct ibcc_confusion {
	uint64_t n[2][2], open[2];
};

enum ibcc_question {
	IBCC_ASK_ROOTS,          /* of each switch port: does congestion start there? */
	IBCC_ASK_KIND,           /* of each root found: is it output-generated? */
	IBCC_ASK_CONTRIBUTORS,   /* of each root found and each adapter: does it contribute? */
	IBCC_ASK_VICTIMS,        /* of each adapter: does it suffer for others? */
	IBCC_ASK_CAUSING_JOBS,   /* of each root found and each job: does the job contribute? */
	IBCC_ASK_SUFFERING_JOBS, /* of each job: does it suffer for others? */
	IBCC_N_QUESTIONS,
};

/* The commonest mistakes, counted by what they look like. */
enum ibcc_mistake {
	IBCC_ROOT_IN_TREE,     /* a root that is none: it waits for another one */
	IBCC_ROOT_QUIET,       /* a root that is none: neither full nor with a slow receiver */
	IBCC_ROOT_MISSED_SLOW, /* a slow receiver's port not found */
	IBCC_ROOT_MISSED_UP,   /* a full port between switches not found */
	IBCC_ROOT_MISSED_LAST, /* a full port to an adapter not found */
	IBCC_SOURCE_OF_OTHER,  /* a contributor to another root taken for one of this root */
	IBCC_SOURCE_OF_NONE,   /* an adapter that contributes nowhere taken for a contributor */
	IBCC_SOURCE_UNMARKED,  /* a contributor that got no BECN at all */
	IBCC_SOURCE_WEAK,      /* a contributor that got too few BECNs */
	IBCC_VICTIM_NO_WAIT,   /* a victim whose port does not wait much */
	IBCC_VICTIM_OF_NONE,   /* a victim that waits, of no root that was found */
	IBCC_VICTIM_MARKED,    /* a victim that gets BECNs and counts as a contributor */
	IBCC_VICTIM_MIXED,     /* no mistake: suffers and contributes, which is left open */
	IBCC_VICTIM_IS_FINE,   /* waits, but loses nothing */
	IBCC_N_MISTAKES,
};
extern const char *const ibcc_mistake_name[IBCC_N_MISTAKES];

struct ibcc_classified {
	struct ibcc_confusion ask[IBCC_N_QUESTIONS];
	uint64_t mistake[IBCC_N_MISTAKES];
};

/* Adds the results of one scenario. Roots and kinds are what counters say with control off, in two
 * passes in a row. For contributors and victims, each root in turn marks alone for a few passes,
 * with tables of no delay. Jobs are laid over the hosts by the same seed. Mistakes go to `notes`
 * (NULL: nowhere), a line each. Errors as ibcc_draw_load() and ibcc_live_run().
 */
int ibcc_classify(uint64_t seed, struct ibcc_classified *sum, FILE *notes,
		  struct ibcc_yaml_errors *e);

#endif
