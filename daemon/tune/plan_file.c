/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A plan in a file: the answer that was printed, the writes themselves, and the time. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <ibcc/file.h>
#include <ibcc/json.h>
#include <ibcc/plan_file.h>
#include <ibcc/settings_json.h>

#include "daemon/tune/plan.h"

#define FORMAT "ibcc-tune plan 2"

static int write_json(void *o, FILE *out)
{
	return json_dumpf(o, out, JSON_INDENT(1)) || putc('\n', out) == EOF ? -ENOMEM : 0;
}

int tune_save_json(const json_t *o, const char *file)
{
	int rc = ibcc_file_write(file, write_json, (json_t *)o);

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

/* Makes the rows that the writes come to, with GUIDs for names. */
static int rows_of(const json_t *data, json_t **rows, struct ibcc_why *why)
{
	json_t *list = json_array();
	struct ibcc_plan plan;
	int rc = ibcc_plan_file_read(data, &plan, why);

	for (uint32_t i = 0; i < plan.n && !rc; i++)
		if (!list || ibcc_json_change(list, &plan.change[i], "", NULL))
			rc = ibcc_why_set(why, -ENOMEM, "no memory");
	ibcc_plan_fini(&plan);
	*rows = rc ? NULL : ibcc_json_unfold(list);
	if (rc)
		json_decref(list);
	return rc || *rows ? rc : ibcc_why_set(why, -ENOMEM, "no memory");
}

/* Are two rows equal, except for the node's name? That may be from the name map, or an earlier
 * name.
 */
static bool same_row(const json_t *shown, const json_t *written)
{
	json_t *a = json_copy((json_t *)shown), *b = json_copy((json_t *)written);
	bool same;

	json_object_del(a, "node");
	json_object_del(b, "node");
	same = a && b && json_equal(a, b);
	json_decref(b);
	json_decref(a);
	return same;
}

static const char *row_text(const json_t *row, char *buf, size_t len)
{
	char sl[16] = "";

	if (json_is_integer(json_object_get(row, "sl")))
		snprintf(sl, sizeof(sl), " SL %d", (int)tune_int(row, "sl"));
	if (!row)
		snprintf(buf, len, "nothing");
	else
		snprintf(buf, len, "%s port %d %s%s: %.40s -> %.40s (%.60s)",
			 tune_str(row, "node_guid"), (int)tune_int(row, "port"),
			 tune_str(row, "field"), sl, tune_str(row, "old"), tune_str(row, "new"),
			 tune_str(row, "reason"));
	return buf;
}

/* A person reads "changes" of a plan, but an apply writes "data". */
static int compare_parts(const json_t *plan, struct ibcc_why *why)
{
	const json_t *changes = json_object_get(plan, "changes");
	char shows[256], writes[256];
	json_t *rows;
	int rc = rows_of(json_object_get(plan, "data"), &rows, why);
	size_t i = 0;

	if (rc)
		return rc;
	while (i < json_array_size(rows) &&
	       same_row(json_array_get(changes, i), json_array_get(rows, i)))
		i++;
	if (i < json_array_size(rows) || i < json_array_size(changes))
		rc = ibcc_why_set(why, -EINVAL,
				  "row %zu of its changes shows %s, but the plan would write %s",
				  i + 1, row_text(json_array_get(changes, i), shows, sizeof(shows)),
				  row_text(json_array_get(rows, i), writes, sizeof(writes)));
	json_decref(rows);
	return rc;
}

int tune_plan_load(const char *file, json_t **a)
{
	json_error_t e;
	json_t *o = json_load_file(file, JSON_REJECT_DUPLICATES, &e);
	const char *format = json_string_value(json_object_get(o, "format"));
	struct ibcc_why why = { "" };
	json_int_t made;

	*a = NULL;
	if (!o && e.line <= 0)
		return tune_fail("%s", e.text);
	if (!o)
		return tune_fail(
			"%s: this is not a plan: %s at line %d, column %d; ibcc-tune plan -o "
			"FILE makes one",
			file, e.text, e.line, e.column);
	if (!format || strcmp(format, FORMAT) || !json_is_array(json_object_get(o, "data")) ||
	    !json_is_object(json_object_get(o, "control")) ||
	    !ibcc_json_read_whole(json_object_get(o, "made"), INT64_MAX, &made)) {
		json_decref(o);
		return tune_fail("%s: this is not a plan of this release: make one with ibcc-tune "
				 "plan -o FILE",
				 file);
	}
	if (ibcc_json_clean(o)) {
		json_decref(o);
		return tune_fail("no memory");
	}
	if (compare_parts(o, &why)) {
		json_decref(o);
		return tune_fail("%s: nothing is written: %s; make the plan again with ibcc-tune "
				 "plan -o FILE",
				 file, why.text);
	}
	*a = o;
	return TUNE_OK;
}
