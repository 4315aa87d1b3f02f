/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The plugin's words of event_plugin_options (options.h). A wrong limit (window, timeout, ...)
 * falls back to its default. With a wrong ibcc.socket, ibcc.group or ibcc.mode the plugin stays
 * idle, since a default would open the socket at another place or to other users.
 */
#include "opensm-plugin/options.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ibcc/bounds.h>
#include <ibcc/proto.h>

#define PREFIX "ibcc."

static bool parse_number(const char *text, int base, unsigned long low, unsigned long high,
			 unsigned long *out)
{
	unsigned long v;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	v = strtoul(text, &end, base);
	if (errno || *end || v < low || v > high)
		return false;
	*out = v;
	return true;
}

static void parse_uint(const char *key, const char *value, unsigned int low, unsigned int high,
		       unsigned int *out, const struct ibcc_plugin_log *log)
{
	unsigned long v;

	if (parse_number(value, 10, low, high, &v))
		*out = (unsigned int)v;
	else
		ibcc_plugin_log(log, IBCC_PLUGIN_ERROR,
				"ERR IC01: event_plugin_options: %s: got %s, want %u..%u; using %u",
				key, value, low, high, *out);
}

static int parse_socket(const char *value, struct ibcc_plugin_options *o,
			const struct ibcc_plugin_log *log)
{
	/* Room for the suffix that the socket carries until it is ready. */
	size_t room = sizeof(o->socket) - sizeof(".4294967295");

	if (*value != '/' || strlen(value) > room) {
		ibcc_plugin_log(log, IBCC_PLUGIN_ERROR,
				"ERR IC02: event_plugin_options: ibcc.socket: got %s, want an "
				"absolute path of at most %zu characters",
				value, room);
		return -EINVAL;
	}
	strcpy(o->socket, value);
	return 0;
}

/* The number of a group in /etc/group. The name service is not asked: a directory server behind it
 * may not answer, and OpenSM's start must not wait for one. A line is NAME:PASSWORD:NUMBER:MEMBERS.
 */
static bool find_group(const char *name, gid_t *gid)
{
	FILE *f = fopen("/etc/group", "re");
	unsigned long number = 0;
	bool found = false;
	char *line = NULL;
	size_t room = 0;

	while (f && !found && getline(&line, &room, f) > 0) {
		char *rest = line, *field = strsep(&rest, ":");

		if (strcmp(field, name) || !strsep(&rest, ":"))
			continue;
		field = strsep(&rest, ":");
		found = field && parse_number(field, 10, 0, UINT32_MAX - 1ul, &number);
	}
	if (found)
		*gid = (gid_t)number;
	free(line);
	if (f)
		fclose(f);
	return found;
}

static int parse_group(const char *value, struct ibcc_plugin_options *o,
		       const struct ibcc_plugin_log *log)
{
	unsigned long gid;

	if (parse_number(value, 10, 0, UINT32_MAX - 1ul, &gid)) {
		o->gid = (gid_t)gid;
		return 0;
	}
	if (!find_group(value, &o->gid)) {
		ibcc_plugin_log(log, IBCC_PLUGIN_ERROR,
				"ERR IC02: event_plugin_options: ibcc.group: got %s, want a group "
				"of /etc/group or a number",
				value);
		return -EINVAL;
	}
	return 0;
}

static int parse_mode(const char *value, struct ibcc_plugin_options *o,
		      const struct ibcc_plugin_log *log)
{
	unsigned long mode;

	if (!parse_number(value, 8, 0, 0777, &mode)) {
		ibcc_plugin_log(log, IBCC_PLUGIN_ERROR,
				"ERR IC02: event_plugin_options: ibcc.mode: got %s, want octal "
				"permissions such as 0660",
				value);
		return -EINVAL;
	}
	o->mode = (mode_t)mode;
	return 0;
}

static int parse_word(char *word, struct ibcc_plugin_options *o, const struct ibcc_plugin_log *log)
{
	char *value = strchr(word, '=');

	if (!value) {
		ibcc_plugin_log(log, IBCC_PLUGIN_ERROR,
				"ERR IC01: event_plugin_options: got %s, want %s=VALUE; ignored",
				word, word);
		return 0;
	}
	*value++ = '\0';
	if (!strcmp(word, PREFIX "socket"))
		return parse_socket(value, o, log);
	if (!strcmp(word, PREFIX "group"))
		return parse_group(value, o, log);
	if (!strcmp(word, PREFIX "mode"))
		return parse_mode(value, o, log);
	if (!strcmp(word, PREFIX "window"))
		parse_uint(word, value, 1, 128, &o->window, log);
	else if (!strcmp(word, PREFIX "timeout_ms"))
		parse_uint(word, value, 1, 60000, &o->timeout_ms, log);
	else if (!strcmp(word, PREFIX "retries"))
		parse_uint(word, value, 0, 20, &o->retries, log);
	else if (!strcmp(word, PREFIX "max_delay"))
		parse_uint(word, value, 1, IBCC_CCT_MAX_MULT, &o->max_delay, log);
	else if (!strcmp(word, PREFIX "max_timer"))
		parse_uint(word, value, 1, UINT16_MAX, &o->max_timer, log);
	else if (!strcmp(word, PREFIX "sets_per_minute"))
		parse_uint(word, value, 0, 1000000, &o->sets_per_minute, log);
	else if (!strcmp(word, PREFIX "revert_after_s"))
		parse_uint(word, value, 0, 86400, &o->revert_after_s, log);
	else
		ibcc_plugin_log(log, IBCC_PLUGIN_ERROR,
				"ERR IC01: event_plugin_options: %s: unknown, want ibcc.socket, "
				"group, mode, window, timeout_ms, retries, max_delay, max_timer, "
				"sets_per_minute or revert_after_s; ignored",
				word);
	return 0;
}

int ibcc_plugin_options_parse(const char *line, struct ibcc_plugin_options *o,
			      const struct ibcc_plugin_log *log)
{
	static const struct ibcc_bounds bounds = IBCC_BOUNDS_DEFAULT;
	char *copy, *word, *rest;
	int ret = 0;

	*o = (struct ibcc_plugin_options){
		.socket = IBCC_PROTO_SOCKET,
		.gid = (gid_t)-1,
		.mode = 0660,
		.window = 64,
		.timeout_ms = 200,
		.retries = 3,
		.max_delay = bounds.max_delay,
		.max_timer = bounds.max_timer,
		.sets_per_minute = bounds.sets_per_minute,
	};
	/* An installed daemon is in that group. Only root can give the socket to it. */
	if (!geteuid())
		find_group(IBCC_PLUGIN_GROUP, &o->gid);
	if (!line)
		return 0;
	copy = strdup(line);
	if (!copy)
		return -ENOMEM;
	for (word = strtok_r(copy, " \t\r\n", &rest); word; word = strtok_r(NULL, " \t\r\n", &rest))
		if (!strncmp(word, PREFIX, strlen(PREFIX)) && parse_word(word, o, log))
			ret = -EINVAL;
	free(copy);
	return ret;
}
