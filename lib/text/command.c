/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <ibcc/command.h>

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <ibcc/guess.h>
#include <ibcc/version.h>
#include <ibcc/yaml.h>

#define OPTIONS_MAX 64u
#define FIRST       256 /* what getopt_long() returns for the first row */
#define HELP_COLUMN 26  /* behind the two spaces that a line begins with */

int ibcc_command_say(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return -EINVAL;
}

int ibcc_command_number(const char *what, const char *text, uint64_t min, uint64_t max,
			uint64_t *out)
{
	uint64_t v;

	if (ibcc_yaml_parse_uint(text, &v) || v < min || v > max)
		return ibcc_command_say("%s: got \"%s\", want a whole number from %llu to %llu",
					what, text, (unsigned long long)min,
					(unsigned long long)max);
	*out = v;
	return 0;
}

/* "--name", or "-l" where there is only that. */
static const char *option_text(const struct ibcc_option *o, char buf[static 64])
{
	if (o->name)
		snprintf(buf, 64, "--%s", o->name);
	else
		snprintf(buf, 64, "-%c", o->letter);
	return buf;
}

static int take(const struct ibcc_option *o, const char *value, char *to)
{
	char text[64];
	int rc;

	switch (o->kind) {
	case IBCC_OPTION_FLAG: *(bool *)(to + o->at) = true; return 0;
	case IBCC_OPTION_TEXT: *(const char **)(to + o->at) = value; return 0;
	case IBCC_OPTION_NUMBER:
		return ibcc_command_number(option_text(o, text), value, o->min, o->max,
					   (uint64_t *)(to + o->at));
	case IBCC_OPTION_READ: break;
	}
	rc = o->read(to + o->at, value);
	if (rc == -EINVAL && o->want)
		ibcc_command_say("%s: got \"%s\", want %s", option_text(o, text), value, o->want);
	else if (rc < 0 && rc != -EINVAL)
		ibcc_command_say("%s: %s", option_text(o, text), strerror(-rc));
	return rc;
}

/* The rows in getopt_long()'s form. The leading colon has it distinguish a missing value from an
 * unknown option.
 */
static void to_getopt(const struct ibcc_options *o, struct option *longs, char *letters)
{
	size_t n = 0;

	*letters++ = ':';
	for (size_t i = 0; i < o->n && i < OPTIONS_MAX; i++) {
		const struct ibcc_option *row = &o->option[i];
		int has_value = row->optional ? optional_argument
				: row->value  ? required_argument
					      : no_argument;

		if (row->name)
			longs[n++] = (struct option){ row->name, has_value, NULL, FIRST + (int)i };
		if (row->letter)
			*letters++ = row->letter;
		if (row->letter && row->value)
			*letters++ = ':';
		if (row->letter && row->optional)
			*letters++ = ':';
	}
	longs[n] = (struct option){ 0 };
	*letters = '\0';
}

static const struct ibcc_option *row_of(const struct ibcc_options *o, int code)
{
	if (code >= FIRST)
		return &o->option[code - FIRST];
	for (size_t i = 0; i < o->n; i++)
		if (o->option[i].letter == code)
			return &o->option[i];
	return NULL;
}

static const char *option_candidate(const void *arg, size_t i)
{
	const struct ibcc_option *row = &((const struct ibcc_option *)arg)[i];

	return row->name ? row->name : "";
}

/* getopt_long() takes the beginning of a name for the option, unless several begin like that. */
static int unknown_option(const struct ibcc_options *o, const char *who, const char *word)
{
	size_t len = strcspn(word + 2, "="), n = 0, used = 0;
	char name[64], list[160] = "";
	const char *guess;

	snprintf(name, sizeof(name), "%.*s", (int)len, word + 2);
	for (size_t i = 0; len && i < o->n; i++) {
		if (strncmp(option_candidate(o->option, i), name, len))
			continue;
		if (used < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s--%s",
						 n ? ", " : "", o->option[i].name);
		n++;
	}
	if (n > 1)
		return ibcc_command_say("%s--%s can mean %s", who, name, list);
	guess = ibcc_guess_word(name, option_candidate, o->option, o->n);
	if (guess)
		return ibcc_command_say("%sunknown option --%s, did you mean --%s?", who, name,
					guess);
	return ibcc_command_say("%sunknown option --%s", who, name);
}

static int wrong_option(const struct ibcc_options *o, char **argv, int code)
{
	const char *last = argv[optind - 1];
	char who[64] = "";

	if (o->command)
		snprintf(who, sizeof(who), "%s: ", o->command);
	if (code == ':')
		return ibcc_command_say("%s%s wants a value", who, last);
	if (optopt > 0 && optopt < FIRST)
		return ibcc_command_say("%sunknown option -%c", who, optopt);
	if (optopt >= FIRST)
		return ibcc_command_say("%s%s takes no value", who, last);
	return unknown_option(o, who, last);
}

