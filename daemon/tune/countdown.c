/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A change on trial, on a terminal: counts down until the daemon reverts it. ENTER keeps the
 * change, Ctrl-C reverts it at once (progress.h). If this command dies with its terminal, the
 * daemon reverts the change when the time is over.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "daemon/tune/progress.h"

#define LOOK_MS    500
#define LINE_WIDTH 60 /* width of the line that is printed repeatedly */

enum wish { WISH_NONE, WISH_KEEP, WISH_REVERT };

static bool has_terminal(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

static void clear_line(void)
{
	printf("\r%*s\r", LINE_WIDTH, "");
}

/* Reads what is typed until the next check. At the end of the input only Ctrl-C is left. */
static enum wish read_wish(int signals, bool *input)
{
	struct pollfd fd[] = { { signals, POLLIN, 0 }, { *input ? STDIN_FILENO : -1, POLLIN, 0 } };
	char line[256];

	if (poll(fd, 2, LOOK_MS) <= 0)
		return WISH_NONE;
	if (fd[0].revents)
		return WISH_REVERT;
	/* A terminal delivers a line when ENTER is pressed, and nothing before. */
	*input = read(STDIN_FILENO, line, sizeof(line)) > 0;
	return *input ? WISH_KEEP : WISH_NONE;
}

/* The trial is over, or has been ended by another command. */
static int report_end(struct tune *t, json_int_t id)
{
	json_t *txn = tune_ask_transaction(t, id);
	bool kept = !strcmp(tune_str(json_object_get(txn, "trial"), "outcome"), "confirmed");

	json_decref(txn);
	if (!kept)
		return tune_fail("transaction %lld was not confirmed, so the daemon reverts it; "
				 "'ibcc-tune status' shows when that is done",
				 (long long)id);
	printf("Another user confirmed transaction %lld.\n", (long long)id);
	return TUNE_OK;
}

/* Counts down until the user types something, or the trial is over. */
static int count_down(struct tune *t, int signals, enum wish *wish, bool *over)
{
	struct ibcc_why why = { "" };
	bool input = true;

	while (*wish == WISH_NONE && !*over) {
		json_t *status = NULL;
		const json_t *trial;
		int rc = tune_ask_status(t, &status, &why);

		clear_line();
		if (rc) {
			json_decref(status);
			return tune_fail("the daemon does not answer: %s. A daemon that stops "
					 "reverts the change",
					 why.text);
		}
		trial = json_object_get(status, "trial");
		*over = !json_is_object(trial) || tune_str(trial, "over")[0];
		if (!*over) {
			tune_show_progress(t, json_object_get(status, "apply"));
			printf("The daemon reverts the change in %lld s ",
			       (long long)tune_int(trial, "seconds_left"));
			fflush(stdout);
			*wish = read_wish(signals, &input);
		}
		json_decref(status);
	}
	putchar('\n');
	return TUNE_OK;
}

bool tune_counts_down(const struct tune *t, const json_t *answer)
{
	const json_t *trial = json_object_get(answer, "trial");

	return !t->json && !t->no_wait && json_is_object(trial) &&
	       !json_is_string(json_object_get(trial, "over")) && has_terminal();
}

int tune_count_down(struct tune *t, const json_t *answer)
{
	json_int_t id = tune_int(json_object_get(answer, "trial"), "transaction");
	enum wish wish = WISH_NONE;
	bool over = false;
	sigset_t interrupt, old;
	int signals, code;

	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, &old);
	signals = signalfd(-1, &interrupt, SFD_CLOEXEC);
	if (signals < 0) {
		code = tune_fail("no countdown: %m; the change stays on trial: run ibcc-tune "
				 "confirm to keep it");
		sigprocmask(SIG_SETMASK, &old, NULL);
		return code;
	}
	/* An ENTER that was typed before the question does not answer it. */
	tcflush(STDIN_FILENO, TCIFLUSH);
	puts("\nThe change is on trial. Press ENTER to keep it, or Ctrl-C to revert it now.");
	code = count_down(t, signals, &wish, &over);
	close(signals);
	/* Another Ctrl-C must not end this command before the daemon has the request. */
	if (wish == WISH_REVERT) {
		code = tune_cancel(t);
		return code == TUNE_OK ? tune_fail("the change was reverted") : code;
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (over)
		code = report_end(t, id);
	else if (wish == WISH_KEEP)
		code = tune_confirm(t);
	return code;
}
