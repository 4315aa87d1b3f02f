/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A plan in a file: the answer that was printed, the writes themselves, and when that was. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <ibcc/json.h>

#include "daemon/tune/plan.h"

#define FORMAT "ibcc-tune plan 2"

int tune_save_json(const json_t *o, const char *file)
{
	char tmp[4096];
	FILE *f;
	int rc;

	if (snprintf(tmp, sizeof(tmp), "%s.%d", file, (int)getpid()) >= (int)sizeof(tmp))
		return tune_fail("%s: the path is too long", file);
	f = fopen(tmp, "wxe");
	rc = f ? 0 : -errno;
	if (!rc && (json_dumpf(o, f, JSON_INDENT(1)) || putc('\n', f) == EOF || fflush(f) ||
		    fsync(fileno(f))))
		rc = errno ? -errno : -EIO;
	if (f && fclose(f) && !rc)
		rc = -errno;
	if (!rc && rename(tmp, file))
		rc = -errno;
	if (rc && f)
		unlink(tmp);
	return rc ? tune_fail("%s: %s", file, strerror(-rc)) : TUNE_OK;
}

int tune_plan_save(const json_t *a, const char *file)
{
	json_t *o = json_copy((json_t *)a);
	int code;

	if (o && !json_object_set_new(o, "format", json_string(FORMAT)) &&
	    !json_object_set_new(o, "made", json_integer(time(NULL))))
		code = tune_save_json(o, file);
	else
		code = tune_fail("no memory");
	json_decref(o);
	return code;
}

int tune_plan_load(const char *file, json_t **a)
{
	json_error_t e;
	json_t *o = json_load_file(file, JSON_REJECT_DUPLICATES, &e);
	const char *format = json_string_value(json_object_get(o, "format"));
	json_int_t made;

	*a = NULL;
	if (!o && e.line <= 0)
		return tune_fail("%s", e.text);
	if (!o)
		return tune_fail("%s: this is no plan: %s at line %d, column %d; ibcc-tune plan -o "
				 "FILE makes one",
				 file, e.text, e.line, e.column);
	if (!format || strcmp(format, FORMAT) || !json_is_array(json_object_get(o, "data")) ||
	    !json_is_object(json_object_get(o, "control")) ||
	    !ibcc_json_read_whole(json_object_get(o, "made"), INT64_MAX, &made)) {
		json_decref(o);
		return tune_fail("%s: this is no plan of this release: make one with ibcc-tune "
				 "plan -o FILE",
				 file);
	}
	if (ibcc_json_clean(o)) {
		json_decref(o);
		return tune_fail("no memory");
	}
	*a = o;
	return TUNE_OK;
}
