/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Texts from outside (nodes, plugin, daemon, files) on their way to a terminal or a log, which may
 * obey what is in them.
 */
#ifndef IBCC_CLEAN_H
#define IBCC_CLEAN_H

#include <stddef.h>

/* Replaces in place what is no printable text, byte by byte by '?', white space by a blank: control
 * characters of ASCII and Unicode (C0, DEL, C1), what changes the direction of writing, separators
 * of lines, and bytes that are no UTF-8 (RFC 3629). Characters of ASCII in `keep` stay.
 */
void ibcc_clean(char *text, const char *keep);

/* How many bytes of a text, at most `len`, can stay without cutting a character of UTF-8 in two. */
size_t ibcc_clean_cut(const char *text, size_t len);

#endif
