/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The sections of a report as HTML (fabric_page.h): status and figures, the map, where
 * congestion starts, changes, notes. Begin with ibcc_fabric_page_sections().
 */
#include "daemon/tune/page/fabric_page.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ibcc/page.h>
#include <ibcc/text.h>

#include "daemon/tune/changes.h"
#include "daemon/tune/jobs_of.h"
#include "daemon/tune/look.h"
#include "daemon/tune/page/map.h"
#include "daemon/tune/page/page.h"
#include "daemon/tune/prose.h"
#include "daemon/tune/roots.h"
#include "daemon/tune/senders.h"
#include "daemon/tune/tune.h"

#define ROOTS   6u
#define SOURCES 12u /* sources of the first root */
#define FURTHER 5u  /* sources of each further root */
#define LINKS   50u /* faulty links of each kind */

static void when_text(char *buf, size_t len, json_int_t seconds)
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(buf, len, "%Y-%m-%d %H:%M:%S %Z", &tm))
		snprintf(buf, len, "?");
}

/* A rate with its unit. */
static const char *rate_text(json_int_t mbps, char *buf, size_t len)
{
	char number[32];

	snprintf(buf, len, "%s %s", tune_rate((double)mbps, number, sizeof(number)),
		 tune_rate_unit());
	return buf;
}

/* Writes a sentence of the daemon. */
static void put_words(FILE *out, const char *text)
{
	char in_units[TUNE_SENTENCE_BYTES];

	ibcc_page_paragraph(out, tune_rates_in(text, in_units, sizeof(in_units)));
}

static const char *most_text(const json_t *settings, const char *key, char *buf, size_t len)
{
	const json_t *range = json_object_get(settings, key);

	if (!json_is_array(range))
		return "-";
	snprintf(buf, len, "%lld", json_integer_value(json_array_get(range, 1)));
	return buf;
}

static void write_now(FILE *out, const json_t *status)
{
	const json_t *now = json_object_get(status, "now"), *set = json_object_get(now, "settings");
	char value[64], more[160], a[32], b[32];

	if (!now)
		return;
	snprintf(value, sizeof(value), "%lld", tune_int(status, "roots"));
	ibcc_page_figure(out, "Congestion roots", value, "ports where it starts");
	snprintf(more, sizeof(more), "%s, all together", tune_rate_unit());
	tune_rate((double)tune_int(now, "sent_mbps"), value, sizeof(value));
	ibcc_page_figure(out, "Adapters send", value, more);
	snprintf(value, sizeof(value), "%lld", tune_int(now, "waiting"));
	snprintf(more, sizeof(more), "at most %.1f %% of the time",
		 (double)tune_int(now, "wait_permille") / 10);
	ibcc_page_figure(out, "Blocked adapters", value, more);
	snprintf(value, sizeof(value), "%.0f /s",
		 json_number_value(json_object_get(now, "fecn_per_s")));
	snprintf(more, sizeof(more), "BECN %.0f /s",
		 json_number_value(json_object_get(now, "becn_per_s")));
	ibcc_page_figure(out, "FECN", value, more);
	if (!json_is_object(set))
		return;
	if (!tune_int(set, "marking_ports") && !tune_int(set, "reacting_ports")) {
		ibcc_page_figure(out, "Congestion control", "off", "at all switches and adapters");
		return;
	}
	snprintf(value, sizeof(value), "%lld + %lld", tune_int(set, "marking_ports"),
		 tune_int(set, "reacting_ports"));
	snprintf(more, sizeof(more), "switch ports + adapters; CCTI_Timer up to %s, CCTI_Limit %s",
		 most_text(set, "CCTI_Timer", a, sizeof(a)),
		 most_text(set, "CCTI_Limit", b, sizeof(b)));
	ibcc_page_figure(out, "Congestion control", value, more);
}

