/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Changing single values of a parsed file: `--set model.buffer_bytes=65536`.
 *
 * The tree is changed, not what was read from it, so that every key can be set and the same checks
 * apply. Mappings and lists on the way are copied before they are changed: an alias may share them
 * with another place of the file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "yaml_tree.h"

#define MAX_NESTING 32

struct assignment {
	struct ibcc_yaml *y;
	struct ibcc_yaml_errors *e;
	const char *text; /* as errors name it */
	yaml_mark_t mark;
	char *key;         /* its path, cut up while it is followed */
	const char *value; /* YAML */
};

static int fail(const struct assignment *a, const char *what, const char *which)
{
	ibcc_yaml_errors_add(a->e, a->text, 0, 0, "%s \"%s\"", what, which);
	return -EINVAL;
}

static int add_scalar(const struct assignment *a, const yaml_node_t *n)
{
	return yaml_document_add_scalar(&a->y->doc, n->tag, n->data.scalar.value,
					(int)n->data.scalar.length, n->data.scalar.style);
}

/* Copies a tree out of another document; 0 without memory or when it is nested too deep. */
static int graft(const struct assignment *a, yaml_document_t *from, int index, int depth)
{
	yaml_document_t *doc = &a->y->doc;
	const yaml_node_t *n = yaml_document_get_node(from, index);
	const yaml_node_item_t *item;
	const yaml_node_pair_t *pair;
	int made = 0, sub, sub_key;

	if (!n || depth > MAX_NESTING)
		return 0;
	switch (n->type) {
	case YAML_NO_NODE: return 0;
	case YAML_SCALAR_NODE: made = add_scalar(a, n); break;
	case YAML_SEQUENCE_NODE:
		made = yaml_document_add_sequence(doc, n->tag, n->data.sequence.style);
		for (item = n->data.sequence.items.start; made && item < n->data.sequence.items.top;
		     item++) {
			sub = graft(a, from, *item, depth + 1);
			if (!sub || !yaml_document_append_sequence_item(doc, made, sub))
				made = 0;
		}
		break;
	case YAML_MAPPING_NODE:
		made = yaml_document_add_mapping(doc, n->tag, n->data.mapping.style);
		for (pair = n->data.mapping.pairs.start; made && pair < n->data.mapping.pairs.top;
		     pair++) {
			sub_key = graft(a, from, pair->key, depth + 1);
			sub = graft(a, from, pair->value, depth + 1);
			if (!sub || !sub_key ||
			    !yaml_document_append_mapping_pair(doc, made, sub_key, sub))
				made = 0;
		}
		break;
	}
	if (made)
		node_at(a->y, made)->start_mark = a->mark;
	return made;
}

/* A copy of a mapping or list with the same parts and place. */
static int copy_level(struct ibcc_yaml *y, int index)
{
	yaml_node_t *n = node_at(y, index);
	bool is_map = n->type == YAML_MAPPING_NODE;
	int made = is_map ? yaml_document_add_mapping(&y->doc, n->tag, n->data.mapping.style)
			  : yaml_document_add_sequence(&y->doc, n->tag, n->data.sequence.style);
	size_t i, len;

	if (!made)
		return 0;
	n = node_at(y, index); /* the document may have moved it */
	node_at(y, made)->start_mark = n->start_mark;
	len = ibcc_yaml_length(cooked(n));
	for (i = 0; i < len; i++) {
		int ok;

		if (is_map) {
			yaml_node_pair_t pair = n->data.mapping.pairs.start[i];

			ok = yaml_document_append_mapping_pair(&y->doc, made, pair.key, pair.value);
		} else {
			ok = yaml_document_append_sequence_item(&y->doc, made,
								n->data.sequence.items.start[i]);
		}
		if (!ok)
			return 0;
	}
	return made;
}

/* Where a level holds the index of the part that a word names, or NULL; *at is its number. */
static int *find_part(struct ibcc_yaml *y, yaml_node_t *level, const char *word, size_t *at)
{
	size_t len = ibcc_yaml_length(cooked(level)), i;
	const char *s;
	uint64_t num;

	if (level->type == YAML_MAPPING_NODE) {
		for (i = 0; i < len; i++) {
			yaml_node_pair_t *pair = &level->data.mapping.pairs.start[i];

			s = ibcc_yaml_scalar(cooked(node_at(y, pair->key)));
			*at = i;
			if (s && !strcmp(s, word))
				return &pair->value;
		}
		return NULL;
	}
	for (i = 0; i < len; i++) {
		int *item = &level->data.sequence.items.start[i];

		s = ibcc_yaml_scalar(ibcc_yaml_get(y, cooked(node_at(y, *item)), "name"));
		*at = i;
		if (s && !strcmp(s, word))
			return item;
	}
	if (ibcc_yaml_parse_uint(word, &num) || num >= len)
		return NULL;
	*at = (size_t)num;
	return &level->data.sequence.items.start[num];
}

