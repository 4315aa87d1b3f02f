/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/bench/experiment_read.h"

#include <stdio.h>

#include "perftest/bench/figure.h"

static int add_word(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, unsigned int index,
		    void *arg, struct ibcc_yaml_errors *e)
{
	const char *s = ibcc_yaml_scalar(n);

	(void)index;
	if (!s)
		return ibcc_yaml_want(y, e, n, NULL, "a word");
	return ibcc_words_add(arg, s);
}

int ibcc_exp_read_words(const struct ibcc_exp_reader *r, const struct ibcc_yaml_node *n,
			const char *path, struct ibcc_words *words)
{
	if (!n)
		return 0;
	if (ibcc_yaml_scalar(n))
		return add_word(r->y, n, 0, words, r->e);
	return ibcc_yaml_each(r->y, n, path, add_word, words, r->e);
}

struct ibcc_exp_variant *ibcc_exp_find_variant(struct ibcc_experiment *x, const char *name)
{
	for (size_t i = 0; i < x->n_variants; i++)
		if (!strcmp(x->variant[i].name, name))
			return &x->variant[i];
	return NULL;
}

int ibcc_exp_collect(const struct ibcc_exp_reader *r, const struct ibcc_yaml_node *like,
		     const struct ibcc_yaml_node *set, const char *path, struct ibcc_words *out)
{
	struct ibcc_words names = { 0 };
	int rc = ibcc_exp_read_words(r, like, path, &names);

	for (size_t i = 0; i < names.n && !rc; i++) {
		const struct ibcc_exp_variant *v = ibcc_exp_find_variant(r->x, names.w[i]);

		rc = v ? ibcc_words_add_all(out, &v->set)
		       : ibcc_yaml_want(r->y, r->e, like, path, "variants that come before");
	}
	ibcc_words_fini(&names);
	return rc ? rc : ibcc_exp_read_words(r, set, path, out);
}

int ibcc_exp_add_row(const struct ibcc_exp_reader *r, const struct ibcc_exp_row *from,
		     const char *word, const struct ibcc_yaml_node *at)
{
	struct ibcc_exp_row *row = ibcc_exp_append(&r->x->row, &r->x->n_rows, sizeof(*row));
	char why[200];

	if (!row)
		return -ENOMEM;
	*row = *from;
	if (!ibcc_figure_fill(row->name, sizeof(row->name), from->name, word) ||
	    !ibcc_figure_fill(row->value, sizeof(row->value), from->value, word))
		return ibcc_yaml_want(r->y, r->e, at, "rows", "shorter texts");
	for (size_t i = 0; i + 1 < r->x->n_rows; i++)
		if (!strcmp(r->x->row[i].name, row->name))
			return ibcc_yaml_want(r->y, r->e, at, "rows.name",
					      "different names, not \"%s\" again", row->name);
	if (ibcc_figure_check(r->x, row->value, why, sizeof(why))) {
		ibcc_yaml_error(r->y, r->e, at, "rows.value", "%s", why);
		return -EINVAL;
	}
	return 0;
}

int ibcc_exp_beside(const char *file, const char *folder, const char *name, char *path, size_t len)
{
	const char *slash = strrchr(file, '/');
	int n;

	if (*name == '/')
		n = snprintf(path, len, "%s", name);
	else
		n = snprintf(path, len, "%.*s../%s/%s", slash ? (int)(slash - file) + 1 : 0, file,
			     folder, name);
	return n < (int)len ? 0 : -ENAMETOOLONG;
}
