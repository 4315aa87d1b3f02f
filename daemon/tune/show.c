/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Prints the fabric's settings as tables, of switches, of channel adapters and of NVIDIA's own
 * congestion control with its notifications, or the odd ones. A table of a large fabric has a line
 * for each setting that differs, with the first of the nodes that have it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <ibcc/settings_json.h>
#include <ibcc/text.h>

#include "daemon/tune/changes.h"
#include "daemon/tune/equal.h"
#include "daemon/tune/odd.h"
#include "daemon/tune/prose.h"
#include "daemon/tune/table.h"
#include "daemon/tune/tune.h"

#define CELL        64
#define LINES       100u /* of a table; with more, equal settings share a line */
#define UNSUPPORTED 8u   /* nodes that are named one by one */

static const struct tune_column switch_columns[] = {
	{ "NODE", IBCC_LEFT, "name and GUID" },
	{ "LID", IBCC_RIGHT, "local identifier of the node" },
	{ "PORT", IBCC_LEFT, "ports with these settings" },
	{ "Threshold", IBCC_RIGHT, "how early the port marks packets: 0 never, 15 earliest" },
	{ "Marking_Rate", IBCC_RIGHT, "the port marks one of this many packets, plus one" },
	{ "Packet_Size", IBCC_RIGHT, "smaller packets are not marked; unit 64 bytes" },
	{ "Victim_Mask", IBCC_LEFT, "ports that mark although they are blocked" },
};

static const struct tune_column ca_columns[] = {
	{ "NODE", IBCC_LEFT, "name and GUID" },
	{ "LID", IBCC_RIGHT, "local identifier of the port" },
	{ "PORT", IBCC_RIGHT, "port of the adapter" },
	{ "SL", IBCC_LEFT, "service levels with these settings" },
	{ "CCTI_Timer", IBCC_RIGHT,
	  "how fast the adapter moves back along its table; unit 1.024 us" },
	{ "CCTI_Increase", IBCC_RIGHT, "how far one BECN moves the adapter along its table" },
	{ "Trigger", IBCC_RIGHT, "table index from which on the adapter reports an event" },
	{ "CCTI_Min", IBCC_RIGHT,
	  "table index that the adapter never goes below: above 0 it is always throttled" },
	{ "CCTI_Limit", IBCC_RIGHT, "last index of the table" },
	{ "MAX DELAY", IBCC_RIGHT, "maximum injection delay, the last entry of the table" },
	{ "CONTROL", IBCC_LEFT,
	  "whether congestion control is on, by service level or by queue pair" },
};

/* Cells of a row of NVIDIA's table: all columns but NODE and LID. */
#define NVIDIA_CELLS 4
static const struct tune_column nvidia_columns[] = {
	{ "NODE", IBCC_LEFT, "name and GUID" },
	{ "LID", IBCC_RIGHT, "local identifier of the node" },
	{ "PORT", IBCC_LEFT, "port of an adapter, ports of a switch" },
	{ "CONTROL", IBCC_LEFT, "whether NVIDIA's own congestion control is on" },
	{ "ATTRIBUTE", IBCC_LEFT, "attribute of NVIDIA's that was read" },
	{ "PARAMETERS", IBCC_WRAP, "its fields and their values" },
};

/* Cells of a row of notifications: all columns but NODE and LID. */
#define NOTIFIED_CELLS 8
static const struct tune_column notified_columns[] = {
	{ "NODE", IBCC_LEFT, "name and GUID" },
	{ "LID", IBCC_RIGHT, "local identifier of the port" },
	{ "PORT", IBCC_RIGHT, "port of the adapter" },
	{ "SECONDS", IBCC_RIGHT, "length of the interval that was counted" },
	{ "HANDLED", IBCC_RIGHT, "CNPs for which the adapter slowed down" },
	{ "IGNORED", IBCC_RIGHT, "CNPs that the adapter did not follow" },
	{ "SENT", IBCC_RIGHT, "CNPs that the adapter sent for marked packets" },
	{ "HANDLED/GB", IBCC_RIGHT, "CNPs handled for each GB that the port sent" },
	{ "IGNORED/GB", IBCC_RIGHT, "CNPs ignored for each GB that the port sent" },
	{ "SENT/GB", IBCC_RIGHT, "CNPs sent for each GB that the port received" },
};

