/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Text of netfiles. Private to netfile*.c. */
#ifndef IBCC_IO_NETFILE_TEXT_H
#define IBCC_IO_NETFILE_TEXT_H

#include <stddef.h>

#include <ibcc/link.h>

#define IBCC_NETFILE_LINE_BYTES 4096

/* What follows the last quoted text of a line: a description may hold anything. */
const char *ibcc_netfile_behind_quotes(const char *line);

/* Takes one of the options width or w, speed or s, extspeed or e by its first letter, with its
 * value: the highest of what its mask enables. Returns what the value has to be if it is not that,
 * else NULL.
 */
const char *ibcc_netfile_option(char option, const char *value, unsigned int *lanes,
				enum ibcc_link_speed *speed);

/* The word of a port's line that tells its width and speed, as "4xQDR", and how long it is; NULL:
 * there is none. It may be one that nobody knows.
 */
const char *ibcc_netfile_find_rate(const char *line, size_t *len);

#endif
