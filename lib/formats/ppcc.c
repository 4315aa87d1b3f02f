/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Descriptions of congestion control algorithms from the output of mstreg or mlxreg (ppcc.h).
 *
 * An answer is a table: "Field Name | Data", a line of "=", one line "NAME | 0x..." for each field,
 * and another line of "=". It is taken when the next one begins, or at the end.
 */
#include <ibcc/ppcc.h>

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/clean.h>
#include <ibcc/text.h>

#define WORDS      55u  /* text[0] to text[54] */
#define LINE_BYTES 512u /* of longer lines the rest is ignored */

/* Values of cmd_type. */
enum {
	CMD_ALGORITHM = 0x0,
	CMD_STATUS = 0x3,
	CMD_PARAMETER_INFO = 0x5,
	CMD_PARAMETER = 0x6,
	CMD_ALL_PARAMETERS = 0xa,
	CMD_LIST = 0x10,
};

/* The fields that are used, by name. */
enum { F_CMD, F_SLOT, F_INDEX, F_VALUE, F_INITIAL, F_MIN, F_MAX, F_ACCESS, F_LENGTH, N_FIELDS };
static const char *const field_names[N_FIELDS] = {
	"cmd_type",     "algo_slot", "algo_param_index", "value", "param_value1", "param_value2",
	"param_value3", "prm",       "text_length",
};

struct answer {
	bool open;
	unsigned int line; /* of its first line */
	bool has[N_FIELDS];
	uint32_t value[N_FIELDS];
	uint8_t text[4 * WORDS + 1];
};

struct reader {
	struct ibcc_ppcc *p;
	const char *name;
	struct ibcc_why *why;
	unsigned int line;
	struct answer a;
	/* What the last line outside of a table says was asked: the first three fields. */
	bool asked_has[F_INDEX + 1];
	uint32_t asked[F_INDEX + 1];
};

static int complain(struct reader *r, unsigned int line, unsigned int column, const char *got,
		    const char *want)
{
	return ibcc_why_set(r->why, -EINVAL, "%s:%u:%u: got %s, want %s", r->name, line, column,
			    got, want);
}

/* The same of what the present line has from a column on. */
static int complain_of(struct reader *r, unsigned int column, const char *text, const char *want)
{
	char got[48];

	snprintf(got, sizeof(got), "\"%.40s\"", text);
	ibcc_clean(got, "");
	return complain(r, r->line, column, got, want);
}

/* "NAME, DESCRIPTION" in two parts, both clean. */
static void split(const struct answer *a, char *name, char *about)
{
	char text[IBCC_PPCC_TEXT_BYTES + 1];
	size_t len = a->has[F_LENGTH] ? a->value[F_LENGTH] : IBCC_PPCC_TEXT_BYTES;
	char *comma;

	if (len > IBCC_PPCC_TEXT_BYTES)
		len = IBCC_PPCC_TEXT_BYTES;
	memcpy(text, a->text, len);
	text[len] = '\0';
	ibcc_clean(text, "");
	comma = strchr(text, ',');
	if (comma)
		*comma++ = '\0';
	snprintf(name, IBCC_PPCC_TEXT_BYTES + 1, "%s", text);
	snprintf(about, IBCC_PPCC_TEXT_BYTES + 1, "%s", comma ? comma + strspn(comma, " ") : "");
}

