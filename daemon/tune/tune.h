/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* ibcc-tune: what its commands share. */
#ifndef IBCC_TUNE_TUNE_H
#define IBCC_TUNE_TUNE_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include <ibcc/config.h>
#include <ibcc/why.h>

/* Exit codes; see also IBCC_CONFIG_EXIT_STATUS. */
enum {
	TUNE_OK = 0,
	TUNE_ERROR = 1,
	TUNE_PENDING = 2, /* --detailed-exitcode: there are changes to make */
};

/* From one look of top to the next, unless asked for. */
#define TUNE_WATCH_MS 2000u

struct tune {
	struct ibcc_config config; /* with the options of the command line */
	uint64_t cc_key;
	const char *fabric; /* one of several; NULL: the only one */
	bool own_port;  /* an option about the port or the key was given: the daemon has its own */
	bool no_config; /* the configuration is bad: only the daemon knows what to do */
	struct ibcc_why no_key; /* why only the daemon has the key; empty: cc_key is it */
	bool json;
	int verbose;
	bool errors; /* say how MADs fared */
	bool detailed_exitcode;
	bool skip_unsupported;
	uint32_t confirm_s;   /* apply: on trial for so long; 0: no */
	bool no_wait;         /* apply: ends with the first writes, and the daemon goes on */
	bool protect;         /* key: with the protect bit */
	uint16_t lease;       /* key: seconds */
	uint64_t new_key;     /* key: the one in the file */
	unsigned int limit;   /* of the history */
	bool series;          /* history: with what was measured */
	const char *plot;     /* history: that as a drawing into this file; NULL: no */
	unsigned int looks;   /* top: so many; 0: until it is ended */
	uint32_t watch_ms;    /* top, status: from one look to the next; 0: status looks once */
	const char *html;     /* report: into this file; NULL: no */
	const char *save;     /* probe: file for the record */
	const char *name_map; /* file, NULL: that of the configuration */
	bool yes;             /* commands that change the fabric: without a question */
	const char *output;   /* plan, bundle: also into this file; NULL: no */
	bool anonymous;       /* bundle: under made-up names */
	bool full;            /* plan: all of it, not the sum */
	uint64_t root;        /* plan: one root with all its sources, from 1; 0: the worst */
	const char *node;     /* plan: only nodes whose name matches; NULL: all */
	const char *sysfs;    /* ooo-check: the folder in place of /; NULL: that */
	const char *cache;    /* plan, what-if: fabric and settings of this bundle; NULL: no */
	const char *counters; /* likewise, what was counted and decided */
	int n_set;            /* what-if: KEY=VALUE each */
	const char *set[16];
	int n_args; /* after the command */
	char **args;
};

/* A command: returns an exit code. */
typedef int (*tune_fn)(struct tune *t);
int tune_plan(struct tune *t);
int tune_apply(struct tune *t);
int tune_rollback(struct tune *t);
int tune_confirm(struct tune *t);
int tune_cancel(struct tune *t);
int tune_disable(struct tune *t);
int tune_repair(struct tune *t);
int tune_key(struct tune *t);
int tune_status(struct tune *t);
int tune_top(struct tune *t);
int tune_show(struct tune *t);
int tune_report(struct tune *t);
int tune_history(struct tune *t);
int tune_ooo_check(struct tune *t);
int tune_probe(struct tune *t);
int tune_what_if(struct tune *t);
int tune_bundle(struct tune *t);
/* Whether a command that changes the fabric may go on: -y was given, or there is a terminal to ask
 * on. Otherwise it says what to do.
 */
bool tune_can_consent(const struct tune *t, const char *command);
/* Asks this question on the terminal, unless -y has answered it: TUNE_OK is a yes. */
int tune_consent(const struct tune *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Does what the command asks for: by the daemon if one is there and no own port is wanted, else by
 * ourselves. `args` is taken over, NULL for none. *out (NULL if nothing came) is the caller's.
 * Names in it are those of the node name map. Returns 0 or a negative errno with *why.
 */
int tune_do(struct tune *t, const char *command, json_t *args, json_t **out, struct ibcc_why *why);

/* One request to the daemon. -ENOENT or -ECONNREFUSED: there is none. */
int tune_ask(const struct tune *t, const char *command, json_t *args, json_t **out,
	     struct ibcc_why *why);
/* Its status, which nobody else has. */
int tune_ask_status(const struct tune *t, json_t **out, struct ibcc_why *why);
/* Where the configuration is bad a daemon may still run with the one from before: TUNE_OK, and it
 * alone is asked from now on. Otherwise there is none, which is said, and the exit code of a bad
 * configuration.
 */
int tune_ask_running(struct tune *t, const char *command);
/* As tune_do(), and prints the answer; an exit code. */
int tune_do_and_print(struct tune *t, const char *command, json_t *args,
		      void (*print)(const json_t *answer));
/* 0 if no daemon is running, and the lock of whoever writes by itself is *fd's, to be closed when
 * that is done. -EBUSY: a daemon or another writer is there; other errors: nobody can tell.
 */
int tune_alone(const struct tune *t, int *fd, struct ibcc_why *why);
/* As tune_do(), without a daemon. */
int tune_do_local(const struct tune *t, const char *command, const json_t *args, json_t **out,
		  struct ibcc_why *why);

/* An error if the node name map that was asked for cannot be read. */
int tune_names_check(const struct tune *t);
/* Replaces "node" in every object that has "node_guid" as well by the name in the node name map. */
void tune_rename(const struct tune *t, json_t *o);

/* Prints a message to stderr and returns TUNE_ERROR. */
int tune_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* From now on the first error is an object on stdout as well, unless there was an answer before. */
void tune_owe_error(void);
/* That object for a text that was printed already; nothing if none is owed. */
void tune_error_object(const char *text);
/* Prints JSON with a newline; TUNE_OK, or TUNE_ERROR when stdout is gone. */
int tune_print_json(const json_t *o);
/* Writes it to a file, in place of one that is there, whole or not at all. An exit code. */
int tune_save_json(const json_t *o, const char *file);
/* Reads a number, decimal or 0x hex, within limits; says what is wrong with it otherwise. */
bool tune_number(const char *text, uint64_t min, uint64_t max, const char *what, uint64_t *out);

/* Members of objects, "" or 0 where they are not. */
const char *tune_str(const json_t *o, const char *key);
json_int_t tune_int(const json_t *o, const char *key);
/* Room for a decision in words, see ibcc_words_decisions(). */
#define TUNE_SENTENCE_BYTES 4096u
/* A status in words, "" if there is nothing to say: what is on trial, who leads, and who waits for
 * the first nodes of a roll-out.
 */
const char *tune_trial_text(const json_t *status, char *buf, size_t len);
const char *tune_leader_text(const json_t *status);
const char *tune_rollout_text(const json_t *status, char *buf, size_t len);

#endif
