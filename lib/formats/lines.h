/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Files of stock tools' output that are read line by line. Private to this folder. */
#ifndef IBCC_FORMATS_LINES_H
#define IBCC_FORMATS_LINES_H

#include <ibcc/yaml.h>

/* Where the reader is. */
struct ibcc_lines {
	const char *file;
	unsigned int line; /* from 1 on */
	struct ibcc_yaml_errors *e;
};

/* Adds the error 'got "AT", want WANT' at a part of the line that is read. -EINVAL. */
int ibcc_lines_fail(const struct ibcc_lines *l, const char *line, const char *at, const char *want);

/* Calls fn with each line of the file, which may be of any length, without its end. What fn returns
 * counts only if it is -ENOMEM, which ends the reading: fn reports errors by itself, and the lines
 * after one of them are read, too. 0, -ENOMEM, or -EINVAL with an error: it cannot be opened.
 */
int ibcc_lines_read(struct ibcc_lines *l, int (*fn)(void *arg, const char *line), void *arg);

#endif
