/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sets of external ports of a switch, by number: for walks upstream that come by most of the
 * switches, but by few ports of each.
 */
#ifndef IBCC_LAW_PORT_SET_H
#define IBCC_LAW_PORT_SET_H

#include <stdint.h>

#define PORT_SET_WORDS 4u

struct port_set {
	uint64_t bits[PORT_SET_WORDS];
};

static inline void port_set_add(struct port_set *s, unsigned int num)
{
	s->bits[num / 64] |= 1ull << num % 64;
}

static inline void port_set_join(struct port_set *s, const struct port_set *with)
{
	for (unsigned int i = 0; i < PORT_SET_WORDS; i++)
		s->bits[i] |= with->bits[i];
}

/* Takes the lowest port out of a set. 0: the set is empty. */
static inline unsigned int port_set_take(struct port_set *s)
{
	for (unsigned int i = 0; i < PORT_SET_WORDS; i++) {
		uint64_t w = s->bits[i];

		s->bits[i] = w & (w - 1);
		if (w)
			return 64 * i + (unsigned int)__builtin_ctzll(w);
	}
	return 0;
}

#endif
