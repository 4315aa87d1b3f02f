/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Appends to the text of the metrics (metrics_put.h). printf() would be too slow for 100000 lines
 * in each scrape.
 */
#include "daemon/metrics/metrics_put.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/clean.h>
#include <ibcc/topo.h>

#define FIRST_BYTES 65536u

static bool room(struct ibcc_text *o, size_t more)
{
	size_t cap = o->cap ? o->cap : FIRST_BYTES;
	char *text;

	if (o->failed || o->cap - o->n >= more)
		return !o->failed;
	while (cap - o->n < more)
		cap *= 2;
	text = realloc(o->text, cap);
	o->failed = !text;
	if (!text)
		return false;
	o->text = text;
	o->cap = cap;
	return true;
}

void ibcc_put(struct ibcc_text *o, const char *s)
{
	size_t len = strlen(s);

	if (!room(o, len))
		return;
	memcpy(o->text + o->n, s, len);
	o->n += len;
}

void ibcc_put_u64(struct ibcc_text *o, uint64_t v)
{
	char digit[20];
	size_t n = 0;

	if (!room(o, sizeof(digit)))
		return;
	do
		digit[n++] = (char)('0' + v % 10);
	while (v /= 10);
	while (n)
		o->text[o->n++] = digit[--n];
}

void ibcc_put_guid(struct ibcc_text *o, uint64_t v)
{
	if (!room(o, 18))
		return;
	o->text[o->n++] = '0';
	o->text[o->n++] = 'x';
	for (int shift = 60; shift >= 0; shift -= 4)
		o->text[o->n++] = "0123456789abcdef"[v >> shift & 15];
}

void ibcc_put_parts(struct ibcc_text *o, uint64_t v, uint64_t one)
{
	ibcc_put_u64(o, v / one);
	if (!room(o, 20))
		return;
	o->text[o->n++] = '.';
	for (uint64_t d = one / 10; d; d /= 10)
		o->text[o->n++] = (char)('0' + v % one / d % 10);
}

/* Escapes backslash and quotation mark. Cleaning has removed line feeds, which would need it, too.
 */
void ibcc_put_label(struct ibcc_text *o, const char *text)
{
	char clean[IBCC_DESC_BYTES], piece[3] = "\\";

	snprintf(clean, sizeof(clean), "%s", text);
	ibcc_clean(clean, "");
	for (const char *s = clean; *s; s++) {
		piece[1] = *s;
		ibcc_put(o, *s == '\\' || *s == '"' ? piece : piece + 1);
	}
}
