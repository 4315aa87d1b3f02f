/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The status in figures: a view for a terminal, or a row. */
#include "daemon/tune/top.h"

#include <string.h>

#include <ibcc/text.h>
#include <ibcc/version.h>

#include "daemon/tune/changes.h"
#include "daemon/tune/jobs_of.h"
#include "daemon/tune/look.h"
#include "daemon/tune/progress.h"
#include "daemon/tune/prose.h"
#include "daemon/tune/roots.h"
#include "daemon/tune/senders.h"
#include "daemon/tune/table.h"

#define LABEL      10 /* width of a label */
#define MOST_LINES 4  /* most lines for a sentence */

#define HOME        "\033[H"
#define END_OF_LINE "\033[K\r\n"
#define REST        "\033[J"

static enum tune_style style_of(const char *state)
{
	if (!strcmp(state, "ok"))
		return TUNE_GREEN;
	return strcmp(state, "starting") ? TUNE_RED : TUNE_YELLOW;
}

static void clock_text(time_t now, char *buf, size_t len)
{
	struct tm tm;

	if (!localtime_r(&now, &tm) || !strftime(buf, len, "%H:%M:%S", &tm))
		snprintf(buf, len, "?");
}

static void put_lines(FILE *out, const char *label, const char *text, int columns,
		      unsigned int most)
{
	char begin[48];

	snprintf(begin, sizeof(begin), "%s%-*s%s", tune_style(TUNE_DIM), LABEL, label,
		 tune_style(TUNE_PLAIN));
	if (*text)
		tune_prose(out, columns, most, begin, text);
}

static void put(FILE *out, const char *label, const char *text, int columns)
{
	put_lines(out, label, text, columns, MOST_LINES);
}

/* "45" or "45-67" of [least, most]. */
static const char *range_text(const json_t *range, char *buf, size_t len)
{
	json_int_t a = json_integer_value(json_array_get(range, 0));
	json_int_t b = json_integer_value(json_array_get(range, 1));

	if (!json_is_array(range))
		return "-";
	snprintf(buf, len, a == b ? "%lld" : "%lld-%lld", (long long)a, (long long)b);
	return buf;
}

static const char *range_of(const json_t *settings, const char *key, char *buf, size_t len)
{
	return range_text(json_object_get(settings, key), buf, len);
}

static void put_settings(FILE *out, const json_t *set, int columns)
{
	char text[320], a[32], b[32], c[32];

	if (!json_is_object(set))
		return;
	if (!tune_int(set, "marking_ports") && !tune_int(set, "reacting_ports")) {
		put(out, "Settings", "congestion control is off", columns);
		return;
	}
	snprintf(text, sizeof(text), "on at %lld switch port%s: Threshold %s, Marking_Rate %s",
		 tune_int(set, "marking_ports"),
		 ibcc_text_plural(tune_int(set, "marking_ports"), "", "s"),
		 range_of(set, "Threshold", a, sizeof(a)),
		 range_of(set, "Marking_Rate", b, sizeof(b)));
	put(out, "Settings", text, columns);
	snprintf(text, sizeof(text),
		 "on at %lld adapter%s: CCTI_Timer %s, CCTI_Increase %s, CCTI_Limit %s",
		 tune_int(set, "reacting_ports"),
		 ibcc_text_plural(tune_int(set, "reacting_ports"), "", "s"),
		 range_of(set, "CCTI_Timer", a, sizeof(a)),
		 range_of(set, "CCTI_Increase", b, sizeof(b)),
		 range_of(set, "CCTI_Limit", c, sizeof(c)));
	put(out, "", text, columns);
}

static void put_traffic(FILE *out, const json_t *now, int columns)
{
	char text[240], rate[32];

	snprintf(text, sizeof(text),
		 "adapters send %s %s; %lld blocked, at most %.1f %% of the time",
		 tune_rate((double)tune_int(now, "sent_mbps"), rate, sizeof(rate)),
		 tune_rate_unit(), tune_int(now, "waiting"),
		 (double)tune_int(now, "wait_permille") / 10);
	put(out, "Traffic", text, columns);
	snprintf(text, sizeof(text), "%.0f FECN a second, %.0f BECN a second",
		 json_number_value(json_object_get(now, "fecn_per_s")),
		 json_number_value(json_object_get(now, "becn_per_s")));
	put(out, "Marks", text, columns);
}

