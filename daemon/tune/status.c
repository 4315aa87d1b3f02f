/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The command status: prints the daemon's answer line by line; with --detailed-exitcode the exit
 * status says whether something needs attention.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/text.h>

#include "daemon/tune/changes.h"
#include "daemon/tune/jobs_of.h"
#include "daemon/tune/progress.h"
#include "daemon/tune/prose.h"
#include "daemon/tune/senders.h"
#include "daemon/tune/tune.h"

#define LABEL           11 /* columns of a label */
#define THROTTLED_NAMED 5u
#define NODES_NAMED     8u /* lines about one kind of trouble; what follows is counted */

static void print_sm(FILE *out, const json_t *s)
{
	const json_t *sm = json_object_get(s, "sm"), *b = json_object_get(sm, "bounds");

	if (json_is_object(sm))
		fprintf(out,
			"SM:        %s, %s, plugin %s%s\nBounds:    of the plugin: max_delay %lld, "
			"max_timer %lld, sets_per_minute %lld\n",
			tune_str(sm, "state"), tune_str(sm, "opensm"), tune_str(sm, "plugin"),
			json_is_true(json_object_get(sm, "own_congestion_control"))
				? ", its own congestion_control is TRUE"
				: "",
			tune_int(b, "max_delay"), tune_int(b, "max_timer"),
			tune_int(b, "sets_per_minute"));
	else if (strcmp(tune_str(s, "apply_via"), "direct"))
		fprintf(out, "SM:        the OpenSM plugin is not connected\n");
	if (tune_str(s, "plugin_trouble")[0])
		fprintf(out, "Plugin:    %s\n", tune_str(s, "plugin_trouble"));
}

static void print_mad_rates(FILE *out, const json_t *m)
{
	const json_t *rate = json_object_get(m, "per_second"), *b = json_object_get(m, "busiest");
	char node[160];

	if (!json_is_number(rate))
		return;
	fprintf(out, "Load:      %.1f MADs a second", json_number_value(rate));
	if (json_is_object(b))
		fprintf(out, ", at most %.1f to one node, %s",
			json_number_value(json_object_get(b, "per_second")),
			tune_node_text(b, node, sizeof(node)));
	fprintf(out, "; %lld SMP%s in the last minute or two; %lld in flight at most\n",
		tune_int(m, "smps_lately"), ibcc_text_plural(tune_int(m, "smps_lately"), "", "s"),
		tune_int(m, "window"));
}

/* What is read more often than the rest, if anything is. */
static void print_focus(FILE *out, const json_t *s)
{
	const json_t *f = json_object_get(s, "focus");
	json_int_t ports = tune_int(f, "ports");

	if (ports)
		fprintf(out,
			"Focus:     %lld port%s of %lld node%s %s read every %g s, the others "
			"every %g s\n",
			ports, ibcc_text_plural(ports, "", "s"), tune_int(f, "nodes"),
			ibcc_text_plural(tune_int(f, "nodes"), "", "s"),
			ibcc_text_plural(ports, "is", "are"),
			(double)tune_int(f, "interval_ms") / 1000,
			(double)tune_int(s, "interval_ms") / 1000);
}

static void print_traps(FILE *out, const json_t *s)
{
	const json_t *t = json_object_get(s, "traps");

	if (!json_is_object(t))
		return;
	fprintf(out, "Changes:   %lld discover%s; %lld trap%s", tune_int(s, "discoveries"),
		ibcc_text_plural(tune_int(s, "discoveries"), "y", "ies"), tune_int(t, "received"),
		ibcc_text_plural(tune_int(t, "received"), "", "s"));
	if (tune_str(t, "trouble")[0])
		fprintf(out, "; %s, so every 15 minutes", tune_str(t, "trouble"));
	fputc('\n', out);
}

