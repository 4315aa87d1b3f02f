/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/bench/wire.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include <ibcc/now.h>

#include "perftest/mpa/measure.h"

/* Applies an assignment to the mapping `mpa`. */
static int assign(struct ibcc_yaml *y, const char *word, struct ibcc_yaml_errors *e)
{
	char *text;
	int rc;

	if (asprintf(&text, "mpa.%s", word) < 0)
		return -ENOMEM;
	rc = ibcc_yaml_set(y, text, e);
	free(text);
	return rc;
}

int ibcc_exp_wire_load(const struct ibcc_experiment *x, const struct ibcc_words *set,
		       struct ibcc_exp_wire **out, struct ibcc_yaml_errors *e)
{
	struct ibcc_exp_wire *w = calloc(1, sizeof(*w));
	struct ibcc_yaml *y = w ? ibcc_yaml_load(x->wire, NULL, e) : NULL;
	int rc = 0, bad;

	if (!y) {
		rc = w ? -errno : -ENOMEM;
		free(w);
		return rc;
	}
	for (size_t i = 0; i < set->n; i++) {
		bad = assign(y, set->w[i], e);
		rc = rc ? rc : bad;
	}
	bad = ibcc_mpa_settings_read(y, ibcc_yaml_get(y, ibcc_yaml_root(y), "mpa"), &w->settings,
				     e);
	rc = rc ? rc : bad;
	ibcc_yaml_free(y);
	if (rc)
		free(w);
	else
		*out = w;
	return rc;
}

int ibcc_exp_wire_run(struct ibcc_exp_wire *w)
{
	double start = ibcc_now_of_s(CLOCK_PROCESS_CPUTIME_ID);
	int rc = ibcc_mpa_measure(&w->settings, w->result);

	w->cpu_s = ibcc_now_of_s(CLOCK_PROCESS_CPUTIME_ID) - start;
	return rc;
}

static int find_subject(const struct ibcc_mpa_settings *s, const char *name)
{
	for (size_t i = 0; i < s->n_subjects; i++)
		if (!strcmp(s->subject[i].name, name))
			return (int)i;
	return -1;
}

bool ibcc_exp_wire_has(const struct ibcc_experiment *x, const char *subject, const char *figure)
{
	return find_subject(&x->mpa, subject) >= 0 && ibcc_mpa_figure_find(figure) >= 0;
}

double ibcc_exp_wire_figure(const struct ibcc_exp_wire *w, const char *subject, const char *figure)
{
	/* Assignments may have removed a subject. */
	int i = find_subject(&w->settings, subject), f = ibcc_mpa_figure_find(figure);

	return i >= 0 && f >= 0 ? w->result[i].figure[f] : NAN;
}