static void put_mads(FILE *out, const json_t *s, int columns)
{
	const json_t *m = json_object_get(s, "mads");
	char text[200];

	if (!json_is_object(m))
		return;
	snprintf(text, sizeof(text), "%.1f a second; %lld of %lld without answer, %lld Set%s",
		 json_number_value(json_object_get(m, "per_second")), tune_int(m, "timed_out"),
		 tune_int(m, "sent"), tune_int(m, "sets"),
		 ibcc_text_plural(tune_int(m, "sets"), "", "s"));
	put(out, "MADs", text, columns);
}

static void put_roots(FILE *out, const json_t *roots, json_int_t all, int columns)
{
	const struct tune_column column[] = {
		{ "ROOT", IBCC_RIGHT, "number of the congestion root, the worst first" },
		{ "NODE", IBCC_LEFT, "name of the switch" },
		{ "PORT", IBCC_RIGHT, "port of the switch where congestion starts" },
		{ "KIND", IBCC_LEFT, TUNE_KIND_LEGEND },
		{ tune_rate_unit(), IBCC_RIGHT, "what the port sends" },
		{ "XMITWAIT%", IBCC_RIGHT,
		  "share of the time in which the port is blocked (PortXmitWait)" },
		{ "UPSTREAM%", IBCC_RIGHT, "the same of the most blocked port upstream" },
		{ "CONTR", IBCC_RIGHT, "number of contributors" },
		{ "VICT", IBCC_RIGHT, "number of victims" },
		{ "STATUS", IBCC_LEFT,
		  "whether ibcc-tune acts on the root, and why not; see ibcc-tune-json(7)" },
		{ "JOB", IBCC_LEFT, TUNE_ROOT_LEGEND },
	};
	const size_t n_columns =
		sizeof(column) / sizeof(column[0]) - (tune_roots_have_jobs(roots) ? 0 : 1);
	struct libscols_table *t = tune_table_new_on(out, column, n_columns);
	const json_t *o;
	size_t i;

	json_array_foreach (roots, i, o) {
		const char *status = tune_str(o, "status");
		char cell[7][32], job[TUNE_JOBS_BYTES];
		/* A name that is not unique has the GUID in it. */
		const char *row[] = { cell[0],
				      tune_str(o, "node"),
				      cell[1],
				      tune_root_kind_short(o),
				      cell[2],
				      cell[3],
				      cell[4],
				      cell[5],
				      cell[6],
				      status[0] ? status : "-",
				      tune_job_of_root(o, job, sizeof(job)) };

		snprintf(cell[0], sizeof(cell[0]), "%zu", i + 1);
		snprintf(cell[1], sizeof(cell[1]), "%lld", tune_int(o, "port"));
		tune_rate((double)tune_int(o, "rate_mbps"), cell[2], sizeof(cell[2]));
		snprintf(cell[3], sizeof(cell[3]), "%.1f",
			 (double)tune_int(o, "wait_permille") / 10);
		snprintf(cell[4], sizeof(cell[4]), "%.1f",
			 (double)tune_int(o, "tree_wait_permille") / 10);
		snprintf(cell[5], sizeof(cell[5]), "%lld", tune_int(o, "contributors"));
		snprintf(cell[6], sizeof(cell[6]), "%lld", tune_int(o, "victims"));
		ibcc_table_add(t, row);
	}
	fputc('\n', out);
	ibcc_table_print(t);
	if ((json_int_t)json_array_size(roots) < all)
		fprintf(out, "and %lld more\n", (long long)all - (long long)json_array_size(roots));
	tune_table_print_legend(out, columns, column, n_columns);
}

/* The first warning; the others are counted. */
static void put_warnings(FILE *out, const json_t *list, int columns)
{
	char text[TUNE_SENTENCE_BYTES];
	size_t n = json_array_size(list);

	if (!n)
		return;
	snprintf(text, sizeof(text), "%s", json_string_value(json_array_get(list, 0)));
	put(out, "Warning", text, columns);
	if (n > 1) {
		snprintf(text, sizeof(text), "%zu more in ibcc-tune status", n - 1);
		put(out, "", text, columns);
	}
}

