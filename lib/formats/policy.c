/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Changes numbers in a policy file (policy.h). policy_scan.c finds where names stand; here is
 * decided whether a number may be changed.
 */
#include <ibcc/policy.h>

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <ibcc/vendor_cc.h>

#include "lib/formats/policy_scan.h"

static int copy_name(char *to, const char *from, size_t len)
{
	if (!len || len >= IBCC_POLICY_NAME_MAX)
		return -EINVAL;
	memcpy(to, from, len);
	to[len] = '\0';
	return 0;
}

/* A decimal number as the file has it: no sign, and no 0 in front, which can mean octal. */
static bool read_number(struct span s, uint64_t *v)
{
	*v = 0;
	if (!s.len || (s.len > 1 && s.at[0] == '0'))
		return false;
	for (size_t i = 0; i < s.len; i++) {
		unsigned int digit = (unsigned int)(s.at[i] - '0');

		if (digit > 9 || *v > (UINT64_MAX - digit) / 10)
			return false;
		*v = 10 * *v + digit;
	}
	return true;
}

int ibcc_policy_read_change(const char *arg, struct ibcc_policy_change *c, struct ibcc_why *why)
{
	const char *equals = strrchr(arg, '='), *slash, *colon, *key = arg;
	struct span number;
	int rc = -EINVAL;

	memset(c, 0, sizeof(*c));
	if (!equals)
		return ibcc_why_set(why, -EINVAL,
				    "got \"%.100s\", want KEY=NUMBER, such as AI=40 or "
				    "algo:1/AI=40",
				    arg);
	slash = memchr(arg, '/', (size_t)(equals - arg));
	if (slash) {
		colon = memchr(arg, ':', (size_t)(slash - arg));
		rc = copy_name(c->block, arg, (size_t)((colon ? colon : slash) - arg));
		if (!rc && colon)
			rc = copy_name(c->id, colon + 1, (size_t)(slash - colon) - 1);
		key = slash + 1;
	}
	if (!slash || !rc)
		rc = copy_name(c->key, key, (size_t)(equals - key));
	number = (struct span){ equals + 1, strlen(equals + 1) };
	if (rc)
		return ibcc_why_set(why, rc,
				    "got \"%.100s\", want KEY=NUMBER, BLOCK/KEY=NUMBER or "
				    "BLOCK:ID/KEY=NUMBER, with names of 1 to %u characters",
				    arg, IBCC_POLICY_NAME_MAX - 1);
	if (!read_number(number, &c->value))
		return ibcc_why_set(why, -EINVAL,
				    "%s: got \"%.40s\", want a whole decimal number without a sign "
				    "or a 0 in front",
				    c->key, equals + 1);
	return 0;
}

/* Narrower than the fields are, or not among the parameters that can be read: mstflint's
 * mlxconfig_host.db for the reaction, register_access_table.adb (CWGCR, CWTP) for switches.
 */
static const struct {
	const char *key;
	uint32_t min, max;
} ranges[] = {
	{ "rpg_min_dec_fac", 1, 100 }, { "dce_tcp_g", 1, 1023 },
	{ "dce_tcp_rtt", 1, 131071 },  { "rate_reduce_monitor_period", 1, 131071 },
	{ "percent", 0, 100 },         { "aqs_weight", 0, 15 },
	{ "aqs_time", 0, 24 },         { "enable", 0, 1 },
	{ "enable_notify", 0, 1 },     { "enable_react", 0, 1 },
};

/* "profile2_min" is a min. */
static const char *bare_name(const char *key)
{
	static const char profile[] = "profile";

	if (!strncasecmp(key, profile, strlen(profile)) && isdigit((unsigned char)key[7]) &&
	    key[8] == '_')
		return key + 9;
	return key;
}

/* Whose fields are parameters. */
static const uint16_t attributes[] = { IBCC_VCC_ATTR_CA_RP, IBCC_VCC_ATTR_CA_NP,
				       IBCC_VCC_ATTR_SW_PROFILE };
#define N_ATTRIBUTES (sizeof(attributes) / sizeof(*attributes))

static bool find_field(const char *key, uint64_t *max)
{
	for (size_t a = 0; a < N_ATTRIBUTES; a++) {
		unsigned int n;
		const struct ibcc_vcc_field *f = ibcc_vcc_fields(attributes[a], &n);

		for (unsigned int i = 0; i < n; i++) {
			if (strcasecmp(bare_name(f[i].name), bare_name(key)))
				continue;
			*max = (1ull << f[i].bits) - 1;
			return true;
		}
	}
	return false;
}

