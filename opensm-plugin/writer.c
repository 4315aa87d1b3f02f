/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Decides which client writes, and when the plugin disables what was written (writer.h). */
#include "opensm-plugin/writer.h"

bool ibcc_writer_lives(const struct ibcc_session *s, uint64_t now_ms)
{
	uint64_t lease_ms = s->lease_ms ? s->lease_ms : IBCC_WRITER_LEASE_MS;

	return s->phase == IBCC_SESSION_PUSH || now_ms < s->heard_ms + lease_ms;
}

enum ibcc_writer_turn ibcc_writer_turn(const struct ibcc_session *present,
				       const struct ibcc_session *next, uint64_t now_ms)
{
	if (!present || present == next)
		return IBCC_WRITER_MAY;
	if (!ibcc_writer_lives(present, now_ms) || (!next->uid && present->uid))
		return IBCC_WRITER_TAKES;
	return IBCC_WRITER_WAITS;
}

bool ibcc_dead_man_is_due(struct ibcc_dead_man *d, bool left, bool kept, uint64_t now_ms)
{
	if (!d->after_ms || !left || kept) {
		d->alive_ms = now_ms;
		return false;
	}
	if (now_ms - d->alive_ms < d->after_ms)
		return false;
	d->alive_ms = now_ms;
	return true;
}
