/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <ibcc/command.h>

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

/* The rows in getopt_long()'s form. With a leading colon it says nothing by itself, and tells a
 * missing value from an unknown option.
 */
static void to_getopt(const struct ibcc_options *o, struct option *longs, char *letters)
{
	size_t n = 0;

	if (o->command)
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

static int wrong_option(const struct ibcc_options *o, char **argv, int code)
{
	const char *last = argv[optind - 1];

	if (!o->command)
		return -EINVAL;
	if (code == ':')
		return ibcc_command_say("%s: %s wants a value", o->command, last);
	if (optopt > 0 && optopt < FIRST)
		return ibcc_command_say("%s: unknown option -%c", o->command, optopt);
	if (optopt >= FIRST)
		return ibcc_command_say("%s: %s takes no value", o->command, last);
	return ibcc_command_say("%s: unknown option %s", o->command, last);
}

int ibcc_options_read(const struct ibcc_options *o, int argc, char **argv, void *to, int *first)
{
	struct option longs[OPTIONS_MAX + 1];
	char letters[3 * OPTIONS_MAX + 2];
	int code, one, rc = 0;

	to_getopt(o, longs, letters);
	opterr = !o->command;
	optind = 0; /* begins anew */
	while ((code = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		const struct ibcc_option *row = code == ':' ? NULL : row_of(o, code);
		const char *value = optarg;

		if (row && row->optional && !value && optind < argc && argv[optind][0] >= '0' &&
		    argv[optind][0] <= '9')
			value = argv[optind++];
		one = row ? take(row, value, to) : wrong_option(o, argv, code);
		if (one > 0)
			return one;
		rc = rc ? rc : one;
	}
	*first = optind;
	return rc;
}

int ibcc_command_read(const struct ibcc_command *c, int argc, char **argv, void *to, int *first)
{
	const struct ibcc_options o = { c->option, c->n_options, c->name };
	int rc = ibcc_options_read(&o, argc, argv, to, first);

	if (!rc && (argc - *first < c->least || (c->most >= 0 && argc - *first > c->most)))
		rc = ibcc_command_say("%s: want %s", c->name, c->want ? c->want : "only options");
	return rc;
}

static void synopsis(const struct ibcc_command *c, FILE *out)
{
	fprintf(out, "%s%s%s", c->name, c->arguments ? " " : "", c->arguments ? c->arguments : "");
	for (size_t i = 0; i < c->n_options; i++) {
		const struct ibcc_option *o = &c->option[i];
		char text[64];

		if (o->in_arguments)
			continue;
		if (o->letter)
			snprintf(text, sizeof(text), "-%c", o->letter);
		else
			option_text(o, text);
		fprintf(out, " [%s%s%s]%s", text, o->value ? " " : "", o->value ? o->value : "",
			o->many ? "..." : "");
	}
}

static void print_help(const char *text, FILE *out)
{
	for (; *text; text++) {
		fputc(*text, out);
		if (*text == '\n')
			fprintf(out, "%*s", HELP_COLUMN + 3, "");
	}
	fputc('\n', out);
}

int ibcc_options_print(const struct ibcc_options *o, FILE *out)
{
	for (size_t i = 0; i < o->n; i++) {
		const struct ibcc_option *row = &o->option[i];
		char text[64], letter[8] = "    ";

		if (row->letter)
			snprintf(letter, sizeof(letter), "-%c%s", row->letter,
				 row->name ? ", " : "");
		snprintf(text, sizeof(text), "%s%s%s%s%s%s", letter, row->name ? "--" : "",
			 row->name ? row->name : "",
			 row->optional ? "[="
			 : row->value  ? " "
				       : "",
			 row->value ? row->value : "", row->optional ? "]" : "");
		fprintf(out, "  %-*s ", HELP_COLUMN, text);
		print_help(row->help, out);
	}
	return ferror(out) ? -EIO : 0;
}

static void usage(const char *program, const struct ibcc_command *const *command, size_t n,
		  FILE *out)
{
	fprintf(out, "usage: %s COMMAND ...\n", program);
	for (size_t i = 0; i < n; i++) {
		fputs("  ", out);
		synopsis(command[i], out);
		fprintf(out, "\n      %s\n", command[i]->what);
	}
}

int ibcc_command_run(const char *program, const struct ibcc_command *const *command, size_t n,
		     int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	for (size_t i = 0; name && i < n; i++) {
		const struct ibcc_command *c = command[i];
		const struct ibcc_options o = { c->option, c->n_options, c->name };

		if (strcmp(name, c->name))
			continue;
		if (argc > 2 && !strcmp(argv[2], "--help")) {
			usage(program, &c, 1, stdout);
			return ibcc_options_print(&o, stdout) ? 1 : 0;
		}
		return c->run(c, argc - 1, argv + 1);
	}
	if (name && (!strcmp(name, "-h") || !strcmp(name, "--help") || !strcmp(name, "help"))) {
		usage(program, command, n, stdout);
		return 0;
	}
	if (name && (!strcmp(name, "-V") || !strcmp(name, "--version")))
		return printf("%s %s\n", program, IBCC_VERSION) < 0;
	if (name)
		ibcc_command_say("no command \"%s\"", name);
	usage(program, command, n, stderr);
	return 1;
}