/* The numbers that a key of this kind takes. */
static enum ibcc_policy_range range_of(const char *key, enum place_kind kind, uint64_t *min,
				       uint64_t *max)
{
	*min = 0;
	*max = UINT32_MAX;
	if (kind == PLACE_PARAMETER)
		return IBCC_POLICY_RANGE_ALGORITHM;
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		if (strcasecmp(bare_name(key), ranges[i].key))
			continue;
		*min = ranges[i].min;
		*max = ranges[i].max;
		return IBCC_POLICY_RANGE_FIELD;
	}
	return find_field(key, max) ? IBCC_POLICY_RANGE_FIELD : IBCC_POLICY_RANGE_UNKNOWN;
}

/* Where the key of a change was found. */
struct found {
	uint32_t n; /* outside comments */
	struct place first, second;
	uint32_t n_comments;
	struct place comment;
};

struct search {
	const struct policy *p;
	const struct ibcc_policy_change *c;
	struct found f;
};

/* Is a block, or one that it is in, the change's? */
static bool is_in(const struct policy *p, const struct ibcc_policy_change *c, uint32_t block)
{
	if (!c->block[0])
		return true;
	for (; block; block = p->block[block].parent) {
		const struct block *b = &p->block[block];

		if (policy_is(b->name, c->block) &&
		    (!c->id[0] || (b->n_ids == 1 && policy_is(b->id, c->id))))
			return true;
	}
	return false;
}

static bool is_there(const struct policy *p, const struct ibcc_policy_change *c)
{
	for (uint32_t i = 1; i < p->n_blocks; i++)
		if (is_in(p, c, i))
			return true;
	return false;
}

static void look(void *arg, const struct place *place)
{
	struct search *s = arg;

	if (!policy_is(place->name, s->c->key) || !is_in(s->p, s->c, place->block))
		return;
	if (place->kind == PLACE_COMMENT) {
		if (!s->f.n_comments++)
			s->f.comment = *place;
		return;
	}
	if (s->f.n == 0)
		s->f.first = *place;
	else if (s->f.n == 1)
		s->f.second = *place;
	s->f.n++;
}

static int refuse_missing(const struct search *s, struct ibcc_yaml_errors *e)
{
	const struct ibcc_policy_change *c = s->c;
	const struct place *p = &s->f.comment;

	if (c->block[0] && !is_there(s->p, c))
		ibcc_yaml_errors_add(e, s->p->file, 0, 0,
				     "%s: there is no block %s%s%s: only numbers that are in the "
				     "file already can be changed",
				     c->key, c->block, c->id[0] ? " with the ID " : "", c->id);
	else if (s->f.n_comments)
		ibcc_yaml_errors_add(e, s->p->file, p->line, p->col,
				     "%s is in a comment only, which is not changed: add the line "
				     "to the file yourself",
				     c->key);
	else
		ibcc_yaml_errors_add(e, s->p->file, 0, 0,
				     "%s is not in the file%s%s: only numbers that are in the file "
				     "already can be changed",
				     c->key, c->block[0] ? ", in a block " : "", c->block);
	return -EINVAL;
}

/* Where there is not exactly one place, or one that cannot be read. */
static int check_place(const struct search *s, struct ibcc_yaml_errors *e)
{
	const struct place *p = &s->f.first, *q = &s->f.second;
	const char *key = s->c->key, *file = s->p->file;

	if (!s->f.n)
		return refuse_missing(s, e);
	if (s->f.n > 1) {
		ibcc_yaml_errors_add(e, file, p->line, p->col,
				     "%s is also in line %u, column %u%s: name its block, such as "
				     "algo:1/%s, or change the file yourself",
				     key, q->line, q->col,
				     s->f.n > 2 ? ", and in further places" : "", key);
		return -EINVAL;
	}
	switch (p->kind) {
	case PLACE_KEY:
	case PLACE_PARAMETER: break;
	case PLACE_BROKEN:
		ibcc_yaml_errors_add(e, file, p->line, p->col,
				     "%s is in a list that this program cannot read: want "
				     "(NAME,number),(NAME,number) in one line, in a block algo of "
				     "a block ca_algo_import",
				     key);
		return -EINVAL;
	case PLACE_WORD:
	case PLACE_COMMENT:
		ibcc_yaml_errors_add(e, file, p->line, p->col,
				     "%s is in a line that this program cannot read: want the key "
				     "and its number alone in a line",
				     key);
		return -EINVAL;
	}
	return 0;
}