static bool is_switch(const json_t *node)
{
	return !strcmp(tune_str(node, "type"), "switch");
}

static void num(char *cell, const json_t *o, const char *key)
{
	snprintf(cell, CELL, "%lld", tune_int(o, key));
}

/* "1-4,7" for an array of port numbers. */
static void ports_text(char *cell, const json_t *list)
{
	size_t n = json_array_size(list), i, len = 0;

	snprintf(cell, CELL, "none");
	for (i = 0; i < n && len < CELL; i++) {
		json_int_t a = json_integer_value(json_array_get(list, i)), b = a;

		while (i + 1 < n && json_integer_value(json_array_get(list, i + 1)) == b + 1) {
			b++;
			i++;
		}
		len += (size_t)snprintf(cell + len, CELL - len, b > a ? "%s%lld-%lld" : "%s%lld",
					len ? "," : "", a, b);
	}
}

static void switch_rows(const json_t *o, tune_setting_fn row, void *arg)
{
	const json_t *sw = json_object_get(o, "SwitchCongestionSetting");
	const json_t *list = json_object_get(o, "SwitchPortCongestionSetting"), *e;
	char port[CELL] = "all", c[4][CELL];
	const char *cell[] = { port, c[0], c[1], c[2], c[3] };
	size_t i;

	num(c[0], sw, "Threshold");
	num(c[1], sw, "Marking_Rate");
	num(c[2], sw, "Packet_Size");
	ports_text(c[3], json_object_get(sw, "Victim_Mask"));
	row(arg, o, cell);
	c[3][0] = '\0';
	json_array_foreach (list, i, e) {
		num(port, e, "port");
		num(c[0], e, "Threshold");
		num(c[1], e, "Cong_Parm_Marking_Rate");
		num(c[2], e, "Packet_Size");
		row(arg, o, cell);
	}
}

static bool same_entry(const json_t *a, const json_t *b)
{
	return tune_int(a, "CCTI_Timer") == tune_int(b, "CCTI_Timer") &&
	       tune_int(a, "CCTI_Increase") == tune_int(b, "CCTI_Increase") &&
	       tune_int(a, "Trigger_Threshold") == tune_int(b, "Trigger_Threshold") &&
	       tune_int(a, "CCTI_Min") == tune_int(b, "CCTI_Min");
}

/* Delay of the table's last entry, in packet times. */
static void last_entry(char *cell, const json_t *table)
{
	const json_t *list = json_object_get(table, "entries");
	const json_t *e = json_array_get(list, json_array_size(list) - 1);

	snprintf(cell, CELL, "%g",
		 (double)tune_int(e, "CCT_Multiplier") /
			 (double)(1 << (tune_int(e, "CCT_Shift") & 3)));
}

static void ca_rows(const json_t *o, tune_setting_fn row, void *arg)
{
	const json_t *ca = json_object_get(o, "CACongestionSetting");
	const json_t *table = json_object_get(o, "CongestionControlTable");
	const json_t *sls = json_object_get(ca, "sls");
	char port[CELL], sl[CELL], c[6][CELL];
	const char *cell[] = {
		port, sl,   c[0],
		c[1], c[2], c[3],
		c[4], c[5], tune_int(ca, "Port_Control") & 1 ? "each SL" : "each QP"
	};
	size_t n = json_array_size(sls), i, end;

	num(port, o, "port");
	num(c[4], table, "CCTI_Limit");
	last_entry(c[5], table);
	for (i = 0; i < n; i = end) {
		const json_t *e = json_array_get(sls, i);

		for (end = i + 1; end < n && same_entry(e, json_array_get(sls, end)); end++)
			;
		if (end - i > 1)
			snprintf(sl, sizeof(sl), "%zu-%zu", i, end - 1);
		else
			snprintf(sl, sizeof(sl), "%zu", i);
		num(c[0], e, "CCTI_Timer");
		num(c[1], e, "CCTI_Increase");
		num(c[2], e, "Trigger_Threshold");
		num(c[3], e, "CCTI_Min");
		row(arg, o, cell);
	}
}

void tune_setting_rows(const json_t *node, tune_setting_fn row, void *arg)
{
	if (json_is_true(json_object_get(node, "supported")))
		(is_switch(node) ? switch_rows : ca_rows)(node, row, arg);
}

