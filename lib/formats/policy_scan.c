/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Goes through the lines of a policy file (policy.h). It does no more than to see where names
 * stand: a line that it does not know is a line of words, of which none can be changed.
 */
#include "lib/formats/policy_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BOM "\xef\xbb\xbf"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Names have the characters of UTF-8 beyond ASCII, too, and those of file names. */
static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-' || c == '.' || (unsigned char)c >= 0x80;
}

bool policy_is(struct span a, const char *name)
{
	return strlen(name) == a.len && !strncasecmp(a.at, name, a.len);
}

bool policy_ends_in(struct span a, const char *suffix)
{
	size_t len = strlen(suffix);

	return a.len > len && !strncasecmp(a.at + a.len - len, suffix, len);
}

enum line_kind {
	LINE_WORDS, /* none of the others; also one that is empty */
	LINE_START, /* the beginning of block `name` */
	LINE_END,
	LINE_KEY,
	LINE_LIST,   /* parameters of an algorithm */
	LINE_BORDER, /* the border of a block, perhaps, in an unknown form */
};

struct line {
	const char *begin, *end, *comment; /* comment: its #, or the end */
	enum line_kind kind;
	struct span name, value; /* value of LIST: all that follows the colon */
	bool alone;
};

static const char *skip(const char *s, const char *end, bool (*what)(char c))
{
	while (s < end && what(*s))
		s++;
	return s;
}

static bool is_solid(char c)
{
	return !is_blank(c);
}

static struct span span(const char *from, const char *to)
{
	return (struct span){ from, (size_t)(to - from) };
}

static bool is_digits(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.at[i] < '0' || s.at[i] > '9')
			return false;
	return s.len > 0;
}

/* The # that begins a comment: at the beginning of the line, or behind a blank. */
static const char *find_comment(const char *s, const char *end)
{
	for (const char *at = s; at < end; at++)
		if (*at == '#' && (at == s || is_blank(at[-1])))
			return at;
	return end;
}

static struct line read_line(const char *begin, const char *end)
{
	struct line l = { .begin = begin, .end = end };
	const char *s = begin, *after;

	l.comment = find_comment(s, end);
	s = skip(s, l.comment, is_blank);
	after = skip(s, l.comment, is_name);
	l.name = span(s, after);
	s = skip(after, l.comment, is_blank);
	if (!l.name.len)
		return l;
	if (s == l.comment) {
		l.kind = policy_ends_in(l.name, "_start") ? LINE_START
			 : policy_ends_in(l.name, "_end") ? LINE_END
							  : LINE_WORDS;
		l.name.len -= l.kind == LINE_START ? strlen("_start")
			      : l.kind == LINE_END ? strlen("_end")
						   : 0;
		return l;
	}
	if (*s == ':' && policy_is(l.name, "parameters")) {
		l.kind = LINE_LIST;
		l.value = span(s + 1, l.comment);
		return l;
	}
	if (*s == ':' || *s == '=')
		s = skip(s + 1, l.comment, is_blank);
	else if (s == after)
		return l;
	l.kind = LINE_KEY;
	after = skip(s, l.comment, is_solid);
	l.value = span(s, after);
	l.alone = skip(after, l.comment, is_blank) == l.comment;
	if ((policy_ends_in(l.name, "_start") || policy_ends_in(l.name, "_end")) &&
	    !is_digits(l.value))
		l.kind = LINE_BORDER;
	return l;
}

/* The line that begins at `s`. Sets *next to the one after it. */
static struct line line_at(const struct policy *p, const char *s, const char **next)
{
	const char *end = p->text + p->len, *newline = memchr(s, '\n', (size_t)(end - s));

	*next = newline ? newline + 1 : end;
	if (s == p->text && p->len >= strlen(BOM) && !memcmp(s, BOM, strlen(BOM)))
		s += strlen(BOM);
	return read_line(s, newline ? newline : end);
}

/* Column of a place in the line that begins at `s` in the text. */
static unsigned int column(const char *s, const char *at)
{
	return (unsigned int)(at - s) + 1;
}

static int add_block(struct policy *p, struct block b)
{
	struct block *more = p->block;

	/* Doubled at the powers of two. */
	if (!(p->n_blocks & (p->n_blocks - 1)))
		more = reallocarray(p->block, p->n_blocks ? 2u * p->n_blocks : 1, sizeof(b));
	if (!more)
		return -ENOMEM;
	p->block = more;
	p->block[p->n_blocks++] = b;
	return 0;
}

static bool same(struct span a, struct span b)
{
	return a.len == b.len && !strncasecmp(a.at, b.at, a.len);
}

/* Is it the block's line NAME_id or NAME_name? */
static bool is_id_of(const struct block *b, struct span key)
{
	size_t len = b->name.len;

	return b->name.at && key.len > len && !strncasecmp(key.at, b->name.at, len) &&
	       (policy_is(span(key.at + len, key.at + key.len), "_id") ||
		policy_is(span(key.at + len, key.at + key.len), "_name"));
}

