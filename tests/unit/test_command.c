/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Options from a table: what is stored, and what is said of wrong ones and in the usage. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <ibcc/command.h>

struct values {
	bool json, all;
	const char *out;
	uint64_t n, last;
	unsigned int words;
};

static int count_word(void *place, const char *text)
{
	unsigned int *n = place;

	if (!strcmp(text, "full"))
		return -ENOMEM;
	return strcmp(text, "bad") ? ((*n)++, 0) : -EINVAL;
}

static const struct ibcc_option rows[] = {
	IBCC_OPTION_JSON(struct values),
	{ "all", 0, IBCC_OPTION_FLAG, NULL, "All of them", .at = offsetof(struct values, all) },
	{ "out", 'o', IBCC_OPTION_TEXT, "FILE", "Where it goes",
	  .at = offsetof(struct values, out) },
	{ "number", 0, IBCC_OPTION_NUMBER, "N", "How many,\nfrom two on",
	  .at = offsetof(struct values, n), 2, 9 },
	{ NULL, 'n', IBCC_OPTION_NUMBER, "N", "The last", .at = offsetof(struct values, last), 0,
	  UINT64_MAX },
	{ "word", 0, IBCC_OPTION_READ, "WORD", "A word", .at = offsetof(struct values, words),
	  .read = count_word, .want = "a good word", .many = true },
};

static struct values got;
static char first_argument[32];

static int run(const struct ibcc_command *c, int argc, char **argv)
{
	int first;

	got = (struct values){ .n = 5 };
	if (ibcc_command_read(c, argc, argv, &got, &first))
		return 1;
	snprintf(first_argument, sizeof(first_argument), "%s", first < argc ? argv[first] : "");
	return 0;
}

static const struct ibcc_command one = {
	.name = "one",
	.arguments = "FILE | --all",
	.what = "does something",
	.want = "at most one file",
	.most = 1,
	.option = rows,
	.n_options = sizeof(rows) / sizeof(*rows),
	.run = run,
};

static const struct ibcc_command none = { .name = "none", .what = "does nothing", .run = run };

/* What a call writes to stdout or stderr goes to *text. */
static int call(int fd, char text[static 2048], const char *const *argument)
{
	static const struct ibcc_command *const commands[] = { &one, &none };
	char *argv[16] = { (char *)"test" };
	int argc = 1, keep = dup(fd), rc;
	FILE *f = tmpfile();
	size_t n;

	for (; argument[argc - 1]; argc++)
		argv[argc] = (char *)argument[argc - 1];
	assert_non_null(f);
	fflush(NULL);
	assert_int_equal(dup2(fileno(f), fd), fd);
	rc = ibcc_command_run("test", commands, 2, argc, argv);
	fflush(NULL);
	dup2(keep, fd);
	close(keep);
	rewind(f);
	n = fread(text, 1, 2047, f);
	text[n] = '\0';
	fclose(f);
	return rc;
}

#define CALL(fd, text, ...) call(fd, text, (const char *const[]){ __VA_ARGS__, NULL })

static void values_are_stored(void **state)
{
	char text[2048];

	(void)state;
	assert_int_equal(CALL(2, text, "one", "-j", "file", "--out=x", "--number", "9", "--word",
			      "a", "-n", "0x10", "--wo", "b"),
			 0);
	assert_string_equal(text, "");
	assert_true(got.json && !got.all);
	assert_string_equal(got.out, "x");
	assert_int_equal(got.n, 9);
	assert_int_equal(got.last, 16);
	assert_int_equal(got.words, 2);
	assert_string_equal(first_argument, "file");
	/* What is not given stays, also after another call. */
	assert_int_equal(CALL(2, text, "one", "--all"), 0);
	assert_true(got.all && !got.json && !got.out && got.n == 5);
}

/* Says WORDS of the arguments, behind the program's name. */
static void says(const char *words, const char *const *argument)
{
	char text[2048], want[256];

	assert_int_equal(call(2, text, argument), 1);
	snprintf(want, sizeof(want), "%s: %s\n", program_invocation_short_name, words);
	assert_string_equal(text, want);
}