static void put_daemon(FILE *out, const json_t *s, int columns)
{
	const char *state = tune_str(s, "state"), *paused = tune_str(s, "paused");
	const json_t *now = json_object_get(s, "now");
	char text[TUNE_SENTENCE_BYTES];

	fprintf(out, "%s%-*s%s%s%s%s, mode %s via %s", tune_style(TUNE_DIM), LABEL, "Daemon",
		tune_style(TUNE_PLAIN), tune_style(style_of(state)), state, tune_style(TUNE_PLAIN),
		tune_str(s, "mode"), tune_str(s, "apply_via"));
	if (now)
		fprintf(out, ", polling cycle %lld", tune_int(now, "pass"));
	fprintf(out, ", every %g s\n", (double)tune_int(s, "interval_ms") / 1000);
	put(out, "", tune_str(s, "reason"), columns);
	put(out, "Paused", paused, columns);
	put(out, "Leader", tune_leader_text(s), columns);
	put(out, "Trial", tune_trial_text(s, text, sizeof(text)), columns);
}

void tune_top_screen(FILE *out, const json_t *s, const char *trouble, time_t now, int columns)
{
	const json_t *n = json_object_get(s, "now"), *f = json_object_get(s, "fabric");
	char clock[16], text[TUNE_SENTENCE_BYTES];

	clock_text(now, clock, sizeof(clock));
	fprintf(out, "%sibcc-tune %s%s   %s\n\n", tune_style(TUNE_BOLD), IBCC_VERSION,
		tune_style(TUNE_PLAIN), clock);
	if (!s) {
		put(out, "Daemon", trouble, columns);
		return;
	}
	put(out, "Verdict", tune_str(s, "verdict"), columns);
	put(out, "Jobs", tune_str(s, "whose"), columns);
	/* One line each: the most blocked sender and the largest gain come first. */
	put_lines(out, "Blocked", tune_blocked_text(s, text, sizeof(text)), columns, 1);
	put_lines(out, "Effect", tune_gain_text(s, text, sizeof(text)), columns, 1);
	put_warnings(out, json_object_get(f, "warnings"), columns);
	put_daemon(out, s, columns);
	if (json_is_object(f)) {
		json_int_t switches = tune_int(f, "switches"),
			   adapters = tune_int(f, "channel_adapters"),
			   fresh = tune_int(f, "ports_fresh");

		snprintf(text, sizeof(text),
			 "%lld switch%s, %lld adapter%s; %lld port%s read, %lld not", switches,
			 ibcc_text_plural(switches, "", "es"), adapters,
			 ibcc_text_plural(adapters, "", "s"), fresh,
			 ibcc_text_plural(fresh, "", "s"),
			 tune_int(f, "ports_stale") + tune_int(f, "ports_unreachable"));
		put(out, "Fabric", text, columns);
	}
	if (n)
		put_traffic(out, n, columns);
	put_mads(out, s, columns);
	if (!n)
		return;
	put_settings(out, json_object_get(n, "settings"), columns);
	put(out, "Roll-out", tune_rollout_text(s, text, sizeof(text)), columns);
	put(out, "Apply", tune_apply_text(s, text, sizeof(text)), columns);
	put(out, tune_will_write(s) ? "Pending" : "Advice", tune_writes_text(s, text, sizeof(text)),
	    columns);
	put(out, "Decision", tune_str(s, "decision"), columns);
	if (tune_int(s, "roots"))
		put_roots(out, json_object_get(n, "roots"), tune_int(s, "roots"), columns);
	else
		fputs(tune_str(json_object_get(s, "fabric"), "blind")[0]
			      ? "\nCongestion cannot be seen.\n"
			      : "\nNo congestion.\n",
		      out);
}

