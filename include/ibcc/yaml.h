/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* YAML files against a table of keys: every error of a file is reported, with line and column. */
#ifndef IBCC_YAML_H
#define IBCC_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* At most this many errors are kept as text; all are counted. */
#define IBCC_YAML_ERRORS_MAX 100u

/* Errors as text lines "file:line:col: key: got X, want Y", in the order of the file. */
struct ibcc_yaml_errors {
	unsigned int n;
	char *text; /* all lines, owned; NULL if none */
	size_t len;
};
void ibcc_yaml_errors_fini(struct ibcc_yaml_errors *e);

/* Adds an error of any text file at its place among the file's others. line and col count from 1;
 * 0 leaves them out. Control characters in the message are replaced, so an error is one line.
 */
void ibcc_yaml_errors_add(struct ibcc_yaml_errors *e, const char *file, unsigned int line,
			  unsigned int col, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

struct ibcc_yaml;      /* a parsed file */
struct ibcc_yaml_node; /* a place in it */

/* Parses a file (or a string when text is not NULL; `file` then names it in errors). NULL if it
 * cannot be read or parsed: the reason is in *e, and errno is EINVAL for the text, or else what
 * kept the file from being read. Files beyond 4 MiB are refused.
 */
struct ibcc_yaml *ibcc_yaml_load(const char *file, const char *text, struct ibcc_yaml_errors *e);
void ibcc_yaml_free(struct ibcc_yaml *y);
const struct ibcc_yaml_node *ibcc_yaml_root(const struct ibcc_yaml *y);

/* Changes a parsed file as "KEY=VALUE" says, before it is read. KEY is a dotted path of keys; an
 * element of a list is named by its number from 0 or by what its key `name` says. Mappings that are
 * missing on the way are made. VALUE is YAML; null takes the key or element away. Errors that are
 * found in VALUE later name the assignment in place of file and line. -EINVAL with an error (no
 * such place, or no YAML), -ENOMEM.
 */
int ibcc_yaml_set(struct ibcc_yaml *y, const char *assignment, struct ibcc_yaml_errors *e);

/* Adds an error at a node. `key` is the dotted path or NULL. */
void ibcc_yaml_error(const struct ibcc_yaml *y, struct ibcc_yaml_errors *e,
		     const struct ibcc_yaml_node *n, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* Adds "got X, want Y" at a node: X is the node's value, Y the formatted words. Returns -EINVAL. */
int ibcc_yaml_want(const struct ibcc_yaml *y, struct ibcc_yaml_errors *e,
		   const struct ibcc_yaml_node *n, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

enum ibcc_yaml_type {
	IBCC_YAML_UINT,   /* uint64_t in [min, max]; decimal, 0x hex */
	IBCC_YAML_DOUBLE, /* double in [min, max] */
	IBCC_YAML_BOOL,   /* bool: true, false, yes, no, on, off */
	IBCC_YAML_STRING, /* char[size], at most size - 1 bytes */
	IBCC_YAML_ENUM,   /* int: min plus the index into names */
	IBCC_YAML_MAP,    /* nested table `keys` at the same base plus offset */
	IBCC_YAML_NODE,   /* const struct ibcc_yaml_node *: kept for the caller to read */
	IBCC_YAML_CUSTOM, /* parse() reads the node, of any form, itself */
};

struct ibcc_yaml_key {
	const char *name;
	enum ibcc_yaml_type type;
	size_t offset;                    /* of the member in the structure */
	size_t size;                      /* UINT: 1, 2, 4, 8 bytes; STRING: array size */
	double min, max;                  /* both 0: the whole range of the type */
	const char *const *names;         /* ENUM: NULL-terminated */
	const struct ibcc_yaml_key *keys; /* MAP: ends with a NULL name */
	int (*parse)(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, const char *path,
		     void *base, struct ibcc_yaml_errors *e); /* CUSTOM: gets the structure */
	bool required;
	const char *want; /* words for the error, NULL: made from type and range */
};

/* A key for a member of a structure: { IBCC_YAML_MEMBER("port", UINT, struct ca, port), .max = 2 }
 */
#define IBCC_YAML_MEMBER(key, kind, st, member)                                                    \
	.name = (key), .type = IBCC_YAML_##kind, .offset = offsetof(st, member),                   \
	.size = sizeof(((st *)0)->member)

/* Reads a mapping by a table into *base (NULL for n: an empty mapping): unknown keys (with a guess
 * at what was meant), duplicates, wrong types and ranges, and missing required keys are all
 * reported; good values are stored. Returns 0, or -EINVAL if anything was reported.
 */
int ibcc_yaml_read(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, const char *path,
		   const struct ibcc_yaml_key *keys, void *base, struct ibcc_yaml_errors *e);

/* Elements of a sequence: calls fn with each; -EINVAL with an error if n is none. Returns the last
 * error of fn, or 0; -ENOMEM and -E2BIG end it at once.
 */
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
bool ibcc_yaml_is_plain(const struct ibcc_yaml_node *n); /* a scalar without quotes */
bool ibcc_yaml_is_null(const struct ibcc_yaml_node *n);  /* nothing, ~ or null, unquoted */

/* Number of pairs of a mapping or of elements of a sequence, 0 for others; the value at one (i
 * below that number), and in *key (may be NULL) the key of a pair.
 */
size_t ibcc_yaml_length(const struct ibcc_yaml_node *n);
const struct ibcc_yaml_node *ibcc_yaml_item(const struct ibcc_yaml *y,
					    const struct ibcc_yaml_node *n, size_t i,
					    const struct ibcc_yaml_node **key);

/* Line of a node, counted from 1. */
unsigned int ibcc_yaml_line(const struct ibcc_yaml_node *n);

/* Numbers as keys of these types take them, also for texts that hold a number among others:
 * -EINVAL if s is none, -ERANGE beyond 64 bits. The locale does not matter.
 */
int ibcc_yaml_parse_uint(const char *s, uint64_t *out);
int ibcc_yaml_parse_double(const char *s, double *out);

/* Name of the file as given to ibcc_yaml_load(). */
const char *ibcc_yaml_file(const struct ibcc_yaml *y);

#endif
