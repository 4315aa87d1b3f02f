/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* policy: changes numbers in the congestion control policy file of NVIDIA's OpenSM. It shows the
 * difference, asks, and replaces the file. It sends no MAD: OpenSM reads the file and sets devices.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ibcc/clean.h>
#include <ibcc/diff.h>
#include <ibcc/edit.h>
#include <ibcc/json.h>
#include <ibcc/policy.h>
#include <ibcc/text.h>

#include "daemon/tune/policy.h"
#include "daemon/tune/prose.h"
#include "daemon/tune/tune.h"

/* The file, and what is to become of it. */
struct work {
	struct ibcc_edit edit;
	size_t n;
	struct ibcc_policy_change *change; /* owned */
	char *text;                        /* owned */
	size_t len;
	char *diff; /* owned; "" if there is no difference */
};

static void fini(struct work *w)
{
	ibcc_edit_close(&w->edit);
	free(w->change);
	free(w->text);
	free(w->diff);
}

static int read_changes(const struct tune *t, struct work *w)
{
	struct ibcc_why why = { "" };
	int code = TUNE_OK;

	w->n = (size_t)t->n_args - 1;
	w->change = calloc(w->n, sizeof(*w->change));
	if (!w->change)
		return tune_fail("no memory");
	for (size_t i = 0; i < w->n; i++)
		if (ibcc_policy_read_change(t->args[i + 1], &w->change[i], &why))
			code = tune_fail("policy: %s", why.text);
	return code;
}

int tune_policy_refuse(const struct ibcc_yaml_errors *e)
{
	if (!e->text)
		return tune_fail("no memory");
	fputs(e->text, stderr);
	tune_error_object(e->text);
	return TUNE_ERROR;
}

/* Finds the new text, by the changes or from the backup. */
static int make_text(const struct tune *t, struct work *w)
{
	const struct ibcc_edit *e = &w->edit;
	struct ibcc_yaml_errors errors = { 0 };
	struct ibcc_why why = { "" };
	int code = TUNE_OK, rc;

	if (t->undo) {
		rc = ibcc_edit_read_before(e, &w->text, &w->len, &why);
		return rc ? tune_fail("%s", why.text) : TUNE_OK;
	}
	rc = ibcc_policy_patch(e->path, e->text, e->len, w->change, w->n, &w->text, &w->len,
			       &errors);
	if (rc)
		code = tune_policy_refuse(&errors);
	ibcc_yaml_errors_fini(&errors);
	return code;
}

static int make_diff(struct work *w)
{
	const struct ibcc_edit *e = &w->edit;
	char *name = strdup(e->path);
	int rc = name ? 0 : -ENOMEM;

	if (!rc) {
		ibcc_clean(name, "");
		rc = ibcc_diff(name, e->text, e->len, name, w->text, w->len, &w->diff);
	}
	free(name);
	if (rc == -EINVAL)
		return tune_fail("%s%s has not as many lines as the file: put it back yourself",
				 e->path, IBCC_EDIT_BEFORE);
	return rc ? tune_fail("no memory") : TUNE_OK;
}

/* For programs, such as patch, the bytes are what they are. */
static void print_diff(const struct work *w)
{
	char *shown = strdup(w->diff);

	if (shown && isatty(STDOUT_FILENO))
		ibcc_clean(shown, "\n");
	fputs(shown ? shown : "", stdout);
	free(shown);
}

/* The keys whose range is known in this way, "" if there are none. */
static const char *keys_of(const struct work *w, enum ibcc_policy_range range, char *buf,
			   size_t len)
{
	struct ibcc_text x = { buf, len, 0 };

	buf[0] = '\0';
	for (size_t i = 0; i < w->n; i++)
		if (w->change[i].range == range)
			ibcc_text_add(&x, "%s%s", x.n ? ", " : "", w->change[i].key);
	return buf;
}

/* What is not checked. */
static void print_notes(const struct work *w)
{
	char keys[512];

	if (*keys_of(w, IBCC_POLICY_RANGE_ALGORITHM, keys, sizeof(keys)))
		tune_say(
			"Note:      ",
			"%s: ibcc-tune does not know the range of a parameter of an algorithm. The "
			"algorithm's file has it (algo_file_name, in ppcc_algo_dir). An adapter "
			"ignores a number out of the range, and reports no error.",
			keys);
	if (*keys_of(w, IBCC_POLICY_RANGE_UNKNOWN, keys, sizeof(keys)))
		tune_say("Note:      ",
			 "%s: ibcc-tune does not know this name, so it did not check the number.",
			 keys);
}

