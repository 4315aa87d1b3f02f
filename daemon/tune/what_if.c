/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* what-if: predicts the effect of the user's own settings. */
#include <stdlib.h>
#include <string.h>

#include "daemon/tune/prediction.h"
#include "daemon/tune/tune.h"

static void print(const json_t *a)
{
	tune_print_prediction(json_object_get(a, "prediction"), "plan");
}

/* Puts KEY=VALUE into an object. */
static bool add(json_t *set, const char *text)
{
	const char *equals = strchr(text, '=');
	char name[32], *end;
	double v = equals ? strtod(equals + 1, &end) : 0;
	size_t len = equals ? (size_t)(equals - text) : 0;

	if (!equals || !len || len >= sizeof(name) || end == equals + 1 || *end) {
		tune_fail("--set: got '%s', want KEY=NUMBER", text);
		return false;
	}
	memcpy(name, text, len);
	name[len] = '\0';
	return !json_object_set_new(set, name, json_real(v));
}

int tune_what_if(struct tune *t)
{
	json_t *set = json_object();
	bool ok = set != NULL;

	for (int i = 0; i < t->n_set; i++)
		ok = add(set, t->set[i]) && ok;
	if (ok && !t->n_set) {
		tune_fail("what-if: want at least one --set KEY=VALUE");
		ok = false;
	}
	if (ok)
		return tune_do_and_print(t, "what-if", json_pack("{so}", "set", set), print);
	json_decref(set);
	return TUNE_ERROR;
}
