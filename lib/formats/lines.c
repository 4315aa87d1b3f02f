/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads a text file line by line, with errors by line and column. */
#include "lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ibcc_lines_fail(const struct ibcc_lines *l, const char *line, const char *at, const char *want)
{
	ibcc_yaml_errors_add(l->e, l->file, l->line, (unsigned int)(at - line) + 1,
			     "got \"%.60s\", want %s", at, want);
	return -EINVAL;
}

int ibcc_lines_read(struct ibcc_lines *l, int (*fn)(void *arg, const char *line), void *arg)
{
	FILE *f = fopen(l->file, "re");
	char *line = NULL;
	size_t cap = 0;
	int rc = 0;

	if (!f) {
		ibcc_yaml_errors_add(l->e, l->file, 0, 0, "cannot be read: %s", strerror(errno));
		return -EINVAL;
	}
	errno = 0;
	while (rc != -ENOMEM && getline(&line, &cap, f) >= 0) {
		l->line++;
		line[strcspn(line, "\r\n")] = '\0';
		rc = fn(arg, line);
		errno = 0;
	}
	/* Without memory for a line, getline() fails and need not mark the stream. */
	if (errno == ENOMEM)
		rc = -ENOMEM;
	else if (ferror(f))
		ibcc_yaml_errors_add(l->e, l->file, 0, 0, "cannot be read: %s", strerror(errno));
	free(line);
	fclose(f);
	return rc == -ENOMEM ? rc : 0;
}
