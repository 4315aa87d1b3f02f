/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>

void ibcc_text_add(struct ibcc_text *x, const char *fmt, ...)
{
	size_t at = x->n < x->len ? x->n : x->len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(at < x->len ? x->buf + at : NULL, x->len - at, fmt, ap);
	va_end(ap);
	if (n > 0)
		x->n += (size_t)n;
}
