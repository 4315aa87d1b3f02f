/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sentences that are put together from pieces in a buffer of fixed size (text.h). */
#include <ibcc/text.h>

#include <stdarg.h>
#include <stdio.h>

__attribute__((format(printf, 2, 0))) static void add(struct ibcc_text *x, const char *fmt,
						      va_list ap)
{
	size_t at = x->n < x->len ? x->n : x->len;
	int n = vsnprintf(at < x->len ? x->buf + at : NULL, x->len - at, fmt, ap);

	if (n > 0)
		x->n += (size_t)n;
}

void ibcc_text_add(struct ibcc_text *x, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(x, fmt, ap);
	va_end(ap);
}

void ibcc_text_say(struct ibcc_text *x, const char *fmt, ...)
{
	va_list ap;

	if (x->n)
		ibcc_text_add(x, "; ");
	va_start(ap, fmt);
	add(x, fmt, ap);
	va_end(ap);
}
