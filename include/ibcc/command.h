/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Options of programs, and programs of several commands. A program or a command has one table:
 * reading its options, what is said of wrong ones, and the usage all come from it. Messages go to
 * stderr and begin with the name that the program was started by.
 */
#ifndef IBCC_COMMAND_H
#define IBCC_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What becomes of an option's value, at its place in the struct that the command keeps them in. */
enum ibcc_option_kind {
	IBCC_OPTION_FLAG,   /* it has none: a bool becomes true */
	IBCC_OPTION_TEXT,   /* a const char * points to it */
	IBCC_OPTION_NUMBER, /* a uint64_t, a whole number from min to max */
	IBCC_OPTION_READ,   /* read() gets it, NULL if there is none */
};

struct ibcc_option {
	const char *name; /* --name; NULL: there is only the letter */
	char letter;      /* -l; 0: there is only the name */
	enum ibcc_option_kind kind;
	const char *value; /* what the usage calls its value, such as "FILE"; NULL: it has none */
	const char *help;  /* a line, or several with newlines between */
	/* The commands that take it, with spaces between, where several share a table; NULL: all.
	 */
	const char *commands;
	size_t at;         /* offset of its place */
	uint64_t min, max; /* of a number */
	/* 0, a positive number that ends the reading, -ENOMEM, or -EINVAL, which prints that the
	 * option wants `want`, or what read() said itself if that is NULL.
	 */
	int (*read)(void *place, const char *value);
	const char *want;
	bool optional; /* its value, which is behind "=", or a next argument with a digit first */
	bool many;     /* it may be given several times */
};

/* A table of them, of a command or of a whole program. */
struct ibcc_options {
	const struct ibcc_option *option;
	size_t n;
	const char *command; /* that messages name; NULL: they name none */
};

/* Reads them into `to`, the struct with their places, and goes on after a wrong one. The arguments
 * are argv[*first] to argv[argc - 1] then. 0, what a read() ended with, or -EINVAL or -ENOMEM after
 * messages. Bit i of *given (NULL: not wanted) is set if row i, of the first 64, was there.
 */
int ibcc_options_read(const struct ibcc_options *o, int argc, char **argv, void *to, int *first,
		      uint64_t *given);

/* Whether a command takes the option of a row. */
bool ibcc_options_takes(const struct ibcc_option *row, const char *command);

/* The first option among those given that a command does not take; NULL: it takes all. */
const struct ibcc_option *ibcc_options_misfit(const struct ibcc_options *o, uint64_t given,
					      const char *command);

/* Prints what each means: of those that all commands take, or, if `command` is not NULL, of those
 * that this one takes and not all do. Returns how many they are, or -EIO.
 */
int ibcc_options_print(const struct ibcc_options *o, const char *command, FILE *out);

/* Rows that several commands have. */
#define IBCC_OPTION_JSON(type)                                                                     \
	{                                                                                          \
		"json", 'j', IBCC_OPTION_FLAG, NULL, "answer in JSON", .at = offsetof(type, json)  \
	}

struct ibcc_command {
	const char *name;
	const char *arguments; /* as the usage has them, such as "FILE..."; NULL: none */
	const char *what;      /* it does, in a line that begins with a verb */
	const char *want;      /* is said where there are fewer or more arguments: "one file" */
	int least, most;       /* arguments; -1: no limit */
	const struct ibcc_option *option;
	size_t n_options;
	/* Takes its name and arguments as main() does, and returns the exit code. */
	int (*run)(const struct ibcc_command *c, int argc, char **argv);
};

/* Runs the command that the arguments of main() name, or prints the usage. An exit code. */
int ibcc_command_run(const char *program, const struct ibcc_command *const *command, size_t n,
		     int argc, char **argv);

/* Reads the options of a command into `to`, the struct with their places. The arguments are
 * argv[*first] to argv[argc - 1] then. 0, -EINVAL or -ENOMEM after a message.
 */
int ibcc_command_read(const struct ibcc_command *c, int argc, char **argv, void *to, int *first);

/* Prints a message, and returns -EINVAL. */
int ibcc_command_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A whole number in a range; -EINVAL after a message that names `what`. */
int ibcc_command_number(const char *what, const char *text, uint64_t min, uint64_t max,
			uint64_t *out);

#endif