static void write_figures(FILE *out, const json_t *status)
{
	const json_t *fabric = json_object_get(status, "fabric");
	const json_t *mads = json_object_get(status, "mads");
	char value[64], more[160];

	ibcc_page_figures_begin(out);
	snprintf(more, sizeof(more), "mode %s via %s%s", tune_str(status, "mode"),
		 tune_str(status, "apply_via"), tune_str(status, "paused")[0] ? ", paused" : "");
	ibcc_page_figure(out, "State", tune_str(status, "state"), more);
	write_now(out, status);
	if (json_is_object(fabric)) {
		json_int_t unread =
			tune_int(fabric, "ports_stale") + tune_int(fabric, "ports_unreachable");

		snprintf(value, sizeof(value), "%lld", tune_int(fabric, "channel_adapters"));
		snprintf(more, sizeof(more), "%lld switch%s, %lld link%s; %lld port%s not read",
			 tune_int(fabric, "switches"),
			 ibcc_text_plural(tune_int(fabric, "switches"), "", "es"),
			 tune_int(fabric, "links"),
			 ibcc_text_plural(tune_int(fabric, "links"), "", "s"), unread,
			 ibcc_text_plural(unread, "", "s"));
		ibcc_page_figure(out, "Adapters", value, more);
	}
	if (json_is_object(mads)) {
		snprintf(value, sizeof(value), "%.1f /s",
			 json_number_value(json_object_get(mads, "per_second")));
		snprintf(more, sizeof(more), "%lld of %lld without answer",
			 tune_int(mads, "timed_out"), tune_int(mads, "sent"));
		ibcc_page_figure(out, "MADs", value, more);
	}
	ibcc_page_figures_end(out);
	if (tune_str(status, "reason")[0])
		put_words(out, tune_str(status, "reason"));
}

static void write_map(FILE *out, const json_t *report)
{
	struct tune_map m;

	if (tune_map_init(&m, report))
		return;
	ibcc_page_heading(out, "Fabric");
	fputs("<div class=\"wide\">\n", out);
	tune_map_draw(&m, out);
	fputs("</div>\n", out);
	fprintf(out,
		"<p class=\"lead\">Orange lines are the paths of contributors; thick ones lead to "
		"the "
		"worst root. C: contributor. V: victim. ?: suspected contributor, no mark shows "
		"yet "
		"which. A number is a congestion root: the link where it is, or the adapter that "
		"it "
		"leads to. Rates are the %s that an adapter sends, or that such an adapter "
		"gets.%s</p>\n",
		tune_rate_unit(),
		tune_roots_have_jobs(json_object_get(json_object_get(report, "plan"), "roots"))
			? " The number left of a rate is the job on the adapter's host, and how "
			  "many more jobs it has."
			: "");
	tune_map_fini(&m);
}

static void write_sources(FILE *out, const json_t *root, const json_t *prediction, bool jobs,
			  size_t most)
{
	static const char *const columns[] = { "Node",      "Role",  ">Sends", ">Blocked", ">BECN",
					       ">Expected", ">Port", "GUID",   "~Job" };
	struct tune_source *s;
	struct ibcc_page_table t;
	size_t n, i;

	s = tune_sources_of(root, NULL, &n);
	if (!s || !n) {
		free(s);
		return;
	}
	ibcc_page_table_begin(&t, out, columns, sizeof(columns) / sizeof(columns[0]) - !jobs);
	for (i = 0; i < n && i < most; i++) {
		char list[TUNE_JOBS_BYTES];
		json_int_t e = tune_expected_mbps(prediction, s[i].o);
		json_int_t wait = tune_int(s[i].o, "wait_permille");
		char text[32], rate[48];

		ibcc_page_cell(&t, tune_str(s[i].o, "node"));
		ibcc_page_cell(&t, s[i].role);
		ibcc_page_cell(&t, rate_text(tune_int(s[i].o, "xmit_mbps"), rate, sizeof(rate)));
		snprintf(text, sizeof(text), "%.1f %%", (double)wait / 10);
		ibcc_page_bar(&t, text, wait > 0 ? (unsigned int)wait : 0);
		snprintf(text, sizeof(text), "%lld", tune_int(s[i].o, "becn"));
		ibcc_page_cell(&t, text);
		ibcc_page_cell(&t, e < 0 ? "-" : rate_text(e, rate, sizeof(rate)));
		snprintf(text, sizeof(text), "%lld", tune_int(s[i].o, "port"));
		ibcc_page_cell(&t, text);
		ibcc_page_cell(&t, tune_str(s[i].o, "node_guid"));
		if (jobs)
			ibcc_page_cell(&t, tune_jobs_at(s[i].o, list, sizeof(list)));
	}
	ibcc_page_table_end(&t);
	if (n > i) {
		char text[48];

		snprintf(text, sizeof(text), "and %zu more", n - i);
		ibcc_page_paragraph(out, text);
	}
	free(s);
}

