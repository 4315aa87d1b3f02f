/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The reason of an error as a sentence beside its number (why.h). */
#include <ibcc/why.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int ibcc_why_set(struct ibcc_why *w, int err, const char *fmt, ...)
{
	char text[IBCC_WHY_BYTES];
	va_list ap;

	if (!w)
		return err;
	/* By way of a copy: the old sentence may be among the arguments. */
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	memcpy(w->text, text, sizeof(text));
	return err;
}
