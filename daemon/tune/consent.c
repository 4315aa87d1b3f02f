/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A change of the fabric, or of a file of the administrator's, needs a yes: an answer on a
 * terminal, or the option -y. */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "daemon/tune/tune.h"

bool tune_can_consent(const struct tune *t, const char *command)
{
	if (t->yes || (!t->json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
		return true;
	tune_fail("%s: nothing was changed: this command asks before it changes anything, and %s; "
		  "run it on a terminal, or say yes beforehand: ibcc-tune %s -y",
		  command,
		  t->json ? "with -j it cannot ask"
			  : "it can only ask where stdin and stdout are a terminal",
		  command);
	return false;
}

int tune_consent(const struct tune *t, const char *fmt, ...)
{
	char line[16];
	va_list ap;

	if (t->yes)
		return TUNE_OK;
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	fputs(" [y/N] ", stdout);
	fflush(stdout);
	/* Anything but a clear yes is a no. */
	if (fgets(line, sizeof(line), stdin) && (line[0] == 'y' || line[0] == 'Y'))
		return TUNE_OK;
	return tune_fail("nothing was changed");
}
