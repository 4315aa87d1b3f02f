/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Each code that a program may get is in the JSON Schema and is explained in the manual, and those
 * that are labels are in the metrics.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include <ibcc/decision.h>

#include "daemon/metrics/metrics.h"
#include "daemon/report/report.h"
#include "daemon/service/service.h"

#define SCHEMA "doc/schema/ibcc-tune.schema.json"
#define MANUAL "man/ibcc-tune-json.7"

static json_t *schema;
static char *manual; /* its section about codes */

static int setup(void **state)
{
	size_t n = 0;
	char *all = NULL, *from, *to;
	FILE *f = fopen(MANUAL, "r");

	(void)state;
	schema = json_load_file(SCHEMA, 0, NULL);
	if (!schema || !f || getdelim(&all, &n, '\0', f) < 0)
		return -1;
	fclose(f);
	from = strstr(all, ".Sh CODES\n");
	to = from ? strstr(from, ".Sh PREDICTION\n") : NULL;
	manual = to ? strndup(from, (size_t)(to - from)) : NULL;
	free(all);
	return manual ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	json_decref(schema);
	free(manual);
	return 0;
}

/* The words of an enum of the schema, by the keys that lead to it. */
static const json_t *words_of(const char *const *keys)
{
	const json_t *o = json_object_get(schema, "$defs");

	for (; *keys; keys++)
		o = json_object_get(o, *keys);
	o = json_object_get(o, "enum");
	assert_true(json_is_array(o));
	return o;
}

static bool has(const json_t *words, const char *name)
{
	const json_t *v;
	size_t i;

	json_array_foreach (words, i, v)
		if (json_is_string(v) && !strcmp(json_string_value(v), name))
			return true;
	return false;
}

/* The first `from` of n names are left out. */
static void assert_told(const char *(*name)(unsigned int), unsigned int from, unsigned int n,
			const char *const *keys)
{
	const json_t *words = words_of(keys), *v;
	unsigned int n_words = 0;
	size_t i;

	if (*name(n))
		fail_msg("the number of codes beside the enum leaves out \"%s\"", name(n));
	for (unsigned int k = from; k < n; k++) {
		char item[64];

		snprintf(item, sizeof(item), ".It Li %s\n", name(k));
		if (!has(words, name(k)))
			fail_msg("%s lacks \"%s\" in $defs/%s", SCHEMA, name(k), keys[0]);
		if (!strstr(manual, item))
			fail_msg("%s lacks \".It Li %s\" in CODES", MANUAL, name(k));
	}
	json_array_foreach (words, i, v) {
		unsigned int k = from;

		while (json_is_string(v) && k < n && strcmp(json_string_value(v), name(k)))
			k++;
		if (k == n)
			fail_msg("%s has \"%s\" in $defs/%s, which is no code", SCHEMA,
				 json_string_value(v), keys[0]);
		n_words += json_is_string(v);
	}
	assert_int_equal(n_words, n - from); /* none twice */
}

static const char *decision(unsigned int i)
{
	return ibcc_decision_name((enum ibcc_decision_code)i);
}

static const char *situation(unsigned int i)
{
	return ibcc_situation_name((enum ibcc_situation_code)i);
}

static const char *phase(unsigned int i)
{
	return ibcc_phase_name((enum ibcc_phase)i);
}

static const char *basis(unsigned int i)
{
	return ibcc_basis_name((enum ibcc_basis)i);
}

static const char *step(unsigned int i)
{
	return ibcc_rollout_step_name((enum ibcc_rollout_step)i);
}

static const char *status(unsigned int i)
{
	return ibcc_root_status_name((enum ibcc_root_status)i);
}

static const char *cause(unsigned int i)
{
	return ibcc_trouble_name((enum ibcc_trouble)i);
}

