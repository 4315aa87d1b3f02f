/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The settings on the fabric: nodes with equal settings share one row. */
#include <stdlib.h>
#include <string.h>

#include <ibcc/page.h>

#include "daemon/tune/page/page.h"
#include "daemon/tune/show.h"
#include "daemon/tune/tune.h"

#define NAMED 5u
#define CELL  64u
#define ROWS  24u /* of more rows, only the number is shown */

struct row {
	char cell[TUNE_CA_CELLS][CELL];
	char where[256];
	unsigned int n;
};

struct rows {
	struct row *row;
	size_t n, n_cells;
	unsigned int n_left; /* nodes left out because there was no memory */
};

static bool same(const struct row *r, const char *const *cell, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (strncmp(r->cell[i], cell[i], CELL - 1))
			return false;
	return true;
}

static struct row *find(struct rows *all, const char *const *cell)
{
	struct row *grown;

	for (size_t i = 0; i < all->n; i++)
		if (same(&all->row[i], cell, all->n_cells))
			return &all->row[i];
	grown = realloc(all->row, (all->n + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	all->row = grown;
	grown = &all->row[all->n++];
	*grown = (struct row){ .n = 0 };
	for (size_t i = 0; i < all->n_cells; i++)
		snprintf(grown->cell[i], CELL, "%s", cell[i]);
	return grown;
}

/* The port is part of the place, not of the setting. */
static void take(void *arg, const json_t *node, const char *const *cell)
{
	struct rows *all = arg;
	struct row *r = find(all, cell);
	size_t len;

	if (!r) {
		all->n_left++;
		return;
	}
	if (++r->n > NAMED)
		return;
	len = strlen(r->where);
	snprintf(r->where + len, sizeof(r->where) - len, "%s%.36s%s%s", len ? ", " : "",
		 tune_str(node, "node"), strcmp(cell[0], "all") && cell[0][0] ? "/" : "",
		 strcmp(cell[0], "all") ? cell[0] : "");
}

static void write(FILE *out, const char *heading, const char *const *columns, struct rows *all)
{
	struct ibcc_page_table t;
	char text[300];

	if (!all->n)
		return;
	fprintf(out, "<h3>%s</h3>\n", heading);
	ibcc_page_table_begin(&t, out, columns, all->n_cells + 1);
	for (size_t i = 0; i < all->n && i < ROWS; i++) {
		const struct row *r = &all->row[i];

		snprintf(text, sizeof(text), "%u", r->n);
		ibcc_page_cell(&t, text);
		for (size_t k = 1; k < all->n_cells; k++)
			ibcc_page_cell(&t, r->cell[k]);
		if (r->n > NAMED)
			snprintf(text, sizeof(text), "%s and %u more", r->where, r->n - NAMED);
		ibcc_page_cell(&t, r->n > NAMED ? text : r->where);
	}
	ibcc_page_table_end(&t);
	if (all->n > ROWS) {
		snprintf(text, sizeof(text), "and %zu other settings", all->n - ROWS);
		ibcc_page_paragraph(out, text);
	}
}

void tune_page_settings(FILE *out, const json_t *nodes)
{
	static const char *const switch_columns[] = { ">Count",        ">Threshold",
						      ">Marking_Rate", ">Packet_Size",
						      "Victim_Mask",   "~Where" };
	static const char *const ca_columns[] = { ">Count",         "SL",         ">CCTI_Timer",
						  ">CCTI_Increase", ">Trigger",   ">CCTI_Min",
						  ">CCTI_Limit",    ">Max delay", "Control",
						  "~Where" };
	struct rows switches = { .n_cells = TUNE_SWITCH_CELLS }, cas = { .n_cells = TUNE_CA_CELLS };
	const json_t *o;
	size_t i;

	json_array_foreach (nodes, i, o)
		tune_setting_rows(o, take,
				  strcmp(tune_str(o, "type"), "switch") ? &cas : &switches);
	ibcc_page_heading(out, "Settings on the fabric");
	write(out, "Switches", switch_columns, &switches);
	write(out, "Channel adapters", ca_columns, &cas);
	if (!switches.n && !cas.n)
		ibcc_page_paragraph(out, "None could be read.");
	free(switches.row);
	free(cas.row);
}
