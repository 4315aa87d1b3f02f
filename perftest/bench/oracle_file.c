/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/bench/oracle_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int ibcc_oracle_path(const char *experiment, char *buf, size_t len)
{
	const char *slash = strrchr(experiment, '/');
	int folder = slash ? (int)(slash - experiment) + 1 : 0;
	const char *base = experiment + folder;
	size_t stem = strlen(base);

	if (stem > 5 && !strcmp(base + stem - 5, ".yaml"))
		stem -= 5;
	if (snprintf(buf, len, "%.*soracle/%.*s.json", folder, experiment, (int)stem, base) >=
	    (int)len)
		return -ENAMETOOLONG;
	return 0;
}

/* Reads a file as a whole. NULL with 0 if it is missing; -EINVAL with an error in *e if it is
 * invalid.
 */
static int load(const char *experiment, json_t **out, struct ibcc_yaml_errors *e)
{
	char path[2 * PATH_MAX];
	json_error_t why;
	int rc = ibcc_oracle_path(experiment, path, sizeof(path));

	*out = NULL;
	if (rc || access(path, F_OK))
		return rc;
	*out = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
	if (json_is_object(json_object_get(*out, "cases")))
		return 0;
	ibcc_yaml_errors_add(e, path, *out ? 1 : (unsigned int)why.line, 1, "%s",
			     *out ? "the file has no \"cases\"" : why.text);
	json_decref(*out);
	*out = NULL;
	return -EINVAL;
}

int ibcc_oracle_find(const char *experiment, const char *name, struct ibcc_words *set,
		     struct ibcc_yaml_errors *e)
{
	json_t *all, *word;
	size_t i;
	int rc = load(experiment, &all, e);

	json_array_foreach (
		json_object_get(json_object_get(json_object_get(all, "cases"), name), "set"), i,
		word)
		if (!rc && json_is_string(word))
			rc = ibcc_words_add(set, json_string_value(word));
	json_decref(all);
	return rc;
}