/* A row for an attribute of a node, at a port or at several with the same parameters. */
static void parameters_row(const json_t *node, const char *port, const char *attribute,
			   const json_t *fields, tune_setting_fn row, void *arg)
{
	char text[IBCC_JSON_PARAMETERS_BYTES];
	const char *cell[NVIDIA_CELLS] = { port,
					   tune_str(json_object_get(node, "nvidia"), "control"),
					   attribute, text };

	ibcc_json_parameters_text(fields, text, sizeof(text));
	row(arg, node, cell);
}

/* One attribute of a switch's ports: consecutive ports that have the same parameters share a row.
 */
static void port_rows(const json_t *node, const char *attribute, tune_setting_fn row, void *arg)
{
	const json_t *ports = json_object_get(node, "nvidia_ports"), *o, *p;
	size_t n = json_array_size(ports), end;
	char port[CELL];

	for (size_t i = 0; i < n; i = end) {
		o = json_object_get(json_array_get(ports, i), attribute);
		for (end = i + 1; end < n; end++) {
			p = json_object_get(json_array_get(ports, end), attribute);
			if (!json_equal((json_t *)o, (json_t *)p) ||
			    tune_int(json_array_get(ports, end), "port") !=
				    tune_int(json_array_get(ports, end - 1), "port") + 1)
				break;
		}
		if (!o)
			continue;
		num(port, json_array_get(ports, i), "port");
		if (end - i > 1)
			snprintf(port + strlen(port), sizeof(port) - strlen(port), "-%lld",
				 tune_int(json_array_get(ports, end - 1), "port"));
		parameters_row(node, port, attribute, o, row, arg);
	}
}

/* A node that reports its control and no parameters has a row without them. */
static void nvidia_rows(const json_t *node, tune_setting_fn row, void *arg)
{
	static const char *const of_ports[] = { "PortProfileSettings", "SLMapping" };
	json_t *nvidia = json_object_get(node, "nvidia"), *o;
	const char *attribute;
	char port[CELL];
	bool any = false;

	if (!nvidia)
		return;
	num(port, node, "port");
	json_object_foreach (nvidia, attribute, o) {
		if (!json_is_object(o))
			continue;
		any = true;
		parameters_row(node, port, attribute, o, row, arg);
	}
	for (size_t i = 0; i < sizeof(of_ports) / sizeof(of_ports[0]); i++)
		port_rows(node, of_ports[i], row, arg);
	if (!any && !json_array_size(json_object_get(node, "nvidia_ports")))
		parameters_row(node, port, "", NULL, row, arg);
}

/* "-" where the port carried no traffic. */
static void ratio(char *cell, const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	if (json_is_real(v))
		snprintf(cell, CELL, "%.1f", json_real_value(v));
	else
		snprintf(cell, CELL, "-");
}

static void notified_rows(const json_t *node, tune_setting_fn row, void *arg)
{
	static const char *const counts[] = { "cnp_handled", "cnp_ignored", "cnp_sent" };
	static const char *const ratios[] = { "handled_per_gb", "ignored_per_gb", "sent_per_gb" };
	const json_t *o = json_object_get(node, "nvidia_notifications");
	char c[NOTIFIED_CELLS][CELL];
	const char *cell[NOTIFIED_CELLS];

	if (!o)
		return;
	num(c[0], node, "port");
	snprintf(c[1], CELL, "%.1f", (double)tune_int(o, "interval_ms") / 1000);
	for (size_t i = 0; i < 3; i++) {
		num(c[2 + i], o, counts[i]);
		ratio(c[5 + i], o, ratios[i]);
	}
	for (size_t i = 0; i < NOTIFIED_CELLS; i++)
		cell[i] = c[i];
	row(arg, node, cell);
}

struct printer {
	struct libscols_table *t;
	size_t n_cells;
};

static void print_row(void *arg, const json_t *node, const char *const *cell)
{
	const struct printer *p = arg;
	char text[160], lid[CELL];
	const char *row[2 + TUNE_CA_CELLS] = { tune_node_text(node, text, sizeof(text)), lid };

	num(lid, node, "lid");
	memcpy(row + 2, cell, p->n_cells * sizeof(*cell));
	tune_table_add(p->t, row, 0, TUNE_PLAIN);
}

static void count_row(void *arg, const json_t *node, const char *const *cell)
{
	(void)node;
	(void)cell;
	++*(size_t *)arg;
}