static void test_told(void **state)
{
	static const char *const code[] = { "decision", "properties", "code", NULL };
	static const char *const found[] = { "situation", "properties", "code", NULL };
	static const char *const in[] = { "phase", NULL }, *const by[] = { "basis", NULL };
	static const char *const why[] = { "root_status", NULL };
	static const char *const part[] = { "step", NULL };
	static const char *const trouble[] = { "status", "properties", "cause", NULL };

	(void)state;
	assert_told(decision, 0, IBCC_DECISION_CODES, code);
	assert_told(situation, 0, IBCC_SITUATION_CODES, found);
	assert_told(phase, 0, IBCC_PHASES, in);
	assert_told(status, 0, IBCC_STATUSES, why);
	assert_told(basis, 0, IBCC_BASIS_LOGGED + 1u, by);
	assert_told(step, 0, IBCC_ROLLOUT_STEPS, part);
	assert_told(cause, 1, IBCC_TROUBLE_SHARED + 1u, trouble);
}

/* Figures that a decision has are named where it is explained. */
static void test_figures(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < IBCC_DECISION_CODES; i++) {
		char item[64];
		const char *from, *to;

		snprintf(item, sizeof(item), ".It Li %s\n", decision(i));
		from = strstr(manual, item);
		if (!from)
			fail_msg("%s lacks \".It Li %s\" in CODES", MANUAL, decision(i));
		to = strstr(from + 1, "\n.It ");
		for (unsigned int k = 0; k < IBCC_DECISION_FIGURES; k++) {
			const char *name = ibcc_decision_figure((enum ibcc_decision_code)i, k);
			const char *at = name ? strstr(from, name) : from;

			if (!at || (to && at > to))
				fail_msg("%s lacks the figure \"%s\" below \".It Li %s\"", MANUAL,
					 name, decision(i));
		}
	}
}

static void assert_label(const char *text, const char *metric, const char *label, const char *word)
{
	char want[160];

	snprintf(want, sizeof(want), "%s{%s=\"%s\"}", metric, label, word);
	if (!strstr(text, want))
		fail_msg("the metrics lack %s", want);
}

/* A root that the tuner follows at port 3 of a node without a GUID. */
static void follow(struct ibcc_metrics *m)
{
	m->has_fabric = true;
	m->node = calloc(1, sizeof(*m->node));
	m->followed = calloc(1, sizeof(*m->followed));
	assert_non_null(m->node);
	assert_non_null(m->followed);
	m->n_nodes = m->n_followed = 1;
	strcpy(m->node[0].desc, "leaf2");
	m->followed[0] = (struct ibcc_metrics_followed){ .num = 3,
							 .has_phase = true,
							 .in_phase = IBCC_PHASE_HOLD,
							 .status = IBCC_STATUS_ADJUSTED };
}

static void assert_state(const char *text, const char *metric, const char *label, const char *word,
			 bool is)
{
	char want[200];

	snprintf(want, sizeof(want),
		 "\n%s{guid=\"0x0000000000000000\",port=\"3\",node=\"leaf2\",%s=\"%s\"} %d\n",
		 metric, label, word, is);
	if (!strstr(text, want))
		fail_msg("the metrics lack %s", want);
}

/* All codes are there from the beginning, so that a rate can be computed of the first. Of each root
 * one phase and one status is 1.
 */
static void test_labels(void **state)
{
	const struct ibcc_metrics_service service = { .apply = true };
	const struct ibcc_metrics_totals totals = { .passes = 1 };
	struct ibcc_metrics *m = ibcc_metrics_new(NULL, &service, &totals);
	struct ibcc_metrics_now now = { .state = "ok" };
	size_t len;
	char *text;

	(void)state;
	assert_non_null(m);
	follow(m);
	text = ibcc_metrics_text(m, &now, &len);
	assert_non_null(text);
	for (unsigned int i = 0; i < IBCC_DECISION_CODES; i++)
		assert_label(text, "ibcc_root_decisions_total", "code", decision(i));
	for (unsigned int i = 0; i < IBCC_PHASES; i++)
		assert_state(text, "ibcc_root_phase", "phase", phase(i), i == IBCC_PHASE_HOLD);
	for (unsigned int i = 0; i < IBCC_STATUSES; i++)
		assert_state(text, "ibcc_root_status", "status", status(i),
			     i == IBCC_STATUS_ADJUSTED);
	free(text);
	ibcc_metrics_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_told),
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_labels),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
