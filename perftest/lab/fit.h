/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Fits: parameters that nothing is published about, drawn at random from ranges and judged by how
 * far some rows of an experiment are missed. A file lab/fits/NAME.yaml is all that a new fit
 * needs.
 */
#ifndef PERFTEST_LAB_FIT_H
#define PERFTEST_LAB_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include <ibcc/yaml.h>

#include "perftest/bench/experiment.h"
#include "perftest/lab/grid.h"

/* How the misses of all rows become one figure. */
enum ibcc_fit_measure {
	IBCC_FIT_LARGEST,
	IBCC_FIT_ROOT_MEAN_SQUARE,
};

/* How an axis of the grid is drawn from: all values alike or, on a logarithmic scale, each by the
 * logarithm of the step around it.
 */
struct ibcc_fit_range {
	bool logarithmic;
	double from, step; /* of a logarithmic one */
};

struct ibcc_fit {
	char name[IBCC_NAME_BYTES], title[160];
	char path[1024];          /* of the fit's file */
	char experiment[1024];    /* path */
	struct ibcc_experiment x; /* the experiment, with the rows that judge and no series */
	int measure;              /* enum ibcc_fit_measure */
	uint64_t seed, draws;     /* draws: at most half of the combinations */
	struct ibcc_words set;    /* assignments of all runs, after those of the experiment */
	struct ibcc_grid grid;    /* all combinations that may be drawn, an axis for each range */
	struct ibcc_fit_range *range; /* [grid.n_axes] */
};

/* Reads a file, and the experiment that it names, and checks that the scenario accepts the ranges:
 * all errors in *e, with -EINVAL, -ENOENT..., -ENOMEM. *f needs ibcc_fit_fini() only after 0.
 */
int ibcc_fit_load(const char *file, struct ibcc_fit *f, struct ibcc_yaml_errors *e);
void ibcc_fit_fini(struct ibcc_fit *f);

/* The points of the grid that are drawn: f->draws different ones, in an order that depends on the
 * seed alone. With fewer draws, the points are the first ones of more draws. The array must be
 * freed; NULL without memory.
 */
uint64_t *ibcc_fit_draw(const struct ibcc_fit *f);

/* How far one row is missed, in parts of its tolerance: 0 as published, 1 at a bound; NAN if it
 * could not be measured.
 */
double ibcc_fit_row_miss(const struct ibcc_exp_row *row);
/* The miss of all rows together. */
double ibcc_fit_miss(const struct ibcc_fit *f, const struct ibcc_exp_row *row, size_t n);

/* Reads the scenario with assignments as each run does, to find errors (*e). -EINVAL, -ENOMEM. */
int ibcc_fit_check(const struct ibcc_fit *f, const struct ibcc_words *set,
		   struct ibcc_yaml_errors *e);

/* Runs what the rows need with assignments on top, in the calling thread; may be called by several
 * at once. Returns {"fit","result":{"miss","ROW"...},"cpu_s","packet_hops"} in *out, to be freed;
 * -EINVAL with errors in *e, those of the engine, -ENOMEM.
 */
int ibcc_fit_run(const struct ibcc_fit *f, const struct ibcc_words *set, json_t **out,
		 struct ibcc_yaml_errors *e);

/* Hash of all that results depend on, as ibcc_sweep_id(): the fit's file, the experiment, the
 * scenario, assignments on top and the keys of a grid. -errno of reading.
 */
int ibcc_fit_id(const struct ibcc_fit *f, const struct ibcc_words *set, const struct ibcc_grid *g,
		char id[17]);

#endif
