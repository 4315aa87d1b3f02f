/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Unified diffs of texts that have the same number of lines. The form is that of GNU diff 3.8,
 * "Detailed Description of Unified Format".
 */
#include <ibcc/diff.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTEXT 3u

/* A line with its newline; only the last one can lack it. */
struct line {
	const char *at;
	size_t len;
};

struct lines {
	struct line *line; /* owned */
	size_t n;
};

static int split(const char *text, size_t len, struct lines *l)
{
	const char *end = text + len, *newline;
	size_t n = 1;

	for (const char *s = text; s < end; s++)
		n += *s == '\n';
	*l = (struct lines){ calloc(n, sizeof(*l->line)), 0 };
	if (!l->line)
		return -ENOMEM;
	while (text < end) {
		newline = memchr(text, '\n', (size_t)(end - text));
		newline = newline ? newline + 1 : end;
		l->line[l->n++] = (struct line){ text, (size_t)(newline - text) };
		text = newline;
	}
	return 0;
}

static bool is_same(const struct lines *a, const struct lines *b, size_t i)
{
	return a->line[i].len == b->line[i].len &&
	       !memcmp(a->line[i].at, b->line[i].at, a->line[i].len);
}

static void put_line(char sign, const struct line *l, FILE *out)
{
	putc(sign, out);
	fwrite(l->at, 1, l->len, out);
	if (l->at[l->len - 1] != '\n')
		fputs("\n\\ No newline at end of file\n", out);
}

/* Lines from..to - 1, which begin and end with context. */
static void put_hunk(const struct lines *a, const struct lines *b, size_t from, size_t to,
		     FILE *out)
{
	char count[32] = "";
	size_t i = from, run;

	if (to - from != 1)
		snprintf(count, sizeof(count), ",%zu", to - from);
	fprintf(out, "@@ -%zu%s +%zu%s @@\n", from + 1, count, from + 1, count);
	while (i < to) {
		for (run = i; run < to && !is_same(a, b, run); run++)
			put_line('-', &a->line[run], out);
		for (; i < run; i++)
			put_line('+', &b->line[i], out);
		for (; i < to && is_same(a, b, i); i++)
			put_line(' ', &a->line[i], out);
	}
}

static void put_diff(const struct lines *a, const struct lines *b, FILE *out)
{
	size_t from, last, i = 0;

	for (;;) {
		while (i < a->n && is_same(a, b, i))
			i++;
		if (i == a->n)
			return;
		from = i > CONTEXT ? i - CONTEXT : 0;
		/* Changes whose contexts meet share a hunk. */
		for (last = i; i < a->n && i - last <= 2 * CONTEXT + 1; i++)
			if (!is_same(a, b, i))
				last = i;
		i = last + CONTEXT + 1 < a->n ? last + CONTEXT + 1 : a->n;
		put_hunk(a, b, from, i, out);
	}
}

int ibcc_diff(const char *a_name, const char *a, size_t a_len, const char *b_name, const char *b,
	      size_t b_len, char **out)
{
	struct lines la = { NULL, 0 }, lb = { NULL, 0 };
	size_t len = 0;
	FILE *f = NULL;
	int rc;

	*out = NULL;
	rc = split(a, a_len, &la);
	if (!rc)
		rc = split(b, b_len, &lb);
	if (!rc && la.n != lb.n)
		rc = -EINVAL;
	if (rc)
		goto out;
	f = open_memstream(out, &len);
	if (!f) {
		rc = -ENOMEM;
		goto out;
	}
	if (a_len != b_len || memcmp(a, b, a_len)) {
		fprintf(f, "--- %s\n+++ %s\n", a_name, b_name);
		put_diff(&la, &lb, f);
	}
	if (ferror(f) | fclose(f)) {
		free(*out);
		*out = NULL;
		rc = -ENOMEM;
	}
out:
	free(la.line);
	free(lb.line);
	return rc;
}