static void write_amount(FILE *out, const char *whose, const json_t *amount)
{
	char now[48], expected[48], low[48], high[48], text[300];

	if (!json_is_object(amount) || !tune_int(amount, "now_mbps"))
		return;
	snprintf(text, sizeof(text), "Expected of the changes: %s %s \u2192 %s (%s to %s)", whose,
		 rate_text(tune_int(amount, "now_mbps"), now, sizeof(now)),
		 rate_text(tune_int(amount, "expected_mbps"), expected, sizeof(expected)),
		 rate_text(tune_int(amount, "low_mbps"), low, sizeof(low)),
		 rate_text(tune_int(amount, "high_mbps"), high, sizeof(high)));
	ibcc_page_paragraph(out, text);
}

static void write_roots(FILE *out, const json_t *plan)
{
	const json_t *prediction = json_object_get(plan, "prediction");
	const json_t *roots = json_object_get(plan, "roots"), *o;
	char text[TUNE_SENTENCE_BYTES];
	size_t i;

	ibcc_page_heading(out, "Where congestion starts");
	if (!json_array_size(roots))
		ibcc_page_paragraph(out, tune_str(json_object_get(plan, "fabric"), "blind")[0]
						 ? "Congestion cannot be seen."
						 : "No congestion.");
	json_array_foreach (roots, i, o) {
		if (i == ROOTS)
			break;
		snprintf(text, sizeof(text), "%zu: %s port %lld, %s", i + 1, tune_str(o, "node"),
			 tune_int(o, "port"), tune_root_kind(o));
		fputs("<h3>", out);
		ibcc_plot_text(out, text);
		fputs("</h3>\n", out);
		put_words(out, tune_str(o, "explanation"));
		write_sources(out, o, prediction, tune_roots_have_jobs(roots),
			      i ? FURTHER : SOURCES);
	}
	if (json_array_size(roots) > ROOTS) {
		snprintf(text, sizeof(text), "And %zu more.", json_array_size(roots) - ROOTS);
		ibcc_page_paragraph(out, text);
	}
	if (tune_str(plan, "summary")[0]) {
		fputs("<p><b>Decision:</b> ", out);
		ibcc_plot_text(out, tune_rates_in(tune_str(plan, "summary"), text, sizeof(text)));
		fputs("</p>\n", out);
	}
	write_amount(out, "victims", json_object_get(prediction, "victims"));
	write_amount(out, "all adapters", json_object_get(prediction, "total"));
}

#define CHANGE_CELLS (TUNE_GROUP_CELLS - 1) /* all but the outcome */

struct writer {
	FILE *out;
	struct ibcc_page_table t;
};

static void write_row(void *arg, const char *const *cell)
{
	struct writer *w = arg;

	for (unsigned int i = 0; i < CHANGE_CELLS; i++)
		ibcc_page_cell(&w->t, cell[i]);
}

static void end_rows(void *arg)
{
	struct writer *w = arg;

	ibcc_page_table_end(&w->t);
}

