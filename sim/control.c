/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A client of a running simulator's control socket (control.h): JSON lines on an abstract unix
 * socket, which is named after the simulator. So the simulators of a host are found in the
 * kernel's list of sockets.
 */
#include "sim/control.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <ibcc/jsonl.h>

#define SUFFIX           ":ibcc"
#define ANSWER_TIMEOUT_S 10

void ibcc_control_address(const char *name, char *address, size_t len)
{
	snprintf(address, len, "@%s" SUFFIX, name);
}

json_t *ibcc_control_ask(const char *name, json_t *rq, char *why, size_t len)
{
	json_t *reply = NULL;
	char address[128];
	int rc;

	ibcc_control_address(name, address, sizeof(address));
	rc = ibcc_jsonl_ask(address, rq, ANSWER_TIMEOUT_S, &reply);
	if (rc == -ECONNREFUSED || rc == -ENAMETOOLONG)
		snprintf(why, len, "no simulator named %s is running", name);
	else if (rc)
		snprintf(why, len, "the simulator %s does not answer", name);
	json_decref(rq);
	return reply;
}

int ibcc_control_find(char *name, size_t name_len, char *why, size_t len)
{
	const size_t sl = sizeof(SUFFIX) - 1;
	FILE *f = fopen("/proc/net/unix", "re");
	char line[512], names[96] = "", *at;
	size_t found = 0, used = 0, l;

	while (f && fgets(line, sizeof(line), f)) {
		unsigned int flags = 0;

		line[strcspn(line, "\n")] = '\0';
		at = strrchr(line, ' ');
		l = at ? strlen(at) : 0;
		/* "Num: RefCount Protocol Flags ...": listening sockets have bit 16. */
		if (l < 2 + sl || at[1] != '@' || strcmp(at + l - sl, SUFFIX) ||
		    sscanf(line, "%*s %*s %*s %x", &flags) != 1 || !(flags & 0x10000))
			continue;
		at[l - sl] = '\0';
		found++;
		if (used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 used ? ", " : "", at + 2);
		if (strlen(at + 2) < name_len)
			strcpy(name, at + 2);
	}
	if (f)
		fclose(f);
	if (found == 1)
		return 0;
	if (!found) {
		snprintf(why, len, "no simulator is running: start one with ibcc-sim run");
		return -ENOENT;
	}
	snprintf(why, len, "%zu simulators are running (%s%s): choose one with --name", found,
		 names, used < sizeof(names) ? "" : " ...");
	return -ENOTUNIQ;
}