#define SAYS(words, ...) says(words, (const char *const[]){ __VA_ARGS__, NULL })

static void mistakes_are_named(void **state)
{
	(void)state;
	SAYS("--number: got \"1\", want a whole number from 2 to 9", "one", "--number", "1");
	SAYS("--number: got \"ten\", want a whole number from 2 to 9", "one", "--number=ten");
	SAYS("-n: got \"-1\", want a whole number from 0 to 18446744073709551615", "one", "-n",
	     "-1");
	SAYS("--word: got \"bad\", want a good word", "one", "--word", "bad");
	SAYS("--word: Cannot allocate memory", "one", "--word", "full");
	SAYS("one: unknown option --foo", "one", "--foo");
	SAYS("one: unknown option --nubmer, did you mean --number?", "one", "--nubmer=4");
	SAYS("one: unknown option -x", "one", "-x");
	SAYS("one: --out wants a value", "one", "--out");
	SAYS("one: -o wants a value", "one", "-o");
	SAYS("one: --all=1 takes no value", "one", "--all=1");
	SAYS("one: want at most one file", "one", "a", "b");
	SAYS("none: want only options", "none", "a");
	SAYS("none: unknown option -j", "none", "-j");
}

static void the_usage_is_made_of_the_table(void **state)
{
	char text[2048];

	(void)state;
	assert_int_equal(CALL(1, text, "one", "--help"), 0);
	assert_string_equal(text, "Usage: test one [OPTION]... FILE | --all\n"
				  "Does something.\n"
				  "\n"
				  "Options:\n"
				  "  -j, --json                 answer in JSON\n"
				  "      --all                  All of them\n"
				  "  -o, --out FILE             Where it goes\n"
				  "      --number N             How many,\n"
				  "                             from two on\n"
				  "  -n N                       The last\n"
				  "      --word WORD            A word\n");
	assert_int_equal(CALL(1, text, "none", "--help"), 0);
	assert_string_equal(text, "Usage: test none\nDoes nothing.\n");
	assert_int_equal(CALL(1, text, "help"), 0);
	assert_string_equal(
		text, "Usage: test COMMAND [OPTION]... [ARGUMENT]...\n"
		      "\n"
		      "Commands:\n"
		      "  one        does something\n"
		      "  none       does nothing\n"
		      "\n"
		      "'test COMMAND --help' shows the arguments and options of a command.\n");
	assert_int_equal(CALL(2, text, "two"), 1);
	assert_non_null(strstr(text, "unknown command 'two'\nTry 'test --help'.\n"));
	assert_int_equal(CALL(2, text, "nnoe"), 1);
	assert_non_null(strstr(text, "unknown command 'nnoe', did you mean 'none'?\nTry 'test"));
	assert_int_equal(CALL(1, text, "--version"), 0);
	assert_int_equal(strncmp(text, "test ", 5), 0);
}

struct look {
	unsigned int looks;
	const char *every;
	bool json;
};

static int read_every(void *place, const char *value)
{
	struct look *l = place;

	l->looks++;
	l->every = value;
	return 0;
}

static int stop(void *place, const char *value)
{
	(void)place;
	assert_null(value);
	return 7;
}

static const struct ibcc_option look_rows[] = {
	{ "watch", 'w', IBCC_OPTION_READ, "SECONDS", "Look again", .read = read_every,
	  .optional = true },
	IBCC_OPTION_JSON(struct look),
	{ "stop", 0, IBCC_OPTION_READ, NULL, "No more", .read = stop },
};
static const struct ibcc_options look_options = { look_rows, 3, "look" };

static int read_look(struct look *l, const char *const *argument, int *first)
{
	char *argv[16] = { (char *)"look" };
	int argc = 1;

	for (; argument[argc - 1]; argc++)
		argv[argc] = (char *)argument[argc - 1];
	*l = (struct look){ 0 };
	return ibcc_options_read(&look_options, argc, argv, l, first, NULL);
}

#define LOOK(l, first, ...) read_look(l, (const char *const[]){ __VA_ARGS__, NULL }, first)

