/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Fields of CSV files (RFC 4180), safe to open in a spreadsheet. */
#include <ibcc/csv.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Whether a spreadsheet would take a text for a formula (OWASP: CSV injection). Numbers, also
 * negative ones, are none. */
static bool is_formula(const char *text)
{
	char *end;

	if (!*text || !strchr("=+-@\t\r", *text))
		return false;
	if (strchr("=@\t\r", *text))
		return true;
	if (!text[1]) /* "-": no value */
		return false;
	(void)strtod(text, &end);
	return end == text || (*end && strcmp(end, " %"));
}

void ibcc_csv_put(FILE *out, const char *text)
{
	bool quoted = strpbrk(text, ",\"\r\n");

	if (quoted)
		fputc('"', out);
	if (is_formula(text))
		fputc('\'', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	if (quoted)
		fputc('"', out);
}
