/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Commands that ask a running simulator. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd.h"
#include "sim/control.h"

int ibcc_cmd_ask(int argc, char **argv)
{
	static const struct option options[] = {
		{ "name", required_argument, NULL, 'n' },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	const char *name = getenv("IBCC_SIM_NAME"), *cmd = argv[0], *text;
	char only[64], why[128];
	json_t *rq, *reply;
	int ch, r = 1;

	while ((ch = getopt_long(argc, argv, "n:j", options, NULL)) != -1) {
		switch (ch) {
		case 'n': name = optarg; break;
		case 'j': break;
		default: return 1;
		}
	}
	if (!name) {
		if (ibcc_control_find(only, sizeof(only), why, sizeof(why))) {
			fprintf(stderr, "ibcc-sim %s: %s\n", cmd, why);
			return 1;
		}
		name = only;
	}
	rq = json_pack("{s:s,s:s*}", "cmd", cmd, "line", optind < argc ? argv[optind] : NULL);
	reply = ibcc_control_ask(name, rq, why, sizeof(why));
	if (!reply) {
		fprintf(stderr, "ibcc-sim %s: %s\n", cmd, why);
		return 1;
	}
	text = json_string_value(json_object_get(reply, "error"));
	if (text) {
		fprintf(stderr, "ibcc-sim %s: %s\n", cmd, text);
	} else {
		text = json_string_value(json_object_get(reply, "text"));
		if (text)
			fputs(text, stdout);
		else
			json_dumpf(reply, stdout, JSON_INDENT(1)), putchar('\n');
		r = 0;
	}
	json_decref(reply);
	return r;
}