static int check_number(const struct search *s, struct ibcc_policy_change *c,
			struct ibcc_yaml_errors *e)
{
	const struct place *p = &s->f.first;
	const char *file = s->p->file;
	uint64_t min, max;

	if (policy_ends_in(p->name, "_id")) {
		ibcc_yaml_errors_add(e, file, p->line, p->col,
				     "%s names something, so it is no setting: change the file "
				     "yourself",
				     c->key);
		return -EINVAL;
	}
	if (!p->alone || !read_number(p->value, &c->old)) {
		ibcc_yaml_errors_add(e, file, p->line, p->col,
				     "%s: its value \"%.*s\"%s is not a whole decimal number: "
				     "change the file yourself",
				     c->key, p->value.len < 40 ? (int)p->value.len : 40,
				     p->value.at, p->alone ? "" : ", with what follows it,");
		return -EINVAL;
	}
	c->range = range_of(c->key, p->kind, &min, &max);
	if (c->value < min || c->value > max) {
		ibcc_yaml_errors_add(e, file, p->line, p->col,
				     "%s: got %" PRIu64 ", want a number in %" PRIu64 "..%" PRIu64
				     ", which is what the device's field takes",
				     c->key, c->value, min, max);
		return -EINVAL;
	}
	c->at = (size_t)(p->value.at - s->p->text);
	c->old_len = p->value.len;
	c->line = p->line;
	c->col = p->col;
	return 0;
}

/* The other end of a "min" or "max"; "" for other keys. */
static void pair_of(const char *key, char other[IBCC_POLICY_NAME_MAX], bool *is_min)
{
	size_t len = strlen(key);

	other[0] = '\0';
	if (len < 3 || (len > 3 && key[len - 4] != '_'))
		return;
	*is_min = !strcasecmp(key + len - 3, "min");
	if (!*is_min && strcasecmp(key + len - 3, "max"))
		return;
	snprintf(other, IBCC_POLICY_NAME_MAX, "%.*s%s", (int)len - 3, key, *is_min ? "max" : "min");
}

/* What a number will be at a place. */
static uint64_t number_then(const struct policy *p, const struct place *place,
			    const struct ibcc_policy_change *c, size_t n, bool *known)
{
	size_t at = (size_t)(place->value.at - p->text);
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		if (c[i].at == at) {
			*known = true;
			return c[i].value;
		}
	*known = place->kind == PLACE_KEY && place->alone && read_number(place->value, &v);
	return v;
}

struct pair_search {
	const char *key;
	uint32_t block, n;
	struct place place;
};

static void look_for_pair(void *arg, const struct place *place)
{
	struct pair_search *s = arg;

	if (place->kind == PLACE_COMMENT || place->block != s->block ||
	    !policy_is(place->name, s->key))
		return;
	s->place = *place;
	s->n++;
}

/* A profile marks from min to max. */
static int check_pair(const struct policy *p, const struct place *place,
		      const struct ibcc_policy_change *all, size_t n,
		      const struct ibcc_policy_change *c, struct ibcc_yaml_errors *e)
{
	char other[IBCC_POLICY_NAME_MAX];
	struct pair_search s = { .key = other, .block = place->block };
	bool is_min = false, known;
	uint64_t v;

	pair_of(c->key, other, &is_min);
	if (!other[0] || place->kind != PLACE_KEY)
		return 0;
	policy_visit(p, look_for_pair, &s);
	if (s.n != 1)
		return 0;
	v = number_then(p, &s.place, all, n, &known);
	if (!known || (is_min ? c->value <= v : c->value >= v))
		return 0;
	ibcc_yaml_errors_add(e, p->file, c->line, c->col,
			     "%s: got %" PRIu64 ", which is %s than the %s of %" PRIu64
			     " in line %u",
			     c->key, c->value, is_min ? "greater" : "less", other, v, s.place.line);
	return -EINVAL;
}

static int find_all(const struct policy *p, struct ibcc_policy_change *c, size_t n,
		    struct place *place, struct ibcc_yaml_errors *e)
{
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		struct search s = { .p = p, .c = &c[i] };

		c[i].at = SIZE_MAX;
		policy_visit(p, look, &s);
		if (check_place(&s, e) || check_number(&s, &c[i], e))
			rc = -EINVAL;
		place[i] = s.f.first;
		for (size_t k = 0; k < i && c[i].at != SIZE_MAX; k++) {
			if (c[k].at != c[i].at)
				continue;
			ibcc_yaml_errors_add(e, p->file, c[i].line, c[i].col,
					     "%s is to become %" PRIu64 " and %" PRIu64
					     ": name each number once",
					     c[i].key, c[k].value, c[i].value);
			rc = -EINVAL;
			break;
		}
	}
	for (size_t i = 0; i < n && !rc; i++)
		rc = check_pair(p, &place[i], c, n, &c[i], e);
	return rc;
}