static void print_fabric(FILE *out, const json_t *s)
{
	const json_t *f = json_object_get(s, "fabric"), *m = json_object_get(s, "mads");
	json_int_t switches = tune_int(f, "switches"), adapters = tune_int(f, "channel_adapters"),
		   links = tune_int(f, "links"), fresh = tune_int(f, "ports_fresh");

	if (json_is_object(f))
		fprintf(out,
			"Fabric:    %lld switch%s, %lld channel adapter%s, %lld link%s (from %s); "
			"%lld port%s read, %lld timed out, %lld never answered, %lld with "
			"saturated counters\n",
			switches, ibcc_text_plural(switches, "", "es"), adapters,
			ibcc_text_plural(adapters, "", "s"), links,
			ibcc_text_plural(links, "", "s"), tune_str(f, "source"), fresh,
			ibcc_text_plural(fresh, "", "s"), tune_int(f, "ports_stale"),
			tune_int(f, "ports_unreachable"), tune_int(f, "ports_saturated"));
	if (tune_str(f, "clock_trouble")[0])
		fprintf(out, "Clock:     %s\n", tune_str(f, "clock_trouble"));
	if (json_is_object(m))
		fprintf(out,
			"MADs:      %lld sent, of those %lld SMP%s, %lld without answer, %lld "
			"Set%s\n",
			tune_int(m, "sent"), tune_int(m, "smps"),
			ibcc_text_plural(tune_int(m, "smps"), "", "s"), tune_int(m, "timed_out"),
			tune_int(m, "sets"), ibcc_text_plural(tune_int(m, "sets"), "", "s"));
	print_mad_rates(out, m);
}

/* Prints ports 1, 2, 3 and 7 as "1-3,7". */
static void print_ports(FILE *out, const json_t *ports)
{
	size_t n = json_array_size(ports);

	for (size_t i = 0, end; i < n; i = end + 1) {
		json_int_t first = json_integer_value(json_array_get(ports, i));

		for (end = i; end + 1 < n && json_integer_value(json_array_get(ports, end + 1)) ==
						     first + (json_int_t)(end + 1 - i);
		     end++)
			;
		fprintf(out, end > i ? "%s%lld-%lld" : "%s%lld", i ? "," : "", (long long)first,
			(long long)first + (long long)(end - i));
	}
}

/* Begins the line about the ports of one node. */
static void print_place(FILE *out, const char *label, const json_t *o)
{
	const json_t *ports = json_object_get(o, "ports");
	char node[160];

	fprintf(out, "%-11s%s port%s ", label, tune_node_text(o, node, sizeof(node)),
		ibcc_text_plural(json_array_size(ports), "", "s"));
	print_ports(out, ports);
	fputs(": ", out);
}

/* Prints the first objects of one of the fabric's lists, each as a line whose end `tell` prints,
 * and the number of ports beyond.
 */
static void print_places(FILE *out, const char *label, const json_t *fabric, const char *key,
			 void (*tell)(FILE *out, const json_t *o))
{
	const json_t *list = json_object_get(fabric, key), *o;
	json_int_t more = tune_int(json_object_get(fabric, "left_out"), key);
	size_t i;

	json_array_foreach (list, i, o) {
		if (i >= NODES_NAMED) {
			more += (json_int_t)json_array_size(json_object_get(o, "ports"));
			continue;
		}
		print_place(out, i ? "" : label, o);
		tell(out, o);
		fputc('\n', out);
	}
	if (more)
		fprintf(out, "%-11sand %lld more port%s; 'ibcc-tune bundle' has all\n", "",
			(long long)more, ibcc_text_plural(more, "", "s"));
}

static void tell_unread(FILE *out, const json_t *o)
{
	const json_t *age = json_object_get(o, "age_ms");

	fprintf(out, "%s, %s", tune_str(o, "state"), tune_str(o, "reason"));
	if (json_is_integer(age))
		fprintf(out, ", last read %.1f s ago", (double)json_integer_value(age) / 1000);
}

