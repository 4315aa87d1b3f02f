/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* ibcc-tune: the parts that its commands share. */
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

/* The interval of top, unless the user sets one. */
#define TUNE_WATCH_MS 2000u

struct tune {
	struct ibcc_config config; /* including the options of the command line */
	uint64_t cc_key;
	const char *fabric; /* the name of the fabric; NULL: the only one */
	bool own_port;  /* an option sets the port or the key, which may differ from the daemon's */
	bool no_config; /* the configuration is bad: only the daemon can act */
	struct ibcc_why no_key; /* why only the daemon has the key; empty: cc_key is the key */
	bool json;
	int verbose;
	bool errors; /* print how many MADs failed */
	bool detailed_exitcode;
	bool skip_unsupported;
	uint32_t confirm_s;   /* apply: on trial for this long; 0: no trial */
	bool no_wait;         /* apply: returns after the first writes, and the daemon continues */
	bool protect;         /* key: with the protect bit */
	uint16_t lease;       /* key: lease in seconds */
	uint64_t new_key;     /* key: the key in the file */
	unsigned int limit;   /* history: number of entries */
	bool series;          /* history: with the measurements */
	const char *since;    /* jobs: seen within this time; NULL: 24h */
	const char *user;     /* jobs: of this user; NULL: any */
	const char *plot;     /* history: draw the measurements into this file; NULL: no */
	unsigned int looks;   /* top: number of views; 0: no limit */
	uint32_t watch_ms;    /* top, status: interval between views; 0: status shows one view */
	const char *html;     /* report: write to this file; NULL: no */
	const char *save;     /* probe: file to store the record in */
	const char *name_map; /* name map; NULL: that of the configuration */
	bool yes;             /* commands that ask before changes: do not ask */
	bool dry_run;         /* plan, policy: write nothing */
	bool undo;            /* policy: restore the earlier file */
	bool check;           /* policy: compare the file with the devices */
	const char *output;   /* plan, bundle: also write to this file; NULL: no */
	bool anonymous;       /* bundle: use made-up names */
	bool full;            /* plan: all changes, not the summary */
	bool odd;             /* show: only what differs from the nodes of its type */
	const char *ppcc;     /* show: what this file says of an adapter; NULL: of the fabric */
	uint64_t root;        /* plan: this root with all its sources, from 1; 0: the worst */
	const char *node;     /* plan: only nodes with a matching name; NULL: all */
	const char *sysfs;    /* ooo-check: use this folder instead of /; NULL: / */
	const char *cache;    /* plan, what-if: use fabric and settings of this bundle; NULL: no */
	/* plan, what-if: use counters and decisions of this bundle; NULL: no */
	const char *counters;
	int n_set; /* what-if: number of KEY=VALUE arguments */
	const char *set[16];
	int n_args; /* number of arguments after the command */
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
int tune_ppcc(const struct tune *t); /* show --ppcc */
int tune_report(struct tune *t);
int tune_history(struct tune *t);
int tune_jobs(struct tune *t);
int tune_policy(struct tune *t);
int tune_ooo_check(struct tune *t);
int tune_probe(struct tune *t);
int tune_what_if(struct tune *t);
int tune_advise(struct tune *t);
int tune_bundle(struct tune *t);
/* May a command that asks before changes go on? Yes if -y was given, or if there is a terminal to
 * ask on. Otherwise prints what to do.
 */
bool tune_can_consent(const struct tune *t, const char *command);
/* Asks this question on the terminal, unless -y answers it. TUNE_OK means yes. */
int tune_consent(const struct tune *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Carries out a command, through the daemon if it is there and no own port is wanted, else in this
 * process. Takes over `args` (NULL: none). The caller owns *out (NULL: no answer). Names in it are
 * from the node name map. Returns 0 or a negative errno with *why.
 */
int tune_do(struct tune *t, const char *command, json_t *args, json_t **out, struct ibcc_why *why);

/* Sends one request to the daemon. -ENOENT or -ECONNREFUSED: there is no daemon. */
int tune_ask(const struct tune *t, const char *command, json_t *args, json_t **out,
	     struct ibcc_why *why);
/* The daemon's status, which only the daemon has. */
int tune_ask_status(const struct tune *t, json_t **out, struct ibcc_why *why);
/* For a bad configuration: a daemon may still run with an earlier one. TUNE_OK: it does, and from
 * now on only the daemon is asked. Otherwise prints that there is none and returns the exit code
 * for a bad configuration.
 */
int tune_ask_running(struct tune *t, const char *command);
/* Does what tune_do() does, prints the answer and returns an exit code. */
int tune_do_and_print(struct tune *t, const char *command, json_t *args,
		      void (*print)(const json_t *answer));
/* Checks that no daemon runs. 0: there is none, and *fd holds the lock of a process that writes
 * itself; close it when done. -EBUSY: a daemon or another writer is there; other errors: unknown.
 */
int tune_alone(const struct tune *t, int *fd, struct ibcc_why *why);
/* Does what tune_do() does, without a daemon. */
int tune_do_local(const struct tune *t, const char *command, const json_t *args, json_t **out,
		  struct ibcc_why *why);

/* Returns an error if the chosen node name map cannot be read. */
int tune_names_check(const struct tune *t);
/* Sets "node" in every object that has "node_guid" as well to the name in the node name map. */
void tune_rename(const struct tune *t, json_t *o);

/* Prints a message to stderr and returns TUNE_ERROR. */
int tune_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* From now on the first error is printed as an object on stdout as well, unless an answer was
 * printed before.
 */
void tune_owe_error(void);
/* Prints that object for a text that was printed already; does nothing if none is owed. */
void tune_error_object(const char *text);
/* Prints JSON with a newline; TUNE_OK, or TUNE_ERROR if stdout is closed. */
int tune_print_json(const json_t *o);
/* Writes JSON to a file, replacing an existing one, as a whole or not at all. Returns an exit code.
 */
int tune_save_json(const json_t *o, const char *file);
/* Reads a number, decimal or 0x hex, within limits. On error prints the reason. */
bool tune_number(const char *text, uint64_t min, uint64_t max, const char *what, uint64_t *out);

/* A member of an object, "" or 0 if it has none. */
const char *tune_str(const json_t *o, const char *key);
json_int_t tune_int(const json_t *o, const char *key);
/* Room for a decision in words, see ibcc_words_decisions(). */
#define TUNE_SENTENCE_BYTES 4096u
/* The parts of a status that need attention, in words, "" if there are none: what is on trial,
 * which daemon leads, and what waits for the first nodes of a gradual rollout.
 */
const char *tune_trial_text(const json_t *status, char *buf, size_t len);
const char *tune_leader_text(const json_t *status);
const char *tune_rollout_text(const json_t *status, char *buf, size_t len);

#endif
