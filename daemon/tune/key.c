/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <ibcc/json.h>

#include "daemon/service/service.h"
#include "daemon/tune/changes.h"
#include "daemon/tune/tune.h"

static void print_result(const struct tune *t, const json_t *a)
{
	if (t->json) {
		tune_print_json(a);
		return;
	}
	tune_print_changes(json_object_get(a, "changes"), "CC_Key");
	printf("\n%lld of %lld nodes verified, %lld had it already.\n", tune_int(a, "verified"),
	       tune_int(a, "writes"), tune_int(a, "unchanged"));
}

int tune_key(struct tune *t)
{
	struct ibcc_cc_key_info key = { .CC_KeyProtectBit = t->protect,
					.CC_KeyLeasePeriod = t->lease };
	struct ibcc_service *s;
	struct ibcc_why why = { "" };
	char who[64];
	struct ibcc_request r = { .who = who };
	json_t *a = NULL;
	int rc, lock;

	if (!t->n_args)
		return tune_fail("key: want a file with the new CC_Key");
	if (t->no_key.text[0])
		return tune_fail("%s", t->no_key.text);
	if (ibcc_config_read_key(t->args[0], &key.CC_Key, why.text, sizeof(why.text)))
		return tune_fail("%s", why.text);
	/* A daemon has the old key in its hands, so it must not run meanwhile. */
	if (tune_alone(t, &lock, &why))
		return tune_fail("%s; a daemon has the old key: stop it first", why.text);
	s = ibcc_service_new(&t->config, t->cc_key);
	if (!s) {
		rc = ibcc_why_set(&why, -ENOMEM, "no memory");
		goto out;
	}
	snprintf(who, sizeof(who), "ibcc-tune uid %u (pid %d)", (unsigned int)getuid(),
		 (int)getpid());
	rc = ibcc_service_set_key(s, &key, &r, &a, &why);
	ibcc_service_free(s);
	if (a) {
		tune_rename(t, a);
		if (ibcc_json_clean(a))
			rc = ibcc_why_set(&why, -ENOMEM, "no memory");
		print_result(t, a);
	}
	json_decref(a);
out:
	if (lock >= 0)
		close(lock);
	return rc ? tune_fail("%s", why.text) : TUNE_OK;
}
