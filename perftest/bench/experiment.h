/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Experiments as data: variants of a scenario, or of a measurement with real octets on the clock of
 * this machine; the figures to measure; and the published values. A file
 * perftest/experiments/NAME.yaml is all that a new experiment needs.
 */
#ifndef PERFTEST_BENCH_EXPERIMENT_H
#define PERFTEST_BENCH_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ibcc/measure.h>
#include <ibcc/scenario.h>
#include <ibcc/yaml.h>

#include "perftest/bench/live.h"
#include "perftest/bench/words.h"
#include "perftest/mpa/settings.h"

#define IBCC_EXP_NAME_BYTES  96u
#define IBCC_EXP_VALUE_BYTES 384u

/* The ways of congestion control that a case is run with. */
enum ibcc_exp_column {
	IBCC_EXP_COLUMN_NONE,      /* a variant of its own */
	IBCC_EXP_COLUMN_OFF,       /* no congestion control */
	IBCC_EXP_COLUMN_PUBLISHED, /* a published static setting */
	IBCC_EXP_COLUMN_FORMULAS,  /* what the published formulas give, see statics.h */
	IBCC_EXP_COLUMN_BEST,      /* the best static setting of a search, see oracle_file.h */
	IBCC_EXP_COLUMN_LIVE,      /* the daemon's loop */
	IBCC_EXP_N_COLUMNS,
};
const char *ibcc_exp_column_name(enum ibcc_exp_column c);

/* One scenario, of which each column is the variant CASE/COLUMN. */
struct ibcc_exp_case {
	char name[IBCC_EXP_NAME_BYTES];
	bool rules;    /* include the rows that hold for all cases */
	bool settles;  /* include the rows on changes, for cases without change */
	bool has_best; /* a best static setting is known */
};

/* Where a variant's marking profile of DCQCN comes from. */
enum ibcc_exp_profile {
	IBCC_EXP_PROFILE_GIVEN,   /* the scenario's */
	IBCC_EXP_PROFILE_ADVISED, /* what ibcc-tune advise comes to, see watch.h */
	IBCC_EXP_PROFILE_BEST,    /* of a search, see statics.h */
};

/* The scenario with some values set, run once for each of `seeds` seeds. */
struct ibcc_exp_variant {
	char name[IBCC_EXP_NAME_BYTES];
	struct ibcc_words set;
	uint32_t seeds;
	bool live;   /* with the daemon's loop */
	int profile; /* enum ibcc_exp_profile */
	enum ibcc_exp_column column;
	size_t exp_case; /* index, of a variant with a column */
	struct ibcc_live_options control;
	bool needed; /* a row that is asked for uses it */
};

struct ibcc_exp_row {
	char name[IBCC_EXP_NAME_BYTES], unit[24];
	char value[IBCC_EXP_VALUE_BYTES];  /* see figure.h */
	char reason[IBCC_EXP_VALUE_BYTES]; /* of the bounds where nothing was published */
	double published, low, high;       /* NAN: none */
	bool only_full;                    /* not in the shortened form */
	/* Results. */
	double measured; /* NAN: unknown */
	bool ok;
};

/* One value of the scenario varied, and what comes of it. */
struct ibcc_exp_series {
	char name[IBCC_NAME_BYTES], title[IBCC_EXP_NAME_BYTES], label[IBCC_EXP_NAME_BYTES];
	size_t n, first_variant; /* points, which are variants in a row */
	double *x;
	size_t n_columns;
	struct ibcc_exp_row *column; /* name, unit and value, in which {} is the point's variant */
	double *y;                   /* [column * n + point] */
	bool needed;                 /* as a variant */
};

struct ibcc_experiment {
	char name[IBCC_NAME_BYTES], title[160], source[320];
	char scenario[1024]; /* path; "": an experiment of the other kind */
	char wire[1024];     /* path of the file itself, if it is measured with real octets */
	struct ibcc_mpa_settings mpa; /* settings for that, as the file has them */
	struct ibcc_words limits;     /* caveats to print with the figures */
	struct ibcc_words shortened;  /* assignments of the shortened form */
	size_t n_variants, n_cases, n_rows, n_series;
	struct ibcc_exp_case *exp_case;
	struct ibcc_exp_variant *variant;
	struct ibcc_exp_row *row;
	struct ibcc_exp_series *series;
	struct ibcc_words plot; /* variants to plot as time series */
};

/* Reads a file: all errors in *e, with -EINVAL, -ENOENT..., -ENOMEM. */
int ibcc_experiment_load(const char *file, struct ibcc_experiment *x, struct ibcc_yaml_errors *e);
void ibcc_experiment_fini(struct ibcc_experiment *x);

/* What one variant gave with one seed. */
struct ibcc_exp_run {
	size_t variant;
	uint32_t k; /* which of the variant's seeds */
	struct ibcc_scenario scenario;
	struct ibcc_measure measure;
	struct ibcc_live_result live; /* without rounds if the variant is not live */
	struct ibcc_exp_wire *wire;   /* for an experiment with real octets, in place of these */
	double cpu_s;
};

struct ibcc_exp_options {
	bool shortened, plot; /* plot: also run the variants to plot */
	bool columns;         /* all columns of the cases, whether a row needs them or not */
	uint64_t seed;        /* 0: the scenario's */
	const struct ibcc_words *set;
	unsigned int threads;
};

struct ibcc_exp_result {
	size_t n_runs;
	struct ibcc_exp_run *run; /* in the order of the variants */
	uint64_t packet_hops;
	double cpu_s, wall_s, simulated_s;
	bool ok; /* all rows are ok */
};

/* Runs all variants that are needed, fills in the rows and series of *x. -EINVAL with errors, those
 * of the engine, -ENOMEM. *r needs ibcc_experiment_result_fini() in any case.
 */
int ibcc_experiment_run(struct ibcc_experiment *x, const struct ibcc_exp_options *o,
			struct ibcc_exp_result *r, struct ibcc_yaml_errors *e);
void ibcc_experiment_result_fini(struct ibcc_exp_result *r);

#endif