static void rows_of_switch(const json_t *node, tune_setting_fn row, void *arg)
{
	if (is_switch(node))
		tune_setting_rows(node, row, arg);
}

static void rows_of_adapter(const json_t *node, tune_setting_fn row, void *arg)
{
	if (!is_switch(node))
		tune_setting_rows(node, row, arg);
}

/* One of the tables. */
struct kind {
	const char *heading;
	const struct tune_column *column;
	size_t n_cells;
	void (*rows)(const json_t *node, tune_setting_fn row, void *arg);
};

static const struct kind kinds[] = {
	{ "Switches", switch_columns, TUNE_SWITCH_CELLS, rows_of_switch },
	{ "Channel adapters", ca_columns, TUNE_CA_CELLS, rows_of_adapter },
	{ "NVIDIA's own congestion control", nvidia_columns, NVIDIA_CELLS, nvidia_rows },
	{ "Notifications of congestion by NVIDIA's adapters", notified_columns, NOTIFIED_CELLS,
	  notified_rows },
};

static void each_row(const struct kind *k, const json_t *nodes, tune_setting_fn row, void *arg)
{
	const json_t *o;
	size_t i;

	json_array_foreach (nodes, i, o)
		k->rows(o, row, arg);
}

static void print_each(const struct kind *k, const json_t *nodes)
{
	struct printer p = { tune_table_new(k->column, 2 + k->n_cells), k->n_cells };

	each_row(k, nodes, print_row, &p);
	tune_table_print_under(p.t, k->heading);
}

/* The columns of the nodes and ports make room for COUNT and WHERE. */
static void print_equal(const struct kind *k, const json_t *nodes, size_t lines)
{
	struct tune_column column[1 + TUNE_CA_CELLS] = {
		{ "COUNT", IBCC_RIGHT, "nodes, ports or ranges of ports with these settings" },
	};
	struct tune_equals all = { .n_cells = k->n_cells };
	struct libscols_table *t;
	char count[CELL], where[300];
	const char *row[1 + TUNE_CA_CELLS] = { count };

	memcpy(column + 1, k->column + 3, (k->n_cells - 1) * sizeof(*column));
	column[k->n_cells] =
		(struct tune_column){ "WHERE", IBCC_WRAP,
				      "nodes with these settings; leaf2/2 is port 2 of leaf2" };
	t = tune_table_new(column, k->n_cells + 1);
	each_row(k, nodes, tune_equals_take, &all);
	for (size_t i = 0; i < all.n && i < LINES; i++) {
		snprintf(count, sizeof(count), "%u", all.row[i].n);
		for (size_t c = 1; c < k->n_cells; c++)
			row[c] = all.row[i].cell[c];
		row[k->n_cells] = tune_equal_where(&all.row[i], where, sizeof(where));
		tune_table_add(t, row, 0, TUNE_PLAIN);
	}
	tune_table_print_under(t, k->heading);
	if (all.n > LINES)
		tune_say("", "and %zu more setting%s.", all.n - LINES,
			 ibcc_text_plural(all.n - LINES, "", "s"));
	tune_say("", "Equal settings share a line; --full lists each node (%zu line%s).", lines,
		 ibcc_text_plural(lines, "", "s"));
	tune_equals_fini(&all);
}

/* Nodes without settings, and why; the first ones, or all. */
static void print_unsupported(const json_t *nodes, bool all)
{
	size_t n = 0, i;
	const json_t *o;
	char node[160];

	json_array_foreach (nodes, i, o) {
		if (json_is_true(json_object_get(o, "supported")))
			continue;
		if (n++ < UNSUPPORTED || all)
			printf("%s port %lld %s\n", tune_node_text(o, node, sizeof(node)),
			       tune_int(o, "port"), tune_str(o, "reason"));
	}
	if (n > UNSUPPORTED && !all)
		printf("and %zu more without settings: --full lists all\n", n - UNSUPPORTED);
}

/* "channel adapters of type 0x0002c9/0x101b" */
static const char *kind_text(const json_t *o, char *buf, size_t len)
{
	snprintf(buf, len, "%s of type %s/%s",
		 strcmp(tune_str(o, "type"), "switch") ? "channel adapters" : "switches",
		 tune_str(o, "vendor_id"), tune_str(o, "device_id"));
	return buf;
}

