/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "daemon/tune/prediction.h"

#include <math.h>
#include <stdio.h>

#include "daemon/tune/changes.h"
#include "daemon/tune/tune.h"

#define ROOTS_SHOWN 4u

static double member(const json_t *amount, const char *key)
{
	return json_number_value(json_object_get(amount, key));
}

/* In percent of the present. */
static double change(const json_t *amount, const char *key)
{
	double now = member(amount, "now_mbps");

	return now > 0 ? 100 * (member(amount, key) / now - 1) : 0;
}

/* A whole percentage without a sign before zero. */
static int whole(double percent)
{
	return (int)lround(percent);
}

static void print_basis(const json_t *p)
{
	json_int_t age_s = tune_int(p, "baseline_age_s");
	const json_t *replay = json_object_get(p, "replay");

	if (age_s < 120)
		printf(" (traffic of %lld s ago", (long long)age_s);
	else
		printf(" (traffic of %lld min ago", (long long)(age_s + 30) / 60);
	if (json_is_object(replay))
		printf(", replay within %lld %%",
		       (long long)(tune_int(replay, "rate_permille") + 9) / 10);
	fputs(")", stdout);
}

static void print_roots(const json_t *p)
{
	const json_t *roots = json_object_get(p, "roots"), *o;
	char node[160];
	size_t i;

	json_array_foreach (roots, i, o)
		if (i < ROOTS_SHOWN)
			printf("%s root %s port %lld %+d %% (+-%d)", i ? "," : "",
			       tune_node_text(o, node, sizeof(node)),
			       (long long)tune_int(o, "port"), whole(change(o, "expected_mbps")),
			       whole(change(o, "high_mbps") - change(o, "expected_mbps")));
	if (i > ROOTS_SHOWN)
		printf(" and %zu more", i - ROOTS_SHOWN);
}

void tune_print_prediction(const json_t *p)
{
	const json_t *victims = json_object_get(p, "victims"), *total = json_object_get(p, "total");
	bool roots = json_array_size(json_object_get(p, "roots")) > 0;

	if (json_is_true(json_object_get(p, "known"))) {
		fputs("\nPredicted", stdout);
		print_basis(p);
		fputs(":", stdout);
		if (member(victims, "now_mbps") > 0)
			printf(" victims %+d %% (%d to %d),",
			       whole(change(victims, "expected_mbps")),
			       whole(change(victims, "low_mbps")),
			       whole(change(victims, "high_mbps")));
		printf(" total %+d %% (+-%d)%s", whole(change(total, "expected_mbps")),
		       whole(change(total, "high_mbps") - change(total, "expected_mbps")),
		       roots ? "," : "");
		print_roots(p);
		puts(".");
		return;
	}
	if (roots) {
		fputs("\nPredicted:", stdout);
		print_roots(p);
		fputs(". ", stdout);
	} else {
		fputs("\nPrediction: none. ", stdout);
	}
	printf("What victims gain cannot be told: %s.\n", tune_str(p, "why"));
}
