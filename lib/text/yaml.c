/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* YAML documents as trees with the place of each node, and the list of errors found in them.
 *
 * The whole document is kept (libyaml's DOM) rather than read as events: a checker that sees all
 * of it can go on after an error, and every error knows its line and column.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/clean.h>

#include "yaml_tree.h"

#define MAX_FILE_BYTES (4u << 20)
#define MAX_LINE_BYTES 512u
#define MAX_GOT_BYTES  48
#define MAX_NESTING    64u
#define MAX_ANCHORS    256u

void ibcc_yaml_errors_fini(struct ibcc_yaml_errors *e)
{
	if (!e)
		return;
	free(e->text);
	*e = (struct ibcc_yaml_errors){ 0 };
}

/* True if the text line at s belongs to `file` at a place after line and col. */
static bool is_later(const char *s, const char *file, unsigned int line, unsigned int col)
{
	size_t len = strlen(file);
	unsigned long l, c = 0;
	char *end;

	if (strncmp(s, file, len) || s[len] != ':')
		return false;
	l = strtoul(s + len + 1, &end, 10);
	if (*end == ':' && end[1] >= '0' && end[1] <= '9')
		c = strtoul(end + 1, NULL, 10);
	return l > line || (l == line && c > col);
}

/* Where a new error goes. Checks run by subject, but people read from the top of the file. */
static size_t place_of(const struct ibcc_yaml_errors *e, const char *file, unsigned int line,
		       unsigned int col)
{
	size_t at = e->len;

	while (at > 0) {
		size_t start = at - 1; /* on the newline of the line before */

		while (start > 0 && e->text[start - 1] != '\n')
			start--;
		if (!is_later(e->text + start, file, line, col))
			break;
		at = start;
	}
	return at;
}

static void insert_line(struct ibcc_yaml_errors *e, size_t at, const char *line, size_t len)
{
	char *text = realloc(e->text, e->len + len + 2);

	if (!text)
		return; /* still counted in n */
	memmove(text + at + len + 1, text + at, e->len - at);
	memcpy(text + at, line, len);
	text[at + len] = '\n';
	e->len += len + 1;
	text[e->len] = '\0';
	e->text = text;
}

static void add_error(struct ibcc_yaml_errors *e, const char *file, unsigned int line,
		      unsigned int col, const char *key, const char *fmt, va_list ap)
	__attribute__((format(printf, 6, 0)));
static void add_error(struct ibcc_yaml_errors *e, const char *file, unsigned int line,
		      unsigned int col, const char *key, const char *fmt, va_list ap)
{
	char buf[MAX_LINE_BYTES];
	size_t len, i;
	int n;

	if (e->n++ > IBCC_YAML_ERRORS_MAX)
		return;
	if (e->n > IBCC_YAML_ERRORS_MAX) {
		n = snprintf(buf, sizeof(buf), "%s: more errors follow", file);
		insert_line(e, e->len, buf, strnlen(buf, n > 0 ? (size_t)n : 0));
		return;
	}
	if (line && col)
		n = snprintf(buf, sizeof(buf), "%s:%u:%u: ", file, line, col);
	else if (line)
		n = snprintf(buf, sizeof(buf), "%s:%u: ", file, line);
	else
		n = snprintf(buf, sizeof(buf), "%s: ", file);
	len = strnlen(buf, n > 0 ? (size_t)n : 0);
	if (key) {
		n = snprintf(buf + len, sizeof(buf) - len, "%s: ", key);
		len += strnlen(buf + len, n > 0 ? (size_t)n : 0);
	}
	n = vsnprintf(buf + len, sizeof(buf) - len, fmt, ap);
	len += strnlen(buf + len, n > 0 ? (size_t)n : 0);
	for (i = 0; i < len; i++)
		if ((unsigned char)buf[i] < ' ' || buf[i] == 0x7f)
			buf[i] = '?';
	ibcc_clean(buf, "");
	insert_line(e, place_of(e, file, line, col), buf, len);
}

void ibcc_yaml_errors_add(struct ibcc_yaml_errors *e, const char *file, unsigned int line,
			  unsigned int col, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_error(e, file, line, col, NULL, fmt, ap);
	va_end(ap);
}

void ibcc_yaml_error(const struct ibcc_yaml *y, struct ibcc_yaml_errors *e,
		     const struct ibcc_yaml_node *n, const char *key, const char *fmt, ...)
{
	size_t line = n ? raw(n)->start_mark.line : 0;
	unsigned int col = n ? (unsigned int)raw(n)->start_mark.column + 1 : 1;
	va_list ap;

	va_start(ap, fmt);
	if (line >= YAML_SET_LINE)
		add_error(e, y->set[line - YAML_SET_LINE], 0, 0, key, fmt, ap);
	else
		add_error(e, y->file, (unsigned int)line + 1, col, key, fmt, ap);
	va_end(ap);
}

/* The value of a node in words. Long texts are cut, between characters. */
static const char *got(const struct ibcc_yaml_node *n, char *buf, size_t size)
{
	const char *s = ibcc_yaml_scalar(n);
	int len;

	if (ibcc_yaml_is_map(n))
		return "a mapping";
	if (ibcc_yaml_is_seq(n))
		return "a list";
	if (!s || ibcc_yaml_is_null(n))
		return "nothing";
	if (strlen(s) <= MAX_GOT_BYTES) {
		snprintf(buf, size, "\"%s\"", s);
		return buf;
	}
	len = MAX_GOT_BYTES;
	while (len > 0 && ((unsigned char)s[len] & 0xc0) == 0x80)
		len--;
	snprintf(buf, size, "\"%.*s...\"", len, s);
	return buf;
}

int ibcc_yaml_want(const struct ibcc_yaml *y, struct ibcc_yaml_errors *e,
		   const struct ibcc_yaml_node *n, const char *key, const char *fmt, ...)
{
	char value[MAX_GOT_BYTES + 8], want[MAX_LINE_BYTES / 2];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(want, sizeof(want), fmt, ap);
	va_end(ap);
	ibcc_yaml_error(y, e, n, key, "got %s, want %s", got(n, value, sizeof(value)), want);
	return -EINVAL;
}

/* Reads a whole file; *err as errno has it. */
static char *slurp(const char *file, size_t *len, int *err)
{
	char *buf = NULL;
	size_t cap = 4096, n = 0;
	FILE *f = fopen(file, "re");

	*err = errno;
	if (!f)
		return NULL;
	*err = 0;
	do {
		char *bigger = realloc(buf, cap *= 2);

		if (!bigger) {
			*err = ENOMEM;
			break;
		}
		buf = bigger;
		errno = 0;
		n += fread(buf + n, 1, cap - n, f);
		if (ferror(f))
			*err = errno ? errno : EIO;
		else if (n > MAX_FILE_BYTES)
			*err = EFBIG;
	} while (!*err && n == cap);
	fclose(f);
	if (*err) {
		free(buf);
		buf = NULL;
	}
	*len = n;
	return buf;
}

static void parser_error(const yaml_parser_t *p, const char *file, struct ibcc_yaml_errors *e)
{
	unsigned int line = (unsigned int)p->problem_mark.line + 1;
	unsigned int col = (unsigned int)p->problem_mark.column + 1;
	const char *problem = p->problem ? p->problem : "cannot be parsed";

	if (p->error == YAML_MEMORY_ERROR)
		ibcc_yaml_errors_add(e, file, 0, 0, "%s", strerror(ENOMEM));
	/* this error has no mark, but the parser knows its offset */
	else if (p->error == YAML_READER_ERROR)
		ibcc_yaml_errors_add(e, file, (unsigned int)p->mark.line + 1,
				     (unsigned int)p->mark.column + 1, "this is not YAML: %s",
				     problem);
	else if (p->context)
		ibcc_yaml_errors_add(e, file, line, col,
				     "this is not YAML: %s %s (from line %u on)", problem,
				     p->context, (unsigned int)p->context_mark.line + 1);
	else
		ibcc_yaml_errors_add(e, file, line, col, "this is not YAML: %s", problem);
}

/* True if nothing follows the first document. */
static bool is_last(yaml_parser_t *p, const char *file, struct ibcc_yaml_errors *e)
{
	yaml_document_t doc;
	yaml_node_t *root;

	if (!yaml_parser_load(p, &doc)) {
		parser_error(p, file, e);
		return false;
	}
	root = yaml_document_get_root_node(&doc);
	if (root)
		ibcc_yaml_errors_add(e, file, (unsigned int)root->start_mark.line + 1,
				     (unsigned int)root->start_mark.column + 1,
				     "got a second document, want one");
	yaml_document_delete(&doc);
	return !root;
}

static int depth_change(const yaml_event_t *ev)
{
	return (ev->type == YAML_SEQUENCE_START_EVENT || ev->type == YAML_MAPPING_START_EVENT) -
	       (ev->type == YAML_SEQUENCE_END_EVENT || ev->type == YAML_MAPPING_END_EVENT);
}

static bool has_anchor(const yaml_event_t *ev)
{
	return (ev->type == YAML_SCALAR_EVENT && ev->data.scalar.anchor) ||
	       (ev->type == YAML_SEQUENCE_START_EVENT && ev->data.sequence_start.anchor) ||
	       (ev->type == YAML_MAPPING_START_EVENT && ev->data.mapping_start.anchor);
}

/* libyaml's time grows with the square of the depth and of the number of anchors: megabytes of "["
 * would take hours. Such files are refused before their tree is built.
 */
static bool is_simple(const char *file, const char *text, size_t len, struct ibcc_yaml_errors *e)
{
	unsigned int depth = 0, anchors = 0, errors = e->n;
	bool more = true;
	yaml_parser_t p;

	if (!yaml_parser_initialize(&p)) {
		ibcc_yaml_errors_add(e, file, 0, 0, "%s", strerror(ENOMEM));
		return false;
	}
	yaml_parser_set_input_string(&p, (const unsigned char *)text, len);
	while (more) {
		yaml_event_t ev;
		unsigned int line, col;

		if (!yaml_parser_parse(&p, &ev)) {
			parser_error(&p, file, e);
			break;
		}
		line = (unsigned int)ev.start_mark.line + 1;
		col = (unsigned int)ev.start_mark.column + 1;
		depth += (unsigned int)depth_change(&ev);
		anchors += has_anchor(&ev);
		if (depth > MAX_NESTING)
			ibcc_yaml_errors_add(e, file, line, col,
					     "got lists and mappings nested deeper, want at most "
					     "%u levels",
					     MAX_NESTING);
		else if (anchors > MAX_ANCHORS)
			ibcc_yaml_errors_add(e, file, line, col,
					     "got another anchor, want at most %u", MAX_ANCHORS);
		else if (ev.type == YAML_SCALAR_EVENT &&
			 memchr(ev.data.scalar.value, '\0', ev.data.scalar.length))
			ibcc_yaml_errors_add(e, file, line, col,
					     "got a text with a NUL byte in it, want none");
		more = e->n == errors && ev.type != YAML_DOCUMENT_END_EVENT &&
		       ev.type != YAML_STREAM_END_EVENT;
		yaml_event_delete(&ev);
	}
	yaml_parser_delete(&p);
	return e->n == errors;
}

static struct ibcc_yaml *parse(const char *file, const char *text, size_t len,
			       struct ibcc_yaml_errors *e)
{
	struct ibcc_yaml *y;
	yaml_parser_t p;

	if (!is_simple(file, text, len, e)) {
		errno = EINVAL;
		return NULL;
	}
	y = calloc(1, sizeof(*y));
	if (!y || !(y->file = strdup(file)) || !yaml_parser_initialize(&p)) {
		ibcc_yaml_errors_add(e, file, 0, 0, "%s", strerror(ENOMEM));
		goto no_parser;
	}
	yaml_parser_set_input_string(&p, (const unsigned char *)text, len);
	if (!yaml_parser_load(&p, &y->doc)) {
		parser_error(&p, file, e);
		goto no_document;
	}
	/* After the end of the stream libyaml would give empty documents for ever. */
	if (yaml_document_get_root_node(&y->doc) && !is_last(&p, file, e)) {
		yaml_document_delete(&y->doc);
		goto no_document;
	}
	yaml_parser_delete(&p);
	return y;

no_document:
	yaml_parser_delete(&p);
no_parser:
	if (y)
		free(y->file);
	free(y);
	errno = EINVAL;
	return NULL;
}

struct ibcc_yaml *ibcc_yaml_load(const char *file, const char *text, struct ibcc_yaml_errors *e)
{
	struct ibcc_yaml *y;
	char *read = NULL;
	size_t len = 0;
	int err;

	if (text)
		return parse(file, text, strlen(text), e);
	read = slurp(file, &len, &err);
	if (!read) {
		if (err == EFBIG)
			ibcc_yaml_errors_add(e, file, 1, 1, "got more than %u MiB, want less",
					     MAX_FILE_BYTES >> 20);
		else
			ibcc_yaml_errors_add(e, file, 0, 0, "cannot be read: %s", strerror(err));
		errno = err;
		return NULL;
	}
	y = parse(file, read, len, e);
	err = errno;
	free(read);
	errno = err;
	return y;
}

void ibcc_yaml_free(struct ibcc_yaml *y)
{
	if (!y)
		return;
	yaml_document_delete(&y->doc);
	for (size_t i = 0; i < y->n_set; i++)
		free(y->set[i]);
	free(y->set);
	free(y->file);
	free(y);
}

unsigned int ibcc_yaml_line(const struct ibcc_yaml_node *n)
{
	return (unsigned int)raw(n)->start_mark.line + 1;
}

const char *ibcc_yaml_file(const struct ibcc_yaml *y)
{
	return y->file;
}

const struct ibcc_yaml_node *ibcc_yaml_root(const struct ibcc_yaml *y)
{
	return cooked(yaml_document_get_root_node((yaml_document_t *)(uintptr_t)&y->doc));
}

const char *ibcc_yaml_scalar(const struct ibcc_yaml_node *n)
{
	if (!n || raw(n)->type != YAML_SCALAR_NODE)
		return NULL;
	return (const char *)raw(n)->data.scalar.value;
}

bool ibcc_yaml_is_plain(const struct ibcc_yaml_node *n)
{
	return n && raw(n)->type == YAML_SCALAR_NODE &&
	       raw(n)->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

bool ibcc_yaml_is_null(const struct ibcc_yaml_node *n)
{
	const char *s = ibcc_yaml_scalar(n);

	return ibcc_yaml_is_plain(n) && (!*s || !strcmp(s, "~") || !strcmp(s, "null"));
}

bool ibcc_yaml_is_map(const struct ibcc_yaml_node *n)
{
	return n && raw(n)->type == YAML_MAPPING_NODE;
}

bool ibcc_yaml_is_seq(const struct ibcc_yaml_node *n)
{
	return n && raw(n)->type == YAML_SEQUENCE_NODE;
}

size_t ibcc_yaml_length(const struct ibcc_yaml_node *n)
{
	if (ibcc_yaml_is_map(n))
		return (size_t)(raw(n)->data.mapping.pairs.top - raw(n)->data.mapping.pairs.start);
	if (ibcc_yaml_is_seq(n))
		return (size_t)(raw(n)->data.sequence.items.top -
				raw(n)->data.sequence.items.start);
	return 0;
}

const struct ibcc_yaml_node *ibcc_yaml_item(const struct ibcc_yaml *y,
					    const struct ibcc_yaml_node *n, size_t i,
					    const struct ibcc_yaml_node **key)
{
	if (ibcc_yaml_is_map(n)) {
		const yaml_node_pair_t *pair = raw(n)->data.mapping.pairs.start + i;

		if (key)
			*key = cooked(node_at(y, pair->key));
		return cooked(node_at(y, pair->value));
	}
	return cooked(node_at(y, raw(n)->data.sequence.items.start[i]));
}