static void tell_unsure(FILE *out, const json_t *o)
{
	const json_t *counter;
	size_t k;

	json_array_foreach (json_object_get(o, "counters"), k, counter)
		fprintf(out, "%s%s", k ? ", " : "", json_string_value(counter));
	fputs(" at the end of 32 bits, or may have wrapped", out);
}

static void tell_doubted(FILE *out, const json_t *o)
{
	fputs(tune_str(o, "reason"), out);
}

/* The adapters that slowed down after notifications, and how often. */
static void print_throttled(FILE *out, const json_t *vendor)
{
	json_int_t left_out = tune_int(vendor, "throttled_left_out");
	const json_t *list = json_object_get(vendor, "throttled"), *o;
	size_t i, n = 0;

	json_array_foreach (list, i, o) {
		if (!tune_int(o, "cnp_handled") || n++ >= THROTTLED_NAMED)
			continue;
		fprintf(out, "%s%s port %lld (%lld)",
			n == 1 ? "           slowed by notifications lately: " : ", ",
			tune_str(o, "node"), tune_int(o, "port"), tune_int(o, "cnp_handled"));
	}
	if (n > THROTTLED_NAMED)
		fprintf(out, " and %s%zu more", left_out ? "at least " : "", n - THROTTLED_NAMED);
	if (n)
		fputc('\n', out);
}

static void print_vendor(FILE *out, const json_t *v)
{
	if (!json_is_object(v))
		return;
	fprintf(out, "NVIDIA:    %s\n", tune_str(v, "text"));
	if (tune_str(v, "advice")[0])
		fprintf(out, "           %s\n", tune_str(v, "advice"));
	print_throttled(out, v);
}

static void print_list(FILE *out, const char *what, const json_t *list)
{
	const json_t *o;
	size_t i;

	json_array_foreach (list, i, o)
		fprintf(out, "%-11s%s\n", i ? "" : what, json_string_value(o));
}

/* The links that the warnings leave out: they are on no root's tree. */
static void print_links(FILE *out, const json_t *fabric)
{
	json_int_t slow = tune_int(fabric, "links_slow");
	json_int_t errors = tune_int(fabric, "ports_with_errors");

	if (slow || errors)
		fprintf(out,
			"Links:     %lld run%s slower than both ends can, %lld port%s link errors; "
			"ibcc-tune report lists them\n",
			(long long)slow, ibcc_text_plural(slow, "s", ""), (long long)errors,
			ibcc_text_plural(errors, " counts", "s count"));
}

static void print_line(FILE *out, const char *what, const char *text)
{
	if (text[0])
		fprintf(out, "%-11s%s\n", what, text);
}

