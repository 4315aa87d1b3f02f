/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The command key: gives all nodes a new CC_Key. It works without a daemon, because a running one
 * would go on using the old key.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <ibcc/json.h>
#include <ibcc/text.h>

#include "daemon/tune/changes.h"
#include "daemon/tune/prose.h"
#include "daemon/tune/tune.h"

static void print_result(const struct tune *t, const json_t *a)
{
	if (t->json) {
		tune_print_json(a);
		return;
	}
	tune_print_changes(json_object_get(a, "changes"), "CC_Key");
	printf("\n%lld of %lld node%s verified, %lld had it already.\n", tune_int(a, "verified"),
	       tune_int(a, "writes"), ibcc_text_plural(tune_int(a, "writes"), "", "s"),
	       tune_int(a, "unchanged"));
}

/* Warn what a lost key costs before it can be lost. */
static int ask(const struct tune *t)
{
	const char *file = t->args[0];

	if (!t->protect)
		return tune_consent(t, "Give all nodes the CC_Key in %s?", file);
	if (t->yes)
		return TUNE_OK;
	tune_say("", "With --protect, nodes answer only requests that carry this key.");
	if (t->lease)
		tune_say("",
			 "If you lose %s, you have to wait: a node's protection ends %u s after it "
			 "has received a wrong key (--lease).",
			 file, t->lease);
	else
		tune_say("",
			 "If you lose %s, you can no longer read or change congestion control on "
			 "these nodes, nor turn it off. A reset of a node may help, but a node may "
			 "keep its key through a reset. Keep a copy of the file.",
			 file);
	return tune_consent(t, "Give all nodes this key, and protect them?");
}

int tune_key(struct tune *t)
{
	struct ibcc_why why = { "" };
	json_t *a = NULL;
	int rc, lock;

	if (!t->n_args)
		return tune_fail("key: want a file with the new CC_Key");
	if (t->no_key.text[0])
		return tune_fail("%s", t->no_key.text);
	if (ibcc_config_read_key(t->args[0], &t->new_key, why.text, sizeof(why.text)))
		return tune_fail("%s", why.text);
	if (ask(t) != TUNE_OK)
		return TUNE_ERROR;
	/* A running daemon uses the old key, so it must not run meanwhile. */
	if (tune_alone(t, &lock, &why))
		return tune_fail("%s; a running daemon uses the old key: stop it first", why.text);
	rc = tune_do_local(t, "key", NULL, &a, &why);
	if (a) {
		tune_rename(t, a);
		if (ibcc_json_clean(a))
			rc = ibcc_why_set(&why, -ENOMEM, "no memory");
		print_result(t, a);
	}
	json_decref(a);
	if (lock >= 0)
		close(lock);
	return rc ? tune_fail("%s", why.text) : TUNE_OK;
}