static uint32_t word(const struct answer *a, unsigned int i)
{
	const uint8_t *b = a->text + 4 * i;

	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static struct ibcc_ppcc_parameter *parameter(struct ibcc_ppcc_algorithm *s, uint32_t i)
{
	if (i >= s->n_parameters)
		s->n_parameters = i + 1;
	return &s->parameter[i];
}

static void take_list(struct ibcc_ppcc *p, const struct answer *a)
{
	for (unsigned int i = 0; i < IBCC_PPCC_SLOTS; i++) {
		uint32_t v = word(a, i);
		struct ibcc_ppcc_algorithm *s = &p->slot[i];

		s->id = (uint16_t)(v >> 16);
		s->major = (uint8_t)(v >> 8);
		s->minor = (uint8_t)v;
		s->present |= s->id != 0;
	}
}

static void take_values(struct ibcc_ppcc_algorithm *s, const struct answer *a)
{
	uint32_t n = a->value[F_LENGTH] / 4;

	for (uint32_t i = 0; i < n && i < WORDS && i < IBCC_PPCC_PARAMETERS; i++) {
		struct ibcc_ppcc_parameter *x = parameter(s, i);

		x->has_value = true;
		x->value = word(a, i);
	}
}

static void take_info(struct ibcc_ppcc_parameter *x, const struct answer *a)
{
	split(a, x->name, x->about);
	x->initial = a->value[F_INITIAL];
	x->min = a->value[F_MIN];
	x->max = a->value[F_MAX];
	x->access = a->value[F_ACCESS] & 3;
}

/* The fields that an answer must have to be taken, by its command; 0: it is of no use. */
static unsigned int needed(uint32_t cmd)
{
	switch (cmd) {
	case CMD_ALGORITHM: return 1u << F_SLOT | 1u << F_LENGTH;
	case CMD_STATUS: return 1u << F_SLOT | 1u << F_VALUE;
	case CMD_PARAMETER_INFO:
		return 1u << F_SLOT | 1u << F_INDEX | 1u << F_INITIAL | 1u << F_MIN | 1u << F_MAX |
		       1u << F_ACCESS | 1u << F_LENGTH;
	case CMD_PARAMETER: return 1u << F_SLOT | 1u << F_INDEX | 1u << F_VALUE;
	case CMD_ALL_PARAMETERS: return 1u << F_SLOT | 1u << F_LENGTH;
	case CMD_LIST: return 1u << F_CMD;
	default: return 0;
	}
}

/* Takes the answer that has just ended. */
static int finish(struct reader *r)
{
	struct answer *a = &r->a;
	struct ibcc_ppcc_algorithm *s;
	unsigned int need;

	if (!a->open)
		return 0;
	a->open = false;
	for (unsigned int i = 0; i <= F_INDEX; i++)
		if (r->asked_has[i]) {
			a->has[i] = true;
			a->value[i] = r->asked[i];
		}
	memset(r->asked_has, 0, sizeof(r->asked_has));
	if (!a->has[F_CMD])
		return complain(r, a->line, 1, "a table without cmd_type",
				"the output of a Get of the register PPCC");
	need = needed(a->value[F_CMD]);
	for (unsigned int i = 0; i < N_FIELDS; i++)
		if (need >> i & 1 && !a->has[i])
			return complain(r, a->line, 1, "a table that ends too early",
					field_names[i]);
	r->p->n_answers++;
	if (a->value[F_CMD] == CMD_LIST)
		take_list(r->p, a);
	if (!need || a->value[F_CMD] == CMD_LIST)
		return 0;
	if (a->value[F_SLOT] >= IBCC_PPCC_SLOTS)
		return complain(r, a->line, 1, "an algo_slot that is too great", "at most 15");
	if (need >> F_INDEX & 1 && a->value[F_INDEX] >= IBCC_PPCC_PARAMETERS)
		return complain(r, a->line, 1, "an algo_param_index that is too great",
				"at most 63");
	s = &r->p->slot[a->value[F_SLOT]];
	s->present = true;
	switch (a->value[F_CMD]) {
	case CMD_ALGORITHM: split(a, s->name, s->about); break;
	case CMD_STATUS: s->enabled = a->value[F_VALUE] == 1; break;
	case CMD_PARAMETER_INFO: take_info(parameter(s, a->value[F_INDEX]), a); break;
	case CMD_PARAMETER:
		parameter(s, a->value[F_INDEX])->has_value = true;
		s->parameter[a->value[F_INDEX]].value = a->value[F_VALUE];
		break;
	case CMD_ALL_PARAMETERS: take_values(s, a); break;
	}
	return 0;
}

/* Reads a number of 32 bits: 0x and 1 to 8 digits, and blanks or another column behind it. */
static bool read_hex(const char *s, uint32_t *v)
{
	char *end;

	if (s[0] != '0' || (s[1] | 0x20) != 'x' || !isxdigit((unsigned char)s[2]))
		return false;
	*v = (uint32_t)strtoul(s, &end, 16);
	return end - s <= 10 && (!*end || *end == ' ' || *end == '\t');
}

/* A line of a table. */
static int read_field(struct reader *r, char *line, char *bar)
{
	char *name = line + strspn(line, " \t"), *data = bar + 1 + strspn(bar + 1, " \t");
	size_t len = (size_t)(bar - name);
	unsigned int i;
	uint32_t v;
	int used = 0;

	while (len && (name[len - 1] == ' ' || name[len - 1] == '\t'))
		len--;
	if (!read_hex(data, &v))
		return complain_of(r, (unsigned int)(data - line) + 1, data,
				   "0x and up to 8 hexadecimal digits");
	name[len] = '\0';
	if (sscanf(name, "text[%2u]%n", &i, &used) == 1 && used == (int)len) {
		if (i >= WORDS)
			return complain(r, r->line, (unsigned int)(name - line) + 1, name,
					"at most text[54]");
		for (unsigned int b = 0; b < 4; b++)
			r->a.text[4 * i + b] = (uint8_t)(v >> (24 - 8 * b));
		return 0;
	}
	for (i = 0; i < N_FIELDS; i++)
		if (!strcmp(name, field_names[i])) {
			r->a.has[i] = true;
			r->a.value[i] = v;
		}
	return 0;
}

/* A line outside of tables may say what was asked: "cmd_type=0x5" or, in a file's name, with "_".
 * Numbers have the forms of C: 010 is 8, and 09 is none.
 */
static int read_asked(struct reader *r, const char *line)
{
	if (!strstr(line, field_names[F_CMD]))
		return 0;
	for (unsigned int i = 0; i <= F_INDEX; i++) {
		const char *at = strstr(line, field_names[i]);
		unsigned long v;
		char *end;

		r->asked_has[i] = false;
		if (!at)
			continue;
		at += strlen(field_names[i]);
		if ((*at != '=' && *at != '_') || !isdigit((unsigned char)at[1]))
			continue;
		v = strtoul(at + 1, &end, 0);
		if (v > UINT32_MAX || isalnum((unsigned char)*end))
			return complain_of(r, (unsigned int)(at - line) + 2, at + 1,
					   "a number of 32 bits, such as 9 or 0x9");
		r->asked[i] = (uint32_t)v;
		r->asked_has[i] = true;
	}
	return 0;
}

static bool begins_table(const char *line)
{
	line += strspn(line, " \t");
	return !strncmp(line, "Field Name", strlen("Field Name")) && strchr(line, '|');
}

static int read_line(struct reader *r, char *line)
{
	char *bar = strchr(line, '|');
	const char *start = line + strspn(line, " \t");
	int rc;

	if (begins_table(line)) {
		rc = finish(r);
		r->a = (struct answer){ .open = true, .line = r->line };
		return rc;
	}
	if (r->a.open && *start == '=') /* above the fields and below them */
		return 0;
	if (r->a.open && bar)
		return read_field(r, line, bar);
	rc = finish(r);
	return rc ? rc : read_asked(r, line);
}

int ibcc_ppcc_read(struct ibcc_ppcc *p, const char *name, const char *text, size_t len,
		   struct ibcc_why *why)
{
	struct reader r = { .p = p, .name = name, .why = why };
	char line[LINE_BYTES];
	int rc = 0;

	*p = (struct ibcc_ppcc){ 0 };
	for (unsigned int i = 0; i < IBCC_PPCC_SLOTS; i++)
		p->slot[i].enabled = -1;
	while (len && !rc) {
		const char *end = memchr(text, '\n', len);
		size_t n = end ? (size_t)(end - text) : len;
		size_t kept = n < sizeof(line) ? n : sizeof(line) - 1;

		r.line++;
		for (size_t i = 0; i < kept; i++)
			line[i] = text[i] && text[i] != '\r' ? text[i] : ' ';
		line[kept] = '\0';
		rc = read_line(&r, line);
		text += end ? n + 1 : n;
		len -= end ? n + 1 : n;
	}
	if (!rc)
		rc = finish(&r);
	if (!rc && !p->n_answers)
		rc = complain(&r, r.line ? r.line : 1, 1, "no table",
			      "the output of \"mstreg --reg_name PPCC --get\", a table under "
			      "\"Field Name | Data\"");
	return rc;
}