/* Attributes of NVIDIA's that ports of a type did not answer, and why. */
static void print_unread(const json_t *a)
{
	static const struct {
		const char *key, *words;
	} reasons[] = {
		{ "refused", "do not know it" },
		{ "silent", "did not answer" },
		{ "late", "were not reached in time" },
		{ "not_asked", "were not asked because the first ones did not answer" },
	};
	char kind[CELL * 2], why[4 * CELL];
	const json_t *o;
	size_t i;

	json_array_foreach (json_object_get(a, "nvidia_unread"), i, o) {
		json_int_t all = 0;
		int at = 0;

		why[0] = '\0';
		for (size_t k = 0; k < sizeof(reasons) / sizeof(*reasons); k++) {
			json_int_t n = tune_int(o, reasons[k].key);

			if (n)
				at += snprintf(why + at, sizeof(why) - (size_t)at, "%s%lld %s",
					       at ? ", " : "", n, reasons[k].words);
			all += n;
		}
		tune_say("", "%s is not shown for %lld of %lld port%s of %s: %s%s.",
			 tune_str(o, "attribute"), all, tune_int(o, "ports"),
			 ibcc_text_plural(tune_int(o, "ports"), "", "s"),
			 kind_text(o, kind, sizeof(kind)), why,
			 tune_int(o, "silent") + tune_int(o, "late")
				 ? "; repeat the command to ask again"
				 : "");
	}
}

/* Ports whose settings of NVIDIA's control are not known at all. */
static void print_silent(const json_t *silent)
{
	json_int_t n = tune_int(silent, "ports");

	if (n)
		tune_say("",
			 "%lld port%s not answer for NVIDIA's own congestion control, %s first: "
			 "the settings there are not shown or compared. The CC_Key is probably "
			 "missing or has changed: see key_dir and cc_key_file in "
			 "ibcc-tuned.yaml(5).",
			 n, ibcc_text_plural(n, " does", "s do"), tune_str(silent, "first"));
}

/* Settings of NVIDIA's that another program has written since the daemon read them before. */
static void print_changed(const json_t *a)
{
	const json_t *changed = json_object_get(a, "nvidia_changed");
	json_int_t n = tune_int(changed, "ports"), since = tune_int(changed, "since_s");

	if (n)
		tune_say("",
			 "Settings of NVIDIA's own congestion control have changed at %lld "
			 "port%s, %s first, since ibcc-tuned read them %lld second%s ago. "
			 "ibcc-tune writes none of them: another program has written them, such as "
			 "NVIDIA's OpenSM by its policy, or a device was restarted.",
			 n, ibcc_text_plural(n, "", "s"), tune_str(changed, "first"), since,
			 ibcc_text_plural(since, "", "s"));
}

static void print_settings(const json_t *a, bool full)
{
	const json_t *nodes = json_object_get(a, "nodes");
	json_t *silent;

	if (!tune_table_is_csv())
		print_unsupported(nodes, full);
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		size_t lines = 0;

		each_row(&kinds[k], nodes, count_row, &lines);
		/* Most fabrics have nothing of NVIDIA's: a heading alone would be a riddle. */
		if ((kinds[k].rows == nvidia_rows || kinds[k].rows == notified_rows) && !lines)
			continue;
		if (full || tune_table_is_csv() || tune_table_is_chosen() || lines <= LINES)
			print_each(&kinds[k], nodes);
		else
			print_equal(&kinds[k], nodes, lines);
	}
	if (tune_table_is_csv())
		return;
	print_unread(a);
	print_changed(a);
	silent = tune_silent(a);
	print_silent(silent);
	json_decref(silent);
}

static void print_summary(const json_t *a)
{
	print_settings(a, false);
}

static void print_all(const json_t *a)
{
	print_settings(a, true);
}

