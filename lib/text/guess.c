/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <ibcc/guess.h>

#include <string.h>

#define MAX_WORD 32u /* longer words are not guessed at */

/* Edits (insert, delete, replace, swap of neighbours) that make b of a. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int d[3][MAX_WORD + 2]; /* rows i - 2, i - 1 and i */
	unsigned int la = (unsigned int)strlen(a), lb = (unsigned int)strlen(b), i, j;

	for (j = 0; j <= lb; j++)
		d[0][j] = j;
	for (i = 1; i <= la; i++) {
		unsigned int *row = d[i % 3];
		const unsigned int *up = d[(i + 2) % 3], *upup = d[(i + 1) % 3];

		row[0] = i;
		for (j = 1; j <= lb; j++) {
			unsigned int best = up[j - 1] + (a[i - 1] != b[j - 1]);

			if (up[j] + 1 < best)
				best = up[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    upup[j - 2] + 1 < best)
				best = upup[j - 2] + 1;
			row[j] = best;
		}
	}
	return d[la % 3][lb];
}

const char *ibcc_guess_word(const char *word, const char *(*candidate)(const void *arg, size_t i),
			    const void *arg, size_t n)
{
	size_t len = strlen(word), i;
	unsigned int limit = len < 4 ? 1 : (unsigned int)len / 3 + 1;
	const char *best = NULL;

	if (!len || len > MAX_WORD)
		return NULL;
	for (i = 0; i < n; i++) {
		const char *c = candidate(arg, i);
		unsigned int d;

		if (strlen(c) > MAX_WORD)
			continue;
		d = distance(word, c);
		/* A word that differs in every letter is no misspelling. */
		if (d < limit + !best && d < len && d < strlen(c)) {
			limit = d;
			best = c;
		}
	}
	return best;
}
