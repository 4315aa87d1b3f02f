/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Parts of lines of netfiles. Private to netfile*.c. */
#ifndef IBCC_FORMATS_NETFILE_TEXT_H
#define IBCC_FORMATS_NETFILE_TEXT_H

#include <stddef.h>

#include <ibcc/link.h>

#define IBCC_NETFILE_LINE_BYTES 4096

/* What follows the last quoted text of a line: a description may hold anything. */
const char *ibcc_netfile_behind_quotes(const char *line);

/* Reads the value of an option (width or w, speed or s, extspeed or e; given by its first letter):
 * the highest of what its mask enables. Returns NULL, or what the value would have to be.
 */
const char *ibcc_netfile_option(char option, const char *value, unsigned int *lanes,
				enum ibcc_link_speed *speed);

/* The word of a port's line that is its width and speed, as "4xQDR", and its length; NULL: there is
 * none. It may be one that is not known.
 */
const char *ibcc_netfile_find_rate(const char *line, size_t *len);

#endif
