/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Prints a prediction in a few sentences (prediction.h). Figures are percentages of the present
 * values.
 */
#include "daemon/tune/prediction.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/tune/changes.h"
#include "daemon/tune/prose.h"
#include "daemon/tune/tune.h"

#define ROOTS_SHOWN 4u

static double member(const json_t *amount, const char *key)
{
	return json_number_value(json_object_get(amount, key));
}

/* The change in percent of the present value. */
static double change(const json_t *amount, const char *key)
{
	double now = member(amount, "now_mbps");

	return now > 0 ? 100 * (member(amount, key) / now - 1) : 0;
}

/* A whole percentage, with no sign before zero. */
static int whole(double percent)
{
	return (int)lround(percent);
}

static void print_basis(FILE *out, const json_t *p)
{
	json_int_t age_s = tune_int(p, "baseline_age_s");
	const json_t *replay = json_object_get(p, "replay");

	if (age_s < 120)
		fprintf(out, " (traffic of %lld s ago", (long long)age_s);
	else
		fprintf(out, " (traffic of %lld min ago", (long long)(age_s + 30) / 60);
	if (json_is_object(replay))
		fprintf(out, ", replay within %lld %%",
			(long long)(tune_int(replay, "rate_permille") + 9) / 10);
	fputs(")", out);
}

static void print_roots(FILE *out, const json_t *p)
{
	const json_t *roots = json_object_get(p, "roots"), *o;
	char node[160];
	size_t i;

	json_array_foreach (roots, i, o)
		if (i < ROOTS_SHOWN)
			fprintf(out, "%s root %s port %lld %+d %% (+-%d)", i ? "," : "",
				tune_node_text(o, node, sizeof(node)),
				(long long)tune_int(o, "port"), whole(change(o, "expected_mbps")),
				whole(change(o, "high_mbps") - change(o, "expected_mbps")));
	if (i > ROOTS_SHOWN)
		fprintf(out, " and %zu more", i - ROOTS_SHOWN);
}

/* Prints the amounts that have only bounds. */
static void print_open(FILE *out, const json_t *p)
{
	const json_t *roots = json_object_get(p, "open_roots"), *o;
	char node[160];
	size_t i;

	json_array_foreach (roots, i, o)
		if (i < ROOTS_SHOWN)
			fprintf(out, "%s root %s port %lld %+d to %+d %%", i ? "," : "",
				tune_node_text(o, node, sizeof(node)),
				(long long)tune_int(o, "port"), whole(change(o, "low_mbps")),
				whole(change(o, "high_mbps")));
	if (i > ROOTS_SHOWN)
		fprintf(out, " and %zu more", i - ROOTS_SHOWN);
}

/* Packets that go through no root, and what the plan gives for what. Predictions in the history of
 * an earlier release have `trades` without `costs`.
 */
static void print_latency(FILE *out, const json_t *p, const char *what)
{
	const json_t *o = json_object_get(p, "latency");
	bool latency = json_is_object(o);

	if (latency)
		fprintf(out,
			" Packets to other destinations take %.3g us now and %.3g us with the "
			"%s, on average.",
			member(o, "now_us"), member(o, "expected_us"), what);
	if (strcmp(what, "plan"))
		return;
	if (!json_is_true(json_object_get(p, "trades"))) {
		if (!json_is_true(json_object_get(p, "costs")))
			return;
		fputs(latency ? " So the plan costs throughput, and reduces latency little or not "
				"at all. It is not recommended."
			      : " So the plan costs throughput. It is not recommended.",
		      out);
		return;
	}
	fputs(" So the plan costs throughput and reduces latency.", out);
	if (json_is_true(json_object_get(p, "advised")))
		fputs(" It is recommended, because the configuration has prefer: latency.", out);
	else
		fputs(" It is not recommended, because the configuration has prefer: throughput.",
		      out);
}

static void write_prediction(FILE *out, const json_t *p, const char *what)
{
	const json_t *victims = json_object_get(p, "victims"), *total = json_object_get(p, "total");
	bool roots = json_array_size(json_object_get(p, "roots")) > 0;
	bool open = json_array_size(json_object_get(p, "open_roots")) > 0;
	const char *why = json_string_value(json_object_get(p, "roots_why"));

	if (json_is_true(json_object_get(p, "known"))) {
		fputs("Predicted", out);
		print_basis(out, p);
		fputs(":", out);
		if (member(victims, "now_mbps") > 0)
			fprintf(out, " victims %+d %% (%d to %d),",
				whole(change(victims, "expected_mbps")),
				whole(change(victims, "low_mbps")),
				whole(change(victims, "high_mbps")));
		fprintf(out, " total %+d %% (+-%d)%s", whole(change(total, "expected_mbps")),
			whole(change(total, "high_mbps") - change(total, "expected_mbps")),
			roots || open ? "," : "");
		print_roots(out, p);
		print_open(out, p);
		fputc('.', out);
		if (!roots && !open && why)
			fprintf(out, " The roots' rates are not predicted: %s.", why);
		print_latency(out, p, what);
		return;
	}
	if (roots || open) {
		fputs("Predicted:", out);
		print_roots(out, p);
		print_open(out, p);
		fputs(". ", out);
	} else {
		fputs("Prediction: none. ", out);
	}
	fprintf(out, "The victims' gain is not predicted: %s.", tune_str(p, "why"));
}

void tune_print_prediction(const json_t *p, const char *what)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return;
	write_prediction(out, p, what);
	if (!fclose(out)) {
		putchar('\n');
		tune_say("", "%s", text);
	}
	free(text);
}