static void write_status(FILE *out, const json_t *s)
{
	const char *paused = tune_str(s, "paused"), *reason = tune_str(s, "reason");
	const json_t *fabric = json_object_get(s, "fabric");
	char text[TUNE_SENTENCE_BYTES];

	print_line(out, "Verdict:", tune_str(s, "verdict"));
	print_line(out, "Jobs:", tune_str(s, "whose"));
	print_line(out, "Blocked:", tune_blocked_text(s, text, sizeof(text)));
	print_line(out, "Effect:", tune_gain_text(s, text, sizeof(text)));
	print_list(out, "Warning:", json_object_get(fabric, "warnings"));
	fprintf(out, "Daemon:    ibcc-tuned %s, pid %lld, up %lld s, configuration %s%s\n",
		tune_str(s, "version"), tune_int(s, "pid"), tune_int(s, "uptime_s"),
		tune_str(s, "config_file"),
		json_is_false(json_object_get(s, "last_reload_ok")) ? " (the last reload failed)"
								    : "");
	fprintf(out, "State:     %s%s%s\n", tune_str(s, "state"), reason[0] ? ": " : "", reason);
	fprintf(out, "Mode:      %s via %s%s%s\n", tune_str(s, "mode"), tune_str(s, "apply_via"),
		paused[0] ? ", paused after " : "", paused);
	print_line(out, "Leader:", tune_leader_text(s));
	print_line(out, "Trial:", tune_trial_text(s, text, sizeof(text)));
	print_sm(out, s);
	print_fabric(out, s);
	print_focus(out, s);
	print_traps(out, s);
	print_places(out, "Not read:", fabric, "unread", tell_unread);
	print_places(out, "Saturated:", fabric, "unsure", tell_unsure);
	print_places(out, "Conflict:", fabric, "doubted", tell_doubted);
	print_links(out, fabric);
	print_list(out, "Counters:", json_object_get(fabric, "counters"));
	print_list(out, "Ignored:", json_object_get(fabric, "apart"));
	print_line(out, "Discovery:", tune_str(s, "discovery_trouble"));
	/* The trouble with discovery names these nodes already. */
	if (!tune_str(s, "discovery_trouble")[0])
		print_line(out, "Silent:", tune_str(fabric, "silent"));
	print_line(out, "Job map:", tune_job_map_text(s, text, sizeof(text)));
	print_vendor(out, json_object_get(s, "nvidia"));
	print_line(out, "Routing:", tune_str(s, "routing"));
	print_line(out, "Drift:", tune_str(json_object_get(s, "drift"), "text"));
	print_line(out, "Repaired:", tune_str(json_object_get(s, "drift"), "repaired"));
	print_line(out, "Foreign:", tune_str(json_object_get(s, "unknown_origin"), "text"));
	print_line(out, "Owed:", tune_str(json_object_get(s, "owed"), "text"));
	print_line(out, "Throttled:", tune_str(json_object_get(s, "held_back"), "text"));
	print_line(out, "Throttled:", tune_str(json_object_get(s, "held_below"), "text"));
	print_line(out, "Clients:", tune_str(json_object_get(s, "clients"), "control"));
	print_line(out, "Clients:", tune_str(json_object_get(s, "clients"), "metrics"));
	fprintf(out, "Roots:     %lld\n", tune_int(s, "roots"));
	if (tune_int(json_object_get(s, "predictions"), "of"))
		fprintf(out, "Predicted: the range held in %lld of %lld\n",
			tune_int(json_object_get(s, "predictions"), "held"),
			tune_int(json_object_get(s, "predictions"), "of"));
	print_line(out, "Roll-out:", tune_rollout_text(s, text, sizeof(text)));
	print_line(out, "Apply:", tune_apply_text(s, text, sizeof(text)));
	print_line(out, tune_will_write(s) ? "Pending:" : "Advice:",
		   tune_writes_text(s, text, sizeof(text)));
	print_line(out, "Decision:", tune_str(s, "decision"));
}

/* Prints each line behind its label, broken at the terminal's edge. */
static int print_status(const json_t *s)
{
	char *text = NULL, label[LABEL + 1], *line, *next;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return tune_fail("no memory");
	write_status(out, s);
	if (fclose(out))
		return tune_fail("no memory");
	for (line = text; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		snprintf(label, sizeof(label), "%s", line);
		tune_say(label, "%s", line + strlen(label));
	}
	free(text);
	return TUNE_OK;
}

static bool needs_attention(const json_t *s)
{
	const json_t *unread = json_object_get(json_object_get(s, "fabric"), "unread");

	return !strcmp(tune_str(s, "state"), "degraded") ||
	       !strcmp(tune_str(s, "state"), "stalled") || json_array_size(unread) ||
	       tune_int(json_object_get(s, "drift"), "writes") || tune_int(s, "writes_pending");
}

int tune_status(struct tune *t)
{
	struct ibcc_why why = { "" };
	json_t *s = NULL;
	int rc, code = TUNE_OK;

	if (t->watch_ms)
		return tune_top(t);
	rc = tune_ask_status(t, &s, &why);
	if (rc) {
		json_decref(s);
		return tune_fail("%s", why.text);
	}
	if (t->json)
		code = tune_print_json(s);
	else
		code = print_status(s);
	if (code == TUNE_OK && t->detailed_exitcode && needs_attention(s))
		code = TUNE_PENDING;
	json_decref(s);
	return code;
}
