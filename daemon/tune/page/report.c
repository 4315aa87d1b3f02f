/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* report: all about the last pass in one file, for a ticket. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/tune/tune.h"
#include <ibcc/fabric_page.h>

/* All of it or nothing: a file of that name is replaced at the end. */
static int write_page(const json_t *report, const char *file)
{
	char tmp[4096];
	int rc = 0;
	FILE *f;

	if (snprintf(tmp, sizeof(tmp), "%s.%d", file, (int)getpid()) >= (int)sizeof(tmp))
		return tune_fail("%s: the path is too long", file);
	f = fopen(tmp, "wxe");
	if (!f)
		return tune_fail("%s: %s", file, strerror(errno));
	ibcc_fabric_page(f, report);
	if (ferror(f))
		rc = -EIO;
	if (fclose(f) && !rc)
		rc = -errno;
	if (!rc && rename(tmp, file))
		rc = -errno;
	if (!rc)
		return TUNE_OK;
	unlink(tmp);
	return tune_fail("%s: %s", file, strerror(-rc));
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
	if (t->html)
		code = write_page(report, t->html);
	if (code == TUNE_OK && t->json)
		code = tune_print_json(report);
	json_decref(report);
	return code;
}
