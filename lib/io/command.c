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
#define HELP_COLUMN 28

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
	else if (rc && rc != -EINVAL)
		ibcc_command_say("%s: %s", option_text(o, text), strerror(-rc));
	return rc;
}

/* The rows in getopt_long()'s form. The leading colon has it tell a missing value from an unknown
 * option.
 */
static void to_getopt(const struct ibcc_command *c, struct option *longs, char *letters)
{
	size_t n = 0;

	*letters++ = ':';
	for (size_t i = 0; i < c->n_options && i < OPTIONS_MAX; i++) {
		const struct ibcc_option *o = &c->option[i];

		if (o->name)
			longs[n++] = (struct option){ o->name,
						      o->value ? required_argument : no_argument,
						      NULL, FIRST + (int)i };
		if (o->letter)
			*letters++ = o->letter;
		if (o->letter && o->value)
			*letters++ = ':';
	}
	longs[n] = (struct option){ 0 };
	*letters = '\0';
}

static const struct ibcc_option *row_of(const struct ibcc_command *c, int code)
{
	if (code >= FIRST)
		return &c->option[code - FIRST];
	for (size_t i = 0; i < c->n_options; i++)
		if (c->option[i].letter == code)
			return &c->option[i];
	return NULL;
}

static int wrong_option(const struct ibcc_command *c, char **argv, int code)
{
	const char *last = argv[optind - 1];

	if (code == ':')
		return ibcc_command_say("%s: %s wants a value", c->name, last);
	if (optopt > 0 && optopt < FIRST)
		return ibcc_command_say("%s: unknown option -%c", c->name, optopt);
	if (optopt >= FIRST)
		return ibcc_command_say("%s: %s takes no value", c->name, last);
	return ibcc_command_say("%s: unknown option %s", c->name, last);
}

int ibcc_command_read(const struct ibcc_command *c, int argc, char **argv, void *to, int *first)
{
	struct option longs[OPTIONS_MAX + 1];
	char letters[2 * OPTIONS_MAX + 2];
	int code, rc = 0;

	to_getopt(c, longs, letters);
	opterr = 0;
	optind = 0; /* begins anew */
	while (!rc && (code = getopt_long(argc, argv, letters, longs, NULL)) != -1)
		rc = code == '?' || code == ':' ? wrong_option(c, argv, code)
						: take(row_of(c, code), optarg, to);
	*first = optind;
	if (!rc && (argc - optind < c->least || (c->most >= 0 && argc - optind > c->most)))
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

static void print_options(const struct ibcc_command *c, FILE *out)
{
	for (size_t i = 0; i < c->n_options; i++) {
		const struct ibcc_option *o = &c->option[i];
		char text[64], letter[8] = "    ";

		if (o->letter)
			snprintf(letter, sizeof(letter), "-%c%s", o->letter, o->name ? ", " : "");
		snprintf(text, sizeof(text), "%s%s%s%s%s", letter, o->name ? "--" : "",
			 o->name ? o->name : "", o->value ? " " : "", o->value ? o->value : "");
		fprintf(out, "  %-*s %s\n", HELP_COLUMN, text, o->help);
	}
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

		if (strcmp(name, c->name))
			continue;
		if (argc > 2 && !strcmp(argv[2], "--help")) {
			usage(program, &c, 1, stdout);
			print_options(c, stdout);
			return 0;
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
