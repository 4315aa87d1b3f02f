/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Texts, GUIDs, changes and settings as JSON: one form for all outputs. Fields have the annex's
 * names as keys.
 *
 * Functions that return JSON return a new reference, NULL without memory.
 */
#ifndef IBCC_JSON_H
#define IBCC_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/* A string from outside (node descriptions): bytes that are no UTF-8 become '?'. */
json_t *ibcc_json_text(const char *text);

/* Cleans all strings and keys in place, as ibcc_clean() does. 0 or -ENOMEM, when some may be left.
 */
int ibcc_json_clean(json_t *o);

/* GUIDs are strings, "0x0002c90300a1b2c3". */
json_t *ibcc_json_guid(uint64_t guid);
bool ibcc_json_read_guid(const json_t *v, uint64_t *guid);

/* Bytes are strings of two digits each, "00ff". */
json_t *ibcc_json_hex(const uint8_t *data, size_t n);
/* Of a string of exactly n bytes. */
bool ibcc_json_read_hex(const json_t *v, uint8_t *data, size_t n);

/* A whole number in 0..max. */
bool ibcc_json_read_whole(const json_t *v, json_int_t max, json_int_t *out);

/* Appends `part` to a list, folded: as text, which takes a tenth of the memory of a tree. If `part`
 * is a list, appends its elements. Takes `part` over. Returns 0 or -ENOMEM, the latter also for
 * NULL. The number of elements of a folded list is not available, only whether it has any.
 */
int ibcc_json_fold(json_t *list, json_t *part);
/* As text on one line, with folded elements in their places; the caller's. NULL without memory. */
char *ibcc_json_dump(const json_t *o);
/* As it would be if nothing had been folded: takes `o` over. NULL without memory. */
json_t *ibcc_json_unfold(json_t *o);

#endif