static void print_odd(const json_t *a)
{
	static const struct tune_column columns[] = {
		{ "NODE", IBCC_LEFT, "name and GUID, of the first one if there are more" },
		{ "PORT", IBCC_RIGHT, "port of an adapter, 0 of a switch" },
		{ "SETTING", IBCC_LEFT, "attribute and field" },
		{ "AT", IBCC_LEFT, "service levels, ports or table entries" },
		{ "VALUE", IBCC_WRAP, "what the node has" },
		{ "USUAL", IBCC_WRAP, "what most nodes of its device type have" },
		{ "ALIKE", IBCC_LEFT, "how many nodes of the type have the usual value" },
	};
	struct libscols_table *table = tune_table_new(columns, sizeof(columns) / sizeof(*columns));
	const json_t *silent = json_object_get(a, "nvidia_silent");
	const json_t *list = json_object_get(a, "odd"), *open = json_object_get(a, "undecided"), *o;
	char text[TUNE_SENTENCE_BYTES];
	char node[160], port[CELL], alike[CELL], kind[CELL * 2];
	const char *value;
	json_t *n;
	size_t i;

	json_array_foreach (list, i, o) {
		json_int_t others = tune_int(o, "nodes") - 1;
		const char *row[] = { tune_node_text(o, node, sizeof(node)),
				      port,
				      tune_str(o, "field"),
				      tune_str(o, "index"),
				      tune_str(o, "value"),
				      tune_str(o, "usual"),
				      alike };

		num(port, o, "port");
		if (others > 0)
			snprintf(node + strlen(node), sizeof(node) - strlen(node), " and %lld more",
				 others);
		snprintf(alike, sizeof(alike), "%lld of %lld", tune_int(o, "with"),
			 tune_int(o, "alike"));
		tune_table_add(table, row, 0, TUNE_PLAIN);
	}
	tune_table_print_under(table, "Odd settings");
	if (tune_table_is_csv())
		return;
	if (tune_int(a, "more"))
		printf("%lld more odd %s not listed.\n", tune_int(a, "more"),
		       ibcc_text_plural(tune_int(a, "more"), "setting is", "settings are"));
	json_array_foreach (open, i, o) {
		struct ibcc_text x = { .buf = text, .len = sizeof(text) };

		ibcc_text_add(&x, "No value of %s is usual at %s:", tune_str(o, "field"),
			      kind_text(o, kind, sizeof(kind)));
		json_object_foreach (json_object_get(o, "values"), value, n)
			ibcc_text_add(&x, " %s (%lld)", value, json_integer_value(n));
		if (tune_int(o, "values_left_out"))
			ibcc_text_add(&x, " and %lld more", tune_int(o, "values_left_out"));
		tune_say("", "%s", text);
	}
	print_unread(a);
	print_changed(a);
	print_silent(silent);
	if (!json_array_size(list) && !json_array_size(open) &&
	    !json_array_size(json_object_get(a, "nvidia_unread")) && !tune_int(silent, "ports"))
		tune_say("",
			 "Nothing is odd: %lld port%s of %lld device type%s %s the settings that "
			 "are usual for the type.",
			 tune_int(a, "nodes"), ibcc_text_plural(tune_int(a, "nodes"), "", "s"),
			 tune_int(a, "types"), ibcc_text_plural(tune_int(a, "types"), "", "s"),
			 ibcc_text_plural(tune_int(a, "nodes"), "has", "have"));
	if (tune_int(a, "alone"))
		tune_say("",
			 "Device types with a single port, which ibcc-tune cannot compare: %lld.",
			 tune_int(a, "alone"));
}

static int show_odd(struct tune *t)
{
	struct ibcc_why why = { "" };
	json_t *a = NULL, *odd;
	int rc = tune_do(t, "show", NULL, &a, &why), code = TUNE_OK;

	/* Nodes that the discovery has missed are not compared; the rest is. */
	odd = a ? tune_odd(a) : NULL;
	if (odd)
		json_object_set(odd, "nvidia_changed", json_object_get(a, "nvidia_changed"));
	if (odd && t->json)
		code = tune_print_json(odd);
	else if (odd)
		print_odd(odd);
	json_decref(odd);
	json_decref(a);
	return rc ? tune_fail("%s", why.text) : code;
}

int tune_show(struct tune *t)
{
	if (t->ppcc && (t->odd || t->full || t->n_args))
		return tune_fail(
			"show --ppcc shows what is in %s: leave out nodes, --odd and --full",
			t->ppcc);
	if (t->ppcc)
		return tune_ppcc(t);
	if (t->odd && t->n_args)
		return tune_fail("show --odd compares all nodes: leave out \"%s\"", t->args[0]);
	if (t->odd && t->full)
		return tune_fail("show --odd lists odd settings only: leave out --full");
	if (t->odd)
		return show_odd(t);
	return tune_do_and_print(t, "show",
				 t->n_args ? json_pack("{ss}", "node", t->args[0]) : NULL,
				 t->full ? print_all : print_summary);
}