static void remove_part(yaml_node_t *level, size_t at)
{
	if (level->type == YAML_MAPPING_NODE) {
		yaml_node_pair_t *p = level->data.mapping.pairs.start + at;

		memmove(p, p + 1, (size_t)(level->data.mapping.pairs.top - (p + 1)) * sizeof(*p));
		level->data.mapping.pairs.top--;
	} else {
		yaml_node_item_t *p = level->data.sequence.items.start + at;

		memmove(p, p + 1, (size_t)(level->data.sequence.items.top - (p + 1)) * sizeof(*p));
		level->data.sequence.items.top--;
	}
}

static int add_pair(const struct assignment *a, int level, const char *word, int value)
{
	yaml_document_t *doc = &a->y->doc;
	int key = yaml_document_add_scalar(doc, NULL, (const yaml_char_t *)word, (int)strlen(word),
					   YAML_PLAIN_SCALAR_STYLE);

	if (!key)
		return -ENOMEM;
	node_at(a->y, key)->start_mark = a->mark;
	return yaml_document_append_mapping_pair(doc, level, key, value) ? 0 : -ENOMEM;
}

/* The next level on the way, made or copied so that only this place sees the change. */
static int descend(const struct assignment *a, int level, const char *word, int *next)
{
	yaml_node_t *n = node_at(a->y, level);
	size_t at;
	int *part = find_part(a->y, n, word, &at), made;

	if (!part && n->type == YAML_SEQUENCE_NODE)
		return fail(a, "the list has no element", word);
	if (!part) {
		made = yaml_document_add_mapping(&a->y->doc, NULL, YAML_ANY_MAPPING_STYLE);
		if (!made)
			return -ENOMEM;
		node_at(a->y, made)->start_mark = a->mark;
		*next = made;
		return add_pair(a, level, word, made);
	}
	if (node_at(a->y, *part)->type == YAML_SCALAR_NODE)
		return fail(a, "want a mapping or a list at", word);
	made = copy_level(a->y, *part);
	if (!made)
		return -ENOMEM;
	/* The arrays of nodes may have moved, those of parts belong to their nodes. */
	*find_part(a->y, node_at(a->y, level), word, &at) = made;
	*next = made;
	return 0;
}

static int put(const struct assignment *a, int level, const char *word, yaml_document_t *value)
{
	const yaml_node_t *root = yaml_document_get_root_node(value);
	bool gone = !root || ibcc_yaml_is_null(cooked(root));
	size_t at;
	int *part = find_part(a->y, node_at(a->y, level), word, &at), made;

	if (!part && (gone || node_at(a->y, level)->type == YAML_SEQUENCE_NODE))
		return fail(a, "there is nothing named", word);
	if (gone) {
		remove_part(node_at(a->y, level), at);
		return 0;
	}
	made = graft(a, value, 1, 0);
	if (!made)
		return -ENOMEM;
	if (!part)
		return add_pair(a, level, word, made);
	*find_part(a->y, node_at(a->y, level), word, &at) = made;
	return 0;
}

static int follow(const struct assignment *a, yaml_document_t *value)
{
	int level = 1, rc; /* libyaml's number of the root */
	char *word = a->key, *dot;

	if (!node_at(a->y, level) || node_at(a->y, level)->type != YAML_MAPPING_NODE)
		return fail(a, "want a file with a mapping, to set", a->key);
	for (; (dot = strchr(word, '.')); word = dot + 1) {
		*dot = '\0';
		rc = descend(a, level, word, &level);
		if (rc)
			return rc;
	}
	return put(a, level, word, value);
}

static int set(struct assignment *a)
{
	yaml_parser_t p;
	yaml_document_t value;
	int rc;

	if (!yaml_parser_initialize(&p))
		return -ENOMEM;
	yaml_parser_set_input_string(&p, (const unsigned char *)a->value, strlen(a->value));
	if (yaml_parser_load(&p, &value)) {
		rc = follow(a, &value);
		yaml_document_delete(&value);
	} else {
		rc = fail(a, "the value is not YAML:", p.problem ? p.problem : a->value);
	}
	yaml_parser_delete(&p);
	return rc;
}

int ibcc_yaml_set(struct ibcc_yaml *y, const char *assignment, struct ibcc_yaml_errors *e)
{
	struct assignment a = { .y = y, .e = e };
	const char *eq = strchr(assignment, '=');
	char **all, *text = NULL;
	int rc;

	if (asprintf(&text, "--set %s", assignment) < 0)
		return -ENOMEM;
	a.text = text;
	if (!eq || eq == assignment) {
		rc = fail(&a, "want KEY=VALUE, got", assignment);
		free(text);
		return rc;
	}
	a.key = strndup(assignment, (size_t)(eq - assignment));
	a.value = eq + 1;
	all = reallocarray(y->set, y->n_set + 1, sizeof(*all));
	if (all)
		y->set = all;
	if (!all || !a.key) {
		free(text);
		free(a.key);
		return -ENOMEM;
	}
	a.mark.line = YAML_SET_LINE + y->n_set;
	y->set[y->n_set++] = text;
	rc = set(&a);
	free(a.key);
	return rc;
}
