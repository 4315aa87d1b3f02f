/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* ibcc-sim run: the options of a simulator. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/cmd.h"
#include "sim/simulator.h"

/* Reads the number of an option; reports a number that is out of range. */
static int number(const char *what, const char *text, double max, bool whole, double *out)
{
	char *end;
	double v;

	errno = 0;
	v = strtod(text, &end);
	if (errno || end == text || *end || !isfinite(v) || v < 0 || v > max ||
	    (whole && v != floor(v))) {
		fprintf(stderr, "ibcc-sim run: %s: got %s, want a %snumber from 0 to %.0f\n", what,
			text, whole ? "whole " : "", max);
		return -1;
	}
	*out = v;
	return 0;
}

int ibcc_cmd_run(int argc, char **argv)
{
	enum { OPT_LOSS = 256, OPT_DELAY };
	static const struct option options[] = {
		{ "scenario", required_argument, NULL, 's' },
		{ "netfile", required_argument, NULL, 'f' },
		{ "name", required_argument, NULL, 'n' },
		{ "speed", required_argument, NULL, 'S' },
		{ "mad-loss", required_argument, NULL, OPT_LOSS },
		{ "mad-delay-us", required_argument, NULL, OPT_DELAY },
		{ 0 },
	};
	struct ibcc_simulator_options o = { .speed = 1.0 };
	char name[32];
	double v;
	int ch;

	while ((ch = getopt_long(argc, argv, "s:f:n:S:", options, NULL)) != -1) {
		switch (ch) {
		case 's': o.scenario = optarg; break;
		case 'f': o.netfile = optarg; break;
		case 'n': o.name = optarg; break;
		case 'S':
			if (number("--speed", optarg, 1000, false, &o.speed))
				return 1;
			break;
		case OPT_LOSS:
			if (number("--mad-loss", optarg, 1000, true, &v))
				return 1;
			o.mad_loss_permille = (uint32_t)v;
			break;
		case OPT_DELAY:
			if (number("--mad-delay-us", optarg, 60e6, true, &v))
				return 1;
			o.mad_delay_us = (uint32_t)v;
			break;
		default: return 1;
		}
	}
	if (optind < argc || !o.scenario == !o.netfile) {
		fprintf(stderr, "ibcc-sim run: want one of --scenario FILE, --netfile FILE\n");
		return 1;
	}
	if (!o.name) {
		snprintf(name, sizeof(name), "ibcc-%d", (int)getpid());
		o.name = name;
	}
	return ibcc_simulator_run(&o);
}