/* Copies the text with the new numbers. */
static int write_text(const struct policy *p, const struct ibcc_policy_change *c, size_t n,
		      char **out, size_t *out_len)
{
	size_t from = 0, len = 0;
	char *to = malloc(p->len + 20 * n + 1);

	if (!to)
		return -ENOMEM;
	for (;;) {
		const struct ibcc_policy_change *next = NULL;

		for (size_t i = 0; i < n; i++)
			if (c[i].at >= from && (!next || c[i].at < next->at))
				next = &c[i];
		memcpy(to + len, p->text + from, (next ? next->at : p->len) - from);
		len += (next ? next->at : p->len) - from;
		if (!next)
			break;
		len += (size_t)sprintf(to + len, "%" PRIu64, next->value);
		from = next->at + next->old_len;
	}
	to[len] = '\0';
	*out = to;
	*out_len = len;
	return 0;
}

/* Finds the blocks of a file that can be read at all. */
static int read_file(const char *file, const char *text, size_t len, struct policy *p,
		     struct ibcc_yaml_errors *e)
{
	if (len > IBCC_POLICY_BYTES_MAX) {
		ibcc_yaml_errors_add(e, file, 0, 0,
				     "a policy file of more than %u bytes is not read",
				     IBCC_POLICY_BYTES_MAX);
		return -EINVAL;
	}
	if (len && memchr(text, '\0', len)) {
		ibcc_yaml_errors_add(e, file, 0, 0,
				     "this is no text in ASCII or UTF-8: it has a byte 0");
		return -EINVAL;
	}
	return policy_read(file, text, len, p, e);
}

int ibcc_policy_patch(const char *file, const char *text, size_t len, struct ibcc_policy_change *c,
		      size_t n, char **out, size_t *out_len, struct ibcc_yaml_errors *e)
{
	struct policy p = { .block = NULL };
	struct place *place = NULL;
	int rc;

	*out = NULL;
	*out_len = 0;
	rc = read_file(file, text, len, &p, e);
	if (rc)
		goto out;
	place = calloc(n ? n : 1, sizeof(*place));
	rc = place ? find_all(&p, c, n, place, e) : -ENOMEM;
	if (!rc)
		rc = write_text(&p, c, n, out, out_len);
out:
	free(place);
	policy_fini(&p);
	return rc;
}

/* Adds a field if its name is a key in the file. */
static void find_number(const struct policy *p, uint16_t attr_id, const char *name,
			struct ibcc_policy_number *number, size_t *n)
{
	struct ibcc_policy_change c = { .value = 0 };
	struct search s = { .p = p, .c = &c };
	const struct place *place = &s.f.first;

	/* "mode" and "unit" of a port can mean anything else in a file. */
	if (attr_id == IBCC_VCC_ATTR_SW_PROFILE && bare_name(name) == name)
		return;
	snprintf(c.key, sizeof(c.key), "%s", name);
	policy_visit(p, look, &s);
	if (!s.f.n || *n == IBCC_POLICY_NUMBERS_MAX)
		return;
	number[*n] = (struct ibcc_policy_number){
		.key = name,
		.attribute = ibcc_vcc_parameters_name(attr_id),
	};
	if (s.f.n == 1 && place->kind == PLACE_KEY && place->alone &&
	    read_number(place->value, &number[*n].value)) {
		number[*n].is_known = true;
		number[*n].line = place->line;
	}
	++*n;
}

int ibcc_policy_numbers(const char *file, const char *text, size_t len,
			struct ibcc_policy_number number[IBCC_POLICY_NUMBERS_MAX], size_t *n,
			struct ibcc_yaml_errors *e)
{
	struct policy p = { .block = NULL };
	int rc = read_file(file, text, len, &p, e);

	*n = 0;
	for (size_t a = 0; !rc && a < N_ATTRIBUTES; a++) {
		unsigned int n_fields;
		const struct ibcc_vcc_field *f = ibcc_vcc_fields(attributes[a], &n_fields);

		for (unsigned int i = 0; i < n_fields; i++)
			find_number(&p, attributes[a], f[i].name, number, n);
	}
	policy_fini(&p);
	return rc;
}
