/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The settings on the fabric: nodes with equal settings share one row. */
#include <stdio.h>
#include <string.h>

#include <ibcc/page.h>
#include <ibcc/text.h>

#include "daemon/tune/equal.h"
#include "daemon/tune/page/page.h"
#include "daemon/tune/tune.h"

#define ROWS 24u /* of more rows, only the number is shown */

static void write(FILE *out, const char *heading, const char *const *columns,
		  const struct tune_equals *all)
{
	struct ibcc_page_table t;
	char text[300];

	if (!all->n)
		return;
	fprintf(out, "<h3>%s</h3>\n", heading);
	ibcc_page_table_begin(&t, out, columns, all->n_cells + 1);
	for (size_t i = 0; i < all->n && i < ROWS; i++) {
		const struct tune_equal *r = &all->row[i];

		snprintf(text, sizeof(text), "%u", r->n);
		ibcc_page_cell(&t, text);
		for (size_t k = 1; k < all->n_cells; k++)
			ibcc_page_cell(&t, r->cell[k]);
		ibcc_page_cell(&t, tune_equal_where(r, text, sizeof(text)));
	}
	ibcc_page_table_end(&t);
	if (all->n > ROWS) {
		snprintf(text, sizeof(text), "and %zu other setting%s", all->n - ROWS,
			 ibcc_text_plural(all->n - ROWS, "", "s"));
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
	struct tune_equals switches = { .n_cells = TUNE_SWITCH_CELLS };
	struct tune_equals cas = { .n_cells = TUNE_CA_CELLS };
	const json_t *o;
	size_t i;

	json_array_foreach (nodes, i, o)
		tune_setting_rows(o, tune_equals_take,
				  strcmp(tune_str(o, "type"), "switch") ? &cas : &switches);
	ibcc_page_heading(out, "Settings on the fabric");
	write(out, "Switches", switch_columns, &switches);
	write(out, "Channel adapters", ca_columns, &cas);
	if (!switches.n && !cas.n)
		ibcc_page_paragraph(out, "None could be read.");
	tune_equals_fini(&switches);
	tune_equals_fini(&cas);
}
