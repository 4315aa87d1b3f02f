/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What passes between `ibcc-tune top` and a terminal. "k", a byte of length and any bytes are keys,
 * read in pieces of that length. Anything else, a byte of columns, a byte of rows and a status as
 * JSON become a screen: whatever strings the status has, the terminal gets no escape sequence but
 * our own.
 */
#include <ctype.h>
#include <stdbool.h>

#include <ibcc/json.h>

#include "daemon/tune/keys.h"
#include "daemon/tune/look.h"
#include "daemon/tune/top.h"
#include "tests/fuzz/fuzz.h"

static bool quit_in_pieces(struct tune_keys *k, const char *bytes, size_t n, size_t piece)
{
	bool quit = false;

	for (size_t i = 0; i < n && !quit; i += piece)
		quit = tune_keys_quit(k, bytes + i, n - i < piece ? n - i : piece);
	return quit;
}

static void keys(const char *bytes, size_t n, size_t piece)
{
	struct tune_keys whole = { 0 }, pieces = { 0 };
	bool quit = tune_keys_quit(&whole, bytes, n);
	bool any = memchr(bytes, 'q', n) || memchr(bytes, 'Q', n);

	FUZZ_CHECK(quit == quit_in_pieces(&pieces, bytes, n, piece ? piece : 1));
	FUZZ_CHECK(whole.state == pieces.state);
	FUZZ_CHECK(any || !quit);
	if (!memchr(bytes, '\033', n))
		FUZZ_CHECK(quit == any);
	/* Nothing that a terminal has sent keeps a person from ending it. */
	tune_keys_pause(&whole);
	FUZZ_CHECK(tune_keys_quit(&whole, "q", 1));
}

/* Behind one of our styles, if s begins with one. */
static const char *skip_style(const char *s)
{
	if (strncmp(s, "\033[", 2) != 0 || !isdigit((unsigned char)s[2]))
		return NULL;
	for (s += 2; isdigit((unsigned char)*s); s++)
		;
	return *s == 'm' ? s + 1 : NULL;
}

/* One line up to its end; what is behind that, or NULL if it has what a terminal obeys. */
static const char *skip_line(const char *s, unsigned int columns)
{
	unsigned int used = 0;

	while (strncmp(s, "\033[K\r\n", 5) != 0) {
		unsigned char c = (unsigned char)*s;

		if (c == '\033') {
			s = skip_style(s);
			if (!s)
				return NULL;
			continue;
		}
		/* A control character of one byte, or one of U+0080..U+009F. */
		if (c < ' ' || c == 0x7f || (c == 0xc2 && (unsigned char)s[1] < 0xa0))
			return NULL;
		used += (c & 0xc0) != 0x80;
		if (used > columns)
			return NULL;
		s++;
	}
	return s + 5;
}

static void frame(const char *text, unsigned int columns, unsigned int rows)
{
	const char *s;
	char *drawn = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&drawn, &size);

	FUZZ_CHECK(f);
	tune_top_frame(f, text, rows, columns);
	FUZZ_CHECK(!fclose(f));
	FUZZ_CHECK(!strncmp(drawn, "\033[H", 3));
	for (s = drawn + 3; strcmp(s, "\033[J") != 0; rows--) {
		s = skip_line(s, columns);
		FUZZ_CHECK(s);
		FUZZ_CHECK(rows > 1);
	}
	free(drawn);
}

static void screen(json_t *status, unsigned int columns, unsigned int rows)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	FUZZ_CHECK(f);
	FUZZ_CHECK(!ibcc_json_clean(status));
	tune_top_screen(f, status, "", 0, (int)columns);
	tune_top_row(f, status, 0);
	FUZZ_CHECK(!fclose(f));
	frame(text, columns, rows);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *status;

	if (size >= 2 && data[0] == 'k')
		keys((const char *)data + 2, size - 2, data[1]);
	if (size < 3 || data[0] == 'k' || !data[1] || !data[2])
		return 0;
	tune_set_color(data[0] & 1 ? "always" : "never");
	status = json_loadb((const char *)data + 3, size - 3, JSON_REJECT_DUPLICATES, NULL);
	if (status)
		screen(status, data[1], data[2]);
	json_decref(status);
	return 0;
}
