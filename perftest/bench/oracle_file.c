/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/bench/oracle_file.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
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

static int load(const char *path, const char *key, json_t **out, struct ibcc_yaml_errors *e)
{
	json_error_t why;

	*out = NULL;
	if (access(path, F_OK))
		return 0;
	*out = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
	if (json_is_object(json_object_get(*out, key)) || json_is_array(json_object_get(*out, key)))
		return 0;
	ibcc_yaml_errors_add(e, path, *out ? 1 : (unsigned int)why.line, 1,
			     *out ? "got no \"%s\"" : "%s", *out ? key : why.text);
	json_decref(*out);
	*out = NULL;
	return -EINVAL;
}

int ibcc_oracle_load(const char *experiment, json_t **out, struct ibcc_yaml_errors *e)
{
	char path[2 * PATH_MAX];
	int rc = ibcc_oracle_path(experiment, path, sizeof(path));

	*out = NULL;
	return rc ? rc : load(path, "cases", out, e);
}

int ibcc_oracle_load_drawn(const char *folder, json_t **out, struct ibcc_yaml_errors *e)
{
	char path[2 * PATH_MAX];

	*out = NULL;
	if (snprintf(path, sizeof(path), "%s/tune/oracle/random.json", folder) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return load(path, "scenarios", out, e);
}

double ibcc_oracle_drawn(const json_t *all, uint64_t seed)
{
	const json_t *draw, *best;
	size_t i;

	json_array_foreach (json_object_get(all, "scenarios"), i, draw) {
		if ((uint64_t)json_integer_value(json_object_get(draw, "seed")) != seed)
			continue;
		best = json_object_get(draw, "best");
		return json_is_number(best) ? json_number_value(best) : NAN;
	}
	return NAN;
}

int ibcc_oracle_find(const char *experiment, const char *name, struct ibcc_words *set,
		     struct ibcc_yaml_errors *e)
{
	json_t *all, *word;
	size_t i;
	int rc = ibcc_oracle_load(experiment, &all, e);

	json_array_foreach (
		json_object_get(json_object_get(json_object_get(all, "cases"), name), "set"), i,
		word)
		if (!rc && json_is_string(word))
			rc = ibcc_words_add(set, json_string_value(word));
	json_decref(all);
	return rc;
}
