/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Options that are one command's: beside another one they would do nothing, which looks as if they
 * had. */
#include "daemon/tune/tune.h"

bool tune_options_fit(const struct tune *t, const char *name, tune_fn fn)
{
	const struct {
		bool given;
		const char *option, *why;
		tune_fn owner, other;
	} owned[] = {
		{ t->confirm_s, "--confirm-within", "has no trial, only apply has", tune_apply,
		  NULL },
		{ t->no_wait, "--no-wait", "waits for nothing, only apply does", tune_apply, NULL },
		{ t->anonymous, "--anonymous", "tells true names, only bundle can do without",
		  tune_bundle, NULL },
		{ t->root, "--root", "is about all roots, only plan shows one", tune_plan, NULL },
		{ t->node, "--node", "does not go by it, only plan shows a part", tune_plan, NULL },
		{ t->n_set, "--set", "takes the plan's settings, only what-if takes others",
		  tune_what_if, NULL },
		{ t->output, "--output", "writes no file, only plan and bundle do", tune_plan,
		  tune_bundle },
		{ t->html, "--html", "makes no page, only report does", tune_report, NULL },
		{ t->plot, "--plot", "draws nothing, only history does", tune_history, NULL },
		{ t->save, "--save", "keeps no record, only probe does", tune_probe, NULL },
		{ t->protect, "--protect", "sets no key, only key does", tune_key, NULL },
	};

	for (size_t i = 0; i < sizeof(owned) / sizeof(*owned); i++) {
		if (!owned[i].given || fn == owned[i].owner || fn == owned[i].other)
			continue;
		tune_fail("%s: '%s' %s", owned[i].option, name, owned[i].why);
		return false;
	}
	return true;
}
