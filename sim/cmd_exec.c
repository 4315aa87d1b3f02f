/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* ibcc-sim exec: runs a command as it would run on a host of the simulated fabric. libumad2sim is
 * preloaded into it, and finds the simulator's sockets by IBSIM_SOCKNAME and its host by
 * SIM_HOST.
 */
#include <errno.h>
#include <getopt.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ibcc/sim_clock.h>

#include "sim/cmd.h"
#include "sim/control.h"

/* The preload library has no fixed place: a multiarch folder on Debian, lib64 elsewhere. */
static char *find_umad2sim(void)
{
	static const char *const places[] = {
		"/usr/lib/*/umad2sim/libumad2sim.so",
		"/usr/lib64/umad2sim/libumad2sim.so",
		"/usr/lib/umad2sim/libumad2sim.so",
		"/usr/local/lib*/umad2sim/libumad2sim.so",
	};
	const char *env = getenv("IBCC_UMAD2SIM");
	char *found = NULL;
	glob_t g;
	size_t i;

	if (env)
		return access(env, R_OK) ? NULL : strdup(env);
	for (i = 0; !found && i < sizeof(places) / sizeof(places[0]); i++) {
		if (glob(places[i], 0, NULL, &g) == 0 && g.gl_pathc)
			found = strdup(g.gl_pathv[0]);
		globfree(&g);
	}
	return found;
}

/* Adds a library to LD_PRELOAD, behind what is there: a sanitizer's runtime must be the first. */
static int set_preload(const char *lib)
{
	const char *old = getenv("LD_PRELOAD");
	char *value = NULL;
	int r;

	if (old && strstr(old, lib))
		return 0;
	if (asprintf(&value, "%s%s%s", old ? old : "", old && *old ? ":" : "", lib) < 0)
		return -1;
	r = setenv("LD_PRELOAD", value, 1);
	free(value);
	return r;
}

int ibcc_cmd_path(void)
{
	static const char *const places[] = { "/usr/local/sbin", "/usr/sbin", "/sbin" };
	const char *old = getenv("PATH");
	char *value = strdup(old && *old ? old : "/usr/local/bin:/usr/bin:/bin");
	int r = value ? 0 : -1;

	for (size_t i = 0; !r && i < sizeof(places) / sizeof(places[0]); i++) {
		char *longer = NULL;

		r = asprintf(&longer, "%s:%s", value, places[i]) < 0 ? -1 : 0;
		free(value);
		value = r ? NULL : longer;
	}
	if (!r)
		r = setenv("PATH", value, 1);
	free(value);
	return r ? -ENOMEM : 0;
}

/* Reports why the command could not be started, and returns the shell's exit code for that. */
static int not_started(const char *program)
{
	int err = errno;

	if (err == ENOENT && !strchr(program, '/'))
		fprintf(stderr,
			"ibcc-sim exec: %s: not found in the folders of PATH (%s): is its package "
			"installed?\n",
			program, getenv("PATH"));
	else
		fprintf(stderr, "ibcc-sim exec: %s: %s\n", program, strerror(err));
	return err == ENOENT ? 127 : 126;
}

/* Sets the environment by which the command finds the simulator and its host; NULL: the first one.
 * Returns 0, or -1 with the reason on stderr.
 */
static int set_fabric(const char *name, const char *host)
{
	char why[192], clock[128], *lib = NULL;
	const char *error;
	json_t *info;
	int rc = -1;

	/* If the simulator is missing, a client would wait for it for ever. */
	info = ibcc_control_ask(name, json_pack("{s:s,s:s*}", "cmd", "info", "host", host), why,
				sizeof(why));
	error = info ? json_string_value(json_object_get(info, "error")) : why;
	if (error) {
		fprintf(stderr, "ibcc-sim exec: %s\n", error);
		goto out;
	}
	host = json_string_value(json_object_get(info, "host"));
	lib = find_umad2sim();
	if (!lib) {
		fprintf(stderr, "ibcc-sim exec: libumad2sim.so was not found: install it (Debian: "
				"libumad2sim0), or set IBCC_UMAD2SIM to its path\n");
		goto out;
	}
	ibcc_sim_clock_path(name, clock, sizeof(clock));
	if (set_preload(lib) || setenv("IBSIM_SOCKNAME", name, 1) ||
	    setenv(IBCC_SIM_CLOCK_ENV, clock, 1) || (host && setenv("SIM_HOST", host, 1))) {
		fprintf(stderr, "ibcc-sim exec: %s\n", strerror(errno));
		goto out;
	}
	rc = 0;
out:
	free(lib);
	json_decref(info);
	return rc;
}

int ibcc_cmd_exec(int argc, char **argv)
{
	static const struct option options[] = {
		{ "name", required_argument, NULL, 'n' },
		{ "host", required_argument, NULL, 'H' },
		{ 0 },
	};
	const char *name = getenv("IBCC_SIM_NAME"), *host = NULL;
	char only[64], why[192];
	int ch;

	while ((ch = getopt_long(argc, argv, "+n:H:", options, NULL)) != -1) {
		switch (ch) {
		case 'n': name = optarg; break;
		case 'H': host = optarg; break;
		default: return 1;
		}
	}
	if (optind >= argc) {
		fprintf(stderr, "ibcc-sim exec: want a command to run\n");
		return 1;
	}
	if (!name) {
		if (ibcc_control_find(only, sizeof(only), why, sizeof(why))) {
			fprintf(stderr, "ibcc-sim exec: %s\n", why);
			return 1;
		}
		name = only;
	}
	if (!host)
		host = getenv("SIM_HOST");
	if (set_fabric(name, host))
		return 1;
	unsetenv("IBSIM_SERVER_NAME"); /* ibsim's remote mode: not through unix sockets */
	execvp(argv[optind], argv + optind);
	return not_started(argv[optind]);
}
