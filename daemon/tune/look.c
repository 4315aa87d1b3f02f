/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Units and colours of the command line's output (look.h). */
#include "daemon/tune/look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ibcc/rates.h>

#include "daemon/tune/prose.h"

static bool in_gbps, in_color;

bool tune_set_units(const char *name)
{
	in_gbps = !strcmp(name, "Gb/s");
	return in_gbps || !strcmp(name, "MB/s");
}

/* https://no-color.org: set and not empty. */
static bool color_is_welcome(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no && *no) && isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb");
}

bool tune_set_color(const char *when)
{
	in_color = !strcmp(when, "always") || (!strcmp(when, "auto") && color_is_welcome());
	return in_color || !strcmp(when, "never") || !strcmp(when, "auto");
}

const char *tune_style(enum tune_style style)
{
	static const char *const begin[TUNE_STYLES] = {
		[TUNE_PLAIN] = "\033[0m", [TUNE_BOLD] = "\033[1m",   [TUNE_DIM] = "\033[2m",
		[TUNE_RED] = "\033[31m",  [TUNE_GREEN] = "\033[32m", [TUNE_YELLOW] = "\033[33m",
	};

	return in_color ? begin[style] : "";
}

const char *tune_rate_unit(void)
{
	return ibcc_rate_unit(in_gbps);
}

const char *tune_rate(double mbps, char *buf, size_t len)
{
	return ibcc_rate_text(mbps, in_gbps, buf, len);
}

const char *tune_rates_in(const char *text, char *buf, size_t len)
{
	return ibcc_rates_in(text, in_gbps, buf, len);
}