static void write_reason(void *arg, bool first, const char *field, const char *reason)
{
	struct writer *w = arg;
	char text[TUNE_SENTENCE_BYTES];

	(void)first;
	snprintf(text, sizeof(text), "%s: %s", field, reason);
	put_words(w->out, text);
}

static void write_changes(FILE *out, const json_t *plan)
{
	static const char *const columns[CHANGE_CELLS] = { "",    ">Count", "Setting", "SL",
							   "Old", "New",    "~Where" };
	const json_t *changes = json_object_get(plan, "changes");
	struct writer w = { .out = out };

	if (!json_array_size(changes) || !tune_int(plan, "writes"))
		return;
	ibcc_page_heading(out, json_object_get(plan, "result") ? "Changes just made"
							       : "Changes to make");
	ibcc_page_table_begin(&w.t, out, columns, CHANGE_CELLS);
	tune_group_changes(changes,
			   &(struct tune_group_fn){ &w, write_row, end_rows, write_reason });
}

static void write_sentence(FILE *out, bool *any, const char *what, const char *text)
{
	if (!text || !*text)
		return;
	if (!*any)
		ibcc_page_heading(out, "Notes");
	fputs(*any ? "<li>" : "<ul><li>", out);
	*any = true;
	fprintf(out, "%s: ", what);
	ibcc_plot_text(out, text);
	fputs("</li>\n", out);
}

static void write_nodes(FILE *out, bool *any, const char *what, const json_t *list,
			json_int_t left_out)
{
	const json_t *o = json_array_get(list, 0);
	char text[300];

	if (!o)
		return;
	snprintf(text, sizeof(text), "%s%zu node%s, the first %s %s: %s",
		 left_out ? "more than " : "", json_array_size(list),
		 ibcc_text_plural(json_array_size(list), "", "s"), tune_str(o, "node"),
		 tune_str(o, "node_guid"), tune_str(o, "reason"));
	write_sentence(out, any, what, text);
}

/* Links that run too slowly, or count errors. */
static void write_links(FILE *out, bool *any, const char *what, const json_t *list)
{
	char text[TUNE_SENTENCE_BYTES];
	const json_t *o;
	size_t i;

	json_array_foreach (list, i, o) {
		if (i == LINKS)
			break;
		tune_rates_in(tune_str(o, "text"), text, sizeof(text));
		write_sentence(out, any, what, text);
	}
	if (json_array_size(list) <= LINKS)
		return;
	snprintf(text, sizeof(text), "and %zu more", json_array_size(list) - LINKS);
	write_sentence(out, any, what, text);
}

