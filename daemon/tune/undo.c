/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* confirm, cancel, rollback, disable and repair. */
#include <errno.h>
#include <stdio.h>

#include <ibcc/text.h>

#include "daemon/tune/changes.h"
#include "daemon/tune/tune.h"

static int run(struct tune *t, const char *command, json_t *args, const char *heading)
{
	struct ibcc_why why = { "" };
	json_t *a = NULL;
	int rc = tune_do(t, command, args, &a, &why), code = TUNE_OK;

	if (a && t->json) {
		code = tune_print_json(a);
	} else if (a) {
		tune_print_changes(json_object_get(a, "changes"), heading);
		if (tune_int(a, "writes"))
			printf("\n%lld of %lld change%s verified.\n", tune_int(a, "verified"),
			       tune_int(a, "writes"),
			       ibcc_text_plural(tune_int(a, "writes"), "", "s"));
		else
			printf("Nothing to change.\n");
	}
	if (tune_str(a, "unrecorded")[0])
		fprintf(stderr, "NOT RECORDED: %s\n", tune_str(a, "unrecorded"));
	json_decref(a);
	return rc ? tune_fail("%s", why.text) : code;
}

int tune_rollback(struct tune *t)
{
	uint64_t id = 0;
	int code;

	if (t->n_args && !tune_number(t->args[0], 1, INT64_MAX, "rollback", &id))
		return TUNE_ERROR;
	code = id ? tune_consent(t,
				 "Restore all settings to what they were before transaction %llu?",
				 (unsigned long long)id)
		  : tune_consent(t,
				 "Restore all settings to what they were before our first change?");
	if (code != TUNE_OK)
		return code;
	return run(t, "rollback", json_pack("{sI}", "id", (json_int_t)id), "Restored");
}

int tune_cancel(struct tune *t)
{
	return run(t, "cancel", NULL, "Restored");
}

static void print_confirmed(const json_t *a)
{
	printf("Transaction %lld is kept.\n", tune_int(a, "transaction"));
}

int tune_confirm(struct tune *t)
{
	return tune_do_and_print(t, "confirm", NULL, print_confirmed);
}

int tune_disable(struct tune *t)
{
	int code = tune_consent(t, "Turn congestion control off on all switches and adapters of "
				   "this fabric?");

	return code == TUNE_OK ? run(t, "disable", NULL, "Taken off") : code;
}

int tune_repair(struct tune *t)
{
	int code = tune_consent(t, "Restore the settings of ibcc-tune wherever a node has lost "
				   "them or another program has changed them?");

	return code == TUNE_OK ? run(t, "repair", NULL, "Repaired") : code;
}
