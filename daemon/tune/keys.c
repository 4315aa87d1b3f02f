/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A state machine over the bytes of a terminal, to tell keys from escape sequences (keys.h). */
#include "daemon/tune/keys.h"

#include <string.h>

#define ESC '\033'
#define BEL '\a'
#define CAN '\030' /* CAN and SUB end any sequence */
#define SUB '\032'

static bool is_quit(char c)
{
	return c == 'q' || c == 'Q';
}

/* The state that a byte after ESC leads to. */
static enum tune_keys_state begin(char c)
{
	if (c == ESC)
		return TUNE_KEYS_ESCAPE;
	if (c == 'O')
		return TUNE_KEYS_SINGLE;
	if (c == '[')
		return TUNE_KEYS_CONTROL;
	return c && strchr("P]^_X", c) ? TUNE_KEYS_STRING : TUNE_KEYS_PLAIN;
}

/* Inside a string ESC begins its end, elsewhere another sequence. */
static enum tune_keys_state on_escape(enum tune_keys_state state)
{
	return state == TUNE_KEYS_STRING || state == TUNE_KEYS_STRING_END ? TUNE_KEYS_STRING_END
									  : TUNE_KEYS_ESCAPE;
}

/* Takes one byte; returns true if it is the key. */
static bool take(struct tune_keys *k, char c)
{
	enum tune_keys_state before = k->state;

	if (c == ESC) {
		k->state = on_escape(before);
		return false;
	}
	if (c == CAN || c == SUB) {
		k->state = TUNE_KEYS_PLAIN;
		return false;
	}
	switch (before) {
	case TUNE_KEYS_PLAIN: return is_quit(c);
	case TUNE_KEYS_ESCAPE:
		/* The user may press Escape first: a byte that opens no sequence is a key. */
		k->state = begin(c);
		return is_quit(c);
	case TUNE_KEYS_SINGLE: k->state = TUNE_KEYS_PLAIN; return false;
	case TUNE_KEYS_CONTROL:
		if (c < ' ' || c >= '@')
			k->state = TUNE_KEYS_PLAIN;
		return false;
	case TUNE_KEYS_STRING:
		if (c == BEL)
			k->state = TUNE_KEYS_PLAIN;
		return false;
	case TUNE_KEYS_STRING_END:
		/* ESC \ ends the string. Another byte after ESC ends it, too, and begins something
		 * else.
		 */
		k->state = c == '\\' ? TUNE_KEYS_PLAIN : begin(c);
		return is_quit(c);
	}
	return false;
}

bool tune_keys_quit(struct tune_keys *k, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (take(k, bytes[i]))
			return true;
	return false;
}

void tune_keys_pause(struct tune_keys *k)
{
	k->state = TUNE_KEYS_PLAIN;
}
