/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* YAML files against a table of keys: every error of a file is reported, with line and column. */
#ifndef IBCC_YAML_H
#define IBCC_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Errors as text lines "file:line:col: key: got X, want Y", in the order of the file. */
struct ibcc_yaml_errors {
	unsigned int n;
	char *text; /* all lines, owned; NULL if none */
	size_t len;
};
void ibcc_yaml_errors_fini(struct ibcc_yaml_errors *e);

struct ibcc_yaml;      /* a parsed file */
struct ibcc_yaml_node; /* a place in it */

/* Parses a file (or a string when text is not NULL; `file` then names it in errors). NULL if it
 * cannot be read or parsed: the reason is in *e. Files beyond 4 MiB are refused.
 */
struct ibcc_yaml *ibcc_yaml_load(const char *file, const char *text, struct ibcc_yaml_errors *e);
void ibcc_yaml_free(struct ibcc_yaml *y);
const struct ibcc_yaml_node *ibcc_yaml_root(const struct ibcc_yaml *y);

/* Adds an error at a node. `key` is the dotted path or NULL. */
void ibcc_yaml_error(const struct ibcc_yaml *y, struct ibcc_yaml_errors *e,
		     const struct ibcc_yaml_node *n, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

enum ibcc_yaml_type {
	IBCC_YAML_UINT,   /* uint64_t in [min, max]; decimal, 0x hex */
	IBCC_YAML_DOUBLE, /* double in [min, max] */
	IBCC_YAML_BOOL,   /* bool: true, false, yes, no, on, off */
	IBCC_YAML_STRING, /* char[size], at most size - 1 bytes */
	IBCC_YAML_ENUM,   /* int: index into names */
	IBCC_YAML_MAP,    /* nested table `keys` at the same base plus offset */
	IBCC_YAML_CUSTOM, /* parse() reads the node, of any form, itself */
};

struct ibcc_yaml_key {
	const char *name;
	enum ibcc_yaml_type type;
	size_t offset; /* of the member in the structure */
	size_t size;   /* UINT: 1, 2, 4, 8 bytes; STRING: array size */
	double min, max;
	const char *const *names;         /* ENUM: NULL-terminated */
	const struct ibcc_yaml_key *keys; /* MAP: ends with a NULL name */
	int (*parse)(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, const char *path,
		     void *base, struct ibcc_yaml_errors *e); /* CUSTOM: gets the structure */
	bool required;
	const char *want; /* words for the error, NULL: made from type and range */
};

/* Reads a mapping by a table into *base: unknown keys (with a guess at what was meant), duplicates,
 * wrong types and ranges, and missing required keys are all reported; good values are stored.
 * Returns 0, or -EINVAL if anything was reported.
 */
int ibcc_yaml_read(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, const char *path,
		   const struct ibcc_yaml_key *keys, void *base, struct ibcc_yaml_errors *e);

/* Elements of a sequence: calls fn with each; -EINVAL with an error if n is none. */
int ibcc_yaml_each(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, const char *path,
		   int (*fn)(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			     unsigned int index, void *arg, struct ibcc_yaml_errors *e),
		   void *arg, struct ibcc_yaml_errors *e);

/* Text of a scalar node, NULL if n is none. Value of `key` in a mapping, NULL if absent. */
const char *ibcc_yaml_scalar(const struct ibcc_yaml_node *n);
const struct ibcc_yaml_node *ibcc_yaml_get(const struct ibcc_yaml *y,
					   const struct ibcc_yaml_node *n, const char *key);
bool ibcc_yaml_is_map(const struct ibcc_yaml_node *n);
bool ibcc_yaml_is_seq(const struct ibcc_yaml_node *n);

#endif