static void print_next(const struct tune *t, const struct work *w)
{
	const char *path = w->edit.path;
	char keys[512];

	if (t->undo)
		tune_say("Undone:    ", "%s is again what it was before.", path);
	else
		tune_say(
			"Written:   ",
			"%s. The earlier text is in %s%s; ibcc-tune policy %s --undo puts it back.",
			path, path, IBCC_EDIT_BEFORE, path);
	tune_say(
		"Next:      ",
		"NVIDIA's OpenSM has not read this yet, and the fabric has not changed. Check that "
		"congestion_control_policy_file in OpenSM's configuration names this file. Change "
		"it in the same way on the hosts of standby subnet managers. Then restart OpenSM, "
		"or UFM where UFM runs it. Whether SIGHUP is enough has not been tried.");
	tune_say("Then:      ",
		 "ibcc-tune policy %s --check compares the file with the devices, as far as "
		 "they can be read; ibcc-tune show --odd lists devices that differ from others of "
		 "their type.",
		 path);
	if (!t->undo && *keys_of(w, IBCC_POLICY_RANGE_ALGORITHM, keys, sizeof(keys)))
		tune_say("           ", "It cannot read parameters of algorithms: %s.", keys);
}

static json_t *changes_json(const struct work *w)
{
	static const char *const ranges[] = {
		[IBCC_POLICY_RANGE_FIELD] = "field",
		[IBCC_POLICY_RANGE_ALGORITHM] = "algorithm",
		[IBCC_POLICY_RANGE_UNKNOWN] = "unknown",
	};
	json_t *list = json_array();

	for (size_t i = 0; i < w->n; i++) {
		const struct ibcc_policy_change *c = &w->change[i];

		json_array_append_new(
			list,
			json_pack("{so so? so? si si sI sI ss}", "key", ibcc_json_text(c->key),
				  "block", c->block[0] ? ibcc_json_text(c->block) : json_null(),
				  "block_id", c->id[0] ? ibcc_json_text(c->id) : json_null(),
				  "line", (int)c->line, "column", (int)c->col, "old",
				  (json_int_t)c->old, "new", (json_int_t)c->value, "range",
				  ranges[c->range]));
	}
	return list;
}

static int print_json(const struct tune *t, const struct work *w, bool is_written)
{
	char *before = NULL;
	json_t *o;
	int code;

	if (asprintf(&before, "%s%s", w->edit.path, IBCC_EDIT_BEFORE) < 0)
		return tune_fail("no memory");
	o = json_pack("{si so so so sb so}", "schema", 1, "file", ibcc_json_text(w->edit.path),
		      "changes", changes_json(w), "diff", ibcc_json_text(w->diff), "written",
		      is_written, "before",
		      is_written && !t->undo ? ibcc_json_text(before) : json_null());
	code = o ? tune_print_json(o) : tune_fail("no memory");
	json_decref(o);
	free(before);
	return code;
}

/* Shows the difference, asks, and writes. */
static int carry_out(const struct tune *t, struct work *w)
{
	struct ibcc_edit *e = &w->edit;
	struct ibcc_why why = { "" };
	int rc;

	if (!t->json)
		print_diff(w);
	if (!*w->diff && !t->json) {
		tune_say("", "%s has these numbers already: nothing is written.", e->path);
		return TUNE_OK;
	}
	if (!t->json)
		print_notes(w);
	if (!*w->diff || t->dry_run)
		return t->json ? print_json(t, w, false) : TUNE_OK;
	if (tune_consent(t, "Write this to %s?", e->path) != TUNE_OK)
		return TUNE_ERROR;
	rc = t->undo ? ibcc_edit_undo(e, w->text, w->len, &why)
		     : ibcc_edit_write(e, w->text, w->len, &why);
	if (rc)
		return tune_fail("%s", why.text);
	if (t->json)
		return print_json(t, w, true);
	print_next(t, w);
	return TUNE_OK;
}

/* Are the arguments those of a change, of --undo or of --check? */
static int check_arguments(const struct tune *t)
{
	if (!t->n_args)
		return tune_fail("policy: want the policy file and what to change in it, such as "
				 "AI=40");
	if (t->undo && t->check)
		return tune_fail("policy: --undo and --check exclude each other: give one of them");
	if (t->detailed_exitcode && !t->check)
		return tune_fail("policy: --detailed-exitcode is for --check only");
	if ((t->undo || t->check) && t->n_args > 1)
		return tune_fail("policy --%s: want the policy file alone, got '%s' as well",
				 t->undo ? "undo" : "check", t->args[1]);
	if (!t->undo && !t->check && t->n_args == 1)
		return tune_fail("policy: want at least one change of %s, such as AI=40; or "
				 "--undo, or --check",
				 t->args[0]);
	return TUNE_OK;
}

static int change(const struct tune *t, struct work *w)
{
	int code = make_text(t, w);

	if (code == TUNE_OK)
		code = make_diff(w);
	return code == TUNE_OK ? carry_out(t, w) : code;
}

int tune_policy(struct tune *t)
{
	struct work w = { .edit = { .folder = -1, .fd = -1 } };
	struct ibcc_why why = { "" };
	int code = check_arguments(t);

	if (code == TUNE_OK && !t->undo && !t->check)
		code = read_changes(t, &w);
	if (code == TUNE_OK && (t->check ? ibcc_edit_read : ibcc_edit_open)(
				       t->args[0], IBCC_POLICY_BYTES_MAX, &w.edit, &why))
		code = tune_fail("%s", why.text);
	if (code == TUNE_OK)
		code = t->check ? tune_policy_check(t, &w.edit) : change(t, &w);
	fini(&w);
	return code;
}
