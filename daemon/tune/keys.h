/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds out which keys were pressed, from the bytes that a terminal sends. */
#ifndef IBCC_TUNE_KEYS_H
#define IBCC_TUNE_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/* A pause of this length ends an escape sequence: a terminal sends its bytes together. */
#define TUNE_KEYS_PAUSE_MS 100

enum tune_keys_state {
	TUNE_KEYS_PLAIN,      /* each byte is a key */
	TUNE_KEYS_ESCAPE,     /* after ESC */
	TUNE_KEYS_SINGLE,     /* after ESC O: one more byte, for a function key or the keypad */
	TUNE_KEYS_CONTROL,    /* after ESC [: up to a byte in 0x40..0x7e */
	TUNE_KEYS_STRING,     /* after ESC P, ], ^, _ or X: up to ESC \ or BEL */
	TUNE_KEYS_STRING_END, /* inside that string, after ESC */
};

/* Zeroed: no sequence has begun. */
struct tune_keys {
	enum tune_keys_state state;
};

/* Takes bytes as they were read, in any pieces, and returns whether one of them is the key q or Q.
 * A byte of an escape sequence is no key. So neither the keypad (ESC O q is its 1) nor a terminal's
 * reports about itself end the program. The forms are those of ECMA-48, 5th edition, 5.4 and 5.6,
 * and ESC O of the VT100.
 */
bool tune_keys_quit(struct tune_keys *k, const char *bytes, size_t n);

/* Call when no byte has come for TUNE_KEYS_PAUSE_MS: that ends an incomplete sequence. */
void tune_keys_pause(struct tune_keys *k);

#endif
