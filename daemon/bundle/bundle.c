/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads a support bundle (bundle.h), after checking that its format is known and that both parts
 * are about the same nodes. bundle_topology.c and bundle_settings.c read the lists.
 */
#include "daemon/bundle/bundle.h"

#include <errno.h>
#include <string.h>

static int check_format(const json_t *o, struct ibcc_why *why)
{
	const char *format = json_string_value(json_object_get(o, "format"));

	if (!format || strcmp(format, IBCC_BUNDLE_FORMAT) != 0)
		return ibcc_why_set(why, -EINVAL,
				    "this is not a bundle of this release: make one with ibcc-tune "
				    "bundle -o FILE");
	return 0;
}

/* Both parts refer to ports by the places of their nodes in the list. */
static int check_same(const json_t *a, const json_t *b, struct ibcc_why *why)
{
	size_t n = json_array_size(a);
	bool same = n == json_array_size(b);

	for (size_t i = 0; i < n && same; i++) {
		const json_t *x = json_array_get(a, i), *y = json_array_get(b, i);

		same = json_equal(json_object_get(x, "node_guid"),
				  json_object_get(y, "node_guid")) &&
		       json_array_size(json_object_get(x, "ports")) ==
			       json_array_size(json_object_get(y, "ports"));
	}
	return same ? 0
		    : ibcc_why_set(why, -EINVAL,
				   "the counters are of another fabric than the cache: take both "
				   "from one fabric");
}

static int read_all(const json_t *cache, const json_t *counters, struct ibcc_bundle *b,
		    struct ibcc_topo *t, struct ibcc_settings *s, struct ibcc_why *why)
{
	const json_t *settings = json_object_get(cache, "settings");
	int rc = ibcc_bundle_topology(json_object_get(cache, "nodes"), t, why);

	if (!rc)
		rc = ibcc_settings_init(s, t);
	if (!rc && !json_is_null(settings))
		rc = ibcc_bundle_settings(settings, t, s, why);
	return rc ? rc
		  : ibcc_evidence_read(&b->e, json_object_get(counters, "evidence"), t, s, why);
}

int ibcc_bundle_read(const json_t *cache, const json_t *counters, struct ibcc_bundle *b,
		     struct ibcc_why *why)
{
	struct ibcc_topo *t = ibcc_topo_new();
	struct ibcc_settings s = { .n = 0 };
	int rc;

	*b = (struct ibcc_bundle){
		.plan = json_object_get(counters, "plan"),
		.anonymous = json_is_true(json_object_get(counters, "anonymous")),
		.made = json_integer_value(json_object_get(counters, "made")),
	};
	rc = t ? check_format(cache, why) : -ENOMEM;
	if (!rc)
		rc = check_format(counters, why);
	if (!rc &&
	    (!json_is_object(b->plan) || !json_is_object(json_object_get(counters, "evidence"))))
		rc = ibcc_why_set(why, -EINVAL,
				  "there is no plan in it, or no counters: write it again with "
				  "ibcc-tune bundle");
	if (!rc && cache != counters)
		rc = check_same(json_object_get(cache, "nodes"), json_object_get(counters, "nodes"),
				why);
	if (!rc)
		rc = read_all(cache, counters, b, t, &s, why);
	if (rc == -ENOMEM)
		ibcc_why_set(why, rc, "no memory");
	ibcc_settings_fini(&s);
	ibcc_topo_free(t);
	return rc;
}

void ibcc_bundle_fini(struct ibcc_bundle *b)
{
	ibcc_evidence_fini(&b->e);
}