/* Takes a line into the blocks; *open is the innermost that has not ended. */
static int take_line(struct policy *p, const char *s, const struct line *l, unsigned int line,
		     uint32_t *open, struct ibcc_yaml_errors *e)
{
	struct block *b = &p->block[*open];
	unsigned int col = column(s, l->name.at);
	int rc;

	switch (l->kind) {
	case LINE_START:
		rc = add_block(
			p, (struct block){ l->name, .parent = *open, .line = line, .col = col });
		*open = rc ? *open : p->n_blocks - 1;
		return rc;
	case LINE_END:
		if (*open && same(b->name, l->name)) {
			*open = b->parent;
			return 0;
		}
		if (*open)
			ibcc_yaml_errors_add(e, p->file, line, col,
					     "this ends a block %.*s, but the block %.*s of line "
					     "%u has not ended: nothing in this file is changed",
					     (int)l->name.len, l->name.at, (int)b->name.len,
					     b->name.at, b->line);
		else
			ibcc_yaml_errors_add(e, p->file, line, col,
					     "this ends a block %.*s that has not begun: nothing "
					     "in this file is changed",
					     (int)l->name.len, l->name.at);
		return -EINVAL;
	case LINE_BORDER:
		ibcc_yaml_errors_add(e, p->file, line, col,
				     "%.*s may be the border of a block in a form that this "
				     "program does not know: nothing in this file is changed",
				     (int)l->name.len, l->name.at);
		return -EINVAL;
	case LINE_KEY:
		if (is_id_of(b, l->name)) {
			b->id = l->value;
			b->n_ids++;
		}
		return 0;
	case LINE_WORDS:
	case LINE_LIST: return 0;
	}
	return 0;
}

int policy_read(const char *file, const char *text, size_t len, struct policy *p,
		struct ibcc_yaml_errors *e)
{
	const char *s = text, *next;
	unsigned int line = 1;
	uint32_t open = 0;
	int rc;

	*p = (struct policy){ .file = file, .text = text, .len = len };
	rc = add_block(p, (struct block){ .line = 0 });
	for (; !rc && s < text + len; s = next, line++) {
		struct line l = line_at(p, s, &next);

		rc = take_line(p, s, &l, line, &open, e);
	}
	if (!rc && open) {
		ibcc_yaml_errors_add(e, file, p->block[open].line, p->block[open].col,
				     "the block %.*s does not end: nothing in this file is changed",
				     (int)p->block[open].name.len, p->block[open].name.at);
		rc = -EINVAL;
	}
	return rc;
}

void policy_fini(struct policy *p)
{
	free(p->block);
	p->block = NULL;
}

/* Whoever gets the places, and where the scan is. */
struct visitor {
	const struct policy *p;
	void (*visit)(void *arg, const struct place *place);
	void *arg;
	const char *line_begin;
	unsigned int line;
	uint32_t block;
};

static void visit_place(const struct visitor *v, enum place_kind kind, struct span name,
			struct span value, bool alone)
{
	struct place place = { kind, name, value, alone, v->block, v->line, 0 };

	place.col = column(v->line_begin, value.len ? value.at : name.at);
	v->visit(v->arg, &place);
}

static void visit_words(const struct visitor *v, enum place_kind kind, const char *s,
			const char *end)
{
	const char *after;

	for (; s < end; s = after) {
		after = skip(s, end, is_name);
		if (after > s)
			visit_place(v, kind, span(s, after), span(s, s), false);
		else
			after++;
	}
}

static bool take_char(const char **s, const char *end, char c)
{
	*s = skip(*s, end, is_blank);
	if (*s == end || **s != c)
		return false;
	*s = skip(*s + 1, end, is_blank);
	return true;
}

static bool is_value(char c)
{
	return is_name(c) || c == '+';
}

/* Goes through "(NAME,value),(NAME,value)"; false if it is anything else. v NULL: only looks. */
static bool walk_list(const struct visitor *v, struct span list)
{
	const char *s = list.at, *end = s + list.len;
	struct span name, value;

	do {
		if (!take_char(&s, end, '('))
			return false;
		name = span(s, skip(s, end, is_name));
		s += name.len;
		if (!name.len || !take_char(&s, end, ','))
			return false;
		value = span(s, skip(s, end, is_value));
		s += value.len;
		if (!value.len || !take_char(&s, end, ')'))
			return false;
		if (v)
			visit_place(v, PLACE_PARAMETER, name, value, true);
	} while (take_char(&s, end, ','));
	return s == end;
}

/* Parameters are known only where the manual has them. */
static bool is_of_algorithm(const struct visitor *v)
{
	const struct block *b = &v->p->block[v->block];

	return v->block && policy_is(b->name, "algo") && b->parent &&
	       policy_is(v->p->block[b->parent].name, "ca_algo_import");
}

static void visit_line(const struct visitor *v, const struct line *l)
{
	bool readable;

	switch (l->kind) {
	case LINE_KEY:
		visit_place(v, PLACE_KEY, l->name, l->value, l->alone);
		/* What stands beside another key's number could be a key itself. */
		if (!is_digits(l->value) || !l->alone)
			visit_words(v, PLACE_WORD, l->value.at, l->comment);
		break;
	case LINE_LIST:
		readable = is_of_algorithm(v) && walk_list(NULL, l->value);
		visit_place(v, PLACE_WORD, l->name, span(l->name.at, l->name.at), false);
		if (readable)
			walk_list(v, l->value);
		else
			visit_words(v, PLACE_BROKEN, l->value.at, l->comment);
		break;
	case LINE_WORDS:
	case LINE_START:
	case LINE_END:
	case LINE_BORDER: visit_words(v, PLACE_WORD, l->begin, l->comment); break;
	}
	visit_words(v, PLACE_COMMENT, l->comment, l->end);
}

void policy_visit(const struct policy *p, void (*visit)(void *arg, const struct place *place),
		  void *arg)
{
	struct visitor v = { p, visit, arg, p->text, 1, 0 };
	const char *next;
	uint32_t begun = 0;

	for (; v.line_begin < p->text + p->len; v.line_begin = next, v.line++) {
		struct line l = line_at(p, v.line_begin, &next);

		if (l.kind == LINE_START)
			v.block = ++begun;
		visit_line(&v, &l);
		if (l.kind == LINE_END)
			v.block = p->block[v.block].parent;
	}
}
