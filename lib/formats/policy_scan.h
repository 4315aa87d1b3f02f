/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Where names stand in a policy file (policy.h). */
#ifndef IBCC_POLICY_SCAN_H
#define IBCC_POLICY_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ibcc/yaml.h>

struct span {
	const char *at;
	size_t len;
};

/* What a name is where it stands. */
enum place_kind {
	PLACE_KEY,       /* a line's key; its value follows it */
	PLACE_PARAMETER, /* in a list of parameters; its value follows it */
	PLACE_WORD,      /* elsewhere outside comments */
	PLACE_BROKEN,    /* in a list of parameters that cannot be read */
	PLACE_COMMENT,
};

struct place {
	enum place_kind kind;
	struct span name, value; /* value: of KEY and PARAMETER; a KEY's can be empty */
	bool alone;              /* nothing but a comment follows the value */
	uint32_t block;          /* the innermost that it is in; 0: in none */
	unsigned int line, col;  /* of the value, or else of the name */
};

struct block {
	struct span name;
	struct span id;  /* the value of its line NAME_id or NAME_name */
	uint32_t n_ids;  /* such lines */
	uint32_t parent; /* 0: the file itself, which is block 0 */
	unsigned int line, col;
};

struct policy {
	const char *file, *text;
	size_t len;
	uint32_t n_blocks;
	struct block *block; /* owned */
};

bool policy_is(struct span a, const char *name);
bool policy_ends_in(struct span a, const char *suffix);

/* Finds the blocks. -EINVAL with errors, -ENOMEM. */
int policy_read(const char *file, const char *text, size_t len, struct policy *p,
		struct ibcc_yaml_errors *e);
void policy_fini(struct policy *p);

/* Calls visit() with each name in the file, in order, after policy_read(). */
void policy_visit(const struct policy *p, void (*visit)(void *arg, const struct place *place),
		  void *arg);

#endif
