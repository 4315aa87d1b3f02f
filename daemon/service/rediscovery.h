/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* When to discover the fabric again: when something indicates a change, not periodically, because
 * each discovery takes processor time of the subnet manager's switches.
 */
#ifndef IBCC_DAEMON_REDISCOVERY_H
#define IBCC_DAEMON_REDISCOVERY_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: the fabric is not known yet. All times are from one clock, and 0 means no time. */
struct ibcc_rediscovery {
	uint64_t last_ns, took_ns;  /* end of the last discovery */
	uint64_t first_ns, hint_ns; /* first and last hint since then; 0: none */
	uint32_t unread;            /* ports that did not answer in the last polling cycle */
	unsigned int futile; /* discoveries in a row that followed a hint and found nothing new */
};

/* Records a hint that the fabric has changed: a trap, another subnet manager, another LID. */
void ibcc_rediscovery_hint(struct ibcc_rediscovery *r, uint64_t now_ns);

/* Records that `n` ports did not answer in the last polling cycle. If there are more than before,
 * some may have moved.
 */
void ibcc_rediscovery_unread(struct ibcc_rediscovery *r, uint32_t n, uint64_t now_ns);

/* Is a discovery due? It waits until hints pause. Each hint that leads to nothing doubles the time
 * to the next discovery, up to a minute. For ports that just keep not answering the limit is a
 * quarter of an hour; after that time a discovery is due in any case. `doubtful`: the last
 * discovery had gaps that may be temporary.
 */
bool ibcc_rediscovery_is_due(const struct ibcc_rediscovery *r, bool doubtful, uint64_t now_ns);

/* Records a finished discovery. `changed`: it found something that was not known before. */
void ibcc_rediscovery_done(struct ibcc_rediscovery *r, uint64_t from_ns, uint64_t now_ns,
			   bool changed);

#endif
