/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* report: everything about the last polling cycle in one file, for a ticket. */
#include <stdio.h>
#include <string.h>

#include <ibcc/file.h>

#include "daemon/tune/page/fabric_page.h"
#include "daemon/tune/tune.h"

static int write_page(void *report, FILE *out)
{
	ibcc_fabric_page(out, report);
	return 0;
}

int tune_report(struct tune *t)
{
	struct ibcc_why why = { "" };
	json_t *report = NULL;
	int rc, code = TUNE_OK;

	if (!t->html && !t->json)
		return tune_fail("report: --html FILE or -j is missing");
	rc = tune_do(t, "report", NULL, &report, &why);
	if (rc || !report) {
		json_decref(report);
		return tune_fail("%s", why.text);
	}
	rc = t->html ? ibcc_file_write(t->html, write_page, report) : 0;
	if (rc)
		code = tune_fail("%s: %s", t->html, strerror(-rc));
	if (code == TUNE_OK && t->json)
		code = tune_print_json(report);
	json_decref(report);
	return code;
}