void tune_top_heading(FILE *out)
{
	/* As wide as the cells of tune_top_row(). */
	static const int width[] = { 8, 8, 5, 9, 9, 9, 9, 8, 11, 11, 7, 7 };
	const size_t n = sizeof(width) / sizeof(width[0]);
	const struct tune_column column[] = {
		{ "TIME", IBCC_LEFT, "local time" },
		{ "STATE", IBCC_LEFT, "state of the daemon" },
		{ "ROOTS", IBCC_RIGHT, "number of congestion roots" },
		{ tune_rate_unit(), IBCC_RIGHT, "what all adapters send" },
		{ "XMITWAIT%", IBCC_RIGHT,
		  "share of the time in which the most blocked adapter is blocked "
		  "(PortXmitWait)" },
		{ "FECN/s", IBCC_RIGHT, "packets that switches mark, in a second" },
		{ "BECN/s", IBCC_RIGHT, "notifications that adapters receive, in a second" },
		{ "CC_PORTS", IBCC_RIGHT, "switch ports with congestion control enabled" },
		{ "CC_ADAPTERS", IBCC_RIGHT, "adapters with congestion control enabled" },
		{ "CCTI_TIMER", IBCC_LEFT, "the least and the longest timer of adapters" },
		{ "PENDING", IBCC_RIGHT, "changes that come next, or are recommended" },
		{ "MADs/s", IBCC_RIGHT, "MADs that the daemon sends, in a second" },
		{ "WORST ROOT", IBCC_LEFT, "the switch port with the worst congestion" },
	};

	tune_table_print_legend(out, 0, column, n + 1);
	for (size_t i = 0; i < n; i++)
		fprintf(out, column[i].form == IBCC_LEFT ? "%-*s " : "%*s ", width[i],
			column[i].name);
	fprintf(out, " %s\n", column[n].name);
}

void tune_top_row(FILE *out, const json_t *s, time_t now)
{
	const json_t *n = json_object_get(s, "now"), *set = json_object_get(n, "settings");
	const json_t *root = json_array_get(json_object_get(n, "roots"), 0);
	const json_t *mads = json_object_get(s, "mads");
	char clock[16], rate[32], timer[32], node[160];

	clock_text(now, clock, sizeof(clock));
	if (!n) {
		fprintf(out, "%-8s %s\n", clock, s ? tune_str(s, "state") : "gone");
		return;
	}
	fprintf(out, "%-8s %-8s", clock, tune_str(s, "state"));
	fprintf(out, " %5lld %9s %9.1f %9.0f %9.0f", tune_int(s, "roots"),
		tune_rate((double)tune_int(n, "sent_mbps"), rate, sizeof(rate)),
		(double)tune_int(n, "wait_permille") / 10,
		json_number_value(json_object_get(n, "fecn_per_s")),
		json_number_value(json_object_get(n, "becn_per_s")));
	fprintf(out, " %8lld %11lld %-11s %7lld %7.1f", tune_int(set, "marking_ports"),
		tune_int(set, "reacting_ports"), range_of(set, "CCTI_Timer", timer, sizeof(timer)),
		tune_int(s, "writes_pending"),
		json_number_value(json_object_get(mads, "per_second")));
	if (root)
		fprintf(out, "  %s port %lld", tune_node_text(root, node, sizeof(node)),
			tune_int(root, "port"));
	fputc('\n', out);
}

/* Number of bytes of a line that fit into `columns`; styles take no room. */
static size_t fit(const char *line, size_t len, unsigned int columns)
{
	unsigned int used = 0;
	size_t i = 0, bytes;

	while (i < len) {
		if (line[i] == '\033') {
			while (i < len && line[i] != 'm')
				i++;
			i += i < len;
			continue;
		}
		used += (unsigned int)tune_char_width(line + i, &bytes);
		if (used > columns)
			break;
		i += bytes;
	}
	/* In the locale C a byte is a column. Half a character of UTF-8 would be shown as another.
	 */
	while (i && i < len && (line[i] & 0xc0) == 0x80)
		i--;
	return i;
}

void tune_top_frame(FILE *out, const char *text, unsigned int rows, unsigned int columns)
{
	fputs(HOME, out);
	/* The last row stays free, or the terminal would scroll. */
	while (*text && --rows) {
		size_t len = strcspn(text, "\n");

		fwrite(text, 1, fit(text, len, columns), out);
		/* The part that was cut off may have contained the end of a style. */
		fputs(tune_style(TUNE_PLAIN), out);
		fputs(END_OF_LINE, out);
		text += len + (text[len] == '\n');
	}
	fputs(REST, out);
}
