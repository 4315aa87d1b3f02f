/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* top, and status --watch: shows the daemon's status repeatedly. On a terminal each view is drawn
 * over the last, until q or a signal. Elsewhere each view is a row, and with -j a line of JSON.
 */
#include "daemon/tune/top.h"

#include "daemon/tune/keys.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <ibcc/json.h>
#include <ibcc/now.h>

#define COLUMNS_DEFAULT 80
#define ROWS_DEFAULT    24

/* Switches to the alternate screen, so that the old content comes back later, and hides the cursor.
 */
#define SCREEN_BEGIN "\033[?1049h\033[?25l"
#define SCREEN_END   "\033[?25h\033[?1049l"

static volatile sig_atomic_t ended;

/* A signal for a resized terminal only ends the wait. */
static void on_signal(int sig)
{
	ended |= sig != SIGWINCH;
}

struct terminal {
	bool screen;   /* there is a screen to draw on */
	bool has_keys; /* keys can be read one by one */
	struct tune_keys keys;
	struct termios before;
};

static void begin(struct terminal *t)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGWINCH };
	struct sigaction a = { .sa_handler = on_signal };
	struct termios now;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &a, NULL);
	if (!t->screen)
		return;
	t->has_keys = isatty(STDIN_FILENO) && !tcgetattr(STDIN_FILENO, &t->before);
	if (t->has_keys) {
		now = t->before;
		now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		t->has_keys = !tcsetattr(STDIN_FILENO, TCSANOW, &now);
	}
	fputs(SCREEN_BEGIN, stdout);
}

static void end(struct terminal *t)
{
	if (t->has_keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &t->before);
	if (t->screen)
		fputs(SCREEN_END, stdout);
	fflush(stdout);
}

static struct winsize size_now(void)
{
	struct winsize w = { 0 };

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) || !w.ws_col || !w.ws_row)
		w = (struct winsize){ .ws_row = ROWS_DEFAULT, .ws_col = COLUMNS_DEFAULT };
	return w;
}

static int draw(const json_t *s, const char *trouble)
{
	struct winsize w = size_now();
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return -ENOMEM;
	tune_top_screen(f, s, trouble, time(NULL), w.ws_col);
	if (fclose(f)) {
		free(text);
		return -ENOMEM;
	}
	tune_top_frame(stdout, text, w.ws_row, w.ws_col);
	free(text);
	return fflush(stdout) ? -EIO : 0;
}

/* Waits for the next view; true if there is none. Only the time and a resize of the terminal cause
 * a new view. If keys did, one held down would make us ask the daemon without a pause.
 */
static bool wait_for_next(struct terminal *t, unsigned int ms)
{
	struct pollfd p = { .fd = t->has_keys ? STDIN_FILENO : -1, .events = POLLIN };
	int64_t until = ibcc_now_ms() + ms, left;

	while (!ended && (left = until - ibcc_now_ms()) > 0) {
		char bytes[64];
		ssize_t n;
		int rc;

		if (t->keys.state != TUNE_KEYS_PLAIN && left > TUNE_KEYS_PAUSE_MS)
			left = TUNE_KEYS_PAUSE_MS;
		rc = poll(&p, 1, (int)left);
		if (rc < 0)
			break;
		if (!rc) {
			tune_keys_pause(&t->keys);
			continue;
		}
		n = read(STDIN_FILENO, bytes, sizeof(bytes));
		if (n <= 0 || tune_keys_quit(&t->keys, bytes, (size_t)n))
			return true;
	}
	return ended;
}

static int ask(struct tune *t, json_t **s, struct ibcc_why *why)
{
	int rc = tune_ask_status(t, s, why);

	if (*s) {
		tune_rename(t, *s);
		if (ibcc_json_clean(*s))
			rc = ibcc_why_set(why, -ENOMEM, "no memory");
	}
	if (rc) {
		json_decref(*s);
		*s = NULL;
	}
	return rc;
}

static int show(const struct tune *t, const struct terminal *term, const json_t *s,
		const char *trouble, unsigned int n)
{
	if (term->screen)
		return draw(s, trouble);
	if (t->json) {
		if (s && (json_dumpf(s, stdout, JSON_COMPACT) || putchar('\n') == EOF))
			return -EIO;
	} else {
		if (!n)
			tune_top_heading(stdout);
		tune_top_row(stdout, s, time(NULL));
	}
	return fflush(stdout) || ferror(stdout) ? -EIO : 0;
}

int tune_top(struct tune *t)
{
	struct terminal term = { .screen = isatty(STDOUT_FILENO) && !t->json };
	unsigned int n;
	int rc = 0;

	for (n = 0; !rc && !ended; n++) {
		struct ibcc_why why = { "" };
		json_t *s = NULL;

		/* A daemon that answered before may come back. */
		if (ask(t, &s, &why) && !n)
			return tune_fail("%s", why.text);
		if (!n)
			begin(&term);
		rc = show(t, &term, s, why.text, n);
		json_decref(s);
		if (n + 1 == t->looks ||
		    wait_for_next(&term, t->watch_ms ? t->watch_ms : TUNE_WATCH_MS))
			break;
	}
	end(&term);
	return rc ? TUNE_ERROR : TUNE_OK;
}