static void a_value_can_be_optional(void **state)
{
	struct look l;
	int first;

	(void)state;
	assert_int_equal(LOOK(&l, &first, "--watch=5", "-j"), 0);
	assert_string_equal(l.every, "5");
	assert_true(l.json);
	assert_int_equal(LOOK(&l, &first, "--watch", "7", "-j"), 0);
	assert_string_equal(l.every, "7");
	assert_int_equal(first, 4);
	assert_int_equal(LOOK(&l, &first, "--watch", "top"), 0);
	assert_int_equal(l.looks, 1);
	assert_null(l.every);
	assert_int_equal(first, 2);
}

static void a_reading_can_end(void **state)
{
	struct look l;
	int first;

	(void)state;
	assert_int_equal(LOOK(&l, &first, "--stop", "-j"), 7);
	assert_false(l.json);
}

struct shared {
	bool yes, all;
	const char *file, *fabric;
};

/* Of a program whose commands share a table. */
static const struct ibcc_option shared_rows[] = {
	{ "yes", 'y', IBCC_OPTION_FLAG, NULL, "Do not ask", .at = offsetof(struct shared, yes),
	  .commands = "push undo" },
	{ "file", 0, IBCC_OPTION_TEXT, "FILE", "push: From where\nshow: To where,\nin words",
	  .at = offsetof(struct shared, file), .commands = "push show" },
	{ "fabric", 0, IBCC_OPTION_TEXT, "a-name|a-number|a-guid", "Which one",
	  .at = offsetof(struct shared, fabric) },
};
static const struct ibcc_options shared_options = { shared_rows, 3, NULL };

static const char *misfit(uint64_t given, const char *command)
{
	const struct ibcc_option *o = ibcc_options_misfit(&shared_options, given, command);

	return o ? o->name : "";
}

static void a_command_takes_its_options_alone(void **state)
{
	char *argv[] = { (char *)"test", (char *)"push", (char *)"--fabric=x", (char *)"-y", NULL };
	struct shared s = { 0 };
	uint64_t given = 0;
	int first;

	(void)state;
	assert_int_equal(ibcc_options_read(&shared_options, 4, argv, &s, &first, &given), 0);
	assert_int_equal(given, 5);
	assert_string_equal(misfit(given, "push"), "");
	assert_string_equal(misfit(given, "undo"), "");
	assert_string_equal(misfit(given, "show"), "yes");
	/* Neither the beginning of a name nor its end is the name. */
	assert_string_equal(misfit(1, "pus"), "yes");
	assert_string_equal(misfit(1, "push "), "yes");
	assert_string_equal(misfit(1, "sh"), "yes");
	assert_string_equal(misfit(2, "undo"), "file");
	assert_string_equal(misfit(4, "anything"), "");
}

static int print_shared(const char *command, char text[static 512])
{
	FILE *f = fmemopen(text, 512, "w");
	int n = ibcc_options_print(&shared_options, command, f);

	fclose(f);
	return n;
}

static void a_command_shows_its_options_alone(void **state)
{
	char text[512];

	(void)state;
	assert_int_equal(print_shared("show", text), 1);
	assert_string_equal(text, "      --file FILE            To where,\n"
				  "                             in words\n");
	assert_int_equal(print_shared("push", text), 2);
	assert_string_equal(text, "  -y, --yes                  Do not ask\n"
				  "      --file FILE            From where\n"
				  "                             in words\n");
	assert_int_equal(print_shared(NULL, text), 1);
	assert_string_equal(text, "      --fabric a-name|a-number|a-guid\n"
				  "                             Which one\n");
	assert_int_equal(print_shared("other", text), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_stored),
		cmocka_unit_test(mistakes_are_named),
		cmocka_unit_test(the_usage_is_made_of_the_table),
		cmocka_unit_test(a_value_can_be_optional),
		cmocka_unit_test(a_reading_can_end),
		cmocka_unit_test(a_command_takes_its_options_alone),
		cmocka_unit_test(a_command_shows_its_options_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
