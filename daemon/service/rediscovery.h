/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* When is the fabric discovered again? When something says that it has changed, and not by the
 * clock: each discovery takes the time of the subnet manager's switches.
 */
#ifndef IBCC_DAEMON_REDISCOVERY_H
#define IBCC_DAEMON_REDISCOVERY_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: the fabric is not known yet. Times are of one clock, which is not 0. */
struct ibcc_rediscovery {
	uint64_t last_ns, took_ns;  /* end of the last discovery */
	uint64_t first_ns, hint_ns; /* first and last hint since; 0: none */
	uint32_t unread;            /* ports that did not answer lately */
	unsigned int futile;        /* discoveries in a row that hints led to for nothing */
};

/* Something says that the fabric has changed: a trap, another subnet manager, another LID. */
void ibcc_rediscovery_hint(struct ibcc_rediscovery *r, uint64_t now_ns);

/* So many ports did not answer in the last pass: if there are more than before, some may have
 * moved. */
void ibcc_rediscovery_unread(struct ibcc_rediscovery *r, uint32_t n, uint64_t now_ns);

/* Is it time for one? Hints are waited for until they pause, and each that leads to nothing doubles
 * the time to the next, up to a minute, or, for ports that just go on not answering, a quarter of
 * an hour, after which there is one in any case. `doubtful`: the last one had gaps that are not
 * believed.
 */
bool ibcc_rediscovery_is_due(const struct ibcc_rediscovery *r, bool doubtful, uint64_t now_ns);

/* One has been made. `changed`: it found something else than was known. */
void ibcc_rediscovery_done(struct ibcc_rediscovery *r, uint64_t from_ns, uint64_t now_ns,
			   bool changed);

#endif