static void write_notes(FILE *out, const json_t *report)
{
	const json_t *status = json_object_get(report, "status"), *o;
	const json_t *fabric = json_object_get(status, "fabric");
	const json_t *left_out = json_object_get(fabric, "left_out");
	const json_t *vendor = json_object_get(status, "nvidia");
	const json_t *links = json_object_get(report, "links");
	char text[TUNE_SENTENCE_BYTES];
	bool any = false;
	size_t i;

	write_sentence(out, &any, "No plan", tune_str(report, "error"));
	write_sentence(out, &any, "Paused after", tune_str(status, "paused"));
	write_sentence(out, &any, "On trial", tune_trial_text(status, text, sizeof(text)));
	write_sentence(out, &any, "Roll-out", tune_rollout_text(status, text, sizeof(text)));
	write_sentence(out, &any, "Plugin", tune_str(status, "plugin_trouble"));
	write_sentence(out, &any, "Discovery", tune_str(status, "discovery_trouble"));
	write_sentence(out, &any, "No answer from", tune_str(fabric, "silent"));
	write_sentence(out, &any, "State file", tune_str(status, "state_trouble"));
	write_sentence(out, &any, "Clock", tune_str(fabric, "clock_trouble"));
	write_sentence(out, &any, "Election",
		       tune_str(json_object_get(status, "election"), "text"));
	write_sentence(out, &any, "No effect",
		       tune_str(json_object_get(status, "rollout"), "no_effect"));
	write_sentence(out, &any, "Drift", tune_str(json_object_get(status, "drift"), "text"));
	write_sentence(out, &any, "Foreign settings",
		       tune_str(json_object_get(status, "unknown_origin"), "text"));
	write_sentence(out, &any, "Routing", tune_str(status, "routing"));
	write_sentence(out, &any, "Routes", tune_str(links, "credit_loop"));
	write_links(out, &any, "Slow link", json_object_get(links, "slow"));
	write_links(out, &any, "Link errors", json_object_get(links, "errors"));
	write_sentence(out, &any, "NVIDIA", tune_str(vendor, "text"));
	write_sentence(out, &any, "What its operator can do", tune_str(vendor, "advice"));
	write_nodes(out, &any, "Ports not read", json_object_get(fabric, "unread"),
		    tune_int(left_out, "unread"));
	write_nodes(out, &any, "Inconsistent counters", json_object_get(fabric, "doubted"),
		    tune_int(left_out, "doubted"));
	write_nodes(out, &any, "Without settings",
		    json_object_get(json_object_get(report, "plan"), "unreachable"), 0);
	write_sentence(out, &any, "Paths", tune_str(json_object_get(report, "plan"), "paths"));
	json_array_foreach (json_object_get(fabric, "apart"), i, o)
		write_sentence(out, &any, "Ignored nodes", json_string_value(o));
	json_array_foreach (json_object_get(fabric, "counters"), i, o)
		write_sentence(out, &any, "Counters", json_string_value(o));
	if (any)
		fputs("</ul>\n", out);
}

/* A paragraph, unless there is nothing to say. */
static void write_line(FILE *out, const char *label, const char *text)
{
	char line[TUNE_SENTENCE_BYTES + 16];

	if (!text[0])
		return;
	snprintf(line, sizeof(line), "%s%s", label, text);
	ibcc_page_paragraph(out, line);
}

void ibcc_fabric_page_sections(FILE *out, const json_t *report)
{
	const json_t *plan = json_object_get(report, "plan");
	const json_t *settings = json_object_get(report, "settings");
	const json_t *status = json_object_get(report, "status"), *o;
	const json_t *warnings = json_object_get(json_object_get(status, "fabric"), "warnings");
	char text[TUNE_SENTENCE_BYTES];
	size_t i;

	write_line(out, "", tune_str(status, "verdict"));
	write_line(out, "Blocked: ", tune_blocked_text(status, text, sizeof(text)));
	write_line(out, "Effect ", tune_gain_text(status, text, sizeof(text)));
	json_array_foreach (warnings, i, o)
		write_line(out,
			   "Warning: ", tune_rates_in(json_string_value(o), text, sizeof(text)));
	write_figures(out, status);
	write_map(out, report);
	if (json_is_object(plan))
		write_roots(out, plan);
	tune_page_jobs(out, report);
	write_changes(out, plan);
	if (json_is_array(settings))
		tune_page_settings(out, settings);
	tune_page_history(out, report);
	write_notes(out, report);
}

void ibcc_fabric_page(FILE *out, const json_t *report)
{
	const json_t *status = json_object_get(report, "status");
	const json_t *sm = json_object_get(status, "sm");
	char when[64], lead[600];

	when_text(when, sizeof(when), tune_int(report, "made"));
	snprintf(lead, sizeof(lead), "%s%s%s", tune_str(report, "host"),
		 tune_str(report, "host")[0] ? ", " : "", when);
	ibcc_page_begin(out, "Congestion on this InfiniBand fabric", lead);
	ibcc_fabric_page_sections(out, report);
	snprintf(lead, sizeof(lead), "ibcc-tune %s%s%s%s%s. %s", tune_str(report, "version"),
		 json_is_object(sm) ? ", " : "", tune_str(sm, "opensm"),
		 json_is_object(sm) ? ", plugin " : "", tune_str(sm, "plugin"), when);
	ibcc_page_end(out, lead);
}