int ibcc_options_read(const struct ibcc_options *o, int argc, char **argv, void *to, int *first,
		      uint64_t *given)
{
	struct option longs[OPTIONS_MAX + 1];
	char letters[3 * OPTIONS_MAX + 2];
	int code, one, rc = 0;

	to_getopt(o, longs, letters);
	opterr = 0; /* our own message says more */
	optind = 0; /* parse from the first argument again */
	while ((code = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		const struct ibcc_option *row = code == ':' ? NULL : row_of(o, code);
		const char *value = optarg;

		if (row && row->optional && !value && optind < argc && argv[optind][0] >= '0' &&
		    argv[optind][0] <= '9')
			value = argv[optind++];
		one = row ? take(row, value, to) : wrong_option(o, argv, code);
		if (row && given && row - o->option < 64)
			*given |= UINT64_C(1) << (row - o->option);
		if (one > 0)
			return one;
		rc = rc ? rc : one;
	}
	*first = optind;
	return rc;
}

bool ibcc_options_takes(const struct ibcc_option *row, const char *command)
{
	const char *at = row->commands;
	size_t len = strlen(command);

	for (; at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL)
		if (!strncmp(at, command, len) && (!at[len] || at[len] == ' '))
			return true;
	return !row->commands;
}

const struct ibcc_option *ibcc_options_misfit(const struct ibcc_options *o, uint64_t given,
					      const char *command)
{
	for (size_t i = 0; i < o->n && i < 64; i++)
		if (given >> i & 1 && !ibcc_options_takes(&o->option[i], command))
			return &o->option[i];
	return NULL;
}

int ibcc_command_read(const struct ibcc_command *c, int argc, char **argv, void *to, int *first)
{
	const struct ibcc_options o = { c->option, c->n_options, c->name };
	int rc = ibcc_options_read(&o, argc, argv, to, first, NULL);

	if (!rc && (argc - *first < c->least || (c->most >= 0 && argc - *first > c->most)))
		rc = ibcc_command_say("%s: want %s", c->name, c->want ? c->want : "only options");
	return rc;
}

/* A line of the help that is about one of the commands begins with its name and a colon. Returns
 * what this command's help has of it; NULL: nothing, as it is about another one.
 */
static const char *line_for(const struct ibcc_option *row, const char *command, const char *line)
{
	size_t len = strcspn(line, ": \n");
	char name[32];

	if (!command || line[len] != ':' || len >= sizeof(name))
		return line;
	snprintf(name, sizeof(name), "%.*s", (int)len, line);
	if (!ibcc_options_takes(row, name))
		return line;
	return strcmp(name, command) ? NULL : line + len + 2;
}

static void print_help(const struct ibcc_option *row, const char *command, bool indent, FILE *out)
{
	const char *line, *end;

	for (const char *at = row->help; at; at = *end ? end + 1 : NULL) {
		end = at + strcspn(at, "\n");
		line = line_for(row, command, at);
		if (!line)
			continue;
		fprintf(out, "%*s%.*s\n", indent ? HELP_COLUMN + 3 : 0, "", (int)(end - line),
			line);
		indent = true;
	}
}

int ibcc_options_print(const struct ibcc_options *o, const char *command, FILE *out)
{
	int n = 0;

	for (size_t i = 0; i < o->n; i++) {
		const struct ibcc_option *row = &o->option[i];
		char text[64], letter[8] = "    ";
		bool wide;

		if (command ? !row->commands || !ibcc_options_takes(row, command)
			    : row->commands != NULL)
			continue;
		n++;
		if (row->letter)
			snprintf(letter, sizeof(letter), "-%c%s", row->letter,
				 row->name ? ", " : "");
		snprintf(text, sizeof(text), "%s%s%s%s%s%s", letter, row->name ? "--" : "",
			 row->name ? row->name : "",
			 row->optional ? "[="
			 : row->value  ? " "
				       : "",
			 row->value ? row->value : "", row->optional ? "]" : "");
		wide = strlen(text) > HELP_COLUMN;
		fprintf(out, "  %-*s%c", HELP_COLUMN, text, wide ? '\n' : ' ');
		print_help(row, command, wide, out);
	}
	return ferror(out) ? -EIO : n;
}

/* Prints the commands of a program. */
static void usage(const char *program, const struct ibcc_command *const *command, size_t n,
		  FILE *out)
{
	fprintf(out, "Usage: %s COMMAND [OPTION]... [ARGUMENT]...\n\nCommands:\n", program);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "  %-10s %s\n", command[i]->name, command[i]->what);
	fprintf(out, "\n'%s COMMAND --help' shows the arguments and options of a command.\n",
		program);
}

static int usage_of(const char *program, const struct ibcc_command *c)
{
	const struct ibcc_options o = { c->option, c->n_options, c->name };

	printf("Usage: %s %s%s%s%s\n%c%s.\n", program, c->name, o.n ? " [OPTION]..." : "",
	       c->arguments ? " " : "", c->arguments ? c->arguments : "", toupper(*c->what),
	       c->what + 1);
	if (o.n)
		fputs("\nOptions:\n", stdout);
	return ibcc_options_print(&o, NULL, stdout) < 0;
}

static const char *command_candidate(const void *arg, size_t i)
{
	return ((const struct ibcc_command *const *)arg)[i]->name;
}

int ibcc_command_run(const char *program, const struct ibcc_command *const *command, size_t n,
		     int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL, *guess;

	for (size_t i = 0; name && i < n; i++) {
		const struct ibcc_command *c = command[i];

		if (strcmp(name, c->name))
			continue;
		if (argc > 2 && !strcmp(argv[2], "--help"))
			return usage_of(program, c);
		return c->run(c, argc - 1, argv + 1);
	}
	if (name && (!strcmp(name, "-h") || !strcmp(name, "--help") || !strcmp(name, "help"))) {
		usage(program, command, n, stdout);
		return 0;
	}
	if (name && (!strcmp(name, "-V") || !strcmp(name, "--version")))
		return printf("%s %s\n", program, IBCC_VERSION) < 0;
	if (!name) {
		usage(program, command, n, stderr);
		return 1;
	}
	guess = ibcc_guess_word(name, command_candidate, command, n);
	if (guess)
		ibcc_command_say("unknown command '%s', did you mean '%s'?", name, guess);
	else
		ibcc_command_say("unknown command '%s'", name);
	fprintf(stderr, "Try '%s --help'.\n", program);
	return 1;
}
