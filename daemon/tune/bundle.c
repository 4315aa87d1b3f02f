/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* bundle: the last polling cycle in one file, for analysis elsewhere. */
#include <stdio.h>

#include <ibcc/text.h>

#include "daemon/tune/tune.h"

int tune_bundle(struct tune *t)
{
	struct ibcc_why why = { "" };
	json_t *a = NULL;
	int code = TUNE_OK;
	size_t n;

	if (!t->output && !t->json)
		return tune_fail("bundle: -o FILE or -j is missing");
	if (tune_do(t, "bundle", json_pack("{sb}", "anonymous", t->anonymous), &a, &why) || !a) {
		json_decref(a);
		return tune_fail("%s", why.text);
	}
	n = json_array_size(json_object_get(a, "nodes"));
	if (t->output)
		code = tune_save_json(a, t->output);
	if (code == TUNE_OK && t->json)
		code = tune_print_json(a);
	else if (code == TUNE_OK)
		printf("Wrote %s: %zu node%s, with %s names.\n", t->output, n,
		       ibcc_text_plural(n, "", "s"), t->anonymous ? "made-up" : "their own");
	json_decref(a);
	return code;
}
