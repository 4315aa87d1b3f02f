/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* top, and status --watch: the daemon's status again and again. On a terminal it is drawn over
 * itself until q or a signal; elsewhere each is a row, and with -j a line of JSON.
 */
#include "daemon/tune/top.h"

#include "daemon/tune/look.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <ibcc/json.h>

#define COLUMNS_DEFAULT 80
#define ROWS_DEFAULT    24

/* Another screen, so that what was there before comes back; no cursor. */
#define SCREEN_BEGIN "\033[?1049h\033[?25l"
#define SCREEN_END   "\033[?25h\033[?1049l"
#define HOME         "\033[H"
#define END_OF_LINE  "\033[K\r\n"
#define REST         "\033[J"

static volatile sig_atomic_t ended;

/* Another size of the terminal only ends the wait. */
static void on_signal(int sig)
{
	ended |= sig != SIGWINCH;
}

struct terminal {
	bool screen; /* there is one to draw on */
	bool keys;   /* and keys can be read one by one */
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
	t->keys = isatty(STDIN_FILENO) && !tcgetattr(STDIN_FILENO, &t->before);
	if (t->keys) {
		now = t->before;
		now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		t->keys = !tcsetattr(STDIN_FILENO, TCSANOW, &now);
	}
	fputs(SCREEN_BEGIN, stdout);
}

static void end(struct terminal *t)
{
	if (t->keys)
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

/* Bytes of a line that fit in so many columns; styles take none. */
static size_t fit(const char *line, size_t len, unsigned int columns)
{
	unsigned int used = 0;
	size_t i = 0;

	while (i < len) {
		if (line[i] == '\033') {
			while (i < len && line[i] != 'm')
				i++;
			i += i < len;
			continue;
		}
		if (used == columns)
			break;
		used++;
		for (i++; i < len && ((unsigned char)line[i] & 0xc0) == 0x80; i++)
			;
	}
	return i;
}

static int draw(const json_t *s, const char *trouble)
{
	struct winsize w = size_now();
	unsigned int rows = w.ws_row;
	char *text = NULL, *line;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return -ENOMEM;
	tune_top_screen(f, s, trouble, time(NULL), w.ws_col);
	if (fclose(f)) {
		free(text);
		return -ENOMEM;
	}
	fputs(HOME, stdout);
	/* The last row stays free, or the terminal would scroll. */
	for (line = text; *line && --rows;) {
		size_t len = strcspn(line, "\n");

		fwrite(line, 1, fit(line, len, w.ws_col), stdout);
		/* What was cut off may have been the end of a style. */
		fputs(tune_style(TUNE_PLAIN), stdout);
		fputs(END_OF_LINE, stdout);
		line += len + (line[len] == '\n');
	}
	fputs(REST, stdout);
	free(text);
	return fflush(stdout) ? -EIO : 0;
}

/* Waits for the next look; true if there is to be none. */
static bool wait_for_next(const struct terminal *t, unsigned int ms)
{
	struct pollfd p = { .fd = t->keys ? STDIN_FILENO : -1, .events = POLLIN };
	char key;

	if (ended || poll(&p, 1, (int)ms) < 0)
		return ended;
	if (!(p.revents & (POLLIN | POLLHUP)))
		return false;
	return read(STDIN_FILENO, &key, 1) <= 0 || key == 'q' || key == 'Q';
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

		/* A daemon that was there may come back. */
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
